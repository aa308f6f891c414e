package golden_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/golden"
)

// recorder is a testing.TB that notes what a helper reports.
type recorder struct {
	testing.TB
	failed, skipped bool
	message         string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed, r.message = true, fmt.Sprintf(format, args...)
}

func (r *recorder) Fatal(args ...any) {
	r.failed, r.message = true, fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped, r.message = true, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// record runs f and returns what it reported.
func record(t *testing.T, f func(t testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestClose(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want []float64
		rel, abs  float64
		message   string // "" when close
	}{
		{[]float64{1, 2}, []float64{1, 2}, 0, 0, ""},
		{nil, nil, 0, 0, ""},
		{[]float64{inf, -inf, 0}, []float64{inf, -inf, math.Copysign(0, -1)}, 0, 0, ""},
		{[]float64{1.01}, []float64{1}, 0.02, 0, ""},
		{[]float64{1.01}, []float64{1}, 0, 0.02, ""},
		{[]float64{-101}, []float64{-100}, 0.02, 0, ""},
		{[]float64{1.01}, []float64{1}, 0.001, 0.001, "1 of 1 values are off; worst at 0: got 1.01, want 1"},
		{[]float64{1, 5, 3}, []float64{1, 2, 3.5}, 0.1, 0, "2 of 3 values are off; worst at 1: got 5, want 2"},
		// 0.2 off is worse where less is allowed.
		{[]float64{100.2, 0.2}, []float64{100, 0}, 0.001, 0.01, "worst at 1"},
		{[]float64{0}, []float64{1e-30}, 0, 0, "worst at 0"},
		{[]float64{nan, 9}, []float64{1, 1}, 1, 1, "worst at 0: got NaN"},
		{[]float64{1}, []float64{nan}, 1, 1, "want NaN"},
		{[]float64{nan}, []float64{nan}, 1, 1, "got NaN"},
		{[]float64{1}, []float64{inf}, 1, 1, "want +Inf"},
		{[]float64{inf}, []float64{1}, 1, 1, "got +Inf"},
		{[]float64{-inf}, []float64{inf}, 1, 1, "got -Inf"},
		{[]float64{1, 2}, []float64{1}, 1, 1, "2 values, want 1"},
	} {
		r := record(t, func(t testing.TB) { golden.Close(t, "it", c.got, c.want, c.rel, c.abs) })
		if r.failed != (c.message != "") || !strings.Contains(r.message, c.message) {
			t.Errorf("%v against %v (rel %v, abs %v): %q, want %q", c.got, c.want, c.rel, c.abs, r.message, c.message)
		}
	}
	if got := golden.MaxAbs([]float32{1, -3, 2}); got != 3 {
		t.Errorf("MaxAbs = %v", got)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("NOETHER_GOLDEN", dir)
	if got := golden.Dir(t); got != dir {
		t.Errorf("Dir = %q, want %q", got, dir)
	}
	open := func(t testing.TB) { golden.Open(t, "x.npz") }
	t.Setenv("CI", "")
	if r := record(t, open); !r.skipped || r.failed || !strings.Contains(r.message, "x.npz") || !strings.Contains(r.message, "NOETHER_GOLDEN") {
		t.Errorf("absent: %+v", r)
	}
	t.Setenv("CI", "true")
	if r := record(t, open); r.skipped || !r.failed || !strings.Contains(r.message, "x.npz") {
		t.Errorf("absent in CI: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.npz"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CI", "")
	if r := record(t, open); r.skipped || !r.failed || !strings.Contains(r.message, "neither .npy nor .npz") {
		t.Errorf("garbage: %+v", r)
	}
	t.Setenv("NOETHER_GOLDEN", "")
	root, err := filepath.Abs(filepath.Join("..", "..")) // of the module
	if err != nil {
		t.Fatal(err)
	}
	if got, want := golden.Dir(t), filepath.Join(root, "..", "shared", "golden"); got != want {
		t.Errorf("Dir = %q, want %q", got, want)
	}
}
