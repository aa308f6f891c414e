//go:build !noasm

package asm

import "unsafe"

const (
	// gaussRowsMR is the most rows of a strip.
	gaussRowsMR = 7
	// gaussRowsE is the most taps above and below the middle of a column.
	gaussRowsE = 3
	// gaussRowsSteps is the most sources of a strip.
	gaussRowsSteps = 128
	// gaussRowsWork is the most sources of all columns, times vectors of 16 targets, of a call, which takes some ten
	// microseconds.
	gaussRowsWork = 1024
)

// gaussTaps is a column of taps as sgaussRowsAVX512 reads it, for a strip.
type gaussTaps struct {
	x, slots, waves *float32
	// The bits 0..6 have the rows of the strip whose row of x is not zero, those from 8 on the taps above the middle.
	rows int
}

// sgaussRowsAVX512 computes a strip of 1 <= m <= 7 rows by width >= 1 targets from n >= 1 sources, of the first plane alone
// where x is real.
//
//go:noescape
func sgaussRowsAVX512(columns *gaussTaps, count, m, n, xrow, xplane, lds, targets, width int, y *float32, yplane int, ahead *float32, accumulate, real bool)

// FastGaussRows reports whether at the active level GaussRows, or GaussPanel, takes less time than products with what
// GaussFactors makes.
func FastGaussRows(s *GaussShape) bool { return level == AVX512 && s.tiles() }

func gaussRows(s *GaussShape, x, b, y []float32, accumulate bool, ahead []float32) []float32 {
	if !FastGaussRows(s) {
		gaussRowsOf(s, x, b, y, accumulate)
		return ahead
	}
	strips := (s.Rows + gaussRowsMR - 1) / gaussRowsMR
	targets := gaussRowsWork / max(1, len(s.Columns)*min(gaussRowsSteps, s.N)) * 16
	for p := 0; p == 0 || p < s.N; p += gaussRowsSteps {
		for i := range strips {
			q, end := i*s.Rows/strips, (i+1)*s.Rows/strips
			for j := 0; j < s.M; j += targets {
				ahead = s.strip(q, end, p, j, min(targets, s.M-j), x, b, y, accumulate || p > 0, ahead)
			}
		}
	}
	return ahead
}

// tiles reports whether the columns fit the registers of a tile.
func (s *GaussShape) tiles() bool {
	for i := range s.Columns {
		if len(s.Columns[i].Waves) > 2*gaussRowsE+1 {
			return false
		}
	}
	return len(s.Columns) <= gaussRowsColumns
}

// strip computes width targets from j on of the rows q to end, of sources from p on. It returns what is left to be
// fetched.
//
//go:noinline
func (s *GaussShape) strip(q, end, p, j, width int, x, b, y []float32, accumulate bool, ahead []float32) []float32 {
	var columns [gaussRowsColumns]gaussTaps
	count := 0
	n := min(gaussRowsSteps, s.N-p)
	for shift := range s.Columns {
		first, last := max(q, s.First-shift), min(end, s.End-shift)
		if first >= last || n == 0 {
			continue
		}
		c := &s.Columns[shift]
		columns[count] = gaussTaps{
			x:     unsafe.SliceData(x[(q+shift)*s.N+p:]),
			slots: &b[(c.Slot*s.N+p)*s.M+j],
			waves: &c.Waves[0],
			rows:  1<<(last-q) - 1<<(first-q) | len(c.Waves)/2<<8,
		}
		count++
	}
	to := &y[q*s.M+j]
	fetches := (width + 15) / 16 * count * n * 16
	fetch := to // which is at hand
	if len(ahead) > 0 {
		fetch = unsafe.SliceData(ahead)
	}
	sgaussRowsAVX512(&columns[0], count, end-q, n, s.N, s.XPlane, s.N*s.M, s.M, width, to, s.YPlane, fetch, accumulate, s.Real)
	return from(ahead, fetches)
}
