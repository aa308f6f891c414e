package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/model"
)

// evaluate returns what eval -json prints.
func evaluate(t *testing.T, args ...string) (r evalJSON) {
	t.Helper()
	code, stdout, stderr := here(append([]string{"eval", "-json", "-quiet"}, args...)...)
	if code != exitOK || stderr != "" {
		t.Fatal(code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err, stdout)
	}
	return r
}

// With the run's own draws and seed, eval finds what the run found, whatever the
// threads, and changes nothing in its directory.
func TestEval(t *testing.T) {
	dir := finished(t)
	before := contents(t, dir)
	var trained result
	if err := json.Unmarshal(read(t, dir, resultFile), &trained); err != nil {
		t.Fatal(err)
	}
	for _, threads := range []string{"1", "2"} {
		got := evaluate(t, dir, "-threads", threads)
		want := evalJSON{
			Run: dir, Weights: "best", Dataset: trained.Dataset, Synthetic: true, Images: 8,
			Accuracy: trained.TestAccuracy, AccuracyStd: trained.TestAccuracyStd, Loss: got.Loss,
			Draws: 1, Seed: trained.Seed, Learned: trained.Learned, Level: trained.Level, Device: trained.Device,
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v\nwant %+v", got, want)
		}
		if !(got.Loss > 0) {
			t.Errorf("the loss is %v", got.Loss)
		}
	}
	if many, other := evaluate(t, dir, "-draws", "7"), evaluate(t, dir, "-seed", "9"); many.Draws != 7 || other.Seed != 9 ||
		many.Loss == other.Loss || other.Loss == evaluate(t, dir).Loss {
		t.Errorf("draws and seed change nothing: %+v, %+v", many, other)
	}
	last, best := evaluate(t, dir, "-weights", "last"), copyOf(t, dir)
	write(t, read(t, dir, lastFile), best, bestFile)
	if want := evaluate(t, best); last.Loss != want.Loss || last.Weights != "last" {
		t.Errorf("-weights last: %+v, the same file as the best one %+v", last, want)
	}
	code, stdout, stderr := here("eval", dir, "-quiet", "-draws=3")
	if code != exitOK || stderr != "" || !regexp.MustCompile(`^test accuracy  \d\.\d{4} ± \d\.\d{4} over 3 draws \(synthetic data\)\ntest loss  \d\.\d{4} nats\nlearned subsets  \[.*\]\n$`).MatchString(stdout) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if !maps.Equal(before, contents(t, dir)) {
		t.Error("the run directory was changed")
	}
}

// A run that somebody else works on can be evaluated.
func TestEvalOfALockedRun(t *testing.T) {
	dir := copyOf(t, finished(t))
	held, err := openRunDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.close()
	if got, want := evaluate(t, dir).Loss, evaluate(t, finished(t)).Loss; got != want {
		t.Errorf("loss %v, want %v", got, want)
	}
}

func TestEvalOfBadRuns(t *testing.T) {
	from := finished(t)
	configuration := string(read(t, from, configFile))
	weights := string(read(t, from, bestFile))
	for name, c := range map[string]struct {
		config, weights string
		code            int
		want            string
	}{
		"no weights":             {configuration, "", exitFailure, "best.safetensors|no epoch of this run is complete|-resume"},
		"weights cut short":      {configuration, weights[:len(weights)-7], exitFailure, "best.safetensors|its data are bytes"},
		"a state for weights":    {configuration, string(read(t, from, stateFile)), exitFailure, "best.safetensors|the state of a training"},
		"damaged configuration":  {configuration + "\nnew = 1\n", weights, exitUsage, "config.toml|unknown key"},
		"unusable configuration": {strings.Replace(configuration, "lr = 0.001", "lr = -1.0", 1), weights, exitUsage, "config.toml: train.lr is -1"},
		"another data set": {strings.NewReplacer("strokes6-180\"", "fashion-mnist\"", "size = 16", "size = 0").Replace(configuration), weights, exitFailure,
			"best.safetensors is not of the network of config.toml|its classes is 2, here it is 10|belong to different runs"},
		"weights of another group": {strings.Replace(configuration, "\"SE(2)\"", "\"R+\"", 1), weights, exitFailure,
			"best.safetensors is not of the network of config.toml|its group is \"SE(2)\", here it is \"R+\""},
		"weights that learned no subsets": {strings.Replace(configuration, "partial = true", "partial = false", 1), weights, exitFailure,
			"its jitter|belong to different runs"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, []byte(c.config), dir, configFile)
			if c.weights != "" {
				write(t, []byte(c.weights), dir, bestFile)
			}
			before := contents(t, dir)
			code, stdout, stderr := here("eval", dir, "-data", "/nothing")
			refused(t, c.code, code, stdout, stderr, strings.Split(c.want, "|")...)
			if !maps.Equal(before, contents(t, dir)) {
				t.Error("the directory was changed")
			}
		})
	}
}

// Weights may be finite, and what they compute no number.
func TestOutputsThatAreNoNumbers(t *testing.T) {
	dir := copyOf(t, finished(t))
	path := filepath.Join(dir, bestFile)
	net, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	last := net.Parameters().Lookup("out_layer.weight")
	for i := range last.Host {
		last.Host[i] = float32(math.Copysign(3e38, float64(i%2)-0.5))
	}
	if err := net.Save(path); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "inspected")
	for _, args := range [][]string{{"eval", dir}, {"eval", "-json", dir}, {"inspect", "-out", out, dir}} {
		code, stdout, stderr := here(args...)
		refused(t, exitFailure, code, stdout, stderr, path, "the loss on these images is")
	}
	if found := contents(t, out); len(found) != 0 {
		t.Errorf("inspect left %d files", len(found))
	}
}

// The page is not written where the figures cannot be.
func TestInspectOfNoNumbers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "inspected")
	n := &inspection{out: out, weights: "last"}
	err := n.write(&inspectData{}, &inspectJSON{Run: "run", Probability: []float64{math.NaN()}})
	if err == nil || !strings.Contains(err.Error(), filepath.Join("run", lastFile)) || strings.Contains(err.Error(), "make room") {
		t.Errorf("the error is %v", err)
	}
	if found := contents(t, out); len(found) != 0 {
		t.Errorf("%d files are left", len(found))
	}
}

// What eval prints, and how many draws it takes.
func TestEvalPrints(t *testing.T) {
	var out strings.Builder
	found := evalJSON{Accuracy: .75, AccuracyStd: .0125, Loss: .5, Draws: 1, Learned: []float64{.5, 1}}
	if err := (&evaluation{}).print(&console{stdout: &out}, found, true); err != nil {
		t.Fatal(err)
	}
	if want := "test accuracy  0.7500 ± 0.0125 over 1 draw\ntest loss  0.5000 nats\nlearned subsets  [0.50 1.00]\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	for draws, allowed := range map[int]bool{0: false, 1: true, 10000: true, 10001: false} {
		e := &evaluation{means: means{threads: 1}, draws: draws, given: func(name string) bool { return name == "draws" }}
		if err := e.check(); (err == nil) != allowed {
			t.Errorf("%d draws: %v", draws, err)
		}
	}
}

// The keys of eval -json are promised.
func TestEvalKeys(t *testing.T) {
	_, stdout, _ := here("eval", "-json", finished(t))
	var values map[string]any
	if err := json.Unmarshal([]byte(stdout), &values); err != nil {
		t.Fatal(err)
	}
	want := []string{"accuracy", "accuracy_std", "dataset", "device", "draws", "images", "learned", "level", "loss", "run", "seed", "synthetic", "weights"}
	if got := slices.Sorted(maps.Keys(values)); !slices.Equal(got, want) {
		t.Errorf("keys %v\nwant %v", got, want)
	}
	_, section, _ := strings.Cut(string(read(t, "..", "docs", "command-line.md")), "\n## eval\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, key := range want {
		if !strings.Contains(section, "`"+key+"`") {
			t.Errorf("docs/command-line.md does not explain %s", key)
		}
	}
}
