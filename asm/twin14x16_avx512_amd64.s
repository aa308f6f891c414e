//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "tile_avx512_amd64.h"

// A tile of GemmTwinNN and its like of 7 to 14 rows and at most 16 columns, of which one of 6 x 32 would leave half idle. In
// Go:
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
// Each m has loops of its own, with all columns, for A row-major and for A k-major, and under a mask.
//
//	Z0..Z27                row i of P in Z(2i), of Q in Z(2i+1)
//	Z28, Z29               the rows of B0 and B1
//	Z30                    a broadcast value of A
//	K1                     the columns that exist
//	SI, R11, R12, R13, BX  rows 0, 3, 6, 9, 12 of A, at the step; k-major SI alone, and R11 three steps further
//	R9                     bytes from one row of A to the next, k-major of a step
//	R10                    under a mask bytes of a step
//	DI, R8                 rows of B0 and B1 at the step
//	AX, DX                 ldb in bytes, three times that
//	R14                    what is fetched ahead
//	CX                     steps left
//
// At the end DX, R9 and R8 are rows of C0 and C1 and ldc in bytes, and AX counts rows.

#define B0 VMOVUPS (DI), Z28; VMOVUPS (R8), Z29
#define B1 VMOVUPS (DI)(AX*1), Z28; VMOVUPS (R8)(AX*1), Z29
#define B2 VMOVUPS (DI)(AX*2), Z28; VMOVUPS (R8)(AX*2), Z29
#define B3 VMOVUPS (DI)(DX*1), Z28; VMOVUPS (R8)(DX*1), Z29

#define NEXT ADDQ AX, DI; ADDQ AX, R8
#define NEXTFOUR LEAQ (DI)(AX*4), DI; LEAQ (R8)(AX*4), R8

#include "steps_avx512_amd64.h"
#include "heights14_avx512_amd64.h"

// STEPS adds up CX steps under a mask, and fetches two lines ahead in every fourth.
#define STEPS(rows, again, plain) \
again:  \
	VMOVUPS.Z  (DI), K1, Z28 \
	VMOVUPS.Z  (R8), K1, Z29 \
	rows(WIDE, 0)            \
	ADDQ       R10, SI       \
	ADDQ       R10, R11      \
	ADDQ       R10, R12      \
	ADDQ       R10, R13      \
	ADDQ       R10, BX       \
	NEXT                     \
	TESTQ      $3, CX        \
	JNZ        plain         \
	PREFETCHT0 (R14)         \
	PREFETCHT0 64(R14)       \
	ADDQ       $128, R14     \
	plain:                   \
	DECQ       CX            \
	JNZ        again         \
	JMP        sums

// SAVE writes a row of both, and goes on to the next.
#define SAVE(p, q, next) \
	TESTB    $1, CX         \
	JZ       next           \
	VADDPS.Z (DX), p, K1, p \
	VADDPS.Z (R9), q, K1, q \
	next:                   \
	VMOVUPS  p, K1, (DX)    \
	VMOVUPS  q, K1, (R9)    \
	DECQ     AX             \
	JZ       done           \
	ADDQ     R8, DX         \
	ADDQ     R8, R9

// func sgemmTwin14x16AVX512(m, n, k int, a *float32, row, step int, b0, b1 *float32, ldb int, c0, c1 *float32, ldc int, accumulate bool, ahead *float32)
TEXT ·sgemmTwin14x16AVX512(SB), NOSPLIT, $0-112
	MOVQ n+8(FP), CX
	MASKS32
	MOVQ ldc+88(FP), R8
	MOVQ c0+72(FP), DX
	MOVQ c1+80(FP), BX
	MOVQ m+0(FP), AX
	SHLQ $2, R8

fetch:
	PREFETCHT0 (DX)
	PREFETCHT0 (BX)
	ADDQ       R8, DX
	ADDQ       R8, BX
	DECQ       AX
	JNZ        fetch

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
	LEAQ  (R9)(R9*2), R15
	LEAQ  (SI)(R15*1), R11
	LEAQ  (SI)(R15*2), R12
	LEAQ  (R11)(R15*2), R13
	LEAQ  (SI)(R15*4), BX
	CMPQ  n+8(FP), $16
	JLT   masked
	CMPQ  R10, $4
	JNE   columns
	MOVQ  m+0(FP), R15
	ROWSOF(R15)

columns:
	MOVQ R10, R9
	LEAQ (R9)(R9*2), R11
	ADDQ SI, R11
	MOVQ m+0(FP), R15
	COLUMNSOF(R15)

masked:
	MOVQ m+0(FP), R15
	HEIGHT(R15, masked7, masked8, masked9, masked10, masked11, masked12, masked13, masked14)

	LOOPS

masked7:
	STEPS(NN7, masked7again, masked7plain)

masked8:
	STEPS(NN8, masked8again, masked8plain)

masked9:
	STEPS(NN9, masked9again, masked9plain)

masked10:
	STEPS(NN10, masked10again, masked10plain)

masked11:
	STEPS(NN11, masked11again, masked11plain)

masked12:
	STEPS(NN12, masked12again, masked12plain)

masked13:
	STEPS(NN13, masked13again, masked13plain)

masked14:
	STEPS(NN14, masked14again, masked14plain)

sums:
	MOVQ    c0+72(FP), DX
	MOVQ    c1+80(FP), R9
	MOVQ    ldc+88(FP), R8
	MOVQ    m+0(FP), AX
	MOVBLZX accumulate+96(FP), CX
	SHLQ    $2, R8
	SAVE(Z0, Z1, save1)
	SAVE(Z2, Z3, save2)
	SAVE(Z4, Z5, save3)
	SAVE(Z6, Z7, save4)
	SAVE(Z8, Z9, save5)
	SAVE(Z10, Z11, save6)
	SAVE(Z12, Z13, save7)
	SAVE(Z14, Z15, save8)
	SAVE(Z16, Z17, save9)
	SAVE(Z18, Z19, save10)
	SAVE(Z20, Z21, save11)
	SAVE(Z22, Z23, save12)
	SAVE(Z24, Z25, save13)
	SAVE(Z26, Z27, save14)

done:
	VZEROUPPER
	RET
