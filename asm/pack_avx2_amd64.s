//go:build !noasm

#include "textflag.h"

// packRowsAVX2 copies rows of at most 16 values to a panel that is 16 or 6 wide; load points to the
// masks of the columns that exist, the others are zeros. In Go:
//
//	for p := range k {
//		copy(dst[p*width:][:width], src[p*ldsrc:][:n]) // zero beyond n
//	}
//
// Masked stores are slow on some processors, so 6 values are stored as 4 and 2.
//
//	DI         dst
//	SI, R9     src, its step in bytes
//	CX         k
//	Y12, Y13   columns 0..7, 8..15 to load
//	Y0, Y1     a row

// func packRowsAVX2(dst *float32, width int, src *float32, ldsrc, k int, load *int32)
TEXT ·packRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ    dst+0(FP), DI
	MOVQ    src+16(FP), SI
	MOVQ    ldsrc+24(FP), R9
	MOVQ    k+32(FP), CX
	MOVQ    load+40(FP), AX
	VMOVUPS (AX), Y12
	VMOVUPS 32(AX), Y13
	SHLQ    $2, R9
	CMPQ    width+8(FP), $16
	JNE     narrow

wide:
	VMASKMOVPS (SI), Y12, Y0
	VMASKMOVPS 32(SI), Y13, Y1
	VMOVUPS    Y0, (DI)
	VMOVUPS    Y1, 32(DI)
	ADDQ       R9, SI
	ADDQ       $64, DI
	DECQ       CX
	JNZ        wide
	VZEROUPPER
	RET

narrow:
	VMASKMOVPS   (SI), Y12, Y0
	VEXTRACTF128 $1, Y0, X1
	VMOVUPS      X0, (DI)
	VMOVLPS      X1, 16(DI)
	ADDQ         R9, SI
	ADDQ         $24, DI
	DECQ         CX
	JNZ          narrow
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

// transposeStripAVX2 transposes at most 8 rows, or 16, 4 columns at a time; cols is a multiple of 4. Rows that do
// not exist count as zeros. In Go:
//
//	for j := range cols {
//		for i := range lanes {
//			dst[j*lddst+i] = src[i*ldsrc+j] // zero for i >= rows
//		}
//	}
//
// Row i and row i+4 share a register, four values each, so that transposing 4x4
// values within each 128-bit lane is all there is to do. Masked stores are slow on some processors, so fewer than 8 lanes
// are stored as 4, 2 and 1.
//
//	SI, R11    rows 0, 4
//	R12, R13   rows 8, 12
//	R9, R10    ldsrc, 3*ldsrc in bytes
//	DI, R8     dst, lddst in bytes
//	AX         dst, two columns on
//	DX, CX     rows, columns left
//	BX         lanes
//	Y0..Y3     rows, then columns
//	Y4..Y7     temporaries
//	Y8..Y15    the same for rows 8..15

#define FOUR(p, a, b, c, d) \
	VMOVUPS (p), a        \
	VMOVUPS (p)(R9*1), b  \
	VMOVUPS (p)(R9*2), c  \
	VMOVUPS (p)(R10*1), d

#define FOURABOVE(p, a, b, c, d) \
	VINSERTF128 $1, (p), a, a        \
	VINSERTF128 $1, (p)(R9*1), b, b  \
	VINSERTF128 $1, (p)(R9*2), c, c  \
	VINSERTF128 $1, (p)(R10*1), d, d

#define TURN(a, b, c, d, s, t, u, v) \
	VUNPCKLPS b, a, s \
	VUNPCKHPS b, a, t \
	VUNPCKLPS d, c, u \
	VUNPCKHPS d, c, v \
	VUNPCKLPD u, s, a \
	VUNPCKHPD u, s, b \
	VUNPCKLPD v, t, c \
	VUNPCKHPD v, t, d

// PUT stores a value of each column by move.
#define PUT(move, at, a, b, c, d) \
	move a, at(DI)       \
	move b, at(DI)(R8*1) \
	move c, at(AX)       \
	move d, at(AX)(R8*1)

#define ROW(i, x, y) \
	CMPQ    DX, $i \
	JLE     loaded \
	VMOVUPS x, y

#define ROWABOVE(i, x, y) \
	CMPQ        DX, $i      \
	JLE         loaded      \
	VINSERTF128 $1, x, y, y

// func transposeStripAVX2(dst *float32, lddst int, src *float32, ldsrc, rows, cols, lanes int)
TEXT ·transposeStripAVX2(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ lddst+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ ldsrc+24(FP), R9
	MOVQ rows+32(FP), DX
	MOVQ cols+40(FP), CX
	MOVQ lanes+48(FP), BX
	SHLQ $2, R8
	SHLQ $2, R9
	LEAQ (R9)(R9*2), R10
	LEAQ (SI)(R9*4), R11
	LEAQ (SI)(R9*8), R12
	LEAQ (R11)(R9*8), R13
	CMPQ DX, $16
	JEQ  sixteen
	CMPQ BX, $8
	JNE  block
	CMPQ DX, $8
	JNE  block

eight:
	FOUR(SI, X0, X1, X2, X3)
	FOURABOVE(R11, Y0, Y1, Y2, Y3)
	LEAQ (DI)(R8*2), AX
	TURN(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	PUT(VMOVUPS, 0, Y0, Y1, Y2, Y3)
	LEAQ (DI)(R8*4), DI
	ADDQ $16, SI
	ADDQ $16, R11
	SUBQ $4, CX
	JNZ  eight
	VZEROUPPER
	RET

sixteen:
	FOUR(SI, X0, X1, X2, X3)
	FOUR(R12, X8, X9, X10, X11)
	FOURABOVE(R11, Y0, Y1, Y2, Y3)
	FOURABOVE(R13, Y8, Y9, Y10, Y11)
	LEAQ (DI)(R8*2), AX
	TURN(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	TURN(Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15)
	PUT(VMOVUPS, 0, Y0, Y1, Y2, Y3)
	PUT(VMOVUPS, 32, Y8, Y9, Y10, Y11)
	LEAQ (DI)(R8*4), DI
	ADDQ $16, SI
	ADDQ $16, R11
	ADDQ $16, R12
	ADDQ $16, R13
	SUBQ $4, CX
	JNZ  sixteen
	VZEROUPPER
	RET

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
	TURN(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)
	LEAQ  (DI)(R8*2), AX
	LEAQ  (DI)(R8*4), R12
	TESTQ $8, BX
	JZ    four
	PUT(VMOVUPS, 0, Y0, Y1, Y2, Y3)
	JMP   stored

four:
	TESTQ        $4, BX
	JZ           two
	PUT(VMOVUPS, 0, X0, X1, X2, X3)
	VEXTRACTF128 $1, Y0, X0
	VEXTRACTF128 $1, Y1, X1
	VEXTRACTF128 $1, Y2, X2
	VEXTRACTF128 $1, Y3, X3
	ADDQ         $16, DI
	ADDQ         $16, AX

two:
	TESTQ     $2, BX
	JZ        one
	PUT(VMOVLPS, 0, X0, X1, X2, X3)
	VUNPCKHPD X0, X0, X0
	VUNPCKHPD X1, X1, X1
	VUNPCKHPD X2, X2, X2
	VUNPCKHPD X3, X3, X3
	ADDQ      $8, DI
	ADDQ      $8, AX

one:
	TESTQ $1, BX
	JZ    stored
	PUT(VMOVSS, 0, X0, X1, X2, X3)

stored:
	MOVQ R12, DI
	ADDQ $16, SI
	ADDQ $16, R11
	SUBQ $4, CX
	JNZ  block
	VZEROUPPER
	RET
