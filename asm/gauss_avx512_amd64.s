//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// GaussFactors, 32 columns after the other. In Go, for e = 2:
//
//	for ; n > 0; n -= 32 { // the last ones may be fewer
//		B = b[:][:32] // 2e+1 rows in registers
//		for f := range m {
//			re := a[f][0]*B[0] + a[f][1]*B[1] + a[f][2]*B[2]
//			im := a[f][3]*B[3] + a[f][4]*B[4]
//			c[f][0], c[f][1], c[f][2] = re+im, im, re
//		}
//	}
//
//	Z0..Z13      B: row r in Z(2r) and Z(2r+1)
//	Z16, Z17     re
//	Z18, Z19     im
//	Z30          a broadcast value of a
//	K1, K2       the columns 0..15 and 16..31 that exist
//	SI           the row of a
//	DI, R8, R9   the three rows of c
//	R10          ldc in bytes
//	R11          the row of B, and then bytes from one row of a to the next
//	R12, R13     b and c at the columns, R14 ldb in bytes, BX distance in bytes
//	DX           columns left
//	CX           frequencies left
//	AX           scratch

#define LOAD(b0, b1) \
	VMOVUPS.Z (R11), K1, b0   \
	VMOVUPS.Z 64(R11), K2, b1 \
	ADDQ      R14, R11

#define FIRST(d, b0, b1, t0, t1) \
	VBROADCASTSS d(SI), Z30  \
	VMULPS       Z30, b0, t0 \
	VMULPS       Z30, b1, t1

#define NEXT(d, b0, b1, t0, t1) \
	VBROADCASTSS d(SI), Z30  \
	VFMADD231PS  Z30, b0, t0 \
	VFMADD231PS  Z30, b1, t1

#define SAVE(t0, t1, to) \
	VMOVUPS t0, K1, (to)   \
	VMOVUPS t1, K2, 64(to) \
	ADDQ    R10, to

#define WRITE \
	VADDPS Z18, Z16, Z20 \
	VADDPS Z19, Z17, Z21 \
	SAVE(Z16, Z17, R9)   \
	SAVE(Z18, Z19, R8)   \
	SAVE(Z20, Z21, DI)   \
	ADDQ   R11, SI

// func sgaussAVX512(m, n, e int, a *float32, b *float32, ldb int, c *float32, distance, ldc int)
TEXT ·sgaussAVX512(SB), NOSPLIT, $0-72
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
	MOVQ    DX, CX
	MOVQ    $32, AX
	CMPQ    CX, AX
	CMOVQGT AX, CX
	MASKS32
	MOVQ    R12, R11
	MOVQ    a+24(FP), SI
	MOVQ    R13, DI
	LEAQ    (R13)(BX*1), R8
	LEAQ    (R13)(BX*2), R9
	MOVQ    m+0(FP), CX
	MOVQ    e+16(FP), AX
	LOAD(Z0, Z1)
	LOAD(Z2, Z3)
	LOAD(Z4, Z5)
	CMPQ    AX, $1
	JEQ     one
	LOAD(Z6, Z7)
	LOAD(Z8, Z9)
	CMPQ    AX, $2
	JEQ     two
	LOAD(Z10, Z11)
	LOAD(Z12, Z13)
	MOVQ    $28, R11

three:
	FIRST(0, Z0, Z1, Z16, Z17)
	NEXT(4, Z2, Z3, Z16, Z17)
	NEXT(8, Z4, Z5, Z16, Z17)
	NEXT(12, Z6, Z7, Z16, Z17)
	FIRST(16, Z8, Z9, Z18, Z19)
	NEXT(20, Z10, Z11, Z18, Z19)
	NEXT(24, Z12, Z13, Z18, Z19)
	WRITE
	DECQ CX
	JNZ  three
	JMP  next

two:
	MOVQ $20, R11

again:
	FIRST(0, Z0, Z1, Z16, Z17)
	NEXT(4, Z2, Z3, Z16, Z17)
	NEXT(8, Z4, Z5, Z16, Z17)
	FIRST(12, Z6, Z7, Z18, Z19)
	NEXT(16, Z8, Z9, Z18, Z19)
	WRITE
	DECQ CX
	JNZ  again
	JMP  next

one:
	MOVQ $12, R11

single:
	FIRST(0, Z0, Z1, Z16, Z17)
	NEXT(4, Z2, Z3, Z16, Z17)
	FIRST(8, Z4, Z5, Z18, Z19)
	WRITE
	DECQ CX
	JNZ  single

next:
	ADDQ $128, R12
	ADDQ $128, R13
	SUBQ $32, DX
	JG   tile
	VZEROUPPER
	RET
