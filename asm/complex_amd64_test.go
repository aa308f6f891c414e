//go:build !noasm

package asm

import "testing"

// eachComplex runs f at each level and, with AVX-512, with either kernel of complex products.
func eachComplex(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func(before bool) { sharedPorts = before }(sharedPorts)
	eachLevel(t, func(t *testing.T) {
		if level != AVX512 {
			f(t)
			return
		}
		for _, shared := range []bool{false, true} {
			name := "ports of adders"
			if shared {
				name = "shared ports"
			}
			t.Run(name, func(t *testing.T) {
				sharedPorts = shared
				f(t)
			})
		}
	})
}
