package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/siren"
)

// A preset's name says what it is: data-group-elements-variant.
func TestPresets(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Presets() {
		c := p.Config
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if _, err := c.NewNetwork(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		group, err := lie.ByName(c.Group.Name)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer("(", "", ")", "").Replace(strings.ToLower(group.Name()))
		want := c.Data.Set + "-" + plain + "-" + strconv.Itoa(c.Group.Elements)
		switch {
		case c.Conv.Partial:
			want += "-partial"
		case c.Net.Augerino():
			want += "-augerino"
		case group.Dim() > 0 || group.Components() > 1:
			want += "-full"
		}
		if c.Conv.PerElement {
			want += "-perelement"
		}
		switch c.Kernel.Type {
		case "SIREN":
		case "MLP":
			want += "-" + strings.ToLower(c.Kernel.Activation)
		default:
			want += "-" + strings.ToLower(c.Kernel.Type)
		}
		if c.Train.Monotonic > 0 {
			want += "-monotonic"
		}
		if c.Net.Pooling == "learned" {
			want += "-learnedpool"
		}
		if c.Net.LastT2 {
			want += "-lastt2"
		}
		if c.Net.Type == "GCNN" {
			want += "-13layer"
		}
		if p.Name != want {
			t.Errorf("%s is called so, its configuration says %s", p.Name, want)
		}
		for _, name := range []string{p.Name, p.Short} {
			if name == "" {
				continue
			}
			if seen[name] {
				t.Errorf("two presets are called %s", name)
			}
			seen[name] = true
			if got, err := Lookup(name); err != nil || got.Preset != p.Name {
				t.Errorf("%s gives %s, %v", name, got.Preset, err)
			}
			if _, err := Lookup(name + "x"); err == nil || !strings.Contains(err.Error(), `did you mean "`+name+`"?`) {
				t.Errorf("%s with a letter more: %v", name, err)
			}
		}
	}
	if !seen[Default] {
		t.Errorf("no preset is called %s", Default)
	}
}

// Every row of the paper is of a preset, and of its data set and group.
func TestPapers(t *testing.T) {
	left := maps.Clone(papers)
	for _, p := range Presets() {
		first, ok := p.Paper()
		if delete(left, p.Name); !ok {
			continue
		}
		for row := &first; row != nil; row = row.Also {
			partial := strings.Contains(row.Row, "partial")
			if row.Table == "" || !strings.Contains(row.Row, p.Config.Group.Name) || partial != p.Config.Conv.Partial || p.Config.Net.Augerino() != (row.Table == augerinoTable) ||
				strings.Contains(row.Row, "elements") && !strings.HasSuffix(row.Row, fmt.Sprint(p.Config.Group.Elements)+" elements") {
				t.Errorf("%s stands for %q", p.Name, row)
			}
			plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "") }
			if set, _, _ := strings.Cut(row.Row, ","); plain(set) != plain(p.Config.Data.Set) {
				t.Errorf("%s stands for %q", p.Name, row)
			}
			number := "number not at hand"
			if row.Accuracy != 0 {
				number = fmt.Sprintf("%.4f", row.Accuracy)
			}
			if row.Accuracy < 0 || row.Accuracy > 1 || !strings.Contains(row.String(), row.Table+", "+row.Row+": "+number) {
				t.Errorf("%s stands for %q", p.Name, row)
			}
		}
	}
	if got := papers["cifar10-se2-16-partial"].String(); got != "main table, CIFAR-10, partial SE(2), 16 elements: 0.8911; ablation, CIFAR-10, partial SE(2), 16 elements: 0.8745" {
		t.Errorf("the rows that disagree: %s", got)
	}
	if len(left) > 0 {
		t.Errorf("no presets of these names: %v", slices.Collect(maps.Keys(left)))
	}
}

// What distinguishes presets that stand for published commands.
func TestPublishedCommands(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"rotmnist-se2-8-partial":                     {"train.epochs": "300", "train.batch": "64", "train.lr": "0.001", "train.schedule": "cosine", "train.warmup_epochs": "5", "train.lr_subset": "0.001", "train.monotonic": "0", "train.kernel_norm": "0", "net.factors": "[1, 2]"},
		"rotmnist-se2-8-partial-monotonic":           {"train.lr_subset": "0.001", "train.monotonic": "0.001", "train.monotonic_order": "decreasing"},
		"cifar10-se2-8-partial":                      {"net.pools": "[1, 2]", "group.jitter": "comb", "train.lr_subset": "0.0001", "train.monotonic": "0", "train.kernel_norm": "0.0001"},
		"cifar10-se2-8-full":                         {"net.pools": "[1, 2]", "group.jitter": "auto", "net.pooling": "auto", "net.last_t2": "false"},
		"cifar10-se2-8-full-learnedpool":             {"net.pooling": "learned", "net.last_t2": "false"},
		"cifar10-e2-8-full-learnedpool":              {"net.pooling": "learned", "net.last_t2": "false", "group.name": "E(2)"},
		"cifar100-e2-8-full":                         {"net.pooling": "auto", "net.last_t2": "false"},
		"cifar100-e2-8-full-lastt2":                  {"net.pooling": "auto", "net.last_t2": "true"},
		"cifar10-e2-8-augerino":                      {"net.type": "AugerinoCKResNet", "group.name": "E(2)", "conv.partial": "false"},
		"cifar10-se2-4-full-13layer":                 {"train.epochs": "205", "train.batch": "128", "train.warmup_epochs": "5", "train.kernel_norm": "0", "net.dropout": "0.3"},
		"stl10-se2-8-full":                           {"net.pools": "[0, 1, 2]"},
		"mnist6-180-se2-8-partial-perelement-magnet": {"kernel.type": "MAGNet", "conv.per_element": "true", "train.epochs": "300", "train.lr": "0.001", "train.lr_subset": "0.001", "train.schedule": "constant"},
		"mnist6-180-se2-8-full-fourier":              {"kernel.type": "Fourier", "net.norm": "LayerNorm", "net.width": "20"},
	} {
		c, err := Lookup(name)
		if err != nil {
			t.Error(err)
			continue
		}
		for key, value := range want {
			if got := c.Value(key); got != value {
				t.Errorf("%s of %s is %s, want %s", key, name, got, value)
			}
		}
	}
}

// The networks of the presets have the sizes that the published ones have.
func TestPresetNetworks(t *testing.T) {
	for name, want := range map[string]int{
		"rotmnist-se2-8-full":            467786,
		"rotmnist-se2-8-partial":         467791,
		"rotmnist-synthetic-se2-8-full":  467786,
		"rotmnist-t2-1":                  450074,
		"rotmnist-e2-8-full":             467786 + 5*32 + 2*16, // weights of one more coordinate
		"rotmnist-se2-8-full-swish":      467786,
		"cifar10-se2-16-partial":         469903,
		"cifar10-se2-4-full-13layer":     3994410,
		"cifar10-se2-8-full-learnedpool": 469898 + 8*2*2 + 1,
		"cifar100-e2-8-full-lastt2":      469898 + 90*65 + 5*32 + 2*16,
		"cifar10-e2-8-augerino":          469898 - (467786 - 450074) + 2, // translations, and one subset
		"cifar10-se2-8-full":             469898,
		"stl10-se2-8-full":               469898,
		"pcam-se2-8-full":                469898 - 8*65,
		"fashion-mnist-se2-8-partial":    467791,
		"cifar100-se2-16-partial":        469903 + 90*65, // a bias and 64 weights for each further class
	} {
		c, err := Lookup(name)
		if err != nil {
			t.Error(err)
			continue
		}
		net, err := c.NewNetwork()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := net.Parameters().Count(); got != want {
			t.Errorf("%s has %d parameters, want %d", name, got, want)
		}
		channels, height, _ := net.ImageShape()
		if got := (Image{channels, height, net.Classes()}); got != c.Image() {
			t.Errorf("%s takes %v, its data set has %v", name, got, c.Image())
		}
	}
}

// The preset of the paper's 13-layer CNN is what model.GCNNConfig has for it, beside dropout.
func TestThirteenLayers(t *testing.T) {
	c, err := Lookup("cifar10-se2-4-full-13layer")
	if err != nil {
		t.Fatal(err)
	}
	net, err := c.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	want, err := model.NewGCNN(model.GCNNConfig{Elements: 4, Dropout: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	if what := net.Differs(want); what != "" {
		t.Error(what)
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct {
		assignment string
		key, value string
	}{
		{"train.lr=1e-4", "train.lr", "0.0001"},
		{"train.lr=1", "train.lr", "1"},
		{" train.lr = 2.5 ", "train.lr", "2.5"},
		{"net.pools=[]", "net.pools", "[]"},
		{"net.pools=[2]", "net.pools", "[2]"},
		{"net.factors=[1,2,4]", "net.factors", "[1, 2, 4]"},
		{"conv.partial=false", "conv.partial", "false"},
		{"group.name=se2", "group.name", "se2"},
		{`group.jitter="comb"`, "group.jitter", "comb"},
		{"group.jitter='comb'", "group.jitter", "comb"},
		{"seed=12", "seed", "12"},
	} {
		cfg, err := Lookup(Default)
		if err != nil {
			t.Fatal(err)
		}
		before, copied := cfg.Value(c.key), cfg
		if err := cfg.Set(c.assignment); err != nil {
			t.Error(err)
		} else if got := cfg.Value(c.key); got != c.value {
			t.Errorf("-set %s gives %s, want %s", c.assignment, got, c.value)
		}
		if got := copied.Value(c.key); got != before {
			t.Errorf("-set %s changed a copy from %s to %s", c.assignment, before, got)
		}
	}
}

// An assignment that is none is refused as a whole, and says what would be one.
func TestSetRefuses(t *testing.T) {
	const form = ": write key=value, such as train.lr=1e-3"
	for assignment, want := range map[string]string{
		"train.lr":               `-set "train.lr"` + form,
		"=1":                     `-set "=1"` + form,
		" = 1":                   `-set " = 1"` + form,
		"train.lr= ":             `-set "train.lr= "` + form,
		"train.lr=1\nseed=7":     `-set "train.lr=1\nseed=7"` + form,
		"net.norm=\rseed=7":      `-set "net.norm=\rseed=7"` + form,
		"preset=mnist6-m":        "-set preset=mnist6-m: a preset is chosen with -preset mnist6-m",
		"TRAIN.LRR=1":            `-set TRAIN.LRR=1: unknown key "TRAIN.LRR"; did you mean "train.lr"? (docs/command-line.md explains them all)`,
		"train.lr.x=1":           `-set train.lr.x=1: unknown key "train.lr.x"; did you mean "train.lr"?`,
		"conv=1":                 `-set conv=1: "conv" is a group of keys; name one of them: conv.partial, conv.per_element, conv.compat, conv.bias, conv.separable, conv.algorithm`,
		"seed=-1":                "seed is -1; allowed: 0 to 9223372036854775807",
		"train.epochs=1.5":       `-set train.epochs=1.5: "train.epochs" takes `,
		"train.lr=1 # \"x\" ]\t": "",
	} {
		c := toy("strokes6-180", true)
		before := c
		err := c.Set(assignment)
		if (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), want) || !errors.As(err, new(*Error))) {
			t.Errorf("%q gives %v, want %s", assignment, err, want)
		}
		if err != nil && !reflect.DeepEqual(c, before) {
			t.Errorf("%q is refused, and changes values", assignment)
		}
	}
}

// What Check allows, and what it says of the rest.
func TestCheckRefuses(t *testing.T) {
	const degrees = "allowed: above 0, at most 90 (degrees, either way) for strokes6-180, whose classes are half a turn apart"
	for set, want := range map[string]string{
		"kernel.side=4":                                            "kernel.side is 4; allowed: odd numbers",
		"group.name=C4 group.elements=3":                           "group.elements is 3; allowed: 4 for C4, all its elements besides shifts",
		"group.name=C4 group.elements=4":                           "",
		"net.dropout=1":                                            "net.dropout is 1; allowed: 0 to below 1",
		"kernel.type=None":                                         `kernel.type is "None"; allowed: SIREN, `,
		"train.epochs=4 train.warmup_epochs=3":                     "",
		"train.epochs=4 train.warmup_epochs=4":                     "train.warmup_epochs is 4; allowed: 0 to 3 where train.epochs is 4; shorten it",
		"train.lr=0":                                               "train.lr is 0; allowed: above 0, at most 1e6",
		"train.lr=1e-40":                                           "train.lr is 1e-40; allowed: 1.1754943508222875e-38, the smallest normal number of float32, to 1e6",
		"train.weight_decay=-1":                                    "train.weight_decay is -1; allowed: 0 to 1e6",
		"train.weight_decay=1e-40":                                 "train.weight_decay is 1e-40; allowed: 0, and 1.1754943508222875e-38, the smallest",
		"data.augment=rotation data.rotate=90":                     "",
		"data.augment=rotation data.rotate=90.5":                   "data.rotate is 90.5; " + degrees,
		"data.augment=rotation data.rotate=0":                      "data.rotate is 0; " + degrees,
		"data.augment=rotation data.rotate=nan":                    "data.rotate is NaN; " + degrees,
		"data.rotate=1":                                            "data.rotate is 1; allowed: 0 unless data.augment is rotation",
		"data.set=mnist6-180 data.augment=rotation data.rotate=91": "data.rotate is 91; allowed: above 0, at most 90",
		"data.set=rotmnist data.augment=rotation data.rotate=180":  "",
		"data.set=rotmnist data.augment=rotation data.rotate=181":  "data.rotate is 181; allowed: above 0, at most 180 (degrees, either way)",
		"data.set=images data.side=3 data.classes=2":               "data.side is 3; allowed: 4 to 512 for images, as many pixels as they have either way",
	} {
		c := toy("strokes6-180", true)
		for assignment := range strings.FieldsSeq(set) {
			if err := c.Set(assignment); err != nil {
				t.Fatal(err)
			}
		}
		err := c.Check()
		if (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), want) || !errors.As(err, new(*Error))) {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
}

// A name that there is none of is refused by its key.
func TestNames(t *testing.T) {
	for _, key := range Keys() {
		c := toy("strokes6-180", true)
		if c.at(key).Kind() != reflect.String || key == "preset" {
			continue
		}
		c.at(key).SetString("nobody's")
		want := key + ` is "nobody's"; allowed: `
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, new(*Error)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The ends of a range are in it, and what is beyond them is not.
func TestRanges(t *testing.T) {
	ranges := 0
	for _, key := range Keys() {
		c := toy("strokes6-180", true)
		if c.at(key).Kind() != reflect.Int {
			continue
		}
		refused := func(value int64) string {
			c.at(key).SetInt(value)
			if err := c.Check(); err != nil && strings.HasPrefix(err.Error(), key+" is ") {
				_, allowed, _ := strings.Cut(err.Error(), "; allowed: ")
				return allowed
			}
			return ""
		}
		var lo, hi int64
		allowed := refused(-1)
		if n, _ := fmt.Sscanf(allowed, "%d to %d", &lo, &hi); n < 2 {
			continue // data.side and data.classes, of other sets
		}
		ranges++
		for value, in := range map[int64]bool{lo - 1: false, lo: true, hi: true, hi + 1: false} {
			if got := refused(value); (got == allowed) == in {
				t.Errorf("%s is %d: %q, and allowed are %s", key, value, got, allowed)
			}
		}
	}
	if ranges != 13 {
		t.Errorf("%d keys have a range", ranges)
	}
}

// What Value returns Set takes, also where a text is empty, as those are that a run of
// an earlier version does not state.
func TestSetTakesValues(t *testing.T) {
	for _, key := range Keys() {
		if key == "preset" {
			continue
		}
		want, got := thirteenLayers(cifar("cifar10", 4, true)), toy("strokes6-180", false)
		for _, empty := range []bool{false, true} {
			if empty {
				want.at(key).SetZero()
			}
			if err := got.Set(key + "=" + want.Value(key)); err != nil {
				t.Error(err)
			} else if got.Value(key) != want.Value(key) {
				t.Errorf("-set %s=%s gives %s", key, want.Value(key), got.Value(key))
			}
		}
	}
}

// What a network does not have cannot be asked of it, nor a penalty that is none.
func TestNetRefuses(t *testing.T) {
	for assignment, want := range map[string]string{
		"net.norm=Instance":        `net.norm is "Instance"; allowed: BatchNorm, LayerNorm`,
		"net.width=4096":           "net.width is 4096, net.factors is [1, 1], kernel.hidden is 32 and kernel.layers is 3, which make more than 134217728 parameters; make one of them smaller",
		"net.pooling=median":       `net.pooling is "median"; allowed: auto, max, mean, learned`,
		"net.pooling=learned":      `net.pooling is "learned"; allowed: max and mean with learned subsets`,
		"train.kernel_norm=-1":     "train.kernel_norm is -1; allowed: 0 to 1e6",
		"train.monotonic=inf":      "train.monotonic is +Inf; allowed: 0 to 1e6",
		"train.monotonic_order=up": `train.monotonic_order is "up"; allowed: decreasing, increasing`,
		"group.name=C4 x D4":       `group.name is "C4 x D4": C4 and D4 act so that the order matters`,
		"group.name=R+ x R+":       `group.name is "R+ x R+": R+ and R+ have transformations in common`,
		"group.name=C1025":         `group.name is "C1025"; allowed: groups whose rotations and reflections make up to 1024 elements, such as C1024 and D512`,
		"group.name=D513 x R+":     `group.name is "D513 x R+"; allowed: groups whose`,
		"group.name=R+(1)":         `group.name is "R+(1)"; allowed: T(2), SE(2), E(2), mirror, R+, Sim(2), CN (N: 1 to 1024), DN (N: 1 to 512), R+(N) (N: above 1, up to 1000), products`,
	} {
		c, err := Lookup(Default)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Set(assignment); err != nil {
			t.Fatal(err)
		}
		if err = c.Check(); err == nil {
			_, err = c.NewNetwork()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", assignment, err)
		}
	}
	c := published("rotmnist", "SE(2)", 8, false)
	c.Net.Width, c.Net.Factors = 4096, []int{1, 3}
	want := "net.width is 4096 and net.factors is [1, 3], which makes 12288 channels; allowed: products up to 8192"
	if err := c.Check(); err == nil || err.Error() != want {
		t.Errorf("a block that is too wide: %v", err)
	}
	c = thirteenLayers(cifar("cifar10", 4, false))
	c.Net.Pools = []int{0, 1, 2, 3, 4, 5}
	want = "net.pools is [0, 1, 2, 3, 4, 5], which does not fit the image's 32 pixels; allowed: what leaves a pixel after the last pool"
	if _, err := c.NewNetwork(); err == nil || err.Error() != want {
		t.Errorf("pools that leave nothing: %v", err)
	}
	c = thirteenLayers(cifar("cifar10", 4, false))
	c.Net.LastT2 = true
	if err := c.Check(); err == nil || err.Error() != "net.last_t2 is true; allowed: false for GCNN" {
		t.Errorf("net.last_t2 of GCNN: %v", err)
	}
}

// Rates that are not given are those of what is learned alike.
func TestRates(t *testing.T) {
	for _, c := range []struct{ subset, keep, wantSubset, wantKeep float64 }{
		{0, 0, 1e-3, 1e-3}, {1e-2, 0, 1e-2, 1e-2}, {0, 0.3, 1e-3, 0.3}, {1e-2, 0.3, 1e-2, 0.3},
	} {
		cfg := published("rotmnist", "E(2)", 8, true)
		cfg.Train.LR, cfg.Train.LRSubset, cfg.Train.LRKeep = 1e-3, c.subset, c.keep
		got := cfg.Training().Optimizer
		if got.LR != 1e-3 || got.SubsetLR != c.wantSubset || got.KeepLR != c.wantKeep {
			t.Errorf("train.lr_subset %v, train.lr_keep %v: rates %v, %v and %v", c.subset, c.keep, got.LR, got.SubsetLR, got.KeepLR)
		}
	}
}

// Only a SIREN has a frequency, and Check allows those that the network takes.
func TestOmega0(t *testing.T) {
	for _, kernel := range []string{"SIREN", "MAGNet"} {
		for value, allowed := range map[float64]bool{math.NaN(): false, -10: false, 0: false, 1e-7: kernel != "SIREN", 1e-6: true, 1e4: true, 10001: kernel != "SIREN", 1e7: false} {
			c := toy("strokes6-180", true)
			c.Kernel.Type, c.Kernel.Omega0 = kernel, value
			err := c.Check()
			if (err == nil) != allowed || err != nil && !strings.HasPrefix(err.Error(), "kernel.omega0 is "+fmt.Sprint(value)+"; allowed: ") {
				t.Errorf("%v of %s: %v", value, kernel, err)
			}
			if err != nil {
				continue
			}
			if _, err := c.NewNetwork(); err != nil {
				t.Errorf("%v of %s passes, and then: %v", value, kernel, err)
			}
		}
	}
}

// The engine computes in float32, to which a number that is allowed is no other one.
func TestNumbersOfFloat32(t *testing.T) {
	notOfEngine := []string{"data.rot_interval", "data.rotate", "net.dropout"} // computed with in float64
	for _, key := range Keys() {
		if slices.Contains(notOfEngine, key) {
			continue
		}
		c := toy("strokes6-180", true)
		if c.at(key).Kind() != reflect.Float64 {
			continue
		}
		for _, tiny := range []float64{1e-46, 1e-38} {
			c.at(key).SetFloat(tiny)
			if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("%s is %v; allowed: ", key, tiny)) {
				t.Errorf("%s=%v: %v", key, tiny, err)
			}
		}
		if c.at(key).SetFloat(1.2e-38); key != "kernel.omega0" && c.Check() != nil {
			t.Error(c.Check())
		}
	}
	c := toy("strokes6-180", true)
	for _, momentum := range []float64{1 - 1e-9, 1, 1.5, -0.5, math.NaN()} { // the first is 1 in float32
		c.Train.Momentum = momentum
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("train.momentum is %v; allowed: 0 to below 1", momentum)) {
			t.Errorf("a momentum of %v: %v", momentum, err)
		}
	}
}

func TestMergeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.toml")
	for text, want := range map[string]string{
		"":                                      "",
		"# café\n":                              "",
		"\ufeffseed = 1\n[train]\nlr = 0.1\n":   "", // as editors on Windows begin a file
		"preset = \"mnist6-180\"\ntrain.lr = 1": "",
		"preset = \"\"\n":                       path + ": preset is empty; name one, or leave it out",
		"preset = \"mnist7\"\n":                 path + `: unknown preset "mnist7"; did you mean "mnist6-m"?`,
		"PRESET = \"mnist6-180\"\n":             path + `: unknown key "PRESET"; did you mean "preset"?`,
		"Preset = \"mnist7\"\nseed = -1\n":      path + `: unknown key "Preset"; did you mean "preset"?`,
		"SEED = -1\n":                           path + `: unknown key "SEED"; did you mean "seed"?`,
		"[train]\nlr = 0.001\nLR = 0.002\n":     path + `: unknown key "train.LR"; did you mean "train.lr"?`,
		"train.Lr = 0.002\n":                    path + `: unknown key "train.Lr"; did you mean "train.lr"?`,
		"[Train]\nlr = 0.002\n":                 path + `: unknown table "Train"; did you mean "train"? (data, group, conv, kernel, net, train)`,
		"NET = {width = 3}\n":                   path + `: unknown table "NET"; did you mean "net"?`,
		"Net.width = 3\n":                       path + `: unknown key "Net.width"; did you mean "net.width"?`,
		"[[train]]\nlr = 1\n":                   path + ": ",
		"[seed]\n":                              path + ": ",
		"seed = -1\n":                           path + ": seed is -1; allowed: 0 to 9223372036854775807",
		"\xff\xfe":                              path + ": begins as UTF-16 does; give the text in UTF-8",
		"\xfe\xffseed = 1":                      path + ": begins as UTF-16",
		"data.set = \"\xe9\"\n":                 path + ": line 1: invalid UTF-8",
		strings.Repeat("#", 1<<16):              "",
		strings.Repeat("#", 1<<16+1):            "-config: " + path + " holds more than 65536 bytes",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c := toy("strokes6-180", true)
		switch err := c.MergeFile(path); {
		case (err == nil) != (want == ""):
			t.Errorf("%.40q gives %v, want %q", text, err, want)
		case err != nil && (!strings.HasPrefix(err.Error(), want) || !errors.As(err, new(*Error))):
			t.Errorf("%.40q gives %v, want %q", text, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, set := range dataSetNames() {
		c := published(set, "SE(2)", 8, true)
		if set == Images {
			c.Data.Side, c.Data.Classes = 32, 10
		}
		c.Data.Split = "published"
		allowed := slices.Contains([]string{"rotmnist", "cifar10", "cifar100"}, set)
		if err := c.Check(); (err == nil) != allowed {
			t.Errorf("data.split = published of %s: %v", set, err)
		} else if err != nil && !strings.HasPrefix(err.Error(), "data.split is published; allowed: seed for "+set) {
			t.Error(err)
		}
	}
}

// Only drawings are made in any number, and a set has as many channels as statistics of them.
func TestDataSets(t *testing.T) {
	for _, s := range dataSets {
		if mean, _ := data.Normalization(s.name); len(mean) != s.image.Channels {
			t.Errorf("%s has %d channels, of which %d have a mean", s.name, s.image.Channels, len(mean))
		}
		c := published(s.name, "SE(2)", 8, true)
		c.Data.Size = 100
		if s.name == Images {
			c.Data.Side, c.Data.Classes = 32, 10
		}
		if err := c.Check(); (err == nil) != (s.name == "strokes6-180") || err != nil && !strings.HasPrefix(err.Error(), "data.size is 100; allowed: 0 for "+s.name) {
			t.Errorf("data.size = 100 of %s: %v", s.name, err)
		}
	}
}

func TestRotInterval(t *testing.T) {
	for _, c := range []struct {
		set     string
		degrees float64
		want    string // of the error
	}{
		{"mnist6-180", 0, ""}, {"mnist6-180", 45.5, ""}, {"mnist6-180", 180, ""}, {"mnist6-circle", 0, ""},
		{"mnist6-180", -1, "0 to 180 degrees"}, {"mnist6-180", 181, "0 to 180 degrees"}, {"mnist6-180", math.NaN(), "0 to 180 degrees"},
		{"mnist6-m", 30, "0 for mnist6-m"},
	} {
		cfg := toy(c.set, true)
		cfg.Data.RotInterval = c.degrees
		if err := cfg.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), "data.rot_interval is "+fmt.Sprint(c.degrees)+"; allowed: "+c.want) {
			t.Errorf("%v degrees for %s: %v", c.degrees, c.set, err)
		}
	}
}

func TestOwnImages(t *testing.T) {
	for _, c := range []struct {
		set           string
		side, classes int
		want          string // of the error
	}{
		{Images, 64, 5, ""}, {Images, 4, 2, ""}, {Images, 512, 256, ""}, {"cifar10", 0, 0, ""},
		{Images, 0, 5, "data.side is 0; allowed: 4 to 512"}, {Images, 513, 5, "data.side is 513; allowed: 4 to 512"},
		{Images, 64, 0, "data.classes is 0; allowed: 2 to 256"}, {Images, 64, 257, "data.classes is 257; allowed: 2 to 256"},
		{"cifar10", 32, 0, "data.side is 32; allowed: 0 for cifar10"}, {"cifar10", 0, 10, "data.classes is 10; allowed: 0 for cifar10"},
	} {
		cfg := published(c.set, "SE(2)", 8, true)
		cfg.Data.Side, cfg.Data.Classes = c.side, c.classes
		err := cfg.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		if got, want := cfg.Image(), (Image{3, c.side, c.classes}); c.set == Images && got != want {
			t.Errorf("images are %+v, want %+v", got, want)
		}
	}
	cfg := published(Images, "SE(2)", 8, true)
	cfg.Data.Augment = "flip-crop"
	for side, want := range map[int]int{64: 8, 7: 1} {
		cfg.Data.Side, cfg.Data.Classes = side, 2
		if got := cfg.Training().Augment; got.Crop != want || !got.Flip || cfg.Check() != nil {
			t.Errorf("%d pixels: %+v, %v", side, got, cfg.Check())
		}
	}
}

// flip-crop moves images as far as the published program does.
func TestAugmentation(t *testing.T) {
	for set, want := range map[string]data.Augmentation{
		"cifar10": {Flip: true, Crop: 4}, "cifar100": {Flip: true, Crop: 4}, "stl10": {Flip: true, Crop: 12},
	} {
		c := published(set, "SE(2)", 8, true)
		if got := c.Training().Augment; got != (data.Augmentation{}) {
			t.Errorf("%s without augmentation: %+v", set, got)
		}
		c.Data.Augment = "flip-crop"
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		if got := c.Training().Augment; got != want {
			t.Errorf("%s: %+v, want %+v", set, got, want)
		}
	}
	c := published("rotmnist", "SE(2)", 8, true)
	c.Data.Augment, c.Data.Rotate = "rotation", 45
	if got := c.Training().Augment; got != (data.Augmentation{Rotate: math.Pi / 4}) || c.Check() != nil {
		t.Errorf("45 degrees: %+v, %v", got, c.Check())
	}
}

// The documentation names everything that a value may name.
func TestNamesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "command-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(
		names(conv.Algorithms()), names(conv.KernelNets()), names(siren.Activations()), names(siren.Norms()),
		names(model.Norms()), names(model.Poolings()), names(model.Schedules()), orders,
		dataSetNames(), presetNames(), networks, augments,
	) {
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/command-line.md does not name %s", name)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"train.lrr": "train.lr", "trian.epochs": "train.epochs", "partial": "conv.partial", "kernel.size": "kernel.side", "Seed": "seed", "DATA.SIZE": "data.size",
	} {
		if got := Nearest(name, Keys()); got != want {
			t.Errorf("%s is taken for %s, want %s", name, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"abc", "acb", 2}} {
		if got := editDistance(c.a, c.b); got != c.want || editDistance(c.b, c.a) != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestValueErrorsNameTheKey(t *testing.T) {
	for _, k := range configKeys {
		if !slices.Contains(Keys(), k) {
			t.Errorf("%s is no key", k)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), -1, 1e7} {
		c := toy("strokes6-180", true)
		c.Train.LR = v
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), "train.lr is ") {
			t.Errorf("learning rate %v: %v", v, err)
		}
	}
}
