package main

import (
	"fmt"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/bench/cases"
)

// suite is a group of cases that share a raw file.
type suite struct {
	name    string
	rounds  int
	seconds float64  // of one measurement, at least
	env     []string // of Noether
	fresh   bool     // rivals start anew for each case, since they keep the memory of the last
	cases   func() []test

	replaces []string // suites of other processors that measure the same cases
}

// test is a case and who is measured on it.
type test struct {
	name    string   // the rivals' measurements are written under this name
	bench   string   // Noether's benchmark, "" if the rivals alone are measured
	also    []string // other benchmarks of Noether, measured beside it
	peers   []string
	request string // to the peers
	threads int
	rounds  int // 0: the suite's
	rivals  int // rounds in which rivals are measured; 0: all
}

// few rounds have to do where a measurement takes seconds.
const few = 3

// patience limits how often a rival is measured that takes operations/1e11
// seconds or so.
func patience(operations float64) int {
	switch {
	case operations > 3e12:
		return 1
	case operations > 5e11:
		return 2
	}
	return 0
}

func allSuites() []suite {
	products := func(impl, openblas string, replaces ...string) suite {
		return suite{name: "gemm", rounds: 5, seconds: 0.02, replaces: replaces, cases: func() []test {
			return gemm(impl, []string{"onednn", "onednn-gomp", openblas, "mkl", "blis"}, true)
		}}
	}
	// Each suite is of one level. Those of another processor that measured the same cases go.
	onAVX2 := suite{name: "gemm-avx2", rounds: 5, seconds: 0.02, env: []string{"NOETHER_SIMD=avx2"},
		cases: func() []test { return gemm("avx2", []string{"openblas-haswell"}, false) }}
	onAVX512 := suite{name: "gemm-avx512", rounds: 3, seconds: 0.02, env: []string{"NOETHER_SIMD=avx512"},
		cases: func() []test { return gemm("avx512", []string{"onednn-gomp", "openblas", "mkl"}, false) }}
	vector := "avx512"
	var list []suite
	switch asm.Detected() {
	case asm.AMX: // and beside it what most processors have
		list = []suite{products("amx", "openblas"), onAVX512, onAVX2}
	case asm.AVX2:
		vector = "avx2"
		list = []suite{products("avx2", "openblas-haswell", "gemm-avx512", "gemm-avx2")}
	default:
		list = []suite{products("avx512", "openblas", "gemm-avx512"), onAVX2}
	}
	return append(list, []suite{
		{name: "elementwise", rounds: 7, seconds: 0.1, cases: func() []test { return elementwise(vector) }},
		{name: "siren", rounds: 5, seconds: 0.1, cases: sirens},
		{name: "conv", rounds: 3, seconds: 0.3, cases: convs},
		{name: "growth", rounds: 2, seconds: 0.05, cases: growth},
		{name: "algorithms", rounds: 2, seconds: 0.1, cases: algorithms},
		{name: "step", rounds: 7, seconds: 1, fresh: true, cases: steps},
		{name: "partial", rounds: 2, seconds: 1, fresh: true, cases: partial},
		{name: "infer", rounds: 5, seconds: 0.5, fresh: true, cases: inferences},
	}...)
}

func suiteNames() []string {
	var names []string
	for _, s := range allSuites() {
		names = append(names, s.name)
	}
	return names
}

func gemm(impl string, peers []string, withGonum bool) []test {
	var list []test
	for _, threads := range []int{1, 2} {
		for _, g := range cases.Gemms {
			t := test{
				bench: g.Bench(impl, threads), peers: peers, threads: threads,
				request: fmt.Sprintf("gemm m=%d n=%d k=%d transa=%d transb=%d", g.M, g.N, g.K, number(g.TransA), number(g.TransB)),
			}
			if g.Operations() > 1e10 {
				t.rounds = few
			}
			if withGonum && g.Cube() && g.M <= 512 {
				t.peers = append([]string{"gonum"}, peers...)
			}
			list = append(list, t.named())
		}
	}
	return list
}

// named gives the rivals' measurements the name of Noether's.
func (t test) named() test {
	t.name = t.bench
	return t
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func elementwise(impl string) []test {
	var list []test
	for _, op := range cases.Ops {
		for _, n := range cases.Lengths {
			t := test{
				bench: cases.ElementwiseBench(op, impl, n), threads: 1, peers: []string{"numpy", "pytorch"},
				request: fmt.Sprintf("elementwise op=%s n=%d", op, n),
			}
			if op == "adam" {
				t.peers = []string{"pytorch"} // NumPy has none
			}
			list = append(list, t.named())
		}
	}
	return list
}

func sirens() []test {
	var list []test
	for _, pass := range cases.SirenPasses {
		for _, positions := range cases.Positions {
			list = append(list, test{
				bench: cases.SirenBench(pass, positions, 2), threads: 2, peers: []string{"pytorch"},
				request: fmt.Sprintf("siren in=%d out=%d hidden=%d layers=%d omega0=%d pass=%s positions=%d",
					cases.SirenIn, cases.SirenOut, cases.SirenHidden, cases.SirenLayers, cases.SirenOmega0, pass, positions),
			}.named())
		}
	}
	return list
}

func dense(c cases.Conv) string {
	return fmt.Sprintf("conv in=%d out=%d side=%d k=%d batch=%d", c.In*c.Draw(), c.Out*c.Draw(), c.Side, c.Kernel, c.Batch)
}

// threadsOf is 1, but 2 for the layer that takes the rival most of a minute.
func threadsOf(c cases.Conv) int {
	if c.Operations() > 1e13 {
		return 2
	}
	return 1
}

func convs() []test {
	var list []test
	for _, c := range cases.Convs {
		t := test{bench: c.Bench("auto", "all", threadsOf(c)), threads: threadsOf(c), peers: []string{"pytorch"}, request: dense(c),
			rivals: patience(c.Operations())}
		list = append(list, t.named())
	}
	return list
}

func growth() []test {
	var list []test
	for _, g := range cases.Growths {
		for _, c := range g.Cases() {
			list = append(list, test{bench: c.Bench("auto", "all", 1), threads: 1}.named())
		}
	}
	return list
}

func algorithms() []test {
	var list []test
	for _, c := range cases.Convs {
		if c.Operations() < 3e11 { // the direct algorithm takes seconds for the others
			t := test{name: "Conv/case=" + c.Name, threads: 1}
			for _, algorithm := range cases.Algorithms()[1:] { // the first is the choice, which suite conv measures
				t.also = append(t.also, c.Bench(algorithm, "all", 1))
			}
			list = append(list, t)
		}
	}
	return list
}

func steps() []test {
	var list []test
	for _, s := range cases.Steps {
		t := test{
			bench: s.TrainBench(2), also: []string{s.TrainBench(1)}, threads: 2, peers: []string{"pytorch-peak", "pytorch"},
			request: "step " + network(s),
		}
		if s.Large() {
			t.rounds, t.rivals = few, patience(1e13)
		}
		list = append(list, t.named())
	}
	return list
}

func partial() []test {
	var list []test
	for _, s := range cases.Partial() {
		list = append(list, test{bench: s.TrainBench(2), threads: 2, peers: []string{"pytorch-peak", "pytorch"}, request: "step " + network(s)}.named())
	}
	return list
}

func inferences() []test {
	var list []test
	for _, s := range cases.Inferences {
		list = append(list, test{bench: s.InferBench(2), threads: 2, peers: []string{"pytorch", "pytorch-kept"}, request: "infer " + network(s)}.named())
	}
	return list
}

// network describes a preset to the peers. The presets of the table exist: a
// test of package cases says so.
func network(s cases.Step) string {
	text, err := s.Network()
	if err != nil {
		panic(err)
	}
	return text
}
