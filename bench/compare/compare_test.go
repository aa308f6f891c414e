package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	all, err := choose("all")
	if err != nil || len(all) != len(suiteNames()) {
		t.Fatalf("all: %d suites, %v", len(all), err)
	}
	some, err := choose("step,gemm")
	if err != nil || len(some) != 2 || some[0].name != "step" || some[1].name != "gemm" {
		t.Errorf("step,gemm: %v, %v", some, err)
	}
	if _, err := choose("gemm,nothing"); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("a suite that does not exist: error %v", err)
	}
}

// TestSuites checks every case of every suite: it has a name, someone to
// measure, and only rivals that there are, with as many threads as Noether.
func TestSuites(t *testing.T) {
	l := &pool{options: &options{python: "python3", dir: t.TempDir()}, sgemm: "sgemm", gonum: "gonum"}
	for _, s := range allSuites() {
		tests := s.cases()
		if len(tests) == 0 || s.rounds < 1 || s.seconds <= 0 {
			t.Errorf("%s: %d cases, %d rounds of %v s", s.name, len(tests), s.rounds, s.seconds)
		}
		names := map[string]bool{}
		for _, c := range tests {
			if c.name == "" || names[c.name] || c.bench == "" && len(c.also) == 0 {
				t.Errorf("%s: case %q is not one to measure", s.name, c.name)
			}
			names[c.name] = true
			if len(c.peers) > 0 && c.request == "" || c.threads < 1 {
				t.Errorf("%s: %s asks nothing of its rivals, or has no threads", s.name, c.name)
			}
			threads := 1 // where the name tells none
			if _, rest, ok := strings.Cut(c.bench, "/threads="); ok {
				threads, _ = strconv.Atoi(rest[:1])
			}
			if len(c.peers) > 0 && (c.name != c.bench || c.threads != threads) {
				t.Errorf("%s: on %s rivals have %d threads and go by %s", s.name, c.bench, c.threads, c.name)
			}
			for _, name := range c.peers {
				if _, known := libraries[name]; known {
					continue
				}
				if args, _, err := l.how(name, c.threads); err != nil || len(args) == 0 {
					t.Errorf("%s: %s: %v", s.name, c.name, err)
				}
			}
		}
	}
	for operations, want := range map[float64]int{1e11: 0, 1e12: 2, 5e12: 1} {
		if got := patience(operations); got != want {
			t.Errorf("a rival is measured %d times on %g operations, want %d", got, operations, want)
		}
	}
	if _, _, err := l.how("nobody", 1); err == nil {
		t.Error("a rival that does not exist, and no error")
	}
}

// fake starts a peer that is a shell script.
func fake(t *testing.T, script string) *peer {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	alone(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("no shell: ", err)
	}
	p := &peer{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	t.Cleanup(p.stop)
	return p
}

// A rival that is ready is asked, and its version noted; what one that is not says is shown once.
func TestStart(t *testing.T) {
	for script, want := range map[string]string{
		"echo ready: version 1; while read line; do echo 1 2 ns/op $line; done": "",
		"echo missing: no module": "numpy: no module",
		"exit 0":                  "numpy: it does not start",
	} {
		_, program := benchmarks(t, script)
		w := &raw{}
		l := &pool{options: &options{python: program}, raw: w, running: map[string]*peer{}}
		for range 2 {
			p := l.get("numpy", 1)
			if (p == nil) != (want != "") {
				t.Errorf("%s: a peer %v", script, p)
			}
			if p == nil {
				continue
			}
			if answer, err := p.ask("case", 1); err != nil || answer != "1 2 ns/op case seconds=1" {
				t.Errorf("%q, %v", answer, err)
			}
		}
		l.close()
		if text := strings.Join(l.missing, "; "); text != want {
			t.Errorf("%s: missing %q, want %q", script, text, want)
		}
		if text := w.text.String(); want == "" && text != "version-numpy: version 1\n" {
			t.Errorf("the raw file says %q", text)
		}
	}
}

func TestAsk(t *testing.T) {
	p := fake(t, `while read line; do case "$line" in bad*) echo "error: cannot $line";; *) echo "7 12.5 ns/op $line";; esac; done`)
	for range 2 { // it goes on after it was stopped
		if got, err := p.ask("case m=3", 0.5); err != nil || got != "7 12.5 ns/op case m=3 seconds=0.5" {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if _, err := p.ask("bad", 1); err == nil || err.Error() != "cannot bad seconds=1" {
		t.Errorf("error %v", err)
	}
	if _, err := fake(t, "read line").ask("case", 1); err == nil {
		t.Error("a peer that ends, and no error")
	}
}

// benchmarks makes a directory the working one, with a shell script in place of the compiled
// benchmarks.
func benchmarks(t *testing.T, script string) (dir, program string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	dir = t.TempDir()
	program = filepath.Join(dir, "bench.test")
	if err := os.Mkdir(filepath.Join(dir, "bench"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return dir, program
}

// A benchmark is run alone, though the names of others go on after its own, and no
// measurement but its own is taken for it.
func TestNoether(t *testing.T) {
	dir, program := benchmarks(t, `echo "$@" >args; cat output`)
	o := &options{bench: program}
	for output, want := range map[string]string{
		"goos: linux\nBenchmarkA/m=1\t 2\t 3 ns/op\n":          "BenchmarkA/m=1\t 2\t 3 ns/op",
		"BenchmarkA/m=1-2\t 2\t 3 ns/op\nPASS\n":               "BenchmarkA/m=1-2\t 2\t 3 ns/op",
		"BenchmarkA/m=1/trans=a-2\t 2\t 3 ns/op\n":             "",
		"BenchmarkA/m=12-2\t 2\t 3 ns/op\nBenchmarkA/m=1-2 \n": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, "bench", "output"), []byte(output), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := o.noether("A/m=1", nil, 0.5)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", output, got, err, want)
		}
	}
	args, err := os.ReadFile(filepath.Join(dir, "bench", "args"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "-test.run ^$ -test.bench ^BenchmarkA$/^m=1$ -test.skip ^BenchmarkA$/^m=1$/. -test.benchtime 0.5s\n"
	if string(args) != want {
		t.Errorf("arguments %q, want %q", args, want)
	}
}

// The sides are measured in turn, as often as the suite, the case and the patience with rivals say, and a peak of
// memory once; a raw file has the cases that were chosen.
func TestTurns(t *testing.T) {
	dir, program := benchmarks(t, `name=$(echo "$4" | tr -d '^$')
case $name in *broken) exit 1;; *) echo "$name 1 2 ns/op";; esac`)
	peers := map[string]*peer{}
	for _, name := range []string{"a", "a-peak", "fails"} {
		answer := "echo 1 2 ns/op"
		if name == "fails" {
			answer = "echo error: no"
		}
		peers[key(name, 2)] = fake(t, "while read line; do "+answer+"; done")
	}
	peers[key("a-peak", 2)].peak = true
	for _, c := range []struct {
		o    options
		test test
		want string // whose measurements follow on each other, of A, B or A/broken
	}{
		{options{}, test{bench: "A"}, "A A"},
		{options{}, test{bench: "A", also: []string{"B"}, peers: []string{"a-peak", "a"}}, "a-peak a A B a A B"},
		{options{}, test{bench: "A", peers: []string{"a"}, rounds: 3, rivals: 1}, "a A A A"},
		{options{}, test{bench: "A", peers: []string{"a"}, rounds: 3, rivals: 2}, "a A a A A"},
		{options{rounds: 1}, test{also: []string{"A", "A/broken", "B"}, peers: []string{"nobody", "a"}, rounds: 3}, "a A B"},
		{options{rounds: 1}, test{bench: "A", peers: []string{"fails", "a"}}, "a A"},
	} {
		c.o.bench, c.test.name, c.test.threads = program, "case", 2
		w := &raw{}
		if err := c.o.test(suite{rounds: 2}, c.test, w, &pool{options: &c.o, raw: w, running: peers}); err != nil {
			t.Error(err)
		}
		var got []string
		who := ""
		for _, line := range strings.Split(strings.TrimSpace(w.text.String()), "\n") {
			if name, ok := strings.CutPrefix(line, "peer: "); ok {
				who = name
				continue
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "Benchmark"), "\t")
			if name == "case" {
				name = who
			}
			got = append(got, name)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: measured %s, want %s", c.test, text, c.want)
		}
	}
	if peers[key("fails", 2)] != nil {
		t.Error("a rival that failed goes on")
	}

	o := options{bench: program, out: dir}
	two := []test{{name: "A/x", bench: "A/x"}, {name: "B", bench: "B"}}
	s := suite{name: "s", rounds: 1, cases: func() []test { return slices.Clone(two) }}
	for only, want := range map[string]string{"A/": "BenchmarkA/x", "": "BenchmarkA/x BenchmarkB", "C": ""} {
		file := map[string]string{"A/": "s@A-.txt", "": "s.txt", "C": "s@C.txt"}[only]
		if err := o.suite(s, only); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, file))
		if (err == nil) != (want != "") {
			t.Errorf("%s: %v", file, err)
		}
		var got []string
		for _, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "Benchmark") {
				got = append(got, strings.Fields(line)[0])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %q, want %q", file, got, want)
		}
	}
}

// A BLAS is asked for many small products and for few large ones before any is timed, and oneDNN is kept to as many
// processors as it is to have threads, of those that it may run on. BLIS is asked for its kernels once it is ready to
// tell.
func TestSgemm(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil || runtime.GOOS != "linux" {
		t.Skip("no C compiler, or not Linux: ", err)
	}
	dir := t.TempDir()
	source, library, program := filepath.Join(dir, "blas.c"), filepath.Join(dir, "blas.so"), filepath.Join(dir, "sgemm")
	const blas = `#include <sched.h>
#include <stdio.h>
static int calls, up;
void bli_init(void) { up = 1; }
int bli_arch_query_id(void) { return up; }
const char *bli_arch_string(int id) { return id ? "a processor" : "none"; }
const char *bli_info_get_version_str(void) { return "1"; }
void cblas_sgemm(void) { calls++; }
int dnnl_sgemm(void) { return 0; }
__attribute__((destructor)) static void tell(void)
{
	cpu_set_t cpus;
	sched_getaffinity(0, sizeof cpus, &cpus);
	printf("%d calls on %d, %d\n", calls, CPU_COUNT(&cpus), CPU_ISSET(1, &cpus) != 0);
}
`
	if err := os.WriteFile(source, []byte(blas), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-D_GNU_SOURCE", "-shared", "-fPIC", source, "-o", library},
		{"-D_GNU_SOURCE", filepath.Join("..", "peers", "blas", "sgemm.c"), "-o", program, "-ldl"},
	} {
		if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, c := range []struct{ n, least, most int }{{8, 32, 35}, {1280, 16, 19}} {
		cmd := exec.Command(program, "blis", library, "2")
		cmd.Stdin = strings.NewReader(fmt.Sprintf("gemm m=%d n=%d k=%d transa=0 transb=0 seconds=0\n", c.n, c.n, c.n))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		first, last, _ := strings.Cut(string(out), "ns/op\n")
		if !strings.HasPrefix(first, "ready: BLIS 1, kernels of a processor\n") {
			t.Errorf("%s", first)
		}
		var calls int
		if _, err := fmt.Sscanf(last, "%d calls", &calls); err != nil || calls < c.least || calls > c.most {
			t.Errorf("%d: %s, want %d to %d calls", c.n, out, c.least, c.most)
		}
	}
	for _, c := range []struct{ cpus, threads, want string }{
		{"1", "1", "0 calls on 1, 1\n"}, {"0,1", "1", "0 calls on 1, 0\n"}, {"0,1", "2", "0 calls on 2, 1\n"},
	} {
		if err := exec.Command("taskset", "-c", "0,1", "true").Run(); err != nil || runtime.NumCPU() < 2 {
			t.Skip("no taskset, or no second processor: ", err)
		}
		out, err := exec.Command("taskset", "-c", c.cpus, program, "onednn", library, c.threads).Output()
		if err != nil || !strings.HasSuffix(string(out), c.want) {
			t.Errorf("on %s with %s threads: %v, %s, want %s", c.cpus, c.threads, err, out, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"bin/python", "lib/libdnnl.so.3", "lib/python3.1/site-packages/blas/lib/libblas.so", "other/lib/libx.so"} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("LD_LIBRARY_PATH", "")
	python := filepath.Join(root, "bin", "python")
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"libno-such.so", "libdnnl.so.3"}, "lib/libdnnl.so.3"},
		{[]string{"libblas.so", "libdnnl.so.3"}, "lib/python3.1/site-packages/blas/lib/libblas.so"},
		{[]string{"other/lib/libx.so"}, "other/lib/libx.so"},
	} {
		if got := find(python, c.files); got != filepath.Join(root, c.want) {
			t.Errorf("%v: found %q, want %s", c.files, got, c.want)
		}
	}
	if got := find(python, []string{"libno-such.so"}); got != "" {
		t.Errorf("found %q", got)
	}
}

func TestRaw(t *testing.T) {
	t.Setenv("NOETHER_SIMD", "avx2")
	w := &raw{}
	if err := w.header(suite{name: "gemm"}); err != nil {
		t.Fatal(err)
	}
	head := w.text.String()
	for _, key := range []string{"suite: gemm\n", "\ndate: ", "\ncommit: ", "\ncpu: ", "\ncores: ", "\ngo: ", "\nnoether-simd: avx2\n"} {
		if !strings.Contains(head, key) {
			t.Errorf("the head lacks %q: %s", key, head)
		}
	}
	own := &raw{}
	if err := own.header(suite{name: "gemm-avx512", env: []string{"NOETHER_SIMD=avx512"}}); err != nil {
		t.Fatal(err)
	}
	if text := own.text.String(); strings.Contains(text, "noether-simd") {
		t.Errorf("a suite with a level of its own names that of the environment: %s", text)
	}
	w.version("mkl", "MKL 1")
	w.version("mkl", "MKL 1")
	w.line("mkl", "A/m=1", "3 4.5 ns/op")
	w.line("mkl", "A/m=1", "3 5.5 ns/op")
	w.noether("BenchmarkA/m=1-2   \t 10\t  7 ns/op  50.0 %peak")
	got := strings.TrimPrefix(w.text.String(), head)
	const want = "version-mkl: MKL 1\npeer: mkl\nBenchmarkA/m=1\t3\t4.5 ns/op\nBenchmarkA/m=1\t3\t5.5 ns/op\npeer: noether\nBenchmarkA/m=1-2\t10\t7 ns/op\t50.0 %peak\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSkipIsSaidOnce(t *testing.T) {
	var o options
	o.skip("%s: missing", "mkl")
	o.skip("%s: missing", "mkl")
	if !slices.Equal(o.missing, []string{"mkl: missing"}) {
		t.Errorf("missing: %q", o.missing)
	}
}

// A run of a whole suite leaves no raw file of the same cases behind.
func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"gemm.txt", "gemm@512.txt", "gemm-avx2.txt", "gemm-avx512.txt", "conv@80.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := &options{out: dir}
	for range 2 { // the second time there is nothing to remove
		if err := o.discard(suite{name: "gemm", replaces: []string{"gemm-avx512"}}); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if want := []string{"conv@80.txt", "gemm-avx2.txt", "gemm.txt"}; !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}
