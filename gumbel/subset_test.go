package gumbel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/race"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
)

// kinds are distributions of every kind of axis, alone and together.
func kinds() []gumbel.Config {
	list := []gumbel.Config{
		{Group: lie.SE2, Max: 8},
		{Group: lie.SE2, Max: 5, Method: gumbel.Deterministic},
		{Group: lie.Mirror, Max: 2},
		{Group: lie.Cyclic(6), Max: 6},
		{Group: lie.Dihedral(3), Max: 6},
		{Group: lie.E2, Max: 8},
		{Group: lie.E2, Max: 6, Method: gumbel.Deterministic},
		{Group: lie.RPlus, Max: 4, Method: gumbel.Deterministic},
		{Group: lie.Sim2, Max: 12},
		{Group: lie.Sim2, Max: 12, Method: gumbel.Deterministic},
		{Group: lie.DirectProduct(lie.O2, lie.RPlus), Max: 16},
		{Group: lie.DirectProduct(lie.Cyclic(4), lie.RPlus), Max: 12},
		{Group: lie.Periodic(lie.E2), Max: 4, Jitter: gumbel.Comb},
		{Group: lie.SE2, Max: 5, Jitter: gumbel.IID},
		{Group: lie.DirectProduct(lie.O2, lie.RPlus), Max: 16, Jitter: gumbel.IID},
	}
	for i := range list {
		list[i].Partial, list[i].Name = true, "layer.probs"
	}
	return list
}

// cases is the number of random cases of each distribution.
func cases() int {
	if race.Enabled || testing.Short() {
		return 300
	}
	return 10000
}

func name(cfg gumbel.Config) string {
	return fmt.Sprintf("%s-%d, partial %v, method %v, jitter %v, measure %v", cfg.Group.Name(), cfg.Max, cfg.Partial, cfg.Method, cfg.Jitter, cfg.Measure)
}

// learned are the values that a distribution learns, axis by axis.
type learned []struct {
	*nn.Parameter
	at int
}

func learnedOf(cfg gumbel.Config, d *gumbel.Distribution) (list learned) {
	next := map[nn.Class]int{}
	add := func(class nn.Class, n int) {
		for _, p := range d.Parameters() {
			if p.Class != class {
				continue
			}
			for range n {
				list = append(list, struct {
					*nn.Parameter
					at int
				}{p, next[class]})
				next[class]++
			}
		}
	}
	counts, _ := cfg.Group.Split(cfg.Max)
	for i, axis := range cfg.Group.Axes() {
		switch {
		case axis.Continuous() && cfg.Method == gumbel.Random:
			add(nn.Subset, 1)
		case cfg.Compat:
			add(nn.Subset, counts[i]-1)
		default:
			add(nn.Keep, counts[i]-1)
		}
	}
	return list
}

func (l learned) set(values []float32) {
	for i, v := range values {
		l[i].Host[l[i].at] = v
	}
}

// oracle is what the documentation of Distribution says, in float64: it writes down
// the elements and weights of one list of training in the order of the grid. The hard
// part of a straight-through sample is that at fixed.
type oracle struct {
	cfg      gumbel.Config
	counts   lie.Counts // of cfg.Max
	values   []float64  // theta and rho
	fixed    []float64  // the same, where the sample is hard
	draws    []float64
	used     int           // of the draws
	elements []lie.Element // on intervals the exponent
	weights  []float64

	on           []axisValue // of one axis
	product, was []weighted
}

type axisValue struct{ at, weight float64 }

type weighted struct {
	e lie.Element
	w float64
}

func newOracle(t *testing.T, cfg gumbel.Config) *oracle {
	t.Helper()
	counts, err := cfg.Group.Split(cfg.Max)
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{cfg: cfg, counts: counts}
}

func (o *oracle) run() {
	counts := &o.counts
	product := append(o.product[:0], weighted{w: 1})
	p, u := 0, 0
	for i, axis := range o.cfg.Group.Axes() {
		on := o.on[:0]
		if axis.Continuous() && o.cfg.Method == gumbel.Random {
			theta, n := 1.0, counts[i]
			if o.cfg.Partial {
				theta = o.values[p]
				n = max(1, min(n, int(math.Ceil(float64(n)*o.fixed[p]))))
				p++
			}
			for k := range n {
				draw := o.draws[u]
				if comb := o.cfg.Jitter == gumbel.Comb || o.cfg.Jitter == gumbel.AutoJitter && !o.cfg.Partial; !comb || k == n-1 {
					u++
				}
				at := (float64(k) + draw) / float64(n)
				if o.cfg.Jitter == gumbel.IID {
					at = draw
				}
				v := axisValue{theta * axis.Extent * (2*at - 1), 1}
				if !o.cfg.Partial && axis.Kind == lie.Circle {
					v.at = axis.Extent * 2 * at
				}
				switch o.cfg.Measure {
				case gumbel.Mean:
					v.weight = 1 / float64(n)
				case gumbel.Haar:
					v.weight = theta / float64(n)
				}
				on = append(on, v)
			}
		} else {
			total := 0.0
			for k := range counts[i] {
				v := axisValue{float64(k), 1}
				switch axis.Kind {
				case lie.Circle:
					v.at = 2 * math.Pi * float64(k) / float64(counts[i])
				case lie.Line:
					v.at = axis.Extent * 2 * float64(k-counts[i]/2) / float64(counts[i])
				}
				if v.at != 0 && o.cfg.Partial {
					soft := func(rho float64) float64 {
						const t = gumbel.DefaultInitTemperature
						return 1 / (1 + math.Exp(-(2*rho+math.Log(o.draws[u]/(1-o.draws[u])))/t))
					}
					v.weight = math.Round(soft(o.fixed[p])) + soft(o.values[p]) - soft(o.fixed[p])
					p++
					u++
				}
				total += v.weight
				on = append(on, v)
			}
			for k := range on {
				switch o.cfg.Measure {
				case gumbel.Mean:
					on[k].weight /= total
				case gumbel.Haar:
					on[k].weight /= float64(counts[i])
				}
			}
		}
		o.on, o.was, product = on, product, o.was[:0]
		for _, v := range on {
			for _, q := range o.was {
				q.e[i] = v.at
				q.w *= v.weight
				product = append(product, q)
			}
		}
	}
	o.product, o.used = product, u
	o.elements, o.weights = o.elements[:0], o.weights[:0]
	for _, q := range product {
		o.elements, o.weights = append(o.elements, q.e), append(o.weights, q.w)
	}
}

// Elements, weights and gradients against the oracle, and its central differences, of
// every kind with each measure, partial and not.
func TestAgainstDefinition(t *testing.T) {
	for at, cfg := range kinds() {
		for _, cfg.Partial = range []bool{true, false} {
			for cfg.Measure = range gumbel.Haar + 1 {
				againstDefinition(t, cfg, stream.New(1, "definition", uint64(at)))
			}
		}
	}
}

func againstDefinition(t *testing.T, cfg gumbel.Config, src *stream.Stream) {
	const h = 1e-4
	d := newDistribution(t, cfg)
	ps := bind(t, d, 1)
	var learned learned
	if cfg.Partial {
		learned = learnedOf(cfg, d)
	}
	values := make([]float32, len(learned))
	e := gumbel.NewElements(cfg.Group, cfg.Max)
	o := newOracle(t, cfg)
	o.values, o.fixed = make([]float64, len(values)), make([]float64, len(values))
	o.draws = make([]float64, 2*cfg.Max)
	coefficient := make([]float64, 4*cfg.Max)
	loss := func() float64 {
		o.run()
		l := 0.0
		for k, g := range o.elements {
			l += coefficient[4*k] * o.weights[k]
			for i := range g {
				l += coefficient[4*k+1+i] * math.Sin(g[i])
			}
		}
		return l
	}
	for range cases() {
		if cfg.Partial {
			randomize(cfg, values, src)
			learned.set(values)
			ps.Upload()
		}
		for i, v := range values {
			o.values[i], o.fixed[i] = float64(v), float64(v)
		}
		for i := range o.draws {
			o.draws[i] = src.Float64()
		}
		for i := range coefficient {
			coefficient[i] = 2*src.Float64() - 1
		}
		r := &replay{u: o.draws}
		d.Draw(e, r, true)
		o.run()
		if len(e.G) != len(o.elements) || r.at != o.used {
			t.Fatalf("%s: %d elements from %d draws, want %d from %d", name(cfg), len(e.G), r.at, len(o.elements), o.used)
		}
		for k, g := range e.G {
			weight := 1.0
			if e.Weight != nil {
				weight = e.Weight[k]
				e.WeightGrad[k] = coefficient[4*k]
			}
			if !(math.Abs(weight-o.weights[k]) <= 1e-12) {
				t.Fatalf("%s: weight %d is %v, want %v", name(cfg), k, weight, o.weights[k])
			}
			for i := range g {
				if off := math.Abs(g[i] - o.elements[k][i]); !(off <= 1e-12) && !(math.Abs(off-2*math.Pi) <= 1e-12) {
					t.Fatalf("%s: element %d is %v, want %v", name(cfg), k, g, o.elements[k])
				}
				e.Grad[k][i] = coefficient[4*k+1+i] * math.Cos(g[i])
			}
		}
		ps.ZeroGrad()
		d.Backward(e)
		for i, v := range learned {
			got := v.Grad.Host()[v.at]
			differ := func(h float64) float64 {
				o.values[i] = o.fixed[i] + h
				l := loss()
				o.values[i] = o.fixed[i]
				return l
			}
			want := (8*(differ(h)-differ(-h)) - (differ(2*h) - differ(-2*h))) / (12 * h)
			if !(math.Abs(float64(got)-want) <= 1e-6*max(1, math.Abs(want))) {
				t.Fatalf("%s: gradient %d is %v, by differences %v", name(cfg), i, got, want)
			}
		}
	}
}

// randomize draws values: thetas, whose places follow from the axes, within their
// range, and rhos around zero.
func randomize(cfg gumbel.Config, values []float32, src *stream.Stream) {
	for i := range values {
		values[i] = float32(3*src.Float64() - 1.5)
	}
	counts, _ := cfg.Group.Split(cfg.Max)
	p := 0
	for i, axis := range cfg.Group.Axes() {
		if axis.Continuous() && cfg.Method == gumbel.Random {
			values[p] = float32(0.02 + 0.98*src.Float64())
			p++
		} else {
			p += counts[i] - 1
		}
	}
}

// Where no gradient is wanted, the lists have what is kept more often than not, where
// training has it, in the same order, without weights, whatever training drops and at any
// temperature.
func TestDroppedElementsAreTakenOut(t *testing.T) {
	for at, cfg := range kinds() {
		for _, lists := range []int{1, 3} {
			d := newDistribution(t, cfg)
			learned := learnedOf(cfg, d)
			values := make([]float32, len(learned))
			train, eval := d.NewLists(lists), d.NewLists(lists)
			src := stream.New(1, "dropped", uint64(at))
			shorter := false
			for range cases() {
				randomize(cfg, values, src)
				learned.set(values)
				u := make([]float64, 2*cfg.Max*lists)
				for i := range u {
					u[i] = src.Float64()
				}
				d.Draw(train, &replay{u: u}, true)
				used := &replay{u: ofIntervals(cfg, d, u, lists)}
				d.Draw(eval, used, false)
				if used.at != len(used.u) || eval.Weight != nil {
					t.Fatalf("%s: %d draws, want %d; weights %v", name(cfg), used.at, len(used.u), eval.Weight)
				}
				for s := range lists {
					want := slices.DeleteFunc(slices.Clone(train.List(s)), func(g lie.Element) bool { return !likely(cfg, d, g) })
					if !slices.Equal(eval.List(s), want) {
						t.Fatalf("%s: list %d has %v, want %v", name(cfg), s, eval.List(s), want)
					}
				}
				shorter = shorter || eval.Len() < train.Len()
			}
			if drops := train.Weight != nil; shorter != drops {
				t.Errorf("%s, %d lists: shorter %v", name(cfg), lists, shorter)
			}
		}
	}
}

// ofIntervals returns which of the draws of lists of training are those of intervals.
func ofIntervals(cfg gumbel.Config, d *gumbel.Distribution, u []float64, lists int) (of []float64) {
	counts, _ := cfg.Group.Split(cfg.Max)
	for range lists {
		for i, axis := range cfg.Group.Axes() {
			if !axis.Continuous() || cfg.Method == gumbel.Deterministic {
				u = u[counts[i]-1:]
				continue
			}
			n := max(1, int(math.Ceil(float64(float32(counts[i])*float32(d.Learned()[i].Theta)))))
			if cfg.Jitter == gumbel.Comb {
				n = 1
			}
			of, u = append(of, u[:n]...), u[n:]
		}
	}
	return of
}

// likely reports whether an element stands, on each axis of values that are kept or dropped,
// at one that is kept more often than not.
func likely(cfg gumbel.Config, d *gumbel.Distribution, g lie.Element) bool {
	grid := cfg.Group.Grid(cfg.Max)
	distance := 1
	counts, _ := cfg.Group.Split(cfg.Max)
	for i, l := range d.Learned() {
		for k, p := range l.Keep {
			if grid[k*distance][i] == g[i] && p <= 0.5 {
				return false
			}
		}
		distance *= counts[i]
	}
	return true
}

// Under Compat what is dropped is drawn in evaluation as in training, and several lists keep
// what each would alone.
func TestEvaluationOfCompat(t *testing.T) {
	for at, cfg := range kinds() {
		cfg.Compat = true
		if _, err := gumbel.New(cfg); err != nil {
			continue // TestConfigErrors
		}
		for _, lists := range []int{1, 2, 3} {
			d := newDistribution(t, cfg)
			learned := learnedOf(cfg, d)
			values := make([]float32, len(learned))
			train, eval, alone := d.NewLists(lists), d.NewLists(lists), d.NewLists(1)
			src := stream.New(1, "compat", uint64(at))
			lengths := map[int]bool{}
			for step := range 300 {
				randomize(cfg, values, src)
				learned.set(values)
				d.Draw(train, stream.New(2, "compat", uint64(step)), true)
				d.Draw(eval, stream.New(2, "compat", uint64(step)), false)
				if !slices.Equal(eval.G, train.G) || !slices.Equal(eval.Weight, train.Weight) {
					t.Fatalf("%s: %v with weights %v, in training %v with %v", name(cfg), eval.G, eval.Weight, train.G, train.Weight)
				}
				src := stream.New(2, "compat", uint64(step))
				for s := range lists {
					var kept []lie.Element
					for k, g := range eval.List(s) {
						if eval.Weight == nil || eval.Weight[s*eval.Len()+k] != 0 {
							kept = append(kept, g)
						}
					}
					if d.Draw(alone, src, false); !slices.Equal(kept, alone.G) {
						t.Fatalf("%s: list %d of %d keeps %v, drawn alone %v", name(cfg), s, lists, kept, alone.G)
					}
				}
				lengths[eval.Len()] = true
			}
			if len(lengths) == 1 && len(learned) > 0 {
				t.Errorf("%s, %d lists: always %v elements", name(cfg), lists, lengths)
			}
		}
	}
}

// Every list contains the identity, unless it lies on an interval.
func TestIdentityIsKept(t *testing.T) {
	for _, cfg := range kinds() {
		if cfg.Method == gumbel.Random && cfg.Group.Dim() > 0 {
			continue
		}
		d := newDistribution(t, cfg)
		for i := range d.Parameters()[0].Host {
			d.Parameters()[0].Host[i] = -gumbel.MaxRho
		}
		e := gumbel.NewElements(cfg.Group, cfg.Max)
		src := stream.New(1, "identity", 0)
		for range cases() {
			d.Draw(e, src, false)
			if !slices.Contains(e.G, lie.Element{}) {
				t.Fatalf("%s: %v", name(cfg), e.G)
			}
		}
	}
}

// The frequencies of 10,000 lists are the probabilities that Learned tells, elements
// are dropped independently of each other, and the elements of several intervals are
// uncorrelated.
func TestSubsetMoments(t *testing.T) {
	const draws = 10000
	for at, cfg := range kinds() {
		if cfg.Method == gumbel.Random && cfg.Group.Dim() > 0 {
			continue
		}
		d := newDistribution(t, cfg)
		for i, v := range learnedOf(cfg, d) {
			v.Host[v.at] = float32(i%5-2) / 2
		}
		counts, _ := cfg.Group.Split(cfg.Max)
		probability := make([]float64, cfg.Max) // of each element of the grid
		learned := d.Learned()
		for k := range probability {
			rest := k
			probability[k] = 1
			for i := range cfg.Group.Axes() {
				probability[k] *= learned[i].Keep[rest%counts[i]]
				rest /= counts[i]
			}
		}
		e := gumbel.NewElements(cfg.Group, cfg.Max)
		src := stream.New(1, "moments", uint64(at))
		kept, size := make([]float64, cfg.Max), 0.0
		both := 0.0 // the last two of the first axis
		for range draws {
			d.Draw(e, src, true)
			for k, w := range e.Weight {
				kept[k] += w / draws
				size += w / draws / float64(cfg.Max)
			}
			if n := counts[0]; n > 2 {
				both += e.Weight[n-1] * e.Weight[n-2] / draws
			}
		}
		for k, p := range probability {
			if !(math.Abs(kept[k]-p) <= 5*math.Sqrt(p*(1-p)/draws)+1e-9) {
				t.Errorf("%s: element %d was kept in %v of the draws, want %v", name(cfg), k, kept[k], p)
			}
		}
		if n := counts[0]; n > 2 {
			p := probability[n-1] * learned[0].Keep[n-2]
			if !(math.Abs(both-p) <= 5*math.Sqrt(p*(1-p)/draws)+1e-9) {
				t.Errorf("%s: two elements were kept together in %v of the draws, want %v", name(cfg), both, p)
			}
		}
		if !(math.Abs(size-d.Size()) <= 0.02) {
			t.Errorf("%s: %v of the group was kept, Size says %v", name(cfg), size, d.Size())
		}
	}

	cfg := gumbel.Config{Group: lie.Sim2, Max: 16, Partial: true, Name: "probs"}
	d := newDistribution(t, cfg)
	theta := []float64{0.75, 0.5}
	d.Parameters()[0].Host[0], d.Parameters()[0].Host[1] = 0.75, 0.5
	e := gumbel.NewElements(cfg.Group, cfg.Max)
	src := stream.New(1, "intervals", 0)
	var mean, square [2]float64
	covariance := 0.0
	for range draws {
		d.Draw(e, src, true)
		for _, g := range e.G {
			v := cfg.Group.Log(g)
			for i, axis := range cfg.Group.Axes() {
				x := v[i] / (axis.Extent * theta[i])
				mean[i] += x / draws / float64(len(e.G))
				square[i] += x * x / draws / float64(len(e.G))
			}
			covariance += v[0] * v[1] / draws / float64(len(e.G))
		}
	}
	for i := range mean {
		if !(math.Abs(mean[i]) <= 0.01) || !(math.Abs(square[i]-1.0/3) <= 0.01) {
			t.Errorf("axis %d: mean %v, mean square %v, want 0 and 1/3", i, mean[i], square[i])
		}
	}
	if !(math.Abs(covariance) <= 0.01) {
		t.Errorf("covariance %v, want 0", covariance)
	}
}

// An element that is mostly dropped comes back when the loss wants it. Under Compat
// a dropped element has no gradient.
func TestDroppedElementsComeBack(t *testing.T) {
	d := newDistribution(t, gumbel.Config{Group: lie.Mirror, Max: 2, Partial: true, Name: "probs"})
	ps := bind(t, d, -1.5)
	p := ps.Lookup("keep")
	ps.Lookup("group.gumbel_iter_counter").Host[0] = 0
	ps.Upload()
	e := gumbel.NewElements(lie.Mirror, 2)
	src := stream.New(1, "back", 0)
	for range 2000 {
		d.Draw(e, src, true)
		e.WeightGrad[1] = -1 // the loss is minus the weight of the mirrored element
		ps.ZeroGrad()
		d.Backward(e)
		ps.Download()
		p.Host[0] -= 0.1 * p.Grad.Host()[0]
		ps.Upload()
		d.Clamp()
	}
	if keep := d.Learned()[0].Keep[1]; !(keep > 0.95) {
		t.Errorf("after training the element is kept with probability %v", keep)
	}

	d = newDistribution(t, gumbel.Config{Group: lie.E2, Max: 4, Partial: true, Compat: true, Name: "probs"})
	ps = bind(t, d, 1)
	e = gumbel.NewElements(lie.E2, 4)
	for _, c := range []struct {
		u       float64
		n       int
		reaches bool
	}{{0.01, 2, false}, {0.5, 4, true}} {
		d.Draw(e, &replay{u: []float64{0.3, c.u}}, true)
		for i := range e.Grad {
			e.Grad[i][1] = 1
		}
		ps.ZeroGrad()
		d.Backward(e)
		if got := ps.Lookup("probs").Grad.Host()[1]; len(e.G) != c.n || (got != 0) != c.reaches {
			t.Errorf("Compat, draw %v: %d elements, gradient %v", c.u, len(e.G), got)
		}
	}
}

// The count of draws lives in a parameter, so that a checkpoint has it; only draws
// of training add to it.
func TestAnnealing(t *testing.T) {
	for _, c := range []struct {
		cfg   gumbel.Config
		draws float32 // of one pass
	}{
		{gumbel.Config{Group: lie.E2, Max: 8, Method: gumbel.Deterministic}, 1},
		{gumbel.Config{Group: lie.E2, Max: 8}, 1},
		{gumbel.Config{Group: lie.E2, Max: 8, Method: gumbel.Deterministic, Compat: true}, 2},
		{gumbel.Config{Group: lie.E2, Max: 8, Compat: true}, 1},
	} {
		c.cfg.Partial, c.cfg.Name = true, "blocks.0.gconv1.probs"
		d := newDistribution(t, c.cfg)
		d.Anneal(10)
		p := d.Parameters()[len(d.Parameters())-1]
		if p.Name != "blocks.0.gconv1.group.gumbel_iter_counter" || p.Class != nn.Statistic || !slices.Equal(p.Shape, []int{1}) {
			t.Errorf("the count is %q of class %d and shape %v", p.Name, p.Class, p.Shape)
		}
		e := gumbel.NewLists(lie.E2, 8, 2)
		src := stream.New(1, "annealing", 0)
		for step := range 30 {
			if want := float32(step) * c.draws; p.Host[0] != want {
				t.Fatalf("%+v: count %v after %d draws, want %v", c.cfg, p.Host[0], step, want)
			}
			d.Draw(e, src, false)
			d.Midpoints(e)
			d.Draw(e, src, true)
		}
		// The slope of a sample at u = 1/2 and rho = 0 is 2/(4T).
		all := learnedOf(c.cfg, d)
		mirror := all[len(all)-1]
		mirror.Host[mirror.at] = 0
		for draws, want := range map[float32]float64{0: 0.5, 5: 0.5 - 0.4999*5/10, 10: 1e-4, 20: 1e-4} {
			if c.cfg.Compat {
				continue // has no weights; its temperature is held against the reference's numbers
			}
			p.Host[0] = draws
			ps := bind(t, d, 0)
			p.Host[0] = draws
			ps.Upload()
			half := make([]float64, 16)
			for i := range half {
				half[i] = 0.5
			}
			one := gumbel.NewElements(lie.E2, 8)
			d.Draw(one, &replay{u: half}, true)
			n := one.Len() / 2
			one.WeightGrad[n] = 1
			ps.ZeroGrad()
			d.Backward(one)
			if got := float64(1 / (2 * mirror.Grad.Host()[mirror.at])); !(math.Abs(got/want-1) <= 1e-5) {
				t.Errorf("%+v: temperature %v after %v draws, want %v", c.cfg, got, draws, want)
			}
		}
	}
	// One-axis distributions without subsets have no count: their checkpoints have none.
	if n := len(newDistribution(t, gumbel.Config{Group: lie.SE2, Max: 8, Partial: true, Name: "probs"}).Parameters()); n != 1 {
		t.Errorf("%d parameters", n)
	}
}

func TestSubsetClampAndSize(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, device := range []bool{false, true} {
		d := newDistribution(t, gumbel.Config{Group: lie.E2, Max: 8, Partial: true, Name: "probs"})
		size, keep := d.Parameters()[0], d.Parameters()[1]
		if size.Class != nn.Subset || keep.Name != "keep" || keep.Class != nn.Keep {
			t.Errorf("%s is of class %d, %s of class %d", size.Name, size.Class, keep.Name, keep.Class)
		}
		ps := new(nn.Parameters)
		if device {
			ps = bind(t, d, 1)
		} else {
			ps.Add(d.Parameters()...)
		}
		for _, c := range []struct{ theta, rho, wantTheta, wantRho float32 }{
			{7, 7, 1, gumbel.MaxRho}, {-7, -7, gumbel.MinTheta, -gumbel.MaxRho}, {0.5, 1, 0.5, 1}, {inf, -inf, 1, -gumbel.MaxRho},
		} {
			size.Host[0], keep.Host[0] = c.theta, c.rho
			if device {
				ps.Upload()
			}
			d.Clamp()
			if device {
				ps.Download()
			}
			if size.Host[0] != c.wantTheta || keep.Host[0] != c.wantRho {
				t.Errorf("device %v: (%v, %v) clamped to (%v, %v)", device, c.theta, c.rho, size.Host[0], keep.Host[0])
			}
		}
		size.Host[0], keep.Host[0] = 0.75, 0.5
		if device {
			ps.Upload()
		}
		p := 1 / (1 + math.Exp(-1))
		if want := 0.75 * (1 + p) / 2; !(math.Abs(d.Size()-want) <= 1e-7) {
			t.Errorf("size %v, want %v", d.Size(), want)
		}
		d.SetSize(0.75)
		learned := d.Learned()
		if learned[0].Theta != 0.75 || learned[1].Keep[1] > 1e-30 || learned[1].Keep[0] != 1 {
			t.Errorf("device %v: SetSize(0.75) made %+v", device, learned)
		}
		for _, size := range []float64{1, 2, math.Inf(1)} {
			d.SetSize(size)
			if l := d.Learned(); l[1].Keep[1] != 1 {
				t.Errorf("SetSize(%v) keeps with probability %v", size, l[1].Keep[1])
			}
		}
		d.SetSize(-1)
		if keep := d.Learned()[1].Keep[1]; !(keep < 1e-30) {
			t.Errorf("SetSize(-1) keeps with probability %v", keep)
		}
	}
	full := newDistribution(t, gumbel.Config{Group: lie.E2, Max: 8})
	full.SetSize(0.5)
	if l := full.Learned(); full.Size() != 1 || l[0].Theta != 1 || !slices.Equal(l[1].Keep, []float64{1, 1}) {
		t.Errorf("the whole group is %+v, size %v", l, full.Size())
	}
}

// At size 1 nothing is dropped, whatever is drawn, and at 0 all but one element is.
func TestSizesAreCertain(t *testing.T) {
	for _, cfg := range kinds() {
		d := newDistribution(t, cfg)
		e := gumbel.NewElements(cfg.Group, cfg.Max)
		for _, u := range []float64{0, 0.25, 1 - 0x1p-53} {
			for size, want := range []int{1, cfg.Max} {
				d.SetSize(float64(size))
				d.Draw(e, &replay{u: slices.Repeat([]float64{u}, 2*cfg.Max)}, false)
				if len(e.G) != want {
					t.Errorf("%s: %d elements of size %d at %v, want %d", name(cfg), len(e.G), size, u, want)
				}
			}
		}
	}
}

// On a grid a size is an interval around the identity, as wide as on an axis without one.
func TestSizesOfGrids(t *testing.T) {
	for _, c := range []struct {
		group lie.Group
		max   int
		size  float64
		want  []float64 // on the first axis
	}{
		{lie.SE2, 8, 0.5, []float64{1, 1, 1, 0, 0, 0, 1, 1}},
		{lie.SE2, 8, 0.49, []float64{1, 1, 0, 0, 0, 0, 0, 1}},
		{lie.SE2, 6, 1.0 / 3, []float64{1, 1, 0, 0, 0, 1}},
		{lie.SE2, 5, 0.8, []float64{1, 1, 1, 1, 1}},
		{lie.SE2, 5, 0.79, []float64{1, 1, 0, 0, 1}},
		{lie.Cyclic(6), 6, 2.0 / 3, []float64{1, 1, 1, 0, 1, 1}},
		{lie.Mirror, 2, 0.99, []float64{1, 0}},
		{lie.RPlus, 4, 0.5, []float64{0, 1, 1, 1}},
		{lie.RPlus, 5, 0.5, []float64{0, 1, 1, 1, 0}},
		{lie.SE2, 8, 0, []float64{1, 0, 0, 0, 0, 0, 0, 0}},
	} {
		d := newDistribution(t, gumbel.Config{Group: c.group, Max: c.max, Method: gumbel.Deterministic, Partial: true, Name: "probs"})
		d.SetSize(c.size)
		keep := d.Learned()[0].Keep
		for k := range keep {
			keep[k] = math.Round(1e6*keep[k]) / 1e6
		}
		if !slices.Equal(keep, c.want) {
			t.Errorf("%s-%d at size %v keeps %v, want %v", c.group.Name(), c.max, c.size, keep, c.want)
		}
	}
}

// A spoilt parameter shows in the weights, and lists keep their bounds.
func TestNaNShowsInWeights(t *testing.T) {
	d := newDistribution(t, gumbel.Config{Group: lie.Cyclic(4), Max: 4, Partial: true, Name: "probs"})
	d.Parameters()[0].Host[1] = float32(math.NaN())
	for _, lists := range []int{1, 3} {
		e := d.NewLists(lists)
		d.Draw(e, stream.New(1, "nan", 0), true)
		if e.Len() != 4 || !math.IsNaN(e.Weight[2]) {
			t.Errorf("weights %v", e.Weight)
		}
		d.Draw(e, stream.New(1, "nan", 0), false)
		if e.Len() > 4 || !slices.ContainsFunc(e.Weight, math.IsNaN) {
			t.Errorf("weights %v in evaluation", e.Weight)
		}
		d.Midpoints(e)
		if e.Len() > 4 || !slices.ContainsFunc(e.Weight, math.IsNaN) {
			t.Errorf("weights %v of the midpoints", e.Weight)
		}
	}
}

func TestSubsetsAllocateNothing(t *testing.T) {
	for _, cfg := range kinds() {
		for _, compat := range []bool{false, true} {
			cfg.Compat = compat
			d, err := gumbel.New(cfg)
			if err != nil {
				continue // TestConfigErrors
			}
			bind(t, d, 1)
			e := gumbel.NewLists(cfg.Group, cfg.Max, 3)
			src := stream.New(1, "allocs", 0)
			if n := testing.AllocsPerRun(100, func() {
				d.Draw(e, src, true)
				d.Backward(e)
				d.Clamp()
				d.Draw(e, src, false)
				d.Midpoints(e)
			}); n != 0 {
				t.Errorf("%s, compat %v: %v allocations", name(cfg), compat, n)
			}
		}
	}
}

// The weights of the whole group are its measure.
func TestMeasureOfWholeGroup(t *testing.T) {
	for _, cfg := range kinds() {
		cfg.Partial = false
		for measure := range gumbel.Haar + 1 {
			cfg.Measure = measure
			d := newDistribution(t, cfg)
			e := gumbel.NewElements(cfg.Group, cfg.Max)
			d.Draw(e, stream.New(1, "measure", 0), true)
			if (e.Weight == nil) != (measure == gumbel.Counting) {
				t.Errorf("%s: weights %v", name(cfg), e.Weight)
			}
			want := make([]float64, len(e.Weight))
			for i := range want {
				want[i] = 1 / float64(cfg.Max)
			}
			golden.Close(t, name(cfg), e.Weight, want, 1e-15, 0)
		}
	}
}

// A subset that is a point has next to no measure, yet as much of it everywhere: means by it are finite.
func TestMeasureOfPoint(t *testing.T) {
	for _, cfg := range kinds() {
		if cfg.Method == gumbel.Deterministic {
			continue // whose subsets are never without a measure
		}
		cfg.Measure = gumbel.Haar
		d := newDistribution(t, cfg)
		d.SetSize(0)
		e := gumbel.NewElements(cfg.Group, cfg.Max)
		d.Draw(e, stream.New(1, "point", 0), false)
		for _, w := range e.Weight {
			if !(w > 0) || w != e.Weight[0] || cfg.Group.Dim() > 0 && w > 1e-6 {
				t.Errorf("%s: weights %v", name(cfg), e.Weight)
			}
		}
	}
}

// Lists say beforehand whether Draw may give them weights.
func TestWeighted(t *testing.T) {
	for _, cfg := range kinds() {
		for _, partial := range []bool{false, true} {
			for measure := range gumbel.Haar + 1 {
				for _, compat := range []bool{false, true} {
					for _, lists := range []int{1, 3} {
						cfg.Partial, cfg.Measure, cfg.Compat = partial, measure, compat
						d, err := gumbel.New(cfg)
						if err != nil {
							continue // TestConfigErrors
						}
						e := d.NewLists(lists)
						seen := false
						src := stream.New(1, "weighted", 0)
						for range 200 {
							d.Draw(e, src, true)
							seen = seen || e.Weight != nil
							d.Draw(e, src, false)
							seen = seen || e.Weight != nil
						}
						if seen != e.Weighted || e.Lists() != lists || e.Max() != cfg.Max {
							t.Errorf("%s, partial %v, compat %v, %d lists: weights %v, Weighted %v", name(cfg), partial, compat, lists, seen, e.Weighted)
						}
					}
				}
			}
		}
	}
}

// Lists are rigid, from the beginning, where nothing is learned from the gradient of the elements.
func TestRigid(t *testing.T) {
	for _, cfg := range kinds() {
		for _, partial := range []bool{false, true} {
			for _, compat := range []bool{false, true} {
				cfg.Partial, cfg.Compat = partial, compat
				d, err := gumbel.New(cfg)
				if err != nil {
					continue // TestConfigErrors
				}
				params := bind(t, d, 0.5)
				e := d.NewLists(1)
				planned := e.Rigid
				src := stream.New(1, "rigid", 0)
				params.ZeroGrad()
				moved := false
				for range 20 {
					d.Draw(e, src, true)
					for i := range e.Grad {
						for k := range e.Grad[i] {
							e.Grad[i][k] = src.Normal()
						}
					}
					clear(e.WeightGrad)
					d.Backward(e)
				}
				for _, p := range params.All() {
					moved = moved || p.Trained() && slices.ContainsFunc(p.Grad.Host(), func(g float32) bool { return g != 0 })
				}
				if planned == moved || e.Rigid == moved {
					t.Errorf("%s, compat %v: rigid %v, when drawn %v, though learned from the elements is %v", name(cfg), compat, planned, e.Rigid, moved)
				}
			}
		}
	}
}

// TestIID: elements lie anywhere on the subset, whichever their place in the list, and
// do not know of each other. Midpoints are those of the cells all the same.
func TestIID(t *testing.T) {
	const draws, n = 10000, 4
	for _, learned := range []bool{false, true} {
		cfg := gumbel.Config{Group: lie.SE2, Max: n, Partial: learned, Jitter: gumbel.IID, Name: "probs"}
		d := newDistribution(t, cfg)
		theta := 1.0
		if learned {
			theta = 0.8 // of four elements still four
			d.Parameters()[0].Host[0] = 0.8
		}
		e := gumbel.NewElements(lie.SE2, n)
		src := stream.New(1, "iid", 0)
		var mean, square [n]float64
		covariance := 0.0
		for range draws {
			d.Draw(e, src, true)
			var x [n]float64
			for i, g := range e.G {
				x[i] = lie.SE2.Log(g)[0] / (math.Pi * theta) // within [-1, 1)
				mean[i] += x[i] / draws
				square[i] += x[i] * x[i] / draws
			}
			covariance += x[0] * x[1] / draws
		}
		for i := range n {
			if !(math.Abs(mean[i]) <= 0.03) || !(math.Abs(square[i]-1.0/3) <= 0.02) {
				t.Errorf("element %d: mean %v, mean square %v, want 0 and 1/3", i, mean[i], square[i])
			}
		}
		if !(math.Abs(covariance) <= 0.02) {
			t.Errorf("covariance %v, want 0", covariance)
		}
		middle, cells := gumbel.NewElements(lie.SE2, n), gumbel.NewElements(lie.SE2, n)
		d.Midpoints(middle)
		cfg.Jitter = gumbel.Stratified
		of := newDistribution(t, cfg)
		if learned {
			of.Parameters()[0].Host[0] = 0.8
		}
		of.Midpoints(cells)
		if !slices.Equal(middle.G, cells.G) {
			t.Errorf("midpoints %v, want %v", middle.G, cells.G)
		}
	}
}
