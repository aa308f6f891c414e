//go:build !race

package asm

// raceEnabled guards the calls below, so that they cost nothing without -race.
const raceEnabled = false

func raceRead([]float32)                            {}
func raceWrite([]float32)                           {}
func raceReadRows(_ []float32, rows, cols, ld int)  {}
func raceWriteRows(_ []float32, rows, cols, ld int) {}
func raceReadPanels(_ []float32, k, n, nr, d int)   {}
