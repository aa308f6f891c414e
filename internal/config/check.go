package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/siren"
)

// seeds are those that are allowed.
const seeds = "0 to 9223372036854775807, what a TOML file can hold"

// maxElements is the most that a layer has.
const maxElements = 1024

// maxChannels is the most that a convolution has.
const maxChannels = 8192

// Check reports the first value that cannot be used, by its key, as an *Error.
// What only the packages that use a value know, they check themselves.
func (c *Config) Check() error {
	for _, check := range []func() error{
		c.checkNames, c.checkKernelNet, c.checkGroup,
		c.checkSeedAndData, c.checkImages, c.checkAugmentation,
		c.checkRanges, c.checkWidths, c.checkCombinations, c.checkOmega0, c.checkNumbers,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkNames reports a value that is none of the names that its key has.
func (c *Config) checkNames() error {
	for _, n := range []struct {
		key, value string
		allowed    []string
	}{
		{"data.set", c.Data.Set, dataSetNames()},
		{"group.sampling", c.Group.Sampling, methods},
		{"group.jitter", c.Group.Jitter, jitters},
		{"group.measure", c.Group.Measure, measures},
		{"net.type", c.Net.Type, networks},
		{"train.optimizer", c.Train.Optimizer, optimizers},
		{"train.schedule", c.Train.Schedule, names(model.Schedules())},
	} {
		if !slices.Contains(n.allowed, n.value) {
			return valueError(n.key, fmt.Sprintf("%q", n.value), strings.Join(n.allowed, ", "))
		}
	}
	for _, n := range []struct {
		key, value string // "" stands for a default
		allowed    []string
	}{
		{"data.split", c.Data.Split, splits},
		{"data.augment", c.Data.Augment, augments},
		{"conv.algorithm", c.Conv.Algorithm, names(conv.Algorithms())},
		{"train.monotonic_order", c.Train.MonotonicOrder, orders},
		{"net.norm", c.Net.Norm, names(model.Norms())},
		{"net.pooling", c.Net.Pooling, append([]string{"auto"}, names(model.Poolings())...)},
		{"kernel.activation", c.Kernel.Activation, names(siren.Activations())},
		{"kernel.norm", c.Kernel.Norm, names(siren.Norms())},
	} {
		if n.value != "" && !slices.Contains(n.allowed, n.value) {
			return valueError(n.key, fmt.Sprintf("%q", n.value), strings.Join(n.allowed, ", "))
		}
	}
	return nil
}

// checkKernelNet reports an unknown kernel network, and spells a known one as the others are.
func (c *Config) checkKernelNet() error {
	kernel, err := conv.ParseKernelNet(c.Kernel.Type)
	if err != nil {
		return valueError("kernel.type", fmt.Sprintf("%q", c.Kernel.Type), strings.Join(names(conv.KernelNets()), ", "))
	}
	c.Kernel.Type = string(kernel) // "magnet" is a spelling of it
	return nil
}

// checkGroup reports an unknown group, or one with too many elements, and spells a known one as
// the others are.
func (c *Config) checkGroup() error {
	group, err := lie.ByName(c.Group.Name)
	var product *lie.ProductError
	switch {
	case errors.As(err, &product):
		return mistake("group.name is %q: %s", c.Group.Name, product.Problem)
	case err != nil:
		return valueError("group.name", fmt.Sprintf("%q", c.Group.Name), lie.KnownWithin(maxElements))
	case group.Components() > maxElements:
		return valueError("group.name", fmt.Sprintf("%q", c.Group.Name),
			fmt.Sprintf("groups whose rotations and reflections make up to %d elements, such as C%d and D%d", maxElements, maxElements, maxElements/2))
	}
	c.Group.Name = group.Name() // "se2" is a spelling of it
	return nil
}

// checkSeedAndData reports a seed out of range, and what the data set does not take.
func (c *Config) checkSeedAndData() error {
	if c.Seed > math.MaxInt64 {
		return valueError("seed", c.Seed, seeds)
	}
	if c.Data.Size != 0 && !c.dataSet().drawing {
		return valueError("data.size", c.Data.Size, "0 for "+c.Data.Set+", whose size is given")
	}
	if c.Data.Split == "published" && !c.dataSet().divided {
		return valueError("data.split", c.Data.Split, "seed for "+c.Data.Set)
	}
	switch r := c.Data.RotInterval; {
	case !(r >= 0 && r <= 180):
		return valueError("data.rot_interval", r, "0 to 180 degrees")
	case r != 0 && c.Data.Set != "mnist6-180":
		return valueError("data.rot_interval", r, "0 for "+c.Data.Set)
	}
	return nil
}

// checkRanges reports a whole number out of range.
func (c *Config) checkRanges() error {
	for _, n := range []struct {
		key           string
		value, lo, hi int
	}{
		{"data.size", c.Data.Size, 0, 500000},
		{"group.elements", c.Group.Elements, 1, maxElements},
		{"kernel.side", c.Kernel.Side, 1, 63},
		{"kernel.hidden", c.Kernel.Hidden, 2, 4096},
		{"kernel.layers", c.Kernel.Layers, 2, 16},
		{"net.width", c.Net.Width, 1, 4096},
		{"train.epochs", c.Train.Epochs, 1, 1e6},
		{"train.batch", c.Train.Batch, 1, 1 << 16},
		{"train.steps_per_epoch", c.Train.StepsPerEpoch, 0, 1e9},
		{"train.warmup_epochs", c.Train.WarmupEpochs, 0, 1e6},
		{"train.patience", c.Train.Patience, 0, 1e6},
		{"train.eval_draws", c.Train.EvalDraws, 1, 1e4},
		{"train.save_every", c.Train.SaveEvery, 1, 1e9},
	} {
		if n.value < n.lo || n.value > n.hi {
			return valueError(n.key, n.value, fmt.Sprintf("%d to %d", n.lo, n.hi))
		}
	}
	return nil
}

// checkWidths reports a block that would have too many channels.
func (c *Config) checkWidths() error {
	for _, f := range c.Net.Factors {
		if n := f * c.Net.Width; f > 0 && f <= maxChannels && n > maxChannels {
			return mistake("net.width is %d and net.factors is %s, which makes %d channels; allowed: products up to %d",
				c.Net.Width, c.Value("net.factors"), n, maxChannels)
		}
	}
	return nil
}

// checkCombinations reports a value that is out of range beside the others.
func (c *Config) checkCombinations() error {
	switch group := c.group(); {
	case c.Kernel.Side%2 == 0:
		return valueError("kernel.side", c.Kernel.Side, "odd numbers")
	case group.Dim() == 0 && c.Group.Elements != group.Components():
		return valueError("group.elements", c.Group.Elements, fmt.Sprintf("%d for %s, all its elements besides shifts", group.Components(), c.Group.Name))
	case !(c.Net.Dropout >= 0 && c.Net.Dropout < 1):
		return valueError("net.dropout", c.Net.Dropout, "0 to below 1")
	case c.Net.Dropout != 0 && len(c.Net.Dropouts) == 0 && c.Net.Architecture() == "GCNN":
		return valueError("net.dropouts", c.Value("net.dropouts"), "one block or more where net.dropout is not 0")
	case c.Net.Type != "CKResNet" && c.Net.LastT2:
		return valueError("net.last_t2", true, "false for "+c.Net.Type)
	case !(c.Train.Momentum >= 0 && c.Train.Momentum < 1):
		return valueError("train.momentum", c.Train.Momentum, "0 to below 1")
	case float32(c.Train.Momentum) == 1:
		return valueError("train.momentum", c.Train.Momentum, "0 to below 1, also when rounded to float32")
	case c.Train.Optimizer == "sgd" && c.Train.Nesterov && c.Train.Momentum == 0:
		return valueError("train.momentum", c.Train.Momentum, "above 0 with train.nesterov")
	case c.Train.Schedule == string(model.CosineSchedule) && c.Train.WarmupEpochs >= c.Train.Epochs:
		most := c.Train.Epochs - 1
		return valueError("train.warmup_epochs", c.Train.WarmupEpochs, fmt.Sprintf(
			"0 to %d where train.epochs is %d; shorten it, as with -set train.warmup_epochs=%d, or train longer", most, c.Train.Epochs, most))
	}
	return nil
}

// checkOmega0 reports a frequency that a SIREN cannot have. Other kernel networks have
// none, and leave the value alone.
func (c *Config) checkOmega0() error {
	omega0 := c.Kernel.Omega0
	if c.Kernel.Type == string(conv.SIREN) && !(omega0 >= 1e-6 && omega0 <= 1e4) {
		return valueError("kernel.omega0", omega0, "1e-6 to 10000")
	}
	return nil
}

// smallestNormal is the smallest positive normal number of float32, which the engine
// computes in: below it numbers lose digits, and in the end become zero.
const smallestNormal = 0x1p-126

// checkNumbers reports a number out of range among those that have one in common.
func (c *Config) checkNumbers() error {
	for _, n := range []struct {
		key       string
		value     float64
		aboveZero bool
	}{
		{"kernel.omega0", c.Kernel.Omega0, true},
		{"train.lr", c.Train.LR, true},
		{"group.init_temperature", c.Group.InitTemperature, false},
		{"group.end_temperature", c.Group.EndTemperature, false},
		{"train.lr_subset", c.Train.LRSubset, false},
		{"train.lr_keep", c.Train.LRKeep, false},
		{"train.lr_omega0", c.Train.LROmega0, false},
		{"train.decay_factor", c.Train.DecayFactor, false},
		{"train.weight_decay", c.Train.WeightDecay, false},
		{"train.kernel_norm", c.Train.KernelNorm, false},
		{"train.monotonic", c.Train.Monotonic, false},
		{"train.augerino_width", c.Train.AugerinoWidth, false},
		{"train.momentum", c.Train.Momentum, false},
		{"train.clip_norm", c.Train.ClipNorm, false},
	} {
		if !(n.value >= 0 && n.value <= 1e6) || n.aboveZero && n.value == 0 {
			allowed := "0 to 1e6"
			if n.aboveZero {
				allowed = "above 0, at most 1e6"
			}
			return valueError(n.key, n.value, allowed)
		}
		if n.value > 0 && n.value < smallestNormal {
			allowed := fmt.Sprintf("%v, the smallest normal number of float32, to 1e6", smallestNormal)
			if !n.aboveZero {
				allowed = "0, and " + allowed
			}
			return valueError(n.key, n.value, allowed)
		}
	}
	return nil
}
