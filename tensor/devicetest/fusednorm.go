package devicetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/noether-go/noether/tensor"
)

// fusion is what a normalisation does besides, and whether its values have weights.
type fusion struct{ sum, pool, relu, measure, each bool } // each sample has weights of its own

func (f fusion) String() string {
	name := ""
	for _, p := range []struct {
		on   bool
		name string
	}{{f.sum, "/sum"}, {f.pool, "/pool"}, {f.relu, "/relu"}, {f.measure, "/measure"}, {f.each, "/each"}} {
		if p.on {
			name += p.name
		}
	}
	return name
}

// planes are the sizes of a row: n planes of [h, w, b].
type planes struct{ n, h, w, b int }

func (p planes) cols() int { return p.n * p.h * p.w * p.b }

// windows returns the places of the values of each window in a row.
func (p planes) windows() [][]int {
	var all [][]int
	for plane := range p.n {
		for y := range p.h / 2 {
			for x := range p.w / 2 {
				for j := range p.b {
					at := ((plane*p.h+2*y)*p.w+2*x)*p.b + j
					all = append(all, []int{at, at + p.b, at + p.w*p.b, at + (p.w+1)*p.b})
				}
			}
		}
	}
	return all
}

// windows returns which values of a row each result is taken from.
func (f fusion) windows(p planes) [][]int {
	if f.pool {
		return p.windows()
	}
	all := make([][]int, p.cols())
	for i := range all {
		all[i] = []int{i}
	}
	return all
}

// forward returns what follows normalisation to z.
func (f fusion) forward(z bounded, from [][]int) (y bounded) {
	for _, places := range from {
		v, e := math.Inf(-1), 0.0
		for _, i := range places {
			v, e = math.Max(v, z.want[i]), math.Max(e, z.err[i])
		}
		if f.relu {
			v = math.Max(v, 0)
		}
		y.add(v, e)
	}
	return y
}

// backward returns the gradient of z.
func (f fusion) backward(dy, z []float64, from [][]int) []float64 {
	dz := make([]float64, len(z))
	for k, places := range from {
		best := places[0]
		for _, i := range places {
			if z[i] > z[best] {
				best = i
			}
		}
		if !f.relu || z[best] > 0 {
			dz[best] = dy[k]
		}
	}
	return dz
}

func (s *suite) fusedNorms() {
	small := []planes{{1, 2, 2, 1}, {2, 5, 4, 3}, {3, 4, 7, 15}, {2, 6, 5, 16}, {2, 7, 7, 17}}
	for _, p := range small {
		for _, f := range []fusion{{pool: true, relu: true}, {pool: true}, {relu: true},
			{sum: true, pool: true, relu: true}, {sum: true}, {sum: true, relu: true}} {
			s.fusedNorm(5, p, f)
			f.measure = true
			s.fusedNorm(5, p, f)
			f.each = true
			s.fusedNorm(5, p, f)
		}
	}
	for _, measure := range [][2]bool{{false, false}, {true, false}, {true, true}} {
		s.fusedNorm(3, planes{8, 14, 15, 48}, fusion{true, true, true, measure[0], measure[1]}) // rows that are shared out
		s.fusedNorm(3, planes{8, 13, 14, 48}, fusion{relu: true, measure: measure[0], each: measure[1]})
	}
	for _, sh := range [][3]int{{1, 1, 1}, {3, 17, 1}, {3, 49, 2}, {2, 65, 17}, {5, 300, 64}, {4, 1030, 16}} {
		s.standardizeFused(sh[0], sh[1], sh[2], fusion{relu: true})
		s.standardizeFused(sh[0], sh[1], sh[2], fusion{relu: true, measure: true})
		s.standardizeFused(sh[0], sh[1], sh[2], fusion{measure: true})
		s.standardizeFused(sh[0], sh[1], sh[2], fusion{measure: true, each: true})
	}
}

// separate redraws values of x until no two that a maximum is taken of, and none
// and zero, are close after normalisation: the gradient jumps there.
func separate(r *rand.Rand, x []float32, from [][]int, z func(x float64) float64) {
	const gap = 1e-3
	for _, places := range from {
		for k := 0; k < len(places); {
			v := z(float64(x[places[k]]))
			clear := math.Abs(v) > gap
			for _, i := range places[:k] {
				clear = clear && math.Abs(v-z(float64(x[i]))) > gap
			}
			if clear {
				k++
			} else {
				x[places[k]] = float32(3*r.NormFloat64()) + 1
			}
		}
	}
}

// fusedNorm adds forward and backward of a batch normalisation with f.
func (s *suite) fusedNorm(rows int, p planes, f fusion) {
	c := newFusedBatchNorm(rows, p, f)
	for i := range rows {
		c.forwardRow(i)
		c.backwardRow(i)
	}
	c.addForward(s)
	c.addBackward(s)
}

// fusedBatchNorm is a batch normalisation with a fusion: operands, and what it is to make of
// them. The backward pass has statistics of its own rather than those of x, so that values
// can be drawn anew.
type fusedBatchNorm struct {
	f    fusion
	p    planes
	from [][]int // fusion.windows
	size string
	r    *rand.Rand

	base, addend   []float32 // [rows, cols], the summands of x; base is x where nothing is summed
	sum            []float32 // of these, rounded: x of the forward pass
	x, dy          []float32 // of the backward pass
	mean32, invStd []float32 // [rows], likewise
	batchNormRows

	elements    *elementWeights
	measure     []float64 // the weight of each value of a row; nil: 1
	count       float64   // their sum
	sums, given momentSums
	dMeasure    bounded

	args tensor.BatchNormArgs // outlives the calls, as in a layer
}

func newFusedBatchNorm(rows int, p planes, f fusion) *fusedBatchNorm {
	c := &fusedBatchNorm{f: f, p: p, from: f.windows(p)}
	c.size = fmt.Sprintf("rows=%d/planes=%d/h=%d/w=%d/b=%d%v", rows, p.n, p.h, p.w, p.b, f)
	c.r = random(c.size)
	r, cols := c.r, p.cols()
	c.x, c.dy = normal(r, rows*cols), normal(r, rows*len(c.from))
	c.weight, c.bias = normal(r, rows), normal(r, rows)
	c.mean32, c.invStd = normal(r, rows), normal(r, rows)
	c.runningMean, c.runningVar = normal(r, rows), normal(r, rows)
	for i := range rows {
		c.invStd[i] = 0.5 + c.invStd[i]*c.invStd[i]
		c.runningVar[i] = 0.5 + c.runningVar[i]*c.runningVar[i]
		if math.Abs(float64(c.weight[i])) < 0.1 {
			c.weight[i] = -0.7
		}
	}
	c.elements = newElementWeights(r, p.n, p.h*p.w, p.b, f.each)
	if f.measure {
		c.measure = c.elements.tile()
	}
	for i := range cols {
		c.count += weightAt(c.measure, i)
	}
	c.sums, c.given = newMomentSums(rows*len(c.elements.w)), newMomentSums(rows*len(c.elements.w))
	c.dMeasure = newBounded(cols)
	for i := range rows {
		separate(r, c.x[i*cols:(i+1)*cols], c.from, c.normalized(i))
	}
	c.addend = normal(r, len(c.x))
	c.base, c.sum = c.x, c.x
	if f.sum {
		c.base, c.sum = make([]float32, len(c.x)), make([]float32, len(c.x))
		for i := range c.x {
			c.base[i] = c.x[i] - c.addend[i]
			c.sum[i] = c.base[i] + c.addend[i]
		}
	}
	c.dWeight, c.dBias = normal(r, rows), normal(r, rows)
	return c
}

// normalized returns the normalisation of a row by the statistics of the backward pass.
func (c *fusedBatchNorm) normalized(row int) func(x float64) float64 {
	k := float64(c.invStd[row]) * float64(c.weight[row])
	return func(x float64) float64 { return (x-float64(c.mean32[row]))*k + float64(c.bias[row]) }
}

// moment returns where the moments of value j of a row are summed up.
func (c *fusedBatchNorm) moment(row, j int) int {
	return row*len(c.elements.w) + c.elements.place(j)
}

// forwardRow adds what the forward pass is to make of row i.
func (c *fusedBatchNorm) forwardRow(i int) {
	row := column(c.sum, i*c.p.cols(), 1, c.p.cols())
	st := describe(row, c.measure, float64(batchNormEps))
	c.y.join(c.f.forward(c.scaled(i, &st), c.from))
	c.frozen.join(c.f.forward(c.byRunning(i, row), c.from))
	c.addStatistics(i, &st, c.count)
	for j, v := range row {
		c.sums.add(c.moment(i, j), v, st.mean, st.meanErr)
	}
}

// backwardRow adds what the backward pass is to make of row i.
func (c *fusedBatchNorm) backwardRow(i int) {
	row := column(c.x, i*c.p.cols(), 1, c.p.cols())
	z := mapped(len(row), func(j int) float64 { return c.normalized(i)(row[j]) })
	dz := c.f.backward(column(c.dy, i*len(c.from), 1, len(c.from)), z, c.from)
	g := gradientOf(row, c.measure, dz, float64(c.mean32[i]), float64(c.invStd[i]), float64(c.weight[i]), float64(batchNormEps))
	c.addGradient(i, &g)
	for j, v := range row {
		c.given.add(c.moment(i, j), v, float64(c.mean32[i]), 0)
		c.dMeasure.want[j] += g.measure[j]
		c.dMeasure.err[j] += g.measureErr[j]
	}
}

// set gives args the sizes.
func (c *fusedBatchNorm) set(train bool) {
	c.args = tensor.BatchNormArgs{Rows: len(c.weight), Cols: c.p.cols(), Train: train, Eps: batchNormEps, Momentum: batchNormMomentum,
		Pool: c.f.pool, ReLU: c.f.relu, H: c.p.h, W: c.p.w, B: c.p.b}
}

// addForward adds the forward passes, in training and by the running statistics.
func (c *fusedBatchNorm) addForward(s *suite) {
	x := in("X", c.base)
	if c.f.sum {
		x = inout("X", c.base, f64(c.sum), nil)
	}
	weights, moments := in("Measure.Weights", c.elements.w), in("Measure.Moments", c.given.rounded())
	if c.f.measure {
		moments = out("Measure.Moments", c.sums.sum, c.sums.err)
	}
	a := &c.args
	s.add("BatchNorm", c.size+"/train", func(d tensor.Device, b []tensor.Buffer) {
		c.set(true)
		a.X, a.Y, a.Weight, a.Bias, a.Mean, a.InvStd = b[0], b[2], b[3], b[4], b[5], b[6]
		a.RunningMean, a.RunningVar = b[7], b[8]
		if c.f.sum {
			a.Addend = b[1]
		}
		if c.f.measure {
			a.Measure = c.elements.args(b[9], b[10], tensor.Buffer{})
		}
		d.BatchNorm(a)
	}, x, in("Addend", c.addend), c.y.out("Y"), in("Weight", c.weight), in("Bias", c.bias),
		c.mean.out("Mean"), c.inverse.out("InvStd"),
		c.newMean.inout("RunningMean", c.runningMean), c.newVar.inout("RunningVar", c.runningVar), weights, moments)
	s.add("BatchNorm", c.size+"/frozen", func(d tensor.Device, b []tensor.Buffer) {
		c.set(false)
		a.X, a.Y, a.Weight, a.Bias, a.RunningMean, a.RunningVar = b[0], b[2], b[3], b[4], b[5], b[6]
		if c.f.sum {
			a.Addend = b[1]
		}
		d.BatchNorm(a)
	}, x, in("Addend", c.addend), c.frozen.out("Y"), in("Weight", c.weight), in("Bias", c.bias),
		in("RunningMean", c.runningMean), in("RunningVar", c.runningVar))
}

// addBackward adds the backward passes: gradients that are written, and those that are added to
// what others have left.
func (c *fusedBatchNorm) addBackward(s *suite) {
	weights, moments := in("Measure.Weights", c.elements.w), in("Measure.Moments", c.given.rounded())
	measure := weights
	if c.f.measure {
		measure = out("Measure.Grad", c.elements.gathered(c.dMeasure.want), c.elements.gathered(c.dMeasure.err))
	}
	a := &c.args
	for _, add := range []bool{false, true} {
		name := c.size
		dx, dAddend := c.dx.out("DX"), c.dx.out("DAddend")
		if add {
			name += "/add"
			dx, dAddend = c.dx.added(c.r, "DX"), c.dx.added(c.r, "DAddend")
		}
		if !c.f.sum {
			dAddend = in("DAddend", c.dy)
		}
		s.add("BatchNormGrad", name, func(d tensor.Device, b []tensor.Buffer) {
			c.set(true)
			a.X, a.DY, a.DX, a.Weight, a.Bias, a.Mean, a.InvStd = b[0], b[1], b[2], b[4], b[5], b[6], b[7]
			a.DWeight, a.DBias, a.AddDX, a.AddDAddend = b[8], b[9], add, add
			if c.f.sum {
				a.DAddend = b[3]
			}
			if c.f.measure {
				a.Measure = c.elements.args(b[10], b[11], b[12])
			}
			d.BatchNormGrad(a)
		}, in("X", c.x), in("DY", c.dy), dx, dAddend, in("Weight", c.weight), in("Bias", c.bias),
			in("Mean", c.mean32), in("InvStd", c.invStd),
			c.newDW.inout("DWeight", c.dWeight), c.newDB.inout("DBias", c.dBias),
			weights, moments, measure)
	}
}

// standardizeFused adds forward and backward of a standardisation of
// x [c, size, b] with f.
func (s *suite) standardizeFused(c, positions, b int, f fusion) {
	size := fmt.Sprintf("c=%d/s=%d/b=%d%v", c, positions, b, f)
	const eps = float32(1e-5)
	n := c * positions * b
	r := random(size)
	x, dy := normal(r, n), normal(r, n)
	mean32, invStd32 := normal(r, c*b), normal(r, c*b)
	from := f.windows(planes{1, 1, 1, positions})
	elements := newElementWeights(r, positions, 1, b, f.each)
	tile := elements.tile()
	sums, given := newMomentSums(c*elements.elements*b), newMomentSums(c*elements.elements*b)
	dMeasure, dMeasureErr := make([]float64, positions*b), make([]float64, positions*b)
	y, yErr, dx, dxErr := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	mean, meanErr := make([]float64, c*b), make([]float64, c*b)
	invStd, invStdErr := make([]float64, c*b), make([]float64, c*b)
	for k := range c * b {
		invStd32[k] = 0.5 + invStd32[k]*invStd32[k]
		normalized := func(v float64) float64 { return (v - float64(mean32[k])) * float64(invStd32[k]) }
		at := k/b*positions*b + k%b
		col := make([]float32, positions)
		for i := range col {
			col[i] = x[at+i*b]
		}
		separate(r, col, from, normalized)
		for i, v := range col {
			x[at+i*b] = v
		}
		wide := f64(col)
		var measure []float64
		if f.measure {
			for i := range col {
				measure = append(measure, tile[i*b+k%b])
			}
		}
		st := describe(wide, measure, float64(eps))
		mean[k], meanErr[k], invStd[k], invStdErr[k] = st.mean, st.meanErr, st.invStd, st.invStdErr
		z := mapped(positions, func(i int) float64 { return normalized(wide[i]) })
		dz := f.backward(column(dy, at, b, positions), z, from)
		g := gradientOf(wide, measure, dz, float64(mean32[k]), float64(invStd32[k]), 1, float64(eps))
		for i := range col {
			y[at+i*b], yErr[at+i*b] = st.y[i], st.errorOfY(st.y[i], 1, 0)
			if f.relu {
				y[at+i*b] = math.Max(y[at+i*b], 0)
			}
			dx[at+i*b], dxErr[at+i*b] = g.g[i], g.gErr[i]
			place := (k/b*elements.elements+elements.element(i*b))*b + k%b
			sums.add(place, wide[i], st.mean, st.meanErr)
			given.add(place, wide[i], float64(mean32[k]), 0)
			dMeasure[i*b+k%b] += g.measure[i]
			dMeasureErr[i*b+k%b] += g.measureErr[i]
		}
	}
	weightsArray, momentsArray := in("Measure.Weights", elements.w), in("Measure.Moments", given.rounded())
	notedArray, measureArray := momentsArray, weightsArray
	if f.measure {
		notedArray = out("Measure.Moments", sums.sum, sums.err)
		measureArray = out("Measure.Grad", elements.gathered(dMeasure), elements.gathered(dMeasureErr))
	}
	var args tensor.StandardizeArgs // outlives the calls, as in a layer
	s.add("Standardize", size, func(d tensor.Device, bs []tensor.Buffer) {
		args = tensor.StandardizeArgs{C: c, S: positions, B: b, Eps: eps, ReLU: f.relu, X: bs[0], Y: bs[1], Mean: bs[2], InvStd: bs[3]}
		if f.measure {
			args.Measure = elements.args(bs[4], bs[5], tensor.Buffer{})
		}
		d.Standardize(&args)
	}, in("X", x), out("Y", y, yErr), out("Mean", mean, meanErr), out("InvStd", invStd, invStdErr), weightsArray, notedArray)
	for _, add := range []bool{false, true} {
		name, dxArray := size, out("DX", dx, dxErr)
		if add {
			name, dxArray = size+"/add", bounded{dx, dxErr}.added(r, "DX")
		}
		s.add("StandardizeGrad", name, func(d tensor.Device, bs []tensor.Buffer) {
			args = tensor.StandardizeArgs{C: c, S: positions, B: b, Eps: eps, ReLU: f.relu, AddDX: add,
				X: bs[0], DY: bs[1], DX: bs[2], Mean: bs[3], InvStd: bs[4]}
			if f.measure {
				args.Measure = elements.args(bs[5], bs[6], bs[7])
			}
			d.StandardizeGrad(&args)
		}, in("X", x), in("DY", dy), dxArray, in("Mean", mean32), in("InvStd", invStd32),
			weightsArray, momentsArray, measureArray)
	}
}
