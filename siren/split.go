package siren

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// At a level with a matrix unit the last layer multiplies split matrices, see
// asm.GemmSplit: forward W h, backward dy h' and W' dy, where each block of dy is
// read once and split for both sides.

const (
	// splitRows is the number of rows of the weights that are split at a time.
	splitRows = asm.SplitTile

	// splitBlock is the most positions of a block for splitHidden features, a page of a row of dy: where dy lies in
	// memory, reading it takes longer than multiplying it, and the processor fetches ahead within a page. Blocks have
	// more than blockMost where there are at least segmentsFew of them: longer rows are faster to read from a cache as
	// well. Those of wider layers would not stay in the second-level cache: with 256 features they take 14% longer.
	splitBlock = 1024

	// splitHidden is the least width of the hidden layers for which the steps of a
	// split product, 32 at a time, are worth their price.
	splitHidden = 32
)

// splitLayer is the last layer of passes with split matrices.
type splitLayer struct {
	used    bool
	forward tensor.Buffer // W [Out, Hidden], a left operand
	back    tensor.Buffer // W' [Hidden, splitRows] for splitRows rows of W after another, left operands
}

// splitWorker is the memory of one thread for split operands.
type splitWorker struct {
	h    []float32 // forward h [Hidden, block], backward h' [block, Hidden], right operands
	grad asm.GradSplit
}

// splits reports whether the last layer, of so many features and results, multiplies split matrices.
func splits(width, out int) bool {
	return asm.FastSplit() && width >= splitHidden && out >= splitRows
}

// planSplit reserves the weights; backward is nil for inference.
func (c *cpu) planSplit(a *tensor.Arena, forward, backward *tensor.Lifetime) {
	out, width := c.net.out, c.net.width
	s := &c.split
	if !s.used {
		return
	}
	a.ReserveFor(&s.forward, asm.SplitSize(out, width), forward)
	if backward != nil {
		a.ReserveFor(&s.back, ceilDiv(out, splitRows)*asm.SplitSize(width, splitRows), backward)
	}
}

// splitWorkspace returns how many values a worker needs beside the workspace.
func (c *cpu) splitWorkspace(backward bool) int {
	width := c.net.width
	switch {
	case !c.split.used:
		return 0
	case !backward:
		return asm.SplitSize(c.most, width)
	}
	return max(asm.SplitSize(c.most, width), asm.SplitSize(width, c.most)) + asm.GradSplitWork
}

// reserveSplit hands out the memory of a worker.
func (c *cpu) reserveSplit(w *cpuWorker, backward bool, take func(n int) []float32) {
	width := c.net.width
	switch {
	case !c.split.used:
	case backward:
		w.split.h, w.split.grad.Work = take(asm.SplitSize(width, c.most)), take(asm.GradSplitWork)
	default:
		w.split.h = take(asm.SplitSize(c.most, width))
	}
}

// cpuSplit is a cpu as the Task of splitting the weights of the last layer. Its
// items are splitRows rows each, for a forward pass first, then for a backward pass.
type cpuSplit cpu

// Do splits items lo <= i < hi. See tensor.Task.
func (t *cpuSplit) Do(lo, hi, worker int) {
	c := (*cpu)(t)
	l := c.net.last
	for i := lo; i < hi; i++ {
		row := i * splitRows
		m := min(splitRows, l.out-row)
		weight := l.value().Host()[row*l.in:]
		if !c.back {
			size := asm.SplitSize(splitRows, l.in)
			asm.SplitLeft(c.split.forward.Host()[i*size:], weight, l.in, m, l.in)
			continue
		}
		turned := t.work[worker].turned
		asm.Transpose(turned, splitRows, weight, l.in, m, l.in)
		size := asm.SplitSize(l.in, splitRows)
		asm.SplitLeft(c.split.back.Host()[i*size:], turned, splitRows, l.in, m)
	}
}

// splitWeights splits the weights of the last layer for a pass.
func (c *cpu) splitWeights(back bool) {
	c.back = back
	c.dev.Team().For(ceilDiv(c.net.out, splitRows), 1, (*cpuSplit)(c))
}

// splitResults is results by split matrices, for all rows.
func (c *cpu) splitResults(w *cpuWorker, group, col, n int) {
	l := c.net.last
	asm.SplitRight(w.split.h, w.h, w.stride, l.in, n)
	from, to := c.group(group)
	weight := c.split.forward.Host()[from/splitRows*asm.SplitSize(splitRows, l.in):]
	asm.LinearSplit(to-from, n, l.in, weight, w.split.h, l.bias.Value.Host()[from:], c.y[from*c.positions+col:], c.positions, c.stream)
}

// splitTopGrad is topGrad by split matrices.
func (c *cpu) splitTopGrad(w *cpuWorker, segment, group, col, n int, accumulate bool) {
	l := c.net.last
	dw, db := c.lastSums(segment)
	asm.Transpose(w.turned, l.in, w.h, w.stride, l.in, n)
	asm.SplitRight(w.split.h, w.turned, l.in, n, l.in)
	from, to := c.group(group)
	g := &w.split.grad
	*g = asm.GradSplit{
		M: to - from, N: n, K: l.in,
		Y: c.dy[from*c.positions+col:], LDY: c.positions,
		W: c.split.back.Host()[from/splitRows*asm.SplitSize(l.in, splitRows):], H: w.split.h,
		DW: dw[from*l.in:], LDDW: l.in, DB: db[from:], AddW: accumulate,
		DH: w.d[0], LDDH: w.stride,
		Work: g.Work,
		// The first rows of the next block.
		Ahead: n - (ceilDiv(to-from, splitRows)-1)*splitRows*c.positions,
	}
	asm.LinearGradSplit(g)
}
