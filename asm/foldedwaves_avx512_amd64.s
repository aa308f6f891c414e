//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// A strip of FoldedWaves of at most 6 frequencies, tile by tile of 16 columns. In Go:
//
//	for ; n > 0; n -= 16 { // the last tile may be narrower
//		R, R2, I, I2 = 0, 0, 0, 0
//		for y := range h/2 { // and -y, the row opposite, and -x the column
//			s, d := p[-y][x][:]+p[y][x][:], p[-y][x][:]-p[y][x][:]
//			s2, d2 := p[-y][-x][:]+p[y][-x][:], p[-y][-x][:]-p[y][-x][:]
//			for g := range m {
//				R[g][:] += broadcast(cos[y][g]) * s
//				R2[g][:] += broadcast(cos[y][g]) * s2
//				I[g][:] += broadcast(minusSin[y][g]) * d
//				I2[g][:] += broadcast(minusSin[y][g]) * d2
//			}
//		}
//		if h is odd {
//			the same for R and R2 and the middle row
//		}
//		for g := range m {
//			re[g][:], ro[g][:] = R2[g][:]+R[g][:], R2[g][:]-R[g][:]
//			ie[g][:], io[g][:] = I2[g][:]+I[g][:], I2[g][:]-I[g][:]
//		}
//		p, re, ro, ie, io = p[16:], re[16:], ro[16:], ie[16:], io[16:]
//	}
//
// Each m has loops of its own, with all columns or under masks. Meanwhile the next columns, towards the middle, are
// fetched.
//
//	Z0..Z5     R, a row each
//	Z6..Z11    R2
//	Z12..Z17   I
//	Z18..Z23   I2
//	Z24..Z27   s, s2, d, d2
//	Z28..Z31   the four values, then broadcast values
//	K1         the columns that exist
//	K2         those of -x: none in the middle column
//	DX, R14    columns left, bytes of those done
//	SI, DI     p[y][x] and p[-y][x]
//	R8         bytes from x to -x
//	R9, R15    bytes from one row to the next, and to the last
//	R10, R11   the rows of cos and of minusSin
//	R12        bytes from one of them to the next
//	R13, BX    bytes to what is fetched beside x and -x
//	CX         pairs of rows left
//	AX         scratch
//
// At the end SI, DI, R10 and R11 are rows of re, ro, ie and io, AX is ldc in bytes, CX rows left.

#define ROW(d, r, r2, i, i2) \
	VBROADCASTSS d(R10), Z28  \
	VBROADCASTSS d(R11), Z29  \
	VFMADD231PS  Z24, Z28, r  \
	VFMADD231PS  Z25, Z28, r2 \
	VFMADD231PS  Z26, Z29, i  \
	VFMADD231PS  Z27, Z29, i2

#define ROWS1 ROW(0, Z0, Z6, Z12, Z18)
#define ROWS2 ROWS1; ROW(4, Z1, Z7, Z13, Z19)
#define ROWS3 ROWS2; ROW(8, Z2, Z8, Z14, Z20)
#define ROWS4 ROWS3; ROW(12, Z3, Z9, Z15, Z21)
#define ROWS5 ROWS4; ROW(16, Z4, Z10, Z16, Z22)
#define ROWS6 ROWS5; ROW(20, Z5, Z11, Z17, Z23)

// SINGLE adds the middle row.
#define SINGLE(d, r, r2) \
	VBROADCASTSS d(R10), Z28  \
	VFMADD231PS  Z24, Z28, r  \
	VFMADD231PS  Z25, Z28, r2

#define SINGLE1 SINGLE(0, Z0, Z6)
#define SINGLE2 SINGLE1; SINGLE(4, Z1, Z7)
#define SINGLE3 SINGLE2; SINGLE(8, Z2, Z8)
#define SINGLE4 SINGLE3; SINGLE(12, Z3, Z9)
#define SINGLE5 SINGLE4; SINGLE(16, Z4, Z10)
#define SINGLE6 SINGLE5; SINGLE(20, Z5, Z11)

#define FULL \
	VMOVUPS (SI), Z28       \
	VMOVUPS (DI), Z29       \
	VMOVUPS (SI)(R8*1), Z30 \
	VMOVUPS (DI)(R8*1), Z31

#define MASKED \
	VMOVUPS.Z (SI), K1, Z28       \
	VMOVUPS.Z (DI), K1, Z29       \
	VMOVUPS.Z (SI)(R8*1), K2, Z30 \
	VMOVUPS.Z (DI)(R8*1), K2, Z31

// LINES adds up all rows.
#define LINES(load, single, rows, again, last) \
	TESTQ      CX, CX              \
	JZ         last                \
	again:                         \
	load                           \
	PREFETCHT0 (SI)(R13*1)         \
	PREFETCHT0 (DI)(R13*1)         \
	PREFETCHT0 (SI)(BX*1)          \
	PREFETCHT0 (DI)(BX*1)          \
	VADDPS     Z28, Z29, Z24       \
	VADDPS     Z30, Z31, Z25       \
	VSUBPS     Z28, Z29, Z26       \
	VSUBPS     Z30, Z31, Z27       \
	rows                           \
	ADDQ       R9, SI              \
	SUBQ       R9, DI              \
	ADDQ       R12, R10            \
	ADDQ       R12, R11            \
	DECQ       CX                  \
	JNZ        again               \
	last:                          \
	CMPQ       SI, DI              \
	JNE        save                \
	VMOVUPS.Z  (SI), K1, Z24       \
	VMOVUPS.Z  (SI)(R8*1), K2, Z25 \
	single                         \
	JMP        save

// SAVE folds and stores a row of all four, and goes on to the next.
#define SAVE(r, r2, i, i2) \
	VADDPS  r, r2, Z24     \
	VADDPS  i, i2, Z26     \
	VSUBPS  r, r2, Z25     \
	VSUBPS  i, i2, Z27     \
	VMOVUPS Z24, K1, (SI)  \
	VMOVUPS Z25, K2, (DI)  \
	VMOVUPS Z26, K1, (R10) \
	VMOVUPS Z27, K2, (R11) \
	DECQ    CX             \
	JZ      done           \
	ADDQ    AX, SI         \
	ADDQ    AX, DI         \
	ADDQ    AX, R10        \
	ADDQ    AX, R11

// func sfoldedWaves6x16AVX512(m, n, h int, cos, minusSin *float32, ldw int, p, opposite *float32, line int, re, ro, ie, io *float32, ldc, next int)
TEXT ·sfoldedWaves6x16AVX512(SB), NOSPLIT, $0-120
	MOVQ  n+8(FP), DX
	XORL  R14, R14
	MOVQ  opposite+56(FP), R8
	SUBQ  p+48(FP), R8
	MOVQ  line+64(FP), R9
	SHLQ  $2, R9
	MOVQ  h+16(FP), R15
	DECQ  R15
	IMULQ R9, R15
	MOVQ  ldw+40(FP), R12
	SHLQ  $2, R12
	MOVQ  next+112(FP), R13
	SHLQ  $2, R13
	MOVQ  R8, BX
	SUBQ  R13, BX

tile:
	MOVQ    $16, CX
	CMPQ    DX, CX
	CMOVQLT DX, CX
	MOVQ    $1, AX
	SHLQ    CX, AX
	DECQ    AX
	KMOVW   AX, K1
	TESTQ   R8, R8
	CMOVQEQ R8, AX               // the middle column: none
	KMOVW   AX, K2
	ZERO28
	MOVQ    p+48(FP), SI
	ADDQ    R14, SI
	LEAQ    (SI)(R15*1), DI      // the last row
	MOVQ    cos+24(FP), R10
	MOVQ    minusSin+32(FP), R11
	MOVQ    h+16(FP), CX
	SHRQ    $1, CX
	CMPQ    AX, $0xffff
	MOVQ    m+0(FP), AX
	JNE     masked
	JUMP6(full1, full2, full3, full4, full5, full6)

masked:
	JUMP6(masked1, masked2, masked3, masked4, masked5, masked6)

full1:
	LINES(FULL, SINGLE1, ROWS1, full1again, full1last)

full2:
	LINES(FULL, SINGLE2, ROWS2, full2again, full2last)

full3:
	LINES(FULL, SINGLE3, ROWS3, full3again, full3last)

full4:
	LINES(FULL, SINGLE4, ROWS4, full4again, full4last)

full5:
	LINES(FULL, SINGLE5, ROWS5, full5again, full5last)

full6:
	LINES(FULL, SINGLE6, ROWS6, full6again, full6last)

masked1:
	LINES(MASKED, SINGLE1, ROWS1, masked1again, masked1last)

masked2:
	LINES(MASKED, SINGLE2, ROWS2, masked2again, masked2last)

masked3:
	LINES(MASKED, SINGLE3, ROWS3, masked3again, masked3last)

masked4:
	LINES(MASKED, SINGLE4, ROWS4, masked4again, masked4last)

masked5:
	LINES(MASKED, SINGLE5, ROWS5, masked5again, masked5last)

masked6:
	LINES(MASKED, SINGLE6, ROWS6, masked6again, masked6last)

save:
	MOVQ re+72(FP), SI
	ADDQ R14, SI
	MOVQ ro+80(FP), DI
	ADDQ R14, DI
	MOVQ ie+88(FP), R10
	ADDQ R14, R10
	MOVQ io+96(FP), R11
	ADDQ R14, R11
	MOVQ ldc+104(FP), AX
	SHLQ $2, AX
	MOVQ m+0(FP), CX
	SAVE(Z0, Z6, Z12, Z18)
	SAVE(Z1, Z7, Z13, Z19)
	SAVE(Z2, Z8, Z14, Z20)
	SAVE(Z3, Z9, Z15, Z21)
	SAVE(Z4, Z10, Z16, Z22)
	SAVE(Z5, Z11, Z17, Z23)

done:
	ADDQ $64, R14
	SUBQ $16, DX
	JG   tile
	VZEROUPPER
	RET
