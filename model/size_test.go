package model

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/internal/safetensors"
)

// TestAfford: what is counted before it is allocated is never more than there is, and
// nearly all of it where that is much.
func TestAfford(t *testing.T) {
	for _, c := range exportCases() {
		net, err := c.net()
		if err != nil {
			t.Fatal(c.name, err)
		}
		if has := len(bits(net)); net.values > has {
			t.Errorf("%s: counted %d values, there are %d", c.name, net.values, has)
		}
	}
	wide := map[string]func(c *CKResNetConfig){
		"separable":         func(c *CKResNetConfig) { c.Separable = true },
		"learned pooling":   func(c *CKResNetConfig) { c.Partial, c.Pooling, c.Pools, c.Side = false, LearnedPooling, []int{}, 300 },
		"many classes":      func(c *CKResNetConfig) { c.Classes = 50000 },
		"wide feature maps": func(c *CKResNetConfig) { c.Factors = []int{20} },
		"deep":              func(c *CKResNetConfig) { c.KernelLayers = 6 },
	}
	for _, k := range conv.KernelNets() {
		wide[string(k)] = func(c *CKResNetConfig) { c.KernelNet = k }
	}
	for name, change := range wide {
		cfg := tiny()
		cfg.KernelHidden = 64
		change(&cfg)
		net, err := NewCKResNet(cfg)
		if err != nil {
			t.Fatal(name, err)
		}
		if has := len(bits(net)); net.values > has || float64(net.values) < 0.7*float64(has) {
			t.Errorf("%s: counted %d values, there are %d", name, net.values, has)
		}
	}
}

// TestTooLarge: networks that no memory holds are refused, not tried.
func TestTooLarge(t *testing.T) {
	for name, change := range map[string]func(c *CKResNetConfig){
		"width":           func(c *CKResNetConfig) { c.Width, c.Factors = 4096, []int{2, 2} },
		"factors":         func(c *CKResNetConfig) { c.Width, c.Factors = 4096, []int{64} },
		"kernel networks": func(c *CKResNetConfig) { c.KernelHidden, c.KernelLayers = 4096, 16 },
		"classes":         func(c *CKResNetConfig) { c.Classes, c.Width, c.Factors, c.KernelHidden = 1<<16, 1024, []int{8}, 2 },
	} {
		cfg := tiny()
		change(&cfg)
		_, err := NewCKResNet(cfg)
		var e *SizeError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "CKResNetConfig: Width") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLoadTooLarge: a description may not ask for more than the file has.
func TestLoadTooLarge(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{`"width":2`, `"width":4096`},
		{`"width":2`, `"width":20`},
		{`"kernel_hidden":4,"kernel_layers":3`, `"kernel_hidden":4096,"kernel_layers":16`},
		{`"classes":2`, `"classes":65536`},
		{`"factors":[1,2]`, `"factors":[1,2,64]`},
	} {
		path := tamper(t, func(f *safetensors.File) {
			text := strings.Replace(f.Metadata[networkKey], c.old, c.new, 1)
			if text == f.Metadata[networkKey] {
				t.Fatalf("%s is not in %s", c.old, text)
			}
			f.Metadata[networkKey] = text
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Load(path)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", c.new, n)
		}
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "the network that it describes has more than") {
			t.Errorf("%s: %v", c.new, err)
		}
	}
}
