//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// A strip of GemmMirrored of at most 7 rows, tile by tile of 32 columns. In Go:
//
//	for ; n > 0; n -= 32 { // the last tile may be narrower
//		E, O = 0, 0
//		for p := range k0 {
//			for i := range m {
//				E[i][:] += broadcast(A0[p][i]) * B0[p][:]
//			}
//		}
//		the same for O with k1, A1 and B1
//		for i := m - 1; i >= 0; i-- {
//			up[i][:] (+)= E[i][:] + O[i][:]
//			down[m-1-i][:] (+)= E[i][:] - O[i][:] // not for i = 0 if that is the middle
//		}
//		B0, B1, up, down = B0[32:], B1[32:], up[32:], down[32:]
//	}
//
// Each m has loops of its own, with all columns or under masks. Meanwhile the rows of B
// of the next tile are fetched, and those that the next tile but one will write.
//
//	Z0..Z13      E: row i in Z(2i) and Z(2i+1)
//	Z14..Z27     O
//	Z28, Z29     the row of B
//	Z30, Z31     broadcast values of A
//	K1, K2       the columns 0..15 and 16..31 that exist
//	SI, R9       the row of A, lda in bytes
//	DI, R10      the row of B, ldb in bytes
//	CX           steps left
//	R8, DX       the first row up, ldc in bytes
//	R11          the first row down
//	R12, R13     of either, the row that is fetched next, the last one
//	BX           bytes from the first row to the last
//	AX           scratch
//
// n, b and c count along in the frame of the arguments.

// MULTIPLY adds the product of a value of A and the row of B to a row.
#define MULTIPLY(d, t, c0, c1) \
	VBROADCASTSS d(SI), t   \
	VFMADD231PS  Z28, t, c0 \
	VFMADD231PS  Z29, t, c1

#define EVEN1 MULTIPLY(0, Z30, Z0, Z1)
#define EVEN2 EVEN1; MULTIPLY(4, Z31, Z2, Z3)
#define EVEN3 EVEN2; MULTIPLY(8, Z30, Z4, Z5)
#define EVEN4 EVEN3; MULTIPLY(12, Z31, Z6, Z7)
#define EVEN5 EVEN4; MULTIPLY(16, Z30, Z8, Z9)
#define EVEN6 EVEN5; MULTIPLY(20, Z31, Z10, Z11)
#define EVEN7 EVEN6; MULTIPLY(24, Z30, Z12, Z13)

#define ODD1 MULTIPLY(0, Z30, Z14, Z15)
#define ODD2 ODD1; MULTIPLY(4, Z31, Z16, Z17)
#define ODD3 ODD2; MULTIPLY(8, Z30, Z18, Z19)
#define ODD4 ODD3; MULTIPLY(12, Z31, Z20, Z21)
#define ODD5 ODD4; MULTIPLY(16, Z30, Z22, Z23)
#define ODD6 ODD5; MULTIPLY(20, Z31, Z24, Z25)
#define ODD7 ODD6; MULTIPLY(24, Z30, Z26, Z27)

#define FULL \
	VMOVUPS (DI), Z28   \
	VMOVUPS 64(DI), Z29

#define MASKED \
	VMOVUPS.Z (DI), K1, Z28   \
	VMOVUPS.Z 64(DI), K2, Z29

// STEPS adds up a part: CX steps, at least one.
#define STEPS(rows, load, again, next) \
again:  \
	load                \
	PREFETCHT0 128(DI)  \
	PREFETCHT0 192(DI)  \
	rows                \
	PREFETCHT0 256(R12) \
	PREFETCHT0 320(R12) \
	ADDQ       DX, R12  \
	CMPQ       R12, R13 \
	CMOVQHI    R13, R12 \
	ADDQ       R10, DI  \
	ADDQ       R9, SI   \
	DECQ       CX       \
	JNZ        again    \
	JMP        next

// SUMS makes a row of both results, that of up in E and that of down in Z28 and Z29. UP and DOWN store them, at R12 and
// at R13, and go on to the row before or behind; first ADD adds what is there, KEEP nothing. SAVE is all of that.
#define SUMS(e0, e1, o0, o1) \
	VSUBPS o0, e0, Z28 \
	VSUBPS o1, e1, Z29 \
	VADDPS o0, e0, e0  \
	VADDPS o1, e1, e1

#define KEEP(p, e0, e1)

#define ADD(p, e0, e1) \
	VADDPS (p), e0, K1, e0   \
	VADDPS 64(p), e1, K2, e1

#define UP(what, e0, e1) \
	what(R12, e0, e1)       \
	VMOVUPS e0, K1, (R12)   \
	VMOVUPS e1, K2, 64(R12) \
	SUBQ    DX, R12

#define DOWN(what) \
	what(R13, Z28, Z29)      \
	VMOVUPS Z28, K1, (R13)   \
	VMOVUPS Z29, K2, 64(R13) \
	ADDQ    DX, R13

#define SAVE(what, e0, e1, o0, o1) \
	SUMS(e0, e1, o0, o1) \
	UP(what, e0, e1)     \
	DOWN(what)

// func sgemmMirrored7x32AVX512(m, n, k0, k1 int, a0, a1 *float32, lda int, b0, b1 *float32, ldb int, up, down *float32, ldc int, middle, accumulate bool)
TEXT ·sgemmMirrored7x32AVX512(SB), NOSPLIT, $0-106
	MOVQ  lda+48(FP), R9
	SHLQ  $2, R9
	MOVQ  ldb+72(FP), R10
	SHLQ  $2, R10
	MOVQ  ldc+96(FP), DX
	SHLQ  $2, DX
	MOVQ  m+0(FP), BX
	DECQ  BX
	IMULQ DX, BX

tile:
	MOVQ    n+8(FP), CX
	MOVQ    $32, AX
	CMPQ    CX, AX
	CMOVQGT AX, CX
	MASKS32

sums:
	MOVQ  up+80(FP), R8
	MOVQ  down+88(FP), R11
	ZERO28
	MOVQ  a0+32(FP), SI
	MOVQ  b0+56(FP), DI
	MOVQ  k0+16(FP), CX
	MOVQ  R8, R12
	LEAQ  (R8)(BX*1), R13
	TESTQ CX, CX
	JZ    odd
	MOVQ  m+0(FP), AX
	CMPQ  n+8(FP), $32
	JLT   maskedEven
	JUMP7(even1, even2, even3, even4, even5, even6, even7)

maskedEven:
	JUMP7(maskedEven1, maskedEven2, maskedEven3, maskedEven4, maskedEven5, maskedEven6, maskedEven7)

even1:
	STEPS(EVEN1, FULL, even1again, odd)

even2:
	STEPS(EVEN2, FULL, even2again, odd)

even3:
	STEPS(EVEN3, FULL, even3again, odd)

even4:
	STEPS(EVEN4, FULL, even4again, odd)

even5:
	STEPS(EVEN5, FULL, even5again, odd)

even6:
	STEPS(EVEN6, FULL, even6again, odd)

even7:
	STEPS(EVEN7, FULL, even7again, odd)

maskedEven1:
	STEPS(EVEN1, MASKED, maskedEven1again, odd)

maskedEven2:
	STEPS(EVEN2, MASKED, maskedEven2again, odd)

maskedEven3:
	STEPS(EVEN3, MASKED, maskedEven3again, odd)

maskedEven4:
	STEPS(EVEN4, MASKED, maskedEven4again, odd)

maskedEven5:
	STEPS(EVEN5, MASKED, maskedEven5again, odd)

maskedEven6:
	STEPS(EVEN6, MASKED, maskedEven6again, odd)

maskedEven7:
	STEPS(EVEN7, MASKED, maskedEven7again, odd)

odd:
	MOVQ  a1+40(FP), SI
	MOVQ  b1+64(FP), DI
	MOVQ  k1+24(FP), CX
	MOVQ  R11, R12
	LEAQ  (R11)(BX*1), R13
	MOVQ  m+0(FP), AX
	TESTQ CX, CX
	JZ    save
	CMPQ  n+8(FP), $32
	JLT   maskedOdd
	JUMP7(odd1, odd2, odd3, odd4, odd5, odd6, odd7)

maskedOdd:
	JUMP7(maskedOdd1, maskedOdd2, maskedOdd3, maskedOdd4, maskedOdd5, maskedOdd6, maskedOdd7)

odd1:
	STEPS(ODD1, FULL, odd1again, save)

odd2:
	STEPS(ODD2, FULL, odd2again, save)

odd3:
	STEPS(ODD3, FULL, odd3again, save)

odd4:
	STEPS(ODD4, FULL, odd4again, save)

odd5:
	STEPS(ODD5, FULL, odd5again, save)

odd6:
	STEPS(ODD6, FULL, odd6again, save)

odd7:
	STEPS(ODD7, FULL, odd7again, save)

maskedOdd1:
	STEPS(ODD1, MASKED, maskedOdd1again, save)

maskedOdd2:
	STEPS(ODD2, MASKED, maskedOdd2again, save)

maskedOdd3:
	STEPS(ODD3, MASKED, maskedOdd3again, save)

maskedOdd4:
	STEPS(ODD4, MASKED, maskedOdd4again, save)

maskedOdd5:
	STEPS(ODD5, MASKED, maskedOdd5again, save)

maskedOdd6:
	STEPS(ODD6, MASKED, maskedOdd6again, save)

maskedOdd7:
	STEPS(ODD7, MASKED, maskedOdd7again, save)

save:
	LEAQ (R8)(BX*1), R12
	MOVQ R11, R13
	MOVQ m+0(FP), AX
	CMPB accumulate+105(FP), $0
	JNE  add
	JUMP7(put1, put2, put3, put4, put5, put6, put7)

add:
	JUMP7(add1, add2, add3, add4, add5, add6, add7)

put7:
	SAVE(KEEP, Z12, Z13, Z26, Z27)

put6:
	SAVE(KEEP, Z10, Z11, Z24, Z25)

put5:
	SAVE(KEEP, Z8, Z9, Z22, Z23)

put4:
	SAVE(KEEP, Z6, Z7, Z20, Z21)

put3:
	SAVE(KEEP, Z4, Z5, Z18, Z19)

put2:
	SAVE(KEEP, Z2, Z3, Z16, Z17)

put1:
	SUMS(Z0, Z1, Z14, Z15)
	UP(KEEP, Z0, Z1)
	CMPB middle+104(FP), $0
	JNE  next
	DOWN(KEEP)
	JMP  next

add7:
	SAVE(ADD, Z12, Z13, Z26, Z27)

add6:
	SAVE(ADD, Z10, Z11, Z24, Z25)

add5:
	SAVE(ADD, Z8, Z9, Z22, Z23)

add4:
	SAVE(ADD, Z6, Z7, Z20, Z21)

add3:
	SAVE(ADD, Z4, Z5, Z18, Z19)

add2:
	SAVE(ADD, Z2, Z3, Z16, Z17)

add1:
	SUMS(Z0, Z1, Z14, Z15)
	UP(ADD, Z0, Z1)
	CMPB middle+104(FP), $0
	JNE  next
	DOWN(ADD)

next:
	ADDQ $128, b0+56(FP)
	ADDQ $128, b1+64(FP)
	ADDQ $128, up+80(FP)
	ADDQ $128, down+88(FP)
	SUBQ $32, n+8(FP)
	JG   tile
	VZEROUPPER
	RET
