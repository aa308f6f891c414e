//go:build !noasm

package asm

//go:noinline
func max4(dst, a, b, c, d []float32) {
	if level != NEON {
		max4Generic(dst, a, b, c, d)
		return
	}
	n := len(dst) &^ 3
	if n > 0 {
		max4NEON(n, &dst[0], &a[0], &b[0], &c[0], &d[0])
	}
	if n < len(dst) {
		var m vec
		pa, pb, pc, pd := pad(a[n:]), pad(b[n:]), pad(c[n:]), pad(d[n:])
		max4NEON(4, &m[0], &pa[0], &pb[0], &pc[0], &pd[0])
		copy(dst[n:], m[:])
	}
}

//go:noinline
func max4Grad(da, db, dc, dd, dy, y, a, b, c, d []float32) {
	if level != NEON {
		max4GradGeneric(da, db, dc, dd, dy, y, a, b, c, d)
		return
	}
	n := len(dy) &^ 3
	if n > 0 {
		max4GradNEON(n, &da[0], &db[0], &dc[0], &dd[0], &dy[0], &y[0], &a[0], &b[0], &c[0], &d[0])
	}
	if n < len(dy) {
		var ga, gb, gc, gd vec
		gy, py := pad(dy[n:]), pad(y[n:])
		pa, pb, pc, pd := pad(a[n:]), pad(b[n:]), pad(c[n:]), pad(d[n:])
		max4GradNEON(4, &ga[0], &gb[0], &gc[0], &gd[0], &gy[0], &py[0], &pa[0], &pb[0], &pc[0], &pd[0])
		copy(da[n:], ga[:])
		copy(db[n:], gb[:])
		copy(dc[n:], gc[:])
		copy(dd[n:], gd[:])
	}
}

//go:noescape
func max4NEON(n int, dst, a, b, c, d *float32)

//go:noescape
func max4GradNEON(n int, da, db, dc, dd, dy, y, a, b, c, d *float32)
