package tensor

import "testing"

// TestMapPages: mapped memory begins with a huge page, wherever the system maps it, is as long as was asked for, and
// zero.
func TestMapPages(t *testing.T) {
	var blocks []block
	for _, n := range []int{3, 1000, hugePage/4 - 1, hugePage / 4, hugePage/4 + 1, 5 * hugePage / 8} {
		b, err := mapPages(n)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
		if address(b.values)%hugePage != 0 || len(b.values) != n || cap(b.values) != n {
			t.Errorf("%d values: %d of %d at %#x", n, len(b.values), cap(b.values), address(b.values))
		}
		for _, i := range []int{0, n / 2, n - 1} {
			if b.values[i] != 0 {
				t.Errorf("value %d of %d is %v", i, n, b.values[i])
			}
			b.values[i] = 1
		}
	}
	for _, b := range blocks {
		b.release()
	}
}
