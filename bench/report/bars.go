package main

import (
	"fmt"
	"math"

	"github.com/noether-go/noether/bench/cases"
)

// bar is a line of the table of what is to be reached.
type bar struct {
	what, rival string
	got         ratio
	bound       float64
	atMost      bool // the bound is an upper one
	percent     bool
}

func (b bar) reached() string {
	switch {
	case !b.got.known():
		return "not measured"
	case b.atMost && b.got.value <= b.bound, !b.atMost && b.got.value >= b.bound:
		return "yes"
	}
	return "**no**"
}

// bars returns the table.
func bars(r *results) []bar {
	var list []bar
	list = append(list, gemmBars(r)...)
	for i, bound := range []float64{2.5, 1.2} {
		n := cases.Lengths[i]
		list = append(list, bar{what: "sin, " + count(n) + " floats", rival: "NumPy", got: r.ratio(cases.ElementwiseBench("sin", r.elementwiseLevel(), n), "numpy"), bound: bound})
	}
	for _, pass := range cases.SirenPasses {
		for _, positions := range cases.Positions {
			list = append(list, bar{what: fmt.Sprintf("SIREN 3-32-32-1024, %d positions, %s", positions, pass), rival: torch,
				got: r.ratio(cases.SirenBench(pass, positions, 2), "pytorch"), bound: sirenBound})
		}
	}
	for _, c := range cases.Convs {
		bound, ok := convBounds[c.Name]
		if !ok {
			continue
		}
		what := "layer " + c.Dense()
		if c.Full {
			what += ", full equivariance"
		}
		list = append(list, bar{what: what, rival: torch + "'s conv2d alone", got: r.ratio(convBench(r, c), "pytorch"), bound: bound})
	}
	for _, s := range cases.Steps {
		list = append(list, bar{what: "training step " + s.Preset, rival: torch, got: r.ratio(s.TrainBench(2), "pytorch"), bound: stepBounds[s.Preset]})
	}
	for _, s := range cases.Inferences {
		list = append(list, bar{what: fmt.Sprintf("inference %s, batch %d", s.Preset, s.Batch), rival: torch + ", which renders its kernels in each pass", got: r.ratio(s.InferBench(2), "pytorch"), bound: 10})
	}
	for _, s := range cases.Steps {
		list = append(list, bar{what: "memory of a training step " + s.Preset, rival: torch + " without its libraries", got: memory(r, s).net, bound: 0.6, atMost: true})
	}
	for _, s := range cases.Steps {
		one, two := r.values(s.TrainBench(1), noether, ns), r.values(s.TrainBench(2), noether, ns)
		list = append(list, bar{what: "second thread, training step " + s.Preset, rival: "one thread", got: between(one, two, "one thread"), bound: 1.8})
	}
	return list
}

const torch = "PyTorch"

const sirenBound = 3.0

var convBounds = map[string]float64{
	"rotmnist1": 10, "rotmnist3": 7, "mnist6": 8, "cifar1": 10, "cifar0": 12,
	"gcnn": 4.5, "gcnn4": 3.5, "gcnn2": 3.3, "rotmnist1-full": 14,
}

var stepBounds = map[string]float64{
	"rotmnist-se2-8-partial":              10,
	"rotmnist-se2-8-full":                 12,
	"mnist6-180-se2-8-partial":            8,
	"mnist6-180-se2-8-partial-perelement": 12,
	"cifar10-se2-16-partial":              12,
	"cifar10-e2-16-partial":               12,
	"cifar10-se2-4-full-13layer":          3.5,
	"rotmnist-sim2-8-partial":             10,
	"mnist6-m-mirror-2-partial":           8,
}

// convBench is the benchmark of a layer that was measured: with one thread, or
// where that takes too long with two.
func convBench(r *results, c cases.Conv) string {
	name := c.Bench("auto", "all", 1)
	if _, ok := r.samples[name]["pytorch"]; !ok {
		name = c.Bench("auto", "all", 2)
	}
	return name
}

// gemmBars are about all shapes together, about the worst, and about the peak, at the
// best level and at AVX-512 below it, and about all shapes at level AVX2.
func gemmBars(r *results) []bar {
	var list []bar
	switch level := r.gemmLevel(); level {
	case "amx":
		list = append(levelBars(r, level), levelBars(r, "avx512")...)
	case "avx512":
		list = levelBars(r, level)
	}
	for _, threads := range []int{1, 2} {
		mean, _, _ := overShapes("avx2", threads, func(bench string) ratio { return r.ratio(bench, "openblas-haswell") })
		list = append(list, bar{what: fmt.Sprintf("SGEMM on AVX2, %d thread%s, geometric mean over shapes", threads, plural(threads)),
			rival: "OpenBLAS (Haswell)", got: mean, bound: 0.97})
	}
	return list
}

// levelBars are gemmBars of a level above AVX2.
func levelBars(r *results, level string) []bar {
	var list []bar
	for _, threads := range []int{1, 2} {
		of := fmt.Sprintf("SGEMM on %s, %d thread%s, ", levelTitle(level), threads, plural(threads))
		mean, worst, worstName := overShapes(level, threads, r.best)
		list = append(list,
			bar{what: of + "geometric mean over shapes", rival: "the best for each shape", got: mean, bound: 1},
			bar{what: of + "worst shape" + worstName, rival: "the best for each shape", got: worst, bound: 0.9})
		share := ratio{value: math.NaN()}
		for _, g := range cases.Gemms {
			if q := r.values(g.Bench(level, threads), noether, "%peak"); g.Cube() && g.M >= 512 && len(q) > 0 {
				if m := median(q) / 100; !share.known() || m < share.value {
					share = between(scaled(q, 0.01), ones(len(q)), "")
				}
			}
		}
		list = append(list, bar{what: of + "least share of the FMA peak from 512 up", rival: "the FMA peak", got: share, bound: 0.9, percent: true})
	}
	return list
}

func scaled(values []float64, by float64) []float64 {
	list := make([]float64, len(values))
	for i, v := range values {
		list[i] = v * by
	}
	return list
}

func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// overShapes compares with a rival for each shape: the geometric mean over the
// shapes with the range of its rounds' means, and the worst shape.
func overShapes(impl string, threads int, of func(bench string) ratio) (mean, worst ratio, worstName string) {
	worst = ratio{value: math.NaN()}
	var all []ratio
	most, logs := 0, 0.
	for _, g := range cases.Gemms {
		q := of(g.Bench(impl, threads))
		if !q.known() {
			continue
		}
		all, most, logs = append(all, q), max(most, len(q.rounds)), logs+math.Log(q.value)
		if !worst.known() || q.value < worst.value {
			worst, worstName = q, " ("+shape(g)+")"
		}
	}
	if len(all) == 0 {
		return ratio{value: math.NaN()}, worst, ""
	}
	mean = ratio{value: math.Exp(logs / float64(len(all))), low: math.Inf(1), high: math.Inf(-1)}
	for round := range most {
		sum := 0.
		for _, q := range all {
			sum += math.Log(inRound(q.rounds, round))
		}
		v := math.Exp(sum / float64(len(all)))
		mean.low, mean.high = min(mean.low, v), max(mean.high, v)
	}
	return mean, worst, worstName
}

// use is the resident memory of a step in MiB, and Noether's share of the rival's.
type use struct {
	ours, rival, imported float64
	gross, net            ratio // net: without what the rival's libraries take
}

func memory(r *results, s cases.Step) use {
	u := use{
		ours:     r.median(s.TrainBench(2), noether, "peak-MiB"),
		rival:    r.median(s.TrainBench(2), "pytorch-peak", "peak-MiB"),
		imported: r.median(s.TrainBench(2), "pytorch-peak", "imported-MiB"),
	}
	ours := r.values(s.TrainBench(2), noether, "peak-MiB")
	share := func(of float64) ratio {
		list := make([]float64, len(ours))
		for i := range list {
			list[i] = of
		}
		return between(ours, list, "pytorch")
	}
	u.gross, u.net = share(u.rival), share(u.rival-u.imported)
	return u
}

// title is a peer's name as its makers write it.
func title(peer string) string {
	names := map[string]string{
		noether: "Noether", "pytorch": torch, "pytorch-peak": torch, "pytorch-kept": torch + " that keeps kernels", "numpy": "NumPy", "gonum": "gonum", "mkl": "MKL", "blis": "BLIS",
		"openblas": "OpenBLAS", "openblas-haswell": "OpenBLAS (Haswell)", "onednn": "oneDNN", "onednn-gomp": "oneDNN (GNU OpenMP)",
	}
	if name, ok := names[peer]; ok {
		return name
	}
	return peer
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// count writes a power of two as people say it.
func count(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%dM", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%dk", n>>10)
	}
	return fmt.Sprint(n)
}

func shape(g cases.Gemm) string {
	text := fmt.Sprintf("%d x %d x %d", g.M, g.N, g.K)
	switch {
	case g.TransA:
		text += ", A transposed"
	case g.TransB:
		text += ", B transposed"
	}
	return text
}
