//go:build !noasm

package asm

// outerSplitAMX is GemmSplitOuter for an even number of strips. sign is XORed to the odd rows; only addresses
// are made with ahead.
//
//go:noescape
func outerSplitAMX(strips, panels int, a *float32, parta, stripa int, b, u *float32, stripu int, v, c *float32, ldc, stripc, panelc int, sign uint32, ahead int)

//go:noinline
func gemmSplitOuter(o *OuterSplit) {
	if !fastSplit {
		o.parts()
		return
	}
	sign := uint32(0)
	if o.Conjugate {
		sign = 1 << 31
	}
	// Panels for one call, which cannot be preempted: some ten microseconds.
	most := max(1, 128/o.Strips)
	even := o.Strips &^ 1
	for p := 0; p < o.Panels; p += most {
		panels, b, v := min(most, o.Panels-p), &o.B[p*splitBlock], &o.V[p*splitTile]
		if even > 0 {
			outerSplitAMX(even, panels, &o.A[0], o.PartA, o.StripA, b, &o.U[0], o.StripU, v, &o.C[p*o.PanelC], o.LDC, o.StripC, o.PanelC, sign, o.Ahead)
		}
		if even < o.Strips { // the last one, twice to the same place
			outerSplitAMX(2, panels, &o.A[even*o.StripA], o.PartA, 0, b, &o.U[even*o.StripU], 0, v, &o.C[even*o.StripC+p*o.PanelC], o.LDC, 0, o.PanelC, sign, o.Ahead)
		}
	}
}
