package lie_test

import (
	"math"
	"testing"

	"github.com/noether-go/noether/internal/golden"
	"github.com/noether-go/noether/internal/npz"
	"github.com/noether-go/noether/lie"
)

const ulps = 1e-15 // of angles below 8

// TestGoldenGroups compares product, inverse, matrices, action and coordinates with
// the published implementation.
func TestGoldenGroups(t *testing.T) {
	for _, c := range []struct {
		file string
		g    lie.Group
	}{
		{"group_se2.npz", lie.SE2},
		{"group_e2.npz", lie.E2},
	} {
		t.Run(c.g.Name(), func(t *testing.T) {
			z := golden.Open(t, c.file)
			compareProducts(t, z, c.g)
			compareActions(t, z, c.g)
		})
	}
}

// elements reads elements from values of the published implementation: angles, or
// pairs of an angle and a sign.
func elements(g lie.Group, values []float64) []lie.Element {
	n := len(g.Axes())
	list := make([]lie.Element, len(values)/n)
	for i := range list {
		list[i] = g.Exp(lie.Vector{values[n*i]})
		if n == 2 {
			list[i][1] = (1 - values[n*i+1]) / 2
		}
	}
	return list
}

// values is the inverse of elements.
func values(g lie.Group, list ...lie.Element) (x []float64) {
	for _, a := range list {
		x = append(x, a[0])
		if len(g.Axes()) == 2 {
			x = append(x, 1-2*a[1])
		}
	}
	return x
}

func wanted(t *testing.T, z npz.Archive, name string) []float64 {
	t.Helper()
	x, _ := golden.Float64(t, z, name)
	return x
}

func compareProducts(t *testing.T, z npz.Archive, g lie.Group) {
	_, as := golden.Float64(t, z, "a") // [S, m] or [S, m, 2]
	_, bs := golden.Float64(t, z, "b")
	a, b := elements(g, wanted(t, z, "a")), elements(g, wanted(t, z, "b"))
	var product, onH, relative []float64
	for s := range as[0] { // all pairs of a row
		for _, u := range a[s*as[1]:][:as[1]] {
			for _, v := range b[s*bs[1]:][:bs[1]] {
				product = append(product, values(g, g.Product(u, v))...)
				onH = append(onH, values(g, g.Product(g.Inverse(u), v))...)
				x := g.Relative(u, v)
				relative = append(relative, x[:g.Coordinates()]...)
			}
		}
	}
	golden.Close(t, "product_ab", product, wanted(t, z, "product_ab"), 0, ulps)
	golden.Close(t, "invA_on_H_b", onH, wanted(t, z, "invA_on_H_b"), 0, ulps)
	golden.Close(t, "normalized_invA_b", relative, wanted(t, z, "normalized_invA_b"), 0, ulps)
}

func compareActions(t *testing.T, z npz.Archive, g lie.Group) {
	var inverse, matrix, matrixInv, acted []float64
	grid, gs := golden.Float64(t, z, "rel_pos") // [2, k, k]
	k, taps := gs[1], gs[1]*gs[2]
	for _, u := range elements(g, wanted(t, z, "a")) {
		inverse = append(inverse, values(g, g.Inverse(u))...)
		for _, row := range g.Matrix(u) {
			matrix = append(matrix, row[:]...)
		}
		for _, row := range g.Matrix(g.Inverse(u)) {
			matrixInv = append(matrixInv, row[:]...)
		}
		at := len(acted)
		acted = append(acted, make([]float64, 2*taps)...)
		for p := range taps {
			q := g.InverseAct(u, [2]float64{grid[p], grid[taps+p]})
			acted[at+p], acted[at+taps+p] = q[0], q[1]
		}
	}
	// The reference leaves inverses negative; here an angle lies in [0, 2pi).
	wantInverse := values(g, elements(g, wanted(t, z, "inv_a"))...)
	golden.Close(t, "inv_a", inverse, wantInverse, 0, ulps)
	golden.Close(t, "matrix_a", matrix, wanted(t, z, "matrix_a"), 0, ulps)
	golden.Close(t, "matrix_inv_a", matrixInv, wanted(t, z, "matrix_inv_a"), 0, ulps)
	golden.Close(t, "inv_a_on_rel_pos", acted, wanted(t, z, "inv_a_on_rel_pos"), 6e-8, 0)

	// rel_pos is the grid of linspace(-1, 1, k), rows first.
	made := make([]float64, 2*taps)
	for r := range k {
		for c := range k {
			made[r*k+c], made[taps+r*k+c] = -1+2*float64(r)/float64(k-1), -1+2*float64(c)/float64(k-1)
		}
	}
	golden.Close(t, "rel_pos", made, grid, 0, 6e-8)
}

func TestGoldenExp(t *testing.T) {
	z := golden.Open(t, "group_se2.npz")
	want := wanted(t, z, "exp_of_-3_to_9")
	exp := make([]float64, len(want))
	for i := range exp {
		exp[i] = lie.SE2.Exp(lie.Vector{-3 + 12*float64(i)/float64(len(exp)-1)})[0]
	}
	golden.Close(t, "exp_of_-3_to_9", exp, want, 0, 2*ulps)
}

// TestGoldenGrids compares the lists of whole groups with the published
// implementation's: the grid, and the grid moved by one rotation.
func TestGoldenGrids(t *testing.T) {
	z := golden.Open(t, "samplers.npz")
	for prefix, g := range map[string]lie.Group{"se2": lie.SE2, "e2": lie.E2} {
		grid := g.Grid(8)
		golden.Close(t, prefix+" grid", values(g, grid...), wanted(t, z, prefix+"_deterministic_full_0_ns1.g"), 0, ulps)

		// The jitter is a part of the gap between two angles, rounded to float32.
		counts, err := g.Split(8)
		if err != nil {
			t.Fatal(err)
		}
		jitter := g.Exp(lie.Vector{2 * math.Pi / float64(counts[0]) * wanted(t, z, prefix+"_random_full_0_ns1.u00")[0]})
		for i, a := range grid {
			grid[i] = g.Product(a, jitter)
		}
		golden.Close(t, prefix+" comb", values(g, grid...), wanted(t, z, prefix+"_random_full_0_ns1.g"), 0, 1e-7)
	}
}

// TestGoldenLayers compares what the layers of the published implementation feed
// to their kernel networks, at the elements that they have.
func TestGoldenLayers(t *testing.T) {
	for file, g := range map[string]lie.Group{
		"lifting_e2": lie.E2, "group_e2_given": lie.E2, "group_e2_valid": lie.E2,
		"group_e2_partial": lie.E2, "group_e2_partial_noreflect": lie.E2,
		"lifting_se2": lie.SE2, "group_se2_given": lie.SE2, "group_se2_valid": lie.SE2, "group_se2_partial": lie.SE2,
	} {
		t.Run(file, func(t *testing.T) {
			z := golden.Open(t, file+".npz")
			want, shape := golden.Float64(t, z, "kernelnet_input") // [n_out, rows, (n_in,) k, k]
			k := shape[len(shape)-1]
			v := []lie.Element{{}}
			if z.Has("g_in") {
				v = elements(g, wanted(t, z, "g_in"))
			}
			got := make([]float64, 0, len(want))
			for _, u := range elements(g, wanted(t, z, "g_out")) {
				for row := range shape[1] {
					for _, vj := range v {
						for tap := range k * k {
							q := [2]float64{2*float64(tap/k)/float64(k-1) - 1, 2*float64(tap%k)/float64(k-1) - 1}
							if row < 2 {
								got = append(got, g.InverseAct(u, q)[row])
							} else {
								got = append(got, g.Relative(u, vj)[row-2])
							}
						}
					}
				}
			}
			golden.Close(t, "kernelnet_input", got, want, 0, 1.2e-7) // of float32 below 2
		})
	}
}
