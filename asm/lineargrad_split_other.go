//go:build noasm || !amd64

package asm

//go:noinline
func linearGradSplit(g *GradSplit) { g.parts(0, 0, g.M, g.N) }
