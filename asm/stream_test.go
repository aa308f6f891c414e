package asm

import (
	"fmt"
	"testing"
)

// TestStream copies at every length around a line and a call of the kernel, from
// and to every place within a line.
func TestStream(t *testing.T) {
	var lengths []int
	for n := range 70 {
		lengths = append(lengths, n)
	}
	lengths = append(lengths, chunk-1, chunk, chunk+1, 2*chunk+17)
	eachLevel(t, func(t *testing.T) {
		for _, n := range lengths {
			for at := 0; at < 16; at += 1 + n/chunk*6 { // fewer places for the long ones
				src := make([]float32, n+at)
				for i := range src {
					src[i] = float32(i + 1)
				}
				const margin = 20
				all := make([]float32, n+2*margin+at)
				dst := all[margin+at : margin+at+n]
				Stream(dst, src[at:])
				diff(t, fmt.Sprintf("%d values, shifted by %d", n, at), dst, src[at:])
				for i, v := range all {
					if (i < margin+at || i >= margin+at+n) && v != 0 {
						t.Fatalf("%d values, shifted by %d: written outside, at %d", n, at, i-margin-at)
					}
				}
			}
		}
	})
	defer func() {
		if _, ok := recover().(*Error); !ok {
			t.Error("different lengths: no *Error")
		}
	}()
	Stream(make([]float32, 2), make([]float32, 3))
}
