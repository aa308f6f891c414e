package conv

import (
	"testing"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/internal/asmtest"
)

// TestMostSliceSteps wants products sliced up to as many steps as their sums have room for, and no further.
func TestMostSliceSteps(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		if !asm.FastSplit() {
			t.Skip("the level has no matrix unit")
		}
		const most, block = asm.MaxSliceSteps, 2 * splitTile
		var point frame
		point.set(4, 4, 4, 4, []Offset{{}})
		for _, more := range []int{0, block} {
			images := newShape(32, 32, 1, 1, 3, 3, most+more, grid(3), 3, Same)
			elements := newShape(32, 32, (2*most+more)/4, 8, 3, 3, 8, grid(3)[:4], 3, Same)
			for what, got := range map[string]bool{
				"images of frequencies": slicesProducts(images),
				"sources of one tap":    point.slicesPoint(2*most+more, 32, 16),
				"sources of long rows":  slicesThin(32, 2*most+more, 64),
				"taps of features":      slicesFeatures(elements, 8),
			} {
				if got != (more == 0) {
					t.Errorf("%s, %d beyond the most: sliced %v", what, more, got)
				}
			}
		}
	})
}
