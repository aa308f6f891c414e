package model

import (
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
)

// Zero values of the configurations stand for what their documentation says.
func TestDefaults(t *testing.T) {
	shared := networkJSON{Group: "SE(2)", Elements: 8, Classes: 10, Norm: "BatchNorm"}
	shared.KernelNet, shared.KernelLayers, shared.Omega0 = "SIREN", 3, 10
	shared.Jitter = uint8(gumbel.Comb - gumbel.Stratified) // of the whole group
	resnet, gcnn := shared, shared
	resnet.Type, resnet.Channels, resnet.Side, resnet.Width = "CKResNet", 1, 28, 32
	resnet.KernelSide, resnet.KernelHidden = 7, 32
	resnet.Factors, resnet.Pools, resnet.Pooling = []int{1, 2}, []int{0, 1}, "max"
	gcnn.Type, gcnn.Channels, gcnn.Side, gcnn.Width = "GCNN", 3, 32, 128
	gcnn.KernelSide, gcnn.KernelHidden = 3, 8
	gcnn.Factors, gcnn.Pools, gcnn.Pooling = []int{1, 2, 2, 2, 2, 2, 2, 2}, []int{2, 5}, "mean"
	dropping := gcnn
	dropping.Dropout, dropping.Dropouts = 0.1, []int{2, 5, 8}
	for _, c := range []struct {
		got  settings
		want networkJSON
	}{
		{CKResNetConfig{}.settings(), resnet},
		{GCNNConfig{}.settings(), gcnn},
		{GCNNConfig{Dropout: 0.1}.settings(), dropping},
	} {
		s := c.got.withDefaults()
		if what := differs(s.describe(), c.want); what != "" || s.Algorithm != conv.Auto {
			t.Errorf("%s with dropout %v: %s, algorithm %q", s.Type, s.Dropout, what, s.Algorithm)
		}
	}
}

// Zero values of a TrainConfig stand for what its documentation says, and others stay as they are.
func TestTrainDefaults(t *testing.T) {
	given := TrainConfig{
		Epochs: 3, Batch: 2, EvalDraws: 7, Threads: 5, Schedule: PlateauSchedule, Decay: Decay{Factor: 2},
		Optimizer: nn.OptimizerConfig{LR: 0.5, SubsetLR: 0.25, KeepLR: 0.125},
	}
	lowering := given
	lowering.Decay.Factor = 0
	ten := given
	ten.Decay.Factor = 10
	for _, c := range []struct{ cfg, want TrainConfig }{
		{TrainConfig{}, TrainConfig{
			Epochs: 10, Batch: 64, EvalDraws: 5, Threads: runtime.GOMAXPROCS(0), Schedule: ConstantSchedule,
			Optimizer: nn.OptimizerConfig{LR: 1e-3, SubsetLR: 1e-2, KeepLR: 0.3},
		}},
		{given, given},
		{lowering, ten},
	} {
		if got := c.cfg.withDefaults(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v stands for\n%+v, want\n%+v", c.cfg, got, c.want)
		}
	}
}

// Temperatures fall over the steps that a run takes; under Compat over those that the
// published program plans, with last partial batches that it then drops.
func TestAnnealingOfARun(t *testing.T) {
	for _, compat := range []bool{false, true} {
		cfg := quick(1)
		cfg.Batch = 7
		trained := func(steps int) []float32 {
			net := newTinyWith(t, func(c *CKResNetConfig) { c.Group, c.Elements, c.Compat = lie.E2, 4, compat })
			tr := newTrainerOf(t, net, cfg)
			if steps > 0 {
				for _, s := range net.distributions() {
					s.Anneal(steps)
				}
			}
			take(t, tr, 6)
			return bits(net)
		}
		images := toySet().Train.Len()
		taken, planned := cfg.Epochs*(images/cfg.Batch), cfg.Epochs*((images+cfg.Batch-1)/cfg.Batch)
		if taken == planned {
			t.Fatal("there is no partial batch")
		}
		want, other := taken, planned
		if compat {
			want, other = planned, taken
		}
		run := trained(0)
		if !slices.Equal(run, trained(want)) || slices.Equal(run, trained(other)) {
			t.Errorf("compat %v: temperatures do not fall over %d steps", compat, want)
		}
	}
}

// A run of a network that was trained before has the temperatures of the first one, and so
// has that of a network out of a file. Under Compat they would go on below 0.
func TestAnnealingOfASecondRun(t *testing.T) {
	counts := func(net *Network) (list []float32) {
		for _, p := range net.params.All() {
			if strings.HasSuffix(p.Name, drawsBuffer) {
				list = append(list, p.Host[0])
			}
		}
		return list
	}
	for _, compat := range []bool{false, true} {
		net := newTinyWith(t, func(c *CKResNetConfig) { c.Group, c.Elements, c.Compat = lie.E2, 4, compat })
		run := func(net *Network) []float32 {
			tr := newTrainerOf(t, net, quick(1))
			defer tr.Close()
			if c := counts(net); slices.Max(c) != 0 {
				t.Errorf("compat %v: a run begins with counts %v on the host", compat, c)
			}
			take(t, tr, 6)
			net.params.Download()
			return counts(net)
		}
		first := run(net)
		if len(first) == 0 || slices.Min(first) < 6 {
			t.Fatalf("compat %v: counts %v after 6 steps", compat, first)
		}
		path := filepath.Join(t.TempDir(), "net")
		if err := net.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(counts(loaded), first) {
			t.Errorf("compat %v: counts %v become %v in a file", compat, first, counts(loaded))
		}
		for what, net := range map[string]*Network{"trained": net, "loaded": loaded} {
			if again := run(net); !slices.Equal(again, first) {
				t.Errorf("compat %v, %s: counts %v after as many steps, at first %v", compat, what, again, first)
			}
		}
	}
}

// Temperatures reach the draws of training, the defaults among them, and a resumed run
// has the same ones.
func TestTemperatures(t *testing.T) {
	trained := func(t *testing.T, change func(c *CKResNetConfig)) []float32 {
		t.Helper()
		net := newTinyWith(t, func(c *CKResNetConfig) {
			c.Group, c.Elements = lie.E2, 4
			change(c)
		})
		tr := newTrainerOf(t, net, quick(1))
		take(t, tr, 6)
		return bits(net)
	}
	for what, augerino := range map[string]bool{"layers": false, "copies": true} {
		with := func(first, last float64) []float32 {
			return trained(t, func(c *CKResNetConfig) {
				c.InitTemperature, c.EndTemperature = first, last
				c.Augerino, c.Partial = augerino, !augerino
			})
		}
		plain := with(0, 0)
		if !slices.Equal(plain, with(0.5, 1e-4)) {
			t.Errorf("%s: the defaults are others than 0.5 and 1e-4", what)
		}
		if slices.Equal(plain, with(2, 1e-4)) {
			t.Errorf("%s: the temperature at the beginning makes no difference", what)
		}
		if slices.Equal(plain, with(0.5, 0.4)) {
			t.Errorf("%s: the temperature at the end makes no difference", what)
		}
	}
	state := filepath.Join(t.TempDir(), "state")
	warm := func(last float64) *Trainer {
		return newTrainerOf(t, newTinyWith(t, func(c *CKResNetConfig) { c.Group, c.Elements, c.EndTemperature = lie.E2, 4, last }), quick(1))
	}
	if err := warm(0.3).SaveState(state); err != nil {
		t.Fatal(err)
	}
	if err := warm(0.3).LoadState(state); err != nil {
		t.Error(err)
	}
	if err := warm(0).LoadState(state); err == nil || !strings.Contains(err.Error(), "end_temperature is 0.3") {
		t.Errorf("the state of a run with another temperature: %v", err)
	}
}

// Dropout in residual blocks is drawn anew in each step, and changes training alone.
func TestDropoutInBlocks(t *testing.T) {
	images := make([]float32, 4*144)
	for i, v := range toySet().Train.Images[:len(images)] {
		images[i] = float32(v) / 255
	}
	// The logits in evaluation and in three steps of training, the last two of one number,
	// of a network that draws nothing else.
	answers := func(p float64) (all [4][]float32) {
		net := newTinyWith(t, func(c *CKResNetConfig) {
			c.Partial, c.Elements, c.Sampling, c.Dropout = false, 4, gumbel.Deterministic, p
		})
		if places := len(net.dropouts); p == 0 && places != 0 || p > 0 && places != len(net.cfg.Factors) {
			t.Errorf("%d places of dropout in %d blocks, with probability %v", places, len(net.cfg.Factors), p)
		}
		bindAs(t, net, 4, false)
		for i, step := range []uint64{0, 1, 2, 2} {
			train := i > 0
			if train {
				net.Draw(1, Training, step)
			} else {
				net.Draw(1, Evaluation, step)
			}
			net.Forward(images, train)
			all[i] = slices.Clone(net.Logits().Live().Host())
		}
		return all
	}
	without, with := answers(0), answers(0.5)
	if !slices.Equal(without[0], with[0]) {
		t.Error("dropout changes an evaluation")
	}
	if slices.Equal(without[1], with[1]) || slices.Equal(with[1], with[2]) {
		t.Error("dropout does not change training, or leaves out the same in every step")
	}
	if !slices.Equal(without[1], without[2]) || !slices.Equal(with[2], with[3]) {
		t.Error("a step is another one when it is repeated")
	}
}

// Without biases of convolutions all else is as with them.
func TestNoBias(t *testing.T) {
	for name, build := range map[string]func(without bool) (*Network, error){
		"CKResNet": func(without bool) (*Network, error) {
			c := tiny()
			c.NoBias = without
			return NewCKResNet(c)
		},
		"GCNN": func(without bool) (*Network, error) {
			c := tinyGCNN()
			c.NoBias = without
			return NewGCNN(c)
		},
	} {
		biases := func(net *Network) (list []string) {
			for _, p := range net.params.All() {
				if convolution, ok := strings.CutSuffix(p.Name, ".bias"); ok && slices.ContainsFunc(net.convs, func(k kernels) bool { return k.cfg.Name == convolution }) {
					list = append(list, p.Name)
				}
			}
			return list
		}
		with, err := build(false)
		if err != nil {
			t.Fatal(err)
		}
		if len(biases(with)) != len(with.convs) {
			t.Errorf("%s: biases %q of %d convolutions", name, biases(with), len(with.convs))
		}
		net, err := build(true)
		if err != nil {
			t.Fatal(err)
		}
		if left := biases(net); left != nil {
			t.Errorf("%s: biases %q", name, left)
		}
		// Biases begin at zero, so that the first step is the same without them.
		losses := map[*Network]float64{}
		for _, n := range []*Network{with, net} {
			cfg := quick(1)
			cfg.Penalties.Norms = 1e-3 // of biases too
			tr := newTrainerOf(t, n, cfg)
			if losses[n], err = tr.Step(); err != nil {
				t.Fatal(err)
			}
			n.params.Download()
		}
		if losses[net] != losses[with] {
			t.Errorf("%s: the loss is %v with biases of zero and %v without", name, losses[with], losses[net])
		}
		for _, p := range net.params.All() {
			if q := with.params.Lookup(p.Name); q == nil || !slices.Equal(p.Host, q.Host) {
				t.Errorf("%s: %s is another one after the first step", name, p.Name)
			}
		}
		path := filepath.Join(t.TempDir(), "net.safetensors")
		if err := net.Save(path); err != nil {
			t.Fatal(err)
		}
		twin, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(bits(net), bits(twin)) || biases(twin) != nil {
			t.Errorf("%s: a network that was saved and loaded is another one", name)
		}
	}
}

// TestEverySettingCounts: every field of a configuration is a setting of the network, and
// no other.
func TestEverySettingCounts(t *testing.T) {
	eachSetting(t, CKResNetConfig{}, CKResNetConfig.settings)
	eachSetting(t, GCNNConfig{Dropouts: []int{3}}, GCNNConfig.settings) // which Dropout would fill in
}

// eachSetting changes one field of a configuration at a time and wants the setting of its
// name to be the only one that changes.
func eachSetting[C any](t *testing.T, plain C, settings func(C) settings) {
	t.Helper()
	before := reflect.ValueOf(settings(plain))
	fields := reflect.TypeFor[C]()
	for i := range fields.NumField() {
		changed := plain
		value := reflect.ValueOf(&changed).Elem().Field(i)
		value.Set(unusual(value.Type()))
		after := reflect.ValueOf(settings(changed))
		for k := range after.NumField() {
			want, name := before.Field(k), after.Type().Field(k).Name
			if name == fields.Field(i).Name {
				want = value
			}
			if got := after.Field(k).Interface(); !reflect.DeepEqual(got, want.Interface()) {
				t.Errorf("%s.%s = %v: the setting %s is %v, want %v", fields.Name(), fields.Field(i).Name, value, name, got, want)
			}
		}
		if _, ok := after.Type().FieldByName(fields.Field(i).Name); !ok {
			t.Errorf("there is no setting %s", fields.Field(i).Name)
		}
	}
}

// unusual returns a value that is no default.
func unusual(of reflect.Type) reflect.Value {
	if of == reflect.TypeFor[lie.Group]() {
		return reflect.ValueOf(lie.Mirror)
	}
	value := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int:
		value.SetInt(77)
	case reflect.Uint8, reflect.Uint64:
		value.SetUint(77)
	case reflect.Float64:
		value.SetFloat(77)
	case reflect.String:
		value.SetString("unusual")
	default:
		value.Set(reflect.ValueOf([]int{7, 7}))
	}
	return value
}

// TestEverySettingReachesLayers: each setting makes a training step of a network that heeds it
// another one.
func TestEverySettingReachesLayers(t *testing.T) {
	nothing := func(*settings) {}
	mirrors := func(s *settings) { s.Group, s.Elements = lie.E2, 4 }
	full := func(s *settings) { s.Partial = false }
	perceptrons := func(s *settings) { s.KernelNet = conv.MLP }
	chain := func(s *settings) { s.Type, s.Pools, s.Dropout, s.Dropouts = typeGCNN, []int{1}, 0.5, []int{1} }
	copies := func(s *settings) { s.Partial, s.Augerino = false, true }
	rows := []struct {
		setting      string
		with, change func(s *settings)
	}{
		{"Type", nothing, func(s *settings) { s.Type = typeGCNN }},
		{"Group", mirrors, func(s *settings) { s.Group = lie.SE2 }},
		{"Group", copies, func(s *settings) { s.Group, s.Elements = lie.Sim2, 3 }},
		{"Elements", nothing, func(s *settings) { s.Elements = 4 }},
		{"Elements", copies, func(s *settings) { s.Elements = 4 }},
		{"Partial", nothing, full},
		{"PerElement", nothing, func(s *settings) { s.PerElement = true }},
		{"SharedElements", full, func(s *settings) { s.SharedElements = true }},
		{"Augerino", full, func(s *settings) { s.Augerino = true }},
		{"Channels", nothing, func(s *settings) { s.Channels = 2 }},
		{"Side", nothing, func(s *settings) { s.Side = 13 }},
		{"Classes", nothing, func(s *settings) { s.Classes = 3 }},
		{"Norm", nothing, func(s *settings) { s.Norm = LayerNorm }},
		{"Width", nothing, func(s *settings) { s.Width = 3 }},
		{"Factors", nothing, func(s *settings) { s.Factors = []int{1, 1} }},
		{"Pools", nothing, func(s *settings) { s.Pools = []int{1} }},
		{"LastT2", nothing, func(s *settings) { s.LastT2 = true }},
		{"Pooling", nothing, func(s *settings) { s.Pooling = MeanPooling }},
		{"Pooling", full, func(s *settings) { s.Pooling = LearnedPooling }},
		{"Dropout", nothing, func(s *settings) { s.Dropout = 0.5 }},
		{"Dropout", chain, func(s *settings) { s.Dropout = 0.25 }},
		{"Dropouts", chain, func(s *settings) { s.Dropouts = []int{2} }},
		{"Separable", nothing, func(s *settings) { s.Separable = true }},
		{"KernelNet", nothing, func(s *settings) { s.KernelNet = conv.Gabor }},
		{"KernelSide", func(s *settings) { s.Pools = []int{0} }, func(s *settings) { s.KernelSide = 5 }},
		{"KernelHidden", nothing, func(s *settings) { s.KernelHidden = 5 }},
		{"KernelLayers", nothing, func(s *settings) { s.KernelLayers = 4 }},
		{"Omega0", nothing, func(s *settings) { s.Omega0 = 20 }},
		{"LearnOmega0", nothing, func(s *settings) { s.LearnOmega0 = true }},
		{"WeightNorm", nothing, func(s *settings) { s.WeightNorm = true }},
		{"KernelActivation", perceptrons, func(s *settings) { s.KernelActivation = siren.Swish }},
		{"KernelNorm", perceptrons, func(s *settings) { s.KernelNorm = siren.LayerNorm }},
		{"Sampling", nothing, func(s *settings) { s.Sampling = gumbel.Deterministic }},
		{"Jitter", nothing, func(s *settings) { s.Jitter = gumbel.Comb }},
		{"Jitter", copies, func(s *settings) { s.Jitter = gumbel.IID }},
		{"Measure", nothing, func(s *settings) { s.Measure = gumbel.Mean }},
		{"Measure", full, func(s *settings) { s.Measure = gumbel.Haar }},
		{"InitTemperature", mirrors, func(s *settings) { s.InitTemperature = 2 }},
		{"NoBias", nothing, func(s *settings) { s.NoBias = true }},
		{"Compat", nothing, func(s *settings) { s.Compat = true }},
		{"Compat", copies, func(s *settings) { s.Compat = true }},
		{"Seed", nothing, func(s *settings) { s.Seed = 4 }},
	}
	elsewhere := map[string]string{"Algorithm": "TestAlgorithmOfLayers", "EndTemperature": "TestTemperatures"} // another step in nothing
	have := map[string]bool{}
	for _, r := range rows {
		have[r.setting] = true
		before := tiny().settings()
		r.with(&before)
		after := before
		r.change(&after)
		if slices.Equal(stepOf(t, before), stepOf(t, after)) {
			t.Errorf("%s changes nothing about a training step", r.setting)
		}
	}
	fields := reflect.TypeFor[settings]()
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; have[name] == (elsewhere[name] != "") {
			t.Errorf("there is no row for %s, or one too many", name)
		}
	}
}

// stepOf returns what a training step of a new network computes: the logits and all gradients.
func stepOf(t *testing.T, s settings) (all []float32) {
	t.Helper()
	net, err := newNetwork(s, mostValues)
	if err != nil {
		t.Fatal(err)
	}
	bindAs(t, net, 4, false)
	net.Draw(1, Training, 1)
	net.Forward(someImages(net, 4), true)
	net.Backward([]float32{0, 1, 0, 1})
	all = append(all, net.Logits().Live().Host()...)
	for _, p := range net.params.All() {
		if p.Trained() {
			all = append(all, p.Grad.Host()...)
		}
	}
	return all
}
