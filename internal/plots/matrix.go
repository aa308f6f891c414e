package plots

import (
	"fmt"
	"strconv"
	"strings"
)

// Matrix is a picture of counts in rows and columns, such as how many images of each
// class (row) were put into each (column). Cells are shaded by their share of the row;
// where they are few, the counts stand in them.
type Matrix struct {
	ID          string
	Title, Desc string
	Names       []string // of rows and columns
	Counts      [][]int
	Rows, Cols  string // what they are
}

const maxNamed = 20 // rows that have room for names and counts

// SVG returns the picture for a page whose style sheet contains Style, laid out for that
// width.
func (m *Matrix) SVG(width float64) string {
	n := len(m.Counts)
	named := n <= maxNamed
	left, top := lineHeight+8, lineHeight+8
	longest := 0.0 // of the names
	if named {
		for _, name := range m.Names {
			longest = max(longest, textWidth(name))
		}
		left, top = lineHeight+14+longest, 2*lineHeight+10
	}
	cell := min((width-left-2)/float64(n), 64)
	tilted := longest > cell
	if tilted { // names need room to the right of the last column
		top += 0.65 * longest
		cell = min(cell, (width-left-0.8*longest)/(float64(n)-0.5))
	}
	size := cell * float64(n)
	height := top + size + 2
	var b strings.Builder
	printf := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	printf(`<svg class="plot" viewBox="0 0 %s %s" role="img" aria-labelledby="%[3]s-title %[3]s-desc">`+"\n", num(width), num(height), m.ID)
	printf(`<title id="%[1]s-title">%[2]s</title><desc id="%[1]s-desc">%[3]s</desc>`+"\n", m.ID, esc(m.Title), esc(m.Desc))
	printf(`<text x="%s" y="%s" text-anchor="middle" class="label">%s</text>`, num(left+size/2), num(fontSize), esc(m.Cols))
	printf(`<text transform="translate(%s %s) rotate(-90)" text-anchor="middle" class="label">%s</text>`+"\n", num(fontSize), num(top+size/2), esc(m.Rows))
	printf(`<g class="c1"><rect class="field" x="%s" y="%s" width="%s" height="%s"/>`+"\n", num(left), num(top), num(size), num(size))
	for i, row := range m.Counts {
		sum := 0
		for _, v := range row {
			sum += v
		}
		y := top + float64(i)*cell
		if named {
			printf(`<text x="%s" y="%s" text-anchor="end" class="tick">%s</text>`, num(left-6), num(y+cell/2+4), esc(m.Names[i]))
			x := left + (float64(i)+0.5)*cell
			if tilted {
				printf(`<text transform="translate(%s %s) rotate(-40)" class="tick">%s</text>`, num(x), num(top-6), esc(m.Names[i]))
			} else {
				printf(`<text x="%s" y="%s" text-anchor="middle" class="tick">%s</text>`, num(x), num(top-6), esc(m.Names[i]))
			}
		}
		for j, v := range row {
			if v == 0 {
				continue
			}
			share, x := float64(v)/float64(sum), left+float64(j)*cell
			printf(`<rect class="cell" x="%s" y="%s" width="%s" height="%s" fill-opacity="%s"><title>%s</title></rect>`,
				num(x), num(y), num(cell), num(cell), strconv.FormatFloat(0.06+0.94*share, 'f', 2, 64),
				esc(fmt.Sprintf("%s as %s: %d of %d", m.Names[i], m.Names[j], v, sum)))
			if named && textWidth(strconv.Itoa(v)) < cell {
				class := "count"
				if share > 0.5 {
					class += " light"
				}
				printf(`<text x="%s" y="%s" text-anchor="middle" class="%s">%d</text>`, num(x+cell/2), num(y+cell/2+4), class, v)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("</g></svg>\n")
	return b.String()
}
