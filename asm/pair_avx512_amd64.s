//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// A strip of GemmPair of at most 7 rows, tile by tile of 32 columns. In Go:
//
//	for ; n > 0; n -= 32 { // the last tile may be narrower
//		R, I = 0, 0
//		for p := range k0 {
//			for i := range m {
//				R[i][:] += broadcast(A0[i][p]) * B0[p][:]
//			}
//		}
//		the same for I with k1, A1 and B1
//		for i := range m {
//			c0[i][:], c1[i][:] = R[i][:], I[i][:]
//		}
//		B0, B1, c0, c1 = B0[32:], B1[32:], c0[32:], c1[32:]
//	}
//
// Each m has loops of its own, with all columns or under masks.
//
//	Z0..Z13      R: row i in Z(2i) and Z(2i+1)
//	Z14..Z27     I
//	Z28, Z29     the row of B
//	Z30, Z31     broadcast values of A
//	K1, K2       the columns 0..15 and 16..31 that exist
//	SI, R11, R12 rows 0, 3 and 6 of A, at the step
//	R9           lda in bytes
//	DI, R10      the row of B, ldb in bytes
//	CX           steps left
//	R8, R13, DX  a row of c0 and of c1, ldc in bytes
//	BX           what is fetched ahead
//	AX           scratch
//
// n, b0, b1, c0 and c1 count along in the frame of the arguments.

// MULTIPLY adds the product of a value of A and the row of B to a row.
#define MULTIPLY(a, t, c0, c1) \
	VBROADCASTSS a, t       \
	VFMADD231PS  Z28, t, c0 \
	VFMADD231PS  Z29, t, c1

#define REAL1 MULTIPLY((SI), Z30, Z0, Z1)
#define REAL2 REAL1; MULTIPLY((SI)(R9*1), Z31, Z2, Z3)
#define REAL3 REAL2; MULTIPLY((SI)(R9*2), Z30, Z4, Z5)
#define REAL4 REAL3; MULTIPLY((R11), Z31, Z6, Z7)
#define REAL5 REAL4; MULTIPLY((R11)(R9*1), Z30, Z8, Z9)
#define REAL6 REAL5; MULTIPLY((R11)(R9*2), Z31, Z10, Z11)
#define REAL7 REAL6; MULTIPLY((R12), Z30, Z12, Z13)

#define IMAG1 MULTIPLY((SI), Z30, Z14, Z15)
#define IMAG2 IMAG1; MULTIPLY((SI)(R9*1), Z31, Z16, Z17)
#define IMAG3 IMAG2; MULTIPLY((SI)(R9*2), Z30, Z18, Z19)
#define IMAG4 IMAG3; MULTIPLY((R11), Z31, Z20, Z21)
#define IMAG5 IMAG4; MULTIPLY((R11)(R9*1), Z30, Z22, Z23)
#define IMAG6 IMAG5; MULTIPLY((R11)(R9*2), Z31, Z24, Z25)
#define IMAG7 IMAG6; MULTIPLY((R12), Z30, Z26, Z27)

#define FULL \
	VMOVUPS (DI), Z28   \
	VMOVUPS 64(DI), Z29

#define MASKED \
	VMOVUPS.Z (DI), K1, Z28   \
	VMOVUPS.Z 64(DI), K2, Z29

// STEPS adds up a part: CX steps, at least one, in each of which a line is fetched ahead.
#define STEPS(rows, load, again, next) \
again:  \
	load               \
	PREFETCHT0 (BX)    \
	ADDQ       $64, BX \
	rows               \
	ADDQ       $4, SI  \
	ADDQ       $4, R11 \
	ADDQ       $4, R12 \
	ADDQ       R10, DI \
	DECQ       CX      \
	JNZ        again   \
	JMP        next

// SAVE stores a row of either product, and goes on to the next.
#define SAVE(r0, r1, i0, i1) \
	VMOVUPS r0, K1, (R8)    \
	VMOVUPS r1, K2, 64(R8)  \
	VMOVUPS i0, K1, (R13)   \
	VMOVUPS i1, K2, 64(R13) \
	DECQ    AX              \
	JZ      next            \
	ADDQ    DX, R8          \
	ADDQ    DX, R13

// func sgemmPair7x32AVX512(m, n, k0, k1 int, a0 *float32, lda0 int, a1 *float32, lda1 int, b0, b1 *float32, ldb int, c0, c1 *float32, ldc int, ahead *float32)
TEXT ·sgemmPair7x32AVX512(SB), NOSPLIT, $0-120
	MOVQ ldb+80(FP), R10
	MOVQ ahead+112(FP), BX
	SHLQ $2, R10
	MOVQ ldc+104(FP), DX
	SHLQ $2, DX

tile:
	MOVQ    n+8(FP), CX
	MOVQ    $32, AX
	CMPQ    CX, AX
	CMOVQGT AX, CX
	MASKS32
	ZERO28
	MOVQ    k0+16(FP), CX
	MOVQ    a0+32(FP), SI
	MOVQ    lda0+40(FP), R9
	MOVQ    b0+64(FP), DI
	MOVQ    m+0(FP), AX
	SHLQ    $2, R9
	LEAQ    (R9)(R9*2), R12
	LEAQ    (SI)(R12*1), R11
	LEAQ    (SI)(R12*2), R12
	TESTQ   CX, CX
	JZ      imag
	CMPQ    n+8(FP), $32
	JLT     maskedReal
	JUMP7(real1, real2, real3, real4, real5, real6, real7)

maskedReal:
	JUMP7(maskedReal1, maskedReal2, maskedReal3, maskedReal4, maskedReal5, maskedReal6, maskedReal7)

real1:
	STEPS(REAL1, FULL, real1again, imag)

real2:
	STEPS(REAL2, FULL, real2again, imag)

real3:
	STEPS(REAL3, FULL, real3again, imag)

real4:
	STEPS(REAL4, FULL, real4again, imag)

real5:
	STEPS(REAL5, FULL, real5again, imag)

real6:
	STEPS(REAL6, FULL, real6again, imag)

real7:
	STEPS(REAL7, FULL, real7again, imag)

maskedReal1:
	STEPS(REAL1, MASKED, maskedReal1again, imag)

maskedReal2:
	STEPS(REAL2, MASKED, maskedReal2again, imag)

maskedReal3:
	STEPS(REAL3, MASKED, maskedReal3again, imag)

maskedReal4:
	STEPS(REAL4, MASKED, maskedReal4again, imag)

maskedReal5:
	STEPS(REAL5, MASKED, maskedReal5again, imag)

maskedReal6:
	STEPS(REAL6, MASKED, maskedReal6again, imag)

maskedReal7:
	STEPS(REAL7, MASKED, maskedReal7again, imag)

imag:
	MOVQ  k1+24(FP), CX
	MOVQ  a1+48(FP), SI
	MOVQ  lda1+56(FP), R9
	MOVQ  b1+72(FP), DI
	MOVQ  m+0(FP), AX
	SHLQ  $2, R9
	LEAQ  (R9)(R9*2), R12
	LEAQ  (SI)(R12*1), R11
	LEAQ  (SI)(R12*2), R12
	TESTQ CX, CX
	JZ    save
	CMPQ  n+8(FP), $32
	JLT   maskedImag
	JUMP7(imag1, imag2, imag3, imag4, imag5, imag6, imag7)

maskedImag:
	JUMP7(maskedImag1, maskedImag2, maskedImag3, maskedImag4, maskedImag5, maskedImag6, maskedImag7)

imag1:
	STEPS(IMAG1, FULL, imag1again, save)

imag2:
	STEPS(IMAG2, FULL, imag2again, save)

imag3:
	STEPS(IMAG3, FULL, imag3again, save)

imag4:
	STEPS(IMAG4, FULL, imag4again, save)

imag5:
	STEPS(IMAG5, FULL, imag5again, save)

imag6:
	STEPS(IMAG6, FULL, imag6again, save)

imag7:
	STEPS(IMAG7, FULL, imag7again, save)

maskedImag1:
	STEPS(IMAG1, MASKED, maskedImag1again, save)

maskedImag2:
	STEPS(IMAG2, MASKED, maskedImag2again, save)

maskedImag3:
	STEPS(IMAG3, MASKED, maskedImag3again, save)

maskedImag4:
	STEPS(IMAG4, MASKED, maskedImag4again, save)

maskedImag5:
	STEPS(IMAG5, MASKED, maskedImag5again, save)

maskedImag6:
	STEPS(IMAG6, MASKED, maskedImag6again, save)

maskedImag7:
	STEPS(IMAG7, MASKED, maskedImag7again, save)

save:
	MOVQ c0+88(FP), R8
	MOVQ c1+96(FP), R13
	MOVQ m+0(FP), AX
	SAVE(Z0, Z1, Z14, Z15)
	SAVE(Z2, Z3, Z16, Z17)
	SAVE(Z4, Z5, Z18, Z19)
	SAVE(Z6, Z7, Z20, Z21)
	SAVE(Z8, Z9, Z22, Z23)
	SAVE(Z10, Z11, Z24, Z25)
	SAVE(Z12, Z13, Z26, Z27)

next:
	ADDQ $128, b0+64(FP)
	ADDQ $128, b1+72(FP)
	ADDQ $128, c0+88(FP)
	ADDQ $128, c1+96(FP)
	SUBQ $32, n+8(FP)
	JG   tile
	VZEROUPPER
	RET
