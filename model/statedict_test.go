package model

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/safetensors"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// Every network comes back from its state dictionary as it was, whatever the seed of
// the network that takes it.
func TestStateDict(t *testing.T) {
	for _, c := range exportCases() {
		t.Run(c.name, func(t *testing.T) {
			net, err := c.net()
			if err != nil {
				t.Fatal(err)
			}
			vary(net)
			path := filepath.Join(t.TempDir(), "state.safetensors")
			if err := net.SaveStateDict(path); err != nil {
				t.Fatal(err)
			}
			cfg := net.cfg
			cfg.Seed += 5
			other, err := newNetwork(cfg, mostValues)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.LoadStateDict(path); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(bits(net), bits(other)) {
				t.Error("the parameters differ")
			}
		})
	}
}

// referenceNetworks are the networks of the reference numbers, by their files.
func referenceNetworks() map[string]settings {
	with := func(change func(c *CKResNetConfig)) settings {
		c := CKResNetConfig{
			Elements: 4, Partial: true, Side: 14, Width: 4, Factors: []int{1, 2}, Pools: []int{0}, KernelSide: 5, KernelHidden: 8, Compat: true,
		}
		change(&c)
		return c.settings()
	}
	return map[string]settings{
		"ckresnet_se2_partial_siren_bn.npz": with(func(c *CKResNetConfig) {}),
		"ckresnet_e2_partial_siren_bn.npz":  with(func(c *CKResNetConfig) { c.Group, c.Channels = lie.E2, 3 }),
		"ckresnet_se2_partial_magnet_perbatch.npz": with(func(c *CKResNetConfig) {
			c.Classes, c.PerElement, c.KernelNet, c.Pools = 2, true, conv.MAGNet, []int{1}
		}),
		"ckresnet_se2_full_siren_ln.npz": with(func(c *CKResNetConfig) { c.Partial, c.Norm = false, LayerNorm }),
		"gcnn_se2_partial_siren_bn.npz": GCNNConfig{
			Elements: 4, Partial: true, Side: 14, Width: 4, Factors: []int{1, 2, 2}, Pools: []int{1}, Compat: true,
		}.settings(),
	}
}

// The names, shapes and types are those of the published program's networks. The
// reference lists a buffer that several modules share once, so that some of the
// counts of draws, which are shared, are not among its names.
func TestStateDictOfTheReference(t *testing.T) {
	for file, cfg := range referenceNetworks() {
		t.Run(file, func(t *testing.T) {
			a := golden.Open(t, file)
			net, err := newNetwork(cfg, mostValues)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "state.safetensors")
			if err := net.SaveStateDict(path); err != nil {
				t.Fatal(err)
			}
			state, err := safetensors.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if state.Metadata["format"] != "pt" {
				t.Errorf("metadata %v", state.Metadata)
			}
			want := map[string]bool{}
			for _, key := range a.Names() {
				if _, name, ok := strings.Cut(key, "."); ok && (strings.HasPrefix(key, "p.") || strings.HasPrefix(key, "buf.")) {
					want[name] = true
					_, shape := golden.Float64(t, a, key)
					switch got := state.Lookup(name); {
					case got == nil:
						t.Errorf("%s is missing", name)
					case !slices.Equal(got.Shape, shape):
						t.Errorf("%s has shape %v, want %v", name, got.Shape, shape)
					case (got.I64 != nil) != strings.HasSuffix(name, "num_batches_tracked"):
						t.Errorf("%s is of another type", name)
					}
				}
			}
			for _, got := range state.Tensors {
				if !want[got.Name] && !strings.HasSuffix(got.Name, drawsBuffer) {
					t.Errorf("%s is not the reference's", got.Name)
				}
			}
		})
	}
}

// The reference's state dictionaries become networks that compute what the
// reference does.
func TestStateDictFromTheReference(t *testing.T) {
	for file, cfg := range referenceNetworks() {
		t.Run(file, func(t *testing.T) {
			a := golden.Open(t, file)
			var state []safetensors.Tensor
			for _, key := range a.Names() {
				kind, name, _ := strings.Cut(key, ".")
				switch {
				case kind == "p":
					_, shape := golden.Float64(t, a, key)
					p := nn.NewParameter(name, nn.Weight, shape...)
					setBefore(t, a, p)
					state = append(state, tensorOf(name, p, p.Host))
				case kind == "buf_after" && strings.HasSuffix(name, "num_batches_tracked"):
					v, shape := golden.Float64(t, a, key)
					state = append(state, safetensors.Tensor{Name: name, Shape: shape, I64: []int64{int64(v[0])}})
				case kind == "buf_after":
					v, shape := golden.Float32(t, a, key)
					state = append(state, safetensors.Tensor{Name: name, Shape: shape, F32: v})
				}
			}
			path := filepath.Join(t.TempDir(), "published.safetensors")
			if err := safetensors.WriteFile(path, state, nil); err != nil {
				t.Fatal(err)
			}
			net, err := newNetwork(cfg, mostValues)
			if err != nil {
				t.Fatal(err)
			}
			if err := net.LoadStateDict(path); err != nil {
				t.Fatal(err)
			}
			dev, err := tensor.NewCPU(1)
			if err != nil {
				t.Fatal(err)
			}
			defer dev.Close()
			images, shape := golden.Float32(t, a, "x")
			if err := net.Bind(dev, shape[0], true); err != nil {
				t.Fatal(err)
			}
			defer net.Release()
			net.DrawFrom(uniforms(t, a, "eval"), Evaluation)
			net.Forward(images, false)
			compareLogits(t, net, a, "logits_eval")
		})
	}
}

// What PyTorch and its users do to a state dictionary does not matter.
func TestStateDictVariants(t *testing.T) {
	net := newTiny(t)
	vary(net)
	path := filepath.Join(t.TempDir(), "state.safetensors")
	if err := net.SaveStateDict(path); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(list []safetensors.Tensor) []safetensors.Tensor{
		"torch.nn.DataParallel": func(list []safetensors.Tensor) []safetensors.Tensor {
			for i := range list {
				list[i].Name = "module." + list[i].Name
			}
			return list
		},
		"matrices for 1 x 1 convolutions": func(list []safetensors.Tensor) []safetensors.Tensor {
			for i := range list {
				list[i].Shape = squeeze(list[i].Shape)
			}
			return list
		},
		"no counts": func(list []safetensors.Tensor) []safetensors.Tensor {
			return slices.DeleteFunc(list, func(t safetensors.Tensor) bool {
				return strings.HasSuffix(t.Name, drawsBuffer) || strings.HasSuffix(t.Name, "omega_0")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			state, err := safetensors.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := filepath.Join(t.TempDir(), "changed.safetensors")
			if err := safetensors.WriteFile(changed, change(state.Tensors), nil); err != nil {
				t.Fatal(err)
			}
			other := newTinyWith(t, func(c *CKResNetConfig) { c.Seed = 99 })
			if err := other.LoadStateDict(changed); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(bits(net), bits(other)) {
				t.Error("the parameters differ")
			}
		})
	}
}

// A file that does not fit the configuration is refused with the tensor's name, and
// the network stays as it was.
// TestStateDictClamps: subsets that the published program let grow beyond the group, or shrink to less than nothing,
// are within their range, but where the network is to behave as they do.
func TestStateDictClamps(t *testing.T) {
	for _, compat := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "net.safetensors")
		from := newTinyWith(t, func(cfg *CKResNetConfig) { cfg.Compat = compat })
		learned := []float32{1.3, -0.5, 0.5}
		want := []float64{gumbel.MaxTheta, float64(float32(gumbel.MinTheta)), 0.5}
		at := 0
		for _, p := range from.Parameters().All() {
			if p.Class == nn.Subset {
				p.Host[0] = learned[at%len(learned)]
				at++
			}
		}
		if at < len(learned) {
			t.Fatalf("%d subsets", at)
		}
		if err := from.SaveStateDict(path); err != nil {
			t.Fatal(err)
		}
		to := newTinyWith(t, func(cfg *CKResNetConfig) { cfg.Compat, cfg.Seed = compat, 9 })
		if err := to.LoadStateDict(path); err != nil {
			t.Fatal(err)
		}
		for i, got := range to.Subsets() {
			want := want[i%len(want)]
			if compat {
				want = float64(learned[i%len(learned)])
			}
			if got != want {
				t.Errorf("compat %v: subset %d is %v, want %v", compat, i, got, want)
			}
		}
	}
}

func TestBadStateDicts(t *testing.T) {
	net := newTiny(t)
	good := filepath.Join(t.TempDir(), "state.safetensors")
	if err := net.SaveStateDict(good); err != nil {
		t.Fatal(err)
	}
	set := func(name string, f func(t *safetensors.Tensor)) func(list []safetensors.Tensor) []safetensors.Tensor {
		return func(list []safetensors.Tensor) []safetensors.Tensor {
			for i := range list {
				if list[i].Name == name {
					f(&list[i])
				}
			}
			return list
		}
	}
	without := func(name string) func(list []safetensors.Tensor) []safetensors.Tensor {
		return func(list []safetensors.Tensor) []safetensors.Tensor {
			return slices.DeleteFunc(list, func(t safetensors.Tensor) bool { return t.Name == name })
		}
	}
	same := func(list []safetensors.Tensor) []safetensors.Tensor { return list }
	const omega = "last_gconv.kernelnet.kernel_net.2.omega_0"
	for name, c := range map[string]struct {
		change func(list []safetensors.Tensor) []safetensors.Tensor
		to     func(c *CKResNetConfig)
		want   string
	}{
		"a weight is missing":    {without("out_layer.bias"), nil, `"out_layer.bias" is missing`},
		"a statistic is missing": {without("lift_norm.module.running_var"), nil, `"lift_norm.module.running_var" is missing`},
		"a subset is missing":    {without("last_gconv.probs"), nil, `"last_gconv.probs" is missing`},
		"another shape":          {same, func(c *CKResNetConfig) { c.Width = 3 }, "this configuration needs [1 3]"},
		"another frequency":      {set(omega, func(t *safetensors.Tensor) { t.F32[0] = 30 }), nil, omega + `" is [30], by this configuration it is [10]`},
		"NaN":                    {set("out_layer.bias", func(t *safetensors.Tensor) { t.F32[1] = float32(math.NaN()) }), nil, `value 1 of tensor "out_layer.bias" is NaN`},
		"integers":               {set("out_layer.bias", func(t *safetensors.Tensor) { t.F32, t.I64 = nil, []int64{1, 2} }), nil, "holds integers"},
		"of another network": {func(list []safetensors.Tensor) []safetensors.Tensor {
			return append(list, safetensors.Tensor{Name: "head.bias", F32: []float32{1}})
		}, nil, `"head.bias" does not belong`},
		"of another kernel":        {same, func(c *CKResNetConfig) { c.KernelNet = conv.MAGNet }, "is missing"},
		"subsets that were learnt": {set("last_gconv.probs", func(t *safetensors.Tensor) { t.F32[0] = 0.5 }), func(c *CKResNetConfig) { c.Partial = false }, `"last_gconv.probs" is [0.5]: that network learned its subsets`},
	} {
		t.Run(name, func(t *testing.T) {
			state, err := safetensors.ReadFile(good)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "bad.safetensors")
			if err := safetensors.WriteFile(path, c.change(state.Tensors), nil); err != nil {
				t.Fatal(err)
			}
			other := newTinyWith(t, func(cfg *CKResNetConfig) {
				cfg.Seed = 99
				if c.to != nil {
					c.to(cfg)
				}
			})
			before := bits(other)
			err = other.LoadStateDict(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if !slices.Equal(before, bits(other)) {
				t.Error("the network was changed")
			}
		})
	}
	if err := net.LoadStateDict("/nothing"); err == nil {
		t.Error("a file that is not there is accepted")
	}
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := net.Bind(dev, 1, true); err != nil {
		t.Fatal(err)
	}
	defer net.Release()
	defer func() {
		if _, ok := recover().(*nn.Error); !ok {
			t.Error("a bound network takes a state dictionary")
		}
	}()
	net.LoadStateDict(good)
}
