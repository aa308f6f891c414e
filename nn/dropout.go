package nn

import "github.com/noether-go/noether/tensor"

// Dropout leaves out whole channels of single samples in training, each with
// probability P, and scales the others by 1/(1-P), so that the mean stays
// (Srivastava et al. 2014; by channels, Tompson et al. 2015). In evaluation it is
// the identity.
type Dropout struct {
	lifecycle
	p     float64
	in    *Map
	mask  tensor.Buffer // [C, B]: 0 or 1/(1-P)
	host  []float32     // the same on the host, none for inference
	tile  tensor.Buffer // one channel of in: its row of mask, repeated
	drawn bool          // since the last Plan
}

// NewDropout returns the layer; p is a probability below 1.
func NewDropout(name string, p float64) (*Dropout, error) {
	if !(p >= 0 && p < 1) {
		return nil, &ConfigError{Layer: name, Field: "probability", Value: p, Allowed: "0 to below 1"}
	}
	return &Dropout{p: p}, nil
}

// Parameters returns nil.
func (l *Dropout) Parameters() []*Parameter { return nil }

// Plan reserves the output map and the mask; for inference, it returns a map with the
// memory of in. No layer planned later overwrites in.
func (l *Dropout) Plan(p *Plan, in *Map) *Map {
	checkPlan("Dropout.Plan", p, in)
	in.hold()
	l.in, l.host, l.drawn = in, nil, false
	if p.Inference && in.memory != nil && in.memory.arena == p.Arena {
		return l.planned(p, p.alias(in))
	}
	l.planned(p, p.Like(in, in.C, in.H, in.W))
	if !p.Inference {
		p.Arena.Reserve(&l.mask, in.C*in.B)
		p.Arena.Share(&l.tile, in.MaxN*in.H*in.W*in.B)
	}
	return l.out
}

// Bind sets the device.
func (l *Dropout) Bind(dev tensor.Device) {
	l.bind("Dropout", dev)
	if !l.inference {
		l.host = make([]float32, l.in.C*l.in.B) // not in Plan: a batch too large is for the arena to refuse
	}
}

// Draw decides what the next Forward(true) leaves out, by C*B numbers of src in
// the order [C, B], each uniform in [0, 1). There is no Backward before that pass: what
// the pass before left out is gone. Draw follows Bind and allocates nothing.
func (l *Dropout) Draw(src interface{ Float64() float64 }) {
	if l.inference {
		refuse("Dropout.Draw", "planned for inference, which leaves nothing out")
	}
	l.ready("Dropout", ".Draw")
	scale := float32(1 / (1 - l.p))
	for i := range l.host {
		l.host[i] = scale
		if src.Float64() < l.p {
			l.host[i] = 0
		}
	}
	l.dev.Upload(l.mask, l.host)
	l.drawn, l.trained = true, false
}

// Forward computes y[c, :, b] = mask[c, b]*x[c, :, b], with the mask drawn last. With
// train, it panics with *Error where none was drawn.
func (l *Dropout) Forward(train bool) {
	l.forward("Dropout", train)
	l.out.Written(l.in.N)
	switch {
	case l.out.shares(l.in):
		return
	case !train:
		l.dev.Copy(l.out.Live(), l.in.Live())
		return
	case !l.drawn:
		refuse("Dropout.Forward", "nothing was drawn to leave out in training; call Draw before Forward(true)")
	}
	x, y := l.in.Live(), l.out.Live()
	for c := range l.in.C {
		l.dev.Mul(l.channel(y, c), l.channel(x, c), l.repeat(c))
	}
}

// Backward computes dx[c, :, b] = mask[c, b]*dy[c, :, b].
func (l *Dropout) Backward() {
	l.backward("Dropout")
	dx, dy := l.in.LiveGrad(), l.out.LiveGrad()
	add := l.in.Accumulate()
	for c := range l.in.C {
		tile, to := l.repeat(c), l.channel(dx, c)
		if add {
			l.dev.Mul(tile, tile, l.channel(dy, c))
			l.dev.Add(to, to, tile)
		} else {
			l.dev.Mul(to, l.channel(dy, c), tile)
		}
	}
}

// channel returns the live values of one channel of x.
func (l *Dropout) channel(x tensor.Buffer, c int) tensor.Buffer {
	size := l.in.PerChannel()
	return x.Slice(c*size, (c+1)*size)
}

// repeat fills the tile with the mask of a channel, doubling what is there.
func (l *Dropout) repeat(c int) tensor.Buffer {
	b, size := l.in.B, l.in.PerChannel()
	l.dev.Copy(l.tile.Slice(0, b), l.mask.Slice(c*b, (c+1)*b))
	for n := b; n < size; n *= 2 {
		m := min(n, size-n)
		l.dev.Copy(l.tile.Slice(n, n+m), l.tile.Slice(0, m))
	}
	return l.tile.Slice(0, size)
}
