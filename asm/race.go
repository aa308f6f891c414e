//go:build race

package asm

import (
	"runtime"
	"unsafe"
)

// raceEnabled guards the calls below, so that they cost nothing without -race.
const raceEnabled = true

// raceRead tells the race detector, which cannot see into assembly, that x is
// about to be read.
func raceRead(x []float32) {
	if len(x) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(x)), 4*len(x))
	}
}

// raceWrite tells the race detector that x is about to be written.
func raceWrite(x []float32) {
	if len(x) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(x)), 4*len(x))
	}
}

// raceReadRows is raceRead for rows rows of cols values, ld apart. The gaps
// between the rows may belong to somebody else.
func raceReadRows(x []float32, rows, cols, ld int) {
	if cols == 0 {
		return // x may be nil, whatever ld is
	}
	if ld == cols {
		raceRead(x[:rows*cols])
		return
	}
	for r := range rows {
		raceRead(x[r*ld : r*ld+cols])
	}
}

// raceWriteRows is raceWrite for rows rows of cols values, ld apart.
func raceWriteRows(x []float32, rows, cols, ld int) {
	if cols == 0 {
		return
	}
	if ld == cols {
		raceWrite(x[:rows*cols])
		return
	}
	for r := range rows {
		raceWrite(x[r*ld : r*ld+cols])
	}
}

// raceReadPanels is raceRead for n columns of k values in panels of nr columns,
// distance apart.
func raceReadPanels(b []float32, k, n, nr, distance int) {
	for q := 0; q < n && k > 0; q += nr {
		raceReadRows(b[q/nr*distance:], k, min(nr, n-q), nr)
	}
}
