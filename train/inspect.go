package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
)

var inspectCommand = subcommand{
	name:     "inspect",
	operands: "RUN",
	summary:  "Shows what a trained network has learned about symmetry",
	about: `RUN is the directory of a run. Nothing in it is changed. Prints the learned subsets,
what the network does when they are reset to the whole group and to parts of it, the
probability of the first class against the rotation of the input, how equivariant
the network is, and which classes it confuses. With -out it also writes a page
with pictures and a JSON file.`,
	declare: declareInspect,
}

// inspection is one call of inspect.
type inspection struct {
	means
	weights string
	out     string
	images  int
	resets  []float64
	subsets bool // resets were asked for
}

// Files of the directory that inspect writes.
const (
	inspectPage = "inspect.html" // self-contained
	inspectFile = "inspect.json" // see inspectJSON
)

func declareInspect(f *flag.FlagSet) func(ctx context.Context, c *console, operands []string) error {
	n := &inspection{}
	n.means.declare(f)
	f.StringVar(&n.weights, "weights", "best", "`best or last`: those of the best epoch by validation, or of the last")
	f.StringVar(&n.out, "out", "", "`directory` for "+inspectPage+" and "+inspectFile+" (default none)")
	f.IntVar(&n.images, "images", 32, "test `images` behind the curves and the measure of equivariance")
	subsets := f.String("subsets", "0.25,0.5,0.75", "`sizes` of subsets to reset all layers to, besides the whole group")
	return func(ctx context.Context, c *console, operands []string) error {
		if err := n.parse(*subsets); err != nil {
			return err
		}
		n.subsets = given(f, "subsets")
		return n.run(ctx, c, operands[0])
	}
}

func (n *inspection) parse(subsets string) error {
	for text := range strings.SplitSeq(subsets, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(v >= 0.02 && v < 1) {
			return usageError{fmt.Errorf("-subsets has %q; allowed: numbers from 0.02 to below 1 with commas between them", text)}
		}
		n.resets = append(n.resets, v)
	}
	slices.Sort(n.resets) // the colours of their lines go from the smallest to the largest
	if n.images < 1 || n.images > 1e5 {
		return usageError{fmt.Errorf("-images is %d; allowed: 1 to 100000", n.images)}
	}
	return n.means.check()
}

// inspectJSON is what inspect finds. docs/command-line.md documents the keys.
type inspectJSON struct {
	Run           string              `json:"run"`
	Weights       string              `json:"weights"`
	Dataset       string              `json:"dataset"`
	Synthetic     bool                `json:"synthetic"`
	Accuracy      float64             `json:"accuracy"`
	AccuracyStd   float64             `json:"accuracy_std"`
	Draws         int                 `json:"draws"`
	Layers        []layerJSON         `json:"layers"`
	Degrees       []float64           `json:"degrees"`
	Probability   []float64           `json:"probability"`
	AlreadyTurned bool                `json:"turned_already,omitempty"` // the images at 0 degrees are turned at random
	Resets        []reset             `json:"resets"`
	Crossings     []float64           `json:"crossings_degrees"`
	Equivariance  []equivarianceEntry `json:"equivariance"`
	Confusion     [][]int             `json:"confusion"`
	Kernels       []kernelJSON        `json:"kernels"`
	Pass          float64             `json:"seconds_per_pass,omitempty"`
	WholePass     float64             `json:"whole_group_pass_seconds,omitempty"`
	PassRatios    []float64           `json:"pass_ratio_quartiles,omitempty"`
	PassTurns     int                 `json:"pass_turns,omitempty"`
	Step          int64               `json:"step_bytes,omitempty"`
	WholeStep     int64               `json:"whole_group_step_bytes,omitempty"`
}

// layerJSON is what a group convolution has learned.
type layerJSON struct {
	Name    string           `json:"name"`
	Learned float64          `json:"learned"` // size of the subset
	Axes    []gumbel.Learned `json:"axes"`    // of the group
}

// kernelJSON is some kernels of a convolution.
type kernelJSON struct {
	Layer    string        `json:"layer"`
	Elements []string      `json:"elements"`
	Side     int           `json:"side"`
	Weights  [][][]float32 `json:"weights"` // of each kernel at each element, row by row
}

// inspectData is what the page shows.
type inspectData struct {
	*figureData
	Run, Weights, Group   string
	Elements              int
	Accuracy, AccuracyStd float64
	AccuracyDraws         int
}

func (n *inspection) run(ctx context.Context, c *console, path string) error {
	if err := n.checkOut(path); err != nil {
		return err
	}
	t, err := openTrained(ctx, c, &n.means, path, n.weights)
	if err != nil {
		return err
	}
	defer t.close()
	cfg, net, set := t.cfg, t.net, t.set
	if n.subsets && !cfg.Learns() {
		c.log.Warn("-subsets makes no difference: the network learns no subset that could be reset")
	}
	score, confusion, err := net.Confusion(ctx, set, &set.Test, cfg.Train.EvalDraws, cfg.Seed)
	if err != nil {
		return ofWeights(path, n.weights, err)
	}
	deep := depth{images: n.images, step: 10, turned: n.images, turns: 15, scales: 4, resets: n.resets, kernels: 4, layers: net.Convolutions()}
	f, err := measure(ctx, net, set, cfg, n.threads, deep)
	if err != nil {
		return ofWeights(path, n.weights, err)
	}
	if err := t.dev.Sync(); err != nil {
		return err
	}
	f.confusion = confusion
	found := newInspectJSON(path, n.weights, cfg, score, f)
	found.Dataset, found.Synthetic = set.Name, set.Synthetic
	if n.out != "" {
		page := &inspectData{
			figureData: newFigureData(cfg, describe(set), f), Run: nameOf(path), Weights: n.weights,
			Group: cfg.Group.Name, Elements: cfg.Group.Elements,
			Accuracy: score.Accuracy, AccuracyStd: score.Std, AccuracyDraws: score.Draws,
		}
		if err := n.write(page, found); err != nil {
			return err
		}
	}
	return n.print(c.stdout, found, cfg.Learns())
}

// nameOf returns the name of a directory, also of one that is given as ".".
func nameOf(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return filepath.Base(path)
}

// checkOut refuses the run's own directory, in which inspect changes nothing.
func (n *inspection) checkOut(run string) error {
	if n.out == "" {
		return nil
	}
	a, errA := os.Stat(n.out)
	b, errB := os.Stat(run)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return usageError{fmt.Errorf("-out is the directory of the run, in which nothing is changed; give another one")}
	}
	if errA == nil && !a.IsDir() {
		return usageError{fmt.Errorf("-out: %s is no directory; give another one", n.out)}
	}
	return nil
}

func newInspectJSON(path, weights string, cfg *config.Config, score model.Score, f *figures) *inspectJSON {
	found := &inspectJSON{
		Run: path, Weights: weights, Accuracy: score.Accuracy, AccuracyStd: score.Std, Draws: score.Draws,
		Degrees: f.angles, Probability: f.learned, AlreadyTurned: f.alreadyTurned, Resets: append([]reset{}, f.resets...), Crossings: f.crossings,
		Equivariance: equivarianceEntries(f.equivariance, true), Confusion: f.confusion, Pass: f.pass, WholePass: f.wholePass,
		PassRatios: f.ratios, PassTurns: f.turns, Step: f.memory.Learned, WholeStep: f.memory.Whole,
	}
	if f.wholeGroup != nil {
		found.Resets = append(found.Resets, reset{1, *f.wholeGroup, f.whole})
	}
	for i, axes := range f.subsets {
		_, name := layerName(cfg, i, len(f.subsets))
		found.Layers = append(found.Layers, layerJSON{name, f.sizes[i], axes})
	}
	for _, k := range f.kernels {
		found.Kernels = append(found.Kernels, kernelJSON{k.layer, k.at, k.side, k.kernels})
	}
	return found
}

// write writes the files of the output directory, each as a whole, the page first. Figures
// that no JSON file holds show before that.
func (n *inspection) write(page *inspectData, found *inspectJSON) error {
	if _, err := json.Marshal(found); err != nil {
		return fmt.Errorf("%s: a figure is no number (%w); take other weights, or train anew",
			filepath.Join(found.Run, weightsFiles[n.weights]), err)
	}
	if err := os.MkdirAll(n.out, 0o755); err != nil {
		return fmt.Errorf("-out: %w; give another directory", err)
	}
	d := &runDir{path: n.out}
	if err := inTurn(
		func() error {
			return atomicfile.WriteFile(d.file(inspectPage), func(w io.Writer) error { return inspectTemplate.Execute(w, page) })
		},
		func() error { return d.writeJSON(inspectFile, found) },
	); err != nil {
		return fmt.Errorf("-out: %w; make room or give another directory", err)
	}
	return nil
}

// print prints what was found, section by section.
func (n *inspection) print(w io.Writer, found *inspectJSON, partial bool) error {
	var b strings.Builder
	b.WriteString(accuracyLine(found.Accuracy, found.AccuracyStd, found.Draws, found.Synthetic))
	if partial {
		found.printSubsets(&b)
	}
	found.printRotation(&b)
	found.printEquivariance(&b)
	found.printConfusion(&b)
	if n.out != "" {
		fmt.Fprintf(&b, "page  %s\nfigures  %s\n", filepath.Join(n.out, inspectPage), filepath.Join(n.out, inspectFile))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (found *inspectJSON) printSubsets(b *strings.Builder) {
	b.WriteString("learned subsets\n")
	for _, l := range found.Layers {
		fmt.Fprintf(b, "  %-28s %.3f of the group", l.Name, l.Learned)
		for _, a := range l.Axes {
			if a.Keep != nil {
				fmt.Fprintf(b, "  kept with probability %.2f", a.Keep)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("accuracy with every subset reset\n")
	for _, r := range found.Resets {
		fmt.Fprintf(b, "  %-28s %.4f\n", fmt.Sprintf("to %.2f of the group", r.Subset), r.Accuracy)
	}
}

func (found *inspectJSON) printRotation(b *strings.Builder) {
	b.WriteString("probability of the first class against the rotation")
	if found.AlreadyTurned {
		b.WriteString(", of images that are turned at random already")
	}
	b.WriteString("\n")
	for i := 0; i < len(found.Degrees); i += 3 {
		fmt.Fprintf(b, "  %4.0f°  %.3f\n", found.Degrees[i], found.Probability[i])
	}
}

func (found *inspectJSON) printEquivariance(b *strings.Builder) {
	b.WriteString("relative difference of the pooled features\n")
	scales := slices.ContainsFunc(found.Equivariance, func(e equivarianceEntry) bool { return e.Scale != 1 })
	fmt.Fprintf(b, "  %-20s %8s %8s %8s %8s %8s %8s %8s", "", "total", "grid", "boundary", "pooling", "sampling", "subset", "group")
	if scales {
		fmt.Fprintf(b, " %10s", "truncation")
	}
	b.WriteString("\n")
	for i, e := range found.Equivariance {
		name := fmt.Sprintf("%.0f°", e.Degrees)
		switch {
		case e.Flip:
			name = "flip"
		case e.Scale != 1 || i > 0 && e.Degrees == 0: // rotations begin with the identity
			name = fmt.Sprintf("scale %.2f", e.Scale)
		}
		fmt.Fprintf(b, "  %-20s %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f", name,
			e.Total, e.Grid, e.Boundary, e.Pooling, e.Sampling, e.Subset, e.Group)
		if scales {
			fmt.Fprintf(b, " %10.4f", e.Truncation)
		}
		b.WriteString("\n")
	}
}

func (found *inspectJSON) printConfusion(b *strings.Builder) {
	if len(found.Confusion) > mostListed {
		return
	}
	b.WriteString("images of each class (row) put into each\n")
	for _, row := range found.Confusion {
		b.WriteString(" ")
		for _, v := range row {
			fmt.Fprintf(b, " %6d", v)
		}
		b.WriteString("\n")
	}
}
