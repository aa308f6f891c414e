package plots

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		whole  bool
		want   []float64
	}{
		{0, 1, 5, false, []float64{0, .2, .4, .6, .8, 1}},
		{0, 1, 4, false, []float64{0, .5, 1}},
		{.5, 1, 5, false, []float64{.5, .6, .7, .8, .9, 1}},
		{1, 10, 5, true, []float64{2, 4, 6, 8, 10}},
		{1, 300, 6, true, []float64{50, 100, 150, 200, 250, 300}},
		{0, 2, 6, true, []float64{0, 1, 2}},
		{0, 2, 6, false, []float64{0, .5, 1, 1.5, 2}},
		{-180, 180, 4, false, []float64{-100, 0, 100}},
		{3, 3, 5, false, []float64{3}},
		{0, math.Inf(1), 5, false, []float64{0}},
	} {
		got, _ := ticks(c.lo, c.hi, c.n, c.whole)
		ok := len(got) == len(c.want)
		for i := range c.want {
			ok = ok && math.Abs(got[i]-c.want[i]) < 1e-9
		}
		if !ok {
			t.Errorf("ticks(%v, %v, %d, %v) = %v, want %v", c.lo, c.hi, c.n, c.whole, got, c.want)
		}
		if len(got) > c.n+1 {
			t.Errorf("%d ticks where about %d are wanted", len(got), c.n)
		}
	}
}

func TestAxisFitted(t *testing.T) {
	labels := func(a Axis) []string {
		var s []string
		for _, v := range a.Ticks {
			s = append(s, a.Format(v))
		}
		return s
	}
	for _, c := range []struct {
		axis     Axis
		values   []float64
		min, max float64
		labels   []string
	}{
		{Axis{}, []float64{1, 2, math.NaN()}, 1, 2, []string{"1.0", "1.2", "1.4", "1.6", "1.8", "2.0"}},
		{Axis{}, nil, 0, 1, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{Axis{}, []float64{7}, 6, 8, []string{"6.0", "6.5", "7.0", "7.5", "8.0"}},
		{Axis{Round: true}, []float64{0, 0}, 0, 1, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{Axis{Max: .53, Round: true}, nil, 0, .6, []string{"0.0", "0.2", "0.4", "0.6"}},
		{Axis{Max: .6, Round: true}, nil, 0, .6, []string{"0.0", "0.2", "0.4", "0.6"}},
		{Axis{Min: -1, Max: 1}, nil, -1, 1, []string{"−1.0", "−0.5", "0.0", "0.5", "1.0"}},
		{Axis{Max: 7.2e9, Round: true}, nil, 0, 8e9, []string{"0", "2e+09", "4e+09", "6e+09", "8e+09"}},
		{Axis{Min: -1e12, Max: -0.999994e12}, nil, -1e12, -0.999994e12, []string{"−1e+12", "−9.99998e+11", "−9.99996e+11", "−9.99994e+11"}},
		{Axis{Max: 1e6, Whole: true}, nil, 0, 1e6, []string{"0", "200000", "400000", "600000", "800000", "1000000"}},
		{Axis{Max: 1000, Whole: true}, nil, 0, 1000, []string{"0", "200", "400", "600", "800", "1000"}},
	} {
		a := c.axis.fitted(c.values, 5)
		if !(math.Abs(a.Min-c.min) <= 1e-12) || !(math.Abs(a.Max-c.max) <= 1e-12) || !slices.Equal(labels(a), c.labels) {
			t.Errorf("%+v over %v: %v to %v at %v", c.axis, c.values, a.Min, a.Max, labels(a))
		}
	}
}

// Labels at the ends of lines stay apart, in the order of the lines, and inside.
func TestSpread(t *testing.T) {
	for _, ys := range [][]float64{{50}, {50, 50, 50}, {99, 98, 97}, {0, 1, 2}, {10, 90}, {40, 60, 41, 59}, slices.Repeat([]float64{5}, 20)} {
		var list []name
		for _, y := range ys {
			list = append(list, name{y: y, at: y})
		}
		spread(list, 0, 100)
		gap := min(lineHeight, 100/max(1, float64(len(list)-1)))
		for i, n := range list {
			if n.at < -1e-9 || n.at > 100+1e-9 {
				t.Errorf("%v: a label stands at %v", ys, n.at)
			}
			if i > 0 && (n.at-list[i-1].at < gap-1e-9 || n.y < list[i-1].y) {
				t.Errorf("%v: labels at %v and %v", ys, list[i-1].at, n.at)
			}
		}
	}
}

func sample() *Chart {
	return &Chart{
		ID: "sample", Title: `Loss & "gain" <of> a run`, Desc: "It falls.",
		X: Axis{Label: "epoch", Whole: true}, Y: Axis{Label: "nats", Max: 1},
		Lines: []Line{
			{Name: "first <line>", X: []float64{0, 1, 2, 3}, Y: []float64{1, math.NaN(), .25, 0}, Color: First},
			{Name: "second", X: []float64{0, 3}, Y: []float64{0, 1}, Color: Second, Dashed: true},
		},
		Levels:  []Level{{Y: .5, Label: "half"}},
		Points:  []Point{{X: 1, Y: .5, Label: "here", Left: true}},
		Picture: &Picture{Width: 2, Height: 2, Ink: []uint8{0, 255, 128, 0}},
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

func TestChart(t *testing.T) {
	for _, width := range []float64{300, 900} {
		svg := sample().SVG(width, 240)
		wellFormed(t, svg)
		for _, s := range []string{
			`<title id="sample-title">Loss &amp; &#34;gain&#34; &lt;of&gt; a run</title>`, `<desc id="sample-desc">It falls.</desc>`,
			`aria-labelledby="sample-title sample-desc"`, "first &lt;line&gt;", ">second<", ">half<", ">here<", ">epoch<", ">nats<",
		} {
			if !strings.Contains(svg, s) {
				t.Errorf("width %v: no %s in %s", width, s, svg)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "style=") {
			t.Errorf("width %v: %s", width, svg)
		}
		// Everything that is drawn at a coordinate lies within the picture.
		for _, m := range regexp.MustCompile(`\b(x|y|cx|cy)="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
			v, err := strconv.ParseFloat(m[2], 64)
			limit := width
			if strings.HasSuffix(m[1], "y") {
				limit = 240
			}
			if err != nil || v < 0 || v > limit {
				t.Errorf("width %v: %s is %q", width, m[1], m[2])
			}
		}
	}
}

// What belongs to a value stands at it: ticks, levels, points and turned pictures.
func TestChartPlaces(t *testing.T) {
	svg, f := sample().SVG(600, 300), sample().layout(600, 300)
	x, y := func(v float64) string { return num(f.px(v)) }, func(v float64) string { return num(f.py(v)) }
	left, right, bottom := num(f.left), num(f.right), num(f.bottom)
	want := []string{
		`<path class="level" d="M` + left + " " + y(.5) + "H" + right + `"/>`, `<path class="axis" d="M` + left + " " + bottom + "H" + right + `"/>`,
		`<path class="drop" d="M` + x(1) + " " + y(.5) + "V" + bottom + `"/>`, `<circle class="point" cx="` + x(1) + `" cy="` + y(.5) + `" r="4.5"/>`,
		`<g class="c2"><path class="line dashed" d="M` + x(0) + " " + y(0) + "L" + x(3) + " " + y(1) + `"/>`,
		`cx="` + x(2) + `" cy="` + y(.25) + `" r="2.5"><title>first &lt;line&gt;, 2: 0.25</title>`,
		`<g id="sample-picture"><path`,
	}
	for _, v := range f.y.Ticks {
		label := `<text x="` + num(f.left-tickGap) + `" y="` + num(f.py(v)+4) + `" text-anchor="end" class="tick">` + f.y.Format(v) + "<"
		want = append(want, `<path class="grid" d="M`+left+" "+y(v)+"H"+right+`"/>`, label)
	}
	for _, v := range []float64{0, 1, 2, 3} {
		label := `<text x="` + x(v) + `" y="` + num(f.bottom+lineHeight+4) + `" text-anchor="middle" class="tick">` + f.x.Format(v) + "<"
		want = append(want, `<path class="axis" d="M`+x(v)+" "+bottom+`v4"/>`, label, `translate(`+x(v)+" ", `rotate(`+num(-v)+`)`)
	}
	for _, s := range want {
		if !strings.Contains(svg, s) {
			t.Errorf("no %s in %s", s, svg)
		}
	}
}

// The line goes through its values, and a gap is a gap.
func TestChartLine(t *testing.T) {
	f := sample().layout(600, 300)
	if f.px(0) != f.left || f.px(3) != f.right || f.py(0) != f.bottom || f.py(1) != f.top {
		t.Errorf("the corners are at %v, %v, %v, %v", f.px(0), f.px(3), f.py(0), f.py(1))
	}
	want := "M" + num(f.px(0)) + " " + num(f.py(1)) + "M" + num(f.px(2)) + " " + num(f.py(.25)) + "L" + num(f.px(3)) + " " + num(f.py(0))
	if svg := sample().SVG(600, 300); !strings.Contains(svg, `class="line" d="`+want+`"`) {
		t.Errorf("no line %s in %s", want, svg)
	}
}

// A line of very many values has no dots, and one of a single value has one.
func TestChartDots(t *testing.T) {
	for n, want := range map[int]int{1: 1, fewPoints: fewPoints, fewPoints + 1: 0} {
		l := Line{Name: "l"}
		for i := range n {
			l.X, l.Y = append(l.X, float64(i)), append(l.Y, float64(i%3))
		}
		svg := (&Chart{ID: "dots", Lines: []Line{l}}).SVG(400, 200)
		if got := strings.Count(svg, `class="dot"`); got != want {
			t.Errorf("%d values have %d dots, want %d", n, got, want)
		}
	}
}

func TestFile(t *testing.T) {
	svg := sample().File(800, 400)
	wellFormed(t, svg)
	if !strings.HasPrefix(svg, "<svg xmlns=") || !strings.Contains(svg, Style) || !strings.Contains(svg, `class="line"`) || !strings.Contains(svg, `width="800" height="400"`) {
		t.Errorf("not a file of its own: %.300s", svg)
	}
	for _, variable := range regexp.MustCompile(`var\((--[a-z0-9]+)\)`).FindAllStringSubmatch(svg, -1) {
		if !strings.Contains(Style, variable[1]+":") {
			t.Errorf("the style sheet does not define %s", variable[1])
		}
	}
}

func TestRamp(t *testing.T) {
	for n := 1; n <= 20; n++ {
		last := ""
		for i := range n {
			c := string(Ramp(i, n))
			if !strings.Contains(Style, ".plot ."+c+"{") || c < last {
				t.Errorf("item %d of %d has colour %s", i, n, c)
			}
			if c == last && n <= 6 {
				t.Errorf("items %d and %d of %d have one colour", i-1, i, n)
			}
			last = c
		}
		if n > 1 && (Ramp(0, n) != "r0" || Ramp(n-1, n) != "r5") {
			t.Errorf("%d items do not use the whole ramp", n)
		}
	}
}

func TestCircle(t *testing.T) {
	for _, c := range []struct {
		half     float64
		elements int
		want     string
	}{
		{0, 1, "±0°"}, {.25, 2, "±45°"}, {.5, 4, "±90°"}, {.75, 6, "±135°"}, {1, 8, "±180°"}, {1.2, 8, "±180°"}, {1, 100, "±180°"},
	} {
		svg := (&Circle{ID: "c", Title: "t", Desc: "d", HalfWidth: c.half, Elements: c.elements, Color: Ramp(0, 2)}).SVG()
		wellFormed(t, svg)
		if !strings.Contains(svg, c.want) {
			t.Errorf("%v: no %s in %s", c.half, c.want, svg)
		}
		dots := c.elements
		if dots > maxDots {
			dots = 0
		}
		if got := strings.Count(svg, `class="element"`); got != dots {
			t.Errorf("%v: %d elements, want %d", c.half, got, dots)
		}
		if whole := strings.Contains(svg, `<circle class="arc"`); whole != (c.half >= 1) {
			t.Errorf("%v: the arc is closed: %v", c.half, whole)
		}
	}
	// A quarter to either side: the arc runs from the left to the right, over the top.
	svg := (&Circle{ID: "c", HalfWidth: .5, Color: First}).SVG()
	if !strings.Contains(svg, `d="M-40 0A40 40 0 0 1 40 0"`) {
		t.Error(svg)
	}
}

// Further than a quarter to either side the arc is the larger one of the two between its ends,
// and elements stand in the middles of equal parts of it.
func TestCircleArc(t *testing.T) {
	svg := (&Circle{ID: "c", HalfWidth: .75, Elements: 3, Color: First}).SVG()
	d := num(40 / math.Sqrt2)
	want := []string{`d="M-` + d + " " + d + `A40 40 0 1 1 ` + d + " " + d + `"`, `<title id="c-title">`, `class="strong big"`}
	for _, at := range []string{`cx="-40" cy="0"`, `cx="0" cy="-40"`, `cx="40" cy="0"`} {
		want = append(want, `<circle class="element" `+at)
	}
	for _, s := range want {
		if !strings.Contains(svg, s) {
			t.Errorf("no %s in %s", s, svg)
		}
	}
}

// The shapes of a picture cover each pixel as often as its shade says.
func TestPicture(t *testing.T) {
	p := &Picture{Width: 3, Height: 2, Ink: []uint8{0, 64, 255, 128, 191, 10}}
	svg := "<g>" + p.paths() + "</g>"
	wellFormed(t, svg)
	var got [6]int
	for _, m := range regexp.MustCompile(`M(\S+) (\S+?)h(\d)v1`).FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		n, _ := strconv.Atoi(m[3])
		for i := range n {
			got[int(y+1)*3+int(x+1.5)+i]++
		}
	}
	if want := [6]int{0, 1, 4, 2, 3, 0}; got != want {
		t.Errorf("shades %v, want %v", got, want)
	}
	paper := 1.0 // what is left of it under so many shapes
	for s, m := range regexp.MustCompile(`fill-opacity="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		opacity, _ := strconv.ParseFloat(m[1], 64)
		if paper *= 1 - opacity; !(math.Abs(paper-float64(3-s)/4) <= 0.01) {
			t.Errorf("%d shapes leave %v of the paper", s+1, paper)
		}
	}
}

// A circle shows kept angles by their size, and mirrored elements by their strength.
func TestCircleOfProbabilities(t *testing.T) {
	svg := (&Circle{ID: "c", Title: "t", Desc: "d", Keep: []float64{1, .5, 0, .5}, Mirror: []float64{.25}, Label: "50%", Elements: 4, Color: First}).SVG()
	wellFormed(t, svg)
	if strings.Count(svg, `class="dot"`) != 4 || !strings.Contains(svg, `r="4.5"`) || !strings.Contains(svg, `cx="40" cy="0" r="2.75"`) && !strings.Contains(svg, `r="2.8"`) {
		t.Error(svg)
	}
	if !strings.Contains(svg, `class="mirror" r="31" stroke-opacity="0.25"`) || !strings.Contains(svg, ">50%<") || strings.Contains(svg, "arc") || strings.Contains(svg, `"element"`) {
		t.Error(svg)
	}
}

func TestMatrix(t *testing.T) {
	m := &Matrix{ID: "m", Title: "t", Desc: "d", Names: []string{"cat", "d<og", "x"}, Counts: [][]int{{8, 2, 0}, {0, 4, 0}, {0, 0, 0}}, Rows: "class", Cols: "answer"}
	svg := m.SVG(380)
	wellFormed(t, svg)
	for _, want := range []string{`fill-opacity="0.81"`, `fill-opacity="0.25"`, `fill-opacity="1.00"`, "cat as d&lt;og: 2 of 10", ">8<", ">2<", ">4<", ">class<", ">answer<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
	if n := strings.Count(svg, `class="cell"`); n != 3 {
		t.Errorf("%d cells of counts that are not zero, want 3", n)
	}
	// Of many classes it has the cells alone.
	many := &Matrix{ID: "m", Names: make([]string, 100), Counts: make([][]int, 100)}
	for i := range many.Counts {
		many.Names[i], many.Counts[i] = "name of a class", make([]int, 100)
		many.Counts[i][i] = 7
	}
	svg = many.SVG(380)
	wellFormed(t, svg)
	if strings.Contains(svg, ">7<") || strings.Count(svg, `class="cell"`) != 100 || strings.Contains(svg, `class="tick"`) {
		t.Error("counts or names where there is no room")
	}
}

// The shapes of a kernel cover the pixels of its sign, as strong as their shade.
func TestKernels(t *testing.T) {
	k := &Kernels{ID: "k", Title: "t", Desc: "d", Columns: []string{"0°", "90°"}, Side: 2, Weights: [][][]float32{
		{{1, -.5, 0, .01}, {-1, -1, 1, 1}},
		{{0, 0, 0, 0}, {0, 0, 0, 0}},
	}}
	svg := k.SVG(300)
	wellFormed(t, svg)
	for _, want := range []string{
		`<g class="c1"><path class="cell" fill-opacity="1" d="M0 0h1v1h-1z"/></g>`,
		`<g class="c2"><path class="cell" fill-opacity="0.5" d="M1 0h1v1h-1z"/></g>`,
		`<g class="c2"><path class="cell" fill-opacity="1" d="M0 0h2v1h-2z"/></g>`,
		`<g class="c1"><path class="cell" fill-opacity="1" d="M0 1h2v1h-2z"/></g>`,
		">0°<", ">90°<",
	} {
		if strings.Count(svg, want) != 1 {
			t.Errorf("%s is there %d times", want, strings.Count(svg, want))
		}
	}
	if n := strings.Count(svg, `class="cell"`); n != 4 {
		t.Errorf("%d shapes, want 4", n)
	}
	if n := strings.Count(svg, `class="field"`); n != 4 {
		t.Errorf("%d kernels, want 4", n)
	}
}

// A legend that is wider than the picture goes on in the next row, above the lines.
func TestLegendRows(t *testing.T) {
	c := &Chart{ID: "c"}
	for i := range 5 {
		c.Lines = append(c.Lines, Line{Name: fmt.Sprintf("a line of some length %d", i), X: []float64{0, 1}, Y: []float64{0, 1}})
	}
	svg := c.SVG(380, 300)
	wellFormed(t, svg)
	rows := map[string]int{}
	for _, m := range regexp.MustCompile(`<text x="(\S+)" y="(\S+)"[^>]*class="name">`).FindAllStringSubmatch(svg, -1) {
		rows[m[2]]++
		if x, _ := strconv.ParseFloat(m[1], 64); x+textWidth(c.Lines[0].Name) > 380 {
			t.Errorf("a name begins at %s", m[1])
		}
	}
	if len(rows) != 5 {
		t.Errorf("the rows hold %v names", rows)
	}
	one := c.layout(380, 300).top
	c.Lines = c.Lines[:1]
	if d := one - c.layout(380, 300).top; !(math.Abs(d-4*lineHeight) <= 1e-9) {
		t.Errorf("five rows take %v more than one", d)
	}
}

// Names that are wider than their column have their words below each other.
func TestKernelNamesWrap(t *testing.T) {
	k := &Kernels{ID: "k", Columns: []string{"0° ×0.5", "90° ×0.5", "180° ×2"}, Side: 1, Weights: [][][]float32{{{1}, {1}, {1}}}}
	if svg := k.SVG(300); !strings.Contains(svg, ">0° ×0.5<") {
		t.Errorf("names are broken where there is room: %s", svg)
	}
	svg := k.SVG(120)
	wellFormed(t, svg)
	for want, n := range map[string]int{">0°<": 1, ">×0.5<": 2, ">180°<": 1, ">×2<": 1} {
		if strings.Count(svg, want) != n {
			t.Errorf("%s is there %d times: %s", want, strings.Count(svg, want), svg)
		}
	}
	if names, lines := new(Kernels).names(10); names != nil || lines != 0 {
		t.Errorf("no columns have names %v on %d lines", names, lines)
	}
}

// Names may be any bytes, as those of folders are, and the picture can be read all the same.
func TestNamesOfAnyBytes(t *testing.T) {
	for name, want := range map[string]string{"Kr\xe4he": "Kr\ufffdhe", "a\x1b[1mb": "a\ufffd[1mb", "\ufffe": "\ufffd", "日本 & 'é'": "日本 &amp; &#39;é&#39;"} {
		chart := (&Chart{ID: "c", Title: name, Desc: name}).SVG(300, 240)
		matrix := (&Matrix{ID: "m", Names: []string{name, "b"}, Counts: [][]int{{1, 0}, {0, 1}}}).SVG(400)
		for _, svg := range []string{chart, matrix} {
			wellFormed(t, svg)
			if !strings.Contains(svg, ">"+want+"<") {
				t.Errorf("%q is not written as %q in %s", name, want, svg)
			}
		}
	}
}
