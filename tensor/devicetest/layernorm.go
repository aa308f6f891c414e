package devicetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/noether-go/noether/tensor"
)

func (s *suite) layerNorm() {
	for _, shape := range [][3]int{{1, 1, 1}, {3, 1, 5}, {1, 2, 1}, {2, 17, 1}, {3, 49, 2}, {2, 63, 7}, {2, 64, 16}, {1, 65, 17},
		{5, 100, 64}, {6, 100, 48}, {3, 1025, 17}, {2, 2100, 5}, {4, 1025, 8}, {3, 9, 300}} {
		for k, offset := range offsets {
			for _, f := range []fusion{{}, {relu: true}, {measure: true}, {relu: true, measure: true}, {measure: true, each: true}} {
				s.layerNormAt(shape[0], shape[1], shape[2], offset, f, k == 0 && shape[1] < 100 && f == fusion{})
			}
			if shape[0]*shape[1]*shape[2] > 2*large {
				break
			}
		}
	}
}

const layerNormEps = float32(1e-12)

// layerNormAt adds forward and backward for x [c, positions, b]; with nan, one value of
// the last sample is NaN.
func (s *suite) layerNormAt(c, positions, b int, offset float32, f fusion, nan bool) {
	l := newLayerNorm(c, positions, b, offset, f, nan)
	for j := range b {
		l.sample(j)
	}
	for k := range c {
		l.newDW.err[k] += 2 * ulp * math.Abs(float64(l.dWeight[k]))
		l.newDB.err[k] += 2 * ulp * math.Abs(float64(l.dBias[k]))
	}
	l.addForward(s)
	l.addBackward(s)
}

// layerNorm is a layer normalisation of x [c, positions, b]: operands, and what it is to make
// of them.
type layerNorm struct {
	c, positions, b int
	f               fusion
	size            string
	r               *rand.Rand

	x, dy                        []float32
	weight, bias, dWeight, dBias []float32 // [c]
	mean32, invStd32             []float32 // [b], for the backward pass, and for Fixed
	y, fixed, dx                 bounded   // as x
	mean, invStd                 bounded   // [b]
	newDW, newDB                 bounded   // [c]

	elements    *elementWeights
	measure     [][]float64 // the weight of each value of a sample, channel after channel; nil: 1
	sums, given momentSums
	dMeasure    bounded // [positions, b]

	args tensor.LayerNormArgs // outlives the calls, as in a layer
}

func newLayerNorm(c, positions, b int, offset float32, f fusion, nan bool) *layerNorm {
	l := &layerNorm{c: c, positions: positions, b: b, f: f}
	l.size = fmt.Sprintf("c=%d/s=%d/b=%d/mean=%v%v", c, positions, b, offset, f)
	l.r = random(l.size)
	n := c * positions * b
	l.x, l.dy = normal(l.r, n), normal(l.r, n)
	l.weight, l.bias = normal(l.r, c), normal(l.r, c)
	for i := range l.x {
		l.x[i] += offset
		l.dy[i] += 0.5
	}
	if nan {
		l.size += "/nan"
		l.x[b-1] = float32(math.NaN())
	}
	l.elements = newElementWeights(l.r, positions, 1, b, f.each)
	l.measure = make([][]float64, b)
	if tile := l.elements.tile(); f.measure {
		for j := range b {
			for i := range c * positions {
				l.measure[j] = append(l.measure[j], tile[i%positions*b+j])
			}
		}
	}
	l.sums, l.given = newMomentSums(l.elements.elements*b), newMomentSums(l.elements.elements*b)
	l.mean32, l.invStd32 = make([]float32, b), make([]float32, b)
	for j := range b {
		if f.relu {
			l.separate(j, offset)
			continue
		}
		st := describe(l.column(l.x, j), l.measure[j], float64(layerNormEps))
		l.mean32[j], l.invStd32[j] = float32(st.mean), float32(st.invStd)
	}
	l.dWeight, l.dBias = normal(l.r, c), normal(l.r, c)
	l.y, l.fixed, l.dx = newBounded(n), newBounded(n), newBounded(n)
	l.mean, l.invStd, l.dMeasure = newBounded(b), newBounded(b), newBounded(positions*b)
	l.newDW, l.newDB = bounded{f64(l.dWeight), make([]float64, c)}, bounded{f64(l.dBias), make([]float64, c)}
	return l
}

// column returns sample j of x.
func (l *layerNorm) column(x []float32, j int) []float64 {
	return column(x, j, l.b, l.c*l.positions)
}

// separate gives sample j statistics of its own rather than those of x, and draws values anew that
// are close to zero after normalisation by them: the gradient of the ReLU jumps there.
func (l *layerNorm) separate(j int, mean float32) {
	const invStd = 0.75
	l.mean32[j], l.invStd32[j] = mean, invStd
	for k := range l.c {
		row := make([]float32, l.positions)
		for i := range row {
			row[i] = l.x[(k*l.positions+i)*l.b+j]
		}
		separate(l.r, row, l.f.windows(planes{1, 1, 1, l.positions}), func(v float64) float64 {
			return (v-float64(mean))*invStd*float64(l.weight[k]) + float64(l.bias[k])
		})
		for i, v := range row {
			l.x[(k*l.positions+i)*l.b+j] = v
		}
	}
}

// sample fills in what the passes are to make of sample j.
func (l *layerNorm) sample(j int) {
	x, d := l.column(l.x, j), l.column(l.dy, j)
	st := describe(x, l.measure[j], float64(layerNormEps))
	l.mean.set(j, st.mean, st.meanErr)
	l.invStd.set(j, st.invStd, st.invStdErr)
	m, k := float64(l.mean32[j]), float64(l.invStd32[j])
	h := mapped(len(x), func(i int) float64 { return (x[i] - m) * k })
	for i := range x {
		w, off, at := float64(l.weight[i/l.positions]), float64(l.bias[i/l.positions]), i*l.b+j
		y, fixed := w*st.y[i]+off, w*h[i]+off
		if l.f.relu {
			if !(fixed > 0) {
				d[i] = 0
			}
			y, fixed = math.Max(y, 0), math.Max(fixed, 0)
		}
		l.y.set(at, y, st.errorOfY(st.y[i], w, off))
		l.fixed.set(at, fixed, 8*ulp*(math.Abs(w*h[i])+math.Abs(off)+math.Abs(w*k*m))+tiny)
		place := i%l.positions*l.b + j
		moment := l.elements.element(place)*l.b + j
		l.sums.add(moment, x[i], st.mean, st.meanErr)
		l.given.add(moment, x[i], m, 0)
	}
	l.sampleGrad(j, h, d)
}

// sampleGrad fills in the gradients of sample j, normalised to h, for d behind the ReLU.
func (l *layerNorm) sampleGrad(j int, h, d []float64) {
	var size, sum, sumMag, dot, dotMag float64 // of what passes, weighted
	for i := range d {
		ch := i / l.positions
		l.newDB.want[ch] += d[i]
		l.newDB.err[ch] += relative * math.Abs(d[i])
		l.newDW.want[ch] += d[i] * h[i]
		l.newDW.err[ch] += relative * math.Abs(d[i]*h[i])
		d[i] *= float64(l.weight[ch])
		sum += d[i]
		sumMag += math.Abs(d[i])
		dot += d[i] * h[i]
		dotMag += math.Abs(d[i] * h[i])
		size += weightAt(l.measure[j], i)
	}
	k := float64(l.invStd32[j])
	variance := 1/(k*k) - float64(layerNormEps)
	for i := range d {
		w, place := weightAt(l.measure[j], i), i%l.positions*l.b+j
		l.dx.set(i*l.b+j, k*(d[i]-w*(sum+h[i]*dot)/size),
			k*(4*ulp*math.Abs(d[i])+w*(relative*sumMag+relative*math.Abs(h[i])*dotMag+4*ulp*math.Abs(h[i]*dot))/size)+tiny)
		l.dMeasure.want[place] -= (sum*h[i] + dot*(h[i]*h[i]-variance*k*k)/2) / size
		l.dMeasure.err[place] += 4 * relative * (sumMag*math.Abs(h[i]) + dotMag*(h[i]*h[i]+1)) / size
	}
}

// set gives args the sizes.
func (l *layerNorm) set() {
	l.args = tensor.LayerNormArgs{C: l.c, S: l.positions, B: l.b, Eps: layerNormEps, ReLU: l.f.relu}
}

// addForward adds the forward passes, by the statistics of x and by given ones.
func (l *layerNorm) addForward(s *suite) {
	weights, moments := in("Measure.Weights", l.elements.w), in("Measure.Moments", l.given.rounded())
	if l.f.measure {
		moments = out("Measure.Moments", l.sums.sum, l.sums.err)
	}
	a := &l.args
	s.add("LayerNorm", l.size, func(d tensor.Device, b []tensor.Buffer) {
		l.set()
		a.X, a.Y, a.Weight, a.Bias, a.Mean, a.InvStd = b[0], b[1], b[2], b[3], b[4], b[5]
		if l.f.measure {
			a.Measure = l.elements.args(b[6], b[7], tensor.Buffer{})
		}
		d.LayerNorm(a)
	}, in("X", l.x), l.y.out("Y"), in("Weight", l.weight), in("Bias", l.bias),
		l.mean.out("Mean"), l.invStd.out("InvStd"), weights, moments)
	s.add("LayerNorm", l.size+"/fixed", func(d tensor.Device, b []tensor.Buffer) {
		l.set()
		a.Fixed = true
		a.X, a.Y, a.Weight, a.Bias, a.Mean, a.InvStd = b[0], b[1], b[2], b[3], b[4], b[5]
		d.LayerNorm(a)
	}, in("X", l.x), l.fixed.out("Y"), in("Weight", l.weight), in("Bias", l.bias), in("Mean", l.mean32), in("InvStd", l.invStd32))
}

// addBackward adds the backward passes: dx written, added to what others have left, and in place
// of dy.
func (l *layerNorm) addBackward(s *suite) {
	weights, moments := in("Measure.Weights", l.elements.w), in("Measure.Moments", l.given.rounded())
	measure := weights
	if l.f.measure {
		measure = out("Measure.Grad", l.elements.gathered(l.dMeasure.want), l.elements.gathered(l.dMeasure.err))
	}
	a := &l.args
	for _, add := range []bool{false, true} {
		name, dx := l.size, l.dx.out("DX")
		if add {
			name, dx = l.size+"/add", l.dx.added(l.r, "DX")
		}
		s.add("LayerNormGrad", name, func(d tensor.Device, b []tensor.Buffer) {
			l.set()
			a.AddDX = add
			a.X, a.DY, a.DX, a.Weight, a.Bias, a.Mean, a.InvStd = b[0], b[1], b[2], b[3], b[4], b[5], b[6]
			a.DWeight, a.DBias = b[7], b[8]
			if l.f.measure {
				a.Measure = l.elements.args(b[9], b[10], b[11])
			}
			d.LayerNormGrad(a)
		}, in("X", l.x), in("DY", l.dy), dx, in("Weight", l.weight), in("Bias", l.bias), in("Mean", l.mean32), in("InvStd", l.invStd32),
			l.newDW.inout("DWeight", l.dWeight), l.newDB.inout("DBias", l.dBias), weights, moments, measure)
	}
	s.add("LayerNormGrad", l.size+"/DX=DY", func(d tensor.Device, b []tensor.Buffer) {
		l.set()
		a.X, a.DY, a.DX, a.Weight, a.Bias, a.Mean, a.InvStd = b[0], b[1], b[1], b[2], b[3], b[4], b[5]
		a.DWeight, a.DBias = b[6], b[7]
		if l.f.measure {
			a.Measure = l.elements.args(b[8], b[9], tensor.Buffer{})
		}
		d.LayerNormGrad(a)
	}, in("X", l.x), l.dx.inout("DY", l.dy), in("Weight", l.weight), in("Bias", l.bias), in("Mean", l.mean32), in("InvStd", l.invStd32),
		l.newDW.inout("DWeight", l.dWeight), l.newDB.inout("DBias", l.dBias), weights, moments)
}
