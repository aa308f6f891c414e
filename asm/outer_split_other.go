//go:build noasm || !amd64

package asm

//go:noinline
func gemmSplitOuter(o *OuterSplit) { o.parts() }
