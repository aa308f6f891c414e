package siren

import (
	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// Sizes of the work on a CPU. They follow the shape of a pass, never the number
// of threads, and so do the order of all sums and their bits.
const (
	// A block of positions goes through all layers while its activations stay in
	// the second-level cache: 32 hidden units take 32 KiB a layer.
	blockStep = 32  // a block is a multiple of it: the widest tile
	blockMost = 256 // but for splitBlock

	// Gradients of parameters are summed over a segment of neighbouring blocks,
	// then over the segments. A pass of few positions shares out the rows of the
	// last layer as well, in groups.
	segmentsMost = 16
	segmentsFew  = 8
	groupRows    = 256 // at least

	// Groups evaluate the hidden layers anew, so with up to segmentsFew*groupRows results a pass of fewPositions or more
	// has segmentsFew blocks in their place: mostly 5 to 40% faster forward, and from 6% slower to 26% faster both ways.
	// With fewer positions or more results the way back is slower, since sums are written for each block.
	fewPositions = 448

	// Rows of dy that are read at a time: 68 KiB.
	chunkRows = 70

	// dotsMost is the number of columns up to which a gradient of a weight is a matter
	// of scalar products: a tile of a matrix product would be mostly empty.
	dotsMost = 8

	// partialValues bounds the sums of the segments: 64 MiB.
	partialValues = 16 << 20

	// streamValues is the size from which on results are written past the caches:
	// 4 MiB, what the second-level caches of two cores hold.
	streamValues = 1 << 20

	// pieceValues is what an item of the last reduction adds up.
	pieceValues = 4096
)

// hidden are the layers before the last linear map, as a CPU evaluates them: a
// block of positions at a time, on the matrices [width, block] of a worker.
type hidden interface {
	// start takes the values of the parameters for the passes to come.
	start(dev tensor.Device)
	// matrices returns how many matrices a worker needs for forward or, with
	// backward, for record and backward.
	matrices(backward bool) int
	// forward evaluates the layers at the n positions of c.x from col on and returns
	// the last.
	forward(c *cpu, w *cpuWorker, col, n int) []float32
	// record is forward, with the same bits, that leaves in w what backward needs.
	record(c *cpu, w *cpuWorker, col, n int) []float32
	// sums returns the number of values that backward sums, a multiple of 16.
	sums() int
	// backward follows record with the gradient of its result in w.d[0]. It writes
	// the gradients of the parameters to sums or, with accumulate, adds them there,
	// and writes the gradient of the positions to c.dx unless that is nil.
	backward(c *cpu, w *cpuWorker, sums []float32, col, n int, accumulate bool)
	// add adds sums to the gradients of the parameters.
	add(dev tensor.Device, sums []float32)
}

// cpu runs the passes of a network on a CPU. Nothing is kept from Forward for
// Backward: a block's hidden layers are evaluated again, which costs a few
// hundredths of the products with the last layer, and needs no memory.
type cpu struct {
	net  *network
	dev  *tensor.CPU
	work []cpuWorker // one for each thread

	x, y, dy, dx []float32 // operands of the pass, [rows, positions]
	positions    int
	most         int // positions of a block of the largest pass
	step         int // blocks are whole steps, and as wide as one another, give or take one
	width        int // of the widest block
	blocks       int
	segments     int
	groups       int
	top          bool // the pass includes the last layer
	chain        bool // and, backward, the hidden layers
	stream       bool // y is larger than the caches

	sums     tensor.Buffer // for a backward pass: partials and down
	partials []float32     // [segments, size] gradients of the hidden layers, then of the last
	size     int
	down     []float32 // [groups, width, positions] gradient of the features

	split splitLayer // the last layer where split matrices are faster
	back  bool       // its weights are being split for a backward pass
}

// cpuWorker is the memory of one thread.
type cpuWorker struct {
	stride int         // of the rows of matrices
	hidden [][]float32 // of the hidden layers
	h      []float32   // the features
	d      [2][]float32
	rows   []float32 // [chunkRows, n] of dy
	sums   [chunkRows]float32
	turned []float32 // a transposed block in panels, see asm.PackCols
	split  splitWorker
}

// planCPU reserves the buffers of passes on a CPU.
func (n *network) planCPU(p *nn.Plan, most int) {
	a := p.Arena
	forward, backward := tensor.ForwardOf(a.Layer()), tensor.BackwardOf(a.Layer())
	if p.Inference {
		backward = forward
	}
	a.ReserveFor(&n.f, n.width*most, &tensor.Lifetime{From: forward, To: backward})
	n.cpu = cpu{net: n}
	c := &n.cpu
	c.split.used = splits(n.width, n.out)
	c.most = c.widest(most)
	if p.Inference {
		c.planSplit(a, &tensor.Lifetime{From: forward, To: forward}, nil)
		return
	}
	c.planSplit(a, &tensor.Lifetime{From: forward, To: forward}, &tensor.Lifetime{From: backward, To: backward})
	a.ReserveFor(&c.sums, c.sumsOf(most), &tensor.Lifetime{From: backward, To: backward})
}

// sumsOf returns the number of values that backward passes of at most so many positions need for their sums. Fewer
// positions may need more where there are groups.
func (c *cpu) sumsOf(most int) int {
	c.top = true
	need := c.divide(most)
	for positions := min(most, segmentsMost*blockMost) / blockStep * blockStep; positions > 0; positions -= blockStep {
		need = max(need, c.divide(positions))
	}
	return need
}

// bind makes the workers and reserves their memory.
func (c *cpu) bind(dev *tensor.CPU) {
	c.dev = dev
	if err := dev.ReserveWorkspace(c.workspace()); err != nil {
		refuse("Bind", "%v", err)
	}
	c.work = make([]cpuWorker, dev.Threads())
	for i := range c.work {
		c.work[i].hidden = make([][]float32, c.net.hidden.matrices(!c.net.inference))
	}
}

// strideOf returns the distance of the rows of blocks of so many positions, a multiple of blockStep: an odd number of
// cache lines, so that rows do not fall into the same sets of the first-level cache.
func strideOf(width int) int { return width + 16 }

// row returns the n values of row r of a matrix.
func (w *cpuWorker) row(x []float32, r, n int) []float32 { return x[r*w.stride:][:n] }

// roundUp returns n values and what keeps the next piece aligned.
func roundUp(n int) int { return (n + 15) &^ 15 }

func ceilDiv(x, y int) int { return (x + y - 1) / y }

// share returns part i of n things that are shared out evenly among parts.
func share(i, n, parts int) (from, to int) { return i * n / parts, (i + 1) * n / parts }

// widest returns the most positions that a block has in a pass of so many.
func (c *cpu) widest(positions int) int {
	if !c.split.used || c.net.width > splitHidden {
		return blockMost
	}
	return min(splitBlock, max(blockMost, ceilDiv(ceilDiv(positions, segmentsFew), blockStep)*blockStep))
}

// leastBlocks returns how many blocks a pass has at least, unless it has fewer steps.
func (c *cpu) leastBlocks() int {
	if out := c.net.out; c.top && c.positions >= fewPositions && out >= 2*groupRows && out <= segmentsFew*groupRows {
		return segmentsFew
	}
	return 2
}

// divide chooses blocks, segments and, for the last layer, groups. It returns
// the number of values that a backward pass needs for its sums. Two halves of the
// blocks take the same time, give or take a step: a page where there are so many
// that it does not matter.
func (c *cpu) divide(positions int) int {
	c.positions, c.step = positions, blockStep
	if c.widest(positions) == splitBlock && positions > segmentsMost*splitBlock {
		c.step = splitBlock
	}
	steps := ceilDiv(positions, c.step)
	c.blocks = min(steps, max(2*ceilDiv(positions, 2*c.widest(positions)), c.leastBlocks()))
	c.width = ceilDiv(steps, c.blocks) * c.step

	c.size = c.net.hidden.sums()
	if c.top {
		c.size += roundUp(c.net.last.sums())
	}
	c.segments = min(segmentsMost, c.blocks, max(2, partialValues/max(1, c.size)))
	if c.split.used {
		// The sums of a segment take a good part of the time of a block.
		c.segments = min(c.segments, max(segmentsFew, c.blocks/2))
	}

	c.groups = 1
	if c.top && c.segments < segmentsFew {
		c.groups = max(1, min(ceilDiv(segmentsMost, c.segments), c.net.out/groupRows))
	}
	need := c.segments * c.size
	if c.groups > 1 {
		need += c.groups * c.net.width * positions
	}
	return need
}

// group returns the rows of the last layer that belong to a group.
func (c *cpu) group(i int) (from, to int) {
	out := c.net.out
	if !c.split.used {
		return share(i, out, c.groups)
	}
	from, to = share(i, ceilDiv(out, splitRows), c.groups)
	return from * splitRows, min(out, to*splitRows)
}

// block returns where block b begins and its number of positions.
func (c *cpu) block(b int) (col, n int) {
	from, to := share(b, ceilDiv(c.positions, c.step), c.blocks)
	col = from * c.step
	return col, min(to*c.step, c.positions) - col
}

// workspace returns how many values a worker needs.
func (c *cpu) workspace() int {
	stride := strideOf(c.most)
	matrix := c.net.width * stride
	each := c.net.hidden.matrices(!c.net.inference)*matrix + c.splitWorkspace(!c.net.inference)
	if c.net.inference {
		return each
	}
	each += len(cpuWorker{}.d) * matrix
	if !c.split.used {
		each += chunkRows * stride
	}
	return each + c.panels()
}

// panels returns the number of values that hold a transposed block, the last
// panel filled up to the width of any level's tile.
func (c *cpu) panels() int {
	return (max(c.net.width, c.net.in) + blockStep) * c.most
}

// reserve hands out the memory of the workers and of the sums.
func (c *cpu) reserve(backward bool) {
	stride := strideOf(c.width)
	matrix := c.net.width * stride
	for i := range c.work {
		w, m := &c.work[i], c.dev.Workspace(i)
		w.stride = stride
		take := func(n int) []float32 {
			x := m[:n:n]
			m = m[n:]
			return x
		}
		w.hidden = w.hidden[:c.net.hidden.matrices(backward)]
		for k := range w.hidden {
			w.hidden[k] = take(matrix)
		}
		if backward {
			w.d[0], w.d[1] = take(matrix), take(matrix)
			w.turned = take(c.panels())
			if !c.split.used {
				w.rows = take(chunkRows * stride)
			}
		}
		c.reserveSplit(w, backward, take)
	}
	if backward {
		sums := c.sums.Host()
		c.partials = sums[:c.segments*c.size]
		if c.groups > 1 {
			c.down = sums[c.segments*c.size:]
		}
	}
}

// forward writes the results at positions x to y.
func (c *cpu) forward(y, x tensor.Buffer, positions int) {
	c.top = true
	c.evaluate(y, x, positions)
}

// features writes the last hidden layer at positions x to f.
func (c *cpu) features(f, x tensor.Buffer, positions int) {
	c.top = false
	c.evaluate(f, x, positions)
}

func (c *cpu) evaluate(y, x tensor.Buffer, positions int) {
	c.x, c.y = x.Host(), y.Host()
	c.divide(positions)
	c.stream = c.net.out*positions >= streamValues
	c.reserve(false)
	if c.top && c.split.used {
		c.splitWeights(false)
	}
	c.dev.Team().For(c.blocks*c.groups, 1, (*cpuForward)(c))
	c.x, c.y = nil, nil
}

// cpuForward is a cpu as the Task of a forward pass: its items are the blocks,
// one for each group of rows.
type cpuForward cpu

// Do computes items lo <= i < hi. See tensor.Task.
func (t *cpuForward) Do(lo, hi, worker int) {
	c, w := (*cpu)(t), &t.work[worker]
	for i := lo; i < hi; i++ {
		col, n := c.block(i / c.groups)
		w.h = c.net.hidden.forward(c, w, col, n)
		switch {
		case c.top && c.split.used:
			c.splitResults(w, i%c.groups, col, n)
		case c.top:
			c.results(w, i%c.groups, col, n)
		default:
			for r := range c.net.width {
				copy(c.y[r*c.positions+col:][:n], w.row(w.h, r, n))
			}
		}
	}
	if c.stream {
		asm.Fence()
	}
}

// results computes the rows of a group of y from the features.
func (c *cpu) results(w *cpuWorker, group, col, n int) {
	l := c.net.last
	weight, bias := l.value().Host(), l.bias.Value.Host()
	from, to := c.group(group)
	asm.Linear(to-from, n, l.in, weight[from*l.in:], l.in, w.h, w.stride, bias[from:], c.y[from*c.positions+col:], c.positions, c.stream)
}

// strip returns the height of the next strip of rows: strips of equal height,
// give or take one row, at most mr.
func strip(rows, mr int) int { return ceilDiv(rows, ceilDiv(rows, mr)) }

// backward adds to the gradients of the parameters and, unless dx is the zero
// Buffer, writes the gradient of the positions.
func (c *cpu) backward(dy, dx, x tensor.Buffer, positions int) {
	c.x, c.dy, c.dx = x.Host(), dy.Host(), dx.Host()
	c.top = true
	c.divide(positions)
	c.reserve(true)
	c.chain = c.groups == 1
	if c.split.used {
		c.splitWeights(true)
	}
	c.dev.Team().For(c.segments*c.groups, 1, (*cpuBackward)(c))
	if !c.chain {
		c.top, c.chain = false, true
		c.dev.Team().For(c.segments, 1, (*cpuBackward)(c))
	}
	c.gradients(true)
}

// featuresGrad is backward from the gradient df of the features, for the
// parameters of the hidden layers.
func (c *cpu) featuresGrad(df, dx, x tensor.Buffer, positions int) {
	c.x, c.down, c.dx = x.Host(), df.Host(), dx.Host()
	c.top, c.chain = false, true
	c.divide(positions)
	c.reserve(true)
	c.dev.Team().For(c.segments, 1, (*cpuBackward)(c))
	c.gradients(false)
}

// gradients adds the sums of the segments to the gradients of the parameters, with
// those of the last layer where it has a part in the pass.
func (c *cpu) gradients(last bool) {
	c.dev.Team().For(ceilDiv(c.size, pieceValues), 1, (*cpuReduce)(c))
	c.net.hidden.add(c.dev, c.partials[:c.net.hidden.sums()])
	if last {
		c.net.last.add(c.dev, c.partials[c.net.hidden.sums():c.size])
	}
	c.x, c.dy, c.dx, c.partials, c.down = nil, nil, nil, nil, nil
}

// cpuReduce is a cpu as the Task of adding the segments up, in order, into the
// first. Its items are pieces of the parameters.
type cpuReduce cpu

// Do adds up items lo <= i < hi. See tensor.Task.
func (t *cpuReduce) Do(lo, hi, _ int) {
	size := t.size
	from, to := lo*pieceValues, min(hi*pieceValues, size)
	sum := t.partials[from:to]
	for s := 1; s < t.segments; s++ {
		asm.Add(sum, sum, t.partials[s*size+from:s*size+to])
	}
}

// cpuBackward is a cpu as the Task of a backward pass: its items are the
// segments, in the first stage one for each group of rows.
type cpuBackward cpu

// Do computes items lo <= i < hi. See tensor.Task.
func (t *cpuBackward) Do(lo, hi, worker int) {
	c, w := (*cpu)(t), &t.work[worker]
	groups := c.groups
	if !c.top {
		groups = 1
	}
	for i := lo; i < hi; i++ {
		s, g := i/groups, i%groups
		from, to := share(s, c.blocks, c.segments)
		for b := from; b < to; b++ {
			col, n := c.block(b)
			w.h = c.net.hidden.record(c, w, col, n)
			if c.top {
				if c.split.used {
					c.splitTopGrad(w, s, g, col, n, b > from)
				} else {
					c.topGrad(w, s, g, col, n, b > from)
				}
				c.leave(w, g, col, n)
			}
			if c.chain {
				c.chainGrad(w, s, col, n, b > from)
			}
		}
	}
}

// lastSums returns the sums of a segment for the weight [out, width] and the bias
// [out] of the last layer.
func (c *cpu) lastSums(segment int) (weight, bias []float32) {
	return c.net.last.split(c.partials[segment*c.size+c.net.hidden.sums():])
}

// topGrad reads the rows of a group of dy once: it sums the gradients of that
// part of the last layer and leaves W' dy in w.d[0].
func (c *cpu) topGrad(w *cpuWorker, segment, group, col, n int, accumulate bool) {
	l := c.net.last
	weight := l.value().Host()
	dw, db := c.lastSums(segment)
	distance := turn(w.turned, w.h, w.stride, l.in, n)
	mr, _ := asm.GemmTile()
	from, to := c.group(group)
	for row := from; row < to; {
		m := strip(to-row, chunkRows)
		c.take(w, row, m, col, n, db[row:row+m], accumulate)
		for r := 0; r < m; {
			height := strip(m-r, mr)
			asm.GemmPanelsNN(height, l.in, n, w.rows[r*w.stride:], w.stride, w.turned, distance, dw[(row+r)*l.in:], l.in, accumulate)
			r += height
		}
		// What will be taken next.
		ahead := c.dy[min(row+m, to-1)*c.positions+col:]
		if row+m == to {
			ahead = c.dy[from*c.positions+min(col+n, c.positions-1):]
		}
		asm.LinearGrad(l.in, n, m, weight[row*l.in:], l.in, w.rows, w.stride, w.d[0], w.stride, row > from, ahead, c.positions)
		row += m
	}
}

// leave puts what topGrad left in w.d[0] into down, where several groups add to it.
func (c *cpu) leave(w *cpuWorker, group, col, n int) {
	if c.groups == 1 {
		return
	}
	width := c.net.width
	for r := range width {
		at := (group*width+r)*c.positions + col
		copy(c.down[at:at+n], w.d[0][r*w.stride:])
	}
}

// take copies m rows of dy to w.rows, where they lie close together, and sums
// them.
func (c *cpu) take(w *cpuWorker, row, m, col, n int, db []float32, accumulate bool) {
	sums := w.sums[:m]
	asm.CopyRows(w.rows, w.stride, c.dy[row*c.positions+col:], c.positions, m, n, sums)
	if accumulate {
		asm.Add(db, db, sums)
	} else {
		copy(db, sums)
	}
}

func sum(s *float32, x []float32, accumulate bool) {
	v := asm.Sum(x)
	if accumulate {
		v += *s
	}
	*s = v
}

// turn transposes x [rows, n] into panels for asm.GemmPanelsNN and returns their
// distance.
func turn(panels, x []float32, ld, rows, n int) (distance int) {
	_, nr := asm.GemmTile()
	distance = n * nr
	for r := 0; r < rows; r += nr {
		asm.PackCols(panels[r/nr*distance:], x[r*ld:], ld, n, min(nr, rows-r))
	}
	return distance
}

// chainGrad takes the gradient of the features from w.d[0] or down and carries it
// through the hidden layers.
func (c *cpu) chainGrad(w *cpuWorker, segment, col, n int, accumulate bool) {
	if !c.top {
		width := c.net.width
		for r := range width {
			d := w.row(w.d[0], r, n)
			at := r*c.positions + col
			copy(d, c.down[at:at+n])
			for range c.groups - 1 {
				at += width * c.positions
				asm.Add(d, d, c.down[at:at+n])
			}
		}
	}
	c.net.hidden.backward(c, w, c.partials[segment*c.size:(segment+1)*c.size], col, n, accumulate)
}
