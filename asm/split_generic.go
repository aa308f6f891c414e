package asm

import "math"

const topHalf = 0xffff0000

// splitValue returns the parts of x, in the upper halves.
func splitValue(x float32) (parts [3]uint32) {
	for p := range parts {
		parts[p] = math.Float32bits(x) & topHalf
		x -= math.Float32frombits(parts[p])
	}
	return parts
}

// splitStore writes the parts of a pair of values, a part's storage apart.
func splitStore(dst []float32, low, high float32) {
	l, h := splitValue(low), splitValue(high)
	for p := range l {
		dst[p*splitPart] = math.Float32frombits(l[p]>>16 | h[p])
	}
}

// splitLeftGeneric splits a strip of m <= 32 rows.
func splitLeftGeneric(dst, x []float32, ld, m, k int) {
	value := func(i, p int) float32 {
		if p >= k {
			return 0
		}
		return x[i*ld+p]
	}
	for s := range splitSteps(k) {
		for i := range m {
			for pair := range 16 {
				p, at := s*splitTile+pair, s*splitBlock+i*16+pair
				splitStore(dst[at:], value(i, p), value(i, p+16))
			}
		}
	}
}

// splitRightGeneric splits a panel of n <= 32 columns.
func splitRightGeneric(dst, x []float32, ld, k, n int) {
	value := func(p, j int) float32 {
		if p >= k || j >= n {
			return 0
		}
		return x[p*ld+j]
	}
	for s := range splitSteps(k) {
		for pair := range 16 {
			for j := range splitTile {
				p := s*splitTile + pair
				splitStore(dst[s*splitBlock+j/16*256+pair*16+j%16:], value(p, j), value(p+16, j))
			}
		}
	}
}

// splitPairs are the parts of A and of B that are multiplied, in this order.
var splitPairs = [6][2]int{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}

// addSplit adds the product of a row and a column of a block. Like the instruction TDPBF16PS it
// sums the low and the high halves of the pairs apart, adds the two, and adds that to the sum;
// all in float32 with results below the normal numbers flushed to zero.
func addSplit(sum float32, row, column []float32) float32 {
	for _, parts := range splitPairs {
		row, column := row[parts[0]*splitPart:][:16], column[parts[1]*splitPart:]
		var low, high float32
		for i, word := range row {
			x, y := math.Float32bits(word), math.Float32bits(column[i*16])
			low = multiplyAdd(half(x<<16), half(y<<16), low)
			high = multiplyAdd(half(x&topHalf), half(y&topHalf), high)
		}
		sum = flushed(flushed(low+high) + sum)
	}
	return sum
}

// gemmSplitGeneric multiplies a strip of m <= 32 rows by the panels of n columns.
func gemmSplitGeneric(m, n, steps int, a, b, c []float32, ldc int, accumulate bool) {
	for i := range m {
		for j := range n {
			panel := b[j/splitTile*steps*splitBlock:]
			var sum float32
			if accumulate {
				sum = flushed(c[i*ldc+j])
			}
			for s := range steps {
				sum = addSplit(sum, a[s*splitBlock+i*16:], panel[s*splitBlock+j%splitTile/16*256+j%16:])
			}
			c[i*ldc+j] = sum
		}
	}
}

// multiplyAdd returns x*y + z for bfloat16 x and y, rounded once: with float64 both
// operations are exact wherever it matters for float32.
func multiplyAdd(x, y, z float32) float32 {
	return flushed(float32(float64(x)*float64(y) + float64(z)))
}

// half returns the value of a bfloat16 in the upper half of bits.
func half(bits uint32) float32 { return flushed(math.Float32frombits(bits)) }

// flushed returns x, or zero for a denormal number.
func flushed(x float32) float32 {
	if math.Float32bits(x)&0x7f800000 == 0 {
		return math.Float32frombits(math.Float32bits(x) & (1 << 31))
	}
	return x
}
