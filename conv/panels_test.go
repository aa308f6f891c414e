package conv

import "testing"

// TestPanelsFit: memory is planned for the largest batch, and a smaller one may have another layout, which must not
// take more.
func TestPanelsFit(t *testing.T) {
	for columns := 1; columns <= 2*blockColumns; columns++ {
		for _, largest := range []int{1, 16, 64, 65} {
			s := newShape(columns, 4, 1, 1, 8, 8, largest, grid(7), 7, Same)
			most := widestPanels(s, columns)
			for s.B = 1; s.B <= largest; s.B++ {
				if p := panelsOf(s, columns); p.size() > most.size() {
					t.Fatalf("%d columns, batch %d: %d values, where %d are planned for %d", columns, s.B, p.size(), most.size(), largest)
				}
			}
		}
	}
}
