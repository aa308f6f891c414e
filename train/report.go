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
	"github.com/noether-go/noether/model"
)

//go:embed report.html.tmpl
var reportText string

//go:embed figures.html.tmpl
var figuresText string

//go:embed inspect.html.tmpl
var inspectText string

var pages = template.New("pages").Funcs(template.FuncMap{
	"count":    count,
	"accuracy": func(v float64) string { return fmt.Sprintf("%.4f", v) },
	"number":   func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) },
	"theta":    func(v float64) string { return fmt.Sprintf("%.3f", v) },
	"part":     func(v float64) string { return fmt.Sprintf("%.3f", v) },
	"percent":  percent,
})

var (
	_               = template.Must(pages.New("figures").Parse(figuresText))
	reportTemplate  = template.Must(pages.New("report").Parse(reportText))
	inspectTemplate = template.Must(pages.New("inspect").Parse(inspectText))
)

// reportData is what the template of the report shows.
type reportData struct {
	*figureData
	Result *result
	Epochs []model.EpochMetrics

	// ValidationDraws is behind each validation.
	ValidationDraws         int
	Crossings               string // where the answer changes; empty where it does not
	Loss, Accuracy, Subsets template.HTML

	Settings []setting
	Facts    []setting
	Command  string
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
		_, err := io.WriteString(w, rotationChart("rotation", setName(r), f).File(860, 430))
		return err
	})
}

func newReport(c *config.Config, r *result, epochs []model.EpochMetrics, f *figures) *reportData {
	d := &reportData{
		figureData: newFigureData(c, setName(r), f), Result: r, Epochs: epochs,
		Crossings: inShort(f.crossings), ValidationDraws: model.ValidationDraws,
		Loss:     svg(lossChart(epochs).SVG(380, 240)),
		Accuracy: svg(accuracyChart(epochs).SVG(380, 240)),
		Command:  command(c),
	}
	if c.Learns() {
		d.Subsets = svg(subsetChart(c, f.begin, epochs).SVG(380, 300))
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

// subsetChart shows the learned subset of every layer, from the sizes with which training began.
func subsetChart(c *config.Config, begin []float64, epochs []model.EpochMetrics) *plots.Chart {
	layers := len(epochs[0].Learned)
	ch := &plots.Chart{
		ID: "subsets", Title: "Learned subset of every layer over the epochs",
		X: plots.Axis{Label: "epoch", Min: 0, Max: float64(epochs[len(epochs)-1].Epoch), Whole: true},
		Y: plots.Axis{Label: "size of the subset, as a fraction of the group", Min: 0, Max: 1},
	}
	var last []string
	for i := range layers {
		x, y := []float64{0}, []float64{begin[i]}
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
	start := "1, the whole group"
	if begin[0] != 1 { // of what is kept or dropped in each draw
		start = fmt.Sprintf("%.2f of the group", begin[0])
	}
	ch.Desc = fmt.Sprintf("All start at %s. After epoch %d: %s.", start, epochs[len(epochs)-1].Epoch, strings.Join(last, ", "))
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
	case c.Net.Augerino():
		return "all", "the whole network"
	case c.Net.Type == "GCNN":
		return fmt.Sprint(i + 1), fmt.Sprintf("convolution %d", i+1)
	case i == n-1 && !c.Net.LastT2:
		return "last", "last convolution"
	}
	return fmt.Sprintf("%d.%d", i/2+1, i%2+1), fmt.Sprintf("block %d, convolution %d", i/2+1, i%2+1)
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
