package main

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/bench/cases"
)

// TestDrift fails when a page or a plot is not what the raw files say.
func TestDrift(t *testing.T) {
	for i := range sites {
		t.Run(filepath.Base(sites[i].document), func(t *testing.T) { checkDrift(t, &sites[i]) })
	}
}

func checkDrift(t *testing.T, s *site) {
	root := filepath.Join("..", "..")
	files, err := s.generate(root)
	if err != nil {
		t.Fatal(err)
	}
	if files[s.document] == nil {
		t.Errorf("there is no %s", s.document)
	}
	const cure = "run go run ./bench/report at the root of the repository"
	var plots []string
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Errorf("%v; %s", err, cure)
			continue
		}
		if filepath.Ext(name) != ".png" {
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what the raw files make it, first in line %d; %s", name, firstDifference(got, want), cure)
			}
			continue
		}
		plots = append(plots, filepath.Base(name))
		if problem := differ(got, want); problem != "" {
			t.Errorf("%s is not what the raw files make it: %s; %s", name, problem, cure)
		}
	}
	there, err := os.ReadDir(filepath.Join(root, s.plotDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range there {
		if !slices.Contains(plots, e.Name()) {
			t.Errorf("no raw file has measurements for %s; %s", e.Name(), cure)
		}
	}
}

// firstDifference returns the line where two texts part.
func firstDifference(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(a[:n], []byte{'\n'})
}

// differ compares pictures by their pixels: how they are compressed depends on
// the version of Go, and rounding at the edge of a stroke on the processor.
func differ(a, b []byte) string {
	p, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		return err.Error()
	}
	q, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return err.Error()
	}
	if p.Bounds() != q.Bounds() {
		return "another size"
	}
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y++ {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x++ {
			r1, g1, b1, _ := p.At(x, y).RGBA()
			r2, g2, b2, _ := q.At(x, y).RGBA()
			for _, d := range []int{int(r1) - int(r2), int(g1) - int(g2), int(b1) - int(b2)} {
				if d < -4*257 || d > 4*257 {
					return image.Pt(x, y).String() + " has another colour"
				}
			}
		}
	}
	return ""
}

// sample is a raw file of two suites' worth, made up.
const sample = `suite: gemm
date: 2026-01-01
commit: 0123456
goos: linux
goarch: amd64
go: go1.26
cpu: a processor
cores: 2
kernel: 6.1
version-mkl: MKL of the test
peer: mkl
BenchmarkSgemm/impl=avx512/threads=1/m=64/n=64/k=64	10	4000.0 ns/op
peer: openblas
BenchmarkSgemm/impl=avx512/threads=1/m=64/n=64/k=64	10	3000.0 ns/op
peer: noether
BenchmarkSgemm/impl=avx512/threads=1/m=64/n=64/k=64-2	10	2000 ns/op	50.00 %peak	65.0 GFLOP/s
peer: mkl
BenchmarkSgemm/impl=avx512/threads=1/m=64/n=64/k=64	10	6000.0 ns/op
peer: openblas
BenchmarkSgemm/impl=avx512/threads=1/m=64/n=64/k=64	10	5000.0 ns/op
peer: noether
BenchmarkSgemm/impl=avx512/threads=1/m=64/n=64/k=64-2	10	3000 ns/op	40.00 %peak	44.0 GFLOP/s
peer: noether
BenchmarkTrainStep/preset=rotmnist-se2-8-partial/batch=64/threads=2	1	300000000 ns/op	260.0 meet-ns	400.0 peak-MiB
peer: pytorch
BenchmarkTrainStep/preset=rotmnist-se2-8-partial/batch=64/threads=2	1	3900000000 ns/op
peer: pytorch-peak
BenchmarkTrainStep/preset=rotmnist-se2-8-partial/batch=64/threads=2	1	0 ns/op	1500.0 peak-MiB	500.0 imported-MiB
`

func readSample(t *testing.T, text string) (*results, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sample.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return read(dir)
}

func TestRatios(t *testing.T) {
	r, err := readSample(t, sample)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	name := cases.Gemms[0].Bench("avx512", 1)
	near("median", r.median(name, noether, ns), 2500)
	best := r.best(name)
	if best.rival != "openblas" {
		t.Errorf("the best rival is %s, want openblas", best.rival)
	}
	near("ratio", best.value, 4000.0/2500)
	near("least ratio of a round", best.low, 1.5)
	near("largest ratio of a round", best.high, 5.0/3)
	for _, swap := range []bool{false, true} { // one of the two ran once
		a, b, low, high := []float64{12}, []float64{4, 2, 3}, 3.0, 6.0
		if swap {
			a, b, low, high = b, a, 1/high, 1/low
		}
		uneven := between(a, b, "")
		near("ratio to a single round", uneven.value, median(a)/median(b))
		near("least ratio to a single round", uneven.low, low)
		near("largest ratio to a single round", uneven.high, high)
	}
	near("peak", r.peak("avx512"), 130)
	step := cases.Steps[0]
	near("ratio of steps", r.ratio(step.TrainBench(2), "pytorch").value, 13)
	if q := r.best(step.TrainBench(2)); q.rival != "pytorch" {
		t.Errorf("the best rival of a step is %q, want pytorch", q.rival)
	}
	u := memory(r, step)
	near("share of memory", u.gross.value, 400.0/1500)
	near("share of memory without libraries", u.net.value, 0.4)
	if r.best(cases.Gemms[1].Bench("avx512", 1)).known() {
		t.Error("a ratio without measurements")
	}
}

// A rival that was brought up to date between two suites has both versions on the page.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "suite: a\nversion-mkl: MKL 2\nversion-pytorch-peak: PyTorch 0\n",
		"b.txt": "suite: b\nversion-mkl: MKL 1\n",
		"c.txt": "suite: c\nversion-mkl: MKL 2\nversion-blis: BLIS 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	const want = "Rivals:\n\n- BLIS: BLIS 1\n- MKL: MKL 2; MKL 1\n\n"
	if text := markdown(&sites[0], r, nil); !strings.Contains(text, want) {
		t.Errorf("no %q in %s", want, text[:strings.Index(text, "## What")])
	}
}

// TestMachine wants the level that a file was kept to beside the processor.
func TestMachine(t *testing.T) {
	for text, want := range map[string]string{
		sample: "| a processor |",
		strings.Replace(sample, "kernel: 6.1\n", "kernel: 6.1\nnoether-simd: avx2\n", 1): "| a processor, `NOETHER_SIMD=avx2` |",
	} {
		r, err := readSample(t, text)
		if err != nil {
			t.Fatal(err)
		}
		p := &page{site: &sites[0]}
		if p.machine(r); !strings.Contains(p.String(), want) {
			t.Errorf("%q is not in %s", want, p.String())
		}
	}
}

func TestBars(t *testing.T) {
	r, err := readSample(t, sample)
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string]string{}
	for _, b := range bars(r) {
		reached[b.what] = b.reached()
	}
	for what, want := range map[string]string{
		"training step rotmnist-se2-8-partial":                   "yes",
		"memory of a training step rotmnist-se2-8-partial":       "yes",
		"training step rotmnist-se2-8-full":                      "not measured",
		"SGEMM on AVX-512, 1 thread, geometric mean over shapes": "yes",
		"second thread, training step rotmnist-se2-8-partial":    "not measured",
	} {
		if reached[what] != want {
			t.Errorf("%s: %q, want %q", what, reached[what], want)
		}
	}
	near := bar{got: ratio{value: 0.898, low: 0.8, high: 0.91}, bound: 0.9, percent: true}
	if text := near.text(); near.reached() != "**no**" || text != "89.8% (80.0-91.0%)" {
		t.Errorf("a share of 0.898 is written %q, beside a bar of 90%% that is reached: %s", text, near.reached())
	}
	slow, err := readSample(t, strings.ReplaceAll(sample, "300000000 ns/op", "3000000000 ns/op"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bars(slow) {
		if b.what == "training step rotmnist-se2-8-partial" && b.reached() != "**no**" {
			t.Errorf("a step that is 1.3 times as fast reaches the bar of %v: %s", b.bound, b.reached())
		}
	}
}

// TestLevels: bars are about the best level that was measured, tables about all.
func TestLevels(t *testing.T) {
	products, rest, _ := strings.Cut(sample, "peer: noether\nBenchmarkTrainStep")
	both, err := readSample(t, products+strings.ReplaceAll(products[strings.Index(products, "peer:"):], "avx512", "amx")+"peer: noether\nBenchmarkTrainStep"+rest)
	if err != nil {
		t.Fatal(err)
	}
	if l := both.gemmLevel(); l != "amx" {
		t.Errorf("the best level is %s", l)
	}
	for _, want := range []string{"SGEMM on AMX, 1 thread, geometric mean over shapes", "SGEMM on AVX-512, 1 thread, geometric mean over shapes"} {
		if list := bars(both); !slices.ContainsFunc(list, func(b bar) bool { return b.what == want && b.reached() == "yes" }) {
			t.Errorf("no bar %q that is reached in %+v", want, list)
		}
	}
	if b := bars(both)[0]; b.what != "SGEMM on AMX, 1 thread, geometric mean over shapes" {
		t.Errorf("the first bar is %s", b.what)
	}
	alone, err := readSample(t, strings.NewReplacer("avx512", "avx2", "openblas", "openblas-haswell").Replace(sample)+"peer: noether\nBenchmark"+cases.ElementwiseBench("sin", "avx2", 64)+"\t1\t5 ns/op\n")
	if err != nil {
		t.Fatal(err)
	}
	if g, e := alone.gemmLevel(), alone.elementwiseLevel(); g != "avx2" || e != "avx2" {
		t.Errorf("the best levels are %s and %s", g, e)
	}
	if b := bars(alone)[0]; b.what != "SGEMM on AVX2, 1 thread, geometric mean over shapes" || b.got.rival != "" || b.reached() != "yes" {
		t.Errorf("%s: %s", b.what, b.reached())
	}
	plots, err := drawAll(both)
	if err != nil || plots["gemm.png"] == nil {
		t.Errorf("no plot of products: %v", err)
	}
	text := markdown(&sites[0], both, plots)
	for _, want := range []string{"### AMX, 1 thread\n", "### AVX-512, 1 thread\n", "second thread |to meet |\n", "| 260 (260-260) |\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has nothing like %q", want)
		}
	}
}

// TestConvBounds finds the bars of layers and presets that were renamed.
func TestConvBounds(t *testing.T) {
	for name := range convBounds {
		if !slices.ContainsFunc(cases.Convs, func(c cases.Conv) bool { return c.Name == name }) {
			t.Errorf("no layer is called %q", name)
		}
	}
	for _, s := range cases.Steps {
		if stepBounds[s.Preset] == 0 {
			t.Errorf("the step of %s has no bar", s.Preset)
		}
	}
}

func TestBrokenRawFiles(t *testing.T) {
	for name, c := range map[string][2]string{
		"no suite":    {strings.Replace(sample, "suite: gemm\n", "", 1), "does not say of which suite"},
		"no peer":     {"suite: gemm\nBenchmarkA\t1\t2 ns/op\n", "whose measurement"},
		"cut off":     {sample + "BenchmarkSgemm/impl\t10\n", "not a measurement"},
		"no number":   {sample + "BenchmarkA\t1\tfast ns/op\n", "invalid syntax"},
		"other lines": {sample + "PASS\n", "neither a setting nor a measurement"},
	} {
		if _, err := readSample(t, c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: error %v, want one about %q", name, err, c[1])
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"gemm.txt", "gemm@other.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(sample), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := read(dir); err == nil || !strings.Contains(err.Error(), "is measured in") {
		t.Errorf("one case in two files: error %v", err)
	}
	if _, err := read(t.TempDir()); err == nil {
		t.Error("no raw files, and no error")
	}
}

func TestDiffer(t *testing.T) {
	picture := func(v uint8) []byte {
		img := image.NewGray(image.Rect(0, 0, 4, 4))
		img.Pix[5] = v
		var out bytes.Buffer
		if err := png.Encode(&out, img); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if d := differ(picture(10), picture(12)); d != "" {
		t.Errorf("a difference of rounding: %s", d)
	}
	if differ(picture(10), picture(60)) == "" {
		t.Error("another colour is not noticed")
	}
	if differ(picture(1), nil) == "" {
		t.Error("a broken picture is not noticed")
	}
}

// Shares of a profile are by what functions do, and make one.
func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	text := `Type: cpu
Duration: 2.19s, Total samples = 1.60s (72.04%)
      flat  flat%   sum%        cum   cum%
     0.80s 50.00% 50.00%      0.80s 50.00%  github.com/noether-go/noether/asm.sgemmNN14x32AVX512
     400ms 25.00% 75.00%     1600ms   100%  github.com/noether-go/noether/asm.gemmSlicesAMX
     0.10s  6.25% 81.25%      0.10s  6.25%  github.com/noether-go/noether/asm.sliceRowsAVX512
     0.10s  6.25% 87.50%      0.10s  6.25%  github.com/noether-go/noether/asm.sliceStrips
     0.05s  3.12% 90.62%      0.05s  3.12%  runtime.memmove
     0.05s  3.12% 93.75%      0.05s  3.12%  github.com/noether-go/noether/asm.spackQuadsAVX512
     0.06s  3.75% 97.50%      0.06s  3.75%  github.com/noether-go/noether/asm.colAffineAVX512
     0.04s  2.50%   100%      0.90s 56.25%  github.com/noether-go/noether/conv.(*analysis).Do (inline)
         0     0%   100%      1.60s   100%  testing.(*B).launch
`
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("mnist6-180-se2-8-partial@avx512.txt", text)
	write("rotmnist-se2-8-full@amx.txt", text)
	list, err := readProfiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].preset != "rotmnist-se2-8-full" || list[1].level != "avx512" {
		t.Fatalf("%+v", list)
	}
	for i, want := range []float64{0.25, 0.5, 0.125, 0.0625, 0.0375, 0.025} {
		if got := list[0].shares[i]; !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s: %v, want %v", kinds[i].name, got, want)
		}
	}
	p := &page{site: &sites[1]}
	p.profiles(list)
	if got := p.String(); !strings.Contains(got, "| rotmnist-se2-8-full | amx | 25 | 50 | 12 | 6 | 4 | 2 |") || !strings.Contains(got, "](performance.md)") {
		t.Errorf("the page says\n%s", got)
	}
	write("x@amx.txt", "nothing")
	if _, err := readProfiles(dir); err == nil || !strings.Contains(err.Error(), "x@amx.txt: no lines of go tool pprof -top") {
		t.Errorf("error %v", err)
	}
	if none, err := readProfiles(t.TempDir()); err != nil || none != nil {
		t.Errorf("no profiles: %v, %v", none, err)
	}
}
