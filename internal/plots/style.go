package plots

import _ "embed"

// Style is the style sheet of all pictures, and the colours that a page around
// them can use too.
//
//go:embed style.css
var Style string
