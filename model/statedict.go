package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/noether-go/noether/internal/safetensors"
	"github.com/noether-go/noether/nn"
)

// A state dictionary of the published program has, besides what a checkpoint holds,
// buffers that mean nothing here: for every convolution the number of draws of its
// sampler, and for every group convolution that learns no subset the values that it
// would start from.
const (
	drawsBuffer   = ".group.gumbel_iter_counter"
	subsetBuffer  = ".probs"
	keepTensor    = ".keep" // of a checkpoint: part of the former in a state dictionary
	kernelNetPart = ".kernelnet."
	// parallelPrefix stands before all names in what torch.nn.DataParallel saves.
	parallelPrefix = "module."
)

// SaveStateDict writes the parameters and buffers as the state dictionary of the
// published PyTorch program, in a safetensors file: all names, shapes and types that
// Module.load_state_dict expects of a network of this configuration. The file is
// replaced as a whole or not at all; values that are no numbers, and variances below 0, are refused.
func (net *Network) SaveStateDict(path string) error {
	if net.plan != nil {
		net.params.Download()
	}
	return writeUsable(path, append(net.joined(), net.foreignBuffers()...), map[string]string{formatKey: "pt"})
}

// joined returns the tensors of a checkpoint, with all that a layer has learned of its
// subset in one, as the published program has it.
func (net *Network) joined() []safetensors.Tensor {
	list := net.tensors()
	find := func(name string) int {
		return slices.IndexFunc(list, func(t safetensors.Tensor) bool { return t.Name == name })
	}
	for _, s := range net.samplers {
		keep := find(s.layer + keepTensor)
		if keep < 0 {
			continue
		}
		t := list[keep]
		if sizes := find(s.layer + subsetBuffer); sizes >= 0 {
			t.F32 = slices.Concat(list[sizes].F32, t.F32)
			list = slices.Delete(list, sizes, sizes+1)
			keep = find(t.Name)
		}
		t.Name, t.Shape = s.layer+subsetBuffer, []int{len(t.F32)}
		list[keep] = t
	}
	return list
}

// separate is the reverse of joined.
func (d *stateDict) separate(net *Network) {
	for _, s := range net.samplers {
		keep, sizes := net.params.Lookup(s.layer+keepTensor), net.params.Lookup(s.layer+subsetBuffer)
		t := d.tensors[s.layer+subsetBuffer]
		if keep == nil || t == nil || len(t.F32) != s.Variables() || len(squeeze(t.Shape)) > 1 {
			continue // take reports what does not fit
		}
		delete(d.tensors, s.layer+subsetBuffer)
		n := len(t.F32) - len(keep.Host)
		if sizes != nil {
			d.tensors[sizes.Name] = &safetensors.Tensor{Name: sizes.Name, Shape: sizes.Shape, F32: t.F32[:n]}
		}
		d.tensors[keep.Name] = &safetensors.Tensor{Name: keep.Name, Shape: keep.Shape, F32: t.F32[n:]}
	}
}

// foreignBuffers returns the buffers of the state dictionary that the network does
// not have itself.
func (net *Network) foreignBuffers() []safetensors.Tensor {
	var list []safetensors.Tensor
	add := func(name string, shape []int, value float32) {
		if net.params.Lookup(name) == nil {
			n := 1
			for _, d := range shape {
				n *= d
			}
			list = append(list, safetensors.Tensor{Name: name, Shape: shape, F32: slices.Repeat([]float32{value}, n)})
		}
	}
	last := ""
	for _, p := range net.params.All() {
		if layer, _, ok := strings.Cut(p.Name, kernelNetPart); ok && layer != last {
			add(layer+drawsBuffer, []int{1}, 0)
			last = layer
		}
	}
	for _, s := range net.samplers[1:] { // the lifting never learns a subset
		if net.params.Lookup(s.layer+keepTensor) == nil {
			add(s.layer+subsetBuffer, []int{s.Variables()}, 1)
		}
	}
	if net.cfg.LastT2 {
		add(lastConvolution+subsetBuffer, []int{net.samplers[1].Variables()}, 1)
	}
	return list
}

// LoadStateDict takes the parameters and running statistics from a safetensors file
// with the state dictionary of a network of the same configuration, made by
// SaveStateDict or from PyTorch. Axes of length one in shapes do not matter, nor
// does the prefix that torch.nn.DataParallel puts before names. What subsets learn is brought into its range
// (ClampSubsets). A checkpoint that Save wrote
// must be one of the same configuration too, but for the seed. The network must not
// be bound; it is left as it was where there is an error, which says which tensor
// does not fit and what to do.
func (net *Network) LoadStateDict(path string) error {
	if net.plan != nil {
		panic(&nn.Error{Op: "Network.LoadStateDict", Problem: "bound to a device; call Release first"})
	}
	file, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	if err := notState(path, file); err != nil {
		return err
	}
	if _, ok := file.Metadata[networkKey]; ok { // a checkpoint, which says what network it is of
		var description networkJSON
		if err := decode(file, networkKey, &description); err != nil {
			return fmt.Errorf("model: %s: the description of the network %w", path, err)
		}
		if what := otherNetwork(description, net.cfg.describe()); what != "" {
			return fmt.Errorf("model: %s is a checkpoint of another network: %s; what SaveStateDict writes does not say", path, what)
		}
	}
	from := stateDict{path, map[string]*safetensors.Tensor{}}
	prefix := parallelPrefix
	for _, t := range file.Tensors {
		if !strings.HasPrefix(t.Name, prefix) {
			prefix = ""
		}
	}
	for i := range file.Tensors {
		t := &file.Tensors[i]
		from.tensors[strings.TrimPrefix(t.Name, prefix)] = t
	}
	from.separate(net)
	values := make([][]float32, len(net.params.All()))
	for i, p := range net.params.All() {
		if values[i], err = from.take(p); err != nil {
			return err
		}
	}
	if err := from.takeForeign(net.foreignBuffers()); err != nil {
		return err
	}
	for i, p := range net.params.All() {
		copy(p.Host, values[i])
	}
	net.ClampSubsets() // the published program lets sizes leave what they may be here
	return nil
}

// stateDict is what is left of a file.
type stateDict struct {
	path    string
	tensors map[string]*safetensors.Tensor
}

func (d *stateDict) errorf(format string, args ...any) error {
	return fmt.Errorf("model: %s: %s", d.path, fmt.Sprintf(format, args...))
}

// take returns the values of a parameter. A statistic or constant that is missing
// keeps its initial value, except what normalisation needs.
func (d *stateDict) take(p *nn.Parameter) ([]float32, error) {
	t := d.tensors[p.Name]
	delete(d.tensors, p.Name)
	switch {
	case t == nil && (isCount(p) || p.Class == nn.Constant || strings.HasSuffix(p.Name, drawsBuffer)):
		return p.Host, nil
	case t == nil:
		return nil, d.errorf("tensor %q is missing; the configuration is of another network", p.Name)
	case !slices.Equal(squeeze(t.Shape), squeeze(p.Shape)):
		return nil, d.errorf("tensor %q has shape %v, this configuration needs %v", p.Name, t.Shape, p.Shape)
	case isCount(p) && t.I64 != nil:
		return []float32{float32(t.I64[0])}, nil
	case t.F32 == nil:
		return nil, d.errorf("tensor %q holds integers, this configuration needs float32", p.Name)
	}
	if i := unusable(p.Name, t.F32); i >= 0 {
		return nil, d.errorf("value %d of tensor %q is %v; %s", i, p.Name, t.F32[i], usable)
	}
	if p.Class == nn.Constant && !slices.Equal(t.F32, p.Host) {
		return nil, d.errorf("tensor %q is %v, by this configuration it is %v", p.Name, t.F32, p.Host)
	}
	return t.F32, nil
}

// takeForeign takes the buffers that mean nothing here, and reports what is left
// after that.
func (d *stateDict) takeForeign(buffers []safetensors.Tensor) error {
	for _, b := range buffers {
		t := d.tensors[b.Name]
		delete(d.tensors, b.Name)
		if t != nil && strings.HasSuffix(b.Name, subsetBuffer) && slices.ContainsFunc(t.F32, func(v float32) bool { return v != 1 }) {
			return d.errorf("tensor %q is %v: that network learned its subsets, this configuration (Partial is false) does not", b.Name, t.F32)
		}
	}
	if len(d.tensors) == 0 {
		return nil
	}
	var names []string
	for name := range d.tensors {
		names = append(names, name)
	}
	return d.errorf("tensor %q does not belong to a network of this configuration", slices.Min(names))
}

// squeeze leaves axes of length one out of a shape.
func squeeze(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(n int) bool { return n == 1 })
}
