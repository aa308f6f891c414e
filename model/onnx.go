package model

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/internal/onnx"
	"github.com/noether-go/noether/nn"
)

// Names of the input and the output of an ONNX graph, and of their dimension that
// is not fixed.
const (
	onnxInput  = "images"
	onnxOutput = "logits"
	onnxBatch  = "batch"
)

// ONNXConfig describes an ONNX file.
type ONNXConfig struct {
	// Mean and Std of each channel, as a data.Dataset has them: the network then takes
	// pixels from 0 to 1 and normalises them itself. nil: it takes normalised images, as
	// Predict does.
	Mean, Std []float32
}

// SaveONNX writes the frozen network as an ONNX file (operator set 13) that takes
// "images" [batch, C, H, W] float32 and makes "logits" [batch, classes], those of
// Predict up to rounding. Its convolutions are ordinary ones: the kernels are
// rendered at the frozen elements, of which element j of channel c is channel c*n + j.
// The metadata "noether.network" describes the network as a checkpoint does.
//
// The file is replaced as a whole or not at all. It may hold 2 GiB; larger networks
// are an error, and so are those with a layer that has no such form.
func (f *Frozen) SaveONNX(path string, cfg ONNXConfig) error {
	if err := cfg.check(f.weights.cfg.Channels); err != nil {
		return err
	}
	graph, err := f.onnxGraph(cfg, onnx.MaxSize)
	if err != nil {
		return err
	}
	description, err := json.Marshal(f.of)
	if err != nil {
		return fmt.Errorf("model: describing the network: %w", err)
	}
	m := onnx.Model{Producer: "noether", Metadata: map[string]string{networkKey: string(description)}, Graph: *graph}
	return m.WriteFile(path)
}

func (c ONNXConfig) check(channels int) error {
	if c.Mean == nil && c.Std == nil {
		return nil
	}
	for _, f := range []struct {
		field  string
		values []float32
		above  float64
	}{{"ONNXConfig.Mean", c.Mean, math.Inf(-1)}, {"ONNXConfig.Std", c.Std, 0}} {
		if len(f.values) != channels {
			return &ConfigError{f.field, f.values, fmt.Sprintf("a value for each of the %d channels, or none in both Mean and Std", channels)}
		}
		for _, v := range f.values {
			if v := float64(v); !(v > f.above) || math.IsInf(v, 1) {
				return &ConfigError{f.field, f.values, "finite numbers, of Std above 0"}
			}
		}
	}
	return nil
}

// onnxGraph follows the layers of the network in the order of their plan. It gives up
// when the weights take more bytes than most, before more of them take memory.
func (f *Frozen) onnxGraph(cfg ONNXConfig, most int) (*onnx.Graph, error) {
	if f.isClosed() {
		return nil, fmt.Errorf("model: SaveONNX: the network was closed")
	}
	e, err := f.newExecutor(FreezeConfig{Batch: 1, Threads: f.cfg.Threads})
	if err != nil {
		return nil, err
	}
	defer e.close()
	p, c := e.net.plan, e.net.cfg
	x := &onnxExport{at: map[*nn.Map]operand{}}
	input := x.normalize(cfg)
	if e.net.augerino != nil {
		input = x.copies(input, e.net.augerino)
	}
	x.at[p.input] = operand{input, c.Channels, 1, c.Side, c.Side}
	for i, l := range p.layers {
		y, err := x.layer(l, p.steps[i])
		if err != nil {
			return nil, fmt.Errorf("model: SaveONNX: %w", err)
		}
		if x.bytes > most {
			return nil, fmt.Errorf("model: SaveONNX: the kernels of the first %d of %d layers take %d bytes, and an ONNX file holds %d in all; a network of fewer channels or elements fits",
				i+1, len(p.layers), x.bytes, most)
		}
		y.h, y.w = p.steps[i].out.H, p.steps[i].out.W
		x.at[p.steps[i].out] = y
	}
	x.Name = strings.ToLower(c.Type)
	x.Inputs = []onnx.Value{{Name: onnxInput, Shape: []int{-1, c.Channels, c.Side, c.Side}, Free: onnxBatch}}
	x.Outputs = []onnx.Value{{Name: onnxOutput, Shape: []int{-1, c.Classes}, Free: onnxBatch}}
	logits := x.at[p.logits]
	if logits.n != 0 {
		return nil, fmt.Errorf("model: SaveONNX: the logits are those of no linear layer")
	}
	x.rename(logits.name, onnxOutput)
	return &x.Graph, nil
}

// onnxExport is a graph under construction.
type onnxExport struct {
	onnx.Graph
	at        map[*nn.Map]operand
	anonymous int // layers without a name
	bytes     int // of all weights
}

// operand is a map in the graph: [batch, c*n, h, w], or [batch, c] where n is zero.
type operand struct {
	name       string
	c, n, h, w int
}

// node appends an operation with one result, which gets its name.
func (x *onnxExport) node(op, name string, inputs []string, attributes ...onnx.Attribute) string {
	x.Nodes = append(x.Nodes, onnx.Node{Op: op, Name: name, Inputs: inputs, Outputs: []string{name}, Attributes: attributes})
	return name
}

// weight appends a constant.
func (x *onnxExport) weight(name string, values []float32, shape ...int) string {
	x.Weights = append(x.Weights, onnx.Tensor{Name: name, Shape: shape, F32: values})
	x.bytes += 4 * len(values)
	return name
}

// reshape appends a change of shape: 0 keeps a dimension, -1 takes what is left.
func (x *onnxExport) reshape(name, input string, shape ...int64) string {
	to := name + ".shape"
	x.Weights = append(x.Weights, onnx.Tensor{Name: to, Shape: []int{len(shape)}, I64: shape})
	return x.node("Reshape", name, []string{input, to})
}

// rename gives the result of the last node its name in the graph's outputs.
func (x *onnxExport) rename(from, to string) {
	last := &x.Nodes[len(x.Nodes)-1]
	if last.Outputs[0] == from {
		last.Outputs[0] = to
	}
}

// normalize appends what makes a network's input of pixels, if it is to.
func (x *onnxExport) normalize(cfg ONNXConfig) string {
	if cfg.Mean == nil {
		return onnxInput
	}
	y := x.node("Sub", "normalize.centred", []string{onnxInput, x.weight("normalize.mean", cfg.Mean, len(cfg.Mean), 1, 1)})
	return x.node("Div", "normalize", []string{y, x.weight("normalize.std", cfg.Std, len(cfg.Std), 1, 1)})
}

// copies appends what makes the copies of images that the elements of the list move:
// [batch, C, H, W] to [batch*copies, C, H, W]. Each of their pixels is a sum of four of
// the image.
func (x *onnxExport) copies(input string, a *augerino) string {
	const name = "copies"
	w, plane := &a.warp, a.warp.side*a.warp.side
	var at [4][]int64
	var weight [4][]float32
	for _, u := range a.list.G {
		for p := range plane {
			t := w.corners(u, p)
			for k, pixel := range t.at {
				if pixel < 0 { // outside the image
					pixel, t.weight[k] = 0, 0
				}
				at[k], weight[k] = append(at[k], int64(pixel/w.batch)), append(weight[k], t.weight[k])
			}
		}
	}
	flat := x.reshape(name+".flat", input, 0, int64(w.channels), -1)
	y := ""
	for k := range at {
		corner := fmt.Sprintf("%s.%d", name, k)
		x.Weights = append(x.Weights, onnx.Tensor{Name: corner + ".pixels", Shape: []int{len(at[k])}, I64: at[k]})
		pixels := x.node("Gather", corner, []string{flat, corner + ".pixels"}, onnx.Attribute{Name: "axis", Value: 2})
		part := x.node("Mul", corner+".weighted", []string{pixels, x.weight(corner+".weights", weight[k], len(weight[k]))})
		if k == 0 {
			y = part
		} else {
			y = x.node("Add", corner+".sum", []string{y, part})
		}
	}
	apart := x.reshape(name+".apart", y, 0, int64(w.channels), int64(len(a.list.G)), int64(plane))
	first := x.node("Transpose", name+".first", []string{apart}, onnx.Attribute{Name: "perm", Value: []int{0, 2, 1, 3}})
	return x.reshape(name, first, -1, int64(w.channels), int64(w.side), int64(w.side))
}

// layer appends a layer and returns what it makes.
func (x *onnxExport) layer(l layer, wire step) (operand, error) {
	in := make([]operand, len(wire.in))
	for i, m := range wire.in {
		var ok bool
		if in[i], ok = x.at[m]; !ok {
			return operand{}, fmt.Errorf("an input of a %T comes from no layer", l)
		}
	}
	if l, ok := l.(interface{ Dense() (*conv.Dense, error) }); ok { // which heeds weights
		return x.convolution(l, in)
	}
	for _, m := range wire.in {
		if !alike(m.On) {
			return operand{}, fmt.Errorf("a %T takes group elements of different weights, for which there is no form in ONNX", l)
		}
	}
	switch l := l.(type) {
	case *nn.BatchNorm:
		return x.batchNorm(l, in)
	case *nn.LayerNorm:
		return x.layerNorm(l, in)
	case *nn.Standardize:
		return x.standardize(l, in)
	case *nn.Dropout:
		return in[0], nil // which leaves out nothing in predictions
	case *nn.GroupMean:
		return x.groupMean(in)
	case *nn.GlobalMax:
		return x.global("GlobalMaxPool", in)
	case *nn.GlobalMean:
		return x.global("GlobalAveragePool", in)
	case *nn.LearnedPool:
		return x.learnedPool(l, in)
	case *nn.Linear:
		return x.linear(l, in)
	case *copyMean:
		return x.copyMean(l, in)
	}
	return operand{}, fmt.Errorf("a layer of type %T has no form in ONNX, so this network cannot be exported", l)
}

// alike reports whether all elements have the same weight, so that normalisations and
// pooling need not heed it.
func alike(on nn.Weighted) bool {
	if on == nil {
		return true
	}
	weights, _ := on.Weights()
	return !slices.ContainsFunc(weights, func(w float64) bool { return !(w > 0) || math.Abs(w-weights[0]) > 1e-12*weights[0] })
}

func (x *onnxExport) convolution(l interface{ Dense() (*conv.Dense, error) }, in []operand) (operand, error) {
	d, err := l.Dense()
	if err != nil {
		return operand{}, err
	}
	if in[0].c != d.In || in[0].n != d.NIn {
		return operand{}, fmt.Errorf("%s takes %d channels of %d elements, its input has %d of %d", d.Name, d.In, d.NIn, in[0].c, in[0].n)
	}
	channels, groups := d.In*d.NIn, 1
	if d.Depthwise {
		channels, groups = 1, channels
	}
	pad := 0
	if d.Padding == conv.Same {
		pad = d.Side / 2
	}
	y := x.node("Conv", d.Name, []string{
		in[0].name,
		x.weight(d.Name+".weight", d.Weight, d.Out*d.NOut, channels, d.Side, d.Side),
		x.weight(d.Name+".bias", d.Bias, d.Out*d.NOut),
	}, onnx.Attribute{Name: "kernel_shape", Value: []int{d.Side, d.Side}}, onnx.Attribute{Name: "pads", Value: []int{pad, pad, pad, pad}}, onnx.Attribute{Name: "group", Value: groups})
	return operand{name: y, c: d.Out, n: d.NOut}, nil
}

// sum appends the sum in front of a normalisation, if there is one.
func (x *onnxExport) sum(name string, in []operand) operand {
	y := in[0]
	if len(in) == 2 {
		y.name = x.node("Add", name+".sum", []string{in[0].name, in[1].name})
	}
	return y
}

// poolReLU appends what follows a normalisation.
func (x *onnxExport) poolReLU(name string, y operand, pool, relu bool) operand {
	if pool {
		y.name = x.node("MaxPool", name+".pool", []string{y.name},
			onnx.Attribute{Name: "kernel_shape", Value: []int{2, 2}}, onnx.Attribute{Name: "strides", Value: []int{2, 2}})
	}
	if relu {
		y.name = x.node("Relu", name+".relu", []string{y.name})
	}
	return y
}

// perChannel returns values of the channels of y, one for each of its elements.
func perChannel(p *nn.Parameter, y operand) []float32 {
	values := make([]float32, 0, y.c*y.n)
	for _, v := range p.Host {
		values = append(values, slices.Repeat([]float32{v}, y.n)...)
	}
	return values
}

// batchNorm is for the running statistics, which all elements of a channel share.
func (x *onnxExport) batchNorm(l *nn.BatchNorm, in []operand) (operand, error) {
	name := strings.TrimSuffix(l.Weight.Name, ".module.weight")
	y := x.sum(name, in)
	inputs := []string{y.name}
	for _, p := range []*nn.Parameter{l.Weight, l.Bias, l.RunningMean, l.RunningVar} {
		inputs = append(inputs, x.weight(name+strings.TrimPrefix(p.Name, name+".module"), perChannel(p, y), y.c*y.n))
	}
	y.name = x.node("BatchNormalization", name, inputs, onnx.Attribute{Name: "epsilon", Value: l.Eps})
	return x.poolReLU(name, y, l.Pool, l.ReLU), nil
}

// layerNorm takes all of an image as one channel.
func (x *onnxExport) layerNorm(l *nn.LayerNorm, in []operand) (operand, error) {
	name := strings.TrimSuffix(l.Weight.Name, ".module.layer_norm.weight")
	y := x.sum(name, in)
	h, w := in[0].h, in[0].w
	y.name = x.normalized(name, y.name, l.Eps, 1, y.c*y.n, h, w)
	y.name = x.node("Mul", name+".scaled", []string{y.name, x.weight(name+".weight", perChannel(l.Weight, y), y.c*y.n, 1, 1)})
	y.name = x.node("Add", name+".shifted", []string{y.name, x.weight(name+".bias", perChannel(l.Bias, y), y.c*y.n, 1, 1)})
	return x.poolReLU(name, y, l.Pool, l.ReLU), nil
}

// normalized gives each of so many equal parts of an image mean 0 and variance 1,
// and the result the shape [batch, channels, h, w].
func (x *onnxExport) normalized(name, input string, eps float32, parts, channels, h, w int) string {
	flat := x.reshape(name+".flat", input, 0, int64(parts), -1)
	y := x.node("InstanceNormalization", name, []string{
		flat, x.weight(name+".ones", slices.Repeat([]float32{1}, parts), parts), x.weight(name+".zeros", make([]float32, parts), parts),
	}, onnx.Attribute{Name: "epsilon", Value: eps})
	return x.reshape(name+".map", y, 0, int64(channels), int64(h), int64(w))
}

// standardize normalises the elements and the plane of each channel.
func (x *onnxExport) standardize(l *nn.Standardize, in []operand) (operand, error) {
	x.anonymous++
	name, y := fmt.Sprintf("standardize_%d", x.anonymous), in[0]
	y.name = x.normalized(name, y.name, l.Eps, y.c, y.c*y.n, y.h, y.w)
	return x.poolReLU(name, y, false, l.ReLU), nil
}

// global pools the elements and the plane of each channel.
func (x *onnxExport) global(op string, in []operand) (operand, error) {
	x.anonymous++
	name, y := fmt.Sprintf("pool_%d", x.anonymous), in[0]
	flat := x.reshape(name+".flat", y.name, 0, int64(y.c), -1)
	pooled := x.node(op, name, []string{flat})
	return operand{name: x.reshape(name+".channels", pooled, 0, int64(y.c)), c: y.c}, nil
}

// groupMean takes the elements of each channel as an axis of their own.
func (x *onnxExport) groupMean(in []operand) (operand, error) {
	x.anonymous++
	name, y := fmt.Sprintf("groupmean_%d", x.anonymous), in[0]
	apart := x.reshape(name+".elements", y.name, 0, int64(y.c), int64(y.n), -1)
	mean := x.node("ReduceMean", name, []string{apart}, onnx.Attribute{Name: "axes", Value: []int{2}}, onnx.Attribute{Name: "keepdims", Value: 0})
	return operand{name: x.reshape(name+".map", mean, 0, int64(y.c), int64(y.h), int64(y.w)), c: y.c, n: 1}, nil
}

func (x *onnxExport) learnedPool(l *nn.LearnedPool, in []operand) (operand, error) {
	name, y := strings.TrimSuffix(l.Weight.Name, ".weight"), in[0]
	flat := x.reshape(name+".flat", y.name, 0, int64(y.c), -1)
	pooled := x.node("MatMul", name, []string{flat, x.weight(name+".weight", l.Weight.Host, len(l.Weight.Host), 1)})
	pooled = x.node("Add", name+".shifted", []string{pooled, x.weight(name+".bias", l.Bias.Host, 1)})
	return operand{name: x.reshape(name+".channels", pooled, 0, int64(y.c)), c: y.c}, nil
}

// copyMean takes the mean over the copies of an image.
func (x *onnxExport) copyMean(l *copyMean, in []operand) (operand, error) {
	if !alike(l.list) {
		return operand{}, fmt.Errorf("the copies of an image have different weights, for which there is no form in ONNX")
	}
	apart := x.reshape("copies.logits", in[0].name, -1, int64(l.list.Len()), int64(in[0].c))
	mean := x.node("ReduceMean", "copies.mean", []string{apart}, onnx.Attribute{Name: "axes", Value: []int{1}}, onnx.Attribute{Name: "keepdims", Value: 0})
	return operand{name: mean, c: in[0].c}, nil
}

func (x *onnxExport) linear(l *nn.Linear, in []operand) (operand, error) {
	name, out := strings.TrimSuffix(l.Weight.Name, ".weight"), len(l.Bias.Host)
	if in[0].n != 0 {
		return operand{}, fmt.Errorf("%s follows no global pooling, so this network cannot be exported", name)
	}
	y := x.node("Gemm", name, []string{
		in[0].name, x.weight(name+".weight", l.Weight.Host, out, in[0].c), x.weight(name+".bias", l.Bias.Host, out),
	}, onnx.Attribute{Name: "transB", Value: 1})
	return operand{name: y, c: out}, nil
}
