package policy

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/noether-go/noether"

// rank orders the packages of the engine: one may import only what stands
// lower. A new package must be given its place here.
//
//	asm <- tensor <- nn <- {gumbel, siren} <- conv <- {model, cuda}
//	{lie, data} <- all above
var rank = map[string]int{
	"asm": 0, "lie": 0, "data": 0,
	"tensor": 1,
	"nn":     2,
	"gumbel": 3, "siren": 3,
	"conv":  4,
	"model": 5, "cuda": 5,
}

// alone are the packages that need nothing but the standard library.
var alone = []string{"lie"}

// outside are the folders (and what lies below them) that are not the engine:
// programs, tools, and helpers of tests.
var outside = []string{"train", "bench", "tools", "internal", "tensor/devicetest", "nn/gradcheck"}

// third are the modules that the engine may depend on besides itself.
var third = []string{"github.com/klauspost/cpuid/v2", "golang.org/x/sys"}

type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     *struct{ Path string }
}

// goList runs "go list -deps -json" over the patterns at the root of the
// module, for the given environment.
func goList(t *testing.T, env, args []string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// within reports whether the package path (relative to the module) is dir or
// lies below it.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// local returns a package's path relative to the module, "" for the module's
// root, and false when it belongs to another module.
func local(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

// problems returns what breaks the rules among the engine's packages and their
// dependencies.
func problems(deps []listed) []string {
	var found []string
	for _, p := range deps {
		rel, ours := local(p.ImportPath)
		switch {
		case p.Standard:
			if p.ImportPath == "testing" {
				found = append(found, "the engine depends on package testing")
			}
			continue
		case !ours:
			if p.Module == nil || !slices.Contains(third, p.Module.Path) {
				found = append(found, "the engine depends on "+p.ImportPath)
			}
			continue
		}
		top, _, _ := strings.Cut(rel, "/")
		own, placed := rank[top]
		if !placed && top != "internal" {
			found = append(found, rel+" has no place in the order of packages")
			continue
		}
		for _, q := range p.Imports {
			dep, ours := local(q)
			first, _, _ := strings.Cut(dep, "/")
			switch {
			case slices.Contains(alone, top) && strings.Contains(strings.Split(q, "/")[0], "."):
				found = append(found, rel+" imports "+q+" but needs only the standard library")
			case !ours || first == top || first == "internal":
			case !placed:
				found = append(found, rel+" is used by the engine and imports "+dep)
			case own <= rank[first]:
				found = append(found, rel+" imports "+dep+" against the order of packages")
			}
		}
	}
	return found
}

// readTree reads every folder of the module. go test's cache does not see what
// "go list" reads; it does see this, and runs the test anew when a file changed.
func readTree(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEngineImports keeps the engine light (the standard library and cpuid)
// and its packages in order, on every architecture and with every build tag.
func TestEngineImports(t *testing.T) {
	readTree(t)
	for _, build := range []struct {
		name string
		env  []string
		tags string
	}{
		{"amd64", []string{"GOOS=linux", "GOARCH=amd64"}, ""},
		{"arm64", []string{"GOOS=linux", "GOARCH=arm64"}, ""},
		{"noasm", []string{"GOOS=linux", "GOARCH=amd64"}, "noasm"},
		{"race", []string{"GOOS=linux", "GOARCH=amd64"}, "race"},
		{"cuda", []string{"GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1"}, "cuda"},
	} {
		t.Run(build.name, func(t *testing.T) {
			var engine []string
			for _, p := range goList(t, build.env, []string{"-tags", build.tags, "-json=ImportPath", "./..."}) {
				rel, _ := local(p.ImportPath)
				if !slices.ContainsFunc(outside, func(dir string) bool { return within(rel, dir) }) {
					engine = append(engine, p.ImportPath)
				}
			}
			if len(engine) == 0 {
				t.Fatal("found no package of the engine")
			}
			args := append([]string{"-deps", "-tags", build.tags, "-json=ImportPath,Standard,Imports,Module"}, engine...)
			for _, problem := range problems(goList(t, build.env, args)) {
				t.Error(problem)
			}
		})
	}
}

// TestProblems shows that each rule can fail.
func TestProblems(t *testing.T) {
	ours := func(path string, imports ...string) listed {
		for i, q := range imports {
			imports[i] = module + "/" + q
		}
		return listed{ImportPath: module + "/" + path, Imports: imports}
	}
	for name, c := range map[string]struct {
		p    listed
		want string
	}{
		"upwards":      {ours("tensor", "nn"), "tensor imports nn against the order of packages"},
		"sideways":     {ours("siren", "gumbel"), "siren imports gumbel against the order of packages"},
		"downwards":    {ours("conv", "siren", "asm", "internal/stream", "conv/taps"), ""},
		"lie alone":    {ours("lie", "internal/stream"), "lie imports " + module + "/internal/stream but needs only the standard library"},
		"lie standard": {listed{ImportPath: module + "/lie", Imports: []string{"math"}}, ""},
		"internal":     {ours("internal/stream", "tensor"), "internal/stream is used by the engine and imports tensor"},
		"unplaced":     {ours("optics"), "optics has no place in the order of packages"},
		"testing":      {listed{ImportPath: "testing", Standard: true}, "the engine depends on package testing"},
		"foreign": {listed{ImportPath: "gonum.org/v1/gonum/mat", Module: &struct{ Path string }{"gonum.org/v1/gonum"}},
			"the engine depends on gonum.org/v1/gonum/mat"},
		"allowed": {listed{ImportPath: "golang.org/x/sys/cpu", Module: &struct{ Path string }{"golang.org/x/sys"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(problems([]listed{c.p}), "; "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
