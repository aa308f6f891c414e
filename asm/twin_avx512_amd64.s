//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

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
// Each m has loops of its own, with all columns or under masks.
//
//	Z0..Z23    row i of P in Z(4i) and Z(4i+1), of Q in Z(4i+2) and Z(4i+3)
//	Z24, Z25   the row of B0
//	Z26, Z27   the row of B1
//	Z28, Z29   broadcast values of A
//	K1, K2     the columns 0..15 and 16..31 that exist
//	SI, R11    rows 0 and 3 of A at the step
//	R9, R10    bytes from one row of A to the next, and from one step to the next
//	DI, BX, R8 rows of B0 and B1 at the step, ldb in bytes
//	DX         what is fetched ahead
//	CX         steps left
//	AX         scratch, rows left
//
// At the end DX, R9 and R8 are rows of C0 and C1 and ldc in bytes.

// MULTIPLY adds the products of a value of A and both rows of B to a row.
#define MULTIPLY(a, t, p0, p1, q0, q1) \
	VBROADCASTSS a, t       \
	VFMADD231PS  Z24, t, p0 \
	VFMADD231PS  Z25, t, p1 \
	VFMADD231PS  Z26, t, q0 \
	VFMADD231PS  Z27, t, q1

#define ROWS1 MULTIPLY((SI), Z28, Z0, Z1, Z2, Z3)
#define ROWS2 ROWS1; MULTIPLY((SI)(R9*1), Z29, Z4, Z5, Z6, Z7)
#define ROWS3 ROWS2; MULTIPLY((SI)(R9*2), Z28, Z8, Z9, Z10, Z11)
#define ROWS4 ROWS3; MULTIPLY((R11), Z29, Z12, Z13, Z14, Z15)
#define ROWS5 ROWS4; MULTIPLY((R11)(R9*1), Z28, Z16, Z17, Z18, Z19)
#define ROWS6 ROWS5; MULTIPLY((R11)(R9*2), Z29, Z20, Z21, Z22, Z23)

#define FULL \
	VMOVUPS (DI), Z24   \
	VMOVUPS 64(DI), Z25 \
	VMOVUPS (BX), Z26   \
	VMOVUPS 64(BX), Z27

#define MASKED \
	VMOVUPS.Z (DI), K1, Z24   \
	VMOVUPS.Z 64(DI), K2, Z25 \
	VMOVUPS.Z (BX), K1, Z26   \
	VMOVUPS.Z 64(BX), K2, Z27

// STEPS adds up CX steps, in each of which a line is fetched ahead.
#define STEPS(rows, load, again) \
again:  \
	load                \
	rows                \
	ADDQ       R10, SI  \
	ADDQ       R10, R11 \
	ADDQ       R8, DI   \
	ADDQ       R8, BX   \
	PREFETCHT0 (DX)     \
	ADDQ       $64, DX  \
	DECQ       CX       \
	JNZ        again    \
	JMP        save

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
	JZ    save
	MOVQ  a+24(FP), SI
	MOVQ  row+32(FP), R9
	MOVQ  step+40(FP), R10
	MOVQ  b0+48(FP), DI
	MOVQ  b1+56(FP), BX
	MOVQ  ldb+64(FP), R8
	MOVQ  ahead+104(FP), DX
	SHLQ  $2, R9
	SHLQ  $2, R10
	SHLQ  $2, R8
	LEAQ  (R9)(R9*2), R11
	ADDQ  SI, R11
	MOVQ  m+0(FP), AX
	CMPQ  n+8(FP), $32
	JLT   masked
	JUMP6(full1, full2, full3, full4, full5, full6)

masked:
	JUMP6(masked1, masked2, masked3, masked4, masked5, masked6)

full1:
	STEPS(ROWS1, FULL, full1again)

full2:
	STEPS(ROWS2, FULL, full2again)

full3:
	STEPS(ROWS3, FULL, full3again)

full4:
	STEPS(ROWS4, FULL, full4again)

full5:
	STEPS(ROWS5, FULL, full5again)

full6:
	STEPS(ROWS6, FULL, full6again)

masked1:
	STEPS(ROWS1, MASKED, masked1again)

masked2:
	STEPS(ROWS2, MASKED, masked2again)

masked3:
	STEPS(ROWS3, MASKED, masked3again)

masked4:
	STEPS(ROWS4, MASKED, masked4again)

masked5:
	STEPS(ROWS5, MASKED, masked5again)

masked6:
	STEPS(ROWS6, MASKED, masked6again)

save:
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
