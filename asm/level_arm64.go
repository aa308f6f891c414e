//go:build !noasm

package asm

// detect returns NEON: Advanced SIMD is part of every arm64 that Go runs on.
func detect() Level { return NEON }

// available reports whether l can be used.
func available(l Level) bool { return l == Generic || l == NEON }

func secondLevelCache() int { return 0 }
