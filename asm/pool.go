package asm

// Max4 writes the largest of a[i], b[i], c[i], d[i] to dst[i], and NaN where one
// of them is NaN. Of +0 and -0 the first is taken. dst may be any of the
// sources. It panics with *Error unless the lengths are equal.
func Max4(dst, a, b, c, d []float32) {
	n := len(dst)
	same("Max4", "dst", n, "a", len(a))
	same("Max4", "dst", n, "b", len(b))
	same("Max4", "dst", n, "c", len(c))
	same("Max4", "dst", n, "d", len(d))
	raceRead(a)
	raceRead(b)
	raceRead(c)
	raceRead(d)
	raceWrite(dst)
	for n > chunk {
		max4(dst[:chunk], a[:chunk], b[:chunk], c[:chunk], d[:chunk])
		dst, a, b, c, d = dst[chunk:], a[chunk:], b[chunk:], c[chunk:], d[chunk:]
		n -= chunk
	}
	if n > 0 {
		max4(dst, a, b, c, d)
	}
}

// Max4Grad is the gradient of Max4: for each i, the first of a[i], b[i], c[i],
// d[i] that equals y[i] receives dy[i] in da[i], db[i], dc[i] or dd[i]; the
// others receive 0. All receive 0 where none is equal, as where y[i] is NaN.
// Each gradient may be one of the sources. It panics with *Error unless the
// lengths are equal.
func Max4Grad(da, db, dc, dd, dy, y, a, b, c, d []float32) {
	n := len(da)
	same("Max4Grad", "da", n, "db", len(db))
	same("Max4Grad", "da", n, "dc", len(dc))
	same("Max4Grad", "da", n, "dd", len(dd))
	same("Max4Grad", "da", n, "dy", len(dy))
	same("Max4Grad", "da", n, "y", len(y))
	same("Max4Grad", "da", n, "a", len(a))
	same("Max4Grad", "da", n, "b", len(b))
	same("Max4Grad", "da", n, "c", len(c))
	same("Max4Grad", "da", n, "d", len(d))
	raceRead(dy)
	raceRead(y)
	raceRead(a)
	raceRead(b)
	raceRead(c)
	raceRead(d)
	raceWrite(da)
	raceWrite(db)
	raceWrite(dc)
	raceWrite(dd)
	for n > chunk {
		max4Grad(da[:chunk], db[:chunk], dc[:chunk], dd[:chunk], dy[:chunk], y[:chunk], a[:chunk], b[:chunk], c[:chunk], d[:chunk])
		da, db, dc, dd, dy, y, a, b, c, d = da[chunk:], db[chunk:], dc[chunk:], dd[chunk:], dy[chunk:], y[chunk:], a[chunk:], b[chunk:], c[chunk:], d[chunk:]
		n -= chunk
	}
	if n > 0 {
		max4Grad(da, db, dc, dd, dy, y, a, b, c, d)
	}
}
