package conv

import "testing"

// Each value of the slots has a place of its own, and columns that run together lie side by side.
func TestSlotBlocks(t *testing.T) {
	for _, planes := range []int{1, 16, 80, 128, 129, 200, 384} {
		for _, paired := range []bool{false, true} {
			if paired && planes%2 == 1 {
				continue
			}
			s := newShape(planes, 3, 1, 2, 6, 6, 4, grid(3), 3, Same)
			if paired {
				s = newShape(planes/2, 3, 2, 2, 6, 6, 4, grid(3), 3, Same)
			}
			s.Paired = paired
			l := slotBlocksOf(s)
			if got := l.kinds * l.width; got != planes {
				t.Fatalf("%d planes, paired=%v: %d columns", planes, paired, got)
			}
			taken, slots := make([]bool, slotsSize(s)), make([]float32, slotsSize(s))
			for row := range l.rows {
				for kind := range l.kinds {
					for slot := range l.taps {
						for c, together := 0, 0; c < l.width; c, together = c+1, together-1 {
							at := l.at(row, kind, slot, c)
							if taken[at] {
								t.Fatalf("%d planes, paired=%v: row %d, kind %d, slot %d, column %d has the place of another", planes, paired, row, kind, slot, c)
							}
							taken[at] = true
							if together == 0 {
								_, _, together = l.piece(slots, row, c, l.width)
							} else if at != l.at(row, kind, slot, c-1)+1 {
								t.Fatalf("%d planes, paired=%v: column %d is not behind the one before", planes, paired, c)
							}
							if slot > 0 && at != l.at(row, kind, slot-1, c)+l.ld(c) {
								t.Fatalf("%d planes, paired=%v: slot %d, column %d is not ld behind the slot before", planes, paired, slot, c)
							}
						}
					}
				}
			}
		}
	}
}
