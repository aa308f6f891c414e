package conv

import "fmt"

// Dense is a layer at given elements as an ordinary convolution, from maps
// [B, In*NIn, H, W] to maps [B, Out*NOut, H', W']: element j of channel c is channel
// c*NIn + j of its input, and so for its output.
type Dense struct {
	Name      string
	In, NIn   int
	Out, NOut int
	Side      int
	Padding   Padding
	Depthwise bool      // each channel of the output is of the one of the same number of the input
	Weight    []float32 // [Out*NOut, In*NIn, Side, Side], or [Out*NOut, 1, Side, Side] with Depthwise, row-major; zero outside of the disc
	Bias      []float32 // [Out*NOut]; zeros for a layer without
}

// Dense renders the layer at the present elements, the weights of its input elements
// included. It leaves what Render prepared as it is, but Backward may not follow
// without another Forward. Layers with a list of elements for each image are none of
// one ordinary convolution, and refused. The error is the device's.
func (l *layer) Dense() (*Dense, error) {
	l.bound("Dense")
	if l.outEl.Lists() > 1 {
		refuse("Dense", "%s has a list of elements for each image", l.cfg.Name)
	}
	l.checkLive("Dense")
	l.evaluated = true
	u, _ := live(l.outEl)
	v, _ := live(l.inEl)
	k := l.cfg.Side
	d := &Dense{Name: l.cfg.Name, In: l.cfg.In, NIn: 1, Out: l.cfg.Out, NOut: len(u), Side: k, Padding: l.cfg.Padding}
	if l.inEl != nil {
		d.NIn = len(v)
	}
	taps := l.coords.taps
	positions := d.NOut * d.NIn * len(taps)
	kernel := make([]float32, d.Out*d.In*positions)
	if err := l.evaluate(kernel, positions); err != nil {
		return nil, fmt.Errorf("conv: %s: %w", l.cfg.Name, err)
	}
	d.Weight = make([]float32, d.Out*d.NOut*d.In*d.NIn*k*k)
	for row := range d.Out * d.In {
		o, c := row/d.In, row%d.In
		for i := range d.NOut {
			for j := range d.NIn {
				weight := float32(1)
				if l.inEl != nil && l.inEl.Weight != nil {
					weight = float32(l.inEl.Weight[j])
				}
				from := kernel[row*positions+(i*d.NIn+j)*len(taps):]
				to := d.Weight[((o*d.NOut+i)*d.In*d.NIn+c*d.NIn+j)*k*k:]
				for t, tap := range taps {
					to[(tap.Row+k/2)*k+tap.Col+k/2] = weight * from[t]
				}
			}
		}
	}
	d.Bias = make([]float32, d.Out*d.NOut)
	if l.bias != nil {
		values := make([]float32, d.Out)
		l.dev.Download(values, l.bias.Value)
		for n := range d.Bias {
			d.Bias[n] = values[n/d.NOut]
		}
	}
	if l.depthwise {
		d.In, d.NIn, d.Depthwise = d.Out, d.NOut, true
	}
	return d, l.dev.Sync()
}

// evaluate writes the kernel at the present elements, [Out*In, positions].
func (l *layer) evaluate(kernel []float32, positions int) error {
	x, err := l.dev.Alloc(l.coords.rows() * positions)
	if err != nil {
		return err
	}
	defer l.dev.Free(x)
	y, err := l.dev.Alloc(len(kernel))
	if err != nil {
		return err
	}
	defer l.dev.Free(y)
	u, _ := live(l.outEl)
	v, _ := live(l.inEl)
	host, nIn := make([]float32, x.Len()), 1
	if l.inEl != nil {
		nIn = len(v)
	}
	l.coords.write(host, u, v, nIn, 1)
	l.dev.Upload(x, host)
	l.net.Forward(y, x, positions)
	l.dev.Download(kernel, y)
	if l.window != nil {
		weights := make([]float32, positions)
		l.window.write(weights, u, nIn, l.coords.taps)
		for i := range kernel {
			kernel[i] *= weights[i%positions]
		}
	}
	return nil
}
