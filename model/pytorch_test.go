package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/safetensors"
	"github.com/noether-go/noether/lie"
)

// pythonVariable names a Python that has torch, onnx, onnxruntime and safetensors.
const pythonVariable = "NOETHER_PYTHON"

// TestPyTorch compares exported networks with what ONNX Runtime makes of their ONNX
// files and, where bench/peers/pytorch/networks.py can be the network, PyTorch of their
// state dictionaries; and back, networks of PyTorch with what they are here.
func TestPyTorch(t *testing.T) {
	python := os.Getenv(pythonVariable)
	if python == "" {
		t.Skipf("needs a Python with torch, onnx, onnxruntime and safetensors: set %s to its path", pythonVariable)
	}
	dir := t.TempDir()
	cases := exportCases()
	for i, c := range cases {
		exportCaseTo(t, filepath.Join(dir, fmt.Sprintf("%02d", i)), c)
	}
	script := filepath.Join("..", "bench", "peers", "pytorch", "exported.py")
	cmd := exec.Command(python, script, dir)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d answers for %d networks: %s", len(lines), len(cases), out)
	}
	compared, most := map[string]int{}, 0.0
	for i, line := range lines {
		var answer struct {
			ONNX  float64  `json:"onnx"`
			Torch *float64 `json:"torch"`
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err, line)
		}
		name := cases[i].name
		most = max(most, answer.ONNX)
		if !(answer.ONNX <= 1e-4) {
			t.Errorf("%s: the logits of ONNX Runtime are %g apart", name, answer.ONNX)
		}
		if answer.Torch == nil {
			continue
		}
		if !(*answer.Torch <= 1e-4) {
			t.Errorf("%s: the logits of PyTorch are %g apart", name, *answer.Torch)
		}
		back := importedApart(t, filepath.Join(dir, fmt.Sprintf("%02d", i)), cases[i])
		if !(back <= 1e-4) {
			t.Errorf("%s: the logits of a network from PyTorch are %g apart", name, back)
		}
		compared[mustNet(t, cases[i]).cfg.Type]++
		t.Logf("%-20s apart: ONNX Runtime %.1e, PyTorch %.1e, from PyTorch %.1e", name, answer.ONNX, *answer.Torch, back)
	}
	t.Logf("ONNX Runtime on %d networks: at most %.1e apart", len(cases), most)
	if compared[typeCKResNet] == 0 || compared[typeGCNN] == 0 {
		t.Errorf("compared with PyTorch: %v", compared)
	}
}

func mustNet(t *testing.T, c exportCase) *Network {
	t.Helper()
	net, err := c.net()
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// inPyTorch reports whether networks.py can be the network. Its elements are those
// of random sampling, and its shortcuts are never the identity.
func inPyTorch(c settings) bool {
	pooling := map[string]Pooling{typeCKResNet: MaxPooling, typeGCNN: MeanPooling}[c.Type]
	return !c.Augerino && c.Group == lie.SE2 && c.Pooling == pooling && !c.LastT2 && c.KernelNet == conv.SIREN && !c.LearnOmega0 && !c.WeightNorm && c.Norm == BatchNorm && c.Measure == gumbel.Counting &&
		c.Sampling == gumbel.Random && !c.PerElement && !c.SharedElements && !c.Separable && !c.NoBias && c.KernelSide > 1
}

// exportCaseTo writes what exported.py reads.
func exportCaseTo(t *testing.T, dir string, c exportCase) {
	t.Helper()
	net := mustNet(t, c)
	vary(net)
	frozen, err := net.Freeze(FreezeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const batch = 3
	images := someImages(net, batch)
	logits, err := frozen.Predict(images)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"network": net.cfg.describe(), "pytorch": inPyTorch(net.cfg)})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "case.json"), text, 0o644),
		frozen.SaveONNX(filepath.Join(dir, "net.onnx"), ONNXConfig{}),
		net.SaveStateDict(filepath.Join(dir, "state.safetensors")),
		safetensors.WriteFile(filepath.Join(dir, "data.safetensors"), []safetensors.Tensor{
			{Name: "images", Shape: []int{batch, net.cfg.Channels, net.cfg.Side, net.cfg.Side}, F32: images},
			{Name: "logits", Shape: []int{batch, net.cfg.Classes}, F32: logits},
		}, nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// importedApart returns how far the logits of the network that exported.py left are
// from those of the same network here.
func importedApart(t *testing.T, dir string, c exportCase) float64 {
	t.Helper()
	net := mustNet(t, c)
	if err := net.LoadStateDict(filepath.Join(dir, "made.safetensors")); err != nil {
		t.Fatal(err)
	}
	frozen, err := net.Freeze(FreezeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	made, err := safetensors.ReadFile(filepath.Join(dir, "made-logits.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := safetensors.ReadFile(filepath.Join(dir, "data.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := frozen.Predict(data.Lookup("images").F32)
	if err != nil {
		t.Fatal(err)
	}
	want := made.Lookup("logits").F32
	if len(got) != len(want) || slices.Equal(want, data.Lookup("logits").F32) {
		t.Fatal("these are no logits of another network")
	}
	apart := 0.0
	for i := range want {
		apart = max(apart, math.Abs(float64(got[i]-want[i])))
	}
	return apart
}
