package model

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/safetensors"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/tensor"
)

// What could not be loaded again does not replace a file that can.
func TestSaveRefuses(t *testing.T) {
	good := newTiny(t)
	spoilt := newTiny(t)
	spoilt.params.All()[1].Host[0] = float32(math.NaN())
	endless := newTiny(t)
	endless.params.All()[0].Host[0] = float32(math.Inf(-1))
	diverged := newTrainer(t, quick(1))
	take(t, diverged, 1)
	diverged.at.Loss = math.NaN()
	overflown := newTrainer(t, quick(1))
	overflown.net.params.Download()
	overflown.net.params.All()[0].Host[0] = float32(math.Inf(1))
	overflown.net.params.Upload()
	negative := newTiny(t)
	negative.params.Lookup("lift_norm.module.running_var").Host[1] = -1
	below := newTrainer(t, quick(1))
	below.net.params.Download()
	below.net.params.Lookup("lift_norm.module.running_var").Host[1] = -1
	below.net.params.Upload()
	foreign := newTinyWith(t, func(c *CKResNetConfig) { c.Group = renamed{lie.SE2, "shears"} })
	alike := newTinyWith(t, func(c *CKResNetConfig) { c.Group = renamed{lie.SE2, "SE(2)"} })
	for what, c := range map[string]struct {
		save func(path string) error
		want string
	}{
		"NaN":                 {spoilt.Save, "is NaN"},
		"infinity":            {endless.Save, "is -Inf"},
		"dictionary of NaN":   {spoilt.SaveStateDict, "is NaN"},
		"loss of a run":       {diverged.SaveState, "diverged"},
		"weights of a run":    {overflown.SaveState, "is +Inf"},
		"negative variance":   {negative.Save, "running_var is -1"},
		"dictionary of it":    {negative.SaveStateDict, "running_var is -1"},
		"state with it":       {below.SaveState, "running_var is -1"},
		"unknown group":       {foreign.Save, `"shears"`},
		"group of known name": {alike.Save, `"SE(2)"`},
	} {
		path := filepath.Join(t.TempDir(), "net.safetensors")
		if err := good.Save(path); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.save(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error with %s and the path", what, err, c.want)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file was changed", what)
		}
	}
	if err := foreign.SaveStateDict(filepath.Join(t.TempDir(), "state.safetensors")); err != nil {
		t.Errorf("parameters of a network on a foreign group: %v", err)
	}
	if _, err := spoilt.Freeze(FreezeConfig{}); err == nil || !strings.Contains(err.Error(), spoilt.params.All()[1].Name) {
		t.Errorf("parameters that are NaN are frozen: %v", err)
	}
}

// What a configuration may have is said with the group, or the sizes, that it depends on.
func TestConfigErrorsSayWhy(t *testing.T) {
	for want, change := range map[string]func(c *CKResNetConfig){
		"Elements is 3; allowed: 4 for C4, the order of its stabiliser": func(c *CKResNetConfig) {
			c.Group, c.Elements = lie.Cyclic(4), 3
		},
		"Elements is 3; allowed: multiples of 2 for E(2)": func(c *CKResNetConfig) {
			c.Group, c.Elements = lie.E2, 3
		},
		"Width is 4097; allowed: 1 to 4096": func(c *CKResNetConfig) {
			c.Width = 4097
		},
		"KernelLayers is 1; allowed: 2 to 16": func(c *CKResNetConfig) {
			c.KernelLayers = 1
		},
		"Pools is [0 3]; allowed: positions 0 to 2, each once": func(c *CKResNetConfig) {
			c.Factors, c.Pools = []int{1, 1}, []int{0, 3}
		},
		"Side is 13; allowed: large enough that the last layer's 6 pixels hold its 7-pixel kernel": func(c *CKResNetConfig) {
			c.Side, c.Pools, c.KernelSide = 13, []int{0}, 7
		},
		"EndTemperature is 0.3; allowed: above 0, up to the temperature at the beginning, 0.2": func(c *CKResNetConfig) {
			c.InitTemperature, c.EndTemperature = 0.2, 0.3
		},
		"LastT2 is true; allowed: false for E(2) with Compat: " +
			"the published program convolves on what is no element of the group": func(c *CKResNetConfig) {
			c.Group, c.Elements, c.LastT2, c.Compat = lie.E2, 4, true, true
		},
	} {
		c := tiny()
		change(&c)
		if _, err := NewCKResNet(c); err == nil || err.Error() != "model: CKResNetConfig."+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	newTinyWith(t, func(c *CKResNetConfig) { c.LastT2, c.Compat = true, true }) // on SE(2) it is an element
}

// A checkpoint is one of the network that it describes, however the tensors fit.
func TestLoadStateDictOfACheckpoint(t *testing.T) {
	net := newTiny(t)
	path := filepath.Join(t.TempDir(), "net.safetensors")
	if err := net.Save(path); err != nil {
		t.Fatal(err)
	}
	longer := newTinyWith(t, func(c *CKResNetConfig) { c.Elements, c.Seed = 4, 9 })
	if err := longer.LoadStateDict(path); err == nil || !strings.Contains(err.Error(), "its elements is 3, here it is 4") {
		t.Errorf("a network of other elements takes the checkpoint: %v", err)
	}
	if what := net.Differs(longer); what != "its elements is 3, here it is 4" {
		t.Errorf("networks differ: %s", what)
	}
	other := newTinyWith(t, func(c *CKResNetConfig) { c.Seed = 9 })
	if err := other.LoadStateDict(path); err != nil || net.Differs(other) != "" {
		t.Errorf("a network of another seed: %v, %s", err, net.Differs(other))
	}
}

// The state of a training has the weights of a network too, but is none.
func TestLoadOfAState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	if err := newTrainer(t, quick(1)).SaveState(path); err != nil {
		t.Fatal(err)
	}
	_, loaded := Load(path)
	for what, err := range map[string]error{"Load": loaded, "LoadStateDict": newTiny(t).LoadStateDict(path)} {
		if err == nil || !strings.Contains(err.Error(), "the state of a training") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestNegativeVariance(t *testing.T) {
	net := newTiny(t)
	dir := t.TempDir()
	checkpoint, dictionary := filepath.Join(dir, "net.safetensors"), filepath.Join(dir, "state.safetensors")
	if err := net.Save(checkpoint); err != nil {
		t.Fatal(err)
	}
	if err := net.SaveStateDict(dictionary); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{checkpoint, dictionary} { // neither is written with one
		file, err := safetensors.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file.Lookup("lift_norm.module.running_var").F32[1] = -1
		if err := safetensors.WriteFile(path, file.Tensors, file.Metadata); err != nil {
			t.Fatal(err)
		}
	}
	_, loaded := Load(checkpoint)
	for what, err := range map[string]error{"Load": loaded, "LoadStateDict": newTiny(t).LoadStateDict(dictionary)} {
		if err == nil || !strings.Contains(err.Error(), "running_var\" is -1; ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// renamed is a group from elsewhere.
type renamed struct {
	lie.Group
	name string
}

func (r renamed) Name() string { return r.name }

func TestEvaluateRefuses(t *testing.T) {
	net := bindFor(t, newTiny(t), 4)
	set := toySet()
	other := *set
	other.Channels = 3
	for what, c := range map[string]struct {
		set   *data.Dataset
		split data.Split
		draws int
		want  string
	}{
		"no draws":     {set, set.Test, 0, "0 draws"},
		"no images":    {set, data.Split{}, 1, "without images"},
		"part images":  {set, data.Split{Images: set.Test.Images[1:], Labels: set.Test.Labels}, 1, "as many images as labels"},
		"a high class": {set, data.Split{Images: set.Test.Images[:set.Pixels()], Labels: []uint8{200}}, 1, "class 200"},
		"channels":     {&other, data.Split{Images: make([]uint8, other.Pixels()), Labels: []uint8{0}}, 1, "3 channels"},
	} {
		_, evaluated := net.Evaluate(t.Context(), c.set, &c.split, c.draws, 1)
		_, _, confused := net.Confusion(t.Context(), c.set, &c.split, c.draws, 1)
		for _, err := range []error{evaluated, confused} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want an error with %q", what, err, c.want)
			}
		}
	}
}

func TestProgrammerErrors(t *testing.T) {
	const batch = 4
	net := bindFor(t, newTiny(t), batch)
	pixels := net.cfg.pixels()
	for what, c := range map[string]struct {
		call func()
		want string
	}{
		"no image":            {func() { net.Forward(nil, false) }, "Network.Forward: 0 values"},
		"a part of an image":  {func() { net.Forward(make([]float32, pixels+1), false) }, "1 to 4 images"},
		"too many images":     {func() { net.Forward(make([]float32, (batch+1)*pixels), false) }, "1 to 4 images"},
		"probabilities, part": {func() { net.Probabilities(make([]float32, 2*pixels-1), 1, 1) }, "Network.Probabilities: 1 draws of"},
		"no draws":            {func() { net.Probabilities(make([]float32, pixels), 0, 1) }, "0 draws"},
		"negative rotations":  {func() { Rotations(-1) }, "Rotations: -1 rotations"},
	} {
		func() {
			defer func() {
				if e, ok := recover().(*nn.Error); !ok || !strings.Contains(e.Error(), c.want) {
					t.Errorf("%s: %v, want an error with %q", what, e, c.want)
				}
			}()
			c.call()
		}()
	}
	if p := net.Probabilities(nil, 1, 1); len(p) != 0 {
		t.Errorf("probabilities of no images: %v", p)
	}
}

// TestBackwardOnce: a pass back overwrites what it reads, and leads to the elements of the pass forward, so without one
// of its own on them it would compute something else.
func TestBackwardOnce(t *testing.T) {
	const batch = 4
	labels, images := []float32{0, 1, 0, 1}, someImages(newTiny(t), batch)
	for what, between := range map[string]func(*Network){
		"no pass forward":     func(net *Network) { net.Draw(1, Training, 1) },
		"another pass back":   func(net *Network) { net.Backward(labels) },
		"another draw":        func(net *Network) { net.Draw(1, Training, 1) },
		"elements of its own": func(net *Network) { net.DrawFrom(stream.New(1, "own", 0), Training) },
		"midpoints":           (*Network).Midpoints,
		"an evaluation":       func(net *Network) { net.Forward(images, false) },
	} {
		net := bindAs(t, newTiny(t), batch, false)
		net.Draw(1, Training, 0)
		if what != "no pass forward" {
			net.Forward(images, true)
		}
		between(net)
		func() {
			defer func() {
				if e, ok := recover().(*nn.Error); !ok || e.Op != "Network.Backward" {
					t.Errorf("%s: %v, want an error of Network.Backward", what, e)
				}
			}()
			net.Backward(labels)
		}()
	}
}

// Before a draw there are no elements: the lists' zeros are all the identity.
func TestForwardUndrawn(t *testing.T) {
	net := bindAs(t, newTiny(t), 2, false)
	images := someImages(net, 2)
	defer func() {
		if e, ok := recover().(*nn.Error); !ok || e.Op != "Network.Forward" {
			t.Errorf("%v, want an error of Network.Forward", e)
		}
		net.Midpoints()
		net.Forward(images, true)
	}()
	net.Forward(images, true)
}

func TestBatchRefuses(t *testing.T) {
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, batch := range []int{-1, maxBatch + 1, math.MaxInt} {
		net := newTiny(t)
		_, memory := net.StepMemory(TrainConfig{Batch: batch})
		_, frozen := net.Freeze(FreezeConfig{Batch: batch})
		for what, err := range map[string]error{"Bind": net.Bind(dev, batch, false), "StepMemory": memory, "Freeze": frozen} {
			if err == nil || !strings.Contains(err.Error(), "1 to 65536") {
				t.Errorf("%s of %d images: %v", what, batch, err)
			}
		}
	}
}

// bindFor binds a network for inference until the test ends.
func bindFor(t *testing.T, net *Network, batch int) *Network {
	t.Helper()
	return bindAs(t, net, batch, true)
}

// bindAs binds a network until the test ends.
func bindAs(t *testing.T, net *Network, batch int, inference bool) *Network {
	t.Helper()
	dev, err := tensor.NewCPU(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	if err := net.Bind(dev, batch, inference); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Release)
	return net
}

// A device that is closed trains nothing and harms no network.
func TestClosedDevice(t *testing.T) {
	dev, err := tensor.NewCPU(2)
	if err != nil {
		t.Fatal(err)
	}
	net := newTiny(t)
	weights := bits(net)
	if err := net.Bind(dev, 4, false); err != nil {
		t.Fatal(err)
	}
	dev.Close()
	net.Release()
	cfg := quick(2)
	cfg.Epochs, cfg.Device = 1, dev
	const closed = "the device is closed"
	if _, err := Train(t.Context(), net, toySet(), cfg); err == nil || !strings.Contains(err.Error(), closed) {
		t.Errorf("training on a closed device: %v", err)
	}
	if err := net.Bind(dev, 4, true); err == nil || !strings.Contains(err.Error(), closed) {
		t.Errorf("binding to a closed device: %v", err)
	}
	if !slices.Equal(weights, bits(net)) {
		t.Error("the weights are others now")
	}
	cfg.Device = nil
	if _, err := Train(t.Context(), net, toySet(), cfg); err != nil {
		t.Errorf("training afterwards: %v", err)
	}
}

func TestSubsetsRefuse(t *testing.T) {
	net := bindFor(t, newTinyWith(t, func(c *CKResNetConfig) { c.Partial = true }), 4)
	before := net.Subsets()
	for _, theta := range []float64{-0.01, 1.01, math.NaN(), math.Inf(1), math.Inf(-1)} {
		err := net.OnSubsets(theta, func() error {
			t.Errorf("subsets of half-width %v are looked at", theta)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "0 to 1 is allowed") {
			t.Errorf("OnSubsets(%v): %v", theta, err)
		}
		func() {
			defer func() {
				if e, ok := recover().(*nn.Error); !ok || e.Op != "Network.SetSubsets" {
					t.Errorf("SetSubsets(%v): no *nn.Error", theta)
				}
			}()
			net.SetSubsets(theta)
		}()
	}
	if after := net.Subsets(); !slices.Equal(before, after) {
		t.Errorf("subsets are %v, they were %v", after, before)
	}
	for _, theta := range []float64{0, 1} {
		net.SetSubsets(theta)
		if err := net.OnSubsets(theta, func() error { return nil }); err != nil {
			t.Errorf("OnSubsets(%v): %v", theta, err)
		}
	}
}
