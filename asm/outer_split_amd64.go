//go:build !noasm

package asm

// outerSplitAMX is GemmSplitOuter. sign is XORed to the odd rows; only addresses are made with ahead.
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
	most := max(1, 64/o.Strips)
	for p := 0; p < o.Panels; p += most {
		outerSplitAMX(o.Strips, min(most, o.Panels-p), &o.A[0], o.PartA, o.StripA, &o.B[p*splitBlock], &o.U[0], o.StripU, &o.V[p*splitTile], &o.C[p*o.PanelC], o.LDC, o.StripC, o.PanelC, sign, o.Ahead)
	}
}
