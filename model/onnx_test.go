package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/onnx/onnxtest"
	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
)

// exportCase is a network that export is tested with.
type exportCase struct {
	name string
	net  func() (*Network, error)
}

// exportCases are networks of every setting that changes predictions.
func exportCases() []exportCase {
	var cases []exportCase
	residual := func(name string, change func(c *CKResNetConfig)) {
		c := tiny()
		change(&c)
		cases = append(cases, exportCase{name, func() (*Network, error) { return NewCKResNet(c) }})
	}
	chain := func(name string, change func(c *GCNNConfig)) {
		c := tinyGCNN()
		change(&c)
		cases = append(cases, exportCase{name, func() (*Network, error) { return NewGCNN(c) }})
	}
	whole := func(g lie.Group, elements int) func(c *CKResNetConfig) {
		return func(c *CKResNetConfig) { c.Group, c.Elements, c.Partial = g, elements, false }
	}
	residual("SE(2) partial", func(*CKResNetConfig) {})
	residual("SE(2)", whole(lie.SE2, 3))
	residual("SE(2) in pairs", func(c *CKResNetConfig) { whole(lie.SE2, 4)(c); c.Jitter, c.Algorithm = gumbel.Comb, conv.Frequency })
	residual("SE(2) grid", func(c *CKResNetConfig) {
		whole(lie.SE2, 4)(c)
		c.Sampling, c.Factors = gumbel.Deterministic, []int{1, 1}
	})
	residual("SE(2) periodic", whole(lie.Periodic(lie.SE2), 4))
	residual("E(2)", whole(lie.E2, 4))
	residual("E(2) partial", func(c *CKResNetConfig) { c.Group, c.Elements, c.Norm = lie.E2, 4, LayerNorm })
	residual("SE(2) partial grid", func(c *CKResNetConfig) { c.Elements, c.Sampling, c.Measure = 4, gumbel.Deterministic, gumbel.Haar })
	residual("E(2) partial, elements per image", func(c *CKResNetConfig) { c.Group, c.Elements, c.PerElement = lie.E2, 4, true })
	residual("E(2) partial as published", func(c *CKResNetConfig) { c.Group, c.Elements, c.Compat = lie.E2, 4, true })
	residual("SE(2) partial grid as published", func(c *CKResNetConfig) { c.Elements, c.Compat, c.Sampling = 4, true, gumbel.Deterministic })
	for _, name := range []string{"T(2)", "C4", "D4", "mirror"} {
		g, err := lie.ByName(name)
		if err != nil {
			panic(err)
		}
		elements := g.Components()
		residual(name, whole(g, elements))
		if elements > 1 {
			residual(name+" partial", func(c *CKResNetConfig) { c.Group, c.Elements, c.Pooling = g, elements, MeanPooling })
		}
	}
	residual("R+", whole(lie.RPlus, 3))
	residual("Sim(2) partial", func(c *CKResNetConfig) { c.Group, c.Elements, c.Measure = lie.Sim2, 4, gumbel.Haar })
	residual("separable", func(c *CKResNetConfig) { c.Separable = true })
	residual("separable on E(2), elements per image", func(c *CKResNetConfig) {
		c.Separable, c.Group, c.Elements, c.PerElement, c.LastT2 = true, lie.E2, 4, true, true
	})
	residual("separable on T(2)", func(c *CKResNetConfig) { whole(lie.T2, 1)(c); c.Separable = true })
	residual("no biases", func(c *CKResNetConfig) { c.NoBias = true })
	residual("mean", func(c *CKResNetConfig) { c.Measure = gumbel.Mean })
	residual("haar", func(c *CKResNetConfig) { c.Measure = gumbel.Haar })
	residual("elements per image", func(c *CKResNetConfig) { c.PerElement = true })
	residual("one list for all layers", shares)
	residual("one list for all layers, on E(2)", func(c *CKResNetConfig) { shares(c); c.Group, c.Elements, c.Measure = lie.E2, 4, gumbel.Mean })
	for _, k := range conv.KernelNets() {
		residual(string(k), func(c *CKResNetConfig) { c.KernelNet, c.KernelLayers = k, 2 })
	}
	residual("MLP with norm", func(c *CKResNetConfig) {
		c.KernelNet, c.KernelActivation, c.KernelNorm = conv.MLP, siren.Swish, siren.LayerNorm
	})
	for _, a := range conv.Algorithms() {
		residual("algorithm "+string(a), func(c *CKResNetConfig) { c.Algorithm = a })
	}
	residual("learned frequencies", func(c *CKResNetConfig) { c.LearnOmega0 = true })
	residual("weight normalisation", func(c *CKResNetConfig) { c.WeightNorm = true })
	residual("LayerNorm", func(c *CKResNetConfig) { c.Norm = LayerNorm })
	residual("last convolution on the plane", func(c *CKResNetConfig) { c.LastT2, c.Measure = true, gumbel.Mean })
	residual("mean of the last map", func(c *CKResNetConfig) { c.Pooling = MeanPooling })
	residual("learned pooling", func(c *CKResNetConfig) { whole(lie.SE2, 3)(c); c.Pooling, c.Pools = LearnedPooling, []int{1} })
	residual("learned pooling of the plane", func(c *CKResNetConfig) { c.LastT2, c.Pooling, c.Pools = true, LearnedPooling, []int{1} })
	residual("sizes", func(c *CKResNetConfig) {
		c.Channels, c.Side, c.Classes, c.Width, c.Factors, c.Pools = 3, 15, 4, 3, []int{2, 1, 1}, []int{1, 3}
		c.KernelSide, c.KernelLayers, c.Omega0 = 3, 4, 20
	})
	residual("kernels of one pixel", func(c *CKResNetConfig) { c.KernelNet, c.KernelSide, c.Pools = conv.MLP, 1, []int{} })
	for name, compat := range map[string]bool{"Augerino": false, "Augerino as published": true} {
		for _, g := range []lie.Group{lie.SE2, lie.E2} {
			residual(name+" on "+g.Name(), func(c *CKResNetConfig) {
				whole(g, 6)(c)
				c.Augerino, c.Compat, c.Channels = true, compat, 3
			})
		}
	}
	chain("Augerino, chain", func(c *GCNNConfig) { c.Elements, c.Partial, c.Augerino = 4, false, true })
	chain("chain", func(*GCNNConfig) {})
	chain("chain, one list for all layers", func(c *GCNNConfig) { c.Partial, c.SharedElements = false, true })
	chain("separable chain", func(c *GCNNConfig) { c.Separable = true })
	chain("chain, LayerNorm", func(c *GCNNConfig) { c.Norm = LayerNorm })
	chain("chain, maximum", func(c *GCNNConfig) { c.Pooling = MaxPooling })
	chain("chain on E(2)", func(c *GCNNConfig) { c.Group, c.Elements, c.Partial, c.Pools = lie.E2, 4, false, []int{0, 2} })
	return cases
}

// TestExportKnowsEverySetting fails for a setting that exportCases was not thought
// over for: add a case where it changes predictions, then its name here.
func TestExportKnowsEverySetting(t *testing.T) {
	known := []string{
		"Type", "Group", "Elements", "Partial", "PerElement", "SharedElements", "Channels", "Side", "Classes", "Norm", "Width", "Factors", "Pools", "LastT2", "Pooling", "Dropout", "Dropouts",
		"Separable", "KernelNet", "KernelSide", "KernelHidden", "KernelLayers", "Omega0", "LearnOmega0", "WeightNorm", "Activation", "KernelNorm", "Sampling", "Jitter", "Measure", "InitTemperature", "EndTemperature", "NoBias", "Compat", "Seed",
	}
	all := reflect.TypeFor[networkJSON]()
	for i := range all.NumField() {
		if name := all.Field(i).Name; !slices.Contains(known, name) {
			t.Errorf("exportCases has no network with the setting %s", name)
		}
	}
}

// vary gives every parameter and statistic of a network a value of its own, of a
// size that a trained one has.
func vary(net *Network) {
	for _, p := range net.params.All() {
		src := stream.New(7, p.Name, 0)
		for i := range p.Host {
			u := float32(src.Float64())
			switch {
			case p.Class == nn.Frequency:
				p.Host[i] = 8 + 4*u
			case p.Class == nn.Subset && i%2 == 1: // an element that is left out
				p.Host[i] = -0.2 - u
			case p.Class == nn.Subset:
				p.Host[i] = 0.35 + 0.6*u
			case isCount(p):
				p.Host[i] = 12
			case strings.HasSuffix(p.Name, "running_var"):
				p.Host[i] = 0.3 + u
			case strings.HasSuffix(p.Name, "running_mean") || strings.HasSuffix(p.Name, "bias"):
				p.Host[i] += 0.4*u - 0.2
			case strings.Contains(p.Name, "norm") && strings.HasSuffix(p.Name, "weight"):
				p.Host[i] = 0.5 + u
			}
		}
	}
	net.ClampSubsets() // intervals have no negative width
}

// someImages returns normalised images for a network, [n, C, H, W].
func someImages(net *Network, n int) []float32 {
	src := stream.New(11, "images", 0)
	x := make([]float32, n*net.cfg.pixels())
	for i := range x {
		x[i] = float32(3*src.Float64() - 1)
	}
	return x
}

// Every network computes the same from its ONNX file, for batches of any size.
func TestONNX(t *testing.T) {
	for _, c := range exportCases() {
		t.Run(c.name, func(t *testing.T) {
			net, err := c.net()
			if err != nil {
				t.Fatal(err)
			}
			vary(net)
			frozen, err := net.Freeze(FreezeConfig{Batch: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer frozen.Close()
			path := filepath.Join(t.TempDir(), "net.onnx")
			if err := frozen.SaveONNX(path, ONNXConfig{}); err != nil {
				t.Fatal(err)
			}
			graph := readONNX(t, path)
			var said networkJSON
			if err := json.Unmarshal([]byte(graph.Metadata[networkKey]), &said); err != nil || fmt.Sprint(said) != fmt.Sprint(net.cfg.describe()) {
				t.Errorf("the metadata say %+v, %v", said, err)
			}
			for _, batch := range []int{1, 3} {
				images := someImages(net, batch)
				got, shape, err := graph.Run(images, batch, net.cfg.Channels, net.cfg.Side, net.cfg.Side)
				if err != nil {
					t.Fatal(err)
				}
				want, err := frozen.Predict(images)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(shape, []int{batch, net.cfg.Classes}) {
					t.Fatalf("logits of shape %v", shape)
				}
				compareClose(t, got, want)
			}
		})
	}
}

func readONNX(t *testing.T, path string) *onnxtest.Model {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := onnxtest.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

// A file with mean and deviation takes pixels.
func TestONNXOfPixels(t *testing.T) {
	mean, std := []float32{0.2, 0.3, 0.1}, []float32{0.3, 0.5, 0.25}
	net := newTinyWith(t, func(c *CKResNetConfig) { c.Channels = 3 })
	vary(net)
	frozen, err := net.Freeze(FreezeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	path := filepath.Join(t.TempDir(), "net.onnx")
	if err := frozen.SaveONNX(path, ONNXConfig{Mean: mean, Std: std}); err != nil {
		t.Fatal(err)
	}
	pixels := someImages(net, 2)
	normalised := make([]float32, len(pixels))
	for i := range pixels {
		pixels[i] = (pixels[i] + 1) / 3
		c := i / 144 % 3
		normalised[i] = (pixels[i] - mean[c]) / std[c]
	}
	want, err := frozen.Predict(normalised)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := readONNX(t, path).Run(pixels, 2, 3, 12, 12)
	if err != nil {
		t.Fatal(err)
	}
	compareClose(t, got, want)
	nan := float32(math.NaN())
	for _, cfg := range []ONNXConfig{
		{Mean: mean}, {Std: std}, {Mean: mean[:1], Std: std[:1]}, {Mean: mean, Std: []float32{1, 0, 1}},
		{Mean: []float32{nan, 0, 0}, Std: std}, {Mean: mean, Std: []float32{1, nan, 1}},
	} {
		var wrong *ConfigError
		if err := frozen.SaveONNX(path, cfg); !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Field, "ONNXConfig.") {
			t.Errorf("%v: %v", cfg, err)
		}
	}
}

// compareClose asserts that logits agree within 1e-4 of the largest, and that they
// are of a size that makes this mean something.
func compareClose(t *testing.T, got []float64, want []float32) {
	t.Helper()
	most, apart := 0.0, 0.0
	for i, v := range want {
		most = max(most, math.Abs(float64(v)))
		apart = max(apart, math.Abs(got[i]-float64(v)))
	}
	if !(apart <= 1e-4*max(1, most)) || most < 1e-2 {
		t.Errorf("logits %.6v\nwant   %.6v", got, want)
	}
}

// What cannot be exported is refused, and nothing is written.
func TestONNXRefuses(t *testing.T) {
	net := newTiny(t)
	frozen, err := net.Freeze(FreezeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.onnx")
	x := onnxExport{at: map[*nn.Map]operand{}}
	m := &nn.Map{}
	x.at[m] = operand{name: "images", c: 2, n: 1}
	if _, err := x.layer(nn.NewMaxPool2(), step{in: []*nn.Map{m}, out: m}); err == nil || !strings.Contains(err.Error(), "*nn.MaxPool2") {
		t.Errorf("an unknown layer: %v", err)
	}
	if _, err := x.layer(nn.NewGlobalMax(), step{in: []*nn.Map{{}}, out: m}); err == nil {
		t.Error("a map from nowhere is accepted")
	}
	head, err := nn.NewLinear("head", 2, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.layer(head, step{in: []*nn.Map{m}, out: m}); err == nil || !strings.Contains(err.Error(), "head") {
		t.Errorf("a linear map of a feature map: %v", err)
	}
	if _, err := frozen.onnxGraph(ONNXConfig{}, 1000); err == nil || !strings.Contains(err.Error(), "an ONNX file holds 1000 in all") {
		t.Errorf("a network that is too large: %v", err)
	}
	frozen.Close()
	if err := frozen.SaveONNX(path, ONNXConfig{}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a closed network: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was written")
	}
}
