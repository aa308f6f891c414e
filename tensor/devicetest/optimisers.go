package devicetest

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/tensor"
)

func (s *suite) optimisers() {
	const many = 40001
	s.adam(many, 3, 0.9, 0.01)
	s.sgd(many, 0.9, 0.01, true, true)
	s.sgd(many, 0, 0, false, false)
	for _, n := range []int{0, 1, 15, 16, 17, 63, 100, 1001} {
		s.clip(n)
		s.adam(n, 1, 0.999, 0)
		for _, step := range []int{1, 2, 1000} {
			for _, decay := range []float64{0, 0.01} {
				s.adam(n, step, 0.9, decay)
			}
		}
		for _, momentum := range []float64{0, 0.9} {
			for _, decay := range []float64{0, 0.01} {
				for _, nesterov := range []bool{false, true} {
					s.sgd(n, momentum, decay, nesterov, true)
				}
				if momentum == 0 {
					s.sgd(n, momentum, decay, false, false)
				}
			}
		}
	}
}

// clip: the norm is given, so it need not be g's.
func (s *suite) clip(n int) {
	g := normal(random(fmt.Sprint("clip", n)), n)
	for _, c := range []struct {
		sumSquares, limit, scale float64
	}{
		{4, 3, 1}, {4, 2, 1}, {4, 1, 0.5}, {1e10, 0.1, 1e-6}, {0, 1, 1}, {math.NaN(), 1, math.NaN()}, {math.Inf(1), 1, 0},
	} {
		limit := float32(c.limit)
		s.add("ClipNorm", fmt.Sprintf("n=%d/sumSquares=%v/max=%v", n, c.sumSquares, c.limit),
			func(d tensor.Device, b []tensor.Buffer) { d.ClipNorm(b[0], b[1], limit) },
			inout("g", g, mapped(n, func(i int) float64 { return c.scale * float64(g[i]) }),
				mapped(n, func(i int) float64 {
					if c.scale == 1 {
						return 0
					}
					return 3 * ulp * math.Abs(c.scale*float64(g[i]))
				})),
			in("sumSquares", []float32{float32(c.sumSquares)}))
	}
}

// adam follows Kingma & Ba 2015, algorithm 1, with the coefficients rounded to
// float32. It allows 1e-6 of the step: a correction of 0.999 as it was before that
// rounding would be off by 1e-5.
func (s *suite) adam(n, step int, beta, decay float64) {
	size := fmt.Sprintf("n=%d/step=%d/beta1=%v/decay=%v", n, step, beta, decay)
	r := random("adam" + size)
	p, g, m, v := normal(r, n), normal(r, n), normal(r, n), normal(r, n)
	for i := range v {
		v[i] *= v[i] * 0.1
		m[i] *= 0.1
		if step == 1 {
			m[i], v[i] = 0, 0
		}
		if i%10 == 7 {
			g[i] = 0
		}
	}
	if n > 50 {
		g[33] = float32(math.NaN())
	}
	lr, eps := 1e-2, 1e-8
	beta1, beta2 := round(beta), round(0.999)
	var wantP, errP, wantM, errM, wantV, errV []float64
	for i := range p {
		gi, mi, vi, pi := float64(g[i]), float64(m[i]), float64(v[i]), float64(p[i])
		m1, v1 := beta1*mi+(1-beta1)*gi, beta2*vi+(1-beta2)*gi*gi
		mh, vh := m1/(1-math.Pow(beta1, float64(step))), v1/(1-math.Pow(beta2, float64(step)))
		update := lr * mh / (math.Sqrt(vh) + eps)
		wantP = append(wantP, pi-lr*decay*pi-update)
		mErr := 4 * ulp * (math.Abs(beta1*mi) + math.Abs((1-beta1)*gi))
		relM := 0.0
		if m1 != 0 {
			relM = mErr / math.Abs(m1)
		}
		errP = append(errP, 4*ulp*math.Abs(pi)+(1e-6+relM)*math.Abs(update))
		wantM, errM = append(wantM, m1), append(errM, mErr)
		wantV, errV = append(wantV, v1), append(errV, 8*ulp*v1)
	}
	var args tensor.AdamArgs // outlives the calls, as in an optimiser
	s.add("Adam", size, func(d tensor.Device, b []tensor.Buffer) {
		args = tensor.AdamArgs{P: b[0], G: b[1], M: b[2], V: b[3], LR: lr, Beta1: beta, Beta2: 0.999, Eps: eps, WeightDecay: decay, Step: step}
		d.Adam(&args)
	}, inout("P", p, wantP, errP), in("G", g), inout("M", m, wantM, errM), inout("V", v, wantV, errV))
}

func (s *suite) sgd(n int, momentum, decay float64, nesterov, velocity bool) {
	size := fmt.Sprintf("n=%d/momentum=%v/decay=%v/nesterov=%v/velocity=%v", n, momentum, decay, nesterov, velocity)
	r := random("sgd" + size)
	p, g, v := normal(r, n), normal(r, n), normal(r, n)
	if n > 50 {
		g[33] = float32(math.NaN())
	}
	const lr = 0.05
	var wantP, errP, wantV, errV []float64
	for i := range p {
		pi, gi, vi := float64(p[i]), float64(g[i]), float64(v[i])
		v1 := momentum*vi + gi
		if !velocity {
			v1 = gi
		}
		update := v1
		if nesterov {
			update = gi + momentum*v1
		}
		wantP = append(wantP, pi-lr*decay*pi-lr*update)
		scale := math.Abs(momentum*vi) + math.Abs(gi)
		errP = append(errP, 4*ulp*(math.Abs(pi)+lr*scale*2))
		wantV, errV = append(wantV, v1), append(errV, 4*ulp*scale)
	}
	args := tensor.SGDArgs{LR: lr, Momentum: momentum, WeightDecay: decay, Nesterov: nesterov}
	call := func(d tensor.Device, b []tensor.Buffer) {
		args.P, args.G, args.V = b[0], b[1], tensor.Buffer{}
		if velocity {
			args.V = b[2]
		}
		d.SGD(&args)
	}
	arrays := []Array{inout("P", p, wantP, errP), in("G", g)}
	if velocity {
		arrays = append(arrays, inout("V", v, wantV, errV))
	}
	s.add("SGD", size, call, arrays...)
}
