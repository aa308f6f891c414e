package main

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/internal/plots"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
)

// figureData is what figures.html.tmpl shows of figures, in the report and in the page
// of inspect.
type figureData struct {
	Style   template.CSS
	Set     string // the data set, named synthetic where it is
	Partial bool

	Class            string // the first class, whose probability is shown
	Images, Draws    int    // behind that
	AlreadyTurned    bool   // those are turned at random already
	WholeDraws       int    // behind the same on the whole group
	Rotation, Narrow template.HTML
	Resets           []setting // what other subsets than the learned ones come to

	Layers     []layerReport
	LayersLead string // how their pictures are read
	Saved      string // what a pass and a step take on the learned subsets and on the whole group

	Kernels []kernelReport

	Turned                        int           // images behind the measure of equivariance
	Invariant                     string        // what it is of
	Equivariance, PerLayer        template.HTML // against the rotation
	Scaled, ScaledPerLayer        template.HTML // against the scale, on groups that have some
	Transformations, LayerEffects []effect
	LayersAt                      string // the transformation that LayerEffects belongs to

	Confusion  template.HTML
	ClassNames []string // where the picture has numbers for them
}

// layerReport is the learned subset of one group convolution.
type layerReport struct {
	Short, Name string
	Theta       float64
	Elements    int           // drawn, before some are dropped
	Circle      template.HTML // empty where there is nothing to draw
	Note        string        // such as with which probability mirrored elements are kept
}

// kernelReport is the picture of a convolution's kernels.
type kernelReport struct {
	Layer   string
	Picture template.HTML
}

// effect is a row of a table of differences.
type effect struct {
	Name    string
	Outside bool // of the group
	Scales  bool // the group has scalings
	model.Parts
	Changed float64
}

func newFigureData(c *config.Config, set string, f *figures) *figureData {
	narrow := rotationChart("rotation-narrow", set, f)
	narrow.X.Ticks = []float64{-180, -90, 0, 90, 180}
	d := &figureData{
		Style: template.CSS(plots.Style), Set: set, Partial: c.Learns(),
		Class: f.class, Images: f.images, Draws: f.draws, AlreadyTurned: f.alreadyTurned, WholeDraws: f.wholeDraws,
		Rotation: svg(rotationChart("rotation", set, f).SVG(900, 400)),
		Narrow:   svg(narrow.SVG(380, 330)),
		Turned:   f.turned,
	}
	for _, r := range f.resets {
		d.Resets = append(d.Resets, setting{Key: resetName(r), Value: fmt.Sprintf("%.4f", r.Accuracy)})
	}
	if f.wholeGroup != nil {
		d.Resets = append(d.Resets, setting{Key: "the whole group", Value: fmt.Sprintf("%.4f", *f.wholeGroup)})
	}
	if c.Learns() {
		d.Layers = layerReports(c, f)
		d.LayersLead, d.Saved = layersLead(c, f), saved(c, f, drawsFewer(c, d.Layers, f))
	}
	for i, k := range f.kernels {
		d.Kernels = append(d.Kernels, kernelReport{k.layer, svg(kernelPicture(i, k).SVG(420))})
	}
	d.addEquivariance(c, f)
	if f.confusion != nil {
		d.Confusion = svg(confusionMatrix(f).SVG(380))
		if shortNames(f.classes) == nil && len(f.classes) <= mostListed {
			d.ClassNames = f.classes
		}
	}
	return d
}

func resetName(r reset) string { return fmt.Sprintf("%.2f of the group", r.Subset) }

// layersLead says how the pictures of the subsets are read.
func layersLead(c *config.Config, f *figures) string {
	group, err := lie.ByName(c.Group.Name)
	if err != nil {
		return ""
	}
	intervals, kept, mirrors, scales := false, false, false, false
	for k, axis := range group.Axes() {
		switch {
		case axis.Kind == lie.Flip:
			mirrors = true
		case axis.Kind == lie.Line:
			scales = true
		case axis.Kind == lie.Turns && axis.Order == 1: // no turns
		case f.subsets[0][k].Keep == nil:
			intervals = true
		default:
			kept = true
		}
	}
	text := ""
	if intervals {
		what := "Each group convolution draws its elements from"
		if c.Net.Augerino() {
			what = "The copies of an image are its"
		}
		text = what + " rotations of up to ± its half-width; ±180° is the whole circle. Dots show how many are drawn. "
	}
	if kept {
		text += "Dots are as large as the probability with which a rotation is kept. "
	}
	if mirrors {
		text += "The inner circle is as strong as the probability with which mirrored elements are kept. "
	}
	if scales {
		text += "What is kept of the scalings stands below. "
	}
	if c.Net.Type == "CKResNet" { // whose layers have such names
		text += "2.1 is the first convolution of block 2. "
	}
	return text
}

// drawsFewer reports whether some layer draws fewer elements in a pass than the whole group
// has: evaluation drops what is not kept more often than not, under Compat what chance drops.
func drawsFewer(c *config.Config, layers []layerReport, f *figures) bool {
	dropped := func(p float64) bool { return p <= 0.5 || c.Conv.Compat && p < 1 }
	drops := func(axis gumbel.Learned) bool { return slices.ContainsFunc(axis.Keep, dropped) }
	return slices.ContainsFunc(layers, func(l layerReport) bool { return l.Elements < c.Group.Elements }) ||
		slices.ContainsFunc(f.subsets, func(axes []gumbel.Learned) bool { return slices.ContainsFunc(axes, drops) })
}

// saved says what partial layers save of the time of a pass and of the memory of a step. fewer
// says that some layer draws fewer elements than the whole group has.
func saved(c *config.Config, f *figures, fewer bool) string {
	text := ""
	if f.pass != 0 && f.wholePass != 0 {
		text = fmt.Sprintf("A batch takes %.3g ms on the learned subsets and %.3g ms on the whole group%s. ",
			1000*f.pass, 1000*f.wholePass, timed(f, fewer))
	}
	if f.memory.Whole == 0 {
		return text
	}
	learned, whole := float64(f.memory.Learned), float64(f.memory.Whole)
	text += fmt.Sprintf("The buffers of a training step take %s when they are planned for the elements that the learned subsets draw, and %s for the whole group%s.",
		mebibytes(learned), mebibytes(whole), compared(learned, whole))
	if !c.Net.Augerino() {
		text += " Training plans for the whole group, as subsets may grow."
	}
	return text
}

// timed says by how much the time of a pass differs, and how much the turns do: where
// as many elements are drawn and the ratio lies on both sides of 1, it is the machine's doing.
func timed(f *figures, fewer bool) string {
	low, high := f.ratios[0], f.ratios[1]
	difference := ": no difference was measured"
	if fewer || high < 1 || low > 1 {
		difference = compared(f.pass, f.wholePass)
	}
	return fmt.Sprintf("%s (ratio in the middle half of %s: %.2f to %.2f)", difference, count(f.turns, "turn"), low, high)
}

// compared says by how much a differs from b, if by a percent.
func compared(a, b float64) string {
	switch part := math.Round(100 * (a/b - 1)); {
	case part < 0:
		return fmt.Sprintf(": %.0f%% less", -part)
	case part > 0:
		return fmt.Sprintf(": %.0f%% more", part)
	}
	return ""
}

func mebibytes(v float64) string { return fmt.Sprintf("%.1f MiB", v/(1<<20)) }

// rotationChart is the paper's figure: what the network says about turned images.
func rotationChart(id, set string, f *figures) *plots.Chart {
	ch := &plots.Chart{
		ID:    id,
		Title: fmt.Sprintf("Probability of the class %s against the rotation of the input, %s", f.class, set),
		X: plots.Axis{
			Label: "rotation of the input, counter-clockwise", Min: -180, Max: 180,
			Ticks:  []float64{-180, -135, -90, -45, 0, 45, 90, 135, 180},
			Format: func(v float64) string { return strings.ReplaceAll(fmt.Sprintf("%.0f°", v), "-", "\u2212") },
		},
		Y:       plots.Axis{Label: fmt.Sprintf("mean probability of “%s” · %s", f.class, set), Min: 0, Max: 1},
		Levels:  []plots.Level{{Y: 0.5}},
		Picture: f.picture,
	}
	name := "the network"
	if f.whole != nil {
		name = "learned subsets"
		ch.Lines = append(ch.Lines, plots.Line{Name: "whole group", X: f.angles, Y: f.whole, Color: plots.Second, Dashed: true})
	}
	for i, r := range f.resets {
		ch.Lines = append(ch.Lines, plots.Line{Name: resetName(r), X: f.angles, Y: r.Probability, Color: plots.Ramp(i, len(f.resets)+1), Dashed: true})
	}
	ch.Lines = append(ch.Lines, plots.Line{Name: name, X: f.angles, Y: f.learned, Color: plots.First})
	for _, x := range f.crossings {
		ch.Points = append(ch.Points, plots.Point{X: x, Y: 0.5, Label: degrees(x), Left: x < 0})
	}
	if len(ch.Points) > 6 {
		ch.Points = nil // a line that wavers about 1/2 has no crossings worth a name
	}
	low, high := extremes(f.learned)
	ch.Desc = fmt.Sprintf("With %s the mean over %s and %s lies between %.2f (at %s) and %.2f (at %s).",
		name, count(f.images, "test image"), count(f.draws, "draw"), f.learned[low], degrees(f.angles[low]), f.learned[high], degrees(f.angles[high]))
	if f.alreadyTurned {
		ch.Desc = "The images at 0° are turned at random already. " + ch.Desc
	}
	if where := inWords(f.crossings); where != "" {
		ch.Desc += " It crosses one half at " + where + "."
	}
	if f.whole != nil {
		low, high := extremes(f.whole)
		ch.Desc += fmt.Sprintf(" With every subset reset to the whole group it lies between %.2f and %.2f.", f.whole[low], f.whole[high])
	}
	return ch
}

func layerReports(c *config.Config, f *figures) []layerReport {
	group, err := lie.ByName(c.Group.Name)
	if err != nil {
		return nil
	}
	counts, err := group.Split(c.Group.Elements)
	if err != nil {
		return nil
	}
	var list []layerReport
	for i, learned := range f.subsets {
		short, name := layerName(c, i, len(f.subsets))
		l := layerReport{Short: short, Name: name, Theta: f.sizes[i]}
		circle := plots.Circle{ID: fmt.Sprintf("layer-%d", i), Title: "Subset of " + name, Color: plots.Ramp(i, len(f.subsets))}
		l.Elements = 1
		for k, axis := range group.Axes() {
			l.Elements *= l.axis(&circle, axis, learned[k], counts[k])
		}
		if circle.HalfWidth == 0 && circle.Keep == nil { // no angles: the identity is always there
			circle.Keep, circle.Label = []float64{1}, percent(l.Theta)
			if circle.Mirror != nil {
				circle.Label = percent(circle.Mirror[0])
			}
		}
		circle.Desc = fmt.Sprintf("%.3f of the group, %s. %s", l.Theta, count(l.Elements, "element"), l.Note)
		l.Circle = svg(circle.SVG())
		list = append(list, l)
	}
	return list
}

// axis shows what was learned on an axis of the group, and returns how many elements
// are drawn there.
func (l *layerReport) axis(circle *plots.Circle, axis lie.Axis, learned gumbel.Learned, count int) int {
	switch {
	case axis.Kind == lie.Flip:
		if learned.Keep != nil {
			circle.Mirror = learned.Keep[1:]
			l.add("mirrored " + percent(learned.Keep[1]))
		}
	case axis.Kind == lie.Line && learned.Keep == nil: // no part of the circle
		most := math.Exp(math.Abs(learned.Theta) * axis.Extent)
		l.add(fmt.Sprintf("scaled by %.2f to %.2f", 1/most, most))
		return learned.Count(count)
	case axis.Kind == lie.Line:
		l.add("scalings kept " + percent(meanOf(learned.Keep)))
	case axis.Kind == lie.Turns && axis.Order == 1: // no turns
	case learned.Keep != nil:
		circle.Keep = keptTogether(circle.Keep, learned.Keep)
		circle.Label = percent(meanOf(circle.Keep))
	default:
		circle.HalfWidth, circle.Elements = learned.Theta, learned.Count(count)
		return circle.Elements
	}
	return count
}

// keptTogether returns the probabilities of keeping the rotations of a product, in the order of their
// angles. Factors, of which the first may be missing, are drawn independently, and have numbers of
// rotations without a common divisor, so that each angle comes of one pair.
func keptTogether(a, b []float64) []float64 {
	if a == nil {
		return b
	}
	n := len(a) * len(b)
	keep := make([]float64, n)
	for i, p := range a {
		for j, q := range b {
			keep[(i*len(b)+j*len(a))%n] = p * q
		}
	}
	return keep
}

func meanOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// add puts text behind what is said of the layer.
func (l *layerReport) add(text string) {
	if l.Note != "" {
		l.Note += ", "
	}
	l.Note += text
}

func percent(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }

// kernelPicture is the picture of the kernels of convolution i.
func kernelPicture(i int, k kernelFigure) *plots.Kernels {
	return &plots.Kernels{
		ID: fmt.Sprintf("kernels-%d", i), Title: "Kernels of " + k.layer,
		Desc:    fmt.Sprintf("%s at %s: %s.", count(len(k.kernels), "kernel"), count(len(k.at), "element"), strings.Join(k.at, ", ")),
		Columns: k.at, Side: k.side, Weights: k.kernels,
	}
}

// addEquivariance adds what was measured.
func (d *figureData) addEquivariance(c *config.Config, f *figures) {
	d.Invariant = "Pooled features"
	if c.Net.Augerino() {
		d.Invariant = "Mean of the logits"
	}
	d.Equivariance = svg(equivarianceChart(f, rotations).SVG(400, 300))
	if chart := perLayerChart(f, rotations); chart != nil {
		d.PerLayer = svg(chart.SVG(400, 300))
	}
	scales := slices.ContainsFunc(f.equivariance, func(e model.Equivariance) bool { return e.Scale != 0 })
	if scales {
		d.Scaled = svg(equivarianceChart(f, scalings).SVG(400, 300))
		if chart := perLayerChart(f, scalings); chart != nil {
			d.ScaledPerLayer = svg(chart.SVG(400, 300))
		}
	}
	for _, e := range f.equivariance {
		if a := e.Angle * 180 / math.Pi; e.Flip || e.Scale != 0 && e.Scale != 1 || math.Mod(a+1e-6, 90) < 1e-3 && a > 1 {
			d.Transformations = append(d.Transformations, effect{transformationName(e.Transformation), !e.Element, scales, e.Pooled, e.Changed})
			if e.Element && len(e.Layers) > 0 && d.LayerEffects == nil {
				d.LayersAt = transformationName(e.Transformation)
				for _, l := range e.Layers {
					d.LayerEffects = append(d.LayerEffects, effect{Name: l.Layer, Scales: scales, Parts: l.Parts})
				}
			}
		}
	}
}

func transformationName(t model.Transformation) string {
	switch {
	case t.Flip:
		return "flip, left to right"
	case t.Scale != 0:
		return fmt.Sprintf("scaling by %.2f", t.Scale)
	}
	return "rotation by " + degrees(t.Angle*180/math.Pi)
}

// family is a family of transformations that differences are drawn against.
type family struct {
	prefix, name string // of identifiers; in words
	axis         plots.Axis
	// of returns where a transformation stands on the axis, if it is one of the family.
	of func(t model.Transformation) (x float64, ok bool)
}

var rotations = family{
	name: "rotation",
	axis: plots.Axis{Max: 180, Ticks: []float64{0, 45, 90, 135, 180}, Format: degrees},
	of:   func(t model.Transformation) (float64, bool) { return t.Angle * 180 / math.Pi, !t.Flip && t.Scale == 0 },
}

// scalings stand at the binary logarithm of their factor.
var scalings = family{
	prefix: "scaled-", name: "scale",
	axis: plots.Axis{
		Min: -math.Log2(mostScaled), Max: math.Log2(mostScaled), Ticks: []float64{-0.5, -0.25, 0, 0.25, 0.5},
		Format: func(v float64) string { return fmt.Sprintf("%.2f", math.Exp2(v)) },
	},
	of: func(t model.Transformation) (float64, bool) { return math.Log2(t.Scale), t.Scale != 0 },
}

// equivarianceChart shows the difference behind the pooling, and its parts, against the
// transformations of a family.
func equivarianceChart(f *figures, of family) *plots.Chart {
	var x []float64
	var parts []model.Parts
	for _, e := range f.equivariance {
		if at, ok := of.of(e.Transformation); ok {
			x, parts = append(x, at), append(parts, e.Pooled)
		}
	}
	ch := of.axes("equivariance", "Difference of the pooled features")
	values := func(of func(p model.Parts) float64) (y []float64, largest float64) {
		for _, p := range parts {
			y = append(y, of(p))
			largest = max(largest, of(p))
		}
		return y, largest
	}
	all, largest := values(func(p model.Parts) float64 { return p.Total })
	ch.Desc = fmt.Sprintf("Relative to the features of the images as they are, at most %.3f.", largest)
	ch.Y.Max = largest
	for i, part := range []struct {
		name string
		of   func(p model.Parts) float64
	}{
		{"grid", func(p model.Parts) float64 { return p.Grid }},
		{"boundary", func(p model.Parts) float64 { return p.Boundary }},
		{"pooling", func(p model.Parts) float64 { return p.Pooling }},
		{"sampling", func(p model.Parts) float64 { return p.Sampling }},
		{"subset", func(p model.Parts) float64 { return p.Subset }},
		{"truncation", func(p model.Parts) float64 { return p.Truncation }},
	} {
		if y, top := values(part.of); top > 1e-3 {
			ch.Lines = append(ch.Lines, plots.Line{Name: part.name, X: x, Y: y, Color: plots.Ramp(i, 7), Dashed: true})
			ch.Y.Max = max(ch.Y.Max, top)
		}
	}
	ch.Lines = append(ch.Lines, plots.Line{Name: "total", X: x, Y: all, Color: plots.First})
	return ch
}

// axes returns a chart without lines.
func (of *family) axes(id, title string) *plots.Chart {
	x := of.axis
	x.Label = of.name + " of the input"
	return &plots.Chart{ID: of.prefix + id, Title: title + " against the " + x.Label, X: x, Y: plots.Axis{Label: "relative difference", Round: true}}
}

// perLayerChart shows the difference of every layer, where layers can be compared, against
// the transformations of a family.
func perLayerChart(f *figures, of family) *plots.Chart {
	var x []float64
	var y [][]float64
	var names []string
	for _, e := range f.equivariance {
		at, ok := of.of(e.Transformation)
		if !ok || len(e.Layers) == 0 || names != nil && len(e.Layers) != len(names) {
			continue
		}
		x = append(x, at)
		for i, l := range e.Layers {
			if len(y) == i {
				y, names = append(y, nil), append(names, shortLayer(l.Layer, i))
			}
			y[i] = append(y[i], l.Total)
		}
	}
	if len(x) < 3 {
		return nil
	}
	ch := of.axes("per-layer", "Difference of the feature maps of every layer")
	ch.Desc = "Lines in the order of the layers: " + strings.Join(names, ", ") + "."
	for i := range y {
		for _, v := range y[i] {
			ch.Y.Max = max(ch.Y.Max, v)
		}
		ch.Lines = append(ch.Lines, plots.Line{Name: names[i], X: x, Y: y[i], Color: plots.Ramp(i, len(y))})
	}
	return ch
}

// shortLayer shortens the name of convolution i as layerName does: those of a chain go by
// their number, as pools count among its blocks.
func shortLayer(name string, i int) string {
	var block, convolution int
	if _, err := fmt.Sscanf(name, "blocks.%d.gconv%d", &block, &convolution); err == nil {
		return fmt.Sprintf("%d.%d", block+1, convolution)
	}
	switch name {
	case "lift_conv":
		return "lift"
	case "last_gconv":
		return "last"
	}
	return fmt.Sprint(i)
}

// shortNames returns the names, or nil where one of them is too long for a cell.
func shortNames(names []string) []string {
	for _, name := range names {
		if len(name) > 12 {
			return nil
		}
	}
	return names
}

// confusionMatrix is the picture of which classes the network confuses.
func confusionMatrix(f *figures) *plots.Matrix {
	names := shortNames(f.classes)
	for i := range f.classes {
		if len(names) == i {
			names = append(names, fmt.Sprint(i))
		}
	}
	right, all := 0, 0
	for i, row := range f.confusion {
		right += row[i]
		for _, v := range row {
			all += v
		}
	}
	return &plots.Matrix{
		ID: "confusion", Title: "How many images of each class are put into each",
		Desc:  fmt.Sprintf("%d of %d are put into their own.", right, all),
		Names: names, Counts: f.confusion, Rows: "class", Cols: "answer",
	}
}
