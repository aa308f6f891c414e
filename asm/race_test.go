//go:build race

package asm

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// raceChild tells TestRaces that it is the process whose races are looked for.
const raceChild = "NOETHER_RACE_CHILD"

// TestRaces runs itself in another process, in which a goroutine writes to each operand that assembly reads beside
// the obvious ones, and reads what assembly may write, and wants a race reported for each.
func TestRaces(t *testing.T) {
	x := func() []float32 { return make([]float32, 4096) }
	long := func() []float32 { return make([]float32, ComplexSpare) }
	var none [4][]float32
	normed := ColNormMap{x()[:4], x()[:4], x()[:4], 0}
	var ofRows [6]float32
	var weighted [7]float32
	sums := func() []float64 { return make([]float64, 4) }
	for _, c := range []struct {
		name    string
		shared  []float32
		written bool
		call    func(shared []float32)
	}{
		{"ColNorm/Mean", normed.Mean, false, func(s []float32) { ColNorm(x(), x(), &normed) }},
		{"ColNorm/Scale", normed.Scale, false, func(s []float32) { ColNorm(x(), x(), &normed) }},
		{"ColNorm/Shift", normed.Shift, false, func(s []float32) { ColNorm(x(), x(), &normed) }},
		{"ColNormSums/Mean", normed.Mean, false, func(s []float32) { ColNormSums(sums(), sums(), x(), x(), &normed) }},
		{"ColNormGrad/Scale", normed.Scale, false, func(s []float32) { ColNormGrad(x(), x(), x(), &normed, x()[:4], x()[:4], x()[:4]) }},
		{"ColNormGrad/p", x()[:4], false, func(s []float32) { ColNormGrad(x(), x(), x(), &normed, s, x()[:4], x()[:4]) }},
		{"ColNormGrad/q", x()[:4], false, func(s []float32) { ColNormGrad(x(), x(), x(), &normed, x()[:4], s, x()[:4]) }},
		{"ColNormGrad/r", x()[:4], false, func(s []float32) { ColNormGrad(x(), x(), x(), &normed, x()[:4], x()[:4], s) }},
		{"ColMoments/pivot", x()[:4], false, func(s []float32) { ColMoments(sums(), sums(), x(), s) }},
		{"GemmComplexNN/spare", long(), true, func(s []float32) { GemmComplexNN(2, 2, 2, x(), x(), 2, x(), x(), 2, x(), x(), 2, false, none, s) }},
		{"GemmComplexTN/spare", long(), true, func(s []float32) { GemmComplexTN(2, 2, 2, x(), x(), 2, x(), x(), 2, x(), x(), 2, false, none, s) }},
		{"GemmComplexPanelsNN/spare", long(), true, func(s []float32) {
			GemmComplexPanelsNN(2, 2, 2, x(), x(), 2, x(), x(), 64, x(), x(), 2, false, none, s)
		}},
		{"GemmWaves/spare", x(), true, func(s []float32) { GemmWaves(3, 2, 1, 3, x(), x(), x(), 2, x(), x(), 6, false, s) }},
		{"FoldedWaves/spare", x(), true, func(s []float32) { FoldedWaves(2, 4, 3, 2, x(), x(), 2, x(), x(), x(), 2, 6, s) }},
		{"SliceColumns/panel", x(), true, func(s []float32) { SliceColumns(x(), x(), x(), 4, 4, 4, s) }},
		{"LinearGradSplit/Work", x(), true, func(s []float32) {
			LinearGradSplit(&GradSplit{M: 3, N: 4, K: 5, Y: x(), LDY: 4, W: x(), H: x(), DW: x(), DB: x(), DH: x(), LDDW: 5, LDDH: 4, Work: s})
		}},
		{"KernelWaves/y", ofRows[:], false, func(s []float32) { KernelWaves(4, 2, 5, 2, &ofRows, x(), x(), 4, x(), x(), 4, nil) }},
		{"KernelWavesGrad/y", weighted[:], false, func(s []float32) {
			KernelWavesGrad(4, 2, 5, 2, &weighted, x(), x(), 4, x(), x(), 4, false, nil)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if os.Getenv(raceChild) == "" {
				wantRace(t)
				return
			}
			done := make(chan float32)
			go func() {
				if !c.written {
					c.shared[0] = 1
				}
				done <- c.shared[0]
			}()
			c.call(c.shared)
			<-done
		})
	}
}

// wantRace runs the test in a child process, which must fail by a data race.
func wantRace(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run", "^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	child.Env = append(os.Environ(), raceChild+"=1", "GORACE=")
	if out, err := child.CombinedOutput(); err == nil || !strings.Contains(string(out), "DATA RACE") {
		t.Errorf("no race was reported: %v\n%s", err, out)
	}
}

// TestRaceOfNothing calls products of no terms, whose operands may be nil at any distance.
func TestRaceOfNothing(t *testing.T) {
	var none [4][]float32
	c := func() []float32 { return make([]float32, 64) }
	spare := make([]float32, ComplexSpare)
	GemmNN(3, 4, 0, nil, 7, nil, 9, c(), 4, true)
	GemmNN(3, 4, 0, nil, 0, nil, 4, c(), 4, true)
	GemmTN(3, 4, 0, nil, 7, nil, 9, c(), 4, false)
	GemmStripNN(3, 4, 0, nil, 7, nil, 9, c(), 4, true)
	GemmStripTN(3, 4, 0, nil, 7, nil, 9, c(), 4, true)
	GemmPanelsNN(3, 4, 0, nil, 7, nil, 9, c(), 4, true)
	GemmDots(3, 4, 0, nil, 7, nil, 9, c(), 4, true)
	GemmMirrored(3, 4, 0, 0, nil, nil, 7, nil, nil, 9, c(), c(), 4, true, true)
	GemmTwinNN(3, 4, 0, nil, 7, nil, nil, 9, c(), c(), 4, true, none)
	GemmComplexNN(3, 4, 0, nil, nil, 7, nil, nil, 9, c(), c(), 4, true, none, spare)
	GemmPair(4, &PairPart{3, 0, 7, nil, nil, c()}, &PairPart{3, 0, 7, nil, nil, c()}, 9, 4, true, nil)
	Linear(3, 4, 0, nil, 7, nil, 9, c(), c(), 4, false)
	LinearGrad(3, 4, 0, nil, 7, nil, 9, c(), 4, true, nil, 0)
	PackPanel(nil, nil, 9, 0, 4)
	PackCols(nil, nil, 9, 0, 4)
	PackA(nil, nil, 9, 0, 3)
	PackA(c(), nil, 9, 3, 0)
	SliceLeft(c(), nil, nil, 7, 3, 0)
	SliceRight(c(), nil, nil, 7, 0, 3)
}
