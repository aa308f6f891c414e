// Command compare measures Noether and other software in turn, in one run, and
// writes what it measured to raw files, from which package report makes
// BENCHMARKS.md.
//
//	go run ./bench/compare -suites gemm,conv,step
//
// A rival is a program of bench/peers that keeps running and is asked for one
// measurement at a time; it is stopped (SIGSTOP) while another is measured, so
// that threads which wait actively take no time from it. Noether is measured by
// the benchmarks of package bench, one process for each measurement. What is
// missing is said so, and skipped.
//
// A raw file is in the format of Go's benchmarks, which benchstat reads too: a
// line "peer: NAME" says whose the measurements after it are.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	runtime.LockOSThread() // peers end with it
	var o options
	suites := flag.String("suites", "all", "what to measure, separated by commas: "+strings.Join(suiteNames(), ", "))
	flag.IntVar(&o.rounds, "rounds", 0, "measurements of each side of each case (0: the suite's own number)")
	flag.StringVar(&o.python, "python", "python3", "the Python that has PyTorch and NumPy, and beside it the libraries of pip")
	flag.StringVar(&o.out, "out", filepath.Join("bench", "results", "speed"), "where the raw files go, one for each suite")
	only := flag.String("only", "", "only the cases whose name contains this; they get a raw file of their own")
	flag.Parse()
	err := o.run(*suites, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds      int
	python, out string

	bench   string // the compiled benchmarks
	dir     string // of what is compiled for this run
	missing []string
}

func (o *options) run(suites, only string) (err error) {
	chosen, err := choose(suites)
	if err != nil {
		return err
	}
	if o.dir, err = os.MkdirTemp("", "noether-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir)
	o.bench = filepath.Join(o.dir, "bench.test")
	if err := command("go", "test", "-c", "-o", o.bench, "./bench"); err != nil {
		return fmt.Errorf("compiling the benchmarks (run this at the root of the repository): %w", err)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	for _, s := range chosen {
		start := time.Now()
		if err := o.suite(s, only); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: done in %.0f s\n", s.name, time.Since(start).Seconds())
	}
	if len(o.missing) > 0 {
		fmt.Fprintf(os.Stderr, "\nNOT MEASURED:\n  %s\n", strings.Join(o.missing, "\n  "))
	}
	return nil
}

// command runs a program with its output going to stderr.
func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

func choose(names string) ([]suite, error) {
	all := allSuites()
	if names == "all" || names == "" {
		return all, nil
	}
	var chosen []suite
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(all, func(s suite) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no suite is called %q; there are all, %s", name, strings.Join(suiteNames(), ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// skip says loudly that something is not measured, once.
func (o *options) skip(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(o.missing, text) {
		o.missing = append(o.missing, text)
		fmt.Fprintln(os.Stderr, "*** SKIPPED:", text)
	}
}

// suite measures the cases of a suite and writes its raw file. With only, the
// file is named SUITE@ONLY.txt and has nothing but those cases; a run of the
// whole suite replaces all its files.
func (o *options) suite(s suite, only string) error {
	tests := s.cases()
	if only != "" {
		tests = slices.DeleteFunc(tests, func(c test) bool { return !strings.Contains(c.name, only) })
		if len(tests) == 0 {
			fmt.Fprintf(os.Stderr, "%s: no case's name contains %q\n", s.name, only)
			return nil
		}
	}
	w := &raw{}
	if err := w.header(s); err != nil {
		return err
	}
	pool := &pool{options: o, raw: w, running: map[string]*peer{}}
	defer pool.close()
	for _, c := range tests {
		if err := o.test(s, c, w, pool); err != nil {
			return err
		}
		if s.fresh {
			pool.close()
		}
	}
	if only != "" {
		return w.save(filepath.Join(o.out, s.name+"@"+strings.ReplaceAll(only, "/", "-")+".txt"))
	}
	if err := o.discard(s); err != nil {
		return err
	}
	return w.save(filepath.Join(o.out, s.name+".txt"))
}

// discard removes the raw files that a run of the whole suite replaces, besides the
// one of its own name.
func (o *options) discard(s suite) error {
	old, err := filepath.Glob(filepath.Join(o.out, s.name+"@*.txt"))
	if err != nil {
		return err
	}
	for _, name := range s.replaces {
		old = append(old, filepath.Join(o.out, name+".txt"))
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// test measures one case, the sides in turn.
func (o *options) test(s suite, c test, w *raw, pool *pool) error {
	rounds := s.rounds
	if c.rounds != 0 {
		rounds = c.rounds
	}
	if o.rounds != 0 {
		rounds = o.rounds
	}
	for round := range rounds {
		for _, name := range c.peers {
			p := pool.get(name, c.threads)
			if p == nil || round > 0 && p.peak || c.rivals > 0 && round >= c.rivals {
				continue
			}
			answer, err := p.ask(c.request, s.seconds)
			if err != nil {
				o.skip("%s on %s: %v", name, c.name, err)
				pool.drop(name, c.threads)
				continue
			}
			w.line(name, c.name, answer)
		}
		for _, bench := range append([]string{c.bench}, c.also...) {
			if bench == "" {
				continue
			}
			line, err := o.noether(bench, s.env, s.seconds)
			if err != nil {
				o.skip("Noether on %s: %v", bench, err)
				continue
			}
			w.noether(line)
		}
	}
	return nil
}

// noether runs one benchmark in a process of its own and returns the line that
// it printed. Benchmarks whose names go on after this one's are left out: -bench
// would run them as well.
func (o *options) noether(bench string, env []string, seconds float64) (string, error) {
	name := "Benchmark" + bench
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + strings.NewReplacer("+", `\+`, ".", `\.`).Replace(p) + "$"
	}
	pattern := strings.Join(parts, "/")
	cmd := exec.Command(o.bench, "-test.run", "^$", "-test.bench", pattern, "-test.skip", pattern+"/.",
		"-test.benchtime", fmt.Sprintf("%gs", seconds))
	cmd.Dir = "bench"
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	for _, line := range strings.Split(string(out), "\n") {
		rest, ok := strings.CutPrefix(line, name)
		if ok && strings.Contains(rest, " ns/op") && strings.Contains("-\t ", rest[:1]) {
			return line, nil
		}
	}
	if err == nil {
		err = errors.New("the benchmark did not run")
	}
	return "", fmt.Errorf("%w: %s", err, reason(string(out)))
}

// reason returns what a failed benchmark said.
func reason(out string) string {
	for _, line := range strings.Split(out, "\n") {
		if _, text, ok := strings.Cut(line, "_test.go:"); ok {
			return text
		}
	}
	if len(out) > 300 {
		out = out[:300]
	}
	return strings.Join(strings.Fields(out), " ")
}

// raw is a raw file under way. Measurements are shown as they come.
type raw struct {
	text strings.Builder
	peer string
}

func (w *raw) header(s suite) error {
	commit, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	fmt.Fprintf(&w.text, "suite: %s\ndate: %s\ncommit: %s\ngoos: %s\ngoarch: %s\ngo: %s\ncpu: %s\ncores: %d\nkernel: %s\n",
		s.name, time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(commit)),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), processor(), runtime.NumCPU(), kernel())
	if level := os.Getenv("NOETHER_SIMD"); level != "" && s.env == nil {
		fmt.Fprintf(&w.text, "noether-simd: %s\n", level)
	}
	return nil
}

// processor returns the model of the CPU as the system tells it.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	values := map[string]string{}
	for _, line := range strings.Split(string(info), "\n") {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); values[key] == "" {
			values[key] = strings.TrimSpace(value)
		}
	}
	if values["model name"] == "" {
		return "unknown"
	}
	return fmt.Sprintf("%s, family %s model %s", values["model name"], values["cpu family"], values["model"])
}

// kernel returns the version of the operating system.
func kernel() string {
	v, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(v))
}

// version notes what a rival said about itself.
func (w *raw) version(peer, text string) {
	line := fmt.Sprintf("version-%s: %s\n", peer, text)
	if !strings.Contains(w.text.String(), line) {
		w.write(line)
	}
}

func (w *raw) from(peer string) {
	if w.peer != peer {
		w.peer = peer
		w.write("peer: " + peer + "\n")
	}
}

// line writes a rival's measurement under the name of Noether's benchmark.
func (w *raw) line(peer, name, answer string) {
	w.from(peer)
	w.write(fmt.Sprintf("Benchmark%s\t%s\n", name, strings.Join(metrics(answer), "\t")))
}

func (w *raw) noether(line string) {
	w.from("noether")
	words := strings.Fields(line)
	w.write(words[0] + "\t" + strings.Join(metrics(strings.Join(words[1:], " ")), "\t") + "\n")
}

// metrics puts the words of a measurement, N and then values with their units,
// into columns.
func metrics(answer string) []string {
	words := strings.Fields(answer)
	columns := words[:1]
	for i := 1; i+1 < len(words); i += 2 {
		columns = append(columns, words[i]+" "+words[i+1])
	}
	return columns
}

func (w *raw) write(text string) {
	w.text.WriteString(text)
	io.WriteString(os.Stdout, text)
}

func (w *raw) save(path string) error {
	return os.WriteFile(path, []byte(w.text.String()), 0o644)
}
