package nn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/noether-go/noether/tensor"
)

// smallestNormal is the smallest normal number of float32: below, a number has fewer digits, and
// processors may take it for 0.
const smallestNormal = 0x1p-126

// squares ends the names of Adam's means of squared gradients, of which it takes the root.
const squares = "exp_avg_sq"

// Algorithm names an update rule.
type Algorithm uint8

const (
	Adam Algorithm = iota // Kingma & Ba 2015
	SGD                   // with momentum, or Nesterov's
)

// String returns "Adam" or "SGD".
func (a Algorithm) String() string {
	switch a {
	case Adam:
		return "Adam"
	case SGD:
		return "SGD"
	}
	return fmt.Sprintf("Algorithm(%d)", uint8(a))
}

// OptimizerConfig describes an optimiser. LR must be set; the zero value of
// everything else means the default. All are float32 where they are used, and have to
// be normal numbers there.
type OptimizerConfig struct {
	Algorithm Algorithm

	LR          float64 // rate of weights
	SubsetLR    float64 // rate of learned subset sizes; 0: LR
	KeepLR      float64 // rate of learned logits of keeping group elements; 0: SubsetLR
	FrequencyLR float64 // rate of a SIREN's learned omega_0; 0: LR

	Beta1, Beta2, Eps float64 // Adam; 0: 0.9, 0.999, 1e-8

	Momentum float64 // SGD
	Nesterov bool    // SGD

	// WeightDecay shrinks weights by the factor 1 - rate*WeightDecay in each
	// step, apart from the gradient (Loshchilov & Hutter 2019). Subset sizes,
	// logits of keeping elements and frequencies do not decay.
	WeightDecay float64
	// Clip bounds the Euclidean norm of the gradient of all parameters
	// together; 0: no bound.
	Clip float64
}

func (c *OptimizerConfig) complete() error {
	fail := func(field string, value any, allowed string) error {
		return &ConfigError{c.Algorithm.String(), field, value, allowed}
	}
	if c.Algorithm > SGD {
		return fail("algorithm", c.Algorithm, "Adam or SGD")
	}
	switch {
	case c.Algorithm == Adam && c.Momentum != 0:
		return fail("momentum", c.Momentum, "0; it is that of SGD")
	case c.Algorithm == Adam && c.Nesterov:
		return fail("Nesterov's momentum", true, "false; it is that of SGD")
	case c.Algorithm == SGD && (c.Beta1 != 0 || c.Beta2 != 0 || c.Eps != 0):
		return fail("beta1, beta2 and eps", []float64{c.Beta1, c.Beta2, c.Eps}, "0; they are those of Adam")
	}
	if c.SubsetLR == 0 {
		c.SubsetLR = c.LR
	}
	if c.KeepLR == 0 {
		c.KeepLR = c.SubsetLR
	}
	if c.FrequencyLR == 0 {
		c.FrequencyLR = c.LR
	}
	if c.Beta1 == 0 {
		c.Beta1 = 0.9
	}
	if c.Beta2 == 0 {
		c.Beta2 = 0.999
	}
	if c.Eps == 0 {
		c.Eps = 1e-8
	}
	within := func(v, lo, hi float64) bool { // false for NaN
		is := float64(float32(v)) // in the kernels
		return is >= lo && is < hi && (v == 0 || math.Abs(is) >= smallestNormal)
	}
	switch {
	case !within(c.LR, math.SmallestNonzeroFloat64, math.Inf(1)):
		return fail("learning rate", c.LR, "a positive normal number of float32")
	case !within(c.SubsetLR, math.SmallestNonzeroFloat64, math.Inf(1)):
		return fail("learning rate of subsets", c.SubsetLR, "a positive normal number of float32, or 0 for that of weights")
	case !within(c.KeepLR, math.SmallestNonzeroFloat64, math.Inf(1)):
		return fail("learning rate of keeping elements", c.KeepLR, "a positive normal number of float32, or 0 for that of subsets")
	case !within(c.FrequencyLR, math.SmallestNonzeroFloat64, math.Inf(1)):
		return fail("learning rate of frequencies", c.FrequencyLR, "a positive normal number of float32, or 0 for that of weights")
	case !within(c.Beta1, 0, 1):
		return fail("beta1", c.Beta1, "0 <= beta1 < 1, in float32")
	case !within(c.Beta2, 0, 1):
		return fail("beta2", c.Beta2, "0 <= beta2 < 1, in float32")
	case !within(c.Eps, 0, math.Inf(1)):
		return fail("eps", c.Eps, "a positive normal number of float32, or 0 for 1e-8")
	case !within(c.Momentum, 0, 1):
		return fail("momentum", c.Momentum, "0 <= momentum < 1, in float32")
	case c.Nesterov && c.Momentum == 0:
		return fail("momentum", c.Momentum, "more than 0 with Nesterov")
	case !within(c.WeightDecay, 0, math.Inf(1)):
		return fail("weight decay", c.WeightDecay, "0 or a positive normal number of float32")
	case !within(c.Clip, 0, math.Inf(1)):
		return fail("gradient clip", c.Clip, "0 or a positive normal number of float32")
	}
	return nil
}

// Optimizer changes the trained parameters of a network along their gradients,
// one class at a time.
type Optimizer struct {
	cfg    OptimizerConfig
	params *Parameters
	dev    tensor.Device
	arena  tensor.Arena

	first, second [Frequency + 1]tensor.Buffer // moments; for SGD first is the velocity
	squares       tensor.Buffer                // [Frequency + 1] sums of squared gradients
	steps         int
	state         []*Parameter

	adam tensor.AdamArgs // kept here: an argument of an interface call would go to the heap
	sgd  tensor.SGDArgs
}

// NewOptimizer returns an optimiser of params, which must be bound, with its
// state at zero on the same device.
func NewOptimizer(cfg OptimizerConfig, params *Parameters) (*Optimizer, error) {
	if params.dev == nil {
		refuse("NewOptimizer", "the parameters are not bound to a device")
	}
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	o := &Optimizer{cfg: cfg, params: params, dev: params.dev}
	for c := range params.value {
		n := params.value[c].Len()
		if cfg.Algorithm == Adam || cfg.Momentum != 0 {
			o.arena.Reserve(&o.first[c], n)
		}
		if cfg.Algorithm == Adam {
			o.arena.Reserve(&o.second[c], n)
		}
	}
	o.arena.Reserve(&o.squares, int(Frequency)+1)
	if err := o.arena.Bind(o.dev); err != nil {
		return nil, err
	}
	var at [Frequency + 1]int
	for _, p := range params.list {
		if !p.Trained() {
			continue
		}
		lo := at[p.Class]
		hi := lo + len(p.Host)
		at[p.Class] = hi
		moment := func(name string, b tensor.Buffer) {
			s := NewParameter(p.Name+"."+name, Statistic, p.Shape...)
			s.Value = b.Slice(lo, hi)
			o.state = append(o.state, s)
		}
		switch {
		case cfg.Algorithm == Adam:
			moment("exp_avg", o.first[p.Class])
			moment(squares, o.second[p.Class])
		case cfg.Momentum != 0:
			moment("momentum_buffer", o.first[p.Class])
		}
	}
	return o, nil
}

// Release frees the state, without which the optimiser is of no more use. Releasing again does nothing.
func (o *Optimizer) Release() {
	o.arena.Release()
	o.dev = nil
}

// kept panics where the state has been freed.
func (o *Optimizer) kept(op string) {
	if o.dev == nil {
		refuse(op, "the optimiser was released, and its state with it")
	}
}

// Steps returns the number of steps taken.
func (o *Optimizer) Steps() int { return o.steps }

// Step clips the gradients, if so configured, and takes one step at the rates
// that schedule gives for step Steps (counted from 0). Gradients are not
// cleared. It panics with *Error after Release and where the parameters are not bound, as State and
// Restore do after Release.
func (o *Optimizer) Step(schedule Schedule) {
	const op = "Optimizer.Step"
	o.kept(op)
	o.params.bound(op)
	o.clip()
	rate := [Frequency + 1]float64{Weight: o.cfg.LR, Subset: o.cfg.SubsetLR, Keep: o.cfg.KeepLR, Frequency: o.cfg.FrequencyLR}
	for c := range rate {
		value, grad := o.params.value[c], o.params.grad[c]
		if value.Len() == 0 {
			continue
		}
		lr, decay := schedule.LR(rate[c], o.steps), 0.0
		if Class(c) == Weight {
			decay = o.cfg.WeightDecay
		}
		if o.cfg.Algorithm == Adam {
			o.adam = tensor.AdamArgs{
				P: value, G: grad, M: o.first[c], V: o.second[c],
				LR: lr, Beta1: o.cfg.Beta1, Beta2: o.cfg.Beta2, Eps: o.cfg.Eps,
				WeightDecay: decay,
				Step:        o.steps + 1,
			}
			o.dev.Adam(&o.adam)
		} else {
			o.sgd = tensor.SGDArgs{
				P: value, G: grad, V: o.first[c],
				LR: lr, Momentum: o.cfg.Momentum, Nesterov: o.cfg.Nesterov,
				WeightDecay: decay,
			}
			o.dev.SGD(&o.sgd)
		}
	}
	o.steps++
}

// clip scales all gradients by Clip/norm where their common norm exceeds Clip.
func (o *Optimizer) clip() {
	if o.cfg.Clip == 0 {
		return
	}
	total := o.squares.Slice(0, 1)
	o.dev.Fill(o.squares, 0)
	for c, g := range o.params.grad {
		if g.Len() == 0 {
			continue
		}
		square := o.squares.Slice(c, c+1)
		o.dev.SumSquares(square, g)
		if c > 0 {
			o.dev.Add(total, total, square)
		}
	}
	for _, g := range o.params.grad {
		if g.Len() > 0 {
			o.dev.ClipNorm(g, total, float32(o.cfg.Clip))
		}
	}
}

// State downloads the optimiser's arrays: per parameter NAME.exp_avg and
// NAME.exp_avg_sq (Adam) or NAME.momentum_buffer (SGD with momentum), in Host.
// Together with Steps they are all that Restore needs. The list is the
// optimiser's own.
func (o *Optimizer) State() []*Parameter {
	o.kept("Optimizer.State")
	for _, s := range o.state {
		o.dev.Download(s.Host, s.Value)
	}
	return o.state
}

// negative returns the first place at which a mean of squares is below 0, -1 for none. NaN
// is let through: a run that diverged may be saved and restored as it is.
func negative(s *Parameter) int {
	if !strings.HasSuffix(s.Name, "."+squares) {
		return -1
	}
	return slices.IndexFunc(s.Host, func(v float32) bool { return v < 0 })
}

// Restore puts back what State and Steps returned, from another process too:
// names, shapes and Host of state count. On an error nothing has changed.
func (o *Optimizer) Restore(state []*Parameter, steps int) error {
	o.kept("Optimizer.Restore")
	fail := func(field string, value any, allowed string) error {
		return &ConfigError{"state of " + o.cfg.Algorithm.String(), field, value, allowed}
	}
	if steps < 0 {
		return fail("number of steps", steps, "at least 0")
	}
	given := make(map[string]*Parameter, len(state))
	for i, s := range state {
		switch {
		case s == nil:
			return fail(fmt.Sprintf("array %d", i), "nil", "an array of this optimiser")
		case given[s.Name] != nil:
			return fail(s.Name, "there twice", "once")
		}
		given[s.Name] = s
	}
	for _, want := range o.state {
		s := given[want.Name]
		if s == nil {
			return fail(want.Name, "missing", fmt.Sprintf("an array of shape %v", want.Shape))
		}
		if !slices.Equal(s.Shape, want.Shape) {
			return fail("shape of "+want.Name, s.Shape, fmt.Sprintf("%v", want.Shape))
		}
		if len(s.Host) != len(want.Host) {
			return fail("number of values of "+want.Name, len(s.Host), fmt.Sprint(len(want.Host)))
		}
		if i := negative(s); i >= 0 {
			return fail(fmt.Sprintf("value %d of %s", i, want.Name), s.Host[i], "0 or more")
		}
		delete(given, want.Name)
	}
	for _, s := range state {
		if given[s.Name] != nil {
			return fail(s.Name, "unknown", "an array of this optimiser and this network")
		}
	}
	for _, s := range state {
		given[s.Name] = s
	}
	for _, want := range o.state {
		copy(want.Host, given[want.Name].Host)
		o.dev.Upload(want.Value, want.Host)
	}
	o.steps = steps
	return nil
}
