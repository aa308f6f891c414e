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

// forward returns what follows normalisation to z, and the errors.
func (f fusion) forward(z, zErr []float64, from [][]int) (y, yErr []float64) {
	for _, places := range from {
		v, e := math.Inf(-1), 0.0
		for _, i := range places {
			v, e = math.Max(v, z[i]), math.Max(e, zErr[i])
		}
		if f.relu {
			v = math.Max(v, 0)
		}
		y, yErr = append(y, v), append(yErr, e)
	}
	return y, yErr
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
	size := fmt.Sprintf("rows=%d/planes=%d/h=%d/w=%d/b=%d%v", rows, p.n, p.h, p.w, p.b, f)
	const eps, momentum = float32(1e-5), float32(0.1)
	r := random(size)
	cols, from := p.cols(), f.windows(p)
	n, m := rows*cols, rows*len(from)
	x, dy := normal(r, n), normal(r, m)
	weight, bias := normal(r, rows), normal(r, rows)
	mean32, invStd32 := normal(r, rows), normal(r, rows)
	runningMean, runningVar := normal(r, rows), normal(r, rows)
	for i := range rows {
		invStd32[i] = 0.5 + invStd32[i]*invStd32[i]
		runningVar[i] = 0.5 + runningVar[i]*runningVar[i]
		if math.Abs(float64(weight[i])) < 0.1 {
			weight[i] = -0.7
		}
	}
	elements := newElementWeights(r, p.n, p.h*p.w, p.b, f.each)
	var measure []float64
	if f.measure {
		measure = elements.tile()
	}
	sums, given := newMomentSums(rows*len(elements.w)), newMomentSums(rows*len(elements.w))
	count := 0.0
	for i := range cols {
		count += weightAt(measure, i)
	}
	dMeasure, dMeasureErr := make([]float64, cols), make([]float64, cols)
	normalized := func(row int) func(x float64) float64 {
		k := float64(invStd32[row]) * float64(weight[row])
		return func(x float64) float64 { return (x-float64(mean32[row]))*k + float64(bias[row]) }
	}
	for i := range rows {
		separate(r, x[i*cols:(i+1)*cols], from, normalized(i))
	}

	// The summands of x, and their rounded sum.
	base, addend := x, normal(r, n)
	if f.sum {
		base = make([]float32, n)
		for i := range x {
			base[i] = x[i] - addend[i]
		}
	}
	sum := make([]float32, n)
	for i := range x {
		sum[i] = x[i]
		if f.sum {
			sum[i] = base[i] + addend[i]
		}
	}

	var y, yErr, mean, meanErr, invStd, invStdErr, frozen, frozenErr []float64
	var newMean, newMeanErr, newVar, newVarErr []float64
	var dx, dxErr, newDW, newDWErr, newDB, newDBErr []float64
	dWeight, dBias := normal(r, rows), normal(r, rows)
	for i := range rows {
		w, b := float64(weight[i]), float64(bias[i])
		row := column(sum, i*cols, 1, cols)
		st := describe(row, measure, float64(eps))
		z, zErr := make([]float64, cols), make([]float64, cols)
		for j, v := range st.y {
			z[j], zErr[j] = w*v+b, st.errorOfY(v, w, b)
		}
		v, e := f.forward(z, zErr, from)
		y, yErr = append(y, v...), append(yErr, e...)
		mean, meanErr = append(mean, st.mean), append(meanErr, st.meanErr)
		for j, v := range row {
			sums.add(i*len(elements.w)+elements.place(j), v, st.mean, st.meanErr)
		}
		invStd, invStdErr = append(invStd, st.invStd), append(invStdErr, st.invStdErr)
		unbiased := st.variance * count / math.Max(count-1, 1)
		k := float64(momentum)
		newMean = append(newMean, (1-k)*float64(runningMean[i])+k*st.mean)
		newMeanErr = append(newMeanErr, k*st.meanErr+4*ulp*(math.Abs(float64(runningMean[i]))+k*math.Abs(st.mean)))
		newVar = append(newVar, (1-k)*float64(runningVar[i])+k*unbiased)
		newVarErr = append(newVarErr, relative*unbiased+st.meanErr*st.meanErr+4*ulp*float64(runningVar[i]))

		scale := 1 / math.Sqrt(float64(runningVar[i])+float64(eps))
		for j, v := range row {
			h := (v - float64(runningMean[i])) * scale
			z[j], zErr[j] = h*w+b, 8*ulp*(math.Abs(h*w)+math.Abs(b)+math.Abs(v*scale*w))
		}
		v, e = f.forward(z, zErr, from)
		frozen, frozenErr = append(frozen, v...), append(frozenErr, e...)

		in := column(x, i*cols, 1, cols)
		for j, v := range in {
			z[j] = normalized(i)(v)
			given.add(i*len(elements.w)+elements.place(j), v, float64(mean32[i]), 0)
		}
		dz := f.backward(column(dy, i*len(from), 1, len(from)), z, from)
		g := gradientOf(in, measure, dz, float64(mean32[i]), float64(invStd32[i]), w, float64(eps))
		dx, dxErr = append(dx, g.g...), append(dxErr, g.gErr...)
		for j := range dMeasure {
			dMeasure[j] += g.measure[j]
			dMeasureErr[j] += g.measureErr[j]
		}
		newDW = append(newDW, float64(dWeight[i])+g.dot)
		newDWErr = append(newDWErr, g.dotErr+2*ulp*math.Abs(float64(dWeight[i])))
		newDB = append(newDB, float64(dBias[i])+g.sum)
		newDBErr = append(newDBErr, g.sumErr+2*ulp*math.Abs(float64(dBias[i])))
	}

	var args tensor.BatchNormArgs // outlives the calls, as in a layer
	set := func(train bool) {
		args = tensor.BatchNormArgs{Rows: rows, Cols: cols, Train: train, Eps: eps, Momentum: momentum,
			Pool: f.pool, ReLU: f.relu, H: p.h, W: p.w, B: p.b}
	}
	weightsArray, momentsArray := in("Measure.Weights", elements.w), in("Measure.Moments", given.rounded())
	notedArray, measureArray := momentsArray, weightsArray
	if f.measure {
		notedArray = out("Measure.Moments", sums.sum, sums.err)
		measureArray = out("Measure.Grad", elements.gathered(dMeasure), elements.gathered(dMeasureErr))
	}
	xArray := in("X", base)
	addendArray := in("Addend", addend)
	if f.sum {
		xArray = inout("X", base, f64(sum), nil)
	}
	s.add("BatchNorm", size+"/train", func(d tensor.Device, b []tensor.Buffer) {
		set(true)
		args.X, args.Y, args.Weight, args.Bias, args.Mean, args.InvStd = b[0], b[2], b[3], b[4], b[5], b[6]
		args.RunningMean, args.RunningVar = b[7], b[8]
		if f.sum {
			args.Addend = b[1]
		}
		if f.measure {
			args.Measure = elements.args(b[9], b[10], tensor.Buffer{})
		}
		d.BatchNorm(&args)
	}, xArray, addendArray, out("Y", y, yErr), in("Weight", weight), in("Bias", bias),
		out("Mean", mean, meanErr), out("InvStd", invStd, invStdErr),
		inout("RunningMean", runningMean, newMean, newMeanErr), inout("RunningVar", runningVar, newVar, newVarErr), weightsArray, notedArray)
	s.add("BatchNorm", size+"/frozen", func(d tensor.Device, b []tensor.Buffer) {
		set(false)
		args.X, args.Y, args.Weight, args.Bias, args.RunningMean, args.RunningVar = b[0], b[2], b[3], b[4], b[5], b[6]
		if f.sum {
			args.Addend = b[1]
		}
		d.BatchNorm(&args)
	}, xArray, addendArray, out("Y", frozen, frozenErr), in("Weight", weight), in("Bias", bias),
		in("RunningMean", runningMean), in("RunningVar", runningVar))

	// Gradients that are written, and added to what others have left.
	for _, add := range []bool{false, true} {
		name := size
		dxArray, dAddendArray := out("DX", dx, dxErr), out("DAddend", dx, dxErr)
		if add {
			name += "/add"
			dxArray, dAddendArray = added(r, "DX", dx, dxErr), added(r, "DAddend", dx, dxErr)
		}
		if !f.sum {
			dAddendArray = in("DAddend", dy)
		}
		s.add("BatchNormGrad", name, func(d tensor.Device, b []tensor.Buffer) {
			set(true)
			args.X, args.DY, args.DX, args.Weight, args.Bias, args.Mean, args.InvStd = b[0], b[1], b[2], b[4], b[5], b[6], b[7]
			args.DWeight, args.DBias, args.AddDX, args.AddDAddend = b[8], b[9], add, add
			if f.sum {
				args.DAddend = b[3]
			}
			if f.measure {
				args.Measure = elements.args(b[10], b[11], b[12])
			}
			d.BatchNormGrad(&args)
		}, in("X", x), in("DY", dy), dxArray, dAddendArray, in("Weight", weight), in("Bias", bias),
			in("Mean", mean32), in("InvStd", invStd32),
			inout("DWeight", dWeight, newDW, newDWErr), inout("DBias", dBias, newDB, newDBErr),
			weightsArray, momentsArray, measureArray)
	}
}

// added is an operand that a result is added to.
func added(r *rand.Rand, name string, result, err []float64) Array {
	before := normal(r, len(result))
	want, wantErr := make([]float64, len(result)), make([]float64, len(result))
	for i, v := range result {
		want[i] = v + float64(before[i])
		wantErr[i] = err[i] + 2*ulp*math.Abs(want[i])
	}
	return inout(name, before, want, wantErr)
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
			name, dxArray = size+"/add", added(r, "DX", dx, dxErr)
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
