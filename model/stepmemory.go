package model

import (
	"fmt"

	"github.com/noether-go/noether/nn"
)

// StepMemory is what the plan of a training step takes, in bytes: images, feature maps
// and their gradients, kernels, spectra and scratch. Parameters, the state of the optimiser
// and what each thread has to itself are not in it.
type StepMemory struct {
	Learned int64 // planned for as many elements as the learned subsets draw now
	Whole   int64 // planned for the whole group
}

// StepMemory plans a training step with cfg's batch size and penalties twice, and allocates
// neither plan. A training run makes the plan for the whole group, as subsets may grow; one
// of a network with Augerino is planned anew for the elements that are drawn. Elements that
// are dropped at random have their place in both. The error names what of the two NewTrainer refuses.
func (net *Network) StepMemory(cfg TrainConfig) (StepMemory, error) {
	cfg = cfg.withDefaults()
	if cfg.Batch < 1 || cfg.Batch > maxBatch {
		return StepMemory{}, &ConfigError{"TrainConfig.Batch", cfg.Batch, fmt.Sprintf("1 to %d", maxBatch)}
	}
	if err := cfg.Penalties.check(net); err != nil {
		return StepMemory{}, err
	}
	np := nn.Plan{Batch: cfg.Batch, NormPenalty: cfg.Penalties.Norms, Device: cfg.Device}
	if net.plan != nil {
		np.Device = net.plan.dev
	}
	whole, err := net.planned(np, false)
	if err != nil {
		return StepMemory{}, err
	}
	learned, err := net.planned(np, true)
	return StepMemory{Learned: learned, Whole: whole}, err
}

// planned returns the bytes of a plan of a copy of the network, for what is drawn now or
// for the whole group.
func (net *Network) planned(np nn.Plan, drawn bool) (int64, error) {
	twin, err := newNetwork(net.cfg, net.most)
	if err != nil {
		return 0, err
	}
	p := &plan{dev: np.Device, batch: np.Batch}
	if a := twin.augerino; a != nil {
		a.bind(twin, &np)
		if drawn {
			a.copies = net.augerino.Cells()
		}
	}
	if drawn {
		for _, s := range net.samplers {
			p.most = append(p.most, s.Cells())
		}
	}
	np.Arena = &p.arena
	twin.reserve(p, &np)
	return 4 * int64(p.arena.Size()), nil
}
