package siren

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// At a level with a matrix unit the forward pass of the last layer multiplies split
// matrices, see asm.LinearSplit.

const (
	// splitRows is the number of rows of the weights that are split at a time.
	splitRows = 32

	// splitHidden is the least width of the hidden layers for which the steps of a
	// split product, 32 at a time, are worth their price.
	splitHidden = 16
)

// splitLayer is the last layer of passes with split matrices.
type splitLayer struct {
	used    bool
	forward tensor.Buffer // W [Out, Hidden], a left operand
}

// splitWorker is the memory of one thread for split operands.
type splitWorker struct {
	h []float32 // h [Hidden, block], a right operand
}

// planSplit reserves the weights.
func (c *cpu) planSplit(a *tensor.Arena, forward *tensor.Lifetime) {
	out, hidden := c.net.cfg.Out, c.net.cfg.Hidden
	s := &c.split
	*s = splitLayer{used: asm.FastSplit() && hidden >= splitHidden && out >= splitRows}
	if !s.used {
		return
	}
	a.ReserveFor(&s.forward, asm.SplitSize(out, hidden), forward)
}

// splitWorkspace returns how many values a worker needs beside the workspace.
func (c *cpu) splitWorkspace() int {
	if !c.split.used {
		return 0
	}
	return asm.SplitSize(blockMost, c.net.cfg.Hidden)
}

// cpuSplit is a cpu as the Task of splitting the weights of the last layer. Its
// items are splitRows rows each.
type cpuSplit cpu

// Do splits items lo <= i < hi. See tensor.Task.
func (t *cpuSplit) Do(lo, hi, _ int) {
	c := (*cpu)(t)
	l := c.net.layers[len(c.net.layers)-1]
	for i := lo; i < hi; i++ {
		row := i * splitRows
		m := min(splitRows, l.out-row)
		weight := l.value().Host()[row*l.in:]
		asm.SplitLeft(c.split.forward.Host()[i*asm.SplitSize(splitRows, l.in):], weight, l.in, m, l.in)
	}
}

// splitWeights splits the weights of the last layer.
func (c *cpu) splitWeights() {
	c.dev.Team().For(ceilDiv(c.net.cfg.Out, splitRows), 1, (*cpuSplit)(c))
}

// splitResults is results by split matrices, for all rows.
func (c *cpu) splitResults(w *cpuWorker, group, col, n int) {
	l := c.net.layers[len(c.net.layers)-1]
	asm.SplitRight(w.split.h, w.h[len(w.h)-1], blockStride, l.in, n)
	from, to := c.group(group)
	weight := c.split.forward.Host()[from/splitRows*asm.SplitSize(splitRows, l.in):]
	asm.LinearSplit(to-from, n, l.in, weight, w.split.h, l.bias.Value.Host()[from:], c.y[from*c.positions+col:], c.positions, c.stream)
}
