package onnxtest

import (
	"fmt"
	"math"
	"slices"
)

// Run returns what the model makes of an input of that shape. The operators are
// those of https://onnx.ai/onnx/operators, as far as they are known here.
func (m *Model) Run(input []float32, shape ...int) ([]float64, []int, error) {
	if m.Opset != 13 {
		return nil, nil, fmt.Errorf("operator set %d", m.Opset)
	}
	values := map[string]Tensor{}
	for name, t := range m.Weights {
		values[name] = t
	}
	x := Tensor{Shape: shape, F: make([]float64, len(input))}
	for i, v := range input {
		x.F[i] = float64(v)
	}
	if err := m.Input.check(x); err != nil {
		return nil, nil, err
	}
	values[m.Input.Name] = x
	used := map[string]bool{}
	for _, n := range m.Nodes {
		var in []Tensor
		for _, name := range n.Inputs {
			t, ok := values[name]
			if !ok {
				return nil, nil, fmt.Errorf("%s takes %q, which nothing made", n.Name, name)
			}
			used[name] = true
			in = append(in, t)
		}
		c := call{n, in, map[string]bool{}}
		y, err := c.run()
		if err != nil {
			return nil, nil, fmt.Errorf("%s (%s): %w", n.Name, n.Op, err)
		}
		for name := range n.Attributes {
			if !c.read[name] {
				return nil, nil, fmt.Errorf("%s (%s): attribute %s means nothing here", n.Name, n.Op, name)
			}
		}
		if _, twice := values[n.Outputs[0]]; twice || len(n.Outputs) != 1 {
			return nil, nil, fmt.Errorf("%s makes %v", n.Name, n.Outputs)
		}
		values[n.Outputs[0]] = y
	}
	for name := range m.Weights {
		if !used[name] {
			return nil, nil, fmt.Errorf("nothing takes the weight %s", name)
		}
	}
	y, ok := values[m.Output.Name]
	if !ok {
		return nil, nil, fmt.Errorf("nothing makes the output %s", m.Output.Name)
	}
	return y.F, y.Shape, m.Output.check(y)
}

// check reports a tensor that is not what the graph says of it.
func (v *Value) check(t Tensor) error {
	ok := len(t.Shape) == len(v.Shape) && count(t.Shape) == len(t.F)
	for i, d := range v.Shape {
		n, fixed := d.(int)
		ok = ok && (!fixed || n == t.Shape[i])
	}
	if !ok {
		return fmt.Errorf("%s has shape %v and %d values, the graph says %v", v.Name, t.Shape, len(t.F), v.Shape)
	}
	return nil
}

// call is a node and what it is given.
type call struct {
	Node
	in   []Tensor
	read map[string]bool // attributes
}

func attribute[T any](c *call, name string, otherwise T) T {
	c.read[name] = true
	if v, ok := c.Attributes[name].(T); ok {
		return v
	}
	return otherwise
}

// require reports inputs that are too few or of other ranks.
func (c *call) require(ranks ...int) error {
	if len(c.in) != len(ranks) {
		return fmt.Errorf("%d inputs, want %d", len(c.in), len(ranks))
	}
	for i, r := range ranks {
		if r > 0 && len(c.in[i].Shape) != r {
			return fmt.Errorf("input %d has shape %v", i, c.in[i].Shape)
		}
	}
	return nil
}

func (c *call) run() (Tensor, error) {
	switch c.Op {
	case "Conv":
		return c.conv()
	case "BatchNormalization":
		return c.batchNorm()
	case "InstanceNormalization":
		return c.instanceNorm()
	case "MaxPool":
		return c.maxPool()
	case "ReduceMean":
		return c.reduceMean()
	case "Gather":
		return c.gather()
	case "Transpose":
		return c.transpose()
	case "MatMul":
		return c.matMul()
	case "Gemm":
		return c.gemm()
	case "Reshape":
		return c.reshape()
	case "Relu":
		return c.pointwise(1, func(v []float64) float64 { return max(v[0], 0) })
	case "Add":
		return c.pointwise(2, func(v []float64) float64 { return v[0] + v[1] })
	case "Sub":
		return c.pointwise(2, func(v []float64) float64 { return v[0] - v[1] })
	case "Div":
		return c.pointwise(2, func(v []float64) float64 { return v[0] / v[1] })
	case "Mul":
		return c.pointwise(2, func(v []float64) float64 { return v[0] * v[1] })
	case "GlobalMaxPool":
		return c.global(func(v []float64) float64 { return slices.Max(v) })
	case "GlobalAveragePool":
		return c.global(mean)
	}
	return Tensor{}, fmt.Errorf("unknown")
}

func (c *call) conv() (Tensor, error) {
	if err := c.require(4, 4, 1); err != nil {
		return Tensor{}, err
	}
	x, w, bias := c.in[0], c.in[1], c.in[2]
	kernel := attribute(c, "kernel_shape", []int(nil))
	pads := attribute(c, "pads", []int{0, 0, 0, 0})
	groups := attribute(c, "group", 1)
	b, in, h, wide := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
	out, part, kh, kw := w.Shape[0], w.Shape[1], w.Shape[2], w.Shape[3]
	if groups < 1 || out%groups != 0 || part*groups != in || bias.Shape[0] != out || !slices.Equal(kernel, w.Shape[2:]) || len(pads) != 4 {
		return Tensor{}, fmt.Errorf("input %v, weight %v, bias %v, kernel_shape %v, pads %v, group %d", x.Shape, w.Shape, bias.Shape, kernel, pads, groups)
	}
	oh, ow := h+pads[0]+pads[2]-kh+1, wide+pads[1]+pads[3]-kw+1
	y := make([]float64, 0, b*out*oh*ow)
	for n := range b {
		for o := range out {
			first := o / (out / groups) * part // channel of the input
			for r := range oh {
				for s := range ow {
					sum := bias.F[o]
					for i := range part {
						for u := range kh {
							row := r + u - pads[0]
							if row < 0 || row >= h {
								continue
							}
							for v := range kw {
								if col := s + v - pads[1]; col >= 0 && col < wide {
									sum += w.F[((o*part+i)*kh+u)*kw+v] * x.F[((n*in+first+i)*h+row)*wide+col]
								}
							}
						}
					}
					y = append(y, sum)
				}
			}
		}
	}
	return Tensor{Shape: []int{b, out, oh, ow}, F: y}, nil
}

func (c *call) batchNorm() (Tensor, error) {
	if err := c.require(4, 1, 1, 1, 1); err != nil {
		return Tensor{}, err
	}
	x := c.in[0]
	channels, plane := x.Shape[1], x.Shape[2]*x.Shape[3]
	for _, t := range c.in[1:] {
		if t.Shape[0] != channels {
			return Tensor{}, fmt.Errorf("%v values for %d channels", t.Shape, channels)
		}
	}
	eps := float64(attribute(c, "epsilon", float32(1e-5)))
	y := make([]float64, len(x.F))
	for i, v := range x.F {
		k := i / plane % channels
		y[i] = (v-c.in[3].F[k])/math.Sqrt(c.in[4].F[k]+eps)*c.in[1].F[k] + c.in[2].F[k]
	}
	return Tensor{Shape: x.Shape, F: y}, nil
}

func (c *call) instanceNorm() (Tensor, error) {
	if err := c.require(0, 1, 1); err != nil {
		return Tensor{}, err
	}
	x, scale, bias := c.in[0], c.in[1], c.in[2]
	channels := x.Shape[1]
	if len(x.Shape) < 3 || scale.Shape[0] != channels || bias.Shape[0] != channels {
		return Tensor{}, fmt.Errorf("input %v, scale %v, bias %v", x.Shape, scale.Shape, bias.Shape)
	}
	eps := float64(attribute(c, "epsilon", float32(1e-5)))
	plane := count(x.Shape[2:])
	y := make([]float64, 0, len(x.F))
	for i := 0; i < len(x.F); i += plane {
		k, part := i/plane%channels, x.F[i:i+plane]
		m, variance := mean(part), 0.0
		for _, v := range part {
			variance += (v - m) * (v - m) / float64(plane)
		}
		for _, v := range part {
			y = append(y, (v-m)/math.Sqrt(variance+eps)*scale.F[k]+bias.F[k])
		}
	}
	return Tensor{Shape: x.Shape, F: y}, nil
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func (c *call) maxPool() (Tensor, error) {
	if err := c.require(4); err != nil {
		return Tensor{}, err
	}
	x := c.in[0]
	size, step := attribute(c, "kernel_shape", []int(nil)), attribute(c, "strides", []int{1, 1})
	if len(size) != 2 || len(step) != 2 {
		return Tensor{}, fmt.Errorf("kernel_shape %v, strides %v", size, step)
	}
	h, w := x.Shape[2], x.Shape[3]
	oh, ow := (h-size[0])/step[0]+1, (w-size[1])/step[1]+1
	y := Tensor{Shape: []int{x.Shape[0], x.Shape[1], oh, ow}}
	for plane := 0; plane < len(x.F); plane += h * w {
		for r := range oh {
			for s := range ow {
				most := math.Inf(-1)
				for u := range size[0] {
					for v := range size[1] {
						most = max(most, x.F[plane+(r*step[0]+u)*w+s*step[1]+v])
					}
				}
				y.F = append(y.F, most)
			}
		}
	}
	return y, nil
}

func (c *call) gemm() (Tensor, error) {
	if err := c.require(2, 2, 1); err != nil {
		return Tensor{}, err
	}
	x, w, bias := c.in[0], c.in[1], c.in[2]
	out, in := w.Shape[0], w.Shape[1]
	if attribute(c, "transB", 0) != 1 || x.Shape[1] != in || bias.Shape[0] != out {
		return Tensor{}, fmt.Errorf("input %v, weight %v, bias %v, transB %v", x.Shape, w.Shape, bias.Shape, c.Attributes["transB"])
	}
	y := Tensor{Shape: []int{x.Shape[0], out}}
	for n := range x.Shape[0] {
		for o := range out {
			sum := bias.F[o]
			for i := range in {
				sum += w.F[o*in+i] * x.F[n*in+i]
			}
			y.F = append(y.F, sum)
		}
	}
	return y, nil
}

// reduceMean takes the mean over one axis.
func (c *call) reduceMean() (Tensor, error) {
	if err := c.require(0); err != nil {
		return Tensor{}, err
	}
	x, axes := c.in[0], attribute(c, "axes", []int(nil))
	if len(axes) != 1 || attribute(c, "keepdims", 1) != 0 || axes[0] >= len(x.Shape) {
		return Tensor{}, fmt.Errorf("input %v, axes %v, keepdims %v", x.Shape, axes, c.Attributes["keepdims"])
	}
	n, inner := x.Shape[axes[0]], count(x.Shape[axes[0]+1:])
	y := Tensor{Shape: slices.Delete(slices.Clone(x.Shape), axes[0], axes[0]+1)}
	for outer := 0; outer < len(x.F); outer += n * inner {
		for i := range inner {
			sum := 0.0
			for k := range n {
				sum += x.F[outer+k*inner+i]
			}
			y.F = append(y.F, sum/float64(n))
		}
	}
	return y, nil
}

// matMul multiplies the last two axes of an array with a matrix.
func (c *call) matMul() (Tensor, error) {
	if err := c.require(3, 2); err != nil {
		return Tensor{}, err
	}
	x, w := c.in[0], c.in[1]
	in, out := w.Shape[0], w.Shape[1]
	if x.Shape[2] != in {
		return Tensor{}, fmt.Errorf("shapes %v and %v", x.Shape, w.Shape)
	}
	y := Tensor{Shape: []int{x.Shape[0], x.Shape[1], out}}
	for row := 0; row < len(x.F); row += in {
		for o := range out {
			sum := 0.0
			for i := range in {
				sum += x.F[row+i] * w.F[i*out+o]
			}
			y.F = append(y.F, sum)
		}
	}
	return y, nil
}

func (c *call) reshape() (Tensor, error) {
	if len(c.in) != 2 || c.in[1].I == nil {
		return Tensor{}, fmt.Errorf("%d inputs, of which the second is to be integers", len(c.in))
	}
	x, shape, rest := c.in[0], []int(nil), -1
	for i, d := range c.in[1].I {
		switch {
		case d == 0:
			d = int64(x.Shape[i])
		case d < 0:
			rest, d = i, 1
		}
		shape = append(shape, int(d))
	}
	if rest >= 0 {
		shape[rest] = len(x.F) / count(shape)
	}
	if count(shape) != len(x.F) {
		return Tensor{}, fmt.Errorf("shape %v does not become %v", x.Shape, c.in[1].I)
	}
	return Tensor{Shape: shape, F: x.F}, nil
}

// pointwise takes its inputs value by value. An axis of length one, or one that is
// missing in front, stands for as many as the first input has there.
func (c *call) pointwise(inputs int, f func(v []float64) float64) (Tensor, error) {
	if err := c.require(make([]int, inputs)...); err != nil {
		return Tensor{}, err
	}
	y := Tensor{Shape: c.in[0].Shape, F: make([]float64, len(c.in[0].F))}
	for _, t := range c.in {
		missing := len(y.Shape) - len(t.Shape)
		for i, n := range t.Shape {
			if missing < 0 || n != 1 && n != y.Shape[missing+i] {
				return Tensor{}, fmt.Errorf("shapes %v and %v", y.Shape, t.Shape)
			}
		}
	}
	v := make([]float64, inputs)
	for i := range y.F {
		for k, t := range c.in {
			v[k] = t.F[broadcast(i, y.Shape, t.Shape)]
		}
		y.F[i] = f(v)
	}
	return y, nil
}

// broadcast returns where value i of an array of that shape finds its own in another.
func broadcast(i int, shape, other []int) int {
	at, stride := 0, 1
	for k := 1; k <= len(other); k++ {
		n, d := other[len(other)-k], shape[len(shape)-k]
		if n > 1 {
			at += i % d * stride
		}
		i, stride = i/d, stride*n
	}
	return at
}

// gather takes values along the last axis.
func (c *call) gather() (Tensor, error) {
	if len(c.in) != 2 || c.in[1].I == nil || len(c.in[1].Shape) != 1 {
		return Tensor{}, fmt.Errorf("%d inputs, of which the second is to be a list of integers", len(c.in))
	}
	x, last := c.in[0], len(c.in[0].Shape)-1
	if axis := attribute(c, "axis", 0); axis != last {
		return Tensor{}, fmt.Errorf("axis %d of shape %v", axis, x.Shape)
	}
	n := x.Shape[last]
	y := Tensor{Shape: append(slices.Clone(x.Shape[:last]), len(c.in[1].I))}
	for row := 0; row < len(x.F); row += n {
		for _, at := range c.in[1].I {
			if at < 0 || int(at) >= n {
				return Tensor{}, fmt.Errorf("value %d of %d", at, n)
			}
			y.F = append(y.F, x.F[row+int(at)])
		}
	}
	return y, nil
}

// transpose exchanges axes.
func (c *call) transpose() (Tensor, error) {
	if err := c.require(4); err != nil {
		return Tensor{}, err
	}
	x, perm := c.in[0], attribute(c, "perm", []int(nil))
	if sorted := slices.Sorted(slices.Values(perm)); !slices.Equal(sorted, []int{0, 1, 2, 3}) {
		return Tensor{}, fmt.Errorf("perm %v", perm)
	}
	y := Tensor{Shape: make([]int, 4), F: make([]float64, len(x.F))}
	for i, p := range perm {
		y.Shape[i] = x.Shape[p]
	}
	for i := range y.F {
		var to, from [4]int
		for k, rest := 3, i; k >= 0; k-- {
			to[k], rest = rest%y.Shape[k], rest/y.Shape[k]
			from[perm[k]] = to[k]
		}
		y.F[i] = x.F[((from[0]*x.Shape[1]+from[1])*x.Shape[2]+from[2])*x.Shape[3]+from[3]]
	}
	return y, nil
}

// global takes all but the first two axes together, and leaves them with length
// one.
func (c *call) global(f func(v []float64) float64) (Tensor, error) {
	if err := c.require(0); err != nil {
		return Tensor{}, err
	}
	x := c.in[0]
	if len(x.Shape) < 3 {
		return Tensor{}, fmt.Errorf("input %v", x.Shape)
	}
	plane := count(x.Shape[2:])
	y := Tensor{Shape: slices.Clone(x.Shape)}
	for i := range y.Shape[2:] {
		y.Shape[2+i] = 1
	}
	for i := 0; i < len(x.F); i += plane {
		y.F = append(y.F, f(x.F[i:i+plane]))
	}
	return y, nil
}
