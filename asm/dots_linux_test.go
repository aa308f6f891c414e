package asm

import (
	"runtime/debug"
	"testing"
)

// TestGemmDotsStayInside runs GemmDots on slices of exactly the length that it
// needs, at an inaccessible page.
func TestGemmDotsStayInside(t *testing.T) {
	const most = 40
	f := newFence(t, 3, most*most)
	eachLevel(t, func(t *testing.T) {
		mr, _ := DotTile()
		for m := 1; m <= max(1, mr); m++ {
			for n := 1; n <= 9; n++ {
				for k := 1; k <= most; k++ {
					for _, f.back = range []bool{false, true} {
						f.used = 0
						func() {
							defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
							defer func() {
								if r := recover(); r != nil {
									t.Fatalf("m=%d n=%d k=%d, slices end at the page %v: %v", m, n, k, f.back, r)
								}
							}()
							GemmDots(m, n, k, f.take(m*k), k, f.take(n*k), k, f.take(m*n), n, k%2 == 0)
						}()
					}
				}
			}
		}
	})
}
