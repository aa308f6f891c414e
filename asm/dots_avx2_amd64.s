//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// Scalar products of at most 3 rows of A with the rows of B, four of these at a
// time. In Go, with vectors of 8 values and T for the accumulators:
//
//	for ; n > 0; n -= 4 { // the last rows of B may be fewer
//		T = 0
//		for p := 0; p < k; p += 8 { // the last values under a mask
//			for i := range m {
//				for j := range 4 {
//					T[i][j] += A[i][p:] * B[j][p:]
//				}
//			}
//		}
//		for i := range m {
//			C[i][:4] = lanes of T[i][:] summed // accumulate: + C[i][:4]
//		}
//		B = B[4*ldb:]
//		C = C[4:]
//	}
//
// Where fewer than four rows of B are left, the last one stands in for those that
// are missing.
//
//	Y0..Y11        T: row i in Y(4i)..Y(4i+3)
//	Y12, Y13, Y14  values of A; in the last step A, B and the mask
//	Y15            values of B
//	SI, R9         row 0 of A, lda in bytes
//	DI             row 0 of B; R10, R12, R15 lead from it to rows 1, 2, 3
//	R8, DX         row of C, ldc in bytes
//	R13            mask of the columns of C (in onOff of pack_amd64.go)
//	CX             values of k left
//	AX, BX         scratch

#define A1(d) VMOVUPS d(SI), Y12
#define A2(d) A1(d); VMOVUPS d(SI)(R9*1), Y13
#define A3(d) A2(d); VMOVUPS d(SI)(R9*2), Y14

#define FMA1(t0, t1, t2) VFMADD231PS Y15, Y12, t0
#define FMA2(t0, t1, t2) FMA1(t0, t1, t2); VFMADD231PS Y15, Y13, t1
#define FMA3(t0, t1, t2) FMA2(t0, t1, t2); VFMADD231PS Y15, Y14, t2

#define STEP(rows, fma, d) \
	rows(d)                   \
	VMOVUPS d(DI), Y15        \
	fma(Y0, Y4, Y8)           \
	VMOVUPS d(DI)(R10*1), Y15 \
	fma(Y1, Y5, Y9)           \
	VMOVUPS d(DI)(R12*1), Y15 \
	fma(Y2, Y6, Y10)          \
	VMOVUPS d(DI)(R15*1), Y15 \
	fma(Y3, Y7, Y11)

// LAST adds the products of the last values of one row of A under the mask Y14.
#define LAST(x, t0, t1, t2, t3) \
	VMASKMOVPS  x, Y14, Y12           \
	VMASKMOVPS  (DI), Y14, Y13        \
	VFMADD231PS Y13, Y12, t0          \
	VMASKMOVPS  (DI)(R10*1), Y14, Y13 \
	VFMADD231PS Y13, Y12, t1          \
	VMASKMOVPS  (DI)(R12*1), Y14, Y13 \
	VFMADD231PS Y13, Y12, t2          \
	VMASKMOVPS  (DI)(R15*1), Y14, Y13 \
	VFMADD231PS Y13, Y12, t3

#define LAST1 LAST((SI), Y0, Y1, Y2, Y3)
#define LAST2 LAST1; LAST((SI)(R9*1), Y4, Y5, Y6, Y7)
#define LAST3 LAST2; LAST((SI)(R9*2), Y8, Y9, Y10, Y11)

// LOOP runs through k, 16 values at a time, and leaves to save.
#define LOOP(rows, fma, lastRows, two, one, last, save) \
	SUBQ    $16, CX           \
	JLT     one               \
	PCALIGN $64               \
	two:                      \
	STEP(rows, fma, 0)        \
	STEP(rows, fma, 32)       \
	ADDQ    $64, SI           \
	ADDQ    $64, DI           \
	SUBQ    $16, CX           \
	JGE     two               \
	one:                      \
	ADDQ    $8, CX            \
	JLT     last              \
	STEP(rows, fma, 0)        \
	ADDQ    $32, SI           \
	ADDQ    $32, DI           \
	SUBQ    $8, CX            \
	last:                     \
	ADDQ    $8, CX            \
	JZ      save              \
	LEAQ    ·onOff+64(SB), BX \
	SHLQ    $2, CX            \
	SUBQ    CX, BX            \
	VMOVUPS (BX), Y14         \
	lastRows                  \
	JMP     save

// FOLD sums the lanes of t0..t3 into the four values of X12: pairs two apart,
// neighbours, then the two groups of four.
#define FOLD(t0, t1, t2, t3) \
	VUNPCKLPS    t1, t0, Y12   \
	VUNPCKHPS    t1, t0, Y13   \
	VADDPS       Y13, Y12, Y12 \
	VUNPCKLPS    t3, t2, Y14   \
	VUNPCKHPS    t3, t2, Y15   \
	VADDPS       Y15, Y14, Y14 \
	VUNPCKLPD    Y14, Y12, Y13 \
	VUNPCKHPD    Y14, Y12, Y15 \
	VADDPS       Y15, Y13, Y12 \
	VEXTRACTF128 $1, Y12, X13  \
	VADDPS       X13, X12, X12

// STORE folds a row of T, puts it into C or adds it there, and steps to the next.
#define STORE(t0, t1, t2, t3, put) \
	FOLD(t0, t1, t2, t3)             \
	VMOVUPS    (R13), X14            \
	CMPB       accumulate+72(FP), $0 \
	JEQ        put                   \
	VMASKMOVPS (R8), X14, X13        \
	VADDPS     X13, X12, X12         \
	put:                             \
	VMASKMOVPS X12, X14, (R8)        \
	ADDQ       DX, R8

// func sgemmDots3x4AVX2(m, n, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool)
TEXT ·sgemmDots3x4AVX2(SB), NOSPLIT, $0-73
tile:
	MOVQ    a+24(FP), SI
	MOVQ    lda+32(FP), R9
	SHLQ    $2, R9
	MOVQ    b+40(FP), DI
	MOVQ    c+56(FP), R8
	MOVQ    ldc+64(FP), DX
	SHLQ    $2, DX
	MOVQ    n+8(FP), CX
	MOVQ    $4, AX
	CMPQ    CX, AX
	CMOVQGT AX, CX             // CX = min(n, 4)
	LEAQ    ·onOff+64(SB), R13
	MOVQ    CX, AX
	SHLQ    $2, AX
	SUBQ    AX, R13
	DECQ    CX                 // the last row of B
	MOVQ    ldb+48(FP), BX
	SHLQ    $2, BX
	MOVQ    $1, AX
	CMPQ    CX, AX
	CMOVQLT CX, AX
	IMULQ   BX, AX
	MOVQ    AX, R10            // min(1, last) * ldb
	MOVQ    $2, AX
	CMPQ    CX, AX
	CMOVQLT CX, AX
	IMULQ   BX, AX
	MOVQ    AX, R12            // min(2, last) * ldb
	IMULQ   BX, CX
	MOVQ    CX, R15            // last * ldb
	MOVQ    k+16(FP), CX
	ZERO12
	MOVQ    m+0(FP), AX
	CMPQ    AX, $3
	JEQ     rows3
	CMPQ    AX, $2
	JEQ     rows2
	LOOP(A1, FMA1, LAST1, two1, one1, last1, save)

rows2:
	LOOP(A2, FMA2, LAST2, two2, one2, last2, save)

rows3:
	LOOP(A3, FMA3, LAST3, two3, one3, last3, save)

save:
	MOVQ m+0(FP), AX
	STORE(Y0, Y1, Y2, Y3, put1)
	CMPQ AX, $1
	JEQ  next
	STORE(Y4, Y5, Y6, Y7, put2)
	CMPQ AX, $2
	JEQ  next
	STORE(Y8, Y9, Y10, Y11, put3)

next:
	SUBQ $4, n+8(FP)
	JLE  done
	MOVQ ldb+48(FP), AX
	SHLQ $4, AX
	ADDQ AX, b+40(FP)
	ADDQ $16, c+56(FP)
	JMP  tile

done:
	VZEROUPPER
	RET
