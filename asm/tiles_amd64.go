//go:build !noasm && !linux

package asm

// permitTiles reports that the tile registers are not used here: how to ask for
// them is known for Linux alone.
func permitTiles() bool { return false }
