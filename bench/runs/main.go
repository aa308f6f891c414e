// Command runs makes docs/results.md of the results of training runs that lie in
// bench/results/runs: a directory for each run, named PRESET-seed-N as train sweep
// names it, with its config.toml, metrics.jsonl and result.json.
//
//	go run ./bench/runs
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/internal/config"
)

// Where runs lie, and the page about them.
var (
	directory = filepath.Join("bench", "results", "runs")
	page      = filepath.Join("docs", "results.md")
)

func main() {
	flag.StringVar(&directory, "runs", directory, "`directory` of the runs")
	flag.StringVar(&page, "out", page, "`file` to write")
	flag.Parse()
	err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "runs:", err)
		os.Exit(1)
	}
}

func run() error {
	list, err := read(directory)
	if err != nil {
		return err
	}
	text := markdown(list)
	return atomicfile.WriteFile(page, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// result is what the page shows of a result.json.
type result struct {
	Preset             string   `json:"preset"`
	Dataset            string   `json:"dataset"`
	Synthetic          bool     `json:"synthetic"`
	Seed               uint64   `json:"seed"`
	Epochs             int      `json:"epochs"`
	Steps              int      `json:"steps"`
	TestAccuracy       float64  `json:"test_accuracy"`
	TestAccuracyStd    float64  `json:"test_accuracy_std"`
	EvalDraws          int      `json:"eval_draws"`
	WholeGroupAccuracy *float64 `json:"whole_group_accuracy"`
	SecondsPerStep     float64  `json:"seconds_per_step"`
	ImagesPerSecond    float64  `json:"images_per_second"`
	Threads            int      `json:"threads"`
	Level              string   `json:"level"`
}

// batch is the number of images of a step.
func (r *result) batch() int { return int(math.Round(r.ImagesPerSecond * r.SecondsPerStep)) }

// read returns the results in a directory of runs, by preset and seed.
func read(dir string) ([]result, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "result.json"))
	if err != nil {
		return nil, err
	}
	var list []result
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if want := fmt.Sprintf("%s-seed-%d", r.Preset, r.Seed); filepath.Base(filepath.Dir(path)) != want {
			return nil, fmt.Errorf("%s is the result of %s; name its directory so", path, want)
		}
		if _, err := config.Lookup(r.Preset); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b result) int { return int(a.Seed) - int(b.Seed) })
	return list, nil
}

const introduction = `# Results

This page is made by ` + "`go run ./bench/runs`" + ` of the runs in [bench/results/runs](../bench/results/runs); a test fails when it
says anything else than they do. Each run's directory has its configuration, its course and its result. To repeat one:
` + "`go run ./train -preset PRESET -seed N -data DIR`" + `; several, with a table: ` + "`go run ./train sweep -seeds 3 PRESET...`" + `.

Accuracies are fractions of the test images, means over the seeds, each of them a mean over several draws of the group's elements;
± is the standard deviation between seeds, or, where it says so, between draws, in the mean over the seeds. *Reset* is the accuracy of the
same weights with every learned subset reset to the whole group: what is left when the network may no longer tell apart what the group relates.
Time is that of the training steps of one run. It depends on what else the machine did; BENCHMARKS.md has measured speeds.

`

// markdown returns the page.
func markdown(list []result) string {
	var b strings.Builder
	b.WriteString(introduction)
	var missing []string
	set := ""
	for _, p := range config.Presets() {
		var runs []result
		for _, r := range list {
			if r.Preset == p.Name {
				runs = append(runs, r)
			}
		}
		paper, isRow := p.Paper()
		if len(runs) == 0 {
			if isRow {
				missing = append(missing, fmt.Sprintf("| `%s` | %s |\n", p.Name, paper))
			}
			continue
		}
		if runs[0].Dataset != set {
			set = runs[0].Dataset
			fmt.Fprintf(&b, "## %s\n\n", title(&runs[0]))
			b.WriteString("| preset | seeds | test accuracy | ± seeds | ± draws | reset | schedule | time | level, threads | the paper |\n|---|---|---|---|---|---|---|---|---|---|\n")
		}
		b.WriteString(row(p.Name, runs, paper, isRow))
		if next := after(list, p.Name); next != set {
			b.WriteString("\n")
		}
	}
	if len(missing) > 0 {
		b.WriteString("## Rows of the paper that were not run\n\nThe presets are there; they take hours to days on two cores.\n\n| preset | the paper |\n|---|---|\n")
		b.WriteString(strings.Join(missing, ""))
	}
	return b.String()
}

func title(r *result) string {
	if r.Synthetic {
		return r.Dataset + " (synthetic)"
	}
	return r.Dataset
}

// after returns the data set of the first preset behind one that has runs.
func after(list []result, preset string) string {
	behind := false
	for _, p := range config.Presets() {
		if behind {
			if i := slices.IndexFunc(list, func(r result) bool { return r.Preset == p.Name }); i >= 0 {
				return list[i].Dataset
			}
		}
		behind = behind || p.Name == preset
	}
	return ""
}

// row returns the line of a preset.
func row(preset string, runs []result, paper config.Paper, isRow bool) string {
	var seeds []string
	var accuracies, resets, draws, seconds []float64
	for _, r := range runs {
		seeds = append(seeds, fmt.Sprint(r.Seed))
		accuracies, draws = append(accuracies, r.TestAccuracy), append(draws, r.TestAccuracyStd)
		seconds = append(seconds, r.SecondsPerStep*float64(r.Steps))
		if r.WholeGroupAccuracy != nil {
			resets = append(resets, *r.WholeGroupAccuracy)
		}
	}
	first := runs[0]
	between, reset, stated := "-", "-", "-"
	if len(runs) > 1 {
		between = fmt.Sprintf("%.4f", deviation(accuracies))
	}
	if len(resets) == len(runs) {
		reset = fmt.Sprintf("%.4f", mean(resets))
	}
	if isRow {
		stated = paper.String()
	}
	took := time.Duration(mean(seconds) * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("| `%s` | %s | %.4f | %s | %.4f | %s | %d epochs, %d steps of %d images | %v | %s, %d | %s |\n",
		preset, strings.Join(seeds, ", "), mean(accuracies), between, mean(draws), reset, first.Epochs, first.Steps, first.batch(), took, first.Level, first.Threads, stated)
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// deviation is the standard deviation of a sample, with n-1.
func deviation(x []float64) float64 {
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}
