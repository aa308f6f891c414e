package gumbel

import (
	"slices"
	"testing"

	"github.com/noether-go/noether/internal/stream"
	"github.com/noether-go/noether/lie"
)

// Identity has lists of one element, of groups whose grids have more too.
func TestIdentity(t *testing.T) {
	e := Identity(lie.E2, 3)
	if e.Max() != 1 || e.Lists() != 3 || e.Len() != 1 || !e.Rigid || len(e.Grad) != 3 {
		t.Errorf("%+v", e)
	}
	for _, g := range e.G {
		if g != (lie.Element{}) {
			t.Errorf("%v is not the identity", g)
		}
	}
	e.Grad[1][0] = 1
	if e.SetLen(1); e.Grad[1][0] != 0 {
		t.Error("SetLen leaves a gradient")
	}
	defer func() {
		if _, ok := recover().(*Error); !ok {
			t.Error("no lists: no *Error")
		}
	}()
	Identity(lie.SE2, 0)
}

// Cells counts what a list would have if nothing was dropped, and Widths says which
// values are half-widths.
func TestCellsAndWidths(t *testing.T) {
	for _, c := range []struct {
		cfg    Config
		cells  int
		widths []int
	}{
		{Config{Group: lie.E2, Max: 8, Partial: true, Name: "probs"}, 8, []int{0}},
		{Config{Group: lie.E2, Max: 8, Partial: true, Name: "probs", Compat: true}, 8, []int{0}},
		{Config{Group: lie.SE2, Max: 5, Partial: true, Name: "probs"}, 5, []int{0}},
		{Config{Group: lie.Sim2, Max: 6, Partial: true, Name: "probs"}, 6, []int{0, 1}},
		{Config{Group: lie.SE2, Max: 4, Partial: true, Name: "probs", Method: Deterministic}, 4, nil},
		{Config{Group: lie.SE2, Max: 4}, 4, nil},
	} {
		d, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Widths(); !slices.Equal(got, c.widths) {
			t.Errorf("%+v: half-widths at %v, want %v", c.cfg, got, c.widths)
		}
		e, shortest := d.NewLists(1), c.cells
		for step := range uint64(20) {
			d.Draw(e, stream.New(1, "cells", step), false)
			if got := e.Cells(); got != c.cells {
				t.Fatalf("%+v: %d cells, want %d", c.cfg, got, c.cells)
			}
			shortest = min(shortest, e.Len())
		}
		if drops := c.cfg.Partial && (c.cfg.Method == Deterministic || c.cfg.Group.Components() > 1); (shortest < c.cells) != drops {
			t.Errorf("%+v: the shortest list has %d elements", c.cfg, shortest)
		}
	}
}
