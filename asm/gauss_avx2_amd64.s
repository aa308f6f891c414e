//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// GaussFactors, 8 columns after the other. In Go, for e = 2:
//
//	for ; n > 0; n -= 8 { // the last ones may be fewer
//		B = b[:][:8] // 2e+1 rows in registers
//		for f := range m {
//			re := a[f][0]*B[0] + a[f][1]*B[1] + a[f][2]*B[2]
//			im := a[f][3]*B[3] + a[f][4]*B[4]
//			c[f][0], c[f][1], c[f][2] = re+im, im, re
//		}
//	}
//
//	Y0..Y6       B
//	Y7, Y8       re, im
//	Y9..Y13      broadcast values of a, in turn; Y9 also is re+im
//	Y15          the columns that exist
//	SI           the row of a
//	DI, R8, R9   the three rows of c
//	R10          ldc in bytes
//	R11          the row of B, and then bytes from one row of a to the next
//	R12, R13     b and c at the columns, R14 ldb in bytes, BX distance in bytes
//	DX           columns left
//	CX           frequencies left
//	AX           scratch

#define LOAD(row) \
	VMOVUPS (R11), row \
	ADDQ    R14, R11

#define MASKEDLOAD(row) \
	VMASKMOVPS (R11), Y15, row \
	ADDQ       R14, R11

#define FIRST(d, row, t, value) \
	VBROADCASTSS d(SI), value  \
	VMULPS       value, row, t

#define NEXT(d, row, t, value) \
	VBROADCASTSS d(SI), value  \
	VFMADD231PS  value, row, t

#define ONE \
	FIRST(0, Y0, Y7, Y9)  \
	NEXT(4, Y1, Y7, Y10)  \
	FIRST(8, Y2, Y8, Y11)

#define TWO \
	FIRST(0, Y0, Y7, Y9)   \
	FIRST(12, Y3, Y8, Y10) \
	NEXT(4, Y1, Y7, Y11)   \
	NEXT(16, Y4, Y8, Y12)  \
	NEXT(8, Y2, Y7, Y13)

#define THREE \
	FIRST(0, Y0, Y7, Y9)   \
	FIRST(16, Y4, Y8, Y10) \
	NEXT(4, Y1, Y7, Y11)   \
	NEXT(20, Y5, Y8, Y12)  \
	NEXT(8, Y2, Y7, Y13)   \
	NEXT(24, Y6, Y8, Y9)   \
	NEXT(12, Y3, Y7, Y10)

#define WRITE \
	VADDPS  Y8, Y7, Y9 \
	VMOVUPS Y7, (R9)   \
	VMOVUPS Y8, (R8)   \
	VMOVUPS Y9, (DI)

#define MASKEDWRITE \
	VADDPS     Y8, Y7, Y9    \
	VMASKMOVPS Y7, Y15, (R9) \
	VMASKMOVPS Y8, Y15, (R8) \
	VMASKMOVPS Y9, Y15, (DI)

// FREQUENCIES goes through all rows of a, bytes apart, and leaves to next.
#define FREQUENCIES(sums, bytes, write, again) \
	MOVQ   bytes, R11 \
	again:            \
	sums              \
	write             \
	ADDQ   R11, SI    \
	ADDQ   R10, DI    \
	ADDQ   R10, R8    \
	ADDQ   R10, R9    \
	DECQ   CX         \
	JNZ    again      \
	JMP    next

// func sgaussAVX2(m, n, e int, a *float32, b *float32, ldb int, c *float32, distance, ldc int)
TEXT ·sgaussAVX2(SB), NOSPLIT, $0-72
	MOVQ n+8(FP), DX
	MOVQ b+32(FP), R12
	MOVQ ldb+40(FP), R14
	MOVQ c+48(FP), R13
	MOVQ distance+56(FP), BX
	MOVQ ldc+64(FP), R10
	SHLQ $2, R14
	SHLQ $2, BX
	SHLQ $2, R10

tile:
	MOVQ R12, R11
	MOVQ a+24(FP), SI
	MOVQ R13, DI
	LEAQ (R13)(BX*1), R8
	LEAQ (R13)(BX*2), R9
	CMPQ DX, $8
	JLT  masked
	MOVQ m+0(FP), CX
	MOVQ e+16(FP), AX
	LOAD(Y0)
	LOAD(Y1)
	LOAD(Y2)
	CMPQ AX, $1
	JEQ  one
	LOAD(Y3)
	LOAD(Y4)
	CMPQ AX, $2
	JEQ  two
	LOAD(Y5)
	LOAD(Y6)
	FREQUENCIES(THREE, $28, WRITE, three)

two:
	FREQUENCIES(TWO, $20, WRITE, twoAgain)

one:
	FREQUENCIES(ONE, $12, WRITE, oneAgain)

masked:
	MOVQ DX, CX
	TAILMASK
	MOVQ m+0(FP), CX
	MOVQ e+16(FP), AX
	MASKEDLOAD(Y0)
	MASKEDLOAD(Y1)
	MASKEDLOAD(Y2)
	CMPQ AX, $1
	JEQ  maskedOne
	MASKEDLOAD(Y3)
	MASKEDLOAD(Y4)
	CMPQ AX, $2
	JEQ  maskedTwo
	MASKEDLOAD(Y5)
	MASKEDLOAD(Y6)
	FREQUENCIES(THREE, $28, MASKEDWRITE, maskedThree)

maskedTwo:
	FREQUENCIES(TWO, $20, MASKEDWRITE, maskedTwoAgain)

maskedOne:
	FREQUENCIES(ONE, $12, MASKEDWRITE, maskedOneAgain)

next:
	ADDQ $32, R12
	ADDQ $32, R13
	SUBQ $8, DX
	JG   tile
	VZEROUPPER
	RET
