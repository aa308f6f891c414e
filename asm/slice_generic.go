package asm

import "math"

// sliceScale returns the scale of a row or column whose largest magnitude has the given
// bits, and what its sums are multiplied with: 2^8 over the scale, or NaN, or zero where there
// is nothing but zeros and denormals. The product with that of another row or column would be
// denormal else, and slow.
//
// The scale is the power of two by which that magnitude is between 2^21 and 2^23 - 2^15 - 2^7,
// so that the highest digit does not overflow, but not above 2^126.
func sliceScale(largest uint32) (scale, back float32) {
	const overflow = 0x10200 // mantissas this far below the next power of two count as that
	exponent := max((largest+overflow)>>23, 23)
	scale = math.Float32frombits((276 - exponent) << 23)
	if largest >= 0x7f800000 {
		return scale, float32(math.NaN())
	}
	if largest < 1<<23 {
		return scale, 0
	}
	return scale, math.Float32frombits((exponent - 14) << 23)
}

// sliceValue returns the digits of the integer nearest to scale*x, the highest first.
func sliceValue(x, scale float32) [3]byte {
	const offset = 1<<15 + 1<<7 // makes the lower digits unsigned
	scaled := float32(float64(x)*float64(scale) + offset)
	v := int32(math.MinInt32) // for an infinity or a NaN, whose sums become NaN
	if math.Abs(float64(scaled)) < 1<<24 {
		v = int32(math.RoundToEven(float64(scaled)))
	}
	return [3]byte{byte(v >> 16), byte(v>>8) ^ 0x80, byte(v) ^ 0x80}
}

// sliceOne slices one row or column of a strip or panel, given the values of its steps, and
// returns what its sums are to be multiplied with. store is given the digits of each quad.
func sliceOne(k int, x0, x1 func(p int) float32, store func(block, slice, quad int, word uint32)) (back float32) {
	var largest uint32
	for p := range k {
		largest = max(largest, math.Float32bits(x0(p))&0x7fffffff, math.Float32bits(x1(p))&0x7fffffff)
	}
	scale, back := sliceScale(largest)
	for block := range (k + sliceSteps - 1) / sliceSteps {
		for quad := range 16 {
			var words [3]uint32
			for half := range 2 {
				p := block*sliceSteps + quad + 16*half
				if p >= k {
					continue
				}
				first, second := sliceValue(x0(p), scale), sliceValue(x1(p), scale)
				for slice := range words {
					words[slice] |= (uint32(first[slice]) | uint32(second[slice])<<8) << (16 * half)
				}
			}
			for slice, word := range words {
				store(block, slice, quad, word)
			}
		}
	}
	return back
}

// sliceRow slices row i of a strip.
func sliceRow(dst []float32, i int, x0, x1 func(p int) float32, k int) {
	dst[i] = sliceOne(k, x0, x1, func(block, slice, quad int, word uint32) {
		dst[sliceTile+block*sliceBlock+slice*slicePart+i*16+quad] = math.Float32frombits(word)
	})
}

// noRows writes the scales of the rows from m on, which are not there.
func noRows(dst []float32, m int) {
	for i := m; i < sliceTile; i++ {
		_, dst[i] = sliceScale(0)
	}
}

// sliceLeftGeneric slices a strip of m <= 16 rows.
func sliceLeftGeneric(dst, x0, x1 []float32, ld, m, k int) {
	noRows(dst, m)
	for i := range m {
		sliceRow(dst, i, func(p int) float32 { return x0[i*ld+p] }, func(p int) float32 { return x1[i*ld+p] }, k)
	}
}

// sliceLeftConjugateGeneric slices a strip of m <= 16 rows.
func sliceLeftConjugateGeneric(re, im, x0, x1 []float32, ld, m, k int) {
	noRows(re, m)
	noRows(im, m)
	for i := range m {
		first, second := func(p int) float32 { return x0[i*ld+p] }, func(p int) float32 { return x1[i*ld+p] }
		sliceRow(re, i, first, second, k)
		sliceRow(im, i, func(p int) float32 { return -second(p) }, first, k)
	}
}

// sliceRightGeneric slices a panel of n <= 16 columns.
func sliceRightGeneric(dst, x0, x1 []float32, ld, k, n int) {
	slicePanel(dst, k, n, func(p, j int) float32 { return x0[p*ld+j] }, func(p, j int) float32 { return x1[p*ld+j] })
}

// sliceTransposedGeneric slices a panel of n <= 16 columns, which are rows of x0 and x1.
func sliceTransposedGeneric(dst, x0, x1 []float32, ld, k, n int) {
	slicePanel(dst, k, n, func(p, j int) float32 { return x0[j*ld+p] }, func(p, j int) float32 { return x1[j*ld+p] })
}

// slicePanel slices n <= 16 columns of values.
func slicePanel(dst []float32, k, n int, x0, x1 func(p, j int) float32) {
	_, nothing := sliceScale(0)
	for row := range sliceStrip(k) / sliceTile {
		for j := n; j < sliceTile; j++ {
			dst[row*sliceTile+j] = 0
			if row == 0 {
				dst[j] = nothing
			}
		}
	}
	for j := range n {
		dst[j] = sliceOne(k, func(p int) float32 { return x0(p, j) }, func(p int) float32 { return x1(p, j) }, func(block, slice, quad int, word uint32) {
			dst[(1+(block*3+slice)*16+quad)*sliceTile+j] = math.Float32frombits(word)
		})
	}
}

// gemmSlicesGeneric multiplies strips of m rows of either operand by panels of n columns.
func gemmSlicesGeneric(m, n, steps int, a [2][]float32, b []float32, c [2][]float32, ldc int, accumulate bool) {
	size := sliceStrip(steps * sliceSteps)
	for w := range operands(a) {
		for i := range m {
			strip, row := a[w][i/sliceTile*size:], i%sliceTile
			for j := range n {
				dst := &c[w][i*ldc+j]
				*dst = sliceProduct(steps, strip[row], from(strip, sliceTile+row*16), slicePart, b[j/sliceTile*size:], j%sliceTile, *dst, accumulate)
			}
		}
	}
}

// gemmSliceShiftsGeneric multiplies m rows by two panels of 16 columns.
func gemmSliceShiftsGeneric(m, steps int, a, b []float32, c []float32, ldc int, accumulate bool) {
	size, pitch := sliceStrip(steps*sliceSteps), SliceRow(steps*sliceSteps)
	for i := range m {
		row := a[i*pitch:]
		for j := range 2 * sliceTile {
			dst := &c[i*ldc+j]
			*dst = sliceProduct(steps, row[0], from(row, sliceScales), sliceTile, b[j/sliceTile*size:], j%sliceTile, *dst, accumulate)
		}
	}
}

// sliceProduct returns the product of a row, whose slices are a distance apart and whose sums are
// multiplied with scale, and a column of a panel, added to c if it accumulates.
func sliceProduct(steps int, scale float32, row []float32, distance int, panel []float32, column int, c float32, accumulate bool) float32 {
	var sums [4]int32
	for s := range steps {
		for first := range 3 {
			for second := range min(3, len(sums)-first) {
				x := row[(s*3+first)*distance:]
				sums[first+second] += sliceDot(x, panel[(1+(s*3+second)*16)*sliceTile+column:])
			}
		}
	}
	// As the processor does it: each step is rounded once.
	sum := float32(float64(float32(sums[0]))*256 + float64(float32(sums[1])))
	sum = float32(float64(sum)*256 + float64(float32(sums[2])))
	sum = float32(float64(float32(sums[3]))/256 + float64(sum))
	if !accumulate {
		c = 0
	}
	return float32(float64(sum)*float64(scale*panel[column]) + float64(c))
}

// sliceDot returns the sum of the products of the digits of 16 quads.
func sliceDot(row, column []float32) (sum int32) {
	for quad := range 16 {
		x, y := math.Float32bits(row[quad]), math.Float32bits(column[quad*sliceTile])
		for shift := 0; shift < 32; shift += 8 {
			sum += int32(int8(x>>shift)) * int32(int8(y>>shift))
		}
	}
	return sum
}
