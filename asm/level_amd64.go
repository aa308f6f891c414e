//go:build !noasm

package asm

import "github.com/klauspost/cpuid/v2"

// detect returns the highest level that the CPU and the operating system
// support. cpuid checks XGETBV, so a feature that the system does not save on a
// context switch counts as absent.
func detect() Level {
	switch {
	case !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3):
		return Generic
	case !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL):
		return AVX2
	case cpuid.CPU.Supports(cpuid.AMXTILE, cpuid.AMXBF16, cpuid.AMXINT8) && permitTiles():
		return AMX
	}
	return AVX512
}

// available reports whether l can be used: each level of amd64 includes the
// ones below it.
func available(l Level) bool {
	return l == Generic || l >= AVX2 && l <= detected
}

func secondLevelCache() int { return max(0, cpuid.CPU.Cache.L2) }
