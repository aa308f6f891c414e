//go:build !noasm

package asm

import "syscall"

// permitTiles asks Linux for the use of the tile registers, which a process has to
// do once before any of its threads may touch them (arch_prctl(2)). It reports
// whether that was granted.
func permitTiles() bool {
	const (
		archPrctl       = 158
		reqPermission   = 0x1023
		featureTileData = 18
	)
	_, _, errno := syscall.RawSyscall(archPrctl, reqPermission, featureTileData, 0)
	return errno == 0
}
