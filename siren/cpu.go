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
	blockStep = 32 // a block is a multiple of it: the widest tile
	blockMost = 256

	// blockCost is what a block costs beside its positions, in positions: measured
	// with blocks that are segments of their own.
	blockCost = 64

	// blockStride is the distance of the rows of a block: an odd number of cache
	// lines, so that rows do not fall into the same sets of the first-level cache.
	blockStride = blockMost + 16

	// Gradients of parameters are summed over a segment of neighbouring blocks,
	// then over the segments. A pass of few positions shares out the rows of the
	// last layer as well, in groups.
	segmentsMost = 16
	segmentsFew  = 8
	groupRows    = 256 // at least

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

// cpu runs the passes of a Net on a CPU. Nothing is kept from Forward for
// Backward: a block's hidden layers are evaluated again, which costs a few
// hundredths of the products with the last layer, and needs no memory.
type cpu struct {
	net  *Net
	dev  *tensor.CPU
	work []cpuWorker // one for each thread

	x, y, dy, dx []float32 // operands of the pass, [rows, positions]
	positions    int
	width        int // of a block
	blocks       int
	segments     int
	groups       int
	layers       int  // that get gradients
	top          bool // the pass includes the last layer
	chain        bool // and, backward, the sine layers
	stream       bool // y is larger than the caches

	sums     tensor.Buffer // for a backward pass: partials and down
	partials []float32     // [segments, size] gradients of all parameters
	offsets  []int         // where a layer's begin
	size     int
	down     []float32 // [groups, hidden, positions] gradient of the last sine layer

	split splitLayer // the last layer where split matrices are faster
	back  bool       // its weights are being split for a backward pass
}

// cpuWorker is the memory of one thread. Matrices have rows blockStride apart.
type cpuWorker struct {
	h, slope, z [][]float32 // for each sine layer; z only where its w is learned
	d           [2][]float32
	rows        []float32 // [chunkRows, n] of dy
	sums        [chunkRows]float32
	turned      []float32 // a transposed block in panels, see asm.PackCols
	split       splitWorker
}

// planCPU reserves the buffers of passes on a CPU.
func (n *Net) planCPU(p *nn.Plan, most int) {
	a := p.Arena
	forward, backward := tensor.ForwardOf(a.Layer()), tensor.BackwardOf(a.Layer())
	if p.Inference {
		backward = forward
	}
	a.ReserveFor(&n.f, n.cfg.Hidden*most, &tensor.Lifetime{From: forward, To: backward})
	n.cpu = cpu{net: n, offsets: make([]int, len(n.layers))}
	c := &n.cpu
	if p.Inference {
		c.planSplit(a, &tensor.Lifetime{From: forward, To: forward}, nil)
		return
	}
	c.planSplit(a, &tensor.Lifetime{From: forward, To: forward}, &tensor.Lifetime{From: backward, To: backward})
	c.top, c.layers = true, len(n.layers)
	need := c.divide(most)
	for positions := min(most, segmentsMost*blockMost) / blockStep * blockStep; positions > 0; positions -= blockStep {
		need = max(need, c.divide(positions))
	}
	a.ReserveFor(&c.sums, need, &tensor.Lifetime{From: backward, To: backward})
}

// bind makes the workers and reserves their memory.
func (c *cpu) bind(dev *tensor.CPU) {
	c.dev = dev
	if err := dev.ReserveWorkspace(c.workspace()); err != nil {
		refuse("Net.Bind", "%v", err)
	}
	c.work = make([]cpuWorker, dev.Threads())
	sines := len(c.net.layers) - 1
	for i := range c.work {
		w := &c.work[i]
		w.h, w.slope, w.z = make([][]float32, sines), make([][]float32, sines), make([][]float32, sines)
	}
}

func ceilDiv(x, y int) int { return (x + y - 1) / y }

// share returns part i of n things that are shared out evenly among parts.
func share(i, n, parts int) (from, to int) { return i * n / parts, (i + 1) * n / parts }

// divide chooses blocks, segments and, for the last layer, groups. It returns
// the number of values that a backward pass needs for its sums.
func (c *cpu) divide(positions int) int {
	c.positions = positions
	c.width = blockMost
	if positions < segmentsMost*blockMost {
		// The width with which two halves of the blocks take the least time.
		least := 0
		for width := blockMost; width >= blockStep; width -= blockStep {
			if half := ceilDiv(ceilDiv(positions, width), 2) * (width + blockCost); least == 0 || half < least {
				least, c.width = half, width
			}
		}
	}
	c.blocks = ceilDiv(positions, c.width)

	c.size = 0
	for i, l := range c.net.layers[:c.layers] {
		c.offsets[i] = c.size
		c.size += (l.out*l.in + l.out + 1 + 15) &^ 15
	}
	c.segments = min(segmentsMost, c.blocks, max(2, partialValues/max(1, c.size)))
	if c.split.used {
		// The sums of a segment take a good part of the time of a block.
		c.segments = min(c.segments, max(segmentsFew, c.blocks/2))
	}

	c.groups = 1
	if c.top && c.segments < segmentsFew {
		c.groups = max(1, min(ceilDiv(segmentsMost, c.segments), c.net.cfg.Out/groupRows))
	}
	need := c.segments * c.size
	if c.groups > 1 {
		need += c.groups * c.net.cfg.Hidden * positions
	}
	return need
}

// group returns the rows of the last layer that belong to a group.
func (c *cpu) group(i int) (from, to int) {
	out := c.net.cfg.Out
	if !c.split.used {
		return share(i, out, c.groups)
	}
	from, to = share(i, ceilDiv(out, splitRows), c.groups)
	return from * splitRows, min(out, to*splitRows)
}

// block returns where block b begins and its number of positions.
func (c *cpu) block(b int) (col, n int) {
	col = b * c.width
	return col, min(c.width, c.positions-col)
}

// workspace returns how many values a worker needs.
func (c *cpu) workspace() int {
	each := c.matrices()*c.net.cfg.Hidden*blockStride + c.splitWorkspace(!c.net.inference)
	if c.net.inference {
		return each
	}
	if !c.split.used {
		each += chunkRows * blockStride
	}
	return each + c.panels()
}

// matrices returns the number of matrices [Hidden, block] among them.
func (c *cpu) matrices() int {
	sines := len(c.net.layers) - 1
	if c.net.inference {
		return sines
	}
	return 3*sines + 2
}

// panels returns the number of values that hold a transposed block, the last
// panel filled up to the width of any level's tile.
func (c *cpu) panels() int {
	return (max(c.net.cfg.Hidden, c.net.cfg.In) + blockStep) * blockMost
}

// reserve hands out the memory of the workers and of the sums.
func (c *cpu) reserve(backward bool) {
	matrix := c.net.cfg.Hidden * blockStride
	for i := range c.work {
		w, m := &c.work[i], c.dev.Workspace(i)
		take := func(n int) []float32 {
			x := m[:n:n]
			m = m[n:]
			return x
		}
		for l := range w.h {
			w.h[l] = take(matrix)
			if backward {
				w.slope[l], w.z[l] = take(matrix), take(matrix)
			}
		}
		if backward {
			w.d[0], w.d[1] = take(matrix), take(matrix)
			w.turned = take(c.panels())
			if !c.split.used {
				w.rows = take(chunkRows * blockStride)
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

// features writes the last sine layer at positions x to f.
func (c *cpu) features(f, x tensor.Buffer, positions int) {
	c.top = false
	c.evaluate(f, x, positions)
}

func (c *cpu) evaluate(y, x tensor.Buffer, positions int) {
	c.x, c.y = x.Host(), y.Host()
	c.layers = 0
	c.divide(positions)
	c.stream = c.net.cfg.Out*positions >= streamValues
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
		c.sines(w, col, n)
		h := w.h[len(w.h)-1]
		switch {
		case c.top && c.split.used:
			c.splitResults(w, i%c.groups, col, n)
		case c.top:
			c.results(h, i%c.groups, col, n)
		default:
			for r := range c.net.cfg.Hidden {
				copy(c.y[r*c.positions+col:][:n], h[r*blockStride:])
			}
		}
	}
	if c.stream {
		asm.Fence()
	}
}

// results computes the rows of a group of y from the last sine layer.
func (c *cpu) results(h []float32, group, col, n int) {
	l := c.net.layers[len(c.net.layers)-1]
	weight, bias := l.value().Host(), l.bias.Value.Host()
	from, to := c.group(group)
	asm.Linear(to-from, n, l.in, weight[from*l.in:], l.in, h, blockStride, bias[from:], c.y[from*c.positions+col:], c.positions, c.stream)
}

// strip returns the height of the next strip of rows: strips of equal height,
// give or take one row, at most mr.
func strip(rows, mr int) int { return ceilDiv(rows, ceilDiv(rows, mr)) }

// multiply computes z = W_i h_{i-1} of a block, with h_{-1} = x.
func (c *cpu) multiply(z []float32, i int, w *cpuWorker, col, n int) {
	l := c.net.layers[i]
	in, ld := c.x[col:], c.positions
	if i > 0 {
		in, ld = w.h[i-1], blockStride
	}
	mr, _ := asm.GemmTile()
	for row := 0; row < l.out; {
		m := strip(l.out-row, mr)
		asm.GemmStripNN(m, n, l.in, l.value().Host()[row*l.in:], l.in, in, ld, z[row*blockStride:], blockStride, false)
		row += m
	}
}

// sines evaluates the hidden layers at the n positions from col on.
func (c *cpu) sines(w *cpuWorker, col, n int) {
	for i, h := range w.h {
		l := c.net.layers[i]
		c.multiply(h, i, w, col, n)
		for r, b := range l.bias.Value.Host()[:l.out] {
			v := h[r*blockStride : r*blockStride+n]
			asm.SinAffine(v, v, l.w, l.w*b)
		}
	}
}

// sinesAndSlopes is sines with the derivatives and, where w is learned, z.
func (c *cpu) sinesAndSlopes(w *cpuWorker, col, n int) {
	for i, h := range w.h {
		l := c.net.layers[i]
		z := w.z[i]
		c.multiply(z, i, w, col, n)
		for r, b := range l.bias.Value.Host()[:l.out] {
			from, to := r*blockStride, r*blockStride+n
			asm.SinCosAffine(h[from:to], w.slope[i][from:to], z[from:to], l.w, l.w*b)
			if l.learned() {
				asm.Affine(z[from:to], z[from:to], 1, b)
			}
		}
	}
}

// backward adds to the gradients of the parameters and, unless dx is the zero
// Buffer, writes the gradient of the positions.
func (c *cpu) backward(dy, dx, x tensor.Buffer, positions int) {
	c.x, c.dy, c.dx = x.Host(), dy.Host(), dx.Host()
	c.top, c.layers = true, len(c.net.layers)
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
	c.gradients()
}

// featuresGrad is backward from the gradient df of the last sine layer, for the
// parameters of the sine layers.
func (c *cpu) featuresGrad(df, dx, x tensor.Buffer, positions int) {
	c.x, c.down, c.dx = x.Host(), df.Host(), dx.Host()
	c.top, c.chain, c.layers = false, true, len(c.net.layers)-1
	c.divide(positions)
	c.reserve(true)
	c.dev.Team().For(c.segments, 1, (*cpuBackward)(c))
	c.gradients()
}

// gradients adds the sums of the segments to the gradients of the parameters.
func (c *cpu) gradients() {
	c.dev.Team().For(ceilDiv(c.size, pieceValues), 1, (*cpuReduce)(c))
	for i, l := range c.net.layers[:c.layers] {
		sum := c.partials[c.offsets[i]:]
		n := l.out * l.in
		if l.norm != nil {
			copy(l.norm.grad.Host(), sum[:n])
			l.norm.backward(c.dev)
		} else {
			add(l.weight.Grad, sum[:n])
		}
		add(l.bias.Grad, sum[n:n+l.out])
		if l.omega != nil && l.learned() {
			scale := float32(1)
			if l.w != 0 {
				scale = 1 / l.w
			}
			l.omega.Grad.Host()[0] += scale * sum[n+l.out]
		}
	}
	c.x, c.dy, c.dx, c.partials, c.down = nil, nil, nil, nil, nil
}

func add(grad tensor.Buffer, x []float32) {
	g := grad.Host()[:len(x)]
	asm.Add(g, g, x)
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
			c.sinesAndSlopes(w, col, n)
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

// parameters returns the sums of a segment for layer i: of the weight [out, in],
// the bias [out] and the frequency [1].
func (c *cpu) parameters(segment, i int) (weight, bias, omega []float32) {
	l := c.net.layers[i]
	x := c.partials[segment*c.size+c.offsets[i]:]
	n := l.out * l.in
	return x[:n], x[n : n+l.out], x[n+l.out : n+l.out+1]
}

// topGrad reads the rows of a group of dy once: it sums the gradients of that
// part of the last layer and leaves W' dy in w.d[0].
func (c *cpu) topGrad(w *cpuWorker, segment, group, col, n int, accumulate bool) {
	i := len(c.net.layers) - 1
	l := c.net.layers[i]
	weight := l.value().Host()
	dw, db, _ := c.parameters(segment, i)
	distance := turn(w.turned, w.h[i-1], blockStride, l.in, n)
	mr, _ := asm.GemmTile()
	from, to := c.group(group)
	for row := from; row < to; {
		m := strip(to-row, chunkRows)
		c.take(w, row, m, col, n, db[row:row+m], accumulate)
		for r := 0; r < m; {
			height := strip(m-r, mr)
			asm.GemmPanelsNN(height, l.in, n, w.rows[r*blockStride:], blockStride, w.turned, distance, dw[(row+r)*l.in:], l.in, accumulate)
			r += height
		}
		// What will be taken next.
		ahead := c.dy[min(row+m, to-1)*c.positions+col:]
		if row+m == to {
			ahead = c.dy[from*c.positions+min(col+n, c.positions-1):]
		}
		asm.LinearGrad(l.in, n, m, weight[row*l.in:], l.in, w.rows, blockStride, w.d[0], blockStride, row > from, ahead, c.positions)
		row += m
	}
}

// leave puts what topGrad left in w.d[0] into down, where several groups add to it.
func (c *cpu) leave(w *cpuWorker, group, col, n int) {
	if c.groups == 1 {
		return
	}
	hidden := c.net.cfg.Hidden
	for r := range hidden {
		at := (group*hidden+r)*c.positions + col
		copy(c.down[at:at+n], w.d[0][r*blockStride:])
	}
}

// take copies m rows of dy to w.rows, where they lie close together, and sums
// them.
func (c *cpu) take(w *cpuWorker, row, m, col, n int, db []float32, accumulate bool) {
	sums := w.sums[:m]
	asm.CopyRows(w.rows, blockStride, c.dy[row*c.positions+col:], c.positions, m, n, sums)
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

// chainGrad takes the gradient of the last hidden layer from w.d[0] or down and
// carries it through the sine layers.
func (c *cpu) chainGrad(w *cpuWorker, segment, col, n int, accumulate bool) {
	i := len(w.h) - 1
	if !c.top {
		hidden := c.net.layers[i].out
		for r := range hidden {
			d := w.d[0][r*blockStride:][:n]
			at := r*c.positions + col
			copy(d, c.down[at:at+n])
			for range c.groups - 1 {
				at += hidden * c.positions
				asm.Add(d, d, c.down[at:at+n])
			}
		}
	}
	for spare := 1; i >= 0; i-- {
		l := c.net.layers[i]
		d := w.d[1-spare]
		dw, db, dOmega := c.parameters(segment, i)
		omega := float32(0)
		for r := range l.out {
			from, to := r*blockStride, r*blockStride+n
			dz := d[from:to]
			// The gradient of w is sum dh cos(w z) z = (sum dz z)/w; where w is
			// zero, the cosine is one and dz would not show it.
			if l.learned() && l.w == 0 {
				omega += asm.Dot(dz, w.z[i][from:to])
			}
			asm.Mul(dz, dz, w.slope[i][from:to])
			if l.learned() && l.w != 0 {
				omega += asm.Dot(dz, w.z[i][from:to])
			}
			sum(&db[r], dz, accumulate)
		}
		if accumulate {
			omega += dOmega[0]
		}
		dOmega[0] = omega

		in, ld := c.x[col:], c.positions
		if i > 0 {
			in, ld = w.h[i-1], blockStride
		}
		if mr, _ := asm.DotTile(); l.in <= dotsMost && mr > 0 {
			for row := 0; row < l.out; row += mr {
				asm.GemmDots(min(mr, l.out-row), l.in, n, d[row*blockStride:], blockStride, in, ld, dw[row*l.in:], l.in, accumulate)
			}
		} else {
			distance := turn(w.turned, in, ld, l.in, n)
			mr, _ := asm.GemmTile()
			for row := 0; row < l.out; {
				m := strip(l.out-row, mr)
				asm.GemmPanelsNN(m, l.in, n, d[row*blockStride:], blockStride, w.turned, distance, dw[row*l.in:], l.in, accumulate)
				row += m
			}
		}
		if i > 0 {
			asm.LinearGrad(l.in, n, l.out, l.value().Host(), l.in, d, blockStride, w.d[spare], blockStride, false, nil, 0)
			spare = 1 - spare
		} else if c.dx != nil {
			asm.LinearGrad(l.in, n, l.out, l.value().Host(), l.in, d, blockStride, c.dx[col:], c.positions, false, nil, 0)
		}
	}
}
