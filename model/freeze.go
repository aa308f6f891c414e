package model

import (
	"fmt"
	"slices"
	"sync"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// FreezeConfig describes a frozen network.
type FreezeConfig struct {
	Batch   int // images that one pass takes; 0: 16
	Threads int // CPU threads of one prediction; 0: 1
	// KeepSpectra keeps the spectra of kernels that are multiplied in the frequency domain,
	// rather than make them anew for each batch. Logits are the same. It takes about ten times
	// the memory of those kernels for each prediction that runs at the same time as others, and
	// reading that can take longer than making it: see BenchmarkKeptSpectra of package bench.
	KeepSpectra bool
}

// Frozen is a network for predictions: its elements stand in the middle of their
// strata, its kernels are rendered once, and it draws nothing. It is safe for
// concurrent use: predictions that run at the same time have buffers of their
// own, which are kept for later ones.
type Frozen struct {
	weights *Network    // on the host, never bound
	of      networkJSON // the network that was frozen
	cfg     FreezeConfig
	pixels  int

	mu     sync.Mutex
	idle   []*executor
	closed bool
}

// executor is a bound copy of the network with rendered kernels.
type executor struct {
	net *Network
	dev tensor.Device
}

// rendered is a layer whose kernel can be rendered ahead of the convolution.
type rendered interface {
	Render()
	Convolve()
}

// Freeze makes a frozen copy of the network as it is now. Close it when done.
func (net *Network) Freeze(cfg FreezeConfig) (*Frozen, error) {
	orDefault(&cfg.Batch, 16)
	orDefault(&cfg.Threads, 1)
	if cfg.Batch < 1 || cfg.Batch > maxBatch {
		return nil, &ConfigError{"FreezeConfig.Batch", cfg.Batch, fmt.Sprintf("1 to %d, or 0 for 16", maxBatch)}
	}
	if cfg.Threads < 1 {
		return nil, &ConfigError{"FreezeConfig.Threads", cfg.Threads, "1 or more, or 0 for 1"}
	}
	if net.plan != nil {
		net.params.Download()
	}
	for _, p := range net.params.All() {
		if !slices.ContainsFunc(p.Host, func(v float32) bool { return !finite(float64(v)) }) {
			continue
		}
		return nil, fmt.Errorf("model: Network.Freeze: %s has values that are no numbers; training diverged, or the parameters were spoilt", p.Name)
	}
	weights, err := net.clone()
	if err != nil {
		return nil, err
	}
	weights.cfg.PerElement = false // the elements in the middle are the same for all images
	f := &Frozen{weights: weights, of: net.cfg.describe(), cfg: cfg, pixels: net.cfg.pixels()}
	e, err := f.newExecutor(f.cfg) // so that what can fail fails here
	if err != nil {
		return nil, err
	}
	f.idle = append(f.idle, e)
	return f, nil
}

// clone returns an unbound network with the same parameters on the host.
func (net *Network) clone() (*Network, error) {
	twin, err := newNetwork(net.cfg, net.most)
	if err != nil {
		return nil, err
	}
	for i, p := range net.params.All() {
		copy(twin.params.All()[i].Host, p.Host)
	}
	return twin, nil
}

func (f *Frozen) newExecutor(cfg FreezeConfig) (*executor, error) {
	net, err := f.weights.clone()
	if err != nil {
		return nil, err
	}
	dev, err := tensor.NewCPU(cfg.Threads)
	if err != nil {
		return nil, err
	}
	if err := net.bind(dev, nn.Plan{Batch: cfg.Batch, Inference: true, KeepDerived: cfg.KeepSpectra}); err != nil {
		dev.Close()
		return nil, err
	}
	net.Midpoints()
	for _, l := range net.plan.layers {
		if r, ok := l.(rendered); ok {
			r.Render()
		}
	}
	return &executor{net, dev}, nil
}

func (e *executor) close() {
	e.net.Release()
	e.dev.Close()
}

// Predict returns the logits [B, classes] of images [B, C, H, W], normalised as
// those the network was trained on (data.Dataset.Batch). B may be any number
// from 1.
func (f *Frozen) Predict(images []float32) ([]float32, error) {
	if len(images) == 0 || len(images)%f.pixels != 0 {
		c := f.weights.cfg
		return nil, fmt.Errorf("model: Predict: %d values are not a whole number of images of %d x %d x %d",
			len(images), c.Channels, c.Side, c.Side)
	}
	e, err := f.take()
	if err != nil {
		return nil, err
	}
	defer f.put(e)
	classes := f.weights.cfg.Classes
	logits := make([]float32, 0, len(images)/f.pixels*classes)
	batch := make([]float32, classes*f.cfg.Batch)
	for part := range slices.Chunk(images, f.cfg.Batch*f.pixels) {
		e.forward(part)
		e.dev.Download(batch, e.net.plan.logits.Live())
		for i := range len(part) / f.pixels {
			for k := range classes {
				logits = append(logits, batch[k*f.cfg.Batch+i])
			}
		}
	}
	return logits, e.dev.Sync()
}

// forward computes the logits of at most one batch with the rendered kernels.
func (e *executor) forward(images []float32) {
	e.net.upload(images)
	for _, l := range e.net.plan.layers {
		if r, ok := l.(rendered); ok {
			r.Convolve()
		} else {
			l.Forward(false)
		}
	}
}

func (f *Frozen) take() (*executor, error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, fmt.Errorf("model: Predict: the network was closed")
	}
	if n := len(f.idle); n > 0 {
		e := f.idle[n-1]
		f.idle = f.idle[:n-1]
		f.mu.Unlock()
		return e, nil
	}
	f.mu.Unlock()
	return f.newExecutor(f.cfg)
}

func (f *Frozen) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *Frozen) put(e *executor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		e.close()
		return
	}
	f.idle = append(f.idle, e)
}

// Close frees the buffers. Predictions under way end undisturbed; later ones
// return an error.
func (f *Frozen) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, e := range f.idle {
		e.close()
	}
	f.idle = nil
}
