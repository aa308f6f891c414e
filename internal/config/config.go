// Package config describes runs: the configuration that a TOML file and -set
// assignments fill, the presets, and the networks and training runs that they
// stand for. The command line and the benchmarks share it.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
	"github.com/noether-go/noether/tensor"
)

// Config is one run: what config.toml holds and what -set changes.
type Config struct {
	Preset string `toml:"preset"` // where the values came from
	Seed   uint64 `toml:"seed"`
	Data   Data   `toml:"data"`
	Group  Group  `toml:"group"`
	Conv   Conv   `toml:"conv"`
	Kernel Kernel `toml:"kernel"`
	Net    Net    `toml:"net"`
	Train  Train  `toml:"train"`
}

// Blank is what an empty file stands for: what the keys meant before they were there.
func Blank() Config { return Config{Conv: Conv{Bias: true}} }

// Data chooses the images.
type Data struct {
	Set   string `toml:"set"`   // see dataSets
	Split string `toml:"split"` // of the images to train on: "seed", also where it is empty, or "published"
	// Side and Classes are, of images of one's own, how many pixels their height and width have, and the
	// number of their classes; 0 of the other sets.
	Side    int `toml:"side"`
	Classes int `toml:"classes"`
	Size    int `toml:"size"` // generated sixes to train on, of a set of drawings; 0: its default
	// RotInterval is, of mnist6-180, how far either way each six is turned at random
	// before it is copied, in degrees.
	RotInterval float64 `toml:"rot_interval"`

	Augment string  `toml:"augment"` // of the images to train on: "none", also where it is empty, "flip-crop" or "rotation"
	Rotate  float64 `toml:"rotate"`  // degrees, either way; of "rotation"
}

// Group chooses the group and how its elements are drawn.
type Group struct {
	Name     string `toml:"name"`
	Elements int    `toml:"elements"` // per layer
	Sampling string `toml:"sampling"` // "random" or "deterministic"
	Shared   bool   `toml:"shared"`   // group convolutions have the elements that the lifting convolution drew
	Jitter   string `toml:"jitter"`   // "auto", "stratified", "comb" or "iid"
	Measure  string `toml:"measure"`  // "counting", "mean" or "haar"

	// Temperatures of the draws by which elements are kept or dropped, in the first step of
	// training and after the last; 0: 0.5 and 1e-4.
	InitTemperature float64 `toml:"init_temperature"`
	EndTemperature  float64 `toml:"end_temperature"`
}

// Conv describes the group convolutions.
type Conv struct {
	Partial    bool   `toml:"partial"`     // learn which elements matter
	PerElement bool   `toml:"per_element"` // draw elements for every image of a batch
	Compat     bool   `toml:"compat"`      // the published program's sampler and gradients
	Bias       bool   `toml:"bias"`        // of all convolutions
	Separable  bool   `toml:"separable"`   // kernels are products of one on the group and one on the plane
	Algorithm  string `toml:"algorithm"`   // see conv.Algorithm
}

// Kernel describes the networks that render the convolution kernels.
type Kernel struct {
	Type   string  `toml:"type"`   // see conv.KernelNet
	Side   int     `toml:"side"`   // pixels, odd
	Hidden int     `toml:"hidden"` // units
	Layers int     `toml:"layers"`
	Omega0 float64 `toml:"omega0"` // of SIREN

	LearnOmega0 bool `toml:"learn_omega0"` // of SIREN
	WeightNorm  bool `toml:"weight_norm"`

	Activation string `toml:"activation"` // of MLP, see siren.Activation
	Norm       string `toml:"norm"`       // of MLP, see siren.Norm
}

// Net describes the network around the convolutions.
type Net struct {
	Type     string  `toml:"type"`     // see networks
	Norm     string  `toml:"norm"`     // see model.Norm; "": BatchNorm
	Width    int     `toml:"width"`    // channels of the lifting convolution
	Factors  []int   `toml:"factors"`  // width of each block, in units of Width
	Pools    []int   `toml:"pools"`    // where to halve the resolution: 0 after the lifting, i after block i
	LastT2   bool    `toml:"last_t2"`  // of CKResNet: the last convolution is on T(2)
	Pooling  string  `toml:"pooling"`  // see model.Pooling; "auto", also where it is empty: the network's own
	Dropout  float64 `toml:"dropout"`  // probability
	Dropouts []int   `toml:"dropouts"` // of GCNN: blocks that it follows, from 1
}

// Augerino reports whether the network is one on copies of the image.
func (n *Net) Augerino() bool { return strings.HasPrefix(n.Type, "Augerino") }

// Architecture returns the network's type without that.
func (n *Net) Architecture() string { return strings.TrimPrefix(n.Type, "Augerino") }

// Learns reports whether the network learns subsets of the group.
func (c *Config) Learns() bool { return c.Conv.Partial || c.Net.Augerino() }

// Train describes the optimisation.
type Train struct {
	Epochs        int     `toml:"epochs"`
	Batch         int     `toml:"batch"`
	StepsPerEpoch int     `toml:"steps_per_epoch"` // 0: one pass through the training images
	Optimizer     string  `toml:"optimizer"`       // "adam" or "sgd"
	LR            float64 `toml:"lr"`
	LRSubset      float64 `toml:"lr_subset"` // of the learned subset sizes; 0: lr
	LRKeep        float64 `toml:"lr_keep"`   // of the learned logits of keeping elements; 0: lr_subset
	LROmega0      float64 `toml:"lr_omega0"` // of learned frequencies; 0: lr
	Momentum      float64 `toml:"momentum"`
	Nesterov      bool    `toml:"nesterov"`
	WeightDecay   float64 `toml:"weight_decay"`
	ClipNorm      float64 `toml:"clip_norm"` // 0: none

	KernelNorm     float64 `toml:"kernel_norm"`     // weight of a penalty, see model.Penalties
	Monotonic      float64 `toml:"monotonic"`       // weight of another
	AugerinoWidth  float64 `toml:"augerino_width"`  // weight of a reward
	MonotonicOrder string  `toml:"monotonic_order"` // "decreasing", also where it is empty, or "increasing"

	Schedule     string `toml:"schedule"` // see model.Schedule
	WarmupEpochs int    `toml:"warmup_epochs"`

	DecayEpochs []int   `toml:"decay_epochs"` // of "multistep": when the rates fall
	DecayFactor float64 `toml:"decay_factor"` // by what they are divided, of "multistep" and "plateau"; 0: 10
	Patience    int     `toml:"patience"`     // of "plateau": epochs that may pass without improvement

	EvalDraws int `toml:"eval_draws"` // draws of the group elements in the final test
	SaveEvery int `toml:"save_every"` // steps between saved states, besides the end of every epoch
}

// Image is the shape of the images of a data set, and their number of classes.
type Image struct{ Channels, Side, Classes int }

// dataSet is a data set by the name that data.set has.
type dataSet struct {
	name    string
	image   Image
	drawing bool // generated in the size that data.size says
	divided bool // the published program set a part aside for validation
	crop    int  // pixels that "flip-crop" moves an image by, as in the published program; 0: it had none
}

var dataSets = []dataSet{
	{"strokes6-180", Image{1, 28, 2}, true, false, 0},
	{"mnist6-180", Image{1, 28, 2}, false, false, 0},
	{"mnist6-m", Image{1, 28, 2}, false, false, 0},
	{"mnist6-circle", Image{1, 28, 2}, false, false, 0},
	{"rotmnist", Image{1, 28, 10}, false, true, 0},
	{"rotmnist-synthetic", Image{1, 28, 10}, false, false, 0},
	{"cifar10", Image{3, 32, 10}, false, true, 4},
	{"cifar10-part", Image{3, 32, 10}, false, false, 4},
	{"cifar10-jpeg", Image{3, 32, 10}, false, false, 4},
	{"cifar100", Image{3, 32, 100}, false, true, 4},
	{"stl10", Image{3, 96, 10}, false, false, 12},
	{"pcam", Image{3, 96, 2}, false, false, 0},
	{"fashion-mnist", Image{1, 28, 10}, false, false, 0},
	{Images, Image{3, 0, 0}, false, false, 0}, // side, classes and crop follow from the configuration
}

// Images is the name of a set of images of one's own.
const Images = "images"

// mostSide is the largest side that such images may have.
const mostSide = 512

// Names that a configuration may hold.
var (
	splits     = []string{"seed", "published"}
	augments   = []string{"none", "flip-crop", "rotation"}
	jitters    = []string{"auto", "stratified", "comb", "iid"} // in the order of gumbel.Jitter
	methods    = []string{"random", "deterministic"}           // in the order of gumbel.Method
	measures   = []string{"counting", "mean", "haar"}          // in the order of gumbel.Measure
	networks   = []string{"CKResNet", "GCNN", "AugerinoCKResNet", "AugerinoGCNN"}
	optimizers = []string{"adam", "sgd"}
	orders     = []string{"decreasing", "increasing"}
)

// Error is a mistake in a configuration: a name, a key or a value that cannot be
// used.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func mistake(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

// valueError is a value of the configuration that cannot be used.
func valueError(key string, value any, allowed string) error {
	return mistake("%s is %s; allowed: %s", key, written(value), allowed)
}

// dataSet returns the configured data set, the zero value where there is none of
// that name.
func (c *Config) dataSet() dataSet {
	for _, s := range dataSets {
		if s.name != c.Data.Set {
			continue
		}
		if s.name == Images {
			s.image.Side, s.image.Classes = c.Data.Side, c.Data.Classes
			s.crop = max(1, c.Data.Side/8) // as of the sets that the published program crops
		}
		return s
	}
	return dataSet{}
}

// checkImages reports sizes of images that are missing, cannot be, or are given already.
func (c *Config) checkImages() error {
	for _, n := range []struct {
		key           string
		value, lo, hi int
		what          string
	}{
		{"data.side", c.Data.Side, 4, mostSide, "as many pixels as they have either way"},
		{"data.classes", c.Data.Classes, 2, 256, "as many as there are folders to train on"},
	} {
		switch own := c.Data.Set == Images; {
		case own && (n.value < n.lo || n.value > n.hi):
			return valueError(n.key, n.value, fmt.Sprintf("%d to %d for %s, %s", n.lo, n.hi, Images, n.what))
		case !own && n.value != 0:
			return valueError(n.key, n.value, "0 for "+c.Data.Set+", whose images are given")
		}
	}
	return nil
}

func dataSetNames() []string {
	var names []string
	for _, s := range dataSets {
		names = append(names, s.name)
	}
	return names
}

// names returns the names in a list of them.
func names[S ~string](list []S) []string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = string(s)
	}
	return texts
}

// Image returns the shape of the configured data set's images.
func (c *Config) Image() Image { return c.dataSet().image }

// Differs reports whether a key's value is another than that of a preset. A jitter that
// is what the preset's "auto" stands for beside the other values of c is the same.
func (c *Config) Differs(key string, preset *Config) bool {
	if key == "group.jitter" {
		return c.jitter(c.Group.Jitter) != c.jitter(preset.Group.Jitter)
	}
	return c.Value(key) != preset.Value(key)
}

// Changes returns the values that are others than those of a preset, as -set takes them, but
// for the keys that are left out.
func (c *Config) Changes(preset *Config, without ...string) []string {
	list := []string{}
	for _, key := range Keys() {
		if !slices.Contains(without, key) && c.Differs(key, preset) {
			list = append(list, key+"="+c.Value(key))
		}
	}
	return list
}

// jitter returns the one of a name, beside the other values of c.
func (c *Config) jitter(name string) gumbel.Jitter {
	return gumbel.Jitter(slices.Index(jitters, name)).For(c.Conv.Partial || c.Net.Augerino())
}

// NewNetwork builds the network for images of the configured data set. The error
// names the key whose value cannot be used.
func (c *Config) NewNetwork() (*model.Network, error) {
	group, err := lie.ByName(c.Group.Name)
	if err != nil {
		return nil, mistake("group.name: %w", err)
	}
	var net *model.Network
	if r := c.ckResNet(group); c.Net.Architecture() == "GCNN" {
		net, err = model.NewGCNN(c.gcnn(r))
	} else {
		net, err = model.NewCKResNet(r)
	}
	return net, c.Explain(err)
}

// ckResNet returns the configuration of a CKResNet. What the kernel network does not have is left out.
func (c *Config) ckResNet(group lie.Group) model.CKResNetConfig {
	im := c.Image()
	n := model.CKResNetConfig{
		Group: group, Elements: c.Group.Elements, Partial: c.Conv.Partial, PerElement: c.Conv.PerElement,
		SharedElements: c.Group.Shared, Augerino: c.Net.Augerino(),
		Channels: im.Channels, Side: im.Side, Classes: im.Classes,
		Norm: model.Norm(c.Net.Norm), Width: c.Net.Width, Factors: c.Net.Factors, Pools: c.Net.Pools,
		LastT2: c.Net.LastT2, Pooling: model.Pooling(c.Net.Pooling), Dropout: c.Net.Dropout,
		Separable: c.Conv.Separable, KernelNet: conv.KernelNet(c.Kernel.Type),
		KernelSide: c.Kernel.Side, KernelHidden: c.Kernel.Hidden, KernelLayers: c.Kernel.Layers,
		LearnOmega0: c.Kernel.LearnOmega0, WeightNorm: c.Kernel.WeightNorm,
		Algorithm: conv.Algorithm(c.Conv.Algorithm),
		Sampling:  gumbel.Method(slices.Index(methods, c.Group.Sampling)),
		Jitter:    c.jitter(c.Group.Jitter),
		Measure:   gumbel.Measure(slices.Index(measures, c.Group.Measure)),

		InitTemperature: c.Group.InitTemperature, EndTemperature: c.Group.EndTemperature,
		NoBias: !c.Conv.Bias, Compat: c.Conv.Compat, Seed: c.Seed,
	}
	if n.Pooling == "auto" {
		n.Pooling = ""
	}
	switch n.KernelNet {
	case conv.SIREN:
		n.Omega0 = c.Kernel.Omega0
	case conv.MLP:
		n.KernelActivation, n.KernelNorm = siren.Activation(c.Kernel.Activation), siren.Norm(c.Kernel.Norm)
	}
	return n
}

// gcnn returns the configuration of a GCNN, whose values are those of a CKResNet but for LastT2
// and Dropouts.
func (c *Config) gcnn(r model.CKResNetConfig) model.GCNNConfig {
	n := model.GCNNConfig{
		Group: r.Group, Elements: r.Elements, Partial: r.Partial, PerElement: r.PerElement,
		SharedElements: r.SharedElements, Augerino: r.Augerino,
		Channels: r.Channels, Side: r.Side, Classes: r.Classes,
		Norm: r.Norm, Width: r.Width, Factors: r.Factors, Pools: r.Pools,
		Pooling: r.Pooling, Dropout: r.Dropout,
		Separable: r.Separable, KernelNet: r.KernelNet,
		KernelSide: r.KernelSide, KernelHidden: r.KernelHidden, KernelLayers: r.KernelLayers,
		Omega0: r.Omega0, LearnOmega0: r.LearnOmega0, WeightNorm: r.WeightNorm,
		KernelActivation: r.KernelActivation, KernelNorm: r.KernelNorm,
		Algorithm: r.Algorithm, Sampling: r.Sampling, Jitter: r.Jitter, Measure: r.Measure,
		InitTemperature: r.InitTemperature, EndTemperature: r.EndTemperature,
		NoBias: r.NoBias, Compat: r.Compat, Seed: r.Seed,
	}
	if n.Dropout != 0 {
		n.Dropouts = c.Net.Dropouts
	}
	return n
}

// Training returns the configuration of the training run.
func (c *Config) Training() model.TrainConfig {
	t := c.Train
	algorithm := nn.Adam
	if t.Optimizer == "sgd" {
		algorithm = nn.SGD
	}
	subset := t.LRSubset
	if subset == 0 {
		subset = t.LR
	}
	keep := t.LRKeep
	if keep == 0 {
		keep = subset
	}
	if t.Optimizer != "sgd" {
		t.Momentum, t.Nesterov = 0, false
	}
	if t.Schedule != string(model.CosineSchedule) {
		t.WarmupEpochs = 0
	}
	switch model.Schedule(t.Schedule) {
	case model.MultiStepSchedule:
		t.Patience = 0
	case model.ConstantSchedule, model.CosineSchedule:
		t.Patience, t.DecayFactor = 0, 0
	}
	return model.TrainConfig{
		Epochs: t.Epochs, Batch: t.Batch, StepsPerEpoch: t.StepsPerEpoch, Seed: c.Seed,
		Optimizer: nn.OptimizerConfig{
			Algorithm: algorithm, LR: t.LR, SubsetLR: subset, KeepLR: keep, FrequencyLR: t.LROmega0,
			Momentum: t.Momentum, Nesterov: t.Nesterov, WeightDecay: t.WeightDecay, Clip: t.ClipNorm,
		},
		Penalties: model.Penalties{
			Norms: t.KernelNorm, Monotonic: t.Monotonic, Increasing: t.MonotonicOrder == "increasing", Width: t.AugerinoWidth,
		},
		Augment:  c.augmentation(),
		Schedule: model.Schedule(t.Schedule), Warmup: t.WarmupEpochs, EvalDraws: t.EvalDraws,
		Decay: model.Decay{Epochs: t.DecayEpochs, Patience: t.Patience, Factor: t.DecayFactor},
	}
}

// CheckTraining reports what a trainer of the network refuses whatever the data are. The
// error names the key whose value cannot be used.
func (c *Config) CheckTraining(net *model.Network) error {
	return c.Explain(c.Training().Check(net))
}

// configKeys are the keys behind the fields that package model checks, whichever
// network they belong to.
var configKeys = map[string]string{
	"Group":               "group.name",
	"Elements":            "group.elements",
	"Sampling":            "group.sampling",
	"Measure":             "group.measure",
	"Partial":             "conv.partial",
	"PerElement":          "conv.per_element",
	"SharedElements":      "group.shared",
	"Compat":              "conv.compat",
	"Separable":           "conv.separable",
	"InitTemperature":     "group.init_temperature",
	"EndTemperature":      "group.end_temperature",
	"Norm":                "net.norm",
	"Width":               "net.width",
	"Factors":             "net.factors",
	"Pools":               "net.pools",
	"LastT2":              "net.last_t2",
	"Pooling":             "net.pooling",
	"Dropout":             "net.dropout",
	"Dropouts":            "net.dropouts",
	"KernelNet":           "kernel.type",
	"KernelSide":          "kernel.side",
	"KernelHidden":        "kernel.hidden",
	"KernelLayers":        "kernel.layers",
	"Omega0":              "kernel.omega0",
	"LearnOmega0":         "kernel.learn_omega0",
	"KernelActivation":    "kernel.activation",
	"KernelNorm":          "kernel.norm",
	"Algorithm":           "conv.algorithm",
	"Augment":             "data.augment",
	"Penalties.Norms":     "train.kernel_norm",
	"Penalties.Monotonic": "train.monotonic",
	"Penalties.Width":     "train.augerino_width",
	"Epochs":              "train.epochs",
	"Batch":               "train.batch",
	"StepsPerEpoch":       "train.steps_per_epoch",
	"Decay.Epochs":        "train.decay_epochs",
	"Decay.Patience":      "train.patience",
	"Decay.Factor":        "train.decay_factor",
	"Warmup":              "train.warmup_epochs",
	"EvalDraws":           "train.eval_draws",
}

// Explain makes a package's complaint about a value one about the configuration,
// by the key that the user writes, and says which keys memory depends on where it did
// not suffice. Other errors, and nil, it returns as they are.
func (c *Config) Explain(err error) error {
	var field *model.ConfigError
	var layer *nn.ConfigError
	var large *model.SizeError
	var memory *tensor.AllocError
	switch {
	case errors.As(err, &memory):
		return fmt.Errorf("%w; lower train.batch, which is %d, group.elements, which is %d, or net.width, which is %d",
			err, c.Train.Batch, c.Group.Elements, c.Net.Width)
	case errors.As(err, &large):
		return mistake("net.width is %d, net.factors is %s, kernel.hidden is %d and kernel.layers is %d, which make more than %d parameters; make one of them smaller",
			c.Net.Width, c.Value("net.factors"), c.Kernel.Hidden, c.Kernel.Layers, large.Most)
	case errors.As(err, &layer):
		return &Error{err}
	case !errors.As(err, &field):
		return err
	}
	_, name, _ := strings.Cut(field.Field, ".")
	switch { // the image is given, the pools and the kernel are not
	case name == "Side" && c.Net.Architecture() == "GCNN": // the kernel has padding
		return mistake("net.pools is %s, which does not fit the image's %v pixels; allowed: what leaves a pixel after the last pool",
			c.Value("net.pools"), field.Value)
	case name == "Side":
		return mistake("net.pools is %s and kernel.side is %d, which does not fit the image's %v pixels; allowed: what leaves the last layer at least as many pixels as its kernel has",
			c.Value("net.pools"), c.Kernel.Side, field.Value)
	}
	if key, ok := configKeys[name]; ok {
		return valueError(key, field.Value, field.Allowed)
	}
	return &Error{err}
}
