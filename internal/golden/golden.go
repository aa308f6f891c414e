// Package golden finds the reference numbers that tests compare with. They were
// computed by the published implementation and are not part of this repository.
package golden

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/noether-go/noether/internal/npz"
)

// Dir returns the folder of the reference numbers: $NOETHER_GOLDEN, by default
// ../shared/golden beside the module's root.
func Dir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("NOETHER_GOLDEN"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "..", "shared", "golden")
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("golden: no go.mod in this folder or above it")
		}
		dir = up
	}
}

// Open returns the reference numbers of that file name, such as "group_se2.npz".
// Where the file is absent it skips the test and says why, or, when $CI is
// "true", fails it. A file that cannot be read always fails it.
func Open(t testing.TB, name string) npz.Archive {
	t.Helper()
	path := filepath.Join(Dir(t), name)
	if _, err := os.Stat(path); err != nil {
		const hint = "golden: %v (set NOETHER_GOLDEN to the folder of the reference numbers)"
		if os.Getenv("CI") == "true" {
			t.Fatalf(hint, err)
		}
		t.Skipf(hint, err)
	}
	a, err := npz.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Float64 returns the values and the shape of an array that must be there.
func Float64(t testing.TB, a npz.Archive, name string) ([]float64, []int) {
	t.Helper()
	values, shape, err := a.Float64(name)
	if err != nil {
		t.Fatal(err)
	}
	return values, shape
}

// Float32 returns the values and the shape of an array that must be there.
func Float32(t testing.TB, a npz.Archive, name string) ([]float32, []int) {
	t.Helper()
	values, shape, err := a.Float32(name)
	if err != nil {
		t.Fatal(err)
	}
	return values, shape
}

// Close fails the test unless |got[i] - want[i]| <= abs + rel*|want[i]| for all i.
// It reports the element that misses its bound by the largest factor. NaN is
// close to nothing.
func Close[G, W float32 | float64](t testing.TB, what string, got []G, want []W, rel, abs float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	worst, at, misses := 0.0, -1, 0
	for i := range got {
		g, w := float64(got[i]), float64(want[i])
		if g == w {
			continue
		}
		d, bound := math.Abs(g-w), abs+rel*math.Abs(w)
		if d <= bound && !math.IsInf(bound, 0) {
			continue
		}
		misses++
		factor := d / bound
		if math.IsNaN(factor) {
			factor = math.Inf(1)
		}
		if at < 0 || factor > worst {
			worst, at = factor, i
		}
	}
	if misses > 0 {
		d := math.Abs(float64(got[at]) - float64(want[at]))
		t.Errorf("%s: %d of %d values are off; worst at %d: got %v, want %v, off by %.3g, %.3g times what is allowed (%g relative + %g absolute)",
			what, misses, len(got), at, got[at], want[at], d, worst, rel, abs)
	}
}

// MaxAbs returns the largest |x[i]|, for tolerances relative to a whole array.
func MaxAbs[T float32 | float64](x []T) float64 {
	m := 0.0
	for _, v := range x {
		m = math.Max(m, math.Abs(float64(v)))
	}
	return m
}
