package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/noether-go/noether/internal/config"
)

// tinySweep returns the arguments of a sweep of tiny runs, which are processes of
// their own: this test, behaving as the command.
func tinySweep(t *testing.T, out string, more ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if len(emulator(self)) > 0 {
		t.Skip("a sweep cannot start itself under this emulator")
	}
	t.Setenv(mainVariable, "1")
	return append(append([]string{"sweep", "-out", out}, tiny...), more...)
}

const (
	partialPreset = "strokes6-180-se2-8-partial"
	fullPreset    = "strokes6-180-se2-8-full"
)

func readTable(t *testing.T, dir string) (all table) {
	t.Helper()
	if err := json.Unmarshal(read(t, dir, tableFile), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	args := tinySweep(t, dir, "-seeds", "2", "-jobs", "2", "strokes6-180", "-epochs", "2", fullPreset)
	code, stdout, stderr := here(args...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	all := readTable(t, dir)
	if len(all.Rows) != 2 || !slices.Equal(all.Seeds, []uint64{1, 2}) {
		t.Fatalf("%+v", all)
	}
	for i, preset := range []string{partialPreset, fullPreset} {
		row := all.Rows[i]
		var accuracies []float64
		var want []seedResult
		draws, seconds := 0., 0.
		for seed := range 2 {
			var r result
			if err := json.Unmarshal(read(t, dir, preset+"-seed-"+strconv.Itoa(seed+1), resultFile), &r); err != nil {
				t.Fatal(err)
			}
			if r.Seed != uint64(seed+1) || r.Preset != preset || r.Threads != 1 || r.Epochs != 2 {
				t.Errorf("%s, seed %d: %+v", preset, seed+1, r)
			}
			accuracies = append(accuracies, r.TestAccuracy)
			want = append(want, seedResult{r.Seed, r.TestAccuracy})
			draws += r.TestAccuracyStd / 2
			seconds += r.SecondsPerStep * float64(r.Steps) / 2
		}
		mean, std := (accuracies[0]+accuracies[1])/2, math.Abs(accuracies[0]-accuracies[1])/math.Sqrt2
		near := func(a *float64, b float64) bool { return a != nil && math.Abs(*a-b) < 1e-9 }
		if row.Preset != preset || row.Dataset != "strokes6-180" || !row.Synthetic || row.Runs != 2 || !slices.Equal(row.Accuracies, want) ||
			!near(row.Accuracy, mean) || !near(row.AccuracyStd, std) || !near(row.DrawsStd, draws) || !near(row.Seconds, seconds) || row.Paper != nil {
			t.Errorf("%+v; of runs with %v, %v, %v", row, accuracies, draws, seconds)
		}
		for _, text := range []string{stdout, string(read(t, dir, tableTextFile))} {
			for _, want := range []string{preset, "strokes6-180 (synthetic)", round(mean), round(std)} {
				if !strings.Contains(text, want) {
					t.Errorf("the table lacks %q: %s", want, text)
				}
			}
		}
		if !strings.Contains(stdout, "sweep directory  "+dir) {
			t.Errorf("stdout: %s", stdout)
		}
	}

	// Its runs are those that the command makes by itself.
	single := filepath.Join(t.TempDir(), "single")
	if code, _, stderr := here(tinyRun(single, "-seed", "2", "-epochs", "2")...); code != exitOK {
		t.Fatal(stderr)
	}
	for _, name := range []string{configFile, lastFile, bestFile} {
		if !bytes.Equal(read(t, single, name), read(t, dir, partialPreset+"-seed-2", name)) {
			t.Errorf("%s is not that of a single run", name)
		}
	}

	// More seeds: what is complete stays.
	before := contents(t, filepath.Join(dir, partialPreset+"-seed-1"))
	code, stdout, stderr = here(tinySweep(t, dir, "-seeds", "1,3", "-epochs", "2", "strokes6-180")...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !maps.Equal(before, contents(t, filepath.Join(dir, partialPreset+"-seed-1"))) {
		t.Error("a complete run was changed")
	}
	if row := readTable(t, dir).Rows[0]; row.Runs != 2 || row.Accuracies[0] != all.Rows[0].Accuracies[0] || strings.Contains(stdout, fullPreset) {
		t.Errorf("%+v, %s", row, stdout)
	}

	// Other settings: nothing is touched.
	before = contents(t, dir)
	code, stdout, stderr = here(tinySweep(t, dir, "-seeds", "2", "-epochs", "3", "strokes6-180")...)
	refused(t, exitUsage, code, stdout, stderr, partialPreset+"-seed-1", "train.epochs is 2, here it is 3", "another -out")
	if !maps.Equal(before, contents(t, dir)) {
		t.Error("a refused sweep changed files")
	}
}

// An interrupt of the sweep alone lets its run save; the same command goes on with
// it, to the bits of the undisturbed run.
func TestSweepInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	const epochs = "20" // so that it lasts until the interrupt has come through
	args := tinySweep(t, dir, "-seeds", "1", "-set", "train.save_every=1", "-epochs", epochs, "strokes6-180")
	cmd, stderr, ended := start(t, args...)
	run := filepath.Join(dir, partialPreset+"-seed-1")
	if !untilSaved(t, run, 2, ended) { // the first is the one of the beginning
		t.Fatal(stderr)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(<-ended); code != exitInterrupted {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"interrupted and saved after step", "go on with the same command and -out " + dir} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, stderr)
		}
	}
	files := contents(t, dir)
	if _, ok := files["/"+tableFile]; ok || slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool {
		return strings.HasSuffix(name, resultFile) || strings.HasSuffix(name, lockFile)
	}) {
		t.Errorf("left behind: %v", slices.Collect(maps.Keys(files)))
	}
	if code, _, stderr := here(args...); code != exitOK {
		t.Fatal(stderr)
	}
	undisturbed := filepath.Join(t.TempDir(), "run")
	if code, _, stderr := here(tinyRun(undisturbed, "-epochs", epochs)...); code != exitOK {
		t.Fatal(stderr)
	}
	for _, name := range []string{lastFile, bestFile} {
		if !bytes.Equal(read(t, undisturbed, name), read(t, run, name)) {
			t.Errorf("%s differs from that of an undisturbed run", name)
		}
	}
}

// The runs of a sweep that was killed save and end.
func TestSweepKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	args := tinySweep(t, dir, "-seeds", "1", "-jobs", "2", "-set", "train.save_every=1", "-epochs", "10000", "strokes6-180")
	cmd, stderr, ended := start(t, args...)
	run := filepath.Join(dir, partialPreset+"-seed-1")
	if !untilSaved(t, run, 2, ended) {
		t.Fatal(stderr)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	said := func() string { return string(read(t, run+".log")) }
	for deadline := time.Now().Add(time.Minute); !strings.Contains(said(), "interrupted and saved after step"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the run goes on without its sweep: %s", said())
		}
	}
	held, err := openRunDir(run)
	if err != nil {
		t.Fatal(err)
	}
	held.close()
	if files := contents(t, run); files["/"+stateFile] == "" || files["/"+resultFile] != "" {
		t.Errorf("left behind: %v", slices.Collect(maps.Keys(files)))
	}
}

// writerFunc is a function as an io.Writer.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A run whose directory another process is about to leave is waited for, and gone on with as that left it.
func TestSweepWaitsForARun(t *testing.T) {
	for _, complete := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "sweep")
		args := tinySweep(t, dir, "-seeds", "1", partialPreset)
		there := mkdir(t, dir, partialPreset+"-seed-1")
		held, err := openRunDir(there)
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		waited := false
		code := run(args, &stdout, writerFunc(func(b []byte) (int, error) {
			if !waited && bytes.Contains(b, []byte("waiting for another process")) {
				waited = true
				if complete {
					if err := os.CopyFS(there, os.DirFS(finished(t))); err != nil {
						t.Error(err)
					}
				}
				held.close()
			}
			return stderr.Write(b)
		}))
		if code != exitOK || !waited {
			t.Errorf("exit code %d, waited: %v; %s", code, waited, &stderr)
		}
		if row := readTable(t, dir).Rows[0]; row.Runs != 1 {
			t.Errorf("%+v", row)
		}
		if complete && !bytes.Equal(read(t, there, resultFile), read(t, finished(t), resultFile)) {
			t.Error("a complete run was trained again")
		}
	}
}

// It is not waited for without end.
func TestSweepWaitsInVain(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 0
	dir := filepath.Join(t.TempDir(), "sweep")
	args := tinySweep(t, dir, "-seeds", "1", partialPreset)
	run := mkdir(t, dir, partialPreset+"-seed-1")
	held, err := openRunDir(run)
	if err != nil {
		t.Fatal(err)
	}
	defer held.close()
	code, _, stderr := here(args...)
	if want := partialPreset + "-seed-1 was not started: run directory: " + run + " is in use by another process; wait until that ends"; code != exitFailure || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A run that fails is named, the others are trained, and the table says which are
// missing.
func TestSweepWithAFailure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	args := tinySweep(t, dir, "-seeds", "2", "-jobs", "2", "strokes6-180", "-epochs", "1")
	run := mkdir(t, dir, partialPreset+"-seed-1")
	write(t, nil, run, bestFile)
	code, stdout, stderr := here(args...)
	if code != exitFailure || !strings.Contains(stderr, partialPreset+"-seed-1 ended with exit status 2; see "+run+".log") || !strings.Contains(stderr, "-out "+dir) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if log := string(read(t, run+".log")); !strings.Contains(log, "without its config.toml") {
		t.Errorf("its log: %s", log)
	}
	if row := readTable(t, dir).Rows[0]; row.Runs != 1 || len(row.Accuracies) != 1 || row.Accuracies[0].Seed != 2 || row.AccuracyStd != nil || !strings.Contains(stdout, "1 of 2") {
		t.Errorf("%+v\n%s", row, stdout)
	}
	if err := os.Remove(filepath.Join(run, bestFile)); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := here(args...); code != exitOK || strings.Contains(stdout, "1 of 2") {
		t.Errorf("again: exit code %d: %s", code, stderr)
	}
}

// A table that cannot be written is told apart from a run that fails, with what to do about each.
func TestTableThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	args := tinySweep(t, dir, "-seeds", "1", "-jobs", "2", "strokes6-180", "-epochs", "1")
	mkdir(t, dir, tableFile, "in the way")
	run := mkdir(t, dir, partialPreset+"-seed-1")
	write(t, nil, run, bestFile)
	code, stdout, stderr := here(args...)
	refused(t, exitFailure, code, stdout, stderr[strings.Index(stderr, "noether: "):],
		"; the same command with -out "+dir+" tries them again; sweep: write "+filepath.Join(dir, tableFile), "make room or check the directory, then print the table with -table")
}

// Of two sweeps in one directory the second waits for nothing and changes nothing.
func TestSweepInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	held, err := openRunDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	args := tinySweep(t, dir, "-seeds", "1", "strokes6-180", "-epochs", "1")
	code, _, stderr := here(args...)
	if code != exitFailure || !strings.Contains(stderr, dir+" is in use by another process; wait until that ends") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if files := contents(t, dir); len(files) != 1 {
		t.Errorf("left behind: %v", slices.Collect(maps.Keys(files)))
	}
	held.close()
	if code, _, stderr := here(args...); code != exitOK {
		t.Fatal(stderr)
	}
	if _, ok := contents(t, dir)["/"+lockFile]; ok {
		t.Error("the lock was left behind")
	}
}

func TestBadSweeps(t *testing.T) {
	t.Setenv("NOETHER_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	const seeds = "a number of seeds, 1 to 1000"
	for args, want := range map[string]string{
		"":                                      "PRESET is missing",
		"strokes6-18":                           `unknown preset "strokes6-18"`,
		"strokes6-180 -seeds 0":                 `-seeds is "0"|` + seeds,
		"strokes6-180 -seeds x":                 `-seeds is "x"|` + seeds,
		"strokes6-180 -seeds 1,1":               `-seeds is "1,1"|different`,
		"strokes6-180 -seeds 3,":                `-seeds is "3,"|` + seeds,
		"strokes6-180 -jobs 0":                  "-jobs is 0|1 to 1024",
		"strokes6-180 -epochs 0":                "-epochs is 0",
		"strokes6-180 -threads 0":               "-threads is 0",
		"strokes6-180 -seed 3":                  "unknown flag -seed|-seeds",
		"strokes6-180 -set train.lrr=1":         `unknown key "train.lrr"|strokes6-180`,
		"strokes6-180 -set seed=5":              "-set seed=5 has no effect|-seeds",
		"strokes6-180 -set kernel.side=4":       "kernel.side is 4",
		"strokes6-180 -set net.factors=[0]":     "net.factors is [0]",
		"strokes6-180 " + partialPreset:         partialPreset + " is given twice",
		"strokes6-180 -table":                   "-table needs the directory of a sweep|-out",
		"strokes6-180 -table -out none":         "there is no none|name the directory of a sweep",
		"strokes6-180 -table -out . -slurm job": "-table trains nothing|leave one out",
		// of one key, and of one that only the other preset heeds
		"strokes6-180 strokes6-180-se2-8-full -set train.momentum=0.9": "train.momentum is 0.9, which has no effect",
		"strokes6-180-se2-8-full -set train.lr_subset=0.1":             "strokes6-180-se2-8-full: train.lr_subset is 0.1, which has no effect",
		// of the training of one preset, which the other takes
		"strokes6-180 strokes6-180-se2-8-full -set train.monotonic=0.1": "strokes6-180-se2-8-full: train.monotonic is 0.1",
	} {
		code, stdout, stderr := here(append([]string{"sweep"}, strings.Fields(args)...)...)
		refused(t, exitUsage, code, stdout, stderr, strings.Split(want, "|")...)
	}
	code, stdout, stderr := here("sweep", "strokes6-180", "mnist6-180")
	refused(t, exitFailure, code, stdout, stderr, "mnist", "-download")
	file := filepath.Join(t.TempDir(), "file")
	write(t, nil, file)
	code, stdout, stderr = here("sweep", "-out", file, "strokes6-180")
	refused(t, exitFailure, code, stdout, stderr, "-out: ", file)
	code, stdout, stderr = here("sweep", "-table", "-out", file, "strokes6-180")
	refused(t, exitUsage, code, stdout, stderr, "-out: ", file+" is no directory")
	if left := contents(t, "."); len(left) > 0 {
		t.Errorf("left behind: %v", slices.Collect(maps.Keys(left)))
	}
	if _, err := os.Stat("runs"); err == nil {
		t.Error("a directory was made for nothing")
	}
}

// Values are set in the runs that heed them.
func TestSweepOfDifferentPresets(t *testing.T) {
	s := &sweep{set: []string{"train.lr_subset=0.1", " group.jitter = comb", "net.width=3", "train.lr_subset=0.2"}}
	s.given = func(string) bool { return false }
	runs, err := s.plan([]string{partialPreset, "strokes6-180-se2-8-full", "mnist6-m-mirror-2-partial"}, []uint64{4})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{s.set, {" group.jitter = comb", "net.width=3"}, {"net.width=3"}} {
		r := runs[i]
		if !slices.Equal(r.set, want) || r.cfg.Net.Width != 3 || r.cfg.Seed != 4 {
			t.Errorf("%s sets %q, want %q", r.cfg.Preset, r.set, want)
		}
		for _, v := range want {
			if !slices.Contains(s.newRun(r), v) {
				t.Errorf("%s is started without %s", r.cfg.Preset, v)
			}
		}
		if len(s.newRun(r)) != 6+2*len(want) {
			t.Errorf("%s is started by %q", r.cfg.Preset, s.newRun(r))
		}
		preset, err := config.Lookup(r.cfg.Preset)
		if err != nil {
			t.Fatal(err)
		}
		if rate := r.cfg.Train.LRSubset; i == 0 && rate != 0.2 || i > 0 && rate != preset.Train.LRSubset {
			t.Errorf("%s trains subsets at %v", r.cfg.Preset, rate)
		}
	}
}

// -table prints what is complete, names what is not, and trains nothing: it needs no data either.
func TestSweepTableAlone(t *testing.T) {
	t.Setenv("NOETHER_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), "sweep")
	if code, _, stderr := here(tinySweep(t, dir, "-seeds", "1", partialPreset)...); code != exitOK {
		t.Fatal(stderr)
	}
	all := func() (list []string) { return slices.Sorted(maps.Keys(contents(t, dir))) }
	before, rows := all(), read(t, dir, tableFile)
	for _, name := range []string{tableFile, tableTextFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := here(tinySweep(t, dir, "-table", "-seeds", "1", partialPreset)...)
	if code != exitOK || stderr != "" || !strings.Contains(stdout, "sweep directory  "+dir) || !bytes.Equal(rows, read(t, dir, tableFile)) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = here(tinySweep(t, dir, "-table", "-seeds", "2,1", partialPreset, fullPreset)...)
	const missing = "missing: " + partialPreset + "-seed-2, " + fullPreset + "-seed-2, " + fullPreset + "-seed-1; the same command trains them without -table"
	if code != exitFailure || !strings.Contains(stderr, missing) || strings.Count(stderr, "\n") != 1 || !strings.Contains(stdout, "1 of 2") || !strings.Contains(stdout, "0 of 2") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = here("sweep", "-table", "-out", dir, "-seeds", "1", "mnist6-m")
	if code != exitFailure || !strings.Contains(stderr, "missing: mnist6-m-mirror-2-partial-seed-1;") || !strings.Contains(stdout, "0 of 1") {
		t.Errorf("without data: exit code %d: %s%s", code, stdout, stderr)
	}
	if row := read(t, dir, tableFile); !bytes.Contains(row, []byte(`"runs": 0`)) || bytes.Contains(row, []byte(`"test_accuracy"`)) || bytes.Contains(row, []byte(`"seconds"`)) {
		t.Errorf("a row without runs has means: %s", row)
	}
	if after := all(); !slices.Equal(before, after) {
		t.Errorf("files are %q, were %q", after, before)
	}
}

// The rows of the paper stand beside the runs, and a preset without a complete run
// has a row as well.
func TestTableOfPaper(t *testing.T) {
	var runs []*plannedRun
	for _, preset := range []string{"cifar10-se2-16-partial", "rotmnist-se2-8-full", partialPreset} {
		c, err := config.Lookup(preset)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, &plannedRun{cfg: &c})
	}
	runs[0].result = &result{Dataset: "cifar10", TestAccuracy: .5, TestAccuracyStd: .01, SecondsPerStep: .5, Steps: 100}
	all := newTable(runs, []uint64{1})
	path := filepath.Join(t.TempDir(), tableTextFile)
	if err := all.writeMarkdown(path); err != nil {
		t.Fatal(err)
	}
	want := `| preset | data | runs | test accuracy | ± runs | ± draws | training time | paper | changed |
|---|---|---|---|---|---|---|---|---|
| cifar10-se2-16-partial | cifar10 | 1 | 0.5000 | - | 0.0100 | 50s | main table, CIFAR-10, partial SE(2), 16 elements: 0.8911; ablation, CIFAR-10, partial SE(2), 16 elements: 0.8745 | - |
| rotmnist-se2-8-full | - | 0 of 1 | - | - | - | - | main table, RotMNIST, SE(2), 8 elements: number not at hand | - |
| strokes6-180-se2-8-partial | - | 0 of 1 | - | - | - | - | - | - |
`
	if got := string(read(t, path)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(read(t, "..", "docs", "command-line.md"))
	var keys struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	for key := range keys.Rows[0] {
		if !strings.Contains(doc, "`"+key+"`") {
			t.Errorf("docs/command-line.md does not explain %s", key)
		}
	}
}

// Of several runs a row has means, and the deviation of a sample.
func TestTableOfSeveralRuns(t *testing.T) {
	c, err := config.Lookup(partialPreset)
	if err != nil {
		t.Fatal(err)
	}
	var runs []*plannedRun
	for i := range 3 {
		r := result{Dataset: "x", TestAccuracy: .5 + float64(i)/4, TestAccuracyStd: .01 * float64(i), SecondsPerStep: float64(i), Steps: 2}
		runs = append(runs, &plannedRun{cfg: &c, result: &r})
	}
	cells := newTable(runs, []uint64{1, 2, 3}).Rows[0].cells(3)
	if got := strings.Join(cells[1:7], " "); got != "x 3 0.7500 0.2500 0.0100 2s" {
		t.Error(got)
	}
}

// The paper's number stands beside nothing but the training that it is of.
func TestTableOfChangedRuns(t *testing.T) {
	const preset = "rotmnist-se2-8-full"
	for _, c := range []struct {
		set     []string
		epochs  int
		changed []string
	}{
		{},
		{set: []string{"train.eval_draws=1", "train.save_every=7"}},
		{set: []string{"net.width=2", "conv.bias=false"}, changed: []string{"conv.bias=false", "net.width=2"}},
		{epochs: 30, changed: []string{"train.epochs=30"}},
		{set: []string{"group.jitter=comb"}},   // what "auto" is without a learned subset
		{set: []string{"train.lr_subset=0.5"}}, // is left out
	} {
		s := &sweep{set: c.set, epochs: c.epochs, given: func(name string) bool { return name == "epochs" && c.epochs > 0 }}
		runs, err := s.plan([]string{preset, partialPreset}, []uint64{3})
		if err != nil {
			t.Fatal(err)
		}
		runs[0].result = &result{Seed: 3, TestAccuracy: .5}
		all := newTable(runs, []uint64{3})
		row := all.Rows[0]
		if !slices.Equal(row.Changed, c.changed) || (row.Paper == nil) != (len(c.changed) > 0) {
			t.Errorf("%q, %d epochs: changed %q, paper %v", c.set, c.epochs, row.Changed, row.Paper)
		}
		cells := row.cells(1)
		if named := cells[len(cells)-1]; named != cmp.Or(strings.Join(c.changed, ", "), "-") || (cells[len(cells)-2] == "-") != (named != "-") {
			t.Errorf("%q, %d epochs: %q", c.set, c.epochs, cells)
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		changed, _ := json.Marshal(append([]string{}, c.changed...))
		for _, want := range []string{`"changed":` + string(changed), `"test_accuracies":[{"seed":3,"accuracy":0.5}]`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %s", text, want)
			}
		}
		if strings.Contains(string(text), `"paper"`) != (len(c.changed) == 0) {
			t.Errorf("%q, %d epochs: %s", c.set, c.epochs, text)
		}
	}
}

// A shell carries out what the array job says: new runs with all flags, others
// resumed, complete ones not at all.
func TestSlurmScript(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell: ", err)
	}
	folder := filepath.Join(t.TempDir(), "it's here")
	program := filepath.Join(folder, "my train")
	write(t, []byte("#!"+sh+"\nfor a do echo \"[$a]\"; done\n"), mkdir(t, folder), "my train")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &sweep{
		means: means{device: "cpu", threads: 4, data: "d d"}, seeds: "2", jobs: 3, out: "out", set: []string{"net.pools=[0, 1]"},
		given: func(name string) bool { return name == "jobs" }, quiet: func() bool { return true },
	}
	runs, err := s.plan([]string{"strokes6-180", fullPreset}, []uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		r.dir = filepath.Join("out", r.name())
	}
	runs[0].result = &result{}
	script := s.slurmScript(program, folder, runs)
	for _, line := range []string{"#SBATCH --array=0-2%3\n", "#SBATCH --cpus-per-task=4\n"} {
		if !strings.Contains(script, line) {
			t.Errorf("the script lacks %q: %s", line, script)
		}
	}
	write(t, []byte(script), folder, "job")
	mkdir(t, folder, "out")
	log := func(task int) string {
		cmd := exec.Command(sh, filepath.Join(folder, "job"))
		cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID="+strconv.Itoa(task))
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("task %d: %v, %s", task, err, out)
		}
		name := filepath.Join(folder, runs[task+1].dir+".log")
		text, err := os.ReadFile(name)
		if err != nil {
			return "nothing"
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(strings.Trim(string(text), "[]\n"), "]\n[", "|")
	}
	const each = "|-device|cpu|-data|d d|-quiet|-threads|4"
	if got, want := log(1), "-preset|"+partialPreset+"|-seed|2|-out|out/"+partialPreset+"-seed-2|-set|net.pools=[0, 1]"+each; got != want {
		t.Errorf("a new run: %s, want %s", got, want)
	}
	dir := mkdir(t, folder, "out", fullPreset+"-seed-2")
	write(t, nil, dir, configFile)
	if got, want := log(2), "-resume|out/"+fullPreset+"-seed-2"+each; got != want {
		t.Errorf("a run to go on with: %s, want %s", got, want)
	}
	write(t, nil, dir, resultFile)
	if got := log(2); got != "nothing" {
		t.Errorf("a complete run: %s", got)
	}
	for _, task := range []string{"", "3", "*"} {
		cmd := exec.Command(sh, filepath.Join(folder, "job"))
		cmd.Env = append(cmd.Environ(), "SLURM_ARRAY_TASK_ID="+task)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		refused(t, exitUsage, exitCode(err), string(out), stderr.String(), "SLURM_ARRAY_TASK_ID is '"+task+"'", "0 to 2", "sbatch")
	}
	for _, r := range runs {
		r.result = &result{}
	}
	if script := s.slurmScript(program, folder, runs); script != "" {
		t.Errorf("with nothing to do: %s", script)
	}
}

// A program that stays writes the job where its machine has no data, and none where a sweep would
// be refused.
func TestSlurm(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if len(emulator(self)) > 0 {
		t.Skip("a copy of this program cannot be started under this emulator")
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "train")
	write(t, read(t, self), program)
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (code int, stdout, stderr string) {
		cmd, log := there(t, append([]string{"sweep", "-quiet", "-seeds", "1", "-data", folder}, args...)...)
		cmd.Path, cmd.Dir = program, folder
		out, err := cmd.Output()
		return exitCode(err), string(out), log.String()
	}
	code, stdout, stderr := call("-slurm", "job", "-out", "new", "mnist6-180")
	const said = "array job  job\nsubmit it with  sbatch job\nwhen it is done, print the table with  "
	table := said + shellQuote(program) + " sweep -table -out new -seeds 1 mnist6-180-se2-8-partial\n"
	if code != exitOK || stderr != "" || stdout != table {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	if script := string(read(t, folder, "job")); !strings.Contains(script, "exec "+shellQuote(program)+" ") || !strings.Contains(script, "cd "+shellQuote(folder)) ||
		!strings.Contains(script, "allowed: 0 to 0; ") || !strings.Contains(script, "\texit 2 ;;\n") {
		t.Error(script)
	}
	if list, err := os.ReadDir(filepath.Join(folder, "new")); err != nil || len(list) > 0 {
		t.Errorf("the directory of the runs holds %v, %v", list, err)
	}
	if err := os.CopyFS(filepath.Join(folder, "old", partialPreset+"-seed-1"), os.DirFS(finished(t))); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = call("-slurm", "other", "-out", "old", partialPreset)
	refused(t, exitUsage, code, stdout, stderr, filepath.Join("old", partialPreset+"-seed-1")+" holds a run whose", "another -out")
	if _, err := os.Stat(filepath.Join(folder, "other")); err == nil {
		t.Error("the job was written")
	}
}

// A shell carries out the advice that stands beside the script: the table of its sweep.
func TestSlurmAdvice(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell: ", err)
	}
	dir := filepath.Join(t.TempDir(), "it's here")
	if code, _, stderr := here(tinySweep(t, dir, "-seeds", "1", partialPreset)...); code != exitOK {
		t.Fatal(stderr)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &sweep{
		slurm: filepath.Join(dir, "job"), out: dir, seeds: "1,5", epochs: 3,
		given: func(name string) bool { return name == "epochs" }, quiet: func() bool { return false },
	}
	for i, word := range tiny {
		if word == "-set" {
			s.set = append(s.set, tiny[i+1])
		}
	}
	runs, err := s.plan([]string{"strokes6-180"}, []uint64{1, 5})
	if err != nil {
		t.Fatal(err)
	}
	var advice strings.Builder
	if err := s.writeSlurm(&console{stdout: &advice}, self, runs); err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(advice.String(), "print the table with  ")
	cmd := exec.Command(sh, "-c", command)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if exitCode(err) != exitFailure || !strings.Contains(string(stdout), "1 of 2") || !strings.Contains(stderr.String(), "missing: "+partialPreset+"-seed-5;") {
		t.Errorf("%s: %v\n%s%s", command, err, stdout, &stderr)
	}
	for _, r := range runs {
		r.result = &result{}
	}
	if err := s.writeSlurm(&console{}, self, runs); err == nil || !strings.HasSuffix(err.Error(), strings.TrimSpace(command)) {
		t.Errorf("all complete: %v", err)
	}
}

// A script of sweep is written anew; whatever else has that name stays.
func TestSlurmFile(t *testing.T) {
	dir := t.TempDir()
	s := &sweep{slurm: filepath.Join(dir, "job"), given: func(string) bool { return false }, quiet: func() bool { return false }}
	runs, err := s.plan([]string{partialPreset}, []uint64{1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.checkSlurm(); err != nil {
			t.Fatal(err)
		}
		if err := s.writeSlurm(&console{stdout: io.Discard}, "train", runs); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"thesis": "mine", "empty": "", "late": strings.Repeat("mine\n", 1000) + slurmMark + "\n"} {
		file := filepath.Join(dir, name)
		write(t, []byte(content), file)
		code, stdout, stderr := here("sweep", "-slurm", file, partialPreset)
		refused(t, exitUsage, code, stdout, stderr, "-slurm: "+file+" exists", "give another file")
		if string(read(t, file)) != content {
			t.Errorf("%s was replaced", name)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("job", link); err != nil {
		t.Skip("needs a symbolic link: ", err)
	}
	for _, s.slurm = range []string{dir, link} {
		if err := s.checkSlurm(); err == nil {
			t.Errorf("%s would be replaced", s.slurm)
		}
	}
}

// Without a script the directories that were made for its runs go as well, and no others.
func TestSlurmFileThatCannotBeWritten(t *testing.T) {
	for out, left := range map[string][]string{"new/sweep": {"there"}, "": {"there"}, "there": {"there"}, "there/new": {"there"}} {
		t.Chdir(t.TempDir())
		mkdir(t, "there")
		s := &sweep{slurm: filepath.Join("nowhere", "job"), out: out, given: func(string) bool { return false }, quiet: func() bool { return false }}
		runs, err := s.plan([]string{partialPreset}, []uint64{1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.makeOut(runs); err != nil {
			t.Fatal(err)
		}
		if err := s.writeSlurm(&console{stdout: io.Discard}, "train", runs); err == nil || !strings.Contains(err.Error(), "give another file") {
			t.Errorf("-out %q: %v", out, err)
		}
		entries, err := filepath.Glob("*")
		nested, _ := filepath.Glob("*/*")
		if err != nil || !slices.Equal(append(entries, nested...), left) {
			t.Errorf("-out %q leaves %q, %q", out, entries, nested)
		}
	}
}

// A result that is not that of its run is not counted.
func TestDamagedResult(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	run := filepath.Join(dir, partialPreset+"-seed-1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(run, os.DirFS(finished(t))); err != nil {
		t.Fatal(err)
	}
	whole := string(read(t, run, resultFile))
	args := tinySweep(t, dir, "-seeds", "1", partialPreset)
	if code, _, stderr := here(args...); code != exitOK {
		t.Fatal(stderr)
	}
	for what, change := range map[string][2]string{
		"preset is":        {`"` + partialPreset + `"`, `"mnist6-180"`},
		"seed is 2":        {`"seed": 1`, `"seed": 2`},
		"epochs is 2":      {`"epochs": 3`, `"epochs": 2`},
		"steps is 0":       {`"steps": 12`, `"steps": 0`},
		"test_accuracy is": {`"test_accuracy": `, `"test_accuracy": 7`},
		`preset is ""`:     {whole, "{}"},
		"end of JSON":      {whole, whole[:50]},
	} {
		text := strings.Replace(whole, change[0], change[1], 1)
		if text == whole {
			t.Fatal("nothing was changed for ", what)
		}
		write(t, []byte(text), run, resultFile)
		before := contents(t, dir)
		code, stdout, stderr := here(args...)
		refused(t, exitFailure, code, stdout, stderr, filepath.Join(run, resultFile)+" is damaged", what, "remove it")
		if !maps.Equal(before, contents(t, dir)) {
			t.Errorf("%s: files were changed", what)
		}
	}
	if err := os.Remove(filepath.Join(run, resultFile)); err != nil { // as advised
		t.Fatal(err)
	}
	if code, stdout, stderr := here(args...); code != exitOK || !strings.Contains(stdout, partialPreset) {
		t.Error(code, stderr)
	}
}

func mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTemporaryProgram(t *testing.T) {
	for program, want := range map[string]bool{
		"/tmp/go-build2345/b001/exe/train": true, "/home/me/.cache/go-build/ab/train": true, "/home/me/bin/train": false, "train": false,
	} {
		if temporary(filepath.FromSlash(program)) != want {
			t.Errorf("%s is temporary: %v", program, !want)
		}
	}
}
