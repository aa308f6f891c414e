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
		fill(d, 1, -1)
		e, shortest := d.NewLists(1), c.cells
		for step := range uint64(20) {
			d.Draw(e, stream.New(1, "cells", step), false)
			if got := d.Cells(); got != c.cells {
				t.Errorf("a Draw has %d cells, want %d", got, c.cells)
			}
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

// fill gives every interval the half-width theta and every value of a subset the parameter rho.
func fill(d *Distribution, theta, rho float32) {
	values := d.present()
	for i := range values {
		values[i] = rho
	}
	for _, i := range d.Widths() {
		values[i] = theta
	}
	d.writeValues(values)
}

// A copy is what was drawn, weights included, and passes gradients on as the original
// does; its own gradient is none.
func TestCopyFrom(t *testing.T) {
	for _, cfg := range []Config{
		{Group: lie.SE2, Max: 5},
		{Group: lie.E2, Max: 8, Measure: Haar},
		{Group: lie.E2, Max: 8, Partial: true, Name: "probs", Measure: Mean},
		{Group: lie.Sim2, Max: 6, Partial: true, Name: "probs"},
		{Group: lie.E2, Max: 8, Partial: true, Name: "probs", Method: Deterministic, Compat: true}, // training leaves elements out
	} {
		for _, lists := range []int{1, 3} {
			d, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			from, e := d.NewLists(lists), d.NewLists(lists)
			fill(d, 0.6, 0.3)
			d.Draw(e, stream.New(1, "another", 0), true)
			e.Grad[0][0] = 1
			for i := range e.WeightGrad {
				e.WeightGrad[i] = 1
			}
			d.Draw(from, stream.New(1, "copied", 0), true)
			src := stream.New(1, "gradient", 0)
			for i := range from.Grad {
				from.Grad[i][0] = src.Normal()
			}
			for i := range from.WeightGrad {
				from.WeightGrad[i] = src.Normal()
			}
			gradient := func(of *Elements) []float64 {
				clear(d.sum)
				for s := 0; s < lists && cfg.Partial; s++ {
					d.backwardElements(of, s)
					if of.Weight != nil {
						d.backwardWeights(of, s)
					}
				}
				return slices.Clone(d.sum)
			}
			// What the original was before: a copy in the wrong direction would change it.
			g, weight, want := slices.Clone(from.G), slices.Clone(from.Weight), gradient(from)

			e.CopyFrom(from)
			if !slices.Equal(e.G, g) || !slices.Equal(e.Weight, weight) || (e.Weight == nil) != (weight == nil) || e.Cells() != from.Cells() {
				t.Errorf("%+v: %v (%v), want %v (%v)", cfg, e.G, e.Weight, g, weight)
			}
			if len(e.Grad) != len(e.G) || slices.ContainsFunc(e.Grad, func(v lie.Vector) bool { return v != lie.Vector{} }) ||
				len(e.WeightGrad) != len(e.Weight) || slices.ContainsFunc(e.WeightGrad, func(g float64) bool { return g != 0 }) {
				t.Errorf("%+v: gradient %v, %v", cfg, e.Grad, e.WeightGrad)
			}
			if n := testing.AllocsPerRun(5, func() { e.CopyFrom(from) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
			copy(e.Grad, from.Grad)
			copy(e.WeightGrad, from.WeightGrad)
			if got := gradient(e); !slices.Equal(got, want) {
				t.Errorf("%+v: gradients %v, of the copy %v", cfg, want, got)
			}
		}
	}
	for _, other := range []*Elements{NewElements(lie.SE2, 5), NewElements(lie.E2, 4), NewLists(lie.SE2, 4, 2)} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("a list of %s is copied to one of SE(2)", other.Group.Name())
				}
			}()
			NewElements(lie.SE2, 4).CopyFrom(other)
		}()
	}
}

// ZeroGrad clears both gradients and nothing else; a copy is as rigid as what it is of.
func TestZeroGrad(t *testing.T) {
	d, err := New(Config{Group: lie.SE2, Max: 4, Measure: Mean})
	if err != nil {
		t.Fatal(err)
	}
	e, again := d.NewLists(1), NewElements(lie.SE2, 4)
	d.Midpoints(e)
	e.Grad[1][0], e.WeightGrad[2] = 1, 1
	e.ZeroGrad()
	if e.Grad[1][0] != 0 || e.WeightGrad[2] != 0 {
		t.Errorf("gradients %v, %v", e.Grad, e.WeightGrad)
	}
	if e.Len() != 4 || e.Weight[2] != 0.25 {
		t.Errorf("%d elements, weights %v", e.Len(), e.Weight)
	}
	if again.CopyFrom(e); again.Rigid != e.Rigid || !e.Rigid {
		t.Errorf("rigid %v, the copy %v", e.Rigid, again.Rigid)
	}
}

// A number of elements that the group has no grid of is refused before there is memory for as many.
func TestNewListsWithoutGrid(t *testing.T) {
	defer func() {
		if _, ok := recover().(*lie.Error); !ok {
			t.Error("no *lie.Error")
		}
	}()
	NewLists(lie.Cyclic(4), 1<<16-1, 1<<14)
}
