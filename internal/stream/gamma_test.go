package stream_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/stream"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestGamma compares moments and the empirical distribution with the exact ones.
func TestGamma(t *testing.T) {
	const n = 100000
	for _, shape := range []float64{0.05, 0.4, 0.999, 1, 1.2, 1.5, 2, 3, 6, 50} {
		t.Run(fmt.Sprintf("shape=%v", shape), func(t *testing.T) {
			s := stream.New(1, fmt.Sprintf("gamma %v", shape), 0)
			x := make([]float64, n)
			var m [4]float64 // central moments 2 to 3, mean in m[1]
			for i := range x {
				x[i] = s.Gamma(shape)
				if !(x[i] >= 0) || math.IsInf(x[i], 1) {
					t.Fatalf("Gamma = %v", x[i])
				}
				m[1] += x[i] / n
			}
			for _, v := range x {
				d := v - shape
				m[2] += d * d / n
				m[3] += d * d * d / n
			}
			// Central moments 2, 3, 4 and 6 of the distribution are k, 2k, 3k^2+6k and
			// 15k^3+130k^2+120k: they give the means and the standard errors.
			k := shape
			for _, c := range []struct {
				what            string
				got, want, var1 float64
			}{
				{"mean", m[1], k, k},
				{"variance", m[2], k, 3*k*k + 6*k - k*k},
				{"third moment", m[3], 2 * k, 15*k*k*k + 130*k*k + 120*k - 4*k*k},
			} {
				if sd := math.Sqrt(c.var1 / n); !(math.Abs(c.got-c.want) <= 5*sd) {
					t.Errorf("%s is %v, want %v within %v", c.what, c.got, c.want, 5*sd)
				}
			}
			// Kolmogorov and Smirnov: beyond 1.95/sqrt(n) once in a thousand times.
			slices.Sort(x)
			exact := distuv.Gamma{Alpha: shape, Beta: 1}
			worst := 0.0
			for i, v := range x {
				p := exact.CDF(v)
				worst = max(worst, p-float64(i)/n, float64(i+1)/n-p)
			}
			if worst > 1.95/math.Sqrt(n) {
				t.Errorf("the distribution is off by %v, allowed %v", worst, 1.95/math.Sqrt(n))
			}
		})
	}
}

// The first numbers are part of what a seed means.
func TestGammaStored(t *testing.T) {
	for _, c := range []struct{ shape, want float64 }{{0.4, 1.1912098234718038}, {1.5, 1.7887989434994827}, {6, 6.931668810152459}} {
		s := stream.New(1, "gamma", 0)
		if got := s.Gamma(c.shape); !(math.Abs(got-c.want) <= 1e-13*c.want) {
			t.Errorf("Gamma(%v) = %v", c.shape, got)
		}
	}
}

func TestGammaMisuse(t *testing.T) {
	for _, shape := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Gamma(%v) did not panic", shape)
				}
			}()
			stream.New(1, "gamma", 0).Gamma(shape)
		}()
	}
}
