package conv

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/tensor"
)

// taps is the tap-sparse algorithm of the CPU: the direct convolution over the
// live taps of the disc, as matrix products over the kernels of package asm. It
// never builds the im2col matrix.
//
// Forward and InputGrad are correlations (correlate.go, and blocked.go for thick
// sources, thin.go for thin batches, dots.go for a few values, pointslices.go for one
// tap), KernelGrad a product whose reduction runs over the output plane and batch (reduce.go,
// and reducethin.go for few sources).
// An output of one position goes another way (single.go). Between them and the kernel
// network stand the rearrangements of this file:
//
//	SIREN's kernel   [(o,c), (i,j,t)]
//	Forward          [(o,i), (t,c,j)], with the bias as last column, or sliced (thinslices.go)
//	InputGrad        [(c,j), (t,o,i)], from that of Forward
//	KernelGrad       [(t,c,j), (o,i)]
//
// Work is split over outputs, or over parts of sums that the shape alone decides, and
// every sum has one order, so the bits do not depend on the number of threads.
type taps struct {
	cpu    *tensor.CPU
	team   *tensor.Team
	max    Shape // the largest shape
	frozen bool  // planned for inference
	biased bool  // the last Prepare had a bias

	bandSplit int // how many values of split planes the gradient of the kernel keeps

	corr          correlation
	reduce        reduction
	thinReduce    thinReduction
	copies        copying
	blocks        blocking
	splitting     splitting
	thinSlicing   thinSlicing
	frozenKernel  frozenSlicing
	gathering     gathering
	bandSplitting bandSplitting
	pointSlicing  pointSlicing
	order         arrangement
}

func newTaps() *taps { return &taps{bandSplit: bandSplit} }

var _ Passes = (*taps)(nil)

// lead returns the leading dimension for rows of k values: rows a multiple of
// 4 KiB apart would fall into the same few lines of the cache. It never falls as
// k grows, so that what is planned for the largest k is enough for all.
func lead(k int) int {
	if k >= 1024 {
		return max(k, k/1024*1024+16)
	}
	return k
}

// Sizes returns the sizes of the rearranged kernel and of the scratch memory.
func (p *taps) Sizes(s *Shape, inference bool) (prepared, scratch int) {
	p.frozen = inference
	prepared = s.Targets() * lead(s.Sources()*len(s.Offsets)+1)
	var f frame
	f.forward(s, s)
	scratch = f.copySize(s.Sources(), s.B)
	if p.keepsSlices(&f) {
		return f.kernelSize(s.Targets(), s.Sources()) + s.Targets(), scratch
	}
	scratch += f.kernelSize(s.Targets(), s.Sources())
	if inference {
		return prepared, scratch
	}
	f.inputGrad(s, s)
	kernel := s.Sources() * lead(s.Targets()*len(s.Offsets))
	scratch = max(scratch, kernel+f.copySize(s.Targets(), s.B)+f.kernelSize(s.Sources(), s.Targets()))
	f.kernelGrad(s, s)
	if s.Sources() < thinSources {
		return prepared, max(scratch, thinParts*thinSums(s)+f.copySize(s.Sources(), s.B))
	}
	size := s.KernelSize() + f.copySize(s.Sources(), s.B) + f.bandSize(s, p.bandSplit)
	if f.isPoint() {
		size = max(size, s.KernelSize()+max(pointSums, 2*s.KernelSize()))
	}
	return prepared, max(scratch, size)
}

// Bind names the CPU and the largest shape. The workers' memory is sized for the
// level of assembly that is active now.
func (p *taps) Bind(dev tensor.Device, s *Shape) error {
	cpu, err := cpuOf(dev)
	if err != nil {
		return err
	}
	p.cpu, p.team, p.max = cpu, cpu.Team(), *s
	size := max(p.corr.bind(s), p.reduce.bind(s))
	if s.Sources() < thinSources {
		size = max(size, p.thinReduce.bind(s))
	}
	if s.B < thinBatch {
		mr, _ := asm.GemmTile()
		width := max(s.W, s.OutW) + 2*largestOffset(s)
		size = max(size, mr*max(s.H, s.OutH)*width*s.B, p.thinSlicesWorkspace(s))
	}
	return cpu.ReserveWorkspace(size)
}

// thinSlicesWorkspace returns the size of a worker's memory for a thin batch that is sliced, and
// for the rows of a kernel that is kept so.
func (p *taps) thinSlicesWorkspace(s *Shape) (size int) {
	var f frame
	f.forward(s, s)
	if f.form == inThinSlices {
		size = f.thinWorkspace(s.Sources(), s.B)
	}
	if p.keepsSlices(&f) {
		return max(size, splitTile*(frozenPitch(s)+s.Sources()))
	}
	f.inputGrad(s, s)
	if f.form == inThinSlices {
		size = max(size, f.thinWorkspace(s.Targets(), s.B))
	}
	return size
}

// keepsSlices reports whether a kernel is kept sliced for Forward.
func (p *taps) keepsSlices(f *frame) bool { return p.frozen && f.form == inThinSlices }

// largestOffset returns by how many columns a tap is away at most.
func largestOffset(s *Shape) int {
	most := 0
	for _, o := range s.Offsets {
		most = max(most, o.Col, -o.Col)
	}
	return most
}

// Prepare rearranges kernel and bias for Forward.
func (p *taps) Prepare(prepared, kernel, bias, _ tensor.Buffer, s *Shape) {
	a := &p.order
	*a = arrangement{shape: s, to: forForward, kernel: kernel.Host(), dst: prepared.Host(), bias: bias.Host()}
	p.biased = !bias.IsZero()
	c := &p.corr
	c.frame.forward(s, &p.max)
	if !p.keepsSlices(&c.frame) {
		a.run(p.team)
		return
	}
	c.cpu, c.m, c.sources = p.cpu, s.Targets(), s.Sources()
	c.splitKernel = prepared.Host()
	c.runs = c.lines(c.runs)
	p.frozenKernel = frozenSlicing{c, a}
	p.team.For(blocksOf(c.m, splitTile), 1, &p.frozenKernel)
	if p.biased {
		of := bias.Host()
		column := c.splitKernel[c.kernelSize(c.m, c.sources):]
		for m := range c.m {
			column[m] = of[m/s.NOut]
		}
	}
	c.splitKernel = nil
}

// Forward computes y from a prepared kernel.
func (p *taps) Forward(y, x, prepared, scratch tensor.Buffer, s *Shape) {
	c := &p.corr
	c.frame.forward(s, &p.max)
	c.source(p, x.Host(), scratch.Host(), s.Sources(), s.B)
	c.target(y.Host(), s.Targets(), false)
	c.ones, c.splitKernel = p.biased, nil
	if p.keepsSlices(&c.frame) {
		size := c.kernelSize(c.m, c.sources)
		c.splitKernel, c.kernel, c.lda, c.column = prepared.Host()[:size], prepared.Host()[size:], 1, 0
	} else {
		c.column = c.sources * len(s.Offsets)
		c.kernel, c.lda = prepared.Host(), lead(c.column+1)
	}
	c.run(p)
}

// Backward computes the gradients of the kernel, of the bias and of x.
func (p *taps) Backward(dkernel, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	switch {
	case !dkernel.IsZero() && p.max.Sources() < thinSources:
		p.thinKernelGrad(dkernel, dbias, x, dy, scratch, s)
	case !dkernel.IsZero():
		p.kernelGrad(dkernel, x, dy, scratch, s)
		fallthrough
	default:
		addBiasGrad(p.cpu, dbias, dy, s)
	}
	if !dx.IsZero() {
		p.inputGrad(dx, dy, prepared, scratch, s, accumulate)
	}
}

// inputGrad computes the gradient of x: the correlation of dy with the kernel
// whose taps are negated.
func (p *taps) inputGrad(dx, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool) {
	lda := lead(s.Targets() * len(s.Offsets))
	size := s.Sources() * lda
	turned := scratch.Host()[:size]
	a := &p.order
	*a = arrangement{shape: s, to: forInputGrad, prepared: prepared.Host(), dst: turned}
	a.run(p.team)

	c := &p.corr
	c.frame.inputGrad(s, &p.max)
	c.source(p, dy.Host(), scratch.Host()[size:], s.Targets(), s.B)
	c.target(dx.Host(), s.Sources(), accumulate)
	c.kernel, c.lda = turned, lda
	c.ones, c.splitKernel = false, nil
	c.run(p)
}

// kernelGrad computes the gradient of the kernel.
func (p *taps) kernelGrad(dkernel, x, dy, scratch tensor.Buffer, s *Shape) {
	size := s.KernelSize()
	sums := scratch.Host()[:size]
	r := &p.reduce
	r.frame.kernelGrad(s, &p.max)
	r.source(p, x.Host(), scratch.Host()[size:], s.Sources(), s.B)
	r.dy, r.targets = dy.Host(), s.Targets()
	r.sums = sums
	r.run(p)

	a := &p.order
	*a = arrangement{shape: s, to: fromKernelGrad, kernel: dkernel.Host(), dst: sums}
	a.run(p.team)
}

// thinKernelGrad is kernelGrad for few sources, and adds the gradient of the bias.
func (p *taps) thinKernelGrad(dkernel, dbias, x, dy, scratch tensor.Buffer, s *Shape) {
	size := thinParts * thinSums(s)
	r := &p.thinReduce
	r.frame.kernelGrad(s, &p.max)
	r.source(p, x.Host(), scratch.Host()[size:], s.Sources(), s.B)
	r.dy, r.kernel, r.sums = dy.Host(), dkernel.Host(), scratch.Host()[:size]
	r.run(p, s)
	if !dbias.IsZero() {
		r.addBias(dbias.Host())
	}
	r.shape, r.src, r.dy, r.kernel, r.sums = nil, nil, nil, nil, nil
}

// arrangement moves a kernel between the layouts of the passes. Items are rows
// (o,i) for Forward, else pairs (c,j).
type arrangement struct {
	shape    *Shape
	to       layout
	kernel   []float32 // [(o,c), (i,j,t)]
	prepared []float32 // Forward's layout, the source for forInputGrad
	dst      []float32 // the pass's side (the source, for fromKernelGrad)
	bias     []float32 // [o], or nil
}

type layout uint8

const (
	forForward layout = iota
	forInputGrad
	fromKernelGrad
)

func (a *arrangement) run(team *tensor.Team) {
	items := a.shape.Sources()
	if a.to == forForward {
		items = a.shape.Targets()
	}
	// A few ten thousand values are worth another thread. The gradient's rows go
	// sixteen at a time, a cache line of what is transposed.
	chunk := max(1, 16384/max(1, a.shape.KernelSize()/items))
	if a.to == forInputGrad {
		chunk = (chunk + 15) &^ 15
	}
	team.For(items, chunk, a)
}

// Do moves the rows lo <= row < hi.
func (a *arrangement) Do(lo, hi, _ int) {
	switch a.to {
	case forForward:
		for row := lo; row < hi; row++ {
			a.forward(row)
		}
	case forInputGrad:
		a.inputGrad(lo, hi)
	case fromKernelGrad:
		for row := lo; row < hi; row++ {
			a.kernelGrad(row)
		}
	}
}

// forward fills row (o,i): columns (t,c,j), then the bias.
func (a *arrangement) forward(row int) {
	k := a.shape.Sources() * len(a.shape.Offsets)
	dst := a.dst[row*lead(k+1):]
	a.row(dst, row)
	if a.bias != nil {
		dst[k] = a.bias[row/a.shape.NOut]
	}
}

// row writes the columns (t,c,j) of row (o,i) to dst.
func (a *arrangement) row(dst []float32, row int) {
	s := a.shape
	t, nt := len(s.Offsets), s.NIn*len(s.Offsets)
	o, i := row/s.NOut, row%s.NOut
	asm.TransposeGroups(dst, s.Sources(), a.kernel[(o*s.In*s.NOut+i)*nt:], t, s.NOut*nt, s.In, s.NIn, t)
}

// inputGrad fills the rows (c,j), lo <= row < hi: columns (t,o,i).
func (a *arrangement) inputGrad(lo, hi int) {
	s := a.shape
	taps, sources, targets := len(s.Offsets), s.Sources(), s.Targets()
	from, to := lead(sources*taps+1), lead(targets*taps)
	for t := range taps {
		asm.Transpose(a.dst[lo*to+t*targets:], to, a.prepared[t*sources+lo:], from, targets, hi-lo)
	}
}

// kernelGrad reads the sums of the pair (c,j), rows (t,c,j), columns (o,i).
func (a *arrangement) kernelGrad(row int) {
	s := a.shape
	t, nt := len(s.Offsets), s.NIn*len(s.Offsets)
	c, j := row/s.NIn, row%s.NIn
	sources, targets := s.Sources(), s.Targets()
	asm.TransposeToGroups(a.kernel[c*s.NOut*nt+j*t:], nt, s.In*s.NOut*nt, a.dst[row*targets:], sources*targets, t, s.Out, s.NOut)
}
