package main

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/noether-go/noether/bench/cases"
)

// page is the document of a site under way.
type page struct {
	strings.Builder
	site  *site
	plots map[string][]byte
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

// picture shows a plot, if there is one.
func (p *page) picture(name, text string) {
	if _, ok := p.plots[name]; ok {
		p.printf("\n![%s](%s)\n", text, p.site.link(filepath.Join(p.site.plotDir, name)))
	}
}

// table writes a table unless it has no rows.
func (p *page) table(head string, rows [][]string) {
	if len(rows) == 0 {
		p.printf("\nNot measured.\n")
		return
	}
	p.printf("\n| %s |\n|%s\n", strings.ReplaceAll(head, ",", " |"), strings.Repeat(" --- |", strings.Count(head, ",")+1))
	for _, row := range rows {
		p.printf("| %s |\n", strings.Join(row, " | "))
	}
}

// markdown returns the text of a site's document.
func markdown(s *site, r *results, plots map[string][]byte) string {
	p := &page{site: s, plots: plots}
	p.printf(`# Benchmarks

This page is made by `+"`go run ./bench/report`"+` of the raw files in [%s](%s); a test
fails when it says anything else than they do. Each ratio is the rival's median time over Noether's, so above 1 Noether
is faster. Both were measured in turn, in one run; the range is that of single rounds, and what it is wide for, other
work on the machine disturbed.
`, filepath.ToSlash(s.rawDir), s.link(s.rawDir))
	for _, other := range sites {
		if other.document != s.document {
			p.printf("\nThe same on [%s](%s).\n", other.about, s.link(other.document))
		}
	}
	p.machine(r)
	p.bars(r)
	p.gemm(r)
	p.elementwise(r)
	p.siren(r)
	p.layers(r)
	p.steps(r)
	p.inference(r)
	p.printf(`
## How to reproduce

`+"```sh"+`
python3 -m venv peers                                       # outside the repository
peers/bin/pip install torch numpy mkl onednn scipy-openblas32
peers/bin/pip install --prefix $PWD/peers/onednn-gomp onednn-cpu-gomp
apt install libblis4-openmp                                 # or anything that brings libblis
make bench-peers PYTHON=$PWD/peers/bin/python               # three quarters of an hour on two cores
make bench-peers PYTHON=$PWD/peers/bin/python SUITES=gemm   # a part of it
`+"```"+`

What is missing is skipped, and said so. [bench/README.md](%s) tells what each suite measures, how the
rivals are set up, and how to add a case.
`, s.link(filepath.Join("bench", "README.md")))
	return p.String()
}

func (p *page) machine(r *results) {
	p.printf("\n## Machine\n")
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		h := r.files[name]
		processor := h["cpu"]
		if level := h["noether-simd"]; level != "" {
			processor += ", `NOETHER_SIMD=" + level + "`"
		}
		rows = append(rows, []string{name, h["date"], h["commit"], processor, h["cores"], h["go"], h["goos"] + "/" + h["goarch"] + " " + h["kernel"]})
	}
	p.table("raw file,date,commit,processor,cores,Go,system", rows)
	if versions := r.versions(); len(versions) > 0 {
		p.printf("\nRivals:\n\n")
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			p.printf("- %s: %s\n", title(name), strings.Join(versions[name], "; "))
		}
	}
	var peaks []string
	best, avx2 := r.gemmLevel(), r.peak("avx2")
	if peak := r.peak(best); !math.IsNaN(peak) && best != "avx2" {
		peaks = append(peaks, fmt.Sprintf("%.0f GFLOP/s with AVX-512", peak))
	}
	if !math.IsNaN(avx2) {
		peaks = append(peaks, fmt.Sprintf("%.0f GFLOP/s with AVX2", avx2))
	}
	if len(peaks) > 0 {
		p.printf("\nFMA peak of one core, measured beside the products: %s.\n", strings.Join(peaks, ", "))
	}
}

func (p *page) bars(r *results) {
	p.printf("\n## What is to be reached\n")
	var rows [][]string
	for _, b := range bars(r) {
		bound := "at least "
		if b.atMost {
			bound = "at most "
		}
		if b.percent {
			bound += fmt.Sprintf("%.0f%%", 100*b.bound)
		} else {
			bound += fmt.Sprintf("%.4gx", b.bound)
		}
		rows = append(rows, []string{b.what, b.rival, bound, b.text(), b.reached()})
	}
	p.table("what,against,bar,measured (range),reached", rows)
	p.picture("ratios.png", "Ratios, and what they are to be")
}

func (b bar) text() string {
	if !b.got.known() {
		return "-"
	}
	if b.percent {
		return fmt.Sprintf("%.1f%% (%.1f-%.1f%%)", 100*b.got.value, 100*b.got.low, 100*b.got.high)
	}
	return b.got.String()
}

func (q ratio) String() string {
	if !q.known() {
		return "-"
	}
	return fmt.Sprintf("%.2fx (%.2f-%.2f)", q.value, q.low, q.high)
}

func (p *page) gemm(r *results) {
	p.printf("\n## Products of matrices\n\nGFLOP/s, medians. The ratio is against the best rival for the shape.\n")
	for _, level := range levels {
		impl := level.impl
		for _, threads := range []int{1, 2} {
			var peers []string
			for _, g := range cases.Gemms {
				for peer := range r.samples[g.Bench(impl, threads)] {
					if peer != noether && !slices.Contains(peers, peer) {
						peers = append(peers, peer)
					}
				}
			}
			slices.Sort(peers)
			var titles []string
			for _, peer := range peers {
				titles = append(titles, title(peer))
			}
			var rows [][]string
			for _, g := range cases.Gemms {
				name := g.Bench(impl, threads)
				if len(r.samples[name]) == 0 {
					continue
				}
				row := []string{shape(g), rate(g.Operations(), r.median(name, noether, ns))}
				for _, peer := range peers {
					row = append(row, rate(g.Operations(), r.median(name, peer, ns)))
				}
				rows = append(rows, append(row, r.best(name).String()))
			}
			if len(rows) > 0 {
				p.printf("\n### %s, %d thread%s\n", level.title, threads, plural(threads))
				p.table("m x n x k,Noether,"+strings.Join(append(titles, "ratio"), ","), rows)
			}
		}
	}
	p.picture("gemm.png", "GFLOP/s against the size of the matrices")
	p.picture("roofline.png", "Roofline: GFLOP/s against operations per byte")
}

// rate writes GFLOP/s.
func rate(operations, nanoseconds float64) string {
	if math.IsNaN(nanoseconds) {
		return "-"
	}
	return fmt.Sprintf("%.3g", operations/nanoseconds)
}

func (p *page) elementwise(r *results) {
	p.printf("\n## Elementwise operations\n\nMilliseconds, one thread.\n")
	var rows [][]string
	for _, op := range cases.Ops {
		for _, n := range cases.Lengths {
			name := cases.ElementwiseBench(op, r.elementwiseLevel(), n)
			if len(r.samples[name]) == 0 {
				continue
			}
			rows = append(rows, []string{op, count(n), milliseconds(r, name, noether), milliseconds(r, name, "numpy"), r.ratio(name, "numpy").String(),
				milliseconds(r, name, "pytorch"), r.ratio(name, "pytorch").String()})
		}
	}
	p.table("operation,floats,Noether,NumPy,ratio,PyTorch,ratio", rows)
}

// milliseconds writes a peer's median time.
func milliseconds(r *results, bench, peer string) string {
	v := r.median(bench, peer, ns)
	if math.IsNaN(v) {
		return "-"
	}
	if v >= 1e8 {
		return fmt.Sprintf("%.0f", v/1e6)
	}
	return fmt.Sprintf("%.3g", v/1e6)
}

func (p *page) siren(r *results) {
	p.printf(`
## Kernel networks

SIREN 3-32-32-1024, milliseconds, two threads. Backward computes the gradients of the parameters and of the coordinates.
Of the peak is what the products alone are of the FMA peak of two cores, sines not counted, and at the bar what they would be
at %.4g times the rival's speed: beyond 100%% FMA cannot follow, at most a matrix unit.
`, sirenBound)
	var rows [][]string
	peak := 2 * r.peak(r.gemmLevel())
	share := func(operations, nanoseconds float64) string {
		if v := 100 * operations / nanoseconds / peak; !math.IsNaN(v) {
			return fmt.Sprintf("%.0f%%", v)
		}
		return "-"
	}
	for _, pass := range cases.SirenPasses {
		for _, positions := range cases.Positions {
			name := cases.SirenBench(pass, positions, 2)
			if len(r.samples[name]) > 0 {
				work := cases.SirenOperations(pass, positions)
				rows = append(rows, []string{pass, fmt.Sprint(positions), milliseconds(r, name, noether), milliseconds(r, name, "pytorch"), r.ratio(name, "pytorch").String(),
					share(work, r.median(name, noether, ns)), share(work, r.median(name, "pytorch", ns)/sirenBound)})
			}
		}
	}
	p.table("pass,positions,Noether,PyTorch,ratio,of the peak,at the bar", rows)
}

func (p *page) layers(r *results) {
	p.printf(`
## Layers

Milliseconds. Noether renders the kernel, convolves, and computes the gradients of the input, of the kernel network and
of the group elements; PyTorch does the forward and backward pass of the dense convolution alone.
`)
	var rows [][]string
	for _, c := range cases.Convs {
		name := convBench(r, c)
		if len(r.samples[name]) == 0 {
			continue
		}
		threads := name[strings.LastIndexByte(name, '=')+1:]
		rows = append(rows, []string{c.Name, c.Dense(), fmt.Sprint(c.Elements), threads, milliseconds(r, name, noether), milliseconds(r, name, "pytorch"), r.ratio(name, "pytorch").String()})
	}
	p.table("layer,dense convolution,elements,threads,Noether,PyTorch,ratio", rows)

	rows = nil
	algorithms := cases.Algorithms()
	for _, c := range cases.Convs {
		row, any := []string{c.Name}, false
		for _, a := range algorithms {
			text := milliseconds(r, c.Bench(a, "all", 1), noether)
			any = any || text != "-" && a != "auto"
			row = append(row, text)
		}
		if any {
			rows = append(rows, row)
		}
	}
	p.printf("\n### By algorithm\n\nMilliseconds, one thread. A layer for which an algorithm is not made has none.\n")
	p.table("layer,"+strings.Join(algorithms, ","), rows)
	p.printf(`
### As sizes grow

One layer, varied along one axis at a time. The dashed line has the slope of the formula: operations are proportional
to the batch, to the square of the channels (here as many out as in), and to the square of the elements.
`)
	p.picture("growth.png", "Time of a layer against batch, channels, elements and side")
}

func (p *page) steps(r *results) {
	p.printf(`
## Training steps

Milliseconds for a whole step: elements drawn, kernels rendered, forward, loss, backward, Adam. PyTorch runs the same
network, written for it without detours, with fused Adam.
`)
	var rows, memories [][]string
	met := false
	for _, s := range cases.Steps {
		one, two := s.TrainBench(1), s.TrainBench(2)
		if len(r.samples[two]) == 0 {
			continue
		}
		second := between(r.values(one, noether, ns), r.values(two, noether, ns), "")
		rows = append(rows, []string{s.Preset, fmt.Sprint(s.Batch), milliseconds(r, two, noether), milliseconds(r, two, "pytorch"), r.ratio(two, "pytorch").String(),
			milliseconds(r, one, noether), second.String()})
		if times := r.values(two, noether, "meet-ns"); len(times) > 0 {
			met = true
			rows[len(rows)-1] = append(rows[len(rows)-1], fmt.Sprintf("%.0f (%.0f-%.0f)", median(times), slices.Min(times), slices.Max(times)))
		}
		if u := memory(r, s); u.gross.known() {
			memories = append(memories, []string{s.Preset, fmt.Sprint(s.Batch), fmt.Sprintf("%.0f", u.ours), fmt.Sprintf("%.0f", u.rival), fmt.Sprintf("%.0f", u.imported),
				fmt.Sprintf("%.2f", u.gross.value), fmt.Sprintf("%.2f", u.net.value)})
		}
	}
	header := "preset,batch,Noether,PyTorch,ratio,Noether with one thread,second thread"
	if met {
		header += ",to meet"
	}
	p.table(header, rows)
	if met {
		p.printf(`
To meet is how many nanoseconds both workers take from a dispatch until each knows of the other and the caller goes on,
measured after each step. It tells where the cores lie: two of a virtual machine may share a third-level cache or not, and
change that while it runs. Where they do not, meeting takes several times as long, and so does reading what the other wrote.
`)
	}
	p.picture("scaling.png", "What a second thread brings")
	p.printf("\n### Memory\n\nPeak of resident memory in MiB. PyTorch is measured with the allocator's own settings, which take less than the fastest ones. What importing it takes is mostly its libraries, so the share is given without that too.\n")
	p.table("preset,batch,Noether,PyTorch,of it imported,share,share without", memories)
	p.printf("\n### Parts of the group\n\nA layer that has learned to use a part of the group draws fewer elements. The whole step, by the size of the subset in every layer, milliseconds:\n")
	rows = nil
	for _, s := range cases.Partial() {
		name := s.TrainBench(2)
		if len(r.samples[name]) == 0 {
			continue
		}
		whole := cases.Partial()[0].TrainBench(2)
		rows = append(rows, []string{fmt.Sprintf("%g", s.Theta), milliseconds(r, name, noether), fmt.Sprintf("%.2fx", r.median(whole, noether, ns)/r.median(name, noether, ns)),
			fmt.Sprintf("%.0f", r.median(name, noether, "peak-MiB")), milliseconds(r, name, "pytorch"), fmt.Sprintf("%.2fx", r.median(whole, "pytorch", ns)/r.median(name, "pytorch", ns)),
			r.ratio(name, "pytorch").String()})
	}
	p.table("part,Noether,faster than whole,peak MiB,PyTorch,faster than whole,ratio", rows)
	p.picture("partial.png", "Time and memory of a step against the part of the group")
	p.picture("elements.png", "Time of a step against the number of elements")
	p.profiles(r.profiles)
}

func (p *page) inference(r *results) {
	p.printf("\n## Predictions\n\nMilliseconds for a batch, two threads. Noether's network is frozen: its elements are fixed and its kernels rendered once. PyTorch's draws and renders in each pass, as the published program does, or, where that was measured, has kept what the first one made.\n")
	var rows [][]string
	for _, s := range cases.Inferences {
		name := s.InferBench(2)
		if len(r.samples[name]) > 0 {
			rows = append(rows, []string{s.Preset, fmt.Sprint(s.Batch), milliseconds(r, name, noether), milliseconds(r, name, "pytorch"), r.ratio(name, "pytorch").String(),
				milliseconds(r, name, "pytorch-kept"), r.ratio(name, "pytorch-kept").String()})
		}
	}
	p.table("preset,batch,Noether,PyTorch,ratio,PyTorch that keeps kernels,ratio", rows)
}
