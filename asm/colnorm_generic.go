package asm

import "math"

func colNormGeneric(dst, x []float32, m *ColNormMap) {
	cols := len(m.Mean)
	for r := 0; r < len(x); r += cols {
		for j := range cols {
			y := m.at(x[r+j]-m.Mean[j], j)
			if m.Floor > y {
				y = m.Floor
			}
			dst[r+j] = y
		}
	}
}

// at returns the result before the floor of a value of column j, t from the mean.
func (m *ColNormMap) at(t float32, j int) float32 { return float32(t*m.Scale[j]) + m.Shift[j] }

// passes reports whether a result before the floor is above it. Without a floor all are,
// also those that are NaN.
func passes(z, floor float32) bool { return z > floor || math.IsInf(float64(floor), -1) }

func colNormSumsGeneric(sum, dot []float64, dy, x []float32, m *ColNormMap) {
	cols := len(m.Mean)
	for r := 0; r < len(x); r += cols {
		for j := range cols {
			t := x[r+j] - m.Mean[j]
			var g float64
			if passes(m.at(t, j), m.Floor) {
				g = float64(dy[r+j])
			}
			sum[j] += g
			dot[j] += float64(g * float64(t))
		}
	}
}

func colNormGradGeneric(dst, dy, x []float32, m *ColNormMap, p, q, r []float32) {
	cols := len(m.Mean)
	for i := 0; i < len(x); i += cols {
		for j := range cols {
			t := x[i+j] - m.Mean[j]
			var g float32
			if passes(m.at(t, j), m.Floor) {
				g = dy[i+j]
			}
			dst[i+j] = float32(p[j]*g) + (float32(q[j]*t) + r[j])
		}
	}
}

func colMomentsGeneric(sum, squares []float64, x, pivot []float32) {
	cols := len(pivot)
	for r := 0; r < len(x); r += cols {
		for j := range cols {
			t := float64(x[r+j] - pivot[j])
			sum[j] += t
			squares[j] += float64(t * t)
		}
	}
}
