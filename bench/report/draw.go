package main

import (
	"bytes"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/noether-go/noether/bench/cases"
)

// Colours that people who confuse red and green can tell apart (Okabe and Ito).
var palette = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255},
	color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{120, 120, 120, 255},
}

var grey = color.RGBA{150, 150, 150, 255}

// drawAll draws all plots that there are measurements for. The result is by the
// name of the file.
func drawAll(r *results) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, f := range map[string]func(*results) ([]*plot.Plot, error){
		"gemm.png": gemmPlots, "roofline.png": rooflinePlot, "elements.png": elementsPlot, "partial.png": partialPlots,
		"scaling.png": scalingPlot, "growth.png": growthPlots, "ratios.png": ratiosPlot,
	} {
		panels, err := f(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(panels) == 0 {
			continue
		}
		height := 9 * vg.Centimeter
		if name == "ratios.png" {
			height = 16 * vg.Centimeter
		}
		if files[name], err = encode(panels, height); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// encode draws panels beside each other, at most two in a row.
func encode(panels []*plot.Plot, height vg.Length) ([]byte, error) {
	cols := min(2, len(panels))
	rows := (len(panels) + cols - 1) / cols
	width := 15 * vg.Centimeter
	if cols == 2 {
		width = 24 * vg.Centimeter
	}
	img := vgimg.NewWith(vgimg.UseWH(width, height*vg.Length(rows)), vgimg.UseDPI(110))
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, cols)
		copy(grid[i], panels[i*cols:min((i+1)*cols, len(panels))])
	}
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	for i, row := range plot.Align(grid, tiles, draw.New(img)) {
		for j, canvas := range row {
			if grid[i][j] != nil {
				grid[i][j].Draw(canvas)
			}
		}
	}
	var out bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 2 * vg.Millimeter
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Millimeter
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{230}, color.Gray{230}
	p.Add(grid)
	return p
}

// logAxis gives an axis ticks at the measured values and a logarithmic scale.
func logAxis(a *plot.Axis, ticks []float64) {
	a.Scale = plot.LogScale{}
	var list []plot.Tick
	for _, v := range ticks {
		list = append(list, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
	}
	a.Tick.Marker = plot.ConstantTicks(list)
}

// evenTicks are about five multiples of a round number from 0 to the top.
func evenTicks(top float64) plot.ConstantTicks {
	step := math.Pow(10, math.Floor(math.Log10(top/4)))
	for _, m := range []float64{5, 2} {
		if m*step <= top/4 {
			step *= m
			break
		}
	}
	var list []plot.Tick
	for i := 0; float64(i)*step <= top*1.001; i++ {
		v := float64(i) * step
		list = append(list, plot.Tick{Value: v, Label: fmt.Sprintf("%.4g", v)})
	}
	return list
}

// oneTwoFive returns ticks from low to high.
func oneTwoFive(low, high float64) []float64 {
	var ticks []float64
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= low*0.999 && v <= high*1.001 {
				ticks = append(ticks, v)
			}
		}
	}
	return ticks
}

// line adds points joined by a line; without points it does nothing.
func line(p *plot.Plot, name string, points plotter.XYs, i int) error {
	if len(points) == 0 {
		return nil
	}
	l, s, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	l.Color, s.Color = palette[i%len(palette)], palette[i%len(palette)]
	l.Width, s.Radius, s.Shape = vg.Points(1.5), vg.Points(2.5), draw.CircleGlyph{}
	p.Add(l, s)
	p.Legend.Add(name, l, s)
	return nil
}

// rule adds a dashed line.
func rule(p *plot.Plot, name string, points plotter.XYs) error {
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.Color, l.Dashes = grey, []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(l)
	if name != "" {
		p.Legend.Add(name, l)
	}
	return nil
}

// gemmPlots have the FMA peak at the top of the y axis (the custom of BLIS), or a
// line there where the matrix unit exceeds it.
func gemmPlots(r *results) ([]*plot.Plot, error) {
	level := r.gemmLevel()
	peak := r.peak(level)
	if math.IsNaN(peak) {
		return nil, nil
	}
	mark := "top"
	if level == "amx" {
		mark = "dashed line"
	}
	var panels []*plot.Plot
	for _, threads := range []int{1, 2} {
		p := newPlot(fmt.Sprintf("SGEMM on %s, %d thread%s; the %s is the FMA peak", levelTitle(level), threads, plural(threads), mark), "m = n = k", "GFLOP/s")
		p.Legend.Top, p.Legend.Left = false, false
		curves := map[string]plotter.XYs{}
		var sizes []float64
		for _, g := range cases.Gemms {
			if !g.Cube() {
				continue
			}
			sizes = append(sizes, float64(g.M))
			name := g.Bench(level, threads)
			for peer := range r.samples[name] {
				curves[peer] = append(curves[peer], plotter.XY{X: float64(g.M), Y: g.Operations() / r.median(name, peer, ns)})
			}
		}
		order := []string{noether}
		for _, peer := range slices.Sorted(maps.Keys(curves)) {
			if peer != noether {
				order = append(order, peer)
			}
		}
		for i, peer := range order {
			if err := line(p, title(peer), curves[peer], i); err != nil {
				return nil, err
			}
		}
		smallest, largest := slices.Min(sizes), slices.Max(sizes)
		logAxis(&p.X, slices.DeleteFunc(sizes, func(v float64) bool { return v == 384 })) // its label would touch the next
		p.X.Max = 12 * largest                                                            // room for the legend
		p.Y.Min, p.Y.Max = 0, peak*float64(threads)
		if level == "amx" {
			if err := rule(p, "", plotter.XYs{{X: smallest, Y: p.Y.Max}, {X: 12 * largest, Y: p.Y.Max}}); err != nil {
				return nil, err
			}
			for _, q := range curves[noether] {
				p.Y.Max = max(p.Y.Max, 1.05*q.Y)
			}
		}
		p.Y.Tick.Marker = evenTicks(p.Y.Max)
		panels = append(panels, p)
	}
	return panels, nil
}

// rooflinePlot shows what one core can do at most for so many operations per
// byte without a matrix unit, and what products and layers reach. Layers count the operations of the
// dense convolution, of which another algorithm needs a part only.
func rooflinePlot(r *results) ([]*plot.Plot, error) {
	n := cases.Lengths[len(cases.Lengths)-1]
	stream := r.median(cases.ElementwiseBench("relu", r.elementwiseLevel(), n), noether, ns)
	level := r.gemmLevel()
	peak := r.peak(level)
	if math.IsNaN(peak) || math.IsNaN(stream) {
		return nil, nil
	}
	bandwidth := 8 * float64(n) / stream // GB/s: one array read, one written
	p := newPlot(fmt.Sprintf("One core: %.0f GFLOP/s by FMA, %.1f GB/s", peak, bandwidth), "operations per byte of operands", "GFLOP/s")
	const low, high = 0.5, 20000
	knee := peak / bandwidth
	if err := rule(p, "roof, operands in memory", plotter.XYs{{X: low, Y: low * bandwidth}, {X: knee, Y: peak}, {X: high, Y: peak}}); err != nil {
		return nil, err
	}
	var products, layers plotter.XYs
	for _, g := range cases.Gemms {
		if t := r.median(g.Bench(level, 1), noether, ns); !math.IsNaN(t) {
			bytes := 4 * float64(g.M*g.K+g.K*g.N+g.M*g.N)
			products = append(products, plotter.XY{X: g.Operations() / bytes, Y: g.Operations() / t})
		}
	}
	for _, c := range cases.Convs {
		if t := r.median(c.Bench("auto", "all", 1), noether, ns); !math.IsNaN(t) {
			plane := float64(c.Side * c.Side * c.Batch * c.Draw())
			bytes := 4 * (3*plane*float64(c.In+c.Out) + 3*float64(c.In*c.Out*c.Draw()*c.Draw()*c.Kernel*c.Kernel))
			layers = append(layers, plotter.XY{X: c.Operations() / bytes, Y: c.Operations() / t})
		}
	}
	top := peak
	for i, points := range []plotter.XYs{products, layers} {
		if len(points) == 0 {
			continue
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return nil, err
		}
		s.Color, s.Radius, s.Shape = palette[i], vg.Points(3), draw.CircleGlyph{}
		p.Add(s)
		p.Legend.Add([]string{"products", "layers, as dense convolutions"}[i], s)
		for _, q := range points {
			top = max(top, q.Y)
		}
	}
	logAxis(&p.X, []float64{1, 10, 100, 1000, 10000})
	logAxis(&p.Y, oneTwoFive(low*bandwidth, 2*top))
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low*bandwidth, 2*top
	return []*plot.Plot{p}, nil
}

// stepCurve is the time in seconds of a peer's step over the parts of the group.
func stepCurve(r *results, peer string, x func(theta float64) float64) plotter.XYs {
	var points plotter.XYs
	for _, s := range cases.Partial() {
		if t := r.median(s.TrainBench(2), peer, ns); !math.IsNaN(t) {
			points = append(points, plotter.XY{X: x(s.Theta), Y: t / 1e9})
		}
	}
	return points
}

// elementsPlot compares steps by the number of elements drawn in each layer.
func elementsPlot(r *results) ([]*plot.Plot, error) {
	const elements = 8 // of the preset
	p := newPlot("Training step, "+cases.Steps[0].Preset, "elements drawn in each group convolution", "seconds")
	var all plotter.XYs
	for i, peer := range []string{noether, "pytorch"} {
		points := stepCurve(r, peer, func(theta float64) float64 { return elements * theta })
		if err := line(p, title(peer), points, i); err != nil {
			return nil, err
		}
		all = append(all, points...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	logAxis(&p.X, []float64{2, 4, 6, 8})
	low, high := rangeY(all)
	logAxis(&p.Y, oneTwoFive(low/2, high*2))
	p.Y.Min, p.Y.Max = low/2, high*2
	return []*plot.Plot{p}, nil
}

func rangeY(points plotter.XYs) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, q := range points {
		low, high = min(low, q.Y), max(high, q.Y)
	}
	return low, high
}

// partialPlots show time and memory of a step relative to the whole group.
func partialPlots(r *results) ([]*plot.Plot, error) {
	whole := cases.Partial()[0].TrainBench(2)
	var panels []*plot.Plot
	for _, show := range []struct {
		title, unit string
		peers       [2]string
	}{
		{"Time of a step", ns, [2]string{noether, "pytorch"}},
		{"Peak of memory", "peak-MiB", [2]string{noether, "pytorch-peak"}},
	} {
		p := newPlot(show.title+" by the part of the group", "part", "share of the step on the whole group")
		n := 0
		for i, peer := range show.peers {
			var points plotter.XYs
			for _, s := range cases.Partial() {
				if v := r.median(s.TrainBench(2), peer, show.unit) / r.median(whole, peer, show.unit); !math.IsNaN(v) {
					points = append(points, plotter.XY{X: s.Theta, Y: v})
				}
			}
			n += len(points)
			if err := line(p, title(peer), points, i); err != nil {
				return nil, err
			}
		}
		if n == 0 {
			return nil, nil
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.2, 1.05, 0, 1.1
		p.Y.Tick.Marker = evenTicks(1)
		p.X.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 0.25, Label: "0.25"}, {Value: 0.5, Label: "0.5"}, {Value: 0.75, Label: "0.75"}, {Value: 1, Label: "1"}})
		panels = append(panels, p)
	}
	return panels, nil
}

// scalingPlot shows what the second thread brings to each training step.
func scalingPlot(r *results) ([]*plot.Plot, error) {
	var labels []string
	var values plotter.Values
	for _, s := range cases.Steps {
		if v := r.median(s.TrainBench(1), noether, ns) / r.median(s.TrainBench(2), noether, ns); !math.IsNaN(v) {
			labels, values = append(labels, s.Preset), append(values, v)
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	p := newPlot("Two threads over one, training steps", "times as fast", "")
	if err := barChart(p, labels, values); err != nil {
		return nil, err
	}
	if err := rule(p, "", plotter.XYs{{X: 2, Y: -0.5}, {X: 2, Y: float64(len(values)) - 0.5}}); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max = 0, 2.1
	p.X.Tick.Marker = evenTicks(2)
	return []*plot.Plot{p}, nil
}

// barChart adds horizontal bars, the first at the top.
func barChart(p *plot.Plot, labels []string, values plotter.Values) error {
	slices.Reverse(labels)
	slices.Reverse(values)
	b, err := plotter.NewBarChart(values, vg.Points(9))
	if err != nil {
		return err
	}
	b.Horizontal, b.Color, b.LineStyle.Width = true, palette[0], 0
	p.Add(b)
	p.NominalY(labels...)
	return nil
}

// growthPlots show a layer along each axis, and the slope of the formula.
func growthPlots(r *results) ([]*plot.Plot, error) {
	var panels []*plot.Plot
	for _, g := range cases.Growths {
		var points plotter.XYs
		var ticks []float64
		for i, c := range g.Cases() {
			if t := r.median(c.Bench("auto", "all", 1), noether, ns); !math.IsNaN(t) {
				points = append(points, plotter.XY{X: float64(g.Values[i]), Y: t / 1e6})
				ticks = append(ticks, float64(g.Values[i]))
			}
		}
		if len(points) < 2 {
			continue
		}
		p := newPlot("Layer "+cases.Convs[0].Name+" by "+g.About, g.About, "ms")
		if err := line(p, "Noether", points, 0); err != nil {
			return nil, err
		}
		first, last := points[0], points[len(points)-1]
		from := last.Y * g.Formula(int(first.X)) / g.Formula(int(last.X))
		if err := rule(p, "operations of the formula", plotter.XYs{{X: first.X, Y: from}, last}); err != nil {
			return nil, err
		}
		low, high := rangeY(append(slices.Clone(points), plotter.XY{X: first.X, Y: from}))
		logAxis(&p.X, ticks)
		logAxis(&p.Y, oneTwoFive(low/1.5, high*2))
		p.Y.Min, p.Y.Max = low/1.5, high*2
		panels = append(panels, p)
	}
	return panels, nil
}

// ratiosPlot shows every line of the table in units of its bar.
func ratiosPlot(r *results) ([]*plot.Plot, error) {
	var labels []string
	var values plotter.Values
	for _, b := range bars(r) {
		if !b.got.known() {
			continue
		}
		v := b.got.value / b.bound
		if b.atMost {
			v = 1 / v
		}
		labels, values = append(labels, b.what), append(values, v)
	}
	if len(values) == 0 {
		return nil, nil
	}
	p := newPlot("Measured, in units of what is to be reached", "1 is reached", "")
	n := len(values)
	if err := barChart(p, labels, values); err != nil {
		return nil, err
	}
	if err := rule(p, "", plotter.XYs{{X: 1, Y: -0.5}, {X: 1, Y: float64(n) - 0.5}}); err != nil {
		return nil, err
	}
	p.X.Min = 0
	p.X.Tick.Marker = evenTicks(max(1, slices.Max(values)))
	p.Y.Tick.Label.Font.Size = vg.Points(7)
	return []*plot.Plot{p}, nil
}
