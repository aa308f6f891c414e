//go:build !noasm

package asm

import "testing"

// eachComplex runs f at each level and, with AVX-512, with all kernels of complex products.
func eachComplex(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func(shared bool, cache int) { sharedPorts, firstLevelCache = shared, cache }(sharedPorts, firstLevelCache)
	eachLevel(t, func(t *testing.T) {
		if level != AVX512 {
			f(t)
			return
		}
		for _, kind := range []struct {
			name   string
			shared bool
			cache  int
		}{{"ports of adders", false, 0}, {"shared ports", true, wideCache - 1}, {"wide tiles", true, wideCache}} {
			t.Run(kind.name, func(t *testing.T) {
				sharedPorts, firstLevelCache = kind.shared, kind.cache
				f(t)
			})
		}
	})
}
