package asm

import (
	"fmt"
	"os"
)

// Level names a set of kernels: the portable Go code or the assembly for one
// instruction set. Higher levels of one architecture are faster.
type Level uint8

const (
	// Generic is the portable Go code, present on every machine and the
	// reference for all other levels.
	Generic Level = iota
	// NEON is the 128-bit Advanced SIMD of arm64.
	NEON
	// AVX2 is 256-bit AVX2 with FMA on amd64.
	AVX2
	// AVX512 is 512-bit AVX-512 F, DQ, BW and VL on amd64.
	AVX512
	// AMX is AVX512 with the matrix unit of Intel's servers (AMX-BF16 and AMX-INT8), for
	// products of split and of sliced matrices. Linux only.
	AMX

	levels
)

var levelNames = [levels]string{"generic", "neon", "avx2", "avx512", "amx"}

// String returns generic, neon, avx2, avx512 or amx.
func (l Level) String() string {
	if l < levels {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel returns the level whose String is s.
func ParseLevel(s string) (Level, error) {
	for l, name := range levelNames {
		if s == name {
			return Level(l), nil
		}
	}
	return Generic, &Error{"ParseLevel", fmt.Sprintf("unknown level %q: want generic, neon, avx2, avx512 or amx", s)}
}

// EnvVariable is the environment variable that caps the level at start-up.
const EnvVariable = "NOETHER_SIMD"

var (
	detected = detect()
	// active, level and fastSplit change only in activate.
	active, errEnv = levelFromEnv(os.Getenv(EnvVariable))
	// level is what every kernel for vectors switches on.
	level = vectorLevel(active)
	// fastSplit says that the matrix unit multiplies split matrices.
	fastSplit = active == AMX
)

// activate makes l the level in use.
func activate(l Level) { active, level, fastSplit = l, vectorLevel(l), l == AMX }

// vectorLevel returns the level whose kernels for vectors l uses.
func vectorLevel(l Level) Level { return min(l, AVX512) }

// levelFromEnv returns the level that the value of EnvVariable asks for. On
// an error it returns the detected level as well, so that a typing error in
// the environment costs a message and not the speed.
func levelFromEnv(value string) (Level, error) {
	if value == "" {
		return detected, nil
	}
	l, err := ParseLevel(value)
	if err != nil {
		return detected, &Error{EnvVariable, fmt.Sprintf("unknown level %q: want one of %v; using %v", value, Available(), detected)}
	}
	if !available(l) {
		return detected, &Error{EnvVariable, fmt.Sprintf("this CPU or build has no %v: want one of %v; using %v", l, Available(), detected)}
	}
	return l, nil
}

// Detected returns the highest level that this CPU, its operating system and
// this build support.
func Detected() Level { return detected }

// Active returns the level in use: Detected, unless NOETHER_SIMD or SetLevel
// chose a lower one.
func Active() Level { return active }

// Available returns the levels that can be used here, ascending, Generic first.
func Available() []Level {
	all := []Level{Generic}
	for l := Generic + 1; l <= detected; l++ {
		if available(l) {
			all = append(all, l)
		}
	}
	return all
}

// SecondLevelCache returns the size in bytes of the second-level cache of a core,
// zero where it is not known: off amd64, and without assembly.
func SecondLevelCache() int { return secondLevelCache() }

// SetLevel selects the level for all later calls. It returns an error, and
// changes nothing, when the CPU or the build lacks l. It is meant for tests and
// benchmarks: no other function of this package may run at the same time.
func SetLevel(l Level) error {
	if !available(l) {
		return &Error{"SetLevel", fmt.Sprintf("this CPU or build has no %v: want one of %v", l, Available())}
	}
	activate(l)
	return nil
}

// EnvError returns what was wrong with the value of NOETHER_SIMD (an unknown
// name, or a level that is not available here), and nil when all was well.
// After an error Detected is used.
func EnvError() error { return errEnv }
