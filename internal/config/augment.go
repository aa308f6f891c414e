package config

import (
	"math"

	"github.com/noether-go/noether/data"
)

// checkAugmentation reports how images cannot be changed in training.
func (c *Config) checkAugmentation() error {
	set, most := c.dataSet(), 180.
	switch c.Data.Set {
	case "strokes6-180", "mnist6-180":
		most = 90
	}
	switch rotate := c.Data.Rotate; {
	case c.Data.Augment == "rotation" && c.Data.Set == "mnist6-circle":
		return valueError("data.augment", c.Data.Augment, "none for "+set.name+", whose classes are rotations")
	case c.Data.Augment == "flip-crop" && set.crop == 0:
		return valueError("data.augment", c.Data.Augment, "none or rotation for "+set.name+"; flip-crop is for cifar10 and its copies, cifar100, stl10 and "+Images)
	case c.Data.Augment != "rotation" && rotate != 0: // also not a number
		return valueError("data.rotate", rotate, "0 unless data.augment is rotation")
	case c.Data.Augment == "rotation" && !(rotate > 0 && rotate <= most):
		if most == 90 {
			return valueError("data.rotate", rotate, "above 0, at most 90 (degrees, either way) for "+set.name+", whose classes are half a turn apart")
		}
		return valueError("data.rotate", rotate, "above 0, at most 180 (degrees, either way)")
	}
	return nil
}

// augmentation returns how the images to train on are changed.
func (c *Config) augmentation() data.Augmentation {
	switch c.Data.Augment {
	case "flip-crop":
		return data.Augmentation{Flip: true, Crop: c.dataSet().crop}
	case "rotation":
		return data.Augmentation{Rotate: c.Data.Rotate * math.Pi / 180}
	}
	return data.Augmentation{}
}
