package plots

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Chart is a picture of lines over a number. Sizes are in the pixels of the
// picture, which scales with the page: see SVG.
type Chart struct {
	ID          string // of the picture in its document; letters, digits and hyphens
	Title, Desc string // for those who do not see it
	X, Y        Axis
	Lines       []Line
	Levels      []Level
	Points      []Point
	Picture     *Picture // shown below the ticks of X, turned by as many degrees; may be nil
}

// Line is a polygon. A Y that is not finite leaves a gap.
type Line struct {
	Name   string // written at its end
	X, Y   []float64
	Color  Color
	Dashed bool
}

// Level is a horizontal line of reference.
type Level struct {
	Y     float64
	Label string
}

// Point is a place with a label, joined to the x axis.
type Point struct {
	X, Y  float64
	Label string
	Left  bool // of the point stands its label
}

// Color is one of the style sheet's colours.
type Color string

// Colours of lines that are compared. A line of no colour is grey.
const (
	First  Color = "c1"
	Second Color = "c2"
)

// Ramp returns the colour of item i of n that have an order.
func Ramp(i, n int) Color {
	const steps = 6
	if n < 2 {
		return "r0"
	}
	return Color(fmt.Sprintf("r%d", (i*(steps-1)+(n-1)/2)/(n-1)))
}

const (
	fontSize   = 12.0
	glyph      = 7.2 // width of a character at fontSize, on the safe side; only margins depend on it
	lineHeight = 14.0
	tickGap    = 6.0
	pictureBox = 34.0
	fewPoints  = 40    // up to so many, every value of a line has a dot
	narrow     = 400.0 // pictures below it have no room for long names at the right
)

// frame is a chart laid out in a picture.
type frame struct {
	*Chart
	b                        strings.Builder
	width, height            float64
	left, right, top, bottom float64 // of the plotted area
	x, y                     Axis
	legend                   bool // names stand above the lines, not at their ends
}

// SVG returns the picture for a page whose style sheet contains Style. It is as
// wide as its place on the page; width and height are what it is laid out for,
// so text is as large as the page's where the place is about that wide.
func (c *Chart) SVG(width, height float64) string {
	f := c.layout(width, height)
	f.open(`class="plot"`)
	f.draw()
	f.b.WriteString("</svg>\n")
	return f.b.String()
}

// File returns the picture as an SVG file that needs nothing else.
func (c *Chart) File(width, height float64) string {
	const margin = 16
	f := c.layout(width-2*margin, height-2*margin)
	f.width, f.height = width, height
	f.open(`xmlns="http://www.w3.org/2000/svg" class="plot" width="` + num(width) + `" height="` + num(height) + `"`)
	f.b.WriteString("<style>" + Style + "</style>\n")
	f.printf(`<rect class="card" width="%s" height="%s" rx="8"/><g transform="translate(%d %d)">`+"\n", num(width), num(height), margin, margin)
	f.draw()
	f.b.WriteString("</g></svg>\n")
	return f.b.String()
}

func (c *Chart) layout(width, height float64) *frame {
	f := &frame{Chart: c, width: width, height: height, right: width - 18, top: 12, bottom: height - 22}
	if c.X.Label != "" {
		f.bottom -= lineHeight + 2
	}
	if c.Picture != nil {
		f.bottom -= pictureBox + 2
	}
	if c.Y.Label != "" {
		f.top += lineHeight + 4
	}
	var xs, ys []float64
	longest := 0.0
	for _, l := range c.Lines {
		xs, ys = append(xs, l.X...), append(ys, l.Y...)
		longest = max(longest, textWidth(l.Name))
	}
	if f.legend = width < narrow && longest > 75; f.legend {
		rows := 1 + c.entries(width)[len(c.Lines)-1].row
		f.top += float64(rows)*lineHeight + 6
	} else if longest > 0 {
		f.right = width - longest - 18
	}
	for _, l := range c.Levels {
		ys = append(ys, l.Y)
	}
	f.y = c.Y.fitted(ys, max(2, int((f.bottom-f.top)/36)))
	label := 0.0
	for _, t := range f.y.Ticks {
		label = max(label, textWidth(f.y.Format(t)))
	}
	f.left = label + tickGap + 2
	f.x = c.X.fitted(xs, max(2, int((f.right-f.left)/60)))
	return f
}

func (f *frame) printf(format string, args ...any) { fmt.Fprintf(&f.b, format, args...) }

// open writes the start of the picture with its title and description.
func (f *frame) open(attributes string) {
	f.printf(`<svg %s viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %s-desc">`+"\n", attributes, num(f.width), num(f.height), f.ID, f.ID)
	f.printf(`<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`+"\n", f.ID, esc(f.Title), f.ID, esc(f.Desc))
}

func (f *frame) px(v float64) float64 {
	return f.left + (v-f.x.Min)/(f.x.Max-f.x.Min)*(f.right-f.left)
}

func (f *frame) py(v float64) float64 {
	return f.bottom - (v-f.y.Min)/(f.y.Max-f.y.Min)*(f.bottom-f.top)
}

func (f *frame) draw() {
	f.axes()
	for _, l := range f.Levels {
		f.printf(`<path class="level" d="M%s %sH%s"/>`+"\n", num(f.left), num(f.py(l.Y)), num(f.right))
	}
	for _, p := range f.Points {
		f.printf(`<path class="drop" d="M%s %sV%s"/>`+"\n", num(f.px(p.X)), num(f.py(p.Y)), num(f.bottom))
	}
	for i := range f.Lines {
		f.line(&f.Lines[i])
	}
	for _, l := range f.Levels {
		if l.Label != "" {
			f.text(f.right-4, f.py(l.Y)-5, "end", "halo", l.Label)
		}
	}
	for _, p := range f.Points {
		f.printf(`<circle class="point" cx="%s" cy="%s" r="4.5"/>`+"\n", num(f.px(p.X)), num(f.py(p.Y)))
		at, anchor := f.px(p.X)+9, "start"
		if p.Left {
			at, anchor = f.px(p.X)-9, "end"
		}
		f.text(at, f.py(p.Y)+4, anchor, "halo strong", p.Label)
	}
	f.names()
}

func (f *frame) axes() {
	for _, t := range f.y.Ticks {
		y := f.py(t)
		f.printf(`<path class="grid" d="M%s %sH%s"/>`, num(f.left), num(y), num(f.right))
		f.text(f.left-tickGap, y+4, "end", "tick", f.y.Format(t))
	}
	f.printf(`<path class="axis" d="M%s %sH%s"/>`+"\n", num(f.left), num(f.bottom), num(f.right))
	below := f.bottom + lineHeight + 4
	for _, t := range f.x.Ticks {
		f.printf(`<path class="axis" d="M%s %sv4"/>`, num(f.px(t)), num(f.bottom))
		f.text(f.px(t), below, "middle", "tick", f.x.Format(t))
	}
	if f.Picture != nil {
		f.printf(`<defs><g id="%s-picture">%s</g></defs>`+"\n", f.ID, f.Picture.paths())
		const side = pictureBox - 2
		for _, t := range f.x.Ticks {
			// SVG turns clockwise, angles of images counter-clockwise.
			f.printf(`<use href="#%s-picture" transform="translate(%s %s) rotate(%s) scale(%s)"/>`,
				f.ID, num(f.px(t)), num(below+6+side/2), num(-t), num(side/float64(max(f.Picture.Width, f.Picture.Height))))
		}
		below += pictureBox + 2
	}
	if f.x.Label != "" {
		f.text((f.left+f.right)/2, below+lineHeight+2, "middle", "label", f.x.Label)
	}
	if f.y.Label != "" {
		f.text(0, fontSize, "start", "label", f.y.Label)
	}
}

// line draws the line and, where they are few, its values.
func (f *frame) line(l *Line) {
	var d strings.Builder
	pen, dots := byte('M'), 0
	for i, v := range l.Y {
		if !finite(v) || !finite(l.X[i]) {
			pen = 'M'
			continue
		}
		fmt.Fprintf(&d, "%c%s %s", pen, num(f.px(l.X[i])), num(f.py(v)))
		pen = 'L'
		dots++
	}
	class := "line"
	if l.Dashed {
		class += " dashed"
	}
	f.printf(`<g class="%s"><path class="%s" d="%s"/>`, l.Color, class, d.String())
	if dots <= fewPoints {
		for i, v := range l.Y {
			if finite(v) && finite(l.X[i]) {
				f.printf(`<circle class="dot" cx="%s" cy="%s" r="2.5"><title>%s</title></circle>`, num(f.px(l.X[i])), num(f.py(v)),
					esc(fmt.Sprintf("%s, %s: %s", l.Name, f.x.Format(l.X[i]), trimMinus(strconv.FormatFloat(v, 'g', 4, 64)))))
			}
		}
	}
	f.b.WriteString("</g>\n")
}

// entry is where a line stands in the legend.
type entry struct {
	x   float64
	row int
}

// entries lays the legend out in rows of a width.
func (c *Chart) entries(width float64) []entry {
	list := make([]entry, len(c.Lines))
	var at entry
	for i, l := range c.Lines {
		need := 23 + textWidth(l.Name)
		if at.x > 0 && at.x+need > width {
			at = entry{0, at.row + 1}
		}
		list[i] = at
		at.x += need + 16
	}
	return list
}

// name is the label of a line at its end.
type name struct {
	line *Line
	y    float64 // of the end
	at   float64 // where the label stands
}

// names writes the names of the lines where they end, pushed apart where lines
// end together, or in a row above where there is no room.
func (f *frame) names() {
	if f.legend {
		entries := f.entries(f.width)
		last := entries[len(entries)-1].row
		for i := range f.Lines {
			l := &f.Lines[i]
			x, y := entries[i].x, f.top-float64(last-entries[i].row+1)*lineHeight
			class := "line"
			if l.Dashed {
				class += " dashed"
			}
			f.printf(`<g class="%s"><path class="%s" d="M%s %sh18"/>`, l.Color, class, num(x), num(y-4))
			f.text(x+23, y, "start", "name", l.Name)
			f.b.WriteString("</g>\n")
		}
		return
	}
	var list []name
	for i := range f.Lines {
		l := &f.Lines[i]
		for k := len(l.Y) - 1; k >= 0; k-- {
			if finite(l.Y[k]) {
				y := f.py(l.Y[k])
				list = append(list, name{l, y, y})
				break
			}
		}
	}
	spread(list, f.top, f.bottom)
	for _, n := range list {
		f.printf(`<g class="%s">`, n.line.Color)
		if math.Abs(n.at-n.y) > 2 {
			f.printf(`<path class="leader" d="M%s %sL%s %s"/>`, num(f.right+3), num(n.y), num(f.right+8), num(n.at))
		}
		f.text(f.right+10, n.at+4, "start", "name", n.line.Name)
		f.b.WriteString("</g>\n")
	}
}

// spread moves labels apart until none overlaps the next, within [top, bottom]
// as far as they fit.
func spread(list []name, top, bottom float64) {
	slices.SortStableFunc(list, func(a, b name) int {
		switch {
		case a.y < b.y:
			return -1
		case a.y > b.y:
			return 1
		}
		return 0
	})
	gap := lineHeight
	if n := len(list); n > 1 {
		gap = min(gap, (bottom-top)/float64(n-1))
	}
	for i := range list {
		if i > 0 {
			list[i].at = max(list[i].at, list[i-1].at+gap)
		}
	}
	limit := bottom
	for i := len(list) - 1; i >= 0; i-- {
		list[i].at = min(list[i].at, limit)
		limit = list[i].at - gap
	}
}

func (f *frame) text(x, y float64, anchor, class, s string) {
	f.printf(`<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`+"\n", num(x), num(y), anchor, class, esc(s))
}

func textWidth(s string) float64 { return glyph * float64(len([]rune(s))) }

// num writes a coordinate with a tenth of a pixel, or a scale with three digits.
func num(v float64) string {
	digits := 1
	if math.Abs(v) < 2 {
		digits = 3
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// esc writes a text as XML has it. What XML cannot hold, such as the bytes of a name that is not in
// UTF-8, becomes U+FFFD.
func esc(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
