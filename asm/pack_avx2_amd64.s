//go:build !noasm

#include "textflag.h"

// packRowsAVX2 copies rows of at most 16 values to a panel; load points to the
// masks of the columns that exist, store to those of the panel's width, with
// zeros between. In Go:
//
//	for p := range k {
//		copy(dst[p*width:][:width], src[p*ldsrc:][:n]) // zero beyond n
//	}
//
//	DI, R8        dst, its step in bytes
//	SI, R9        src, its step in bytes
//	CX            k
//	Y12, Y13      columns 0..7, 8..15 to load
//	Y14, Y15      columns 0..7, 8..15 to store
//	Y0, Y1        a row

// func packRowsAVX2(dst *float32, width int, src *float32, ldsrc, k int, load, store *int32)
TEXT ·packRowsAVX2(SB), NOSPLIT, $0-56
	MOVQ    dst+0(FP), DI
	MOVQ    width+8(FP), R8
	MOVQ    src+16(FP), SI
	MOVQ    ldsrc+24(FP), R9
	MOVQ    k+32(FP), CX
	MOVQ    load+40(FP), AX
	VMOVUPS (AX), Y12
	VMOVUPS 32(AX), Y13
	MOVQ    store+48(FP), AX
	VMOVUPS (AX), Y14
	VMOVUPS 32(AX), Y15
	SHLQ    $2, R8
	SHLQ    $2, R9

row:
	VMASKMOVPS (SI), Y12, Y0
	VMASKMOVPS 32(SI), Y13, Y1
	VMASKMOVPS Y0, Y14, (DI)
	VMASKMOVPS Y1, Y15, 32(DI)
	ADDQ       R9, SI
	ADDQ       R8, DI
	DECQ       CX
	JNZ        row
	VZEROUPPER
	RET

// gatherRowsAVX2 is packRowsAVX2 for a panel 16 wide and rows that start at
// src[offsets[p]].
//
//	DI, SI, BX  dst, src, offsets
//	CX          k
//	Y12, Y13    columns to load

// func gatherRowsAVX2(dst, src *float32, offsets *int, k int, load *int32)
TEXT ·gatherRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    offsets+16(FP), BX
	MOVQ    k+24(FP), CX
	MOVQ    load+32(FP), AX
	VMOVUPS (AX), Y12
	VMOVUPS 32(AX), Y13

row:
	MOVQ       (BX), AX
	VMASKMOVPS (SI)(AX*4), Y12, Y0
	VMASKMOVPS 32(SI)(AX*4), Y13, Y1
	VMOVUPS    Y0, (DI)
	VMOVUPS    Y1, 32(DI)
	ADDQ       $8, BX
	ADDQ       $64, DI
	DECQ       CX
	JNZ        row
	VZEROUPPER
	RET

// transposeStripAVX2 transposes at most 8 rows, 4 columns at a time; cols is a
// multiple of 4. Rows that do not exist count as zeros; store points to the
// masks of the lanes to write. In Go:
//
//	for j := range cols {
//		for i := range 8 {
//			if store[i] < 0 {
//				dst[j*lddst+i] = src[i*ldsrc+j] // zero for i >= rows
//			}
//		}
//	}
//
// Row i and row i+4 share a register, four values each, so that transposing 4x4
// values within each 128-bit lane is all there is to do.
//
//	SI, R11    rows 0, 4
//	R9, R10    ldsrc, 3*ldsrc in bytes
//	DI, R8     dst, lddst in bytes
//	DX, CX     rows, columns left
//	Y0..Y3     rows, then columns
//	Y4..Y7     temporaries
//	Y15        lanes to store

#define ROW(i, x, y) \
	CMPQ    DX, $i \
	JLE     loaded \
	VMOVUPS x, y

#define ROWABOVE(i, x, y) \
	CMPQ        DX, $i      \
	JLE         loaded      \
	VINSERTF128 $1, x, y, y

// func transposeStripAVX2(dst *float32, lddst int, src *float32, ldsrc, rows, cols int, store *int32)
TEXT ·transposeStripAVX2(SB), NOSPLIT, $0-56
	MOVQ    dst+0(FP), DI
	MOVQ    lddst+8(FP), R8
	MOVQ    src+16(FP), SI
	MOVQ    ldsrc+24(FP), R9
	MOVQ    rows+32(FP), DX
	MOVQ    cols+40(FP), CX
	MOVQ    store+48(FP), AX
	VMOVUPS (AX), Y15
	SHLQ    $2, R8
	SHLQ    $2, R9
	LEAQ    (R9)(R9*2), R10
	LEAQ    (SI)(R9*4), R11

block:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	ROW(0, (SI), X0)
	ROW(1, (SI)(R9*1), X1)
	ROW(2, (SI)(R9*2), X2)
	ROW(3, (SI)(R10*1), X3)
	ROWABOVE(4, (R11), Y0)
	ROWABOVE(5, (R11)(R9*1), Y1)
	ROWABOVE(6, (R11)(R9*2), Y2)
	ROWABOVE(7, (R11)(R10*1), Y3)

loaded:
	VUNPCKLPS  Y1, Y0, Y4
	VUNPCKHPS  Y1, Y0, Y5
	VUNPCKLPS  Y3, Y2, Y6
	VUNPCKHPS  Y3, Y2, Y7
	VUNPCKLPD  Y6, Y4, Y0
	VUNPCKHPD  Y6, Y4, Y1
	VUNPCKLPD  Y7, Y5, Y2
	VUNPCKHPD  Y7, Y5, Y3
	VMASKMOVPS Y0, Y15, (DI)
	VMASKMOVPS Y1, Y15, (DI)(R8*1)
	LEAQ       (DI)(R8*2), DI
	VMASKMOVPS Y2, Y15, (DI)
	VMASKMOVPS Y3, Y15, (DI)(R8*1)
	LEAQ       (DI)(R8*2), DI
	ADDQ       $16, SI
	ADDQ       $16, R11
	SUBQ       $4, CX
	JNZ        block
	VZEROUPPER
	RET
