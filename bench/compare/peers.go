package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// peer is a running program of bench/peers.
type peer struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	peak bool // it answers with its peak of memory, which is measured once
}

// ask sends a case and returns the tail of a line in the format of Go's
// benchmarks. The peer runs only meanwhile.
func (p *peer) ask(request string, seconds float64) (string, error) {
	resume(p.cmd)
	defer pause(p.cmd)
	if _, err := fmt.Fprintf(p.in, "%s seconds=%g\n", request, seconds); err != nil {
		return "", err
	}
	if !p.out.Scan() {
		return "", fmt.Errorf("it ended without an answer")
	}
	answer := p.out.Text()
	if text, failed := strings.CutPrefix(answer, "error: "); failed {
		return "", fmt.Errorf("%s", text)
	}
	return answer, nil
}

func (p *peer) stop() {
	end(p.cmd)
	_ = p.cmd.Wait()
}

// pool starts peers when they are first needed.
type pool struct {
	*options
	raw     *raw
	running map[string]*peer // nil: cannot be had
	sgemm   string           // the compiled sgemm.c
	gonum   string
}

func key(name string, threads int) string { return fmt.Sprintf("%s/%d", name, threads) }

// get returns a running peer, or nil after saying that there is none.
func (l *pool) get(name string, threads int) *peer {
	k := key(name, threads)
	if p, ok := l.running[k]; ok {
		return p
	}
	p, ready, err := l.start(name, threads)
	if err != nil {
		l.skip("%s: %v", name, err)
		l.running[k] = nil
		return nil
	}
	l.raw.version(name, ready)
	pause(p.cmd)
	l.running[k] = p
	return p
}

// drop ends a peer that failed; the next case starts it anew.
func (l *pool) drop(name string, threads int) {
	k := key(name, threads)
	if p := l.running[k]; p != nil {
		p.stop()
	}
	delete(l.running, k)
}

func (l *pool) close() {
	for _, p := range l.running {
		if p != nil {
			p.stop()
		}
	}
	l.running = map[string]*peer{}
}

func (l *pool) start(name string, threads int) (p *peer, ready string, err error) {
	args, env, err := l.how(name, threads)
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	alone(cmd)
	p = &peer{cmd: cmd, peak: strings.HasSuffix(name, "-peak")}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	p.out = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	if !p.out.Scan() {
		p.stop()
		return nil, "", fmt.Errorf("it does not start")
	}
	ready, ok := strings.CutPrefix(p.out.Text(), "ready: ")
	if !ok {
		text := strings.TrimPrefix(p.out.Text(), "missing: ")
		p.stop()
		return nil, "", fmt.Errorf("%s", text)
	}
	return p, ready, nil
}

// how returns a peer's command line, and the environment in which it is fastest.
// The Python programs choose their own.
func (l *pool) how(name string, threads int) (args, env []string, err error) {
	peers := filepath.Join("bench", "peers")
	count := fmt.Sprint(threads)
	switch name {
	case "pytorch":
		return []string{l.python, filepath.Join(peers, "pytorch", "peer.py"), "--threads", count}, pythonEnv, nil
	case "pytorch-peak":
		return []string{l.python, filepath.Join(peers, "pytorch", "peer.py"), "--peak", "--threads", count}, pythonEnv, nil
	case "pytorch-kept":
		return []string{l.python, filepath.Join(peers, "pytorch", "peer.py"), "--keep", "--threads", count}, pythonEnv, nil
	case "numpy":
		return []string{l.python, filepath.Join(peers, "numpy", "peer.py")}, pythonEnv, nil
	case "gonum":
		if l.gonum == "" {
			program := filepath.Join(l.dir, "gonum")
			if err := command("go", "build", "-o", program, "./bench/peers/gonum"); err != nil {
				return nil, nil, err
			}
			l.gonum = program
		}
		return []string{l.gonum}, []string{"GOMAXPROCS=" + count}, nil
	}
	lib, known := libraries[name]
	if !known {
		return nil, nil, fmt.Errorf("no peer has this name")
	}
	if l.sgemm == "" {
		program := filepath.Join(l.dir, "sgemm")
		if err := command("cc", "-O2", "-D_GNU_SOURCE", filepath.Join(peers, "blas", "sgemm.c"), "-o", program, "-ldl"); err != nil {
			return nil, nil, fmt.Errorf("a C compiler is needed: %w", err)
		}
		l.sgemm = program
	}
	path := find(l.python, lib.files)
	if path == "" {
		return nil, nil, fmt.Errorf("%s is not installed; see bench/peers/blas/sgemm.c for how to", lib.files[0])
	}
	env = append([]string{
		"LD_LIBRARY_PATH=" + filepath.Dir(path) + ":" + os.Getenv("LD_LIBRARY_PATH"),
		"GLIBC_TUNABLES=glibc.malloc.hugetlb=1", // large blocks in huge pages
	}, lib.env...)
	for _, v := range []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"} {
		env = append(env, v+"="+count)
	}
	return []string{l.sgemm, lib.kind, path, count}, env, nil
}

// The programs leave no compiled files in the repository.
var pythonEnv = []string{"PYTHONDONTWRITEBYTECODE=1"}

// library is a BLAS, the settings with which it is fastest, and its files by
// order of preference. Files are searched below each place of find.
type library struct {
	kind  string // as sgemm.c calls it
	files []string
	env   []string
}

var active = []string{"OMP_WAIT_POLICY=ACTIVE", "OMP_PROC_BIND=TRUE"}

var libraries = map[string]library{
	"onednn":           {"onednn", []string{"libdnnl.so", "libdnnl.so.3", "libdnnl.so.2"}, active},
	"onednn-gomp":      {"onednn", []string{"onednn-gomp/lib/libdnnl.so"}, active},
	"openblas":         {"openblas", openblas, []string{"OPENBLAS_CORETYPE=SkylakeX"}},
	"openblas-haswell": {"openblas", openblas, []string{"OPENBLAS_CORETYPE=Haswell"}},
	"mkl":              {"mkl", []string{"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}, append([]string{"KMP_BLOCKTIME=infinite"}, active...)},
	"blis":             {"blis", []string{"blis-openmp/libblis.so.4", "libblis.so.4", "libblis.so"}, active},
}

var openblas = []string{"libscipy_openblas.so", "openblas-pthread/libopenblas.so.0", "libopenblas.so.0", "libopenblas.so"}

// find returns the first of the files that exists: in LD_LIBRARY_PATH, in the
// environment of python, and where systems have libraries.
func find(python string, files []string) string {
	places := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	if program, err := exec.LookPath(python); err == nil {
		root := filepath.Dir(filepath.Dir(program))
		places = append(places, filepath.Join(root, "lib"), root)
		wheels, _ := filepath.Glob(filepath.Join(root, "lib", "python*", "site-packages", "*", "lib"))
		places = append(places, wheels...)
	}
	places = append(places, "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/opt/intel/oneapi/mkl/latest/lib")
	for _, file := range files {
		i := slices.IndexFunc(places, func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, file))
			return dir != "" && err == nil
		})
		if i >= 0 {
			path, _ := filepath.Abs(filepath.Join(places[i], file))
			return path
		}
	}
	return ""
}
