package devicetest

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/tensor"
)

// offsets are the means of the data: far from zero, half of the digits of a
// one-pass variance would be lost.
var offsets = []float32{0, 3, -100}

// statistics are the reference of one normalised vector with its errors.
type statistics struct {
	normalized
	meanErr, invStdErr float64
}

// errorOfY bounds the error of scale*(x-mean)*invStd + bias: the sums', the
// mean's rounding and that of the result.
func (s *statistics) errorOfY(y, scale, bias float64) float64 {
	k := math.Abs(scale) * s.invStd
	return k*(2*ulp*math.Abs(s.mean)+s.meanErr) + (relative+4*ulp)*math.Abs(scale*y) + 2*ulp*math.Abs(bias) + tiny
}

func describe(x, w []float64, eps float64) statistics {
	s := statistics{normalized: normalize(x, w, eps)}
	var magnitude, n float64
	for i, v := range x {
		magnitude += weightAt(w, i) * math.Abs(v)
		n += weightAt(w, i)
	}
	magnitude /= n
	s.meanErr = relative * magnitude
	// The variance is taken about a rounded mean: (mean's error)^2 is added.
	wrong := s.meanErr*s.meanErr + relative*s.variance
	s.invStdErr = relative*s.invStd + 0.5*wrong*s.invStd*s.invStd*s.invStd
	return s
}

// column returns the values of x that lie step apart from at on, widened.
func column(x []float32, at, step, n int) []float64 {
	return mapped(n, func(i int) float64 { return float64(x[at+i*step]) })
}

func (s *suite) batchNorm() {
	shapes := [][2]int{{1, 1}, {1, 2}, {3, 17}, {5, 64}, {64, 49}, {2, 5000}, {10, 1001}, {1, 70001}, {1, 400001}}
	for _, shape := range shapes {
		for k, offset := range offsets {
			if shape[1] > 100000 {
				offset = 3 // a mean whose digits a sum in float32 would lose
			}
			s.batchNormAt(shape[0], shape[1], offset, k == 0 && shape[1] == 17)
			if shape[1] > large {
				break
			}
		}
	}
}

const (
	batchNormEps      = float32(1e-5)
	batchNormMomentum = float32(0.1)
)

// batchNormRows are the parameters and running statistics of a batch normalisation, [rows], with
// what it is to make of them and of its rows, which are added one after the other.
type batchNormRows struct {
	weight, bias, runningMean, runningVar, dWeight, dBias []float32

	y, mean, inverse bounded // in training; inverse is 1/sqrt(variance+eps)
	frozen           bounded // y by the running statistics
	newMean, newVar  bounded // the running statistics after a step
	dx, newDW, newDB bounded
}

// scaled returns the normalised row i, scaled and shifted.
func (b *batchNormRows) scaled(i int, st *statistics) (z bounded) {
	scale, shift := float64(b.weight[i]), float64(b.bias[i])
	for _, v := range st.y {
		z.add(scale*v+shift, st.errorOfY(v, scale, shift))
	}
	return z
}

// byRunning is scaled for normalisation by the running statistics.
func (b *batchNormRows) byRunning(i int, row []float64) (z bounded) {
	scale, shift := float64(b.weight[i]), float64(b.bias[i])
	k := 1 / math.Sqrt(float64(b.runningVar[i])+float64(batchNormEps))
	for _, v := range row {
		h := (v - float64(b.runningMean[i])) * k
		z.add(h*scale+shift, 8*ulp*(math.Abs(h*scale)+math.Abs(shift)+math.Abs(v*k*scale)))
	}
	return z
}

// addStatistics adds those of row i, of count values.
func (b *batchNormRows) addStatistics(i int, st *statistics, count float64) {
	b.mean.add(st.mean, st.meanErr)
	b.inverse.add(st.invStd, st.invStdErr)
	unbiased := st.variance * count / math.Max(count-1, 1)
	m, mean, variance := float64(batchNormMomentum), float64(b.runningMean[i]), float64(b.runningVar[i])
	b.newMean.add((1-m)*mean+m*st.mean, m*st.meanErr+4*ulp*(math.Abs(mean)+m*math.Abs(st.mean)))
	b.newVar.add((1-m)*variance+m*unbiased, relative*unbiased+st.meanErr*st.meanErr+4*ulp*variance)
}

// addGradient adds that of row i.
func (b *batchNormRows) addGradient(i int, g *gradient) {
	b.dx.join(bounded{g.g, g.gErr})
	b.newDW.add(float64(b.dWeight[i])+g.dot, g.dotErr+2*ulp*math.Abs(float64(b.dWeight[i])))
	b.newDB.add(float64(b.dBias[i])+g.sum, g.sumErr+2*ulp*math.Abs(float64(b.dBias[i])))
}

// batchNormAt adds forward and backward for x [rows, cols] around offset;
// with nan, one value of row 1 is NaN.
func (s *suite) batchNormAt(rows, cols int, offset float32, nan bool) {
	size := fmt.Sprintf("rows=%d/cols=%d/mean=%v", rows, cols, offset)
	n := rows * cols
	r := random(size)
	x, dy := normal(r, n), normal(r, n)
	for i := range x {
		x[i] += offset
		dy[i] += 0.5
	}
	if nan {
		size += "/nan"
		x[cols+3] = float32(math.NaN())
	}
	var c batchNormRows
	c.weight, c.bias = normal(r, rows), normal(r, rows)
	c.runningMean, c.runningVar = normal(r, rows), normal(r, rows)
	for i, v := range c.runningVar {
		c.runningVar[i] = 0.5 + v*v
	}
	c.dWeight, c.dBias = normal(r, rows), normal(r, rows)
	mean32, invStd32 := make([]float32, rows), make([]float32, rows)
	for i := range rows {
		row := column(x, i*cols, 1, cols)
		st := describe(row, nil, float64(batchNormEps))
		mean32[i], invStd32[i] = float32(st.mean), float32(st.invStd)
		c.y.join(c.scaled(i, &st))
		c.frozen.join(c.byRunning(i, row))
		c.addStatistics(i, &st, float64(cols))
		g := gradientOf(row, nil, column(dy, i*cols, 1, cols), float64(mean32[i]), float64(invStd32[i]), float64(c.weight[i]), float64(batchNormEps))
		c.addGradient(i, &g)
	}

	var args tensor.BatchNormArgs // outlives the calls, as in a layer
	s.add("BatchNorm", size+"/train", func(d tensor.Device, b []tensor.Buffer) {
		args = tensor.BatchNormArgs{Rows: rows, Cols: cols, Train: true, Eps: batchNormEps, Momentum: batchNormMomentum,
			X: b[0], Y: b[1], Weight: b[2], Bias: b[3], Mean: b[4], InvStd: b[5], RunningMean: b[6], RunningVar: b[7]}
		d.BatchNorm(&args)
	}, in("X", x), c.y.out("Y"), in("Weight", c.weight), in("Bias", c.bias),
		c.mean.out("Mean"), c.inverse.out("InvStd"),
		c.newMean.inout("RunningMean", c.runningMean), c.newVar.inout("RunningVar", c.runningVar))

	if cols > 100000 { // accuracy of the sums
		return
	}
	s.add("BatchNorm", size+"/frozen", func(d tensor.Device, b []tensor.Buffer) {
		args = tensor.BatchNormArgs{Rows: rows, Cols: cols, Eps: batchNormEps, Momentum: batchNormMomentum,
			X: b[0], Y: b[1], Weight: b[2], Bias: b[3], RunningMean: b[4], RunningVar: b[5]}
		d.BatchNorm(&args)
	}, in("X", x), c.frozen.out("Y"), in("Weight", c.weight), in("Bias", c.bias),
		in("RunningMean", c.runningMean), in("RunningVar", c.runningVar))

	if cols <= large {
		s.add("BatchNorm", size+"/frozen/Y=X", func(d tensor.Device, b []tensor.Buffer) {
			args = tensor.BatchNormArgs{Rows: rows, Cols: cols, Eps: batchNormEps, Momentum: batchNormMomentum,
				X: b[0], Y: b[0], Weight: b[1], Bias: b[2], RunningMean: b[3], RunningVar: b[4]}
			d.BatchNorm(&args)
		}, c.frozen.inout("X", x), in("Weight", c.weight), in("Bias", c.bias),
			in("RunningMean", c.runningMean), in("RunningVar", c.runningVar))
	}
	s.add("BatchNormGrad", size, func(d tensor.Device, b []tensor.Buffer) {
		args = tensor.BatchNormArgs{Rows: rows, Cols: cols, Eps: batchNormEps,
			X: b[0], DY: b[1], DX: b[2], Weight: b[3], Mean: b[4], InvStd: b[5], DWeight: b[6], DBias: b[7]}
		d.BatchNormGrad(&args)
	}, in("X", x), in("DY", dy), c.dx.out("DX"), in("Weight", c.weight), in("Mean", mean32), in("InvStd", invStd32),
		c.newDW.inout("DWeight", c.dWeight), c.newDB.inout("DBias", c.dBias))

	if cols > large {
		return
	}
	s.add("BatchNormGrad", size+"/DX=DY", func(d tensor.Device, b []tensor.Buffer) {
		args = tensor.BatchNormArgs{Rows: rows, Cols: cols, Eps: batchNormEps,
			X: b[0], DY: b[1], DX: b[1], Weight: b[2], Mean: b[3], InvStd: b[4], DWeight: b[5], DBias: b[6]}
		d.BatchNormGrad(&args)
	}, in("X", x), c.dx.inout("DY", dy), in("Weight", c.weight), in("Mean", mean32), in("InvStd", invStd32),
		c.newDW.inout("DWeight", c.dWeight), c.newDB.inout("DBias", c.dBias))
}

// gradient is the gradient of one normalised vector x, times weight, with its errors:
// that to x (g), to the weights of the values, to bias (sum) and to weight (dot).
type gradient struct {
	g, gErr, measure, measureErr []float64
	sum, sumErr, dot, dotErr     float64
}

// gradientOf returns the gradient of x, weighted by w (nil: 1), for dy.
func gradientOf(x, w, dy []float64, mean, invStd, weight, eps float64) gradient {
	var d gradient
	d.g, d.measure = normalizeGrad(x, w, dy, mean, invStd, eps)
	var n, sumMag, dotMag float64
	for i, v := range x {
		h := (v - mean) * invStd
		n += weightAt(w, i)
		d.sum += dy[i]
		sumMag += math.Abs(dy[i])
		d.dot += dy[i] * h
		dotMag += math.Abs(dy[i] * h)
	}
	d.gErr, d.measureErr = make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		h := (v - mean) * invStd
		d.g[i] *= weight
		d.measure[i] *= weight
		k := math.Abs(weight * invStd)
		common := relative*sumMag/n + relative*math.Abs(h)*dotMag/n + 4*ulp*math.Abs(h*d.dot)/n
		d.gErr[i] = k*(4*ulp*math.Abs(dy[i])+weightAt(w, i)*common) + tiny
		d.measureErr[i] = 4 * math.Abs(weight) * relative * (sumMag*math.Abs(h) + dotMag*(h*h+1)) / n
	}
	d.sumErr, d.dotErr = relative*sumMag, relative*dotMag
	return d
}

func (s *suite) standardize() {
	shapes := [][3]int{{1, 1, 1}, {3, 1, 5}, {1, 2, 1}, {2, 17, 1}, {3, 49, 2}, {2, 63, 7}, {2, 64, 16}, {1, 65, 17},
		{5, 100, 64}, {6, 100, 48}, {2, 1025, 17}, {1, 2100, 5}, {4, 1025, 8}, {1, 66001, 1}, {3, 9, 300}}
	for _, shape := range shapes {
		for k, offset := range offsets {
			s.standardizeAt(shape[0], shape[1], shape[2], offset, k == 0 && shape[1] < 100)
			if shape[0]*shape[1]*shape[2] > 2*large {
				break
			}
		}
	}
}

// standardizeAt adds forward and backward for x [c, size, b]; with nan, one
// value of the last column is NaN.
func (s *suite) standardizeAt(c, positions, b int, offset float32, nan bool) {
	size := fmt.Sprintf("c=%d/s=%d/b=%d/mean=%v", c, positions, b, offset)
	const eps = float32(1e-5)
	n := c * positions * b
	r := random(size)
	x, dy := normal(r, n), normal(r, n)
	for i := range x {
		x[i] += offset
		dy[i] += 0.5
	}
	if nan {
		size += "/nan"
		x[b-1] = float32(math.NaN())
	}
	y, yErr := make([]float64, n), make([]float64, n)
	dx, dxErr := make([]float64, n), make([]float64, n)
	mean, meanErr := make([]float64, c*b), make([]float64, c*b)
	invStd, invStdErr := make([]float64, c*b), make([]float64, c*b)
	mean32, invStd32 := make([]float32, c*b), make([]float32, c*b)
	for k := range c * b {
		at := k/b*positions*b + k%b
		col := column(x, at, b, positions)
		st := describe(col, nil, float64(eps))
		mean[k], meanErr[k], invStd[k], invStdErr[k] = st.mean, st.meanErr, st.invStd, st.invStdErr
		mean32[k], invStd32[k] = float32(st.mean), float32(st.invStd)
		g := gradientOf(col, nil, column(dy, at, b, positions), float64(mean32[k]), float64(invStd32[k]), 1, float64(eps))
		for i := range col {
			y[at+i*b], yErr[at+i*b] = st.y[i], st.errorOfY(st.y[i], 1, 0)
			dx[at+i*b], dxErr[at+i*b] = g.g[i], g.gErr[i]
		}
	}
	var args tensor.StandardizeArgs // outlives the calls, as in a layer
	s.add("Standardize", size, func(d tensor.Device, bs []tensor.Buffer) {
		args = tensor.StandardizeArgs{C: c, S: positions, B: b, Eps: eps, X: bs[0], Y: bs[1], Mean: bs[2], InvStd: bs[3]}
		d.Standardize(&args)
	}, in("X", x), out("Y", y, yErr), out("Mean", mean, meanErr), out("InvStd", invStd, invStdErr))
	s.add("StandardizeGrad", size, func(d tensor.Device, bs []tensor.Buffer) {
		args = tensor.StandardizeArgs{C: c, S: positions, B: b, Eps: eps, X: bs[0], DY: bs[1], DX: bs[2], Mean: bs[3], InvStd: bs[4]}
		d.StandardizeGrad(&args)
	}, in("X", x), in("DY", dy), out("DX", dx, dxErr), in("Mean", mean32), in("InvStd", invStd32))
	if n > 2*large {
		return
	}
	s.add("StandardizeGrad", size+"/DX=DY", func(d tensor.Device, bs []tensor.Buffer) {
		args = tensor.StandardizeArgs{C: c, S: positions, B: b, Eps: eps, X: bs[0], DY: bs[1], DX: bs[1], Mean: bs[2], InvStd: bs[3]}
		d.StandardizeGrad(&args)
	}, in("X", x), inout("DY", dy, dx, dxErr), in("Mean", mean32), in("InvStd", invStd32))
}
