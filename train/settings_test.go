package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range presets() {
		c := p.config
		if err := c.check(); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		parts := strings.Split(p.name, "-se2-")
		if len(parts) != 2 || parts[0] != c.Data.Set || parts[1] != map[bool]string{true: "8-partial", false: "8-full"}[c.Conv.Partial] {
			t.Errorf("%s does not say what it is", p.name)
		}
		for _, name := range []string{p.name, p.short} {
			if name == "" {
				continue
			}
			if seen[name] {
				t.Errorf("two presets are called %s", name)
			}
			seen[name] = true
			if got, err := lookupPreset(name); err != nil || got.Preset != p.name {
				t.Errorf("%s gives %s, %v", name, got.Preset, err)
			}
		}
	}
	if !seen[defaultPreset] {
		t.Errorf("no preset is called %s", defaultPreset)
	}
}

// Every key can be set to the value that it has, and config.toml keeps it.
func TestSetEveryKey(t *testing.T) {
	want, err := lookupPreset("mnist6-180")
	if err != nil {
		t.Fatal(err)
	}
	c := want
	for _, k := range keys() {
		if k == "preset" {
			continue
		}
		if err := c.set(k + "=" + want.value(k)); err != nil {
			t.Error(err)
		}
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v\nwant %+v", c, want)
	}
	d := &runDir{path: t.TempDir()}
	if err := d.writeConfig(&want); err != nil {
		t.Fatal(err)
	}
	got, err := d.readConfig()
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	doc, err := os.ReadFile(filepath.Join("..", "docs", "command-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys() {
		if !strings.Contains(string(doc), "`"+k+"`") {
			t.Errorf("docs/command-line.md does not explain %s", k)
		}
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
		cfg, err := lookupPreset(defaultPreset)
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.set(c.assignment); err != nil {
			t.Error(err)
		} else if got := cfg.value(c.key); got != c.value {
			t.Errorf("-set %s gives %s, want %s", c.assignment, got, c.value)
		}
		if fresh, _ := lookupPreset(defaultPreset); !reflect.DeepEqual(fresh.Net.Factors, []int{1, 1}) {
			t.Fatalf("-set %s changed the preset itself", c.assignment)
		}
	}
}

// The more a source is the user's own hand, the more it counts: preset, file,
// -set, -seed and -epochs.
func TestPrecedence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	write(t, []byte("preset = \"mnist6-m\"\nseed = 5\n[train]\nlr = 0.25\nbatch = 16\nepochs = 7\n"), path)
	o, err := parse([]string{"-config", path, "-set", "train.batch=8", "-set", "train.epochs=3", "-epochs", "4", "-seed", "6"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.configuration()
	if err != nil {
		t.Fatal(err)
	}
	want := toy("mnist6-m", true)
	want.Preset = "mnist6-m-se2-8-partial"
	want.Seed, want.Train.LR, want.Train.Batch, want.Train.Epochs = 6, .25, 8, 4
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("%+v\nwant %+v", *c, want)
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"train.lrr": "train.lr", "trian.epochs": "train.epochs", "partial": "conv.partial", "kernel.size": "kernel.side", "Seed": "seed",
	} {
		if got := nearest(name, keys()); got != want {
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

// The command that a report shows gives the configuration of its run.
func TestCommand(t *testing.T) {
	for _, flags := range [][]string{
		nil,
		{"-preset", "mnist6-180-se2-8-full"},
		{"-preset", "mnist6-m", "-seed", "9", "-epochs", "4", "-set", "net.pools=[0, 2]", "-set", "train.lr=0.003", "-set", "group.name=se2"},
		{"-set", "conv.partial=false", "-set", "group.name=T(2)", "-set", "group.elements=1", "-set", "net.pools=[]"},
	} {
		o, err := parse(flags, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.configuration()
		if err != nil {
			t.Fatal(err)
		}
		line := command(c)
		rest, ok := strings.CutPrefix(line, "go run ./train")
		if !ok {
			t.Fatal(line)
		}
		again, err := parse(words(rest), io.Discard)
		if err != nil {
			t.Fatal(line, err)
		}
		if d, err := again.configuration(); err != nil || !reflect.DeepEqual(c, d) {
			t.Errorf("%s\ngives %+v, %v\nwant  %+v", line, d, err, c)
		}
	}
}

// words splits a line as a shell does, as far as single quotes go.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 0 {
			list = append(list, strings.Fields(part)...)
		} else {
			list = append(list, part)
		}
	}
	return list
}

func TestValueErrorsNameTheKey(t *testing.T) {
	for _, k := range configKeys {
		if !slices.Contains(keys(), k) {
			t.Errorf("%s is no key", k)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), -1, 1e7} {
		c := toy("strokes6-180", true)
		c.Train.LR = v
		if err := c.check(); err == nil || !strings.HasPrefix(err.Error(), "train.lr is ") {
			t.Errorf("learning rate %v: %v", v, err)
		}
	}
}
