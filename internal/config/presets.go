package config

import "slices"

// Preset is a named configuration. Names are data-group-elements-variant.
type Preset struct {
	Name, Short string // Short may be empty
	About       string
	Config      Config
}

// Default is what a run without flags trains.
const Default = "strokes6-180-se2-8-partial"

// toy is the network of the paper's toy tasks: ten channels, two blocks of one
// width, resolution halved after each block. The half-widths follow the true
// gradient, with a learning rate of their own: with strata, gumbel.AutoJitter, only
// then do the learned subsets explain what the network does. Logits of
// keeping elements have most of their gradients at zero, and need a larger one. Half
// of the images of MNIST are enough, in small batches, which give more steps for
// the same work; three epochs show the course.
func toy(set string, partial bool) Config {
	return Config{
		Seed:   1,
		Data:   Data{Set: set, Split: "seed", Augment: "none"},
		Group:  Group{Name: "SE(2)", Elements: 8, Sampling: "random", Jitter: "auto", Measure: "counting", InitTemperature: 0.5, EndTemperature: 1e-4},
		Conv:   Conv{Partial: partial, Bias: true, Algorithm: "auto"},
		Kernel: Kernel{Type: "SIREN", Side: 7, Hidden: 32, Layers: 3, Omega0: 10, Activation: "ReLU", Norm: "none"},
		Net:    Net{Type: "CKResNet", Norm: "BatchNorm", Width: 10, Factors: []int{1, 1}, Pools: []int{1, 2}, Pooling: "auto", Dropouts: []int{}},
		Train: Train{
			Epochs: 3, StepsPerEpoch: 50, Batch: 32, Optimizer: "adam", LR: 1.5e-3, LRSubset: 1e-2, LRKeep: 0.3, MonotonicOrder: "decreasing",
			Schedule: "cosine", DecayEpochs: []int{}, DecayFactor: 10, Patience: 10, EvalDraws: 5, SaveEvery: 100,
		},
	}
}

// on puts a network on another group.
func on(group string, elements int, c Config) Config {
	c.Group.Name, c.Group.Elements = group, elements
	return c
}

// byAnyAngle is the toy task whose border has to be found: with more channels, a longer
// course, and subsets that follow it faster.
func byAnyAngle(partial bool) Config {
	c := longer(50, toy("mnist6-circle", partial))
	c.Net.Width, c.Train.StepsPerEpoch, c.Train.LRSubset = 16, 150, 0.03
	return c
}

// longer trains a toy network for more epochs than three, which rotations and reflections
// together need.
func longer(epochs int, c Config) Config {
	c.Train.Epochs = epochs
	return c
}

// combed has learned subsets drawn as a comb, as the published program draws them:
// photographs are learned better so (docs/learned-subsets.md).
func combed(c Config) Config {
	c.Group.Jitter = "comb"
	return c
}

// small is a network for the generated strokes that trains within a minute.
func small(partial bool) Config {
	c := toy("strokes6-180", partial)
	c.Net.Width = 6
	c.Net.Pools = []int{0, 1}
	c.Train.Epochs, c.Train.StepsPerEpoch, c.Train.Batch, c.Train.LR = 6, 0, 64, 1e-3
	return c
}

// perElement draws elements for every image of a batch.
func perElement(c Config) Config {
	c.Conv.PerElement = true
	return c
}

// published is the residual network of the paper's main experiments, with the
// course of training that its authors published.
func published(set, group string, elements int, partial bool) Config {
	return Config{
		Seed:   1,
		Data:   Data{Set: set, Split: "seed", Augment: "none"},
		Group:  Group{Name: group, Elements: elements, Sampling: "random", Jitter: "auto", Measure: "counting", InitTemperature: 0.5, EndTemperature: 1e-4},
		Conv:   Conv{Partial: partial, Bias: true, Algorithm: "auto"},
		Kernel: Kernel{Type: "SIREN", Side: 7, Hidden: 32, Layers: 3, Omega0: 10, Activation: "ReLU", Norm: "none"},
		Net:    Net{Type: "CKResNet", Norm: "BatchNorm", Width: 32, Factors: []int{1, 2}, Pools: []int{0, 1}, Pooling: "auto", Dropouts: []int{}},
		Train: Train{
			Epochs: 300, Batch: 64, Optimizer: "adam", LR: 1e-3, LRSubset: 1e-3, MonotonicOrder: "decreasing",
			Schedule: "cosine", WarmupEpochs: 5, DecayEpochs: []int{}, DecayFactor: 10, Patience: 10, EvalDraws: 5, SaveEvery: 100,
		},
	}
}

func cifar(set string, elements int, partial bool) Config {
	c := published(set, "SE(2)", elements, partial)
	c.Net.Pools = []int{1, 2}
	c.Train.LRSubset, c.Train.KernelNorm = 1e-4, 1e-4
	if partial {
		c = combed(c)
	}
	return c
}

// thirteenLayers is the paper's "13-layer CNN" in place of the residual network.
func thirteenLayers(c Config) Config {
	c.Kernel.Side, c.Kernel.Hidden = 3, 8
	c.Net = Net{
		Type: "GCNN", Norm: "BatchNorm", Width: 128, Factors: []int{1, 2, 2, 2, 2, 2, 2, 2}, Pools: []int{2, 5}, Pooling: "auto",
		Dropout: 0.3, Dropouts: []int{2, 5, 8},
	}
	c.Train.Epochs, c.Train.Batch, c.Train.KernelNorm = 205, 128, 0
	return c
}

// augerino learns one subset for the whole network, which is one on translations of
// copies of the image.
func augerino(c Config) Config {
	c.Net.Type = "Augerino" + c.Net.Type
	c.Conv.Partial = false
	return c
}

// large is for images of 96 x 96 pixels: it halves their resolution three times.
func large(c Config) Config {
	c.Net.Pools = []int{0, 1, 2}
	return c
}

// kernelNet renders kernels by a multiplicative filter network, as the paper's
// authors did on the toy tasks, with the long course that they trained it by.
func kernelNet(kind string, c Config) Config {
	c.Kernel.Type = kind
	c.Train.Epochs, c.Train.StepsPerEpoch, c.Train.Batch = 300, 0, 64
	c.Train.LR, c.Train.LRSubset, c.Train.LRKeep, c.Train.Schedule = 1e-3, 1e-3, 0, "constant"
	return c
}

// perceptron renders kernels by a perceptron, for comparison with SIREN.
func perceptron(activation string, c Config) Config {
	c.Kernel.Type, c.Kernel.Activation = "MLP", activation
	return c
}

// monotonic has the penalty on subsets that grow from layer to layer, with the weight that
// the paper's authors used.
func monotonic(c Config) Config {
	c.Train.Monotonic = 1e-3
	return c
}

// learnedPool has a learned linear map in the place of the maximum over the last map.
func learnedPool(c Config) Config {
	c.Net.Pooling = "learned"
	return c
}

// lastOnPlane has the mean over the group before the last convolution, which is then one of
// the plane.
func lastOnPlane(c Config) Config {
	c.Net.LastT2 = true
	return c
}

// layerNorm is twice as wide, with layer normalisation.
func layerNorm(c Config) Config {
	c.Net.Norm, c.Net.Width = "LayerNorm", 2*c.Net.Width
	return c
}

// Presets returns all presets, in the order of -list.
func Presets() []Preset {
	return []Preset{
		{"strokes6-180-se2-8-partial", "strokes6-180", "synthetic sixes against their copies turned by 180 degrees, SE(2), learned subsets", small(true)},
		{"strokes6-180-se2-8-full", "", "the same with full equivariance, which cannot tell the two apart", small(false)},
		{"mnist6-180-se2-8-partial", "mnist6-180", "MNIST sixes against their copies turned by 180 degrees, SE(2), learned subsets", toy("mnist6-180", true)},
		{"mnist6-180-se2-8-full", "", "the same with full equivariance, which cannot tell the two apart", toy("mnist6-180", false)},
		{"mnist6-180-se2-8-augerino", "", "one learned subset of rotations for the whole network, whose answers to copies of the image are averaged", augerino(toy("mnist6-180", false))},
		{"mnist6-180-se2-8-partial-perelement", "", "learned subsets, with elements drawn for every image of a batch", perElement(toy("mnist6-180", true))},
		{"mnist6-180-se2-8-partial-perelement-magnet", "", "the same by MAGNets, with the published course of training", kernelNet("MAGNet", perElement(toy("mnist6-180", true)))},
		{"mnist6-180-se2-8-full-fourier", "", "full equivariance by Fourier networks and layer normalisation, with the published course of training", kernelNet("Fourier", layerNorm(toy("mnist6-180", false)))},
		{"mnist6-circle-se2-8-partial", "mnist6-circle", "MNIST sixes turned by any angle, by less than 90 degrees or not, SE(2), learned subsets", byAnyAngle(true)},
		{"mnist6-circle-se2-8-full", "", "the same with full equivariance, which cannot tell the two apart", byAnyAngle(false)},
		{"mnist6-180-e2-16-partial", "", "MNIST sixes against their copies turned by 180 degrees, E(2), learned subsets", longer(5, on("E(2)", 16, toy("mnist6-180", true)))},
		{"mnist6-180-e2-16-full", "", "the same with full equivariance, which cannot tell the two apart", longer(5, on("E(2)", 16, toy("mnist6-180", false)))},
		{"mnist6-m-mirror-2-partial", "mnist6-m", "MNIST sixes against their mirror images, the group of one reflection, learned subsets", on("mirror", 2, toy("mnist6-m", true))},
		{"mnist6-m-mirror-2-full", "", "the same with full equivariance, which cannot tell the two apart", on("mirror", 2, toy("mnist6-m", false))},
		{"mnist6-m-e2-16-partial", "", "MNIST sixes against their mirror images, E(2), learned subsets", longer(12, on("E(2)", 16, toy("mnist6-m", true)))},
		{"mnist6-m-e2-16-full", "", "the same with full equivariance, which cannot tell the two apart", longer(12, on("E(2)", 16, toy("mnist6-m", false)))},
		{"mnist6-m-se2-8-partial", "", "MNIST sixes against their mirror images, SE(2), learned subsets", toy("mnist6-m", true)},
		{"mnist6-m-se2-8-full", "", "the same with full rotation equivariance, which suffices: a mirror image is no rotation", toy("mnist6-m", false)},
		{"rotmnist-se2-8-partial", "rotmnist", "rotated MNIST (RotMNIST), SE(2), learned subsets", published("rotmnist", "SE(2)", 8, true)},
		{"rotmnist-se2-8-full", "", "the same with full equivariance", published("rotmnist", "SE(2)", 8, false)},
		{"rotmnist-se2-8-partial-monotonic", "", "RotMNIST, SE(2), learned subsets that are not to grow from layer to layer, as the published command has it", monotonic(published("rotmnist", "SE(2)", 8, true))},
		{"rotmnist-se2-4-partial", "", "RotMNIST, SE(2), half as many elements, learned subsets", published("rotmnist", "SE(2)", 4, true)},
		{"rotmnist-se2-4-full", "", "the same with full equivariance", published("rotmnist", "SE(2)", 4, false)},
		{"rotmnist-se2-16-partial", "", "RotMNIST, SE(2), twice as many elements, learned subsets", published("rotmnist", "SE(2)", 16, true)},
		{"rotmnist-se2-16-full", "", "the same with full equivariance", published("rotmnist", "SE(2)", 16, false)},
		{"rotmnist-se2-8-full-relu", "", "RotMNIST, SE(2), full equivariance, kernels by perceptrons with ReLU", perceptron("ReLU", published("rotmnist", "SE(2)", 8, false))},
		{"rotmnist-se2-8-full-leakyrelu", "", "the same with LeakyReLU", perceptron("LeakyReLU", published("rotmnist", "SE(2)", 8, false))},
		{"rotmnist-se2-8-full-swish", "", "the same with Swish", perceptron("Swish", published("rotmnist", "SE(2)", 8, false))},
		{"rotmnist-se2-8-augerino", "", "one learned subset of rotations for the whole network, whose answers to copies of the image are averaged", augerino(published("rotmnist", "SE(2)", 8, false))},
		{"rotmnist-e2-16-partial", "", "rotated MNIST (RotMNIST), E(2), learned subsets", published("rotmnist", "E(2)", 16, true)},
		{"rotmnist-e2-16-full", "", "the same with full equivariance", published("rotmnist", "E(2)", 16, false)},
		{"rotmnist-e2-8-partial", "", "RotMNIST, E(2), half as many elements, learned subsets", published("rotmnist", "E(2)", 8, true)},
		{"rotmnist-e2-8-full", "", "the same with full equivariance", published("rotmnist", "E(2)", 8, false)},
		{"rotmnist-sim2-8-partial", "", "RotMNIST, rotations and scalings, learned subsets; not in the paper", published("rotmnist", "Sim(2)", 8, true)},
		{"rotmnist-sim2-8-full", "", "the same with full equivariance", published("rotmnist", "Sim(2)", 8, false)},
		{"rotmnist-t2-1", "", "the same with equivariance to translations alone", published("rotmnist", "T(2)", 1, false)},
		{"rotmnist-synthetic-se2-8-partial", "rotmnist-synthetic", "synthetic stand-in for RotMNIST, made by turning MNIST, SE(2), learned subsets", published("rotmnist-synthetic", "SE(2)", 8, true)},
		{"rotmnist-synthetic-se2-8-full", "", "the same with full equivariance", published("rotmnist-synthetic", "SE(2)", 8, false)},
		{"rotmnist-synthetic-t2-1", "", "the same with equivariance to translations alone", published("rotmnist-synthetic", "T(2)", 1, false)},
		{"cifar10-se2-16-partial", "cifar10", "CIFAR-10, SE(2), learned subsets", cifar("cifar10", 16, true)},
		{"cifar10-se2-16-full", "", "the same with full equivariance", cifar("cifar10", 16, false)},
		{"cifar10-e2-16-partial", "", "CIFAR-10, E(2), learned subsets", on("E(2)", 16, cifar("cifar10", 16, true))},
		{"cifar10-e2-16-full", "", "the same with full equivariance", on("E(2)", 16, cifar("cifar10", 16, false))},
		{"cifar10-se2-8-partial", "", "CIFAR-10, SE(2), half as many elements, learned subsets", cifar("cifar10", 8, true)},
		{"cifar10-se2-8-full", "", "the same with full equivariance", cifar("cifar10", 8, false)},
		{"cifar10-se2-4-partial", "", "CIFAR-10, SE(2), a quarter as many elements, learned subsets", cifar("cifar10", 4, true)},
		{"cifar10-se2-4-full", "", "the same with full equivariance", cifar("cifar10", 4, false)},
		{"cifar10-e2-8-partial", "", "CIFAR-10, E(2), half as many elements, learned subsets", on("E(2)", 8, cifar("cifar10", 8, true))},
		{"cifar10-e2-8-full", "", "the same with full equivariance", on("E(2)", 8, cifar("cifar10", 8, false))},
		{"cifar10-se2-16-partial-monotonic", "", "CIFAR-10, SE(2), learned subsets that are not to grow from layer to layer", monotonic(cifar("cifar10", 16, true))},
		{"cifar10-se2-8-full-learnedpool", "", "CIFAR-10, SE(2), full equivariance, learned pooling", learnedPool(cifar("cifar10", 8, false))},
		{"cifar10-e2-8-full-learnedpool", "", "the same on E(2)", learnedPool(on("E(2)", 8, cifar("cifar10", 8, false)))},
		{"cifar10-se2-8-augerino", "", "CIFAR-10, one learned subset of rotations for the whole network, whose answers to copies of the image are averaged", augerino(cifar("cifar10", 8, false))},
		{"cifar10-e2-8-augerino", "", "the same with reflections", augerino(on("E(2)", 8, cifar("cifar10", 8, false)))},
		{"cifar10-t2-1", "", "CIFAR-10, equivariance to translations alone", on("T(2)", 1, cifar("cifar10", 1, false))},
		{"cifar100-se2-16-partial", "cifar100", "CIFAR-100, SE(2), learned subsets", cifar("cifar100", 16, true)},
		{"cifar100-se2-16-full", "", "the same with full equivariance", cifar("cifar100", 16, false)},
		{"cifar100-e2-16-partial", "", "CIFAR-100, E(2), learned subsets", on("E(2)", 16, cifar("cifar100", 16, true))},
		{"cifar100-e2-16-full", "", "the same with full equivariance", on("E(2)", 16, cifar("cifar100", 16, false))},
		{"cifar100-se2-8-partial", "", "CIFAR-100, SE(2), half as many elements, learned subsets", cifar("cifar100", 8, true)},
		{"cifar100-se2-8-full", "", "the same with full equivariance", cifar("cifar100", 8, false)},
		{"cifar100-se2-4-partial", "", "CIFAR-100, SE(2), a quarter as many elements, learned subsets", cifar("cifar100", 4, true)},
		{"cifar100-se2-4-full", "", "the same with full equivariance", cifar("cifar100", 4, false)},
		{"cifar100-e2-8-partial", "", "CIFAR-100, E(2), half as many elements, learned subsets", on("E(2)", 8, cifar("cifar100", 8, true))},
		{"cifar100-e2-8-full", "", "the same with full equivariance", on("E(2)", 8, cifar("cifar100", 8, false))},
		{"cifar100-e2-8-full-lastt2", "", "CIFAR-100, E(2), full equivariance, the last convolution on the plane behind a mean over the group", lastOnPlane(on("E(2)", 8, cifar("cifar100", 8, false)))},
		{"cifar100-se2-8-augerino", "", "CIFAR-100, one learned subset of rotations for the whole network, whose answers to copies of the image are averaged", augerino(cifar("cifar100", 8, false))},
		{"cifar100-e2-8-augerino", "", "the same with reflections", augerino(on("E(2)", 8, cifar("cifar100", 8, false)))},
		{"cifar100-t2-1", "", "CIFAR-100, equivariance to translations alone", on("T(2)", 1, cifar("cifar100", 1, false))},
		{"cifar10-se2-4-full-13layer", "", "CIFAR-10, SE(2), full equivariance, the chain of convolutions that the paper calls 13-layer CNN", thirteenLayers(cifar("cifar10", 4, false))},
		{"cifar10-se2-4-partial-13layer", "", "the same with learned subsets", thirteenLayers(cifar("cifar10", 4, true))},
		{"cifar10-t2-1-13layer", "", "the same with equivariance to translations alone", thirteenLayers(on("T(2)", 1, cifar("cifar10", 1, false)))},
		{"stl10-se2-8-partial", "stl10", "STL-10, SE(2), learned subsets", large(cifar("stl10", 8, true))},
		{"stl10-se2-8-full", "", "the same with full equivariance", large(cifar("stl10", 8, false))},
		{"pcam-se2-8-partial", "pcam", "PatchCamelyon, SE(2), learned subsets", large(published("pcam", "SE(2)", 8, true))},
		{"pcam-se2-8-full", "", "the same with full equivariance", large(published("pcam", "SE(2)", 8, false))},
		{"fashion-mnist-se2-8-partial", "fashion-mnist", "Fashion-MNIST, SE(2), learned subsets", published("fashion-mnist", "SE(2)", 8, true)},
		{"fashion-mnist-se2-8-full", "", "the same with full equivariance", published("fashion-mnist", "SE(2)", 8, false)},
	}
}

// presetNames returns every name that Lookup takes.
func presetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
		if p.Short != "" {
			names = append(names, p.Short)
		}
	}
	return names
}

// Lookup returns the configuration of that name. The error, an *Error, says which
// name is nearest.
func Lookup(name string) (Config, error) {
	list := Presets()
	i := slices.IndexFunc(list, func(p Preset) bool { return name == p.Name || name != "" && name == p.Short })
	if i < 0 {
		return Config{}, &Error{unknown("preset", name, presetNames())}
	}
	c := list[i].Config
	c.Preset = list[i].Name
	return c, nil
}
