package conv

import (
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/stream"
)

// TestComputedPlanes: with no more memory than an analysis asks for, planes that are computed have the spectra of planes
// in memory. They are so many and so large that all of it is used.
func TestComputedPlanes(t *testing.T) {
	s := newShape(16, 1, 2, 2, 32, 32, 3, grid(5), 5, Same)
	s.Paired, s.Runs = true, 1
	p := newFrequency(s, 4)
	l := p.lattice
	p.cpu = newCPU(t, 1)
	if err := p.cpu.ReserveWorkspace(l.analysisLocal(s)); err != nil {
		t.Fatal(err)
	}
	x, size := normal(stream.New(1, "planes", 0), s.Sources()*s.H*s.W*s.B), s.H*s.W*s.B
	b := l.band(0, len(l.groups))
	spectrum := func(planes planeSource) []float32 {
		values := make([]float32, l.count*2*planeSize(s.Sources(), s.B))
		p.analyse(b, &l.in, planes, values, sourceOrder(s), s.Sources(), s.NIn, s)
		return values
	}
	want := spectrum(planeSource{values: x})
	got := spectrum(planeSource{compute: func(dst []float32, plane int) { copy(dst, x[plane*size:][:size]) }})
	if !slices.Equal(got, want) {
		t.Error("not the same bits")
	}
}
