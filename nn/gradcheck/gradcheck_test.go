package gradcheck_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/nn/gradcheck"
	"github.com/noether-go/noether/tensor"
)

// recorder collects what Run has to say.
type recorder struct{ errors []string }

func (r *recorder) Helper()                   {}
func (r *recorder) Logf(string, ...any)       {}
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }

// toy is y = w*sin(x), elementwise, with the mistakes that layers make.
type toy struct {
	dev     *tensor.CPU
	w       *nn.Parameter
	in, out *nn.Map
	params  nn.Parameters
	project *gradcheck.Projection
	mistake string
}

const toyN = 40

func newToy(t *testing.T, mistake string) *toy {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	p := &nn.Plan{Arena: new(tensor.Arena), Batch: 2}
	y := &toy{dev: dev, w: nn.NewParameter("w", nn.Weight, toyN), mistake: mistake, in: p.Map(toyN/2, 1, 1, 1), out: p.Map(toyN/2, 1, 1, 1)}
	copy(y.w.Host, gradcheck.Normal(toyN, 1))
	y.params.Add(y.w, nn.NewParameter("untrained", nn.Statistic, 3))
	if err := p.Arena.Bind(dev); err != nil {
		t.Fatal(err)
	}
	if err := y.params.Bind(dev); err != nil {
		t.Fatal(err)
	}
	dev.Upload(y.in.Value, gradcheck.Normal(toyN, 2))
	y.project = gradcheck.NewProjection(dev, toyN, 3)
	return y
}

func (y *toy) loss() float64 {
	y.out.Written(1)
	w, x, out := y.w.Value.Host(), y.in.Value.Host(), y.out.Value.Host()
	for i := range x {
		out[i] = w[i] * float32(math.Sin(float64(x[i])))
	}
	return y.project.Loss(y.out.Live())
}

func (y *toy) backward() {
	y.project.Seed(y.out)
	add := y.in.Accumulate()
	w, x, dy, dx, dw := y.w.Value.Host(), y.in.Value.Host(), y.out.Grad.Host(), y.in.Grad.Host(), y.w.Grad.Host()
	for i := range x {
		gx, gw := dy[i]*w[i]*float32(math.Cos(float64(x[i]))), dy[i]*float32(math.Sin(float64(x[i])))
		switch y.mistake {
		case "sign":
			gx = -gx
		case "one element":
			if i == 17 {
				gw *= 1.1
			}
		case "slightly wrong":
			gx *= 1.0001
		case "not written":
			if i == 3 {
				continue
			}
		}
		if add && y.mistake != "never adds" || y.mistake == "always adds" {
			gx += dx[i]
		}
		dx[i] = gx
		if y.mistake == "overwrites parameters" {
			dw[i] = gw
		} else {
			dw[i] += gw
		}
	}
}

func (y *toy) reference(x [][]float64) float64 {
	out := make([]float64, toyN)
	for i := range out {
		out[i] = x[0][i] * math.Sin(x[1][i])
		if y.mistake == "wrong value" {
			out[i] *= 1.001
		}
	}
	return y.project.Of(out)
}

// TestRun: a right backward pass passes, and every mistake is caught.
func TestRun(t *testing.T) {
	for mistake, want := range map[string]string{
		"":                      "",
		"sign":                  "input 0 along direction 0: Backward gives",
		"one element":           "w[17]",
		"slightly wrong":        "float64 central difference",
		"not written":           "gradient[3] is NaN",
		"always adds":           "gradient[0] is NaN",
		"never adds":            "beside another consumer's",
		"overwrites parameters": "w: gradient after a second pass",
		"wrong value":           "in float64",
	} {
		y, r := newToy(t, mistake), new(recorder)
		c := gradcheck.Case{
			Device: y.dev, Params: y.params.All(), Inputs: []*nn.Map{y.in},
			Loss: y.loss, Backward: y.backward, Reference: y.reference,
			Elements: toyN,
		}
		result := gradcheck.Run(r, c)
		all := strings.Join(r.errors, "\n")
		if want == "" {
			if all != "" || result.Difference > 1e-4 || result.Reference > 1e-6 {
				t.Errorf("correct gradients: %+v\n%s", result, all)
			}
			continue
		}
		if !strings.Contains(all, want) {
			t.Errorf("%s was not caught; errors: %s", mistake, all)
		}
	}
}

// TestWithoutReference: float32 differences alone find mistakes of a percent.
func TestWithoutReference(t *testing.T) {
	for mistake, caught := range map[string]bool{"": false, "one element": true, "sign": true} {
		y, r := newToy(t, mistake), new(recorder)
		gradcheck.Run(r, gradcheck.Case{
			Device: y.dev, Params: y.params.All(), Inputs: []*nn.Map{y.in},
			Loss: y.loss, Backward: y.backward, Elements: toyN,
		})
		if got := len(r.errors) > 0; got != caught {
			t.Errorf("%q: caught %v: %v", mistake, got, r.errors)
		}
	}
}

// TestNothingToCheck: a Case that would pass whatever Backward does is a failure.
func TestNothingToCheck(t *testing.T) {
	y := newToy(t, "sign")
	for want, params := range map[string][]*nn.Parameter{
		"checks nothing":        {y.params.Lookup("untrained")},
		"unbound has no values": {nn.NewParameter("unbound", nn.Weight, 3)},
		"empty has no values":   {y.w, nn.NewParameter("empty", nn.Weight, 0)},
	} {
		r := new(recorder)
		gradcheck.Run(r, gradcheck.Case{Device: y.dev, Params: params, Loss: y.loss, Backward: y.backward})
		if len(r.errors) != 1 || !strings.Contains(r.errors[0], want) {
			t.Errorf("%q instead of one error with %q", r.errors, want)
		}
	}
}

// TestVariables: host scalars and plain buffers are variables too.
func TestVariables(t *testing.T) {
	y := newToy(t, "")
	theta, grad := 0.5, 0.0
	value, dvalue := y.in.Value, y.in.Grad
	loss := func() float64 {
		sum := 0.0
		for _, x := range value.Host() {
			sum += math.Exp(theta) * float64(x) * float64(x)
		}
		return sum
	}
	run := func(factor float64) []string {
		r := new(recorder)
		gradcheck.Run(r, gradcheck.Case{
			Device: y.dev,
			Variables: []gradcheck.Variable{
				gradcheck.Buffer(y.dev, "x", value, dvalue),
				{
					Name: "theta",
					Base: []float64{0.5},
					Set:  func(x []float64) { theta = x[0] },
					Zero: func() { grad = 0 },
					Grad: func(g []float64) { g[0] = grad },
					Adds: true,
				},
			},
			Loss: loss,
			Backward: func() {
				for i, x := range value.Host() {
					dvalue.Host()[i] = 2 * float32(math.Exp(theta)) * x
				}
				grad += factor * loss()
			},
		})
		return r.errors
	}
	if errs := run(1); len(errs) > 0 {
		t.Error(errs)
	}
	if errs := run(1.01); len(errs) == 0 || !strings.Contains(errs[0], "theta") {
		t.Errorf("a wrong gradient of a host scalar passed: %v", errs)
	}
}

func TestSeparate(t *testing.T) {
	for _, n := range []int{1, 2, 7, 100} {
		x := gradcheck.Separate(n, 0.1, 1)
		for i, a := range x {
			if math.Abs(float64(a)) < 0.049 {
				t.Errorf("n=%d: %v is near zero", n, a)
			}
			for _, b := range x[:i] {
				if math.Abs(float64(a-b)) < 0.049 {
					t.Errorf("n=%d: %v and %v are near each other", n, a, b)
				}
			}
		}
	}
}

// A reference of another size than the loss is not taken for it.
func TestProjectionSizes(t *testing.T) {
	y := newToy(t, "")
	p := gradcheck.NewProjection(y.dev, 5, 1)
	if x := []float64{1, 2, 3}; p.Of(x) == 0 { // before a Loss any size will do
		t.Error("a projection is zero")
	}
	p.Loss(y.in.Value.Slice(0, 4))
	p.Of(make([]float64, 4))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("three values were taken where the loss had four")
			}
		}()
		p.Of(make([]float64, 3))
	}()
}
