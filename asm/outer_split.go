package asm

// outerRows are the rows of a strip of GemmSplitOuter.
const outerRows = splitTile / 2

// OuterSplit are the operands of GemmSplitOuter: strips of 16 rows, panels of 32 columns and 32 steps.
// Distances and leading dimensions are in values.
type OuterSplit struct {
	Strips, Panels int

	// A are the parts of rows that were split for the left side, [part, row, pair] for any number of
	// rows: parts are PartA apart, and strip s begins with that of A[s*StripA:].
	A             []float32
	PartA, StripA int
	// B are panels from SplitRight, one after the other.
	B []float32

	// U and V are the factors of the outer product: those of strip s are U[s*StripU:], those of the
	// panels one after the other in V.
	U, V   []float32
	StripU int

	// C is the result: the block of a strip and a panel begins at C[strip*StripC+panel*PanelC:], with rows
	// LDC apart.
	C                   []float32
	LDC, StripC, PanelC int

	// Ahead is how many values behind a strip that lies which will be taken next in its place, which the
	// processor is asked to bring. It is a hint and may be anything.
	Ahead int

	// Conjugate negates the odd rows of each strip.
	Conjugate bool
}

// GemmSplitOuter multiplies split operands and adds an outer product, for strip s and panel p
//
//	c[i*LDC+j] = sum over q < 32 of a[i, q]*b[q, j] + u[i]*v[j] // negated for odd i, with Conjugate
//
// The sum has the bits of GemmSplit, to which Axpy adds a row of the product. Blocks of C must not overlap.
func GemmSplitOuter(o *OuterSplit) {
	const op = "GemmSplitOuter"
	if o.Strips < 0 || o.Panels < 0 || o.PartA < splitPart/2 || o.StripA < 0 || o.StripU < 0 || o.LDC < splitTile || o.StripC < 0 || o.PanelC < 0 {
		panic(&Error{op, "negative size, or parts or rows that overlap"})
	}
	if o.Strips == 0 || o.Panels == 0 {
		return
	}
	last := plus(times(o.Strips-1, o.StripC), times(o.Panels-1, o.PanelC))
	for _, c := range []struct {
		name        string
		have, least int
	}{
		{"A", len(o.A), plus(times(o.Strips-1, o.StripA), plus(times(2, o.PartA), splitPart/2))},
		{"B", len(o.B), times(o.Panels, splitBlock)},
		{"U", len(o.U), plus(times(o.Strips-1, o.StripU), outerRows)},
		{"V", len(o.V), times(o.Panels, splitTile)},
		{"C", len(o.C), plus(last, plus(times(outerRows-1, o.LDC), splitTile))},
	} {
		if c.have < c.least {
			panic(&Error{op, c.name + " is too short"})
		}
	}
	if raceEnabled {
		o.race()
	}
	gemmSplitOuter(o)
}

// race tells the race detector what is read and written.
func (o *OuterSplit) race() {
	raceRead(o.B[:o.Panels*splitBlock])
	raceRead(o.V[:o.Panels*splitTile])
	for s := range o.Strips {
		raceRead(o.U[s*o.StripU:][:outerRows])
		for part := range 3 {
			raceRead(o.A[s*o.StripA+part*o.PartA:][:splitPart/2])
		}
		for p := range o.Panels {
			raceWriteRows(o.C[s*o.StripC+p*o.PanelC:], outerRows, splitTile, o.LDC)
		}
	}
}

// parts is GemmSplitOuter block by block.
func (o *OuterSplit) parts() {
	var strip [splitBlock]float32
	for s := range o.Strips {
		for part := range 3 {
			copy(strip[part*splitPart:][:splitPart/2], o.A[s*o.StripA+part*o.PartA:])
		}
		for p := range o.Panels {
			c := o.C[s*o.StripC+p*o.PanelC:]
			gemmSplit(outerRows, splitTile, 1, strip[:], o.B[p*splitBlock:], c, o.LDC, false)
			for i := range outerRows {
				row := c[i*o.LDC:][:splitTile]
				axpy(row, o.U[s*o.StripU+i], o.V[p*splitTile:][:splitTile])
				if o.Conjugate && i%2 == 1 {
					affine(row, row, -1, 0)
				}
			}
		}
	}
}
