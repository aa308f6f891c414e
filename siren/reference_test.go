package siren

import (
	"math"

	"github.com/noether-go/noether/nn"
)

// evaluate is a network in float64, as its definition has it: x [In, P] to
// [Out, P]. The values of the parameters are given in the order of Parameters,
// those of constant frequencies left out.
func evaluate(n LowRank, values [][]float64, x []float64) []float64 {
	r := &reference{values: values, positions: len(x) / n.In()}
	switch n := n.(type) {
	case *Net:
		for _, l := range n.layers {
			x = r.linear(&l.linear, x)
			if l.omega == nil {
				break
			}
			omega := float64(l.omega.Host[0])
			if l.omega.Class == nn.Frequency {
				omega = r.next()[0]
			}
			for i := range x {
				x[i] = math.Sin(omega * x[i])
			}
		}
		return x
	case *Filters:
		return r.filters(n.hidden.(*product), n.last, x)
	}
	m := n.(*MLP)
	p := m.hidden.(*perceptron)
	for _, l := range p.layers {
		x = r.linear(&l.linear, x)
		if l.scale != nil {
			r.normalise(x, l.out)
		}
		for i, v := range x {
			switch p.activation {
			case ReLU:
				x[i] = math.Max(v, 0)
			case LeakyReLU:
				x[i] = math.Max(v, 0) + 0.01*math.Min(v, 0)
			case Swish:
				x[i] = v / (1 + math.Exp(-v))
			}
		}
	}
	return r.linear(m.last, x)
}

// reference takes the values of the parameters one by one.
type reference struct {
	values    [][]float64
	positions int
}

func (r *reference) next() []float64 {
	v := r.values[0]
	r.values = r.values[1:]
	return v
}

// linear is W x + b.
func (r *reference) linear(l *linear, x []float64) []float64 {
	w := r.next()
	if l.norm != nil {
		g, v := w, r.next()
		w = make([]float64, len(v))
		for o := range l.out {
			length := 0.0
			for _, e := range v[o*l.in : (o+1)*l.in] {
				length += e * e
			}
			for i := range l.in {
				w[o*l.in+i] = g[o] * v[o*l.in+i] / math.Sqrt(length)
			}
		}
	}
	b := r.next()
	y := make([]float64, l.out*r.positions)
	for o := range l.out {
		for p := range r.positions {
			s := b[o]
			for i := range l.in {
				s += w[o*l.in+i] * x[i*r.positions+p]
			}
			y[o*r.positions+p] = s
		}
	}
	return y
}

// normalise standardises the units of x [units, P] at each position, with scale and
// shift.
func (r *reference) normalise(x []float64, units int) {
	scale, shift := r.next(), r.next()
	for p := range r.positions {
		mean, variance := 0.0, 0.0
		for k := range units {
			mean += x[k*r.positions+p] / float64(units)
		}
		for k := range units {
			d := x[k*r.positions+p] - mean
			variance += d * d / float64(units)
		}
		for k := range units {
			at := k*r.positions + p
			x[at] = scale[k]*(x[at]-mean)/math.Sqrt(variance+1e-5) + shift[k]
		}
	}
}

// filters is a multiplicative filter network. The parameters of its filters come
// behind those of the maps.
func (r *reference) filters(p *product, last *linear, x []float64) []float64 {
	maps := *r
	for _, l := range append(append([]*linear(nil), p.linears...), last) {
		r.next()
		r.next()
		if l.norm != nil {
			r.next()
		}
	}
	var z []float64
	for i, f := range p.filters {
		value := r.filter(f, x)
		if i > 0 {
			for k, u := range maps.linear(p.linears[i-1], z) {
				value[k] *= u
			}
		}
		z = value
	}
	return maps.linear(last, z)
}

func (r *reference) filter(f *filter, x []float64) []float64 {
	var mu, gamma []float64
	if f.mu != nil {
		mu, gamma = r.next(), r.next()
	}
	y := r.linear(&f.linear, x)
	for k := range y {
		unit, p := k/r.positions, k%r.positions
		y[k] = math.Sin(y[k])
		square := 0.0
		for d := range len(mu) / f.out {
			g := gamma[unit*len(gamma)/f.out]
			if len(gamma) == len(mu) {
				g = gamma[unit*f.in+d]
			}
			distance := g * (x[d*r.positions+p] - mu[unit*f.in+d])
			square += distance * distance
		}
		y[k] *= math.Exp(-square / 2)
	}
	return y
}
