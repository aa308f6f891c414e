package asm

// fewResults is the number of values up to which LinearSplit writes every eighth row through the caches although it
// streams, 32 MiB: a core that does nothing else writes so in 142 ns what takes it 156 past the caches alone. 13 MiB of
// results take 3% less time, 50 to 200 MiB as long, but 400 and 800 MiB 7 and 15% more.
const fewResults = 8 << 20

// LinearSplit is Linear for split operands: a from SplitLeft [m, k], b from
// SplitRight [k, n],
//
//	c[i*ldc+j] = sum over p < k of a[i, p]*b[p, j] + bias[i]
//
// The sum has the bits of GemmSplit. With stream the values may bypass the caches;
// then nobody but the calling thread may read c before that thread has called Fence.
func LinearSplit(m, n, k int, a, b, bias, c []float32, ldc int, stream bool) {
	if m < 0 || n < 0 || k < 1 {
		panic(&Error{"LinearSplit", "m or n below 0, or k below 1"})
	}
	if m == 0 || n == 0 {
		return
	}
	if len(a) < SplitSize(m, k) {
		panic(&Error{"LinearSplit", "a is shorter than SplitSize"})
	}
	if len(b) < SplitSize(n, k) {
		panic(&Error{"LinearSplit", "b is shorter than SplitSize"})
	}
	if len(bias) < m {
		panic(&Error{"LinearSplit", "bias is shorter than the number of rows"})
	}
	checkDst("LinearSplit", "c", c, m, n, ldc)
	if raceEnabled {
		raceRead(a[:SplitSize(m, k)])
		raceRead(b[:SplitSize(n, k)])
		raceRead(bias[:m])
		raceWriteRows(c, m, n, ldc)
	}
	steps := splitSteps(k)
	size := steps * splitBlock
	// Panels that stay in the first-level cache beside a strip, and strips for one
	// call, which cannot be preempted: some ten microseconds.
	cols := max(1, 4/steps) * splitTile
	rows := max(1, 32/steps) * splitTile
	few := m*ldc <= fewResults
	for j := 0; j < n; j += cols {
		panels := b[j/splitTile*size:]
		for i := 0; i < m; i += rows {
			linearSplit(min(rows, m-i), min(cols, n-j), steps, a[i/splitTile*size:], panels, bias[i:], c[i*ldc+j:], ldc, stream, few)
		}
	}
}

// linearSplitParts is LinearSplit by products and a pass that adds the bias.
func linearSplitParts(m, n, steps int, a, b, bias, c []float32, ldc int) {
	for i := 0; i < m; i += splitTile {
		rows := min(splitTile, m-i)
		gemmSplit(rows, n, steps, a[i*steps*splitBlock/splitTile:], b, c[i*ldc:], ldc, false)
		for r := i; r < i+rows; r++ {
			row := c[r*ldc : r*ldc+n]
			affine(row, row, 1, bias[r])
		}
	}
}
