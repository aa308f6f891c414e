package devicetest

import (
	"fmt"
	"math"

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

// layerNormAt adds forward and backward for x [c, size, b]; with nan, one value of
// the last sample is NaN.
func (s *suite) layerNormAt(c, positions, b int, offset float32, f fusion, nan bool) {
	size := fmt.Sprintf("c=%d/s=%d/b=%d/mean=%v", c, positions, b, offset)
	size += f.String()
	relu := f.relu
	const eps = float32(1e-12)
	n := c * positions
	r := random(size)
	x, dy := normal(r, n*b), normal(r, n*b)
	weight, bias := normal(r, c), normal(r, c)
	for i := range x {
		x[i] += offset
		dy[i] += 0.5
	}
	if nan {
		size += "/nan"
		x[b-1] = float32(math.NaN())
	}
	elements := newElementWeights(r, positions, 1, b, f.each)
	sums, given := newMomentSums(elements.elements*b), newMomentSums(elements.elements*b)
	measure := make([][]float64, b) // of each sample, channel after channel; nil: 1
	if tile := elements.tile(); f.measure {
		for j := range b {
			for i := range n {
				measure[j] = append(measure[j], tile[i%positions*b+j])
			}
		}
	}
	dMeasure, dMeasureErr := make([]float64, positions*b), make([]float64, positions*b)
	mean32, invStd32 := make([]float32, b), make([]float32, b)
	for j := range b {
		sample := column(x, j, b, n)
		st := describe(sample, measure[j], float64(eps))
		mean32[j], invStd32[j] = float32(st.mean), float32(st.invStd)
		if !relu {
			continue
		}
		// Statistics of its own, so that values can be drawn anew.
		mean32[j], invStd32[j] = offset, 0.75
		for k := range c {
			row := make([]float32, positions)
			for i := range row {
				row[i] = x[(k*positions+i)*b+j]
			}
			separate(r, row, f.windows(planes{1, 1, 1, positions}), func(v float64) float64 {
				return (v-float64(offset))*0.75*float64(weight[k]) + float64(bias[k])
			})
			for i, v := range row {
				x[(k*positions+i)*b+j] = v
			}
		}
	}

	y, yErr := make([]float64, n*b), make([]float64, n*b)
	fixed, fixedErr := make([]float64, n*b), make([]float64, n*b)
	dx, dxErr := make([]float64, n*b), make([]float64, n*b)
	mean, meanErr := make([]float64, b), make([]float64, b)
	invStd, invStdErr := make([]float64, b), make([]float64, b)
	dWeight, dBias := normal(r, c), normal(r, c)
	newDW, newDWErr, newDB, newDBErr := f64(dWeight), make([]float64, c), f64(dBias), make([]float64, c)
	for j := range b {
		sample, d := column(x, j, b, n), column(dy, j, b, n)
		st := describe(sample, measure[j], float64(eps))
		mean[j], meanErr[j], invStd[j], invStdErr[j] = st.mean, st.meanErr, st.invStd, st.invStdErr
		m, k := float64(mean32[j]), float64(invStd32[j])
		var sum, sumMag, dot, dotMag float64 // of what passes, weighted
		h := make([]float64, n)
		for i, v := range sample {
			ch := i / positions
			w, off, at := float64(weight[ch]), float64(bias[ch]), i*b+j
			y[at], yErr[at] = w*st.y[i]+off, st.errorOfY(st.y[i], w, off)
			h[i] = (v - m) * k
			fixed[at] = w*h[i] + off
			fixedErr[at] = 8*ulp*(math.Abs(w*h[i])+math.Abs(off)+math.Abs(w*k*m)) + tiny
			if relu {
				if !(fixed[at] > 0) {
					d[i] = 0
				}
				y[at], fixed[at] = math.Max(y[at], 0), math.Max(fixed[at], 0)
			}
			newDB[ch] += d[i]
			newDBErr[ch] += relative * math.Abs(d[i])
			newDW[ch] += d[i] * h[i]
			newDWErr[ch] += relative * math.Abs(d[i]*h[i])
			d[i] *= w
			sum += d[i]
			sumMag += math.Abs(d[i])
			dot += d[i] * h[i]
			dotMag += math.Abs(d[i] * h[i])
		}
		size := 0.0
		for i := range sample {
			size += weightAt(measure[j], i)
		}
		variance := 1/(k*k) - float64(eps)
		for i := range sample {
			at, w := i*b+j, weightAt(measure[j], i)
			dx[at] = k * (d[i] - w*(sum+h[i]*dot)/size)
			dxErr[at] = k*(4*ulp*math.Abs(d[i])+w*(relative*sumMag+relative*math.Abs(h[i])*dotMag+4*ulp*math.Abs(h[i]*dot))/size) + tiny
			place := i%positions*b + j
			moment := elements.element(place)*b + j
			sums.add(moment, sample[i], st.mean, st.meanErr)
			given.add(moment, sample[i], m, 0)
			dMeasure[place] -= (sum*h[i] + dot*(h[i]*h[i]-variance*k*k)/2) / size
			dMeasureErr[place] += 4 * relative * (sumMag*math.Abs(h[i]) + dotMag*(h[i]*h[i]+1)) / size
		}
	}
	for k := range c {
		newDWErr[k] += 2 * ulp * math.Abs(float64(dWeight[k]))
		newDBErr[k] += 2 * ulp * math.Abs(float64(dBias[k]))
	}

	var args tensor.LayerNormArgs // outlives the calls, as in a layer
	set := func() {
		args = tensor.LayerNormArgs{C: c, S: positions, B: b, Eps: eps, ReLU: relu}
	}
	weightsArray, momentsArray := in("Measure.Weights", elements.w), in("Measure.Moments", given.rounded())
	notedArray, measureArray := momentsArray, weightsArray
	if f.measure {
		notedArray = out("Measure.Moments", sums.sum, sums.err)
		measureArray = out("Measure.Grad", elements.gathered(dMeasure), elements.gathered(dMeasureErr))
	}
	s.add("LayerNorm", size, func(d tensor.Device, bs []tensor.Buffer) {
		set()
		args.X, args.Y, args.Weight, args.Bias, args.Mean, args.InvStd = bs[0], bs[1], bs[2], bs[3], bs[4], bs[5]
		if f.measure {
			args.Measure = elements.args(bs[6], bs[7], tensor.Buffer{})
		}
		d.LayerNorm(&args)
	}, in("X", x), out("Y", y, yErr), in("Weight", weight), in("Bias", bias),
		out("Mean", mean, meanErr), out("InvStd", invStd, invStdErr), weightsArray, notedArray)
	s.add("LayerNorm", size+"/fixed", func(d tensor.Device, bs []tensor.Buffer) {
		set()
		args.Fixed = true
		args.X, args.Y, args.Weight, args.Bias, args.Mean, args.InvStd = bs[0], bs[1], bs[2], bs[3], bs[4], bs[5]
		d.LayerNorm(&args)
	}, in("X", x), out("Y", fixed, fixedErr), in("Weight", weight), in("Bias", bias), in("Mean", mean32), in("InvStd", invStd32))
	for _, add := range []bool{false, true} {
		name, dxArray := size, out("DX", dx, dxErr)
		if add {
			name, dxArray = size+"/add", added(r, "DX", dx, dxErr)
		}
		s.add("LayerNormGrad", name, func(d tensor.Device, bs []tensor.Buffer) {
			set()
			args.AddDX = add
			args.X, args.DY, args.DX, args.Weight, args.Bias, args.Mean, args.InvStd = bs[0], bs[1], bs[2], bs[3], bs[4], bs[5], bs[6]
			args.DWeight, args.DBias = bs[7], bs[8]
			if f.measure {
				args.Measure = elements.args(bs[9], bs[10], bs[11])
			}
			d.LayerNormGrad(&args)
		}, in("X", x), in("DY", dy), dxArray, in("Weight", weight), in("Bias", bias), in("Mean", mean32), in("InvStd", invStd32),
			inout("DWeight", dWeight, newDW, newDWErr), inout("DBias", dBias, newDB, newDBErr), weightsArray, momentsArray, measureArray)
	}
	s.add("LayerNormGrad", size+"/DX=DY", func(d tensor.Device, bs []tensor.Buffer) {
		set()
		args.X, args.DY, args.DX, args.Weight, args.Bias, args.Mean, args.InvStd = bs[0], bs[1], bs[1], bs[2], bs[3], bs[4], bs[5]
		args.DWeight, args.DBias = bs[6], bs[7]
		if f.measure {
			args.Measure = elements.args(bs[8], bs[9], tensor.Buffer{})
		}
		d.LayerNormGrad(&args)
	}, in("X", x), inout("DY", dy, dx, dxErr), in("Weight", weight), in("Bias", bias), in("Mean", mean32), in("InvStd", invStd32),
		inout("DWeight", dWeight, newDW, newDWErr), inout("DBias", dBias, newDB, newDBErr), weightsArray, momentsArray)
}
