//go:build noasm || !amd64

package asm

import "testing"

// eachComplex runs f at each level.
func eachComplex(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	eachLevel(t, f)
}
