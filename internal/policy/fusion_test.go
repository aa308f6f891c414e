package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// computing are the packages on whose bits a training run depends.
var computing = []string{"asm", "lie", "data", "tensor", "nn", "gumbel", "siren", "conv", "model", "internal/stream"}

// exact are the lines where the compiler may fuse a product with a sum, because the product is not rounded: it is one
// of float32 values in float64, of integers, or by a power of two, which a division by two and Float64 are too.
var exact = map[string][]string{
	"asm/reduce_generic.go": {
		"s += float64(v) * float64(y[i])",
		"acc[j] += float64(v) * float64(y[r+j])",
	},
	"asm/slice_generic.go": {
		"scaled := float32(float64(x)*float64(scale) + offset)",
		"sum := float32(float64(float32(sums[0]))*256 + float64(float32(sums[1])))",
		"sum = float32(float64(sum)*256 + float64(float32(sums[2])))",
		"sum = float32(float64(float32(sums[3]))/256 + float64(sum))",
		"return float32(float64(sum)*float64(scale*panel[column]) + float64(c))",
	},
	"asm/split_generic.go": {"return flushed(float32(float64(x)*float64(y) + float64(z)))"},
	"conv/lowrank.go":      {"return 2 * perColumn * float64(s.OutH*s.OutW*s.B)"},
	"data/augment.go":      {"sin, cos := sincos(a.Rotate * (2*s.Float64() - 1))"},
	"data/mnist6.go":       {"return sincos((2*src.Float64() - 1) * (degrees / 180 * math.Pi))"},
	"data/rotmnist.go":     {"x, y := 2*src.Float64()-1, 2*src.Float64()-1"},
	"data/strokes.go":      {"sum := p.src.Float64() + p.src.Float64() + p.src.Float64() + p.src.Float64()"},
	"data/transform.go": {
		"y, x := float64(r)-cy, float64(c)-cx",
		"sy := cy + (float64(x*sin) + float64(y*cos))",
		"sx := cx + (float64(x*cos) - float64(y*sin))",
	},
	"internal/stream/gamma.go": {
		"return s.Gamma(shape+1) * math.Pow(1-s.Float64(), 1/shape)",
		"if math.Log(1-s.Float64()) < float64(0.5*x*x)+float64(d*(1-v+math.Log(v))) {",
	},
	"lie/cyclic.go":         {"s, c = math.Sincos(math.Pi / 2 * (4*a[0] - quarters*g.order) / g.order)"},
	"model/augerino.go":     {"sum += float64(r.host[i]) * float64(r.host[i])"},
	"model/equivariance.go": {"e[k] = modulo(modulo(at+width/2, width)-width/2, 2*math.Pi)"},
	"model/meter.go": {
		"return math.Abs(y)+reach <= cy+float64(c.margin)+1e-9 && math.Abs(x)+reach <= cx+float64(c.margin)+1e-9",
		"y, x := float64(i/w)-cy, float64(i%w)-cx",
	},
	"model/planemove.go": {
		"y, x := float64(i/w)-cy, float64(i%w)-cx",
		"sy, sx := cy+float64(back[0][0]*y)+float64(back[0][1]*x), cx+float64(back[1][0]*y)+float64(back[1][1]*x)",
	},
	"model/warp.go": {
		"return [2]float64{float64(p/w.side) - centre, float64(p%w.side) - centre}",
		"y, x := centre+float64(w.zoom*q[0]), centre+float64(w.zoom*q[1])",
	},
	"nn/linear.go":    {"p.Host[i] = float32(bound * (2*src.Float64() - 1))"},
	"nn/schedule.go":  {"return floor + (base-floor)*(1+math.Cos(math.Pi*float64(t)/float64(period)))/2"},
	"siren/linear.go": {"p.Host[k] = float32(bound * (2*src.Float64() - 1))"},
	"siren/weightnorm.go": {
		"s += float64(v) * float64(v)",
		"s += float64(dw[k]) * float64(v[k])",
	},
}

// fused matches what the listing of arm64's compiler has where a product was fused with a sum.
var fused = regexp.MustCompile(`\(([^()]+\.go):(\d+)\)\tFN?M(?:ADD|SUB)[SD]\t`)

// TestNothingFuses compiles for arm64, and wants no product that is rounded there once where amd64 rounds it twice.
func TestNothingFuses(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library for another architecture")
	}
	readTree(t)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-gcflags=-S"}
	for _, p := range computing {
		args = append(args, "./"+p)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "GOFLAGS=", "CGO_ENABLED=0")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%.4000s", cmd.Args, err, listing)
	}
	found := make(map[string]bool)
	for _, m := range fused.FindAllStringSubmatch(string(listing), -1) {
		found[m[1]+":"+m[2]] = true
	}
	if len(found) == 0 {
		t.Fatal("nothing is fused at all: the listing has another form")
	}
	for at := range found {
		file, line := sourceLine(t, root, at)
		if !slices.Contains(exact[file], line) {
			t.Errorf("%s fuses a product with a sum on arm64: %s", at, line)
		}
	}
}

// sourceLine returns the file, relative to the root, and the text of a position in a listing.
func sourceLine(t *testing.T, root, at string) (file, line string) {
	t.Helper()
	path, number, _ := strings.Cut(at, ":")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	if file, err = filepath.Rel(root, path); err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(file), strings.TrimSpace(strings.Split(string(text), "\n")[n-1])
}
