// Command runs makes docs/results.md, and the table of docs/learned-subsets.md, of the
// results of training runs that lie in bench/results/runs: a directory for each run, named
// PRESET-seed-N as train sweep names it, with its config.toml, metrics.jsonl and
// result.json. Runs whose settings differ from their preset's lie in a directory of such,
// as a sweep with -set leaves it.
//
//	go run ./bench/runs
package main

import (
	"bufio"
	"bytes"
	"cmp"
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

// Where runs lie, and the pages about them, from the root of the repository.
var (
	directory = filepath.Join("bench", "results", "runs")
	page      = filepath.Join("docs", "results.md")
	subsets   = filepath.Join("docs", "learned-subsets.md")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "runs:", err)
		os.Exit(1)
	}
}

func run() error {
	list, err := read(directory)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(subsets)
	if err != nil {
		return err
	}
	text, err := withTable(string(old), subsetTable(list))
	if err != nil {
		return fmt.Errorf("%s: %w", subsets, err)
	}
	for path, text := range map[string]string{page: markdown(list), subsets: text} {
		err := atomicfile.WriteFile(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
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

	Learned   []float64 `json:"learned"`
	Crossings []float64 `json:"crossings_degrees"`

	changes string  // of the preset's settings, as flags, but for the seed
	group   string  // if it is not the preset's
	lowest  float64 // validation accuracy after the first epoch
	last    float64 // the lowest of the last epochs
}

// batch is the number of images of a step.
func (r *result) batch() int { return int(math.Round(r.ImagesPerSecond * r.SecondsPerStep)) }

// read returns the results in a directory of runs and in directories in it, by seed.
func read(dir string) ([]result, error) {
	var list []result
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern, "result.json"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			r, err := readRun(filepath.Dir(path))
			if err != nil {
				return nil, err
			}
			list = append(list, *r)
		}
	}
	slices.SortStableFunc(list, func(a, b result) int { return cmp.Compare(a.Seed, b.Seed) })
	return list, nil
}

// readRun returns the result in the directory of a run.
func readRun(dir string) (*result, error) {
	path := filepath.Join(dir, "result.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(result)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if want := fmt.Sprintf("%s-seed-%d", r.Preset, r.Seed); filepath.Base(dir) != want {
		return nil, fmt.Errorf("%s is the result of %s; name its directory so", path, want)
	}
	preset, err := config.Lookup(r.Preset)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := preset
	if err := c.MergeFile(filepath.Join(dir, "config.toml")); err != nil {
		return nil, err
	}
	without := []string{"preset", "seed"} // and what makes no difference
	for _, idle := range c.Idle() {
		without = append(without, idle.Key)
	}
	r.changes = strings.Join(c.Changes(&preset, without...), ", ")
	if c.Group.Name != preset.Group.Name {
		r.group = c.Group.Name
	}
	r.lowest, r.last, err = lowest(filepath.Join(dir, "metrics.jsonl"))
	return r, err
}

// lastEpochs is how many epochs are the last ones of a run.
const lastEpochs = 5

// lowest returns the lowest validation accuracy of all epochs but the first, and of the
// last ones.
func lowest(path string) (after, last float64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	var accuracies []float64
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var epoch struct {
			Epoch    int     `json:"epoch"`
			Accuracy float64 `json:"validation_accuracy"`
		}
		if err := json.Unmarshal(lines.Bytes(), &epoch); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", path, err)
		}
		if epoch.Epoch > 1 {
			accuracies = append(accuracies, epoch.Accuracy)
		}
	}
	if len(accuracies) == 0 {
		return 1, 1, lines.Err()
	}
	return slices.Min(accuracies), slices.Min(accuracies[max(0, len(accuracies)-lastEpochs):]), lines.Err()
}

// The table of docs/learned-subsets.md stands between these lines.
const (
	tableBegin = "<!-- The table is made by go run ./bench/runs. -->\n"
	tableEnd   = "<!-- End of the table. -->\n"
)

// withTable puts a table in its place.
func withTable(text, table string) (string, error) {
	before, rest, ok := strings.Cut(text, tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !ok || !ended {
		return "", fmt.Errorf("no lines %q and %q", strings.TrimSpace(tableBegin), strings.TrimSpace(tableEnd))
	}
	return before + tableBegin + table + tableEnd + after, nil
}

// subsetTable has the runs that learn subsets of rotations on the toy tasks, one by one.
func subsetTable(list []result) string {
	var b strings.Builder
	b.WriteString("| data | changed | seed | lowest | last | test | reset | crossings | learned |\n|---|---|---|---|---|---|---|---|---|\n")
	var chosen []result
	for _, r := range list {
		toy := r.Preset == "mnist6-180-se2-8-partial" || r.Preset == "mnist6-circle-se2-8-partial"
		if toy && r.WholeGroupAccuracy != nil {
			chosen = append(chosen, r)
		}
	}
	slices.SortStableFunc(chosen, func(a, b result) int {
		return cmp.Or(strings.Compare(a.Dataset, b.Dataset), strings.Compare(a.changes, b.changes))
	})
	for _, r := range chosen {
		var crossings []string
		for _, c := range r.Crossings {
			crossings = append(crossings, fmt.Sprintf("%.0f", c))
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.3f | %.3f | %.4f | %.4f | %s | %.2f |\n", r.Dataset, cmp.Or(r.changes, "-"), r.Seed, r.lowest, r.last, r.TestAccuracy,
			*r.WholeGroupAccuracy, strings.Join(crossings, ", "), r.Learned)
	}
	return b.String()
}

const introduction = `# Results

This page is made by ` + "`go run ./bench/runs`" + ` of the runs in [bench/results/runs](../bench/results/runs); a test fails when it
says anything else than they do. Each run's directory has its configuration, its course and its result. To repeat one:
` + "`go run ./train -config bench/results/runs/RUN/config.toml -data DIR`" + `, at the level of its row (` + "`NOETHER_SIMD`" + `).

*Changed* are the settings in which runs differ from their preset, as -set takes them. Accuracies are fractions of the test images, means over the seeds, each of them a mean over the draws of the group's elements;
± is the standard deviation between seeds, or, where it says so, between draws, in the mean over the seeds, and - where there was one draw. *Reset* is the accuracy of the
same weights with every learned subset reset to the whole group: what is left when the network may no longer tell apart what the group relates.
Time is that of the training steps of one run, a mean for each level and number of threads, in the order in which the next column names them. It depends on what else the machine did; BENCHMARKS.md has measured speeds.
A row that differs from the one before by its level alone has the same seeds trained there: numbers are rounded otherwise, and the course of a training follows.

`

// table has the rows of one data set.
type table struct {
	dataset, title string
	rows           strings.Builder
}

// markdown returns the page.
func markdown(list []result) string {
	var tables []*table
	var missing []string
	for _, p := range config.Presets() {
		for _, runs := range alike(list, p.Name) {
			t := tableOf(&tables, &runs[0])
			t.rows.WriteString(row(p, runs))
		}
		if paper, ok := p.Paper(); ok && !slices.ContainsFunc(list, func(r result) bool { return r.Preset == p.Name && r.changes == "" }) {
			missing = append(missing, fmt.Sprintf("| `%s` | %s |\n", p.Name, paper))
		}
	}
	var b strings.Builder
	b.WriteString(introduction)
	for _, t := range tables {
		fmt.Fprintf(&b, "## %s\n\n", t.title)
		if p, ok := partsOfCIFAR10[t.dataset]; ok {
			b.WriteString(p.note + " " + comparison(list, t.dataset) + "\n\n")
		}
		b.WriteString("| preset | changed | seeds | test accuracy | ± seeds | ± draws | reset | schedule | time | level, threads | the paper |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
		b.WriteString(t.rows.String() + "\n")
	}
	if len(missing) > 0 {
		b.WriteString("## Rows of the paper that were not run\n\nThe presets are there; those of the main table take hours to days on two cores.\n\n| preset | the paper |\n|---|---|\n")
		b.WriteString(strings.Join(missing, ""))
	}
	return b.String()
}

// alike returns the runs of a preset, those with the same changes together, those without
// any first. A seed that was run again, at another level, begins a group of its own.
func alike(list []result, preset string) [][]result {
	var groups [][]result
	for _, r := range list {
		if r.Preset != preset {
			continue
		}
		i := slices.IndexFunc(groups, func(g []result) bool {
			return g[0].changes == r.changes && !slices.ContainsFunc(g, func(other result) bool { return other.Seed == r.Seed })
		})
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	slices.SortStableFunc(groups, func(a, b []result) int { return strings.Compare(a[0].changes, b[0].changes) })
	return groups
}

// tableOf returns the table of a run's data set, which it adds where there is none.
func tableOf(tables *[]*table, r *result) *table {
	i := slices.IndexFunc(*tables, func(t *table) bool { return t.dataset == r.Dataset })
	if i < 0 {
		i, *tables = len(*tables), append(*tables, &table{dataset: r.Dataset, title: title(r)})
	}
	return (*tables)[i]
}

func title(r *result) string {
	if p, ok := partsOfCIFAR10[r.Dataset]; ok {
		return p.title
	}
	if r.Synthetic {
		return r.Dataset + " (synthetic)"
	}
	return r.Dataset
}

// part is a data set that is made of CIFAR-10's images and must not be taken for it.
type part struct {
	images      int // to train on
	title, note string
}

// partsOfCIFAR10 are the parts by the names of the data sets.
var partsOfCIFAR10 = map[string]part{
	"cifar10-jpeg": {45000, "CIFAR-10 (JPEG copy)", "Not CIFAR-10: `data.set=cifar10-jpeg`, all its images, which lost detail to JPEG, with the networks of presets called `cifar10-…`, made narrower. 600 steps see less than one pass over the 45000 training images. " +
		"Accuracies compare these networks with each other, not with the paper."},
	"cifar10-part": {3600, "Part of CIFAR-10 (3600 training images)", "Not CIFAR-10: `data.set=cifar10-part`, 4000 of its training images, of which 400 validate, and 1000 of its test images, with the networks of presets called `cifar10-…`, made narrower. " +
		"Accuracies compare these networks with each other, not with the paper."},
}

// comparison says in which order networks that are partially equivariant, fully and to
// translations alone come on a part of CIFAR-10, as the paper compares them on all of it, after
// as many steps each. Variants are named besides.
func comparison(list []result, dataset string) string {
	type kind struct {
		name, preset string
		runs         []result
	}
	rows := func(preset, variant string) (rows [][]result) {
		for _, runs := range alike(of(list, dataset), preset) {
			if variantOf(runs[0].changes) == variant {
				rows = append(rows, runs)
			}
		}
		return rows
	}
	kinds := []kind{{name: "partial SE(2)", preset: "cifar10-se2-4-partial"}, {name: "SE(2)", preset: "cifar10-se2-4-full"}, {name: "T(2)", preset: "cifar10-t2-1"}}
	for i := range kinds {
		kinds[i].runs = best(rows(kinds[i].preset, ""))
	}
	paper := slices.Clone(kinds)
	if slices.ContainsFunc(kinds, func(k kind) bool { return len(k.runs) < 2 || k.runs[0].Steps != paper[0].runs[0].Steps }) {
		return ""
	}
	steps := paper[0].runs[0].Steps
	slices.SortStableFunc(kinds, func(a, b kind) int { return cmp.Compare(mean(accuracies(b.runs)), mean(accuracies(a.runs))) })
	var means []string
	for _, k := range kinds {
		text := k.name + " " + spread(k.runs)
		if lower := mean(accuracies(kinds[0].runs)) - mean(accuracies(k.runs)); lower > 0 {
			text += fmt.Sprintf(" (%.4f lower)", lower)
		}
		means = append(means, text)
	}
	order := "the paper's order on CIFAR-10"
	if !slices.EqualFunc(kinds, paper, func(a, b kind) bool { return a.name == b.name }) {
		order = "not " + order + ", which is " + paper[0].name + ", " + paper[1].name + ", " + paper[2].name
	}
	text := fmt.Sprintf("Of the rows with the most seeds, the longest, %d steps, from the highest: %s. That is %s.", steps, strings.Join(means, ", "), order)
	var others []string
	for _, p := range variants {
		for _, k := range paper {
			runs := best(slices.DeleteFunc(rows(k.preset, p.name), func(runs []result) bool { return runs[0].Steps != steps }))
			if len(runs) > 1 {
				others = append(others, fmt.Sprintf("with %s %s ends at %s (%d seeds)", p.name, k.name, spread(runs), len(runs)))
			}
		}
	}
	if len(others) > 0 {
		text += " Here elements are drawn as a comb, and angles fed as they are, as by the published program; " + strings.Join(others, ", ") + "."
	}
	return text
}

// variants are what elements are placed by, other than the comb that the presets for CIFAR-10 draw, and what kernel
// networks are fed of an angle, other than the angle itself, with the changes that bring them.
var variants = []struct{ name, change string }{
	{"strata", "group.jitter=stratified"},
	{"independent draws", "group.jitter=iid"},
	{"a grid", "group.sampling=deterministic"},
	{"sine and cosine", "group.name=SE(2) periodic"},
}

// variantOf returns the name of a run's variant, "" for that of the presets. A run of two variants is one of neither and
// has both names.
func variantOf(changes string) string {
	var names []string
	for _, p := range variants {
		if strings.Contains(changes, p.change) {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, " and ")
}

// spread returns mean and standard deviation of the accuracies.
func spread(runs []result) string {
	return fmt.Sprintf("%.4f ± %.4f", mean(accuracies(runs)), deviation(accuracies(runs)))
}

// best returns the row with the most seeds, and of those with as many the one with the most steps.
func best(rows [][]result) (most []result) {
	for _, runs := range rows {
		if len(runs) > len(most) || len(runs) == len(most) && runs[0].Steps > most[0].Steps {
			most = runs
		}
	}
	return most
}

// of returns the runs on a data set.
func of(list []result, dataset string) (on []result) {
	for _, r := range list {
		if r.Dataset == dataset {
			on = append(on, r)
		}
	}
	return on
}

func accuracies(runs []result) (list []float64) {
	for _, r := range runs {
		list = append(list, r.TestAccuracy)
	}
	return list
}

// row returns the line of runs of a preset with the same changes. Changed ones are not the
// row of the paper.
func row(preset config.Preset, runs []result) string {
	var seeds []string
	var resets, draws []float64
	for _, r := range runs {
		seeds = append(seeds, fmt.Sprint(r.Seed))
		if r.EvalDraws > 1 {
			draws = append(draws, r.TestAccuracyStd)
		}
		if r.WholeGroupAccuracy != nil {
			resets = append(resets, *r.WholeGroupAccuracy)
		}
	}
	first, all := runs[0], accuracies(runs)
	between, stated, name, changed := "-", "-", "`"+preset.Name+"`", "-"
	if len(runs) > 1 {
		between = fmt.Sprintf("%.4f", deviation(all))
	}
	if paper, ok := preset.Paper(); ok && first.changes == "" {
		stated = paper.String()
	}
	if first.changes != "" {
		changed = "`" + first.changes + "`"
	}
	if first.group != "" {
		name = fmt.Sprintf("**%s**, otherwise %s", first.group, name)
	}
	took, machines := times(runs)
	return fmt.Sprintf("| %s | %s | %s | %.4f | %s | %s | %s | %d epochs, %d steps of %d images | %s | %s | %s |\n",
		name, changed, strings.Join(seeds, ", "), mean(all), between, meanOfAll(draws, len(runs)), meanOfAll(resets, len(runs)),
		first.Epochs, first.Steps, first.batch(), took, machines, stated)
}

// meanOfAll writes the mean of values that n runs should have, or that some have none.
func meanOfAll(x []float64, n int) string {
	if len(x) < n {
		return "-"
	}
	return fmt.Sprintf("%.4f", mean(x))
}

// times writes what training took, a mean for each level and number of threads, and these.
func times(runs []result) (took, machines string) {
	var names, means []string
	seconds := map[string][]float64{}
	for _, r := range runs {
		on := fmt.Sprintf("%s, %d", r.Level, r.Threads)
		if seconds[on] == nil {
			names = append(names, on)
		}
		seconds[on] = append(seconds[on], r.SecondsPerStep*float64(r.Steps))
	}
	for _, on := range names {
		means = append(means, time.Duration(mean(seconds[on])*float64(time.Second)).Round(time.Second).String())
	}
	return strings.Join(means, "; "), strings.Join(names, "; ")
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
