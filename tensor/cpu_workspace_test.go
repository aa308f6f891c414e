package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestWorkspace checks that every worker has memory of its own, of the largest
// size that anybody asked for.
func TestWorkspace(t *testing.T) {
	d, err := NewCPU(3)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if n := len(d.Workspace(2)); n != 0 {
		t.Errorf("%d values before any were reserved", n)
	}
	for _, c := range []struct{ reserve, want int }{{100, 100}, {1 << 20, 1 << 20}, {50, 1 << 20}, {0, 1 << 20}} {
		if err := d.ReserveWorkspace(c.reserve); err != nil {
			t.Fatal(err)
		}
		for w := range d.Threads() {
			x := d.Workspace(w)
			if len(x) < c.want {
				t.Fatalf("worker %d has %d values after %d were reserved", w, len(x), c.reserve)
			}
			if address(x)%64 != 0 {
				t.Errorf("worker %d: memory at %#x", w, address(x))
			}
			for i := range x {
				x[i] = float32(w + 1)
			}
		}
		for w := range d.Threads() {
			for i, v := range d.Workspace(w) {
				if v != float32(w+1) {
					t.Fatalf("value %d of worker %d belongs to worker %v too", i, w, v-1)
				}
			}
		}
	}
	for _, n := range []int{maxValues / 2, maxValues, math.MaxInt/2 + 1, math.MaxInt - 3, math.MaxInt} {
		if err := d.ReserveWorkspace(n); err == nil || !strings.Contains(err.Error(), fmt.Sprint(n, " values")) {
			t.Errorf("%d values, more than can be addressed: %v", n, err)
		}
	}
	if err := d.ReserveWorkspace(-1); err == nil || !strings.Contains(err.Error(), "-1 values (-4 bytes)") {
		t.Errorf("less than no values: %v", err)
	}
	if len(d.Workspace(0)) < 1<<20 {
		t.Error("a refused reservation took the memory away")
	}
}
