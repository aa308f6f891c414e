//go:build noasm || (!amd64 && !arm64)

package asm

// detect returns Generic: this build has no assembly.
func detect() Level { return Generic }

// available reports whether l can be used.
func available(l Level) bool { return l == Generic }

func secondLevelCache() int { return 0 }
