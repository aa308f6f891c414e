package asm

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"
)

// portableBits are hashes of what the portable code computes. They were taken
// on amd64, whose compiler never fuses a product with a sum; arm64's does unless
// the source forbids it. A change of the arithmetic changes the hash: then take
// the new one from the message, but only if it is the same on amd64 and arm64.
var portableBits = map[string]uint64{
	"Adam":                0x4e4c2012f025a10b,
	"AddShifted":          0x6a40239846d87b14,
	"Affine":              0x1abebcfd2b12a253,
	"Axpy":                0x56d1d9b8357055a1,
	"ColAffine":           0xfc5ce8f20ac8bb78,
	"ColNorm":             0x3751575b921b8a33,
	"ColSums":             0xb5049e212a458546,
	"Combine":             0x1463e660d9dfdf64,
	"Cos":                 0xcd99ea603092ccfd,
	"Exp":                 0x5f0ccf79c4223508,
	"Fold":                0x81a916d044c5c406,
	"FoldedWaves":         0xe6cc5a156b67af0e,
	"GaussFactors":        0xc44251b41dd26ae4,
	"GaussPanel":          0x92434199f9dc54f5,
	"GaussPanelGrad":      0xda6dce80b08fd10e,
	"GaussRows":           0xce59f92145367444,
	"GemmComplexNN":       0xad6a134f2e10ca4,
	"GemmComplexPanelsNN": 0x816e0aa772b51dd3,
	"GemmComplexQuads":    0xe490fba519e8da97,
	"GemmComplexTN":       0x85b967e2e193bd19,
	"GemmDots":            0x78b201de3a32e116,
	"GemmMirrored":        0xeb701cf67f348b8f,
	"GemmNN":              0x93731a8f7ce8d7e8,
	"GemmTN":              0xbfc93cedb0ae6f77,
	"GemmWaves":           0xbe86596a68fb2fe5,
	"KernelWaves":         0xfd9927b8cee4c0a,
	"KernelWavesGrad":     0x25e1f50bd82c840e,
	"Log":                 0xb143870a36ac4a5e,
	"MulAdd":              0x65c7284a4de9ac0b,
	"NormPool":            0xf4ecc2a3c06433d9,
	"Sin":                 0x898975bbe8c2238c,
	"SinCos":              0xe4caaab31a86f9e0,
	"SumDiff":             0x264507735f7091a4,
	"Sums":                0x8ae9f713e9077ba4,
}

// ramp fills x with a fixed sequence of values of either sign, from 2^-8 to 8
// in size, by a linear congruential generator.
func ramp(x []float32, seed uint32) {
	for i := range x {
		seed = seed*1664525 + 1013904223
		size := 1 + float32(seed>>9)/(1<<23) // 1 to 2, exact
		x[i] = size * float32(int(1)<<(seed>>4&7)) / 32
		if seed>>8&1 != 0 {
			x[i] = -x[i]
		}
	}
}

// TestPortableBits holds the portable code to the same bits on every
// architecture.
func TestPortableBits(t *testing.T) {
	const n = 1000
	var x, y, z [n]float32
	ramp(x[:], 1)
	ramp(y[:], 2)
	ramp(z[:], 3)
	magnitude := func(x []float32) []float32 {
		y := make([]float32, len(x))
		for i, v := range x {
			y[i] = float32(math.Abs(float64(v)))
		}
		return y
	}
	defer func(before Level) {
		if err := SetLevel(before); err != nil {
			t.Error(err)
		}
	}(Active())
	if err := SetLevel(Generic); err != nil {
		t.Fatal(err)
	}
	var ahead [4][]float32
	spare := make([]float32, ComplexSpare)
	var d, e [n]float32
	for name, run := range map[string]func() []float32{
		"Sin":    func() []float32 { sinGeneric(d[:], x[:]); return d[:] },
		"Cos":    func() []float32 { cosGeneric(d[:], x[:]); return d[:] },
		"SinCos": func() []float32 { sinCosGeneric(d[:], e[:], x[:]); return append(d[:], e[:]...) },
		"Exp":    func() []float32 { expGeneric(d[:], x[:]); return d[:] },
		"Log":    func() []float32 { logGeneric(d[:], magnitude(x[:])); return d[:] },
		"MulAdd": func() []float32 { d = z; mulAddGeneric(d[:], x[:], y[:]); return d[:] },
		"Axpy":   func() []float32 { d = z; axpyGeneric(d[:], 0.3, x[:]); return d[:] },
		"AddShifted": func() []float32 {
			d = z
			addShiftedGeneric(d[:900], x[:], []int{0, 17, 100}, y[:3])
			return d[:]
		},
		"Affine":  func() []float32 { affineGeneric(d[:], x[:], 0.3, 0.7); return d[:] },
		"Combine": func() []float32 { combineGeneric(d[:], x[:], y[:], 0.3, 0.6, 0.7); return d[:] },
		"Sums": func() []float32 {
			return []float32{float32(sumGeneric(x[:])), float32(dotGeneric(x[:], y[:])), float32(sumSquaresGeneric(x[:], 0.3))}
		},
		"ColSums": func() []float32 {
			colSumGeneric(d[:10], x[:])
			return d[:10]
		},
		"ColAffine": func() []float32 { colAffineGeneric(d[:], x[:], y[:10], z[:10]); return d[:] },
		"ColNorm": func() []float32 {
			m := ColNormMap{y[:10], z[:10], x[:10], 0}
			colNormGeneric(d[:500], x[:500], &m)
			colNormGradGeneric(d[500:], y[:500], x[500:], &m, x[10:20], y[10:20], z[10:20])
			var sum, dot [10]float64
			colNormSumsGeneric(sum[:], dot[:], y[:], x[:], &m)
			colMomentsGeneric(sum[:], dot[:], x[:], y[:10])
			for j := range sum {
				e[j], e[10+j] = float32(sum[j]), float32(dot[j])
			}
			return append(d[:], e[:20]...)
		},
		"NormPool": func() []float32 {
			m := NormMap{0.3, -0.7, 0.2, 0}
			normPoolGeneric(d[:250], x[:500], y[:500], 25, &m)
			normPoolGradGeneric(d[250:500], e[:], z[:125], x[:500], y[:500], 25, &m, 0.3, 0.6, 0.7)
			sum, dot := normPoolSumsGeneric(z[:125], x[:500], y[:500], 25, &m)
			return append(append(d[:500], e[:250]...), float32(sum), float32(dot))
		},
		"Adam": func() []float32 {
			p, m, v := x, y, [n]float32(magnitude(z[:]))
			adamGeneric(p[:], m[:], v[:], z[:], &AdamStep{Step: 1e-3, Beta1: 0.9, Beta2: 0.999, Correction2: 1.3, Eps: 1e-8, Decay: 0.9999})
			return append(append(p[:], m[:]...), v[:]...)
		},
		"GemmNN": func() []float32 {
			d = z
			gemmNNGeneric(7, 15, 50, x[:], 61, y[:], 17, genericNR, d[:], 23, true)
			return d[:]
		},
		"GemmTN": func() []float32 {
			d = z
			gemmTNGeneric(7, 15, 50, x[:], 9, y[:], 17, genericNR, d[:], 23, false)
			return d[:]
		},
		"GemmDots": func() []float32 {
			d = z
			gemmDotsGeneric(7, 15, 50, x[:], 61, y[:], 53, d[:], 23, true)
			return d[:]
		},
		"SumDiff": func() []float32 { SumDiff(d[:], e[:], x[:], y[:]); return append(d[:], e[:]...) },
		"Fold":    func() []float32 { Fold(d[:], e[:], 40, x[:13*37], 13); return append(d[:], e[:]...) },
		"GemmMirrored": func() []float32 {
			d, e = z, y
			GemmMirrored(9, 21, 11, 10, x[:], y[:], 9, x[100:], z[:], 25, d[:], e[:], 23, true, true)
			return append(d[:], e[:]...)
		},
		"GemmComplexNN": func() []float32 {
			d, e = z, y
			GemmComplexNN(9, 21, 33, x[:], y[:], 35, z[:], x[:], 21, d[:], e[:], 23, true, ahead, spare)
			return append(d[:], e[:]...)
		},
		"GemmComplexTN": func() []float32 {
			GemmComplexTN(9, 21, 33, x[:], y[:], 11, z[:], x[:], 21, d[:], e[:], 23, false, ahead, spare)
			return append(d[:], e[:]...)
		},
		"GemmComplexPanelsNN": func() []float32 {
			d, e = z, y
			GemmComplexPanelsNN(9, 21, 30, x[:], y[:], 35, z[:], x[:], 30*genericNR, d[:], e[:], 23, true, ahead, spare)
			return append(d[:], e[:]...)
		},
		"GemmComplexQuads": func() []float32 {
			d, e = z, y
			GemmComplexQuads(9, 13, 32, x[:], y[:], 35, z[:], x[:], 8*4*QuadColumns, d[:], e[:], 23, true, ahead)
			return append(d[:], e[:]...)
		},
		"GemmWaves": func() []float32 {
			GemmWaves(7, 5, 3, 8, x[:], y[:], z[:], 17, d[:], e[:], 41, true, spare)
			GemmWaves(6, 5, 3, 9, x[:], y[:], z[:], 17, d[500:], e[500:], 41, false, spare)
			return append(d[:], e[:]...)
		},
		"FoldedWaves": func() []float32 {
			FoldedWaves(6, 7, 5, 9, x[:], y[:], 8, z[:], d[:], e[:], 11, 60, spare)
			return append(d[:], e[:]...)
		},
		"KernelWaves": func() []float32 {
			KernelWaves(13, 24, 6, 2, (*[6]float32)(x[:6]), y[:], z[:], 14, d[:], e[:], 15, nil)
			return append(d[:], e[:]...)
		},
		"KernelWavesGrad": func() []float32 {
			d = z
			KernelWavesGrad(13, 24, 6, 2, (*[7]float32)(x[:7]), y[:], d[:], 14, x[100:], z[:], 15, true, nil)
			return d[:]
		},
		"GaussFactors": func() []float32 {
			GaussFactors(5, 33, 3, x[:], y[:], 40, d[:], 41, 130)
			return d[:]
		},
		"GaussRows": func() []float32 {
			d, e = z, y
			columns := []GaussColumn{{0, x[:1]}, {1, x[1:8]}, {8, x[8:11]}}
			s := GaussShape{Columns: columns, Rows: 5, First: 1, End: 6, N: 4, M: 11, XPlane: 30, YPlane: 60}
			GaussRows(&s, y[:], z[:], d[:], true, nil)
			s.Real = true
			GaussRows(&s, y[:], z[:], e[:], true, nil)
			return append(d[:], e[:]...)
		},
		"GaussPanel": func() []float32 {
			d = z
			s := GaussShape{Columns: []GaussColumn{{0, x[:1]}, {1, x[1:4]}}, Rows: 5, N: 4, M: 3, XPlane: 30, YPlane: 60}
			GaussPanel(&s, y[:], 7, z[:], d[:], 11, make([]float32, GaussSpare), true)
			return d[:]
		},
		"GaussPanelGrad": func() []float32 {
			d = z
			s := GaussShape{Columns: []GaussColumn{{0, x[:1]}, {1, x[1:4]}}, Rows: 5, N: 4, M: 3, XPlane: 30, YPlane: 60}
			GaussPanelGrad(&s, y[:], 7, z[:], 11, d[:], make([]float32, GaussSpare))
			return d[:]
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, e = [n]float32{}, [n]float32{}
			h := fnv.New64a()
			if err := binary.Write(h, binary.LittleEndian, run()); err != nil {
				t.Fatal(err)
			}
			if got := h.Sum64(); got != portableBits[name] {
				t.Errorf("%q: %#x, want %#x", name, got, portableBits[name])
			}
		})
	}
}

// fusedBits are hashes of what every level with assembly computes, on all
// architectures: their kernels fuse the same products in the same order.
var fusedBits = map[string]uint64{
	"AddShifted": 0x985f9466f8dff145,
	"Adam":       0x5970dc581775f851,
	"Affine":     0x6415f250aeff92af,
	"Axpy":       0x2086975c41428651,
	"ColAffine":  0xaadf236916a0f25b,
	"ColNorm":    0xdbcfe07132bf6434,
	"Combine":    0xdec8cf135ed0a13e,
	"Cos":        0x976b3424f54b51b6,
	"Exp":        0xd8b22f41d199c0d0,
	"Gemm":       0xab9544484c6b613a,
	"Log":        0x86aee8b16c25cec3,
	"MulAdd":     0x6a0aee093e98ef4,
	"NormPool":   0x208f1c0d3ed3c0e6,
	"Sin":        0x1229085bd9eed280,
	"SinCos":     0x44c5fa46be260994,
}

// TestFusedBits holds the elementwise kernels of all instruction sets to the
// same bits.
func TestFusedBits(t *testing.T) {
	const n = 1003 // whole blocks, single vectors and a tail at every level
	var x, y, z, d, e [n]float32
	ramp(x[:], 1)
	ramp(y[:], 2)
	ramp(z[:], 3)
	var size [n]float32
	for i, v := range z {
		size[i] = float32(math.Abs(float64(v)))
	}
	ops := map[string]func() []float32{
		"Sin":    func() []float32 { Sin(d[:], x[:]); return d[:] },
		"Cos":    func() []float32 { Cos(d[:], x[:]); return d[:] },
		"SinCos": func() []float32 { SinCos(d[:], e[:], x[:]); return append(d[:], e[:]...) },
		"Exp":    func() []float32 { Exp(d[:], x[:]); return d[:] },
		"Log":    func() []float32 { Log(d[:], size[:]); return d[:] },
		"MulAdd": func() []float32 { d = z; MulAdd(d[:], x[:], y[:]); return d[:] },
		"Axpy":   func() []float32 { d = z; Axpy(d[:], 0.3, x[:]); return d[:] },
		"AddShifted": func() []float32 {
			d = z
			AddShifted(d[:903], x[:], []int{0, 17, 100}, y[:3])
			return d[:]
		},
		"Affine":  func() []float32 { Affine(d[:], x[:], 0.3, 0.7); return d[:] },
		"Combine": func() []float32 { Combine(d[:], x[:], y[:], 0.3, 0.6, 0.7); return d[:] },
		"ColAffine": func() []float32 {
			ColAffine(d[:], x[:], y[:17], z[:17]) // 59 rows
			return d[:]
		},
		"ColNorm": func() []float32 {
			m := ColNormMap{y[:17], z[:17], x[:17], 0}
			ColNorm(d[:], x[:], &m)
			ColNormGrad(e[:], y[:], x[:], &m, x[17:34], y[17:34], z[17:34])
			return append(d[:], e[:]...)
		},
		"NormPool": func() []float32 {
			m := NormMap{0.3, -0.7, 0.2, 0}
			NormPool(d[:237], x[:474], y[:474], 79, &m)
			NormPoolGrad(d[237:711], e[:474], z[:237], x[:474], y[:474], 79, &m, 0.3, 0.6, 0.7)
			return append(d[:711], e[:474]...)
		},
		"Adam": func() []float32 {
			p, m, v := x, y, size
			Adam(p[:], m[:], v[:], z[:], AdamStep{Step: 1e-3, Beta1: 0.9, Beta2: 0.999, Correction2: 1.3, Eps: 1e-8, Decay: 0.9999})
			return append(append(p[:], m[:]...), v[:]...)
		},
		"Gemm": func() []float32 {
			d = z
			for i := range 7 { // element by element, whatever the tile
				for j := range 13 {
					GemmNN(1, 1, 50, x[61*i:], 61, y[j:], 17, d[17*i+j:], 17, true)
				}
			}
			return d[:]
		},
	}
	eachLevel(t, func(t *testing.T) {
		if Active() == Generic {
			t.Skip("the portable code does not fuse")
		}
		for name, run := range ops {
			h := fnv.New64a()
			if err := binary.Write(h, binary.LittleEndian, run()); err != nil {
				t.Fatal(err)
			}
			if got := h.Sum64(); got != fusedBits[name] {
				t.Errorf("%q: %#x, want %#x", name, got, fusedBits[name])
			}
		}
	})
}
