package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page says what the runs came to.
func TestPage(t *testing.T) {
	list, err := read(filepath.Join("..", "results", "runs"))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no runs")
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != markdown(list) {
		t.Error("docs/results.md is not what the runs say; run go run ./bench/runs")
	}
}

func TestRow(t *testing.T) {
	half := 0.5
	r := result{
		Preset: "mnist6-180-se2-8-partial", Dataset: "mnist6-180", Seed: 1, Epochs: 3, Steps: 150, TestAccuracy: 0.75, TestAccuracyStd: 0.01,
		WholeGroupAccuracy: &half, SecondsPerStep: 0.125, ImagesPerSecond: 256, Threads: 2, Level: "avx2",
	}
	other := r
	other.Seed, other.TestAccuracy, other.TestAccuracyStd = 2, 0.25, 0.03
	page := markdown([]result{r, other})
	want := "| `mnist6-180-se2-8-partial` | 1, 2 | 0.5000 | 0.3536 | 0.0200 | 0.5000 | 3 epochs, 150 steps of 32 images | 19s | avx2, 2 |"
	if !strings.Contains(page, want) {
		t.Errorf("no %s in\n%s", want, page)
	}
	for _, want := range []string{"## mnist6-180\n", "| `rotmnist-se2-8-full` | main table"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// What does not belong there is named.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ dir, text, want string }{
		"another name":   {"mnist6-180-se2-8-partial-seed-2", `{"preset": "mnist6-180-se2-8-partial", "seed": 1}`, "is the result of mnist6-180-se2-8-partial-seed-1"},
		"unknown preset": {"x-seed-1", `{"preset": "x", "seed": 1}`, `unknown preset "x"`},
		"no JSON":        {"x-seed-1", `{`, "result.json: "},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, c.dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.dir, "result.json"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
