package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/internal/plots"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/model"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"count":    count,
	"accuracy": func(v float64) string { return fmt.Sprintf("%.4f", v) },
	"number":   func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) },
	"theta":    func(v float64) string { return fmt.Sprintf("%.3f", v) },
}).Parse(reportText))

// reportData is what the template of the report shows.
type reportData struct {
	Style  template.CSS
	Result *result
	Epochs []model.EpochMetrics

	Set           string // the data set, named synthetic where it is
	Class         string // the first class, whose probability is shown
	Images, Draws int    // behind that
	WholeDraws    int    // behind the same on the whole group
	// ValidationDraws is behind each validation.
	ValidationDraws int
	Crossings       string // where the answer changes; empty where it does not
	// Pictures. Rotation is laid out twice, for wide and for narrow pages.
	Rotation, RotationNarrow, Loss, Accuracy, Subsets template.HTML

	Layers   []layerReport
	Settings []setting
	Facts    []setting
	Command  string
}

// layerReport is the learned subset of one group convolution.
type layerReport struct {
	Short, Name string
	Theta       float64
	Elements    int           // drawn per pass
	Circle      template.HTML // empty for groups whose stabiliser is no circle
}

// setting is a row of a table.
type setting struct {
	Key, Value string
	Changed    bool // from the preset
}

// writeReport writes the report of a completed run as one HTML file that needs
// nothing else.
func writeReport(path string, c *config.Config, r *result, epochs []model.EpochMetrics, f *figures) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		return reportTemplate.Execute(w, newReport(c, r, epochs, f))
	})
}

// writeRotation writes the figure of the report that shows the probability
// against the rotation as a file of its own.
func writeRotation(path string, r *result, f *figures) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, rotationChart("rotation", r, f).File(860, 430))
		return err
	})
}

func newReport(c *config.Config, r *result, epochs []model.EpochMetrics, f *figures) *reportData {
	narrow := rotationChart("rotation-narrow", r, f)
	narrow.X.Ticks = []float64{-180, -90, 0, 90, 180}
	d := &reportData{
		Style: template.CSS(plots.Style), Result: r, Epochs: epochs,
		Set: setName(r), Class: f.class, Images: f.images, Draws: f.draws, WholeDraws: f.wholeDraws, Crossings: inShort(f.crossings),
		ValidationDraws: model.ValidationDraws,
		Rotation:        svg(rotationChart("rotation", r, f).SVG(900, 400)),
		RotationNarrow:  svg(narrow.SVG(380, 330)),
		Loss:            svg(lossChart(epochs).SVG(380, 240)),
		Accuracy:        svg(accuracyChart(epochs).SVG(380, 240)),
		Command:         command(c),
	}
	if c.Conv.Partial {
		d.Subsets = svg(subsetChart(c, epochs).SVG(380, 300))
		d.Layers = layerReports(c, r)
	}
	d.Settings = settings(c)
	d.Facts = facts(r)
	return d
}

func svg(s string) template.HTML { return template.HTML(s) } // plots escapes what it is given

// setName names the data set of a result, and says so when it is synthetic.
func setName(r *result) string {
	if r.Synthetic {
		return r.Dataset + " (synthetic)"
	}
	return r.Dataset
}

// rotationChart is the paper's figure: what the network says about turned images.
func rotationChart(id string, r *result, f *figures) *plots.Chart {
	ch := &plots.Chart{
		ID:    id,
		Title: fmt.Sprintf("Probability of the class %s against the rotation of the input, %s", f.class, setName(r)),
		X: plots.Axis{
			Label: "rotation of the input, counter-clockwise", Min: -180, Max: 180,
			Ticks:  []float64{-180, -135, -90, -45, 0, 45, 90, 135, 180},
			Format: func(v float64) string { return strings.ReplaceAll(fmt.Sprintf("%.0f°", v), "-", "\u2212") },
		},
		Y:       plots.Axis{Label: fmt.Sprintf("mean probability of “%s” · %s", f.class, setName(r)), Min: 0, Max: 1},
		Levels:  []plots.Level{{Y: 0.5}},
		Picture: f.picture,
	}
	name := "the network"
	if f.whole != nil {
		name = "learned subsets"
		ch.Lines = append(ch.Lines, plots.Line{Name: "whole group", X: f.angles, Y: f.whole, Color: plots.Second, Dashed: true})
	}
	ch.Lines = append(ch.Lines, plots.Line{Name: name, X: f.angles, Y: f.learned, Color: plots.First})
	for _, x := range f.crossings {
		ch.Points = append(ch.Points, plots.Point{X: x, Y: 0.5, Label: degrees(x), Left: x < 0})
	}
	if len(ch.Points) > 6 {
		ch.Points = nil // a line that wavers about 1/2 has no crossings worth a name
	}
	low, high := extremes(f.learned)
	ch.Desc = fmt.Sprintf("With %s the mean over %d test images and %d draws lies between %.2f (at %s) and %.2f (at %s).",
		name, f.images, f.draws, f.learned[low], degrees(f.angles[low]), f.learned[high], degrees(f.angles[high]))
	if where := inWords(f.crossings); where != "" {
		ch.Desc += " It crosses one half at " + where + "."
	}
	if f.whole != nil {
		low, high := extremes(f.whole)
		ch.Desc += fmt.Sprintf(" With every subset reset to the whole group it lies between %.2f and %.2f.", f.whole[low], f.whole[high])
	}
	return ch
}

func lossChart(epochs []model.EpochMetrics) *plots.Chart {
	train := column(epochs, func(m *model.EpochMetrics) float64 { return m.TrainLoss })
	validation := column(epochs, func(m *model.EpochMetrics) float64 { return m.ValidationLoss })
	last := len(epochs) - 1
	return &plots.Chart{
		ID: "loss", Title: "Cross-entropy over the epochs",
		Desc:  fmt.Sprintf("After epoch %d: training %.4f, validation %.4f nats.", epochs[last].Epoch, train[last], validation[last]),
		X:     epochAxis(epochs),
		Y:     plots.Axis{Label: "cross-entropy in nats", Max: slices.Max(append(slices.Clone(train), validation...)), Round: true},
		Lines: trainingLines(epochs, train, validation),
	}
}

func accuracyChart(epochs []model.EpochMetrics) *plots.Chart {
	train := column(epochs, func(m *model.EpochMetrics) float64 { return m.TrainAccuracy })
	validation := column(epochs, func(m *model.EpochMetrics) float64 { return m.ValidationAccuracy })
	bottom := 1.0
	for _, v := range append(slices.Clone(train), validation...) {
		bottom = min(bottom, v)
	}
	last := len(epochs) - 1
	return &plots.Chart{
		ID: "accuracy", Title: "Accuracy over the epochs",
		Desc:  fmt.Sprintf("After epoch %d: training %.4f, validation %.4f.", epochs[last].Epoch, train[last], validation[last]),
		X:     epochAxis(epochs),
		Y:     plots.Axis{Label: "accuracy", Min: min(0.9, math.Floor(bottom*10)/10), Max: 1},
		Lines: trainingLines(epochs, train, validation),
	}
}

func trainingLines(epochs []model.EpochMetrics, train, validation []float64) []plots.Line {
	x := column(epochs, func(m *model.EpochMetrics) float64 { return float64(m.Epoch) })
	return []plots.Line{
		{Name: "training", X: x, Y: train, Color: plots.Second, Dashed: true},
		{Name: "validation", X: x, Y: validation, Color: plots.First},
	}
}

// subsetChart shows the learned subset of every layer. It starts where training
// did: at the whole group.
func subsetChart(c *config.Config, epochs []model.EpochMetrics) *plots.Chart {
	layers := len(epochs[0].Learned)
	ch := &plots.Chart{
		ID: "subsets", Title: "Learned subset of every layer over the epochs",
		X: plots.Axis{Label: "epoch", Min: 0, Max: float64(epochs[len(epochs)-1].Epoch), Whole: true},
		Y: plots.Axis{Label: "size of the subset, as a fraction of the group", Min: 0, Max: 1},
	}
	var last []string
	for i := range layers {
		x, y := []float64{0}, []float64{1}
		for _, m := range epochs {
			x, y = append(x, float64(m.Epoch)), append(y, m.Learned[i])
			ch.Y.Max = max(ch.Y.Max, m.Learned[i]) // the published program lets it grow beyond the group
		}
		short, name := layerName(c, i, layers)
		last = append(last, fmt.Sprintf("%s %.2f", name, y[len(y)-1]))
		if layers > 16 && i > 0 && i < layers-1 {
			short = "" // no room for all names
		}
		ch.Lines = append(ch.Lines, plots.Line{Name: short, X: x, Y: y, Color: plots.Ramp(i, layers)})
	}
	ch.Desc = fmt.Sprintf("All start at 1, the whole group. After epoch %d: %s.", epochs[len(epochs)-1].Epoch, strings.Join(last, ", "))
	return ch
}

// epochAxis is the axis of epochs; a single one stands in its middle.
func epochAxis(epochs []model.EpochMetrics) plots.Axis {
	first, last := float64(epochs[0].Epoch), float64(epochs[len(epochs)-1].Epoch)
	a := plots.Axis{Label: "epoch", Min: first, Max: last, Whole: true}
	if first == last {
		a.Min, a.Max, a.Ticks = first-0.5, first+0.5, []float64{first}
		a.Format = func(v float64) string { return fmt.Sprintf("%.0f", v) }
	}
	return a
}

func column(epochs []model.EpochMetrics, of func(*model.EpochMetrics) float64) []float64 {
	v := make([]float64, len(epochs))
	for i := range epochs {
		v[i] = of(&epochs[i])
	}
	return v
}

func extremes(v []float64) (low, high int) {
	for i := range v {
		if v[i] < v[low] {
			low = i
		}
		if v[i] > v[high] {
			high = i
		}
	}
	return low, high
}

func degrees(v float64) string {
	s := fmt.Sprintf("%.0f°", v)
	if s == "-0°" {
		return "0°"
	}
	return strings.ReplaceAll(s, "-", "\u2212")
}

// inWords lists angles: "−92° and 88°".
func inWords(angles []float64) string {
	list := make([]string, len(angles))
	for i, a := range angles {
		list[i] = degrees(a)
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

// inShort lists angles for a headline: "−92°, 88°"; too many say nothing.
func inShort(angles []float64) string {
	if len(angles) > 4 {
		return ""
	}
	list := make([]string, len(angles))
	for i, a := range angles {
		list[i] = degrees(a)
	}
	return strings.Join(list, ", ")
}

// layerName names group convolution i of n: of a residual network, two in every
// block, then the last; of a chain, each a block.
func layerName(c *config.Config, i, n int) (short, long string) {
	switch {
	case c.Net.Type == "GCNN":
		return fmt.Sprint(i + 1), fmt.Sprintf("convolution %d", i+1)
	case i == n-1 && !c.Net.LastT2:
		return "last", "last convolution"
	}
	return fmt.Sprintf("%d.%d", i/2+1, i%2+1), fmt.Sprintf("block %d, convolution %d", i/2+1, i%2+1)
}

func layerReports(c *config.Config, r *result) []layerReport {
	group, err := lie.ByName(c.Group.Name)
	if err != nil || group.Dim() == 0 {
		return nil
	}
	var list []layerReport
	for i, theta := range r.Learned {
		short, name := layerName(c, i, len(r.Learned))
		l := layerReport{Short: short, Name: name, Theta: theta, Elements: drawn(c, theta)}
		if len(group.Axes()) == 1 && isCircle(group.Axes()[0]) && c.Group.Sampling == "random" {
			circle := plots.Circle{
				ID: fmt.Sprintf("layer-%d", i), Title: "Subset of " + name,
				Desc:      fmt.Sprintf("Rotations from \u2212%.0f to %.0f degrees, %d elements.", theta*180, theta*180, l.Elements),
				HalfWidth: theta, Elements: l.Elements, Color: plots.Ramp(i, len(r.Learned)),
			}
			l.Circle = svg(circle.SVG())
		}
		list = append(list, l)
	}
	return list
}

func isCircle(a lie.Axis) bool { return a.Kind == lie.Circle }

// drawn is the number of elements that a layer draws from a subset.
func drawn(c *config.Config, theta float64) int {
	return max(1, min(c.Group.Elements, int(math.Ceil(float64(c.Group.Elements)*math.Abs(theta)))))
}

// settings lists all values of a configuration.
func settings(c *config.Config) []setting {
	base, err := config.Lookup(c.Preset)
	var list []setting
	for _, k := range config.Keys() {
		s := setting{Key: k, Value: c.Value(k)}
		s.Changed = err == nil && s.Value != base.Value(k)
		list = append(list, s)
	}
	return list
}

func facts(r *result) []setting {
	return []setting{
		{Key: "parameters", Value: strconv.Itoa(r.Parameters)},
		{Key: "training steps", Value: strconv.Itoa(r.Steps)},
		{Key: "seconds per step", Value: fmt.Sprintf("%.4f", r.SecondsPerStep)},
		{Key: "images per second", Value: fmt.Sprintf("%.0f", r.ImagesPerSecond)},
		{Key: "largest resident set", Value: fmt.Sprintf("%.0f MiB", float64(r.PeakRSSBytes)/(1<<20))},
		{Key: "device", Value: r.Device},
		{Key: "kernels", Value: r.Level},
		{Key: "threads", Value: strconv.Itoa(r.Threads)},
		{Key: "version", Value: r.Version},
	}
}

// command returns a command that repeats a run.
func command(c *config.Config) string {
	words := []string{"go run ./train"}
	base, err := config.Lookup(c.Preset)
	if err != nil {
		return "go run ./train -config config.toml"
	}
	if c.Preset != config.Default {
		words = append(words, "-preset "+c.Preset)
	}
	for _, k := range config.Keys() {
		value := c.Value(k)
		if k == "preset" || value == base.Value(k) {
			continue
		}
		switch k {
		case "seed":
			words = append(words, "-seed "+value)
		case "train.epochs":
			words = append(words, "-epochs "+value)
		default:
			words = append(words, "-set "+shellQuote(k+"="+value))
		}
	}
	return strings.Join(words, " ")
}

// shellQuote quotes s for a shell where it holds more than plain characters.
func shellQuote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=._-/:+,", r)
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
