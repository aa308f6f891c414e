//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "tile6x64_avx512_amd64.h"

// A tile of GemmTwinNN and its like, of at most 6 rows and 32 columns. In Go:
//
//	P, Q = 0, 0
//	for p := range k {
//		for i := range m {
//			P[i][:] += broadcast(A[i][p]) * B0[p][:]
//			Q[i][:] += broadcast(A[i][p]) * B1[p][:]
//		}
//	}
//	C0, C1 = P, Q // accumulate: added
//
// Each m has loops of its own, with all columns, for A row-major and for A k-major, and under masks.
//
//	Z0..Z23      row i of P in Z(4i) and Z(4i+1), of Q in Z(4i+2) and Z(4i+3)
//	Z24, Z25     the row of B0
//	Z26, Z27     the row of B1
//	Z28          a broadcast value of A
//	K1, K2       the columns 0..15 and 16..31 that exist
//	SI, R11      rows 0 and 3 of A at the step; k-major R11 is three steps further
//	R9           bytes from one row of A to the next, k-major of a step
//	R10          under masks bytes of a step
//	DI, R8       rows of B0 and B1 at the step
//	AX, DX       ldb in bytes, three times that
//	R14          what is fetched ahead
//	CX           steps left
//
// At the end DX, R9 and R8 are rows of C0 and C1 and ldc in bytes, and AX counts rows.

#include "steps_avx512_amd64.h"

#define MASKED \
	VMOVUPS.Z (DI), K1, Z24   \
	VMOVUPS.Z 64(DI), K2, Z25 \
	VMOVUPS.Z (R8), K1, Z26   \
	VMOVUPS.Z 64(R8), K2, Z27

// STEPS adds up CX steps under masks, in each of which a line is fetched ahead.
#define STEPS(rows, again) \
again:  \
	MASKED              \
	rows(WIDE, 0)       \
	ADDQ       R10, SI  \
	ADDQ       R10, R11 \
	NEXT                \
	PREFETCHT0 (R14)    \
	ADDQ       $64, R14 \
	DECQ       CX       \
	JNZ        again    \
	JMP        sums

// SAVE writes a row of both, and goes on to the next.
#define SAVE(p0, p1, q0, q1, next) \
	TESTB    $1, CX             \
	JZ       next               \
	VADDPS.Z (DX), p0, K1, p0   \
	VADDPS.Z 64(DX), p1, K2, p1 \
	VADDPS.Z (R9), q0, K1, q0   \
	VADDPS.Z 64(R9), q1, K2, q1 \
	next:                       \
	VMOVUPS  p0, K1, (DX)       \
	VMOVUPS  p1, K2, 64(DX)     \
	VMOVUPS  q0, K1, (R9)       \
	VMOVUPS  q1, K2, 64(R9)     \
	DECQ     AX                 \
	JZ       done               \
	ADDQ     R8, DX             \
	ADDQ     R8, R9

// HEIGHT goes to the loop for so many rows.
#define HEIGHT(l1, l2, l3, l4, l5, l6) \
	CMPQ m+0(FP), $6; JEQ l6 \
	CMPQ m+0(FP), $5; JEQ l5 \
	CMPQ m+0(FP), $4; JEQ l4 \
	CMPQ m+0(FP), $3; JEQ l3 \
	CMPQ m+0(FP), $2; JEQ l2 \
	JMP  l1

// func sgemmTwin6x32AVX512(m, n, k int, a *float32, row, step int, b0, b1 *float32, ldb int, c0, c1 *float32, ldc int, accumulate bool, ahead *float32)
TEXT ·sgemmTwin6x32AVX512(SB), NOSPLIT, $0-112
	MOVQ n+8(FP), CX
	MASKS32
	MOVQ ldc+88(FP), R8
	MOVQ c0+72(FP), DX
	MOVQ c1+80(FP), BX
	MOVQ m+0(FP), AX
	SHLQ $2, R8

	FETCHTWO(fetch)
	ZERO28
	MOVQ  k+16(FP), CX
	TESTQ CX, CX
	JZ    sums
	MOVQ  a+24(FP), SI
	MOVQ  row+32(FP), R9
	MOVQ  step+40(FP), R10
	MOVQ  b0+48(FP), DI
	MOVQ  b1+56(FP), R8
	MOVQ  ldb+64(FP), AX
	MOVQ  ahead+104(FP), R14
	SHLQ  $2, R9
	SHLQ  $2, R10
	SHLQ  $2, AX
	LEAQ  (AX)(AX*2), DX
	LEAQ  (R9)(R9*2), R11
	ADDQ  SI, R11
	CMPQ  n+8(FP), $32
	JLT   masked
	CMPQ  R10, $4
	JNE   columns
	HEIGHT(rows1, rows2, rows3, rows4, rows5, rows6)

columns:
	MOVQ R10, R9
	LEAQ (R9)(R9*2), R11
	ADDQ SI, R11
	HEIGHT(cols1, cols2, cols3, cols4, cols5, cols6)

masked:
	HEIGHT(masked1, masked2, masked3, masked4, masked5, masked6)

rows1:
	LOOPNN(NN1, rows1four, rows1rest, rows1one)

rows2:
	LOOPNN(NN2, rows2four, rows2rest, rows2one)

rows3:
	LOOPNN(NN3, rows3four, rows3rest, rows3one)

rows4:
	LOOPNN(NN4, rows4four, rows4rest, rows4one)

rows5:
	LOOPNN(NN5, rows5four, rows5rest, rows5one)

rows6:
	LOOPNN(NN6, rows6four, rows6rest, rows6one)

cols1:
	LOOPTN(TN1, cols1four, cols1rest, cols1one)

cols2:
	LOOPTN(TN2, cols2four, cols2rest, cols2one)

cols3:
	LOOPTN(TN3, cols3four, cols3rest, cols3one)

cols4:
	LOOPTN(TN4, cols4four, cols4rest, cols4one)

cols5:
	LOOPTN(TN5, cols5four, cols5rest, cols5one)

cols6:
	LOOPTN(TN6, cols6four, cols6rest, cols6one)

masked1:
	STEPS(NN1, masked1again)

masked2:
	STEPS(NN2, masked2again)

masked3:
	STEPS(NN3, masked3again)

masked4:
	STEPS(NN4, masked4again)

masked5:
	STEPS(NN5, masked5again)

masked6:
	STEPS(NN6, masked6again)

sums:
	MOVQ    c0+72(FP), DX
	MOVQ    c1+80(FP), R9
	MOVQ    ldc+88(FP), R8
	MOVQ    m+0(FP), AX
	MOVBLZX accumulate+96(FP), CX
	SHLQ    $2, R8
	SAVE(Z0, Z1, Z2, Z3, save1)
	SAVE(Z4, Z5, Z6, Z7, save2)
	SAVE(Z8, Z9, Z10, Z11, save3)
	SAVE(Z12, Z13, Z14, Z15, save4)
	SAVE(Z16, Z17, Z18, Z19, save5)
	SAVE(Z20, Z21, Z22, Z23, save6)

done:
	VZEROUPPER
	RET
