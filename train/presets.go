package main

import "slices"

// preset is a named configuration. Names are data-group-elements-variant.
type preset struct {
	name, short string // short may be empty
	about       string
	config      Config
}

// defaultPreset is what a run without flags trains.
const defaultPreset = "strokes6-180-se2-8-partial"

// toy is the network of the paper's toy tasks: ten channels, two blocks of one
// width, resolution halved after each block. Elements are drawn independently
// within their strata and the half-widths follow the true gradient, with a
// learning rate of their own; only then do the learned subsets explain what the
// network does. Once through the images of MNIST is enough; three epochs of a
// third each show the course.
func toy(set string, partial bool) Config {
	return Config{
		Seed:   1,
		Data:   DataConfig{Set: set},
		Group:  GroupConfig{Name: "SE(2)", Elements: 8, Jitter: "stratified"},
		Conv:   ConvConfig{Partial: partial},
		Kernel: KernelConfig{Type: "SIREN", Side: 7, Hidden: 32, Layers: 3, Omega0: 10},
		Net:    NetConfig{Type: "CKResNet", Width: 10, Factors: []int{1, 1}, Pools: []int{1, 2}},
		Train: TrainConfig{
			Epochs: 3, StepsPerEpoch: 55, Batch: 64, Optimizer: "adam", LR: 1e-3, LRSubset: 1e-2,
			Schedule: "cosine", EvalDraws: 5, SaveEvery: 100,
		},
	}
}

// small is a network for the generated strokes that trains within a minute.
func small(partial bool) Config {
	c := toy("strokes6-180", partial)
	c.Net.Width = 6
	c.Net.Pools = []int{0, 1}
	c.Train.Epochs, c.Train.StepsPerEpoch = 6, 0
	return c
}

// presets returns all presets, in the order of -list.
func presets() []preset {
	return []preset{
		{"strokes6-180-se2-8-partial", "strokes6-180", "synthetic sixes against their copies turned by 180 degrees, SE(2), learned subsets", small(true)},
		{"strokes6-180-se2-8-full", "", "the same with full equivariance, which cannot tell the two apart", small(false)},
		{"mnist6-180-se2-8-partial", "mnist6-180", "MNIST sixes against their copies turned by 180 degrees, SE(2), learned subsets", toy("mnist6-180", true)},
		{"mnist6-180-se2-8-full", "", "the same with full equivariance, which cannot tell the two apart", toy("mnist6-180", false)},
		{"mnist6-m-se2-8-partial", "mnist6-m", "MNIST sixes against their mirror images, SE(2), learned subsets", toy("mnist6-m", true)},
		{"mnist6-m-se2-8-full", "", "the same with full rotation equivariance, which suffices: a mirror image is no rotation", toy("mnist6-m", false)},
	}
}

// presetNames returns every name that -preset takes.
func presetNames() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.name)
		if p.short != "" {
			names = append(names, p.short)
		}
	}
	return names
}

// lookupPreset returns the configuration of that name.
func lookupPreset(name string) (Config, error) {
	list := presets()
	i := slices.IndexFunc(list, func(p preset) bool { return name == p.name || name != "" && name == p.short })
	if i < 0 {
		return Config{}, usageError{unknown("preset", name, presetNames())}
	}
	c := list[i].config
	c.Preset = list[i].name
	return c, nil
}
