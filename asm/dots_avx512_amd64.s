//go:build !noasm

#include "textflag.h"

// Scalar products of at most 6 rows of A with the rows of B, four of these at a
// time. In Go, with vectors of 16 values and T for the accumulators:
//
//	for ; n > 0; n -= 4 { // the last rows of B may be fewer
//		T = 0
//		for p := 0; p < k; p += 16 { // the last values under a mask
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
//	Z0..Z23        T: row i in Z(4i)..Z(4i+3)
//	Z24..Z27       values of B
//	Z28, Z29, Z30  values of A; temporaries
//	K1             the values of the last step that exist
//	K2             the columns of C that exist
//	SI, R9, R11    row 0 of A, lda in bytes, row 3
//	DI             row 0 of B; R10, R12, R15 lead from it to rows 1, 2, 3
//	R8, DX         row of C, ldc in bytes
//	CX             values of k left
//	AX, BX         scratch

// ROW adds the products of the vector at x with those of B, d bytes on.
#define ROW(load, x, a, t0, t1, t2, t3) \
	load(x, a)             \
	VFMADD231PS Z24, a, t0 \
	VFMADD231PS Z25, a, t1 \
	VFMADD231PS Z26, a, t2 \
	VFMADD231PS Z27, a, t3

#define FULL(x, z) VMOVUPS x, z
#define MASKED(x, z) VMOVUPS.Z x, K1, z

#define ROWS1(load, d) ROW(load, d(SI), Z28, Z0, Z1, Z2, Z3)
#define ROWS2(load, d) ROWS1(load, d); ROW(load, d(SI)(R9*1), Z29, Z4, Z5, Z6, Z7)
#define ROWS3(load, d) ROWS2(load, d); ROW(load, d(SI)(R9*2), Z30, Z8, Z9, Z10, Z11)
#define ROWS4(load, d) ROWS3(load, d); ROW(load, d(R11), Z28, Z12, Z13, Z14, Z15)
#define ROWS5(load, d) ROWS4(load, d); ROW(load, d(R11)(R9*1), Z29, Z16, Z17, Z18, Z19)
#define ROWS6(load, d) ROWS5(load, d); ROW(load, d(R11)(R9*2), Z30, Z20, Z21, Z22, Z23)

#define COLS(load, d) \
	load(d(DI), Z24)        \
	load(d(DI)(R10*1), Z25) \
	load(d(DI)(R12*1), Z26) \
	load(d(DI)(R15*1), Z27)

// Rows may come from memory, in many streams: AHEAD fetches the lines eight steps
// ahead of two.
#define AHEAD(x) \
	PREFETCHT0 512 x \
	PREFETCHT0 576 x

#define AHEAD1 AHEAD((SI))
#define AHEAD2 AHEAD1; AHEAD((SI)(R9*1))
#define AHEAD3 AHEAD2; AHEAD((SI)(R9*2))
#define AHEAD4 AHEAD3; AHEAD((R11))
#define AHEAD5 AHEAD4; AHEAD((R11)(R9*1))
#define AHEAD6 AHEAD5; AHEAD((R11)(R9*2))

// LOOP runs through k, 32 values at a time, and leaves to save.
#define LOOP(rows, ahead, two, one, last, save) \
	SUBQ    $32, CX    \
	JLT     one        \
	PCALIGN $64        \
	two:               \
	COLS(FULL, 0)      \
	rows(FULL, 0)      \
	COLS(FULL, 64)     \
	rows(FULL, 64)     \
	ahead              \
	AHEAD((DI))        \
	AHEAD((DI)(R10*1)) \
	AHEAD((DI)(R12*1)) \
	AHEAD((DI)(R15*1)) \
	ADDQ    $128, SI   \
	ADDQ    $128, R11  \
	ADDQ    $128, DI   \
	SUBQ    $32, CX    \
	JGE     two        \
	one:               \
	ADDQ    $16, CX    \
	JLT     last       \
	COLS(FULL, 0)      \
	rows(FULL, 0)      \
	ADDQ    $64, SI    \
	ADDQ    $64, R11   \
	ADDQ    $64, DI    \
	SUBQ    $16, CX    \
	last:              \
	ADDQ    $16, CX    \
	JZ      save       \
	MOVL    $1, AX     \
	SHLL    CX, AX     \
	DECL    AX         \
	KMOVW   AX, K1     \
	COLS(MASKED, 0)    \
	rows(MASKED, 0)    \
	JMP     save

// FOLD sums the lanes of t0..t3 into the four values of X24: pairs two apart,
// neighbours, then the four groups of four.
#define FOLD(t0, t1, t2, t3) \
	VUNPCKLPS     t1, t0, Z24   \
	VUNPCKHPS     t1, t0, Z25   \
	VADDPS        Z25, Z24, Z24 \
	VUNPCKLPS     t3, t2, Z26   \
	VUNPCKHPS     t3, t2, Z27   \
	VADDPS        Z27, Z26, Z26 \
	VUNPCKLPD     Z26, Z24, Z25 \
	VUNPCKHPD     Z26, Z24, Z27 \
	VADDPS        Z27, Z25, Z24 \
	VEXTRACTF64X4 $1, Z24, Y25  \
	VADDPS        Y25, Y24, Y24 \
	VEXTRACTF32X4 $1, Y24, X25  \
	VADDPS        X25, X24, X24

// STORE folds a row of T, puts it into C or adds it there, and steps to the next.
#define STORE(t0, t1, t2, t3, put) \
	FOLD(t0, t1, t2, t3)          \
	CMPB    accumulate+72(FP), $0 \
	JEQ     put                   \
	VADDPS  (R8), X24, K2, X24    \
	put:                          \
	VMOVUPS X24, K2, (R8)         \
	ADDQ    DX, R8

// func sgemmDots6x4AVX512(m, n, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool)
TEXT ·sgemmDots6x4AVX512(SB), NOSPLIT, $0-73
tile:
	MOVQ    a+24(FP), SI
	MOVQ    lda+32(FP), R9
	SHLQ    $2, R9
	LEAQ    (R9)(R9*2), R11
	ADDQ    SI, R11
	MOVQ    b+40(FP), DI
	MOVQ    c+56(FP), R8
	MOVQ    ldc+64(FP), DX
	SHLQ    $2, DX
	MOVQ    n+8(FP), CX
	MOVQ    $4, AX
	CMPQ    CX, AX
	CMOVQGT AX, CX          // CX = min(n, 4)
	MOVL    $1, AX
	SHLL    CX, AX
	DECL    AX
	KMOVW   AX, K2
	DECQ    CX              // the last row of B
	MOVQ    ldb+48(FP), BX
	SHLQ    $2, BX
	MOVQ    $1, AX
	CMPQ    CX, AX
	CMOVQLT CX, AX
	IMULQ   BX, AX
	MOVQ    AX, R10         // min(1, last) * ldb
	MOVQ    $2, AX
	CMPQ    CX, AX
	CMOVQLT CX, AX
	IMULQ   BX, AX
	MOVQ    AX, R12         // min(2, last) * ldb
	IMULQ   BX, CX
	MOVQ    CX, R15         // last * ldb
	MOVQ    k+16(FP), CX
	VPXORD  Z0, Z0, Z0
	VPXORD  Z1, Z1, Z1
	VPXORD  Z2, Z2, Z2
	VPXORD  Z3, Z3, Z3
	VPXORD  Z4, Z4, Z4
	VPXORD  Z5, Z5, Z5
	VPXORD  Z6, Z6, Z6
	VPXORD  Z7, Z7, Z7
	VPXORD  Z8, Z8, Z8
	VPXORD  Z9, Z9, Z9
	VPXORD  Z10, Z10, Z10
	VPXORD  Z11, Z11, Z11
	VPXORD  Z12, Z12, Z12
	VPXORD  Z13, Z13, Z13
	VPXORD  Z14, Z14, Z14
	VPXORD  Z15, Z15, Z15
	VPXORD  Z16, Z16, Z16
	VPXORD  Z17, Z17, Z17
	VPXORD  Z18, Z18, Z18
	VPXORD  Z19, Z19, Z19
	VPXORD  Z20, Z20, Z20
	VPXORD  Z21, Z21, Z21
	VPXORD  Z22, Z22, Z22
	VPXORD  Z23, Z23, Z23
	MOVQ    m+0(FP), AX
	CMPQ    AX, $6
	JEQ     rows6
	CMPQ    AX, $5
	JEQ     rows5
	CMPQ    AX, $4
	JEQ     rows4
	CMPQ    AX, $3
	JEQ     rows3
	CMPQ    AX, $2
	JEQ     rows2
	LOOP(ROWS1, AHEAD1, two1, one1, last1, save)

rows2:
	LOOP(ROWS2, AHEAD2, two2, one2, last2, save)

rows3:
	LOOP(ROWS3, AHEAD3, two3, one3, last3, save)

rows4:
	LOOP(ROWS4, AHEAD4, two4, one4, last4, save)

rows5:
	LOOP(ROWS5, AHEAD5, two5, one5, last5, save)

rows6:
	LOOP(ROWS6, AHEAD6, two6, one6, last6, save)

save:
	MOVQ m+0(FP), AX
	STORE(Z0, Z1, Z2, Z3, put1)
	CMPQ AX, $1
	JEQ  next
	STORE(Z4, Z5, Z6, Z7, put2)
	CMPQ AX, $2
	JEQ  next
	STORE(Z8, Z9, Z10, Z11, put3)
	CMPQ AX, $3
	JEQ  next
	STORE(Z12, Z13, Z14, Z15, put4)
	CMPQ AX, $4
	JEQ  next
	STORE(Z16, Z17, Z18, Z19, put5)
	CMPQ AX, $5
	JEQ  next
	STORE(Z20, Z21, Z22, Z23, put6)

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
