//go:build linux && !noasm && (amd64 || arm64)

package asm

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestHardwareLevelsRun asks the kernel which instruction sets there are and
// fails when eachLevel would leave out one of them: a kernel that never ran must
// not look tested.
func TestHardwareLevelsRun(t *testing.T) {
	want := []Level{Generic}
	if runtime.GOARCH == "arm64" {
		want = append(want, NEON)
	} else {
		data, err := os.ReadFile("/proc/cpuinfo")
		if err != nil {
			t.Skip(err)
		}
		var flags []string
		for line := range strings.Lines(string(data)) {
			if name, list, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
				flags = strings.Fields(list)
				break
			}
		}
		has := func(names ...string) bool {
			for _, name := range names {
				if !slices.Contains(flags, name) {
					return false
				}
			}
			return true
		}
		if has("avx2", "fma") {
			want = append(want, AVX2)
			if has("avx512f", "avx512dq", "avx512bw", "avx512vl") {
				want = append(want, AVX512)
				if has("amx_tile", "amx_bf16", "amx_int8") {
					want = append(want, AMX)
				}
			}
		}
	}
	if got := Available(); !slices.Equal(got, want) {
		t.Fatalf("levels %v are tested, but this machine has %v", got, want)
	}
}
