//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// C = A*B + bias for 6 rows and tiles*16 columns. In Go, with T for the
// accumulators:
//
//	for range tiles {
//		T = 0
//		for p := range k {
//			for i := range 6 {
//				T[i][:] += broadcast(A[i][p]) * B[p][:] // one broadcast, two FMAs
//			}
//		}
//		for i := range 6 {
//			C[i][:] = T[i][:] + bias[i]
//		}
//		B = B[16:]
//		C = C[16:]
//	}
//
//	Y0..Y11      T: row i in Y(2i) and Y(2i+1)
//	Y12, Y13     the row of B
//	Y14, Y15     broadcast values of A, in turn
//	SI           the step of A
//	R9, R11, R13 lda in bytes once, three and five times
//	DI, R10, R12 the row of B, ldb in bytes once and three times
//	R8           the tile of C
//	DX, BX, R14  ldc in bytes once, three and five times
//	CX           k, then steps left
//	AX           counter, bias

#define FMA(x, t, c0, c1) \
	VBROADCASTSS x, t       \
	VFMADD231PS  Y12, t, c0 \
	VFMADD231PS  Y13, t, c1

// STEP multiplies at byte d of the rows of A by the row of B at x.
#define STEP(d, x) \
	VMOVUPS 0 x, Y12                 \
	VMOVUPS 32 x, Y13                \
	FMA(d(SI), Y14, Y0, Y1)          \
	FMA(d(SI)(R9*1), Y15, Y2, Y3)    \
	FMA(d(SI)(R9*2), Y14, Y4, Y5)    \
	FMA(d(SI)(R11*1), Y15, Y6, Y7)   \
	FMA(d(SI)(R9*4), Y14, Y8, Y9)    \
	FMA(d(SI)(R13*1), Y15, Y10, Y11)

// ROW stores a row of T at x.
#define ROW(i, x, c0, c1) \
	VBROADCASTSS i*4(AX), Y12 \
	VADDPS       Y12, c0, c0  \
	VADDPS       Y12, c1, c1  \
	VMOVUPS      c0, 0 x      \
	VMOVUPS      c1, 32 x

// func linear6x16AVX2(tiles, k int, a *float32, lda int, b *float32, ldb int, bias, c *float32, ldc int)
TEXT ·linear6x16AVX2(SB), NOSPLIT, $0-72
	MOVQ ldb+40(FP), R10
	MOVQ ldc+64(FP), DX
	MOVQ lda+24(FP), R9
	SHLQ $2, R10
	SHLQ $2, DX
	SHLQ $2, R9
	LEAQ (R9)(R9*2), R11
	LEAQ (R9)(R9*4), R13
	LEAQ (R10)(R10*2), R12
	LEAQ (DX)(DX*2), BX
	LEAQ (DX)(DX*4), R14
	MOVQ c+56(FP), R8

tile:
	PREFETCHT0 (R8)
	PREFETCHT0 (R8)(DX*1)
	PREFETCHT0 (R8)(DX*2)
	PREFETCHT0 (R8)(BX*1)
	PREFETCHT0 (R8)(DX*4)
	PREFETCHT0 (R8)(R14*1)
	MOVQ       a+16(FP), SI
	MOVQ       b+32(FP), DI
	MOVQ       k+8(FP), CX
	ZERO12
	MOVQ       CX, AX
	SHRQ       $2, AX
	JZ         rest
	PCALIGN    $64

four:
	STEP(0, (DI))
	STEP(4, (DI)(R10*1))
	STEP(8, (DI)(R10*2))
	STEP(12, (DI)(R12*1))
	LEAQ (DI)(R10*4), DI
	ADDQ $16, SI
	DECQ AX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   save

one:
	STEP(0, (DI))
	ADDQ R10, DI
	ADDQ $4, SI
	DECQ CX
	JNZ  one

save:
	MOVQ bias+48(FP), AX
	ROW(0, (R8), Y0, Y1)
	ROW(1, (R8)(DX*1), Y2, Y3)
	ROW(2, (R8)(DX*2), Y4, Y5)
	ROW(3, (R8)(BX*1), Y6, Y7)
	ROW(4, (R8)(DX*4), Y8, Y9)
	ROW(5, (R8)(R14*1), Y10, Y11)
	ADDQ $64, b+32(FP)
	ADDQ $64, R8
	DECQ tiles+0(FP)
	JNZ  tile
	VZEROUPPER
	RET
