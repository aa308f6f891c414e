package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/nn"
)

// Config is one run: what config.toml holds and what -set changes.
type Config struct {
	Preset string       `toml:"preset"` // where the values came from
	Seed   uint64       `toml:"seed"`
	Data   DataConfig   `toml:"data"`
	Group  GroupConfig  `toml:"group"`
	Conv   ConvConfig   `toml:"conv"`
	Kernel KernelConfig `toml:"kernel"`
	Net    NetConfig    `toml:"net"`
	Train  TrainConfig  `toml:"train"`
}

// DataConfig chooses the images.
type DataConfig struct {
	Set  string `toml:"set"`  // see dataSets
	Size int    `toml:"size"` // generated sixes to train on, of a generated set; 0: its default
}

// GroupConfig chooses the group and how its elements are drawn.
type GroupConfig struct {
	Name     string `toml:"name"`
	Elements int    `toml:"elements"` // per layer
	Jitter   string `toml:"jitter"`   // "stratified" or "comb"
}

// ConvConfig describes the group convolutions.
type ConvConfig struct {
	Partial bool `toml:"partial"` // learn which elements matter
	Compat  bool `toml:"compat"`  // the published program's sampler and gradients
}

// KernelConfig describes the networks that render the convolution kernels.
type KernelConfig struct {
	Type   string  `toml:"type"`   // "SIREN"
	Side   int     `toml:"side"`   // pixels, odd
	Hidden int     `toml:"hidden"` // units
	Layers int     `toml:"layers"`
	Omega0 float64 `toml:"omega0"`
}

// NetConfig describes the network around the convolutions.
type NetConfig struct {
	Type    string `toml:"type"`    // "CKResNet"
	Width   int    `toml:"width"`   // channels of the first block
	Factors []int  `toml:"factors"` // width of each block, in units of Width
	Pools   []int  `toml:"pools"`   // where to halve the resolution: 0 after the lifting, i after block i
}

// TrainConfig describes the optimisation.
type TrainConfig struct {
	Epochs        int     `toml:"epochs"`
	Batch         int     `toml:"batch"`
	StepsPerEpoch int     `toml:"steps_per_epoch"` // 0: one pass through the training images
	Optimizer     string  `toml:"optimizer"`       // "adam" or "sgd"
	LR            float64 `toml:"lr"`
	LRSubset      float64 `toml:"lr_subset"` // of the learned subset sizes; 0: lr
	Momentum      float64 `toml:"momentum"`
	Nesterov      bool    `toml:"nesterov"`
	WeightDecay   float64 `toml:"weight_decay"`
	ClipNorm      float64 `toml:"clip_norm"` // 0: none
	Schedule      string  `toml:"schedule"`  // "constant" or "cosine"
	WarmupEpochs  int     `toml:"warmup_epochs"`
	EvalDraws     int     `toml:"eval_draws"` // draws of the group elements in the final test
	SaveEvery     int     `toml:"save_every"` // steps between saved states, besides the end of every epoch
}

// Names that a configuration may hold.
var (
	dataSets   = []string{"strokes6-180", "mnist6-180", "mnist6-m"}
	jitters    = []string{"stratified", "comb"}
	kernels    = []string{"SIREN"}
	networks   = []string{"CKResNet"}
	optimizers = []string{"adam", "sgd"}
	schedules  = []string{"constant", "cosine"}
)

// valueError is a value of the configuration that cannot be used.
func valueError(key string, value any, allowed string) error {
	return usageError{fmt.Errorf("%s is %v; allowed: %s", key, value, allowed)}
}

// generated reports whether a data set is drawn, not read.
func generated(set string) bool { return set == "strokes6-180" }

// check reports the first value that cannot be used, by its key. What only the
// packages that use a value know, they check themselves.
func (c *Config) check() error {
	for _, n := range []struct {
		key, value string
		allowed    []string
	}{
		{"data.set", c.Data.Set, dataSets},
		{"group.jitter", c.Group.Jitter, jitters},
		{"kernel.type", c.Kernel.Type, kernels},
		{"net.type", c.Net.Type, networks},
		{"train.optimizer", c.Train.Optimizer, optimizers},
		{"train.schedule", c.Train.Schedule, schedules},
	} {
		if !slices.Contains(n.allowed, n.value) {
			return valueError(n.key, fmt.Sprintf("%q", n.value), strings.Join(n.allowed, ", "))
		}
	}
	group, err := lie.ByName(c.Group.Name)
	if err != nil {
		return valueError("group.name", fmt.Sprintf("%q", c.Group.Name), strings.Join(lie.Names(), ", "))
	}
	c.Group.Name = group.Name() // "se2" is a spelling of it
	if c.Seed > math.MaxInt64 {
		return valueError("seed", c.Seed, "0 to 9223372036854775807, what a TOML file can hold")
	}
	if c.Data.Size != 0 && !generated(c.Data.Set) {
		return valueError("data.size", c.Data.Size, "0 for "+c.Data.Set+", whose size is given")
	}
	for _, n := range []struct {
		key           string
		value, lo, hi int
	}{
		{"data.size", c.Data.Size, 0, 500000},
		{"group.elements", c.Group.Elements, 1, 1024},
		{"kernel.side", c.Kernel.Side, 1, 63},
		{"kernel.hidden", c.Kernel.Hidden, 2, 4096},
		{"kernel.layers", c.Kernel.Layers, 2, 16},
		{"net.width", c.Net.Width, 1, 4096},
		{"train.epochs", c.Train.Epochs, 1, 1e6},
		{"train.batch", c.Train.Batch, 1, 1 << 16},
		{"train.steps_per_epoch", c.Train.StepsPerEpoch, 0, 1e9},
		{"train.warmup_epochs", c.Train.WarmupEpochs, 0, c.Train.Epochs - 1},
		{"train.eval_draws", c.Train.EvalDraws, 1, 1e4},
		{"train.save_every", c.Train.SaveEvery, 1, 1e9},
	} {
		if n.value < n.lo || n.value > n.hi {
			return valueError(n.key, n.value, fmt.Sprintf("%d to %d", n.lo, n.hi))
		}
	}
	switch {
	case c.Kernel.Side%2 == 0:
		return valueError("kernel.side", c.Kernel.Side, "odd numbers")
	case group.Dim() == 0 && c.Conv.Partial:
		return valueError("conv.partial", true, "false for "+c.Group.Name+", which has no rotations to choose from")
	case group.Dim() == 0 && c.Group.Elements != 1:
		return valueError("group.elements", c.Group.Elements, "1 for "+c.Group.Name+", whose only element besides shifts is the identity")
	case !(c.Train.Momentum >= 0 && c.Train.Momentum < 1):
		return valueError("train.momentum", c.Train.Momentum, "0 to below 1")
	case c.Train.Nesterov && c.Train.Momentum == 0:
		return valueError("train.momentum", c.Train.Momentum, "above 0 with train.nesterov")
	}
	for _, n := range []struct {
		key       string
		value     float64
		aboveZero bool
	}{
		{"kernel.omega0", c.Kernel.Omega0, true},
		{"train.lr", c.Train.LR, true},
		{"train.lr_subset", c.Train.LRSubset, false},
		{"train.weight_decay", c.Train.WeightDecay, false},
		{"train.clip_norm", c.Train.ClipNorm, false},
	} {
		if !(n.value >= 0 && n.value <= 1e6) || n.aboveZero && n.value == 0 {
			allowed := "0 to 1e6"
			if n.aboveZero {
				allowed = "above 0, at most 1e6"
			}
			return valueError(n.key, n.value, allowed)
		}
	}
	return nil
}

// network returns the configuration of the network for a data set.
func (c *Config) network(set *data.Dataset) (model.CKResNetConfig, error) {
	group, err := lie.ByName(c.Group.Name)
	if err != nil {
		return model.CKResNetConfig{}, err
	}
	jitter := gumbel.Stratified
	if c.Group.Jitter == "comb" {
		jitter = gumbel.Comb
	}
	return model.CKResNetConfig{
		Group: group, Elements: c.Group.Elements, Partial: c.Conv.Partial,
		Channels: set.Channels, Side: set.Height, Classes: set.Classes,
		Width: c.Net.Width, Factors: c.Net.Factors, Pools: c.Net.Pools,
		KernelSide: c.Kernel.Side, KernelHidden: c.Kernel.Hidden, KernelLayers: c.Kernel.Layers, Omega0: c.Kernel.Omega0,
		Jitter: jitter, Compat: c.Conv.Compat, Seed: c.Seed,
	}, nil
}

// training returns the configuration of the training run.
func (c *Config) training() model.TrainConfig {
	t := c.Train
	algorithm := nn.Adam
	if t.Optimizer == "sgd" {
		algorithm = nn.SGD
	}
	subset := t.LRSubset
	if subset == 0 {
		subset = t.LR
	}
	return model.TrainConfig{
		Epochs: t.Epochs, Batch: t.Batch, StepsPerEpoch: t.StepsPerEpoch, Seed: c.Seed,
		Optimizer: nn.OptimizerConfig{
			Algorithm: algorithm, LR: t.LR, SubsetLR: subset,
			Momentum: t.Momentum, Nesterov: t.Nesterov, WeightDecay: t.WeightDecay, Clip: t.ClipNorm,
		},
		Cosine: t.Schedule == "cosine", Warmup: t.WarmupEpochs, EvalDraws: t.EvalDraws,
	}
}

// configKeys are the keys behind the fields that package model checks.
var configKeys = map[string]string{
	"CKResNetConfig.Elements":     "group.elements",
	"CKResNetConfig.Width":        "net.width",
	"CKResNetConfig.Factors":      "net.factors",
	"CKResNetConfig.Pools":        "net.pools",
	"CKResNetConfig.KernelSide":   "kernel.side",
	"CKResNetConfig.KernelHidden": "kernel.hidden",
	"CKResNetConfig.KernelLayers": "kernel.layers",
	"CKResNetConfig.Omega0":       "kernel.omega0",
	"TrainConfig.Epochs":          "train.epochs",
	"TrainConfig.Batch":           "train.batch",
	"TrainConfig.StepsPerEpoch":   "train.steps_per_epoch",
	"TrainConfig.Warmup":          "train.warmup_epochs",
	"TrainConfig.EvalDraws":       "train.eval_draws",
}

// explain makes a package's complaint about a value one about the configuration,
// by the key that the user writes.
func (c *Config) explain(err error) error {
	var field *model.ConfigError
	var layer *nn.ConfigError
	switch {
	case errors.As(err, &layer):
		return usageError{err}
	case !errors.As(err, &field):
		return err
	case field.Field == "CKResNetConfig.Side": // the image is given, the pools and the kernel are not
		return usageError{fmt.Errorf("net.pools is %s and kernel.side is %d, which does not fit the image's %v pixels; allowed: what leaves the last layer at least as many pixels as its kernel has",
			c.value("net.pools"), c.Kernel.Side, field.Value)}
	}
	if key, ok := configKeys[field.Field]; ok {
		return valueError(key, field.Value, field.Allowed)
	}
	return usageError{err}
}
