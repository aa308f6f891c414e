// Package asmtest runs tests at every level of assembly.
package asmtest

import (
	"os"
	"testing"

	"github.com/noether-go/noether/asm"
)

// EachLevel runs f as a subtest at every level that this build and CPU have,
// named after the level, and sets the former level again. Where NOETHER_SIMD chose the
// level it runs f at that one alone: make test-levels runs all tests at each.
func EachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	was := asm.Active()
	defer func() {
		if err := asm.SetLevel(was); err != nil {
			t.Error(err)
		}
	}()
	levels := asm.Available()
	if os.Getenv(asm.EnvVariable) != "" {
		levels = []asm.Level{was}
	}
	for _, level := range levels {
		t.Run("level="+level.String(), func(t *testing.T) {
			if err := asm.SetLevel(level); err != nil {
				t.Fatal(err)
			}
			f(t)
		})
	}
}
