package model

import (
	"fmt"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
)

// CKResNetConfig describes a CKResNet. Zero values stand for the setting that
// the paper uses on rotated MNIST, where the field says so.
type CKResNetConfig struct {
	Group    lie.Group // nil: lie.SE2
	Elements int       // group elements drawn per layer; 0: 8 (1 for lie.T2)
	Partial  bool      // learn which elements matter, layer by layer

	Channels int // of the image; 0: 1
	Side     int // height and width of the image in pixels; 0: 28
	Classes  int // 0: 10

	Width   int   // channels of the first block; 0: 32
	Factors []int // width of each residual block in units of Width; nil: {1, 2}
	Pools   []int // where to halve the resolution: 0 after the lifting, i after block i; nil: {0, 1}

	KernelSide   int     // odd; 0: 7
	KernelHidden int     // hidden units of the kernel networks; 0: 32
	KernelLayers int     // linear maps of the kernel networks; 0: 3
	Omega0       float64 // frequency of the SIRENs; 0: 10

	Jitter gumbel.Jitter // of the drawn elements
	Compat bool          // reproduce the published program's sampler and gradients
	Seed   uint64        // of the initial weights
}

// ConfigError says which field of a configuration is wrong.
type ConfigError struct {
	Field   string // such as "CKResNetConfig.KernelSide"
	Value   any
	Allowed string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("model: %s is %v; allowed: %s", e.Field, e.Value, e.Allowed)
}

func orDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

// withDefaults fills in zero values.
func (c CKResNetConfig) withDefaults() CKResNetConfig {
	if c.Group == nil {
		c.Group = lie.SE2
	}
	elements := 8
	if c.Group.Dim() == 0 {
		elements = 1
	}
	orDefault(&c.Elements, elements)
	orDefault(&c.Channels, 1)
	orDefault(&c.Side, 28)
	orDefault(&c.Classes, 10)
	orDefault(&c.Width, 32)
	if c.Factors == nil {
		c.Factors = []int{1, 2}
	}
	if c.Pools == nil {
		c.Pools = []int{0, 1}
	}
	orDefault(&c.KernelSide, 7)
	orDefault(&c.KernelHidden, 32)
	orDefault(&c.KernelLayers, 3)
	if c.Omega0 == 0 {
		c.Omega0 = 10
	}
	return c
}

// check reports the first field that is out of range. It expects defaults to be
// filled in.
func (c CKResNetConfig) check() error {
	type bound struct {
		field         string
		value, lo, hi int
	}
	for _, b := range []bound{
		{"Elements", c.Elements, 1, 1024},
		{"Channels", c.Channels, 1, 1024},
		{"Side", c.Side, 1, 4096},
		{"Classes", c.Classes, 2, 1 << 16},
		{"Width", c.Width, 1, 4096},
		{"KernelSide", c.KernelSide, 1, 63},
		{"KernelHidden", c.KernelHidden, 2, 4096},
		{"KernelLayers", c.KernelLayers, 2, 16},
	} {
		if b.value < b.lo || b.value > b.hi {
			return &ConfigError{"CKResNetConfig." + b.field, b.value, fmt.Sprintf("%d to %d", b.lo, b.hi)}
		}
	}
	if c.KernelSide%2 == 0 {
		return &ConfigError{"CKResNetConfig.KernelSide", c.KernelSide, "odd numbers"}
	}
	if !(c.Omega0 > 0 && c.Omega0 <= 1e4) {
		return &ConfigError{"CKResNetConfig.Omega0", c.Omega0, "above 0, up to 10000"}
	}
	if c.Group.Dim() == 0 && (c.Partial || c.Elements != 1) {
		return &ConfigError{"CKResNetConfig.Elements", c.Elements,
			"1 and not partial for " + c.Group.Name() + ", whose stabiliser is trivial"}
	}
	if len(c.Factors) == 0 || len(c.Factors) > 64 {
		return &ConfigError{"CKResNetConfig.Factors", c.Factors, "1 to 64 blocks"}
	}
	for _, f := range c.Factors {
		if f < 1 || f > 64 {
			return &ConfigError{"CKResNetConfig.Factors", c.Factors, "factors from 1 to 64"}
		}
	}
	for _, p := range c.Pools {
		if p < 0 || p > len(c.Factors) {
			return &ConfigError{"CKResNetConfig.Pools", c.Pools, fmt.Sprintf("positions 0 to %d", len(c.Factors))}
		}
	}
	if side := c.lastSide(); side < c.KernelSide {
		return &ConfigError{"CKResNetConfig.Side", c.Side,
			fmt.Sprintf("large enough that the last layer's %d pixels hold its %d-pixel kernel", side, c.KernelSide)}
	}
	return nil
}

// pooled reports whether the resolution is halved after stage i (0: lifting).
func (c CKResNetConfig) pooled(i int) bool {
	for _, p := range c.Pools {
		if p == i {
			return true
		}
	}
	return false
}

// lastSide is the side of the map that the last group convolution sees.
func (c CKResNetConfig) lastSide() int {
	side := c.Side
	for i := 0; i <= len(c.Factors); i++ {
		if c.pooled(i) {
			side /= 2
		}
	}
	return side
}
