package config

import (
	"fmt"
	"reflect"

	"github.com/noether-go/noether/lie"
)

// Idle is a value that was changed from that of the preset and makes no difference
// beside the other values.
type Idle struct {
	Key string
	Err error // an *Error, with the reason
}

// Idle returns all such values of a configuration that Check takes. Those that stand as
// in the preset, and zeros, are none: presets are whole configurations, of which
// a changed value puts others out of use.
func (c *Config) Idle() []Idle {
	preset, err := Lookup(c.Preset)
	if err != nil { // nothing says what was changed
		return nil
	}
	var list []Idle
	for _, rule := range idleRules {
		value := c.Value(rule.key)
		if !c.given(rule.key, &preset) || c.zero(rule.key) {
			continue
		}
		if why := rule.why(c); why != "" {
			list = append(list, Idle{rule.key, mistake("%s is %s, which has no effect: %s; leave it out", rule.key, value, why)})
		}
	}
	return list
}

// given reports whether a key has another value than that of a preset. With conv.compat "auto" is a comb, also where
// subsets are learned: there it is none of the others.
func (c *Config) given(key string, preset *Config) bool {
	if key == "group.jitter" && c.Conv.Compat {
		return c.Value(key) != preset.Value(key)
	}
	return c.Differs(key, preset)
}

// idleRules say when the value of a key makes no difference: why returns the reason, ""
// where it does. Values that other parts of the configuration make wrong, rather than
// idle, are refused by Check and by the packages that use them.
var idleRules = []struct {
	key string
	why func(c *Config) string
}{
	{"group.sampling", (*Config).withoutAngles},
	{"group.shared", func(c *Config) string {
		switch why := c.withoutAngles(); {
		case c.Net.Augerino():
			return "all convolutions of " + c.Net.Type + " are on translations alone"
		case c.Conv.Partial:
			return "conv.partial is true, so that every group convolution draws elements of the subset that it learns"
		case why != "":
			return why
		case c.Group.Sampling == "deterministic":
			return "with group.sampling = deterministic all layers have one grid"
		}
		return ""
	}},
	{"group.jitter", func(c *Config) string {
		switch why := c.withoutAngles(); {
		case why != "":
			return why
		case c.Group.Sampling == "deterministic":
			return "with group.sampling = deterministic elements stand on a grid"
		case c.Conv.Compat && c.Group.Jitter != "comb":
			return "conv.compat draws as the published program does, which is a comb"
		case c.Group.Elements == c.group().Components():
			return "a single element is spread alike by all of them"
		}
		return ""
	}},
	{"group.measure", func(c *Config) string {
		if group := c.group(); group.Dim() == 0 && group.Components() == 1 {
			return group.Name() + " has one element besides shifts, over which a sum is what it is"
		}
		return ""
	}},
	{"group.init_temperature", (*Config).withoutTemperature},
	{"group.end_temperature", (*Config).withoutTemperature},
	{"kernel.omega0", func(c *Config) string { return c.unlessKernel("SIREN", "has a frequency") }},
	{"kernel.activation", func(c *Config) string { return c.unlessKernel("MLP", "has a choice of activations") }},
	{"kernel.norm", func(c *Config) string { return c.unlessKernel("MLP", "has a choice of norms") }},
	{"net.dropouts", func(c *Config) string {
		switch {
		case c.Net.Dropout == 0:
			return "net.dropout is 0"
		case c.Net.Architecture() != "GCNN":
			return c.Net.Type + " has dropout in each of its blocks"
		}
		return ""
	}},
	{"net.last_t2", func(c *Config) string {
		if group := c.group(); group.Dim() == 0 && group.Components() == 1 {
			return "all convolutions of a network on " + group.Name() + " are on translations alone"
		}
		return ""
	}},
	{"train.lr_subset", func(c *Config) string {
		switch {
		case !c.Learns():
			return "conv.partial is false, so that no subsets are learned"
		case c.publishedCopies():
			return c.rateOfCopies()
		case c.intervals() || c.Conv.Compat || c.Train.LRKeep == 0:
			return ""
		}
		return "of " + c.Group.Name + ", sampled in this way, subsets are probabilities of keeping elements, trained at train.lr_keep"
	}},
	{"train.lr_keep", func(c *Config) string {
		switch {
		case c.publishedCopies():
			return c.rateOfCopies()
		case c.Learns() && c.Conv.Compat:
			return "with conv.compat all of a subset is trained at train.lr_subset, as in the published program"
		}
		return c.keepsAll()
	}},
	{"train.lr_omega0", func(c *Config) string {
		if !c.Kernel.LearnOmega0 {
			return "kernel.learn_omega0 is false"
		}
		return ""
	}},
	{"train.momentum", (*Config).unlessSGD},
	{"train.nesterov", (*Config).unlessSGD},
	{"train.monotonic_order", func(c *Config) string {
		if c.Train.Monotonic == 0 {
			return "train.monotonic is 0"
		}
		return ""
	}},
	{"train.decay_factor", func(c *Config) string { return c.unlessSchedule("multistep", "plateau") }},
	{"train.patience", func(c *Config) string { return c.unlessSchedule("plateau") }},
	{"train.warmup_epochs", func(c *Config) string { return c.unlessSchedule("cosine") }},
}

// IdleKeys returns the keys whose values other values can leave without effect.
func IdleKeys() []string {
	keys := make([]string, len(idleRules))
	for i, rule := range idleRules {
		keys[i] = rule.key
	}
	return keys
}

// zero reports whether a key has the zero value of its type, which stands for nothing
// or for a default.
func (c *Config) zero(key string) bool {
	v := c.at(key)
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// group returns the configured group, of a name that was checked.
func (c *Config) group() lie.Group {
	g, err := lie.ByName(c.Group.Name)
	if err != nil {
		panic(fmt.Sprintf("config: group.name is %q after Check", c.Group.Name))
	}
	return g
}

// publishedCopies reports whether copies of images are learned as by the published program.
func (c *Config) publishedCopies() bool { return c.Net.Augerino() && c.Conv.Compat }

// rateOfCopies says at which rate the subset of publishedCopies is learned.
func (c *Config) rateOfCopies() string {
	return "with conv.compat the subset of " + c.Net.Type + " is trained at train.lr, as in the published program"
}

// intervals reports whether learned subsets have continuous parts.
func (c *Config) intervals() bool {
	return c.group().Dim() > 0 && c.Group.Sampling == "random"
}

// withoutAngles says why it makes no difference how angles are drawn, "" where it does.
func (c *Config) withoutAngles() string {
	if group := c.group(); group.Dim() == 0 {
		return group.Name() + " has finitely many elements besides shifts, all of which are used"
	}
	return ""
}

// keepsAll says why no elements are dropped at random, "" where some are.
func (c *Config) keepsAll() string {
	switch {
	case !c.Learns():
		return "conv.partial is false, so that no subsets are learned"
	case c.group().Components() == 1 && c.Group.Sampling == "random":
		return "no elements of " + c.Group.Name + " are dropped where they are drawn at random"
	}
	return ""
}

// withoutTemperature says why no gradient depends on a temperature, "" where one does.
func (c *Config) withoutTemperature() string {
	if c.publishedCopies() {
		return "with conv.compat " + c.Net.Type + " does not learn whether copies are mirrored, as in the published program"
	}
	return c.keepsAll()
}

func (c *Config) unlessKernel(kind, has string) string {
	if c.Kernel.Type == kind {
		return ""
	}
	return fmt.Sprintf("kernel.type is %s, and only %s %s", c.Kernel.Type, kind, has)
}

func (c *Config) unlessSGD() string {
	if c.Train.Optimizer == "sgd" {
		return ""
	}
	return fmt.Sprintf("train.optimizer is %s, and momentum is that of sgd", c.Train.Optimizer)
}

// unlessSchedule says that the rates follow none of the given schedules.
func (c *Config) unlessSchedule(names ...string) string {
	of := ""
	for i, name := range names {
		if c.Train.Schedule == name {
			return ""
		}
		if i > 0 {
			of += " and "
		}
		of += name
	}
	return fmt.Sprintf("train.schedule is %s, and it belongs to %s", c.Train.Schedule, of)
}
