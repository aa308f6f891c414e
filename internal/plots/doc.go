// Package plots draws the pictures of reports: line charts over numbers, and
// arcs that show a subset of a circle. They are SVG, written by hand.
//
// gonum/plot would draw such charts too, but into a file of fixed colours and
// sizes, with every glyph of its fonts as a path. These pictures stand in a page
// that is read on telephones, in the dark and on paper, so their colours are
// custom properties of the page's style sheet (see [Style]), their texts are
// text, and they carry a title and a description for those who listen. A few
// hundred lines do all that, and a report stays below 200 kB.
package plots
