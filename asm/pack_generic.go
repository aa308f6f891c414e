package asm

// packPanelGeneric packs panels of any width; PackPanel and PackAT differ in
// nothing else.
func packPanelGeneric(dst []float32, width int, src []float32, ldsrc, k, n int) {
	for p := range k {
		d := dst[p*width : (p+1)*width]
		copy(d[:n], from(src, p*ldsrc)) // without values src may be shorter
		clear(d[n:])
	}
}

func packRowsGeneric(dst []float32, width int, src []float32, offsets []int, n int) {
	for p, o := range offsets {
		d := dst[p*width : (p+1)*width]
		copy(d[:n], src[o:])
		clear(d[n:])
	}
}

// packColsGeneric packs transposed panels of any width, for PackCols and PackA.
func packColsGeneric(dst []float32, width int, src []float32, ldsrc, k, n int) {
	for p := range k {
		d := dst[p*width : (p+1)*width]
		for j := range n {
			d[j] = src[j*ldsrc+p]
		}
		clear(d[n:])
	}
}

func transposeGeneric(dst []float32, lddst int, src []float32, ldsrc, rows, cols int) {
	for i := range rows {
		for j := range cols {
			dst[j*lddst+i] = src[i*ldsrc+j]
		}
	}
}
