package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kernels is a picture of convolution kernels, a row for each and a column for each
// element of the group that it was rendered at. Weights of one sign have one colour, of
// the other the other; the largest of a row is solid.
type Kernels struct {
	ID          string
	Title, Desc string
	Columns     []string
	Side        int           // of a kernel in pixels
	Weights     [][][]float32 // [row][column][Side*Side]
}

// SVG returns the picture for a page whose style sheet contains Style, laid out for that
// width.
func (k *Kernels) SVG(width float64) string {
	const gap, largestBox = 8.0, 72.0
	columns := float64(len(k.Columns))
	box := min((width-gap*(columns-1))/columns, largestBox)
	names, lines := k.names(box + gap/2)
	top := float64(lines)*lineHeight + 4
	height := top + float64(len(k.Weights))*(box+gap) - gap
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" viewBox="0 0 %s %s" role="img" aria-labelledby="%[3]s-title %[3]s-desc">`+"\n", num(width), num(height), k.ID)
	fmt.Fprintf(&b, `<title id="%[1]s-title">%[2]s</title><desc id="%[1]s-desc">%[3]s</desc>`+"\n", k.ID, esc(k.Title), esc(k.Desc))
	for j, words := range names {
		for i, word := range words {
			fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="middle" class="tick">%s</text>`, num(float64(j)*(box+gap)+box/2), num(fontSize+float64(i)*lineHeight), esc(word))
		}
	}
	b.WriteString("\n")
	scale := box / float64(k.Side)
	for i, row := range k.Weights {
		largest := float32(0)
		for _, kernel := range row {
			for _, v := range kernel {
				largest = max(largest, abs(v))
			}
		}
		for j, kernel := range row {
			fmt.Fprintf(&b, `<g transform="translate(%s %s) scale(%s)"><path class="field" d="M0 0h%[4]dv%[4]dh-%[4]dz"/>`,
				num(float64(j)*(box+gap)), num(top+float64(i)*(box+gap)), fmt.Sprintf("%.3f", scale), k.Side)
			k.shades(&b, kernel, largest)
			b.WriteString("</g>\n")
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// names returns the lines of the columns' names, and how many there are at most: words
// below each other where a name is wider than its column.
func (k *Kernels) names(width float64) (list [][]string, lines int) {
	wide := slices.ContainsFunc(k.Columns, func(name string) bool { return textWidth(name) > width })
	for _, name := range k.Columns {
		words := []string{name}
		if wide {
			words = strings.Fields(name)
		}
		list, lines = append(list, words), max(lines, len(words))
	}
	return list, lines
}

func abs(v float32) float32 { return float32(math.Abs(float64(v))) }

// shades writes a path for each shade of each colour, of runs of pixels.
func (k *Kernels) shades(b *strings.Builder, kernel []float32, largest float32) {
	const shades = 6
	shade := func(v float32) int { // of the colour of its sign
		if largest == 0 {
			return 0
		}
		return int(math.Round(float64(v / largest * shades)))
	}
	for s := -shades; s <= shades; s++ {
		var d strings.Builder
		for y := range k.Side {
			for x := 0; x < k.Side; x++ {
				start := x
				for x < k.Side && s != 0 && shade(kernel[y*k.Side+x]) == s {
					x++
				}
				if x > start {
					fmt.Fprintf(&d, "M%d %dh%dv1h%dz", start, y, x-start, start-x)
				}
			}
		}
		if d.Len() > 0 {
			color := First
			if s < 0 {
				color = Second
			}
			fmt.Fprintf(b, `<g class="%s"><path class="cell" fill-opacity="%s" d="%s"/></g>`, color, num(math.Abs(float64(s))/shades), d.String())
		}
	}
}
