// Package gradcheck compares hand-derived gradients with central differences.
//
// A Case names the variables of a computation, a Loss that runs it forward and a
// Backward that leaves the gradients of the loss in the variables. Run moves the
// variables and differentiates the loss numerically, with the four-point stencil
//
//	f'(x) = (8(f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) / 12h + O(h^4)
//
// once for single elements and once along random directions of +-1, which see
// every element. The forward pass runs in float32, so h must stay large
// and about three digits of a gradient can be confirmed. Where more is wanted the
// test supplies Reference, the same function written plainly in float64: then
// five digits are confirmed, which is what Backward itself has.
//
// Run also confirms the conventions of package nn: that parameter gradients are
// added to, that the gradient of an input is overwritten when it is the first to
// arrive (it is poisoned with NaN before) and added to when it is not.
//
// A function with kinks (ReLU, maxima) must be checked where no kink lies within
// 4h of its arguments: each moves by up to 2h. Separate gives such inputs.
package gradcheck

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// T is the part of *testing.T that Run needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Variable is an array that a loss depends on and whose gradient is checked.
type Variable struct {
	Name string
	Base []float64                // the point at which the gradient is taken
	Step float64                  // h; 0: Case.Step times the root mean square of Base, or Case.Step where that is 0
	Set  func(x []float64)        // moves the variable to x
	Zero func()                   // prepares its gradient for Backward
	Grad func(gradient []float64) // reads what Backward left
	// Adds says that Backward adds to the gradient, so that a second pass
	// without Zero must double it.
	Adds bool
}

// Case is a differentiable computation.
type Case struct {
	Device tensor.Device

	// Params and Inputs are checked at the values that the device holds.
	// Untrained parameters are left out. Inputs are at their present N.
	Params []*nn.Parameter
	Inputs []*nn.Map
	// Variables are checked besides: positions, group elements, scalars.
	Variables []Variable

	// Loss runs the forward pass and returns the loss, reduced in float64.
	// Backward follows a Loss at the same point.
	Loss     func() float64
	Backward func()
	// Reference is Loss in float64, as a function of the trained Params, the
	// Inputs and the Variables in this order. Optional.
	Reference func(x [][]float64) float64

	// InPlace says that the computation overwrites an input map and its
	// gradient, so that no other consumer can add to the input's gradient.
	InPlace bool

	Step               float64 // relative step of the float32 differences; 0: 1/64
	Tolerance          float64 // for differences of Loss; 0: 1e-3; negative: leave it to Reference, which must be given
	ReferenceTolerance float64 // for differences of Reference; 0: 2e-5
	Floor              float64 // gradients smaller than this count as this large; 0: 1e-6
	Elements           int     // elements of each variable taken one by one, at most; 0: 24 (Reference: four times as many)
	Seed               uint64  // of directions and choices
}

// Result holds the largest relative errors that Run saw.
type Result struct {
	Difference float64 // against differences of Loss
	Reference  float64 // against differences of Reference
}

// Run checks c and reports every failure to t, a Case with nothing to check among them. Errors are relative to the
// gradient's norm (directions) or its largest magnitude (elements).
func Run(t T, c Case) Result {
	t.Helper()
	if c.Step == 0 {
		c.Step = 1.0 / 64
	}
	if c.Tolerance == 0 {
		c.Tolerance = 1e-3
	}
	if c.ReferenceTolerance == 0 {
		c.ReferenceTolerance = 2e-5
	}
	if c.Floor == 0 {
		c.Floor = 1e-6
	}
	if c.Elements == 0 {
		c.Elements = 24
	}
	r := &runner{T: t, Case: c, vars: c.variables()}
	if !r.checks() {
		return r.Result
	}
	r.x = make([][]float64, len(r.vars))
	for i, v := range r.vars {
		r.x[i] = append([]float64(nil), v.Base...)
	}

	loss := r.loss()
	r.backward()
	grad := r.gradients()
	for i, v := range r.vars {
		for j, g := range grad[i] {
			if math.IsNaN(g) || math.IsInf(g, 0) {
				t.Errorf("%s: gradient[%d] is %v after Backward", v.Name, j, g)
				return r.Result
			}
		}
	}
	if c.Tolerance < 0 && c.Reference == nil {
		t.Errorf("a Case without differences of Loss needs a Reference")
	}
	for i := range r.vars {
		if c.Tolerance < 0 {
			break
		}
		r.Difference = max(r.Difference, r.compare(i, grad[i], "central difference", r.loss, r.step(i), c.Elements, c.Tolerance))
	}
	if c.Reference != nil {
		ref := c.Reference(r.x)
		if d := math.Abs(ref - loss); !(d <= 1e-5*(1+math.Abs(ref))) {
			t.Errorf("loss %v, in float64 %v", loss, ref)
		}
		f := func() float64 { return c.Reference(r.x) }
		for i := range r.vars {
			h := r.step(i) / 16
			r.Result.Reference = max(r.Result.Reference, r.compare(i, grad[i], "float64 central difference", f, h, 4*c.Elements, c.ReferenceTolerance))
		}
	}
	r.conventions(grad)
	return r.Result
}

// runner is a Case while it runs: x is the point at which everything stands.
type runner struct {
	T
	Case
	Result
	vars []Variable
	x    [][]float64
}

// checks reports whether there is something to check, and to t what is not there: a gradient without values
// is right whatever Backward does.
func (r *runner) checks() bool {
	r.Helper()
	if len(r.vars) == 0 {
		r.Errorf("a Case without trained Params, Inputs and Variables checks nothing")
		return false
	}
	for _, v := range r.vars {
		if len(v.Base) == 0 {
			r.Errorf("%s has no values to check; parameters and maps have them once they are bound", v.Name)
			return false
		}
	}
	return true
}

func (c *Case) variables() []Variable {
	var vars []Variable
	for _, p := range c.Params {
		if p.Trained() {
			v := Buffer(c.Device, p.Name, p.Value, p.Grad)
			v.Zero, v.Adds = func() { c.Device.Fill(p.Grad, 0) }, true
			vars = append(vars, v)
		}
	}
	for i, m := range c.Inputs {
		vars = append(vars, Buffer(c.Device, fmt.Sprintf("input %d", i), m.Live(), m.LiveGrad()))
	}
	return append(vars, c.Variables...)
}

// Buffer returns the variable held in the device buffer value, with a gradient
// that Backward overwrites.
func Buffer(dev tensor.Device, name string, value, grad tensor.Buffer) Variable {
	host := make([]float32, value.Len())
	dev.Download(host, value)
	base := make([]float64, len(host))
	for i, v := range host {
		base[i] = float64(v)
	}
	return Variable{
		Name: name,
		Base: base,
		Set: func(x []float64) {
			for i, v := range x {
				host[i] = float32(v)
			}
			dev.Upload(value, host)
		},
		Zero: func() { dev.Fill(grad, float32(math.NaN())) },
		Grad: func(gradient []float64) {
			dev.Download(host, grad)
			for i, v := range host {
				gradient[i] = float64(v)
			}
		},
	}
}

func (r *runner) loss() float64 {
	for i, v := range r.vars {
		v.Set(r.x[i])
	}
	for _, m := range r.Inputs {
		m.Written(m.N)
	}
	return r.Loss()
}

// backward clears the gradients and runs Backward; a Loss must have run.
func (r *runner) backward() {
	for _, v := range r.vars {
		v.Zero()
	}
	r.Backward()
}

func (r *runner) gradients() [][]float64 {
	grad := make([][]float64, len(r.vars))
	for i, v := range r.vars {
		grad[i] = make([]float64, len(v.Base))
		v.Grad(grad[i])
	}
	return grad
}

func (r *runner) step(i int) float64 {
	v := r.vars[i]
	if v.Step != 0 {
		return v.Step
	}
	if s := norm(v.Base) / math.Sqrt(float64(max(1, len(v.Base)))); s > 0 {
		return r.Step * s
	}
	return r.Step
}

// compare differentiates f with respect to variable i and returns the largest
// relative error of grad.
func (r *runner) compare(i int, grad []float64, what string, f func() float64, h float64, elements int, tolerance float64) float64 {
	r.Helper()
	v, n := r.vars[i], len(grad)
	src := stream.New(r.Seed, "gradcheck "+v.Name, 0)
	dir := make([]float64, n)
	derivative := func() float64 {
		var y [4]float64
		for k, s := range [4]float64{1, -1, 2, -2} {
			for j := range dir {
				r.x[i][j] = v.Base[j] + s*h*dir[j]
			}
			y[k] = f()
		}
		copy(r.x[i], v.Base)
		return (8*(y[0]-y[1]) - (y[2] - y[3])) / (12 * h)
	}
	worst := 0.0
	check := func(where string, got, scale float64) {
		r.Helper()
		want := derivative()
		diff := math.Abs(got - want)
		// A gradient that is zero altogether leaves only rounding to measure.
		scale = max(scale, math.Abs(want), math.Abs(got), r.Floor)
		if !(diff <= tolerance*scale) {
			r.Errorf("%s%s: Backward gives %.9g, the %s %.9g (off by %.2g of %.3g, allowed %.2g)",
				v.Name, where, got, what, want, diff/scale, scale, tolerance)
		}
		worst = max(worst, diff/scale)
	}
	size, peak := norm(grad), 0.0
	for _, g := range grad {
		peak = max(peak, math.Abs(g))
	}
	for k := range 4 {
		along := 0.0
		for j := range dir {
			dir[j] = 1
			if src.Uint64()&1 == 1 {
				dir[j] = -1
			}
			along += grad[j] * dir[j]
		}
		check(fmt.Sprintf(" along direction %d", k), along, size)
	}
	clear(dir)
	for k := range min(n, elements) {
		j := k
		if n > elements {
			j = src.IntN(n)
		}
		dir[j] = 1
		check(fmt.Sprintf("[%d]", j), grad[j], peak)
		dir[j] = 0
	}
	return worst
}

// conventions checks who adds and who overwrites.
func (r *runner) conventions(want [][]float64) {
	r.Helper()
	// A second pass: parameter gradients double, others stay.
	r.loss()
	r.backward()
	r.loss()
	for _, v := range r.vars {
		if !v.Adds {
			v.Zero()
		}
	}
	r.Backward()
	for i, got := range r.gradients() {
		factor := 1.0
		if r.vars[i].Adds {
			factor = 2
		}
		r.same(r.vars[i].Name+": gradient after a second pass", got, want[i], factor, 0)
	}
	if r.InPlace || len(r.Inputs) == 0 {
		return
	}
	// Another consumer's gradient of one has reached the inputs already.
	r.loss()
	for _, v := range r.vars {
		v.Zero()
	}
	for _, m := range r.Inputs {
		r.Device.Fill(m.Grad, 1)
		m.Accumulate()
	}
	r.Backward()
	for i, got := range r.gradients() {
		other := 0.0
		if trained := len(r.vars) - len(r.Variables) - len(r.Inputs); i >= trained && i < trained+len(r.Inputs) {
			other = 1
		}
		r.same(r.vars[i].Name+": gradient beside another consumer's", got, want[i], 1, other)
	}
}

// same reports the first place where got differs from factor*want + offset by
// more than rounding.
func (r *runner) same(what string, got, want []float64, factor, offset float64) {
	r.Helper()
	peak := offset
	for _, w := range want {
		peak = max(peak, math.Abs(factor*w))
	}
	for j, g := range got {
		if w := factor*want[j] + offset; !(math.Abs(g-w) <= 1e-6*peak) {
			r.Errorf("%s: [%d] is %v, must be %v", what, j, g, w)
			return
		}
	}
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}
