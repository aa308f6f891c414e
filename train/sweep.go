package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/noether-go/noether/internal/config"
)

var sweepCommand = subcommand{
	name:     "sweep",
	operands: "PRESET...",
	summary:  "Trains presets with several seeds each and compares them in a table",
	about: `Each run is a process of its own, with a directory below -out. Given the same
command again, finished runs are kept and interrupted ones are gone on with.`,
	declare: declareSweep,
}

// sweep is one call of the command.
type sweep struct {
	means
	seeds  string
	jobs   int
	out    string
	slurm  string
	table  bool
	set    []string
	epochs int
	given  func(name string) bool
	quiet  func() bool

	made madeDirs // by makeOut
}

func declareSweep(f *flag.FlagSet) func(ctx context.Context, c *console, operands []string) error {
	s := &sweep{
		given: func(name string) bool { return given(f, name) },
		quiet: func() bool { return f.Lookup("quiet").Value.String() == "true" },
	}
	s.means.declare(f)
	f.StringVar(&s.seeds, "seeds", "3", "how `many`, counting from 1, or which: 1,2,3")
	f.IntVar(&s.jobs, "jobs", 1, "`runs` at a time; they share -threads")
	f.StringVar(&s.out, "out", "", "`directory` for the runs and the table (default runs/sweep-TIME)")
	f.StringVar(&s.slurm, "slurm", "", "write an array job for Slurm to a `file` instead of running")
	f.BoolVar(&s.table, "table", false, "train nothing: print the table of the runs in -out that are complete, and name the others")
	f.Func("set", "`key=value` that replaces a value of every configuration; repeatable", func(v string) error {
		s.set = append(s.set, v)
		return nil
	})
	f.IntVar(&s.epochs, "epochs", 0, "epochs (default each preset's)")
	return s.run
}

func (s *sweep) run(ctx context.Context, c *console, presets []string) error {
	if err := s.check(); err != nil {
		return err
	}
	seeds, err := parseSeeds(s.seeds)
	if err != nil {
		return err
	}
	runs, err := s.plan(presets, seeds)
	if err != nil {
		return err
	}
	if s.table {
		return s.reportAlone(c, runs, seeds)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("sweep: this program's own file is not known: %w", err)
	}
	if s.slurm != "" && temporary(program) {
		return usageError{errors.New("-slurm needs a program that stays: go build -o bin/train ./train, then bin/train sweep")}
	}
	if err := s.look(runs); err != nil {
		return err
	}
	if s.slurm == "" || s.download { // the job's machines may have data that this one has not
		if err := s.fetch(ctx, c, runs); err != nil {
			return err
		}
	}
	if err := s.makeOut(runs); err != nil {
		return err
	}
	if s.slurm != "" {
		return s.writeSlurm(c, program, runs)
	}
	out, err := s.lockOut(runs)
	if err != nil {
		return err
	}
	defer out.close()
	failed := s.trainAll(ctx, c, program, runs)
	if ctx.Err() != nil {
		return interruptedError{ctx.Err(), "interrupted; go on with the same command and -out " + s.out}
	}
	return both(failed, s.report(c, runs, seeds))
}

// both returns the one error that there is, or both as one line.
func both(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return fmt.Errorf("%w; %w", first, second)
}

func (s *sweep) check() error {
	if s.jobs < 1 || s.jobs > 1024 {
		return usageError{fmt.Errorf("-jobs is %d; allowed: 1 to 1024", s.jobs)}
	}
	if s.given("epochs") && s.epochs < 1 {
		return usageError{fmt.Errorf("-epochs is %d; allowed: 1 or more", s.epochs)}
	}
	for _, v := range s.set {
		if key, _, _ := strings.Cut(v, "="); strings.TrimSpace(key) == "seed" {
			return usageError{fmt.Errorf("-set %s has no effect: each run has a seed of its own; choose them with -seeds, such as -seeds 1,2,3", v)}
		}
	}
	if s.table {
		if err := s.checkTable(); err != nil {
			return err
		}
	}
	if s.slurm != "" {
		if err := s.checkSlurm(); err != nil {
			return err
		}
	}
	return s.means.check()
}

// checkTable refuses -table where there is no sweep to be looked at.
func (s *sweep) checkTable() error {
	switch info, err := os.Stat(s.out); {
	case s.slurm != "":
		return usageError{errors.New("-table trains nothing, and -slurm writes a job that does; leave one out")}
	case s.out == "":
		return usageError{errors.New("-table needs the directory of a sweep; name it with -out")}
	case errors.Is(err, fs.ErrNotExist):
		return usageError{fmt.Errorf("-out: there is no %s, and -table makes none; name the directory of a sweep", s.out)}
	case err != nil:
		return fmt.Errorf("-out: %w", err)
	case !info.IsDir():
		return usageError{fmt.Errorf("-out: %s is no directory; name that of a sweep", s.out)}
	}
	return nil
}

// parseSeeds reads a number of seeds, or the seeds themselves with commas between
// them.
func parseSeeds(text string) ([]uint64, error) {
	bad := func() ([]uint64, error) {
		return nil, usageError{fmt.Errorf("-seeds is %q; give a number of seeds, 1 to 1000, or different seeds with commas between them, such as 1,2,3", text)}
	}
	var seeds []uint64
	if !strings.Contains(text, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return bad()
		}
		for i := range n {
			seeds = append(seeds, uint64(i+1))
		}
		return seeds, nil
	}
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(field), 10, 63)
		if err != nil || slices.Contains(seeds, n) {
			return bad()
		}
		seeds = append(seeds, n)
	}
	return seeds, nil
}

// plannedRun is one run of a sweep.
type plannedRun struct {
	cfg  *config.Config
	set  []string      // of the sweep's assignments those that make a difference
	idle []config.Idle // the others
	dir  string
	// started says that dir holds the run; result is nil until it is complete.
	started bool
	result  *result
}

// name is that of the run's directory.
func (r *plannedRun) name() string { return fmt.Sprintf("%s-seed-%d", r.cfg.Preset, r.cfg.Seed) }

// plan returns the runs, seed by seed, so that presets can be compared early.
// Mistakes in a preset or in what replaces its values show here. What replaces a value
// is left out of the runs in which it makes no difference, and a mistake where it makes
// none in any.
func (s *sweep) plan(presets []string, seeds []uint64) ([]*plannedRun, error) {
	var runs []*plannedRun
	for i, seed := range seeds {
		for _, preset := range presets {
			r, err := s.planRun(preset, seed)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", preset, err)
			}
			cfg := r.cfg
			if slices.ContainsFunc(runs, func(other *plannedRun) bool { return other.name() == r.name() }) {
				return nil, usageError{fmt.Errorf("sweep: %s is given twice", cfg.Preset)}
			}
			if i == 0 {
				if _, err := newNetwork(cfg); err != nil {
					return nil, fmt.Errorf("%s: %w", preset, err)
				}
			}
			runs = append(runs, r)
		}
	}
	for _, idle := range runs[0].idle {
		if !slices.ContainsFunc(runs, func(r *plannedRun) bool { return !r.isIdle(idle.Key) }) {
			return nil, fmt.Errorf("%s: %w", runs[0].cfg.Preset, idle.Err)
		}
	}
	return runs, nil
}

// planRun returns one run, with what makes a difference in it.
func (s *sweep) planRun(preset string, seed uint64) (*plannedRun, error) {
	r := &plannedRun{set: s.set}
	o := options{preset: preset, seed: seed, epochs: s.epochs, given: map[string]bool{"seed": true, "epochs": s.given("epochs")}}
	for {
		var err error
		o.set = r.set
		if r.cfg, err = o.read(); err != nil {
			return nil, err
		}
		idle := r.cfg.Idle()
		if len(idle) == 0 {
			return r, nil
		}
		r.idle = append(r.idle, idle...)
		r.set = slices.DeleteFunc(slices.Clone(r.set), func(assignment string) bool {
			key, _, _ := strings.Cut(assignment, "=")
			return r.isIdle(strings.TrimSpace(key))
		})
	}
}

// isIdle reports whether a key makes no difference in the run.
func (r *plannedRun) isIdle(key string) bool {
	return slices.ContainsFunc(r.idle, func(i config.Idle) bool { return i.Key == key })
}

// look finds out what is there of the runs.
func (s *sweep) look(runs []*plannedRun) error {
	for _, r := range runs {
		if s.out != "" {
			r.dir = filepath.Join(s.out, r.name())
			if err := r.look(); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeOut makes the directory of the sweep.
func (s *sweep) makeOut(runs []*plannedRun) (err error) {
	if s.out, s.made, err = makeDir(s.out, "sweep"); err != nil {
		return fmt.Errorf("-out: %w; give another directory", err)
	}
	for _, r := range runs {
		r.dir = filepath.Join(s.out, r.name())
	}
	return nil
}

// lockOut takes the lock of the sweep's directory, so that no other sweep runs or writes its
// table there, and looks anew at what is there of the runs: another sweep may just have ended.
func (s *sweep) lockOut(runs []*plannedRun) (*runDir, error) {
	out, err := openRunDir(s.out)
	switch {
	case errors.Is(err, errInUse):
		return nil, fmt.Errorf("-out: %w; wait until that ends, or give another directory", err)
	case err != nil:
		s.made.remove()
		return nil, fmt.Errorf("-out: %w; see that files can be written there, or give another directory", err)
	}
	if err := s.look(runs); err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

// look finds out what is there of the run in its directory. Another run in its place is an error.
func (r *plannedRun) look() error {
	d := &runDir{path: r.dir}
	if r.started = d.has(configFile); !r.started {
		return nil
	}
	there, err := d.readConfig()
	if err != nil {
		return err
	}
	for _, key := range config.Keys() {
		if a, b := there.Value(key), r.cfg.Value(key); a != b {
			return usageError{fmt.Errorf("%s holds a run whose %s is %s, here it is %s; give the flags of that sweep, or another -out", r.dir, key, a, b)}
		}
	}
	if !d.has(resultFile) {
		return nil
	}
	return r.read()
}

// read reads the result of the completed run.
func (r *plannedRun) read() error {
	path := filepath.Join(r.dir, resultFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	got := new(result)
	if err := json.Unmarshal(text, got); err != nil {
		return damaged(path, err)
	}
	if err := r.check(got); err != nil {
		return damaged(path, err)
	}
	r.result = got
	return nil
}

// damaged reports a result that cannot be that of its run.
func damaged(path string, err error) error {
	return fmt.Errorf("%s is damaged (%w); remove it, and the run will be tested again", path, err)
}

// check reports a result that is not the one of this run, completed.
func (r *plannedRun) check(got *result) error {
	want := r.cfg
	switch {
	case got.Preset != want.Preset:
		return fmt.Errorf("preset is %q, of this run %q", got.Preset, want.Preset)
	case got.Seed != want.Seed:
		return fmt.Errorf("seed is %d, of this run %d", got.Seed, want.Seed)
	case got.Epochs != want.Train.Epochs:
		return fmt.Errorf("epochs is %d, of this run %d", got.Epochs, want.Train.Epochs)
	case got.Steps < got.Epochs || want.Train.StepsPerEpoch > 0 && got.Steps != got.Epochs*want.Train.StepsPerEpoch:
		return fmt.Errorf("steps is %d, of %s", got.Steps, count(got.Epochs, "epoch"))
	case !(got.TestAccuracy >= 0 && got.TestAccuracy <= 1):
		return fmt.Errorf("test_accuracy is %v, no fraction", got.TestAccuracy)
	}
	return nil
}

// fetch makes sure, once for all runs, that there are data for those to come.
func (s *sweep) fetch(ctx context.Context, c *console, runs []*plannedRun) error {
	var done []string
	for _, r := range runs {
		if set := r.cfg.Data.Set; r.result == nil && !slices.Contains(done, set) {
			if _, err := locateSet(ctx, set, &s.means, c.log); err != nil {
				return err
			}
			done = append(done, set)
		}
	}
	return nil
}

// reportAlone is report without training. Runs that are not complete are an error.
func (s *sweep) reportAlone(c *console, runs []*plannedRun, seeds []uint64) error {
	out, err := s.lockOut(runs)
	if err != nil {
		return err
	}
	defer out.close()
	if err := s.report(c, runs, seeds); err != nil {
		return err
	}
	var missing []string
	for _, r := range runs {
		if r.result == nil {
			missing = append(missing, r.name())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("sweep: not all runs are complete; missing: %s; the same command trains them without -table, or writes a job with -slurm FILE in its place", strings.Join(missing, ", "))
	}
	return nil
}

// report writes the table to the sweep's directory and prints it.
func (s *sweep) report(c *console, runs []*plannedRun, seeds []uint64) error {
	t := newTable(runs, seeds)
	d := &runDir{path: s.out}
	err := inTurn(
		func() error { return d.writeJSON(tableFile, t) },
		func() error { return t.writeMarkdown(d.file(tableTextFile)) },
	)
	if err != nil {
		return fmt.Errorf("sweep: %w; make room or check the directory, then print the table with -table", err)
	}
	err = t.print(c.stdout)
	if err == nil {
		_, err = io.WriteString(c.stdout, "sweep directory  "+s.out+"\n")
	}
	if err != nil {
		return fmt.Errorf("the table could not be printed: %w; it stands in %s", err, d.file(tableTextFile))
	}
	return nil
}
