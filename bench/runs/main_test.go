package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The pages say what the runs came to.
func TestPages(t *testing.T) {
	root := filepath.Join("..", "..")
	list, err := read(filepath.Join(root, directory))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no runs")
	}
	got, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != markdown(list) {
		t.Errorf("%s is not what the runs say; run go run ./bench/runs", page)
	}
	if got, err = os.ReadFile(filepath.Join(root, subsets)); err != nil {
		t.Fatal(err)
	}
	if want, err := withTable(string(got), subsetTable(list)); err != nil || want != string(got) {
		t.Errorf("%s is not what the runs say (%v); run go run ./bench/runs", subsets, err)
	}
}

// A page without the lines between which the table stands is left alone.
func TestWithTable(t *testing.T) {
	for text, want := range map[string]string{
		"a\n" + tableBegin + "old\n" + tableEnd + "b\n": "a\n" + tableBegin + "new\n" + tableEnd + "b\n",
		"a\n" + tableBegin + "old\n":                    "",
		"a\n" + tableEnd:                                "",
	} {
		if got, err := withTable(text, "new\n"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestRow(t *testing.T) {
	half := 0.5
	r := result{
		Preset: "mnist6-180-se2-8-partial", Dataset: "mnist6-180", Seed: 1, Epochs: 3, Steps: 150, TestAccuracy: 0.75, TestAccuracyStd: 0.01,
		WholeGroupAccuracy: &half, SecondsPerStep: 0.125, ImagesPerSecond: 256, Threads: 2, Level: "avx2", EvalDraws: 5,
	}
	other := r
	other.Seed, other.TestAccuracy, other.TestAccuracyStd, other.SecondsPerStep, other.ImagesPerSecond, other.Level = 2, 0.25, 0.03, 0.5, 64, "neon"
	changed := r
	changed.changes, changed.TestAccuracy = "group.jitter=comb", 0.125
	once := r
	once.changes, once.group, once.EvalDraws = "group.name=T(2), train.eval_draws=1", "T(2)", 1
	page := markdown([]result{r, changed, other, once})
	want := "| `mnist6-180-se2-8-partial` | - | 1, 2 | 0.5000 | 0.3536 | 0.0200 | 0.5000 | 3 epochs, 150 steps of 32 images | 19s; 1m15s | avx2, 2; neon, 2 |"
	if !strings.Contains(page, want) {
		t.Errorf("no %s in\n%s", want, page)
	}
	for _, want := range []string{
		"## mnist6-180\n", "| `rotmnist-se2-8-full` | main table",
		"| `mnist6-180-se2-8-partial` | `group.jitter=comb` | 1 | 0.1250 | - | 0.0100 | 0.5000 | 3 epochs, 150 steps of 32 images | 19s | avx2, 2 | - |\n",
		"| **T(2)**, otherwise `mnist6-180-se2-8-partial` | `group.name=T(2), train.eval_draws=1` | 1 | 0.7500 | - | - | 0.5000 |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestAlike has the seeds of another level in a group of their own, and those of one seed each
// at different levels together.
func TestAlike(t *testing.T) {
	run := func(seed uint64, level, changes string) result {
		return result{Preset: "a", Seed: seed, Level: level, changes: changes}
	}
	list := []result{run(1, "avx2", ""), run(1, "amx", ""), run(1, "amx", "b=1"), run(2, "avx2", ""), run(2, "amx", ""), run(2, "avx2", "b=1"), {Preset: "c", Seed: 1}}
	var got []string
	for _, g := range alike(list, "a") {
		text := g[0].changes + ":"
		for _, r := range g {
			text += fmt.Sprintf(" %d %s", r.Seed, r.Level)
		}
		got = append(got, text)
	}
	if want := []string{": 1 avx2 2 avx2", ": 1 amx 2 amx", "b=1: 1 amx 2 avx2"}; !slices.Equal(got, want) {
		t.Errorf("groups %q, want %q", got, want)
	}
}

// A run with other settings than its preset's is told apart, and its course is read.
func TestReadRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "comb", "mnist6-180-se2-8-partial-seed-2")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"result.json": `{"preset": "mnist6-180-se2-8-partial", "dataset": "mnist6-180", "seed": 2, "test_accuracy": 0.5, "whole_group_accuracy": 0.25, "learned": [0.5, 1], "crossings_degrees": [-89.6, 90]}`,
		"config.toml": "preset = \"mnist6-180-se2-8-partial\"\nseed = 2\n[group]\njitter = \"comb\"\n",
		"metrics.jsonl": `{"epoch": 1, "validation_accuracy": 0.25}
{"epoch": 2, "validation_accuracy": 0.5}
{"epoch": 3, "validation_accuracy": 0.625}
{"epoch": 4, "validation_accuracy": 0.875}
{"epoch": 5, "validation_accuracy": 0.75}
{"epoch": 6, "validation_accuracy": 0.875}
{"epoch": 7, "validation_accuracy": 0.875}
{"epoch": 8, "validation_accuracy": 0.875}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := read(filepath.Dir(filepath.Dir(dir)))
	if err != nil {
		t.Fatal(err)
	}
	want := "| mnist6-180 | group.jitter=comb | 2 | 0.500 | 0.750 | 0.5000 | 0.2500 | -90, 90 | [0.50 1.00] |"
	if table := subsetTable(list); !strings.Contains(table, want) {
		t.Errorf("no %s in\n%s", want, table)
	}
	list[0].WholeGroupAccuracy = nil // as with conv.partial=false
	if table := subsetTable(list); strings.Contains(table, "mnist6-180") {
		t.Errorf("a run that learns no subset is in\n%s", table)
	}
	page := markdown(list)
	for _, want := range []string{"| `mnist6-180-se2-8-partial` | `group.jitter=comb` | 2 | 0.5000 |", "| `mnist6-180-se2-8-partial` | toy tasks"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

// What does not belong there is named.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ dir, text, want string }{
		"another name":   {"mnist6-180-se2-8-partial-seed-2", `{"preset": "mnist6-180-se2-8-partial", "seed": 1}`, "is the result of mnist6-180-se2-8-partial-seed-1"},
		"unknown preset": {"x-seed-1", `{"preset": "x", "seed": 1}`, `unknown preset "x"`},
		"no JSON":        {"x-seed-1", `{`, "result.json: "},
		"no course":      {"mnist6-180-se2-8-partial-seed-1", `{"preset": "mnist6-180-se2-8-partial", "seed": 1}`, "metrics.jsonl: "},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, c.dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"result.json": c.text, "config.toml": "", "metrics.jsonl": `{"epoch": 1}` + "\n{"} {
			if err := os.WriteFile(filepath.Join(dir, c.dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the page says of the data sets that are made of CIFAR-10 is so of every run on them.
func TestPartsOfCIFAR10(t *testing.T) {
	list, err := read(filepath.Join("..", "..", directory))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range partsOfCIFAR10 {
		runs := of(list, name)
		if len(runs) == 0 {
			t.Errorf("no runs on %s", name)
		}
		for _, r := range runs {
			seen := r.Steps * r.batch()
			if once := p.images / r.batch() * r.batch(); seen != r.Epochs*once && (name == "cifar10-part" || seen >= once) {
				t.Errorf("%s, %s: %d epochs of %d images", name, r.Preset, r.Epochs, seen/r.Epochs)
			}
			if !strings.Contains(r.changes, "net.width=16") {
				t.Errorf("%s, %s is not narrower: %s", name, r.Preset, r.changes)
			}
		}
	}
}

func TestComparison(t *testing.T) {
	var list []result
	for preset, accuracies := range map[string][]float64{"cifar10-se2-4-partial": {0.5, 0.75}, "cifar10-se2-4-full": {0.5, 0.5}, "cifar10-t2-1": {0.25, 0.375}} {
		for i, v := range accuracies {
			list = append(list, result{Preset: preset, Dataset: "cifar10-part", Seed: uint64(i), Steps: 8, TestAccuracy: v})
			list = append(list, result{Preset: preset, Dataset: "cifar10-part", Seed: uint64(i), Steps: 4, changes: "train.epochs=4"})
		}
		list = append(list, result{Preset: preset, Dataset: "cifar10-part", Steps: 16, changes: "net.width=1"}, result{Preset: preset, Dataset: "cifar10"})
	}
	want := "partial SE(2) 0.6250 ± 0.1768, SE(2) 0.5000 ± 0.0000 (0.1250 lower), T(2) 0.3125 ± 0.0884 (0.3125 lower). That is the paper's order on CIFAR-10."
	if got := comparison(list, "cifar10-part"); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range list {
		if list[i].Preset == "cifar10-t2-1" {
			list[i].TestAccuracy *= 4
		}
	}
	if got := comparison(list, "cifar10-part"); !strings.Contains(got, "highest: T(2) 1.2500") || !strings.HasSuffix(got, "That is not the paper's order on CIFAR-10, which is partial SE(2), SE(2), T(2).") {
		t.Error(got)
	}
	if got := comparison(list, "cifar10-jpeg"); got != "" {
		t.Errorf("%q of no runs", got)
	}
	seeds := func(n int, r result) (runs []result) {
		for seed := range n {
			r.Seed = uint64(seed)
			runs = append(runs, r)
		}
		return runs
	}
	strata := seeds(3, result{Preset: "cifar10-se2-4-partial", Dataset: "cifar10-part", Steps: 8, TestAccuracy: 2, changes: "group.jitter=stratified"})
	brief := result{Preset: "cifar10-se2-4-partial", Dataset: "cifar10-part", Steps: 4, changes: "group.jitter=stratified train.epochs=4"}
	list = append(list, seeds(4, brief)...) // after other steps than the comb
	grid := seeds(2, result{Preset: "cifar10-se2-4-full", Dataset: "cifar10-part", Steps: 8, TestAccuracy: 3, changes: "group.sampling=deterministic"})
	alone := seeds(1, result{Preset: "cifar10-se2-4-partial", Dataset: "cifar10-part", Steps: 8, TestAccuracy: 4, changes: "group.sampling=deterministic"})
	iid := seeds(3, result{Preset: "cifar10-se2-4-full", Dataset: "cifar10-part", Steps: 8, TestAccuracy: 1, changes: "group.jitter=iid"}) // more seeds than the comb
	periodic := seeds(3, result{Preset: "cifar10-se2-4-partial", Dataset: "cifar10-part", Steps: 8, TestAccuracy: 5, changes: "group.name=SE(2) periodic"})
	want = "Here elements are drawn as a comb, and angles fed as they are, as by the published program; with strata partial SE(2) ends at 2.0000 ± 0.0000 (3 seeds), " +
		"with independent draws SE(2) ends at 1.0000 ± 0.0000 (3 seeds), with a grid SE(2) ends at 3.0000 ± 0.0000 (2 seeds), with sine and cosine partial SE(2) ends at 5.0000 ± 0.0000 (3 seeds)."
	both := seeds(4, result{Preset: "cifar10-se2-4-partial", Dataset: "cifar10-part", Steps: 8, TestAccuracy: 6, changes: "group.name=SE(2) periodic, group.jitter=stratified"})
	if got := comparison(slices.Concat(list, strata, iid, grid, alone, periodic, both), "cifar10-part"); !strings.Contains(got, "highest: T(2) 1.2500 ± 0.3536, partial SE(2) 0.6250 ± 0.1768 ") || !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range list {
		if list[i].Preset == "cifar10-t2-1" && list[i].Steps == 8 {
			list[i].Steps = 7
		}
	}
	if got := comparison(list, "cifar10-part"); got != "" {
		t.Errorf("%q of unequal schedules", got)
	}
}
