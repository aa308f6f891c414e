package model

import (
	"fmt"
	"slices"

	"github.com/noether-go/noether/nn"
)

// Schedule names a course of the learning rates.
type Schedule string

const (
	ConstantSchedule  Schedule = "constant"
	CosineSchedule    Schedule = "cosine"    // nn.CosineLR, after Warmup epochs
	MultiStepSchedule Schedule = "multistep" // nn.MultiStepLR: divided by Decay.Factor after Decay.Epochs
	PlateauSchedule   Schedule = "plateau"   // nn.PlateauLR: divided where validation stops improving
)

// Schedules returns all of them.
func Schedules() []Schedule {
	return []Schedule{ConstantSchedule, CosineSchedule, MultiStepSchedule, PlateauSchedule}
}

// Decay says when schedules in steps lower the learning rates, and by how much.
type Decay struct {
	// Epochs are the numbers of completed epochs after which MultiStepSchedule divides the
	// rates by Factor, rising, up to 1000000.
	Epochs []int `json:"epochs,omitempty"`
	// Patience is how many epochs without a better validation accuracy PlateauSchedule
	// lets pass; it divides the rates by Factor after one more.
	Patience int     `json:"patience,omitempty"`
	Factor   float64 `json:"factor,omitempty"` // 0: 10
}

// checkSchedule is check for what the learning rates depend on.
func (c *TrainConfig) checkSchedule() error {
	bad := func(field string, value any, allowed string) error {
		return &ConfigError{"TrainConfig." + field, value, allowed}
	}
	last := 0
	for _, e := range c.Decay.Epochs {
		if e <= last || e > 1e6 {
			return bad("Decay.Epochs", c.Decay.Epochs, "rising numbers, 1 to 1000000")
		}
		last = e
	}
	d, steps := c.Decay, c.Schedule == MultiStepSchedule || c.Schedule == PlateauSchedule
	switch {
	case !slices.Contains(Schedules(), c.Schedule):
		return bad("Schedule", fmt.Sprintf("%q", c.Schedule), listed(Schedules()))
	case c.Schedule == MultiStepSchedule && len(d.Epochs) == 0:
		return bad("Decay.Epochs", d.Epochs, "at least one epoch with the schedule multistep")
	case c.Schedule != MultiStepSchedule && len(d.Epochs) > 0:
		return bad("Decay.Epochs", d.Epochs, "none with the schedule "+string(c.Schedule))
	case c.Schedule != CosineSchedule && c.Warmup != 0:
		return bad("Warmup", c.Warmup, "0 with the schedule "+string(c.Schedule)+"; warm-up comes before a cosine")
	case c.Schedule != PlateauSchedule && d.Patience != 0:
		return bad("Decay.Patience", d.Patience, "0 with the schedule "+string(c.Schedule))
	case d.Patience < 0 || d.Patience > 1e6:
		return bad("Decay.Patience", d.Patience, "0 to 1000000")
	case !steps && d.Factor != 0:
		return bad("Decay.Factor", d.Factor, "0 with the schedule "+string(c.Schedule))
	case steps && !(d.Factor >= 1 && d.Factor <= 1e6):
		return bad("Decay.Factor", d.Factor, "1 to 1e6, or 0 for 10")
	}
	return nil
}

// newSchedule returns the configured schedule for epochs of perEpoch steps; a cosine is
// planned for epochs of planned steps.
func (c *TrainConfig) newSchedule(perEpoch, planned int, compat bool) (nn.Schedule, error) {
	switch c.Schedule {
	case CosineSchedule:
		return nn.NewCosineLR(c.Epochs*planned, c.Warmup*planned, compat)
	case MultiStepSchedule:
		steps := slices.Clone(c.Decay.Epochs)
		for i := range steps {
			steps[i] *= perEpoch
		}
		return nn.NewMultiStepLR(steps, c.Decay.Factor)
	case PlateauSchedule:
		return nn.NewPlateauLR(c.Decay.Factor, c.Decay.Patience)
	}
	return nn.ConstantLR{}, nil
}

// observe tells a schedule that depends on it what an epoch came to.
func (t *Trainer) observe(m EpochMetrics) {
	if p, ok := t.schedule.(*nn.PlateauLR); ok {
		p.Observe(m.ValidationAccuracy)
	}
}
