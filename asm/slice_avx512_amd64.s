//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// CONSTANT fills Z with a word of 32 bits.
#define CONSTANT(word, Z) \
	MOVL         $word, AX \
	VPBROADCASTD AX, Z

// CONSTANTS are those of SCALES and of the digits.
//
//	Z31   magnitude
//	Z30   2^15 + 2^7 as float32: makes the lower digits unsigned
//	Z29   lower half of a word
//	Z28   upper half
//	Z27   bytes 0 and 2
//	Z26   bytes 1 and 3
//	Z25   makes unsigned digits signed again
#define CONSTANTS \
	CONSTANT(0x7fffffff, Z31) \
	CONSTANT(0x47008000, Z30) \
	CONSTANT(0x0000ffff, Z29) \
	CONSTANT(0xffff0000, Z28) \
	CONSTANT(0x00ff00ff, Z27) \
	CONSTANT(0xff00ff00, Z26) \
	CONSTANT(0x80808080, Z25)

// SCALES makes of the largest magnitudes Z0 the scales Z1 and what the sums are multiplied
// with, Z2 (sliceScale).
#define SCALES \
	CONSTANT(0x10200, Z3)      \
	CONSTANT(23, Z4)           \
	CONSTANT(276, Z5)          \
	CONSTANT(14, Z6)           \
	CONSTANT(0x7f800000, Z7)   \
	CONSTANT(0x7fc00000, Z8)   \
	VPADDD      Z3, Z0, Z3     \
	VPSRLD      $23, Z3, Z3    \
	VPMAXUD     Z4, Z3, Z3     \
	VPSUBD      Z3, Z5, Z1     \
	VPSLLD      $23, Z1, Z1    \
	VPSUBD      Z6, Z3, Z2     \
	VPSLLD      $23, Z2, Z2    \
	VPTESTMD    Z7, Z0, K1     \
	VMOVDQA32.Z Z2, K1, Z2     \
	VPCMPUD     $5, Z7, Z0, K1 \
	VMOVDQA32   Z8, K1, Z2

// INTEGER makes of the values Z with scales Z16 integers, their lower digits unsigned.
#define INTEGER(Z) \
	VFMADD213PS Z30, Z16, Z \
	VCVTPS2DQ   Z, Z

// MINUS is INTEGER of the negatives, in D.
#define MINUS(Z, D) \
	VMOVAPS      Z, D        \
	VFNMADD213PS Z30, Z16, D \
	VCVTPS2DQ    D, D

// HALVES makes of integers A and B words of their lower halves, in L, and of their upper ones, in H.
#define HALVES(A, B, L, H) \
	VPSLLD     $16, B, L        \
	VPTERNLOGD $0xf8, Z29, A, L \
	VPSRLD     $16, A, H        \
	VPTERNLOGD $0xf8, Z28, B, H

// DIGITS makes the slices of quads, given the halves L0, H0 of the integers of bytes 0 and 2
// and those, L1, H1, of bytes 1 and 3: Z13, Z14, Z15.
#define DIGITS(L0, H0, L1, H1) \
	VPSLLW     $8, H1, Z13         \
	VPTERNLOGD $0xf8, Z27, H0, Z13 \
	VPSRLW     $8, L0, Z14         \
	VPTERNLOGD $0xf8, Z26, L1, Z14 \
	VPXORD     Z25, Z14, Z14       \
	VPSLLW     $8, L1, Z15         \
	VPTERNLOGD $0xf8, Z27, L0, Z15 \
	VPXORD     Z25, Z15, Z15

#define STOREDIGITS(L0, H0, L1, H1, P) \
	DIGITS(L0, H0, L1, H1) \
	VMOVUPS Z13, (P)       \
	VMOVUPS Z14, 1024(P)   \
	VMOVUPS Z15, 2048(P)

// SLICES makes the slices at DI of the values Z0 (bytes 0), Z1 (2), Z2 (1) and Z3 (3) of quads.
#define SLICES \
	INTEGER(Z0)                     \
	INTEGER(Z1)                     \
	INTEGER(Z2)                     \
	INTEGER(Z3)                     \
	HALVES(Z0, Z1, Z4, Z5)          \
	HALVES(Z2, Z3, Z6, Z7)          \
	STOREDIGITS(Z4, Z5, Z6, Z7, DI)

// QUAD makes the slices of steps j, in the columns A, and j+16, in B, and goes on to the next ones.
#define QUAD(A, B) \
	VMOVUPS.Z (SI), A, Z0  \
	VMOVUPS.Z (R12), B, Z1 \
	VMOVUPS.Z (R10), A, Z2 \
	VMOVUPS.Z (R13), B, Z3 \
	SLICES                 \
	ADDQ      $64, DI      \
	ADDQ      R11, SI      \
	ADDQ      R11, R12     \
	ADDQ      R11, R10     \
	ADDQ      R11, R13

// func sliceRightAVX512(dst, x0, x1 *float32, ldx, k, n int)
//
//	DI          dst
//	SI, R12     x0 at steps j and j+16
//	R10, R13    x1
//	R11         ldx in bytes
//	BX          steps left
//	CX          quads left of the block
//	R9          mask of n columns
//	K3, K4      columns at steps j and j+16
//	Z16         scales
TEXT ·sliceRightAVX512(SB), NOSPLIT, $0-48
	MOVQ   dst+0(FP), DI
	MOVQ   x0+8(FP), SI
	MOVQ   x1+16(FP), R10
	MOVQ   ldx+24(FP), R11
	SHLQ   $2, R11
	MOVQ   k+32(FP), BX
	MOVQ   n+40(FP), CX
	MOVL   $1, R9
	SHLQ   CX, R9
	DECQ   R9
	KMOVW  R9, K3
	CONSTANTS
	MOVQ   SI, R12
	MOVQ   R10, R13
	MOVQ   BX, CX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1

largest:
	VPANDD.Z (R12), Z31, K3, Z2
	VPANDD.Z (R13), Z31, K3, Z3
	VPMAXUD  Z2, Z0, Z0
	VPMAXUD  Z3, Z1, Z1
	ADDQ     R11, R12
	ADDQ     R11, R13
	DECQ     CX
	JNZ      largest
	VPMAXUD  Z1, Z0, Z0
	SCALES
	VMOVUPS  Z2, (DI)
	VMOVAPS  Z1, Z16
	ADDQ     $64, DI

block:
	MOVQ R11, AX
	SHLQ $4, AX
	LEAQ (SI)(AX*1), R12
	LEAQ (R10)(AX*1), R13
	MOVL $16, CX
	CMPQ BX, $32
	JLT  last

quad:
	QUAD(K3, K3)
	DECL CX
	JNZ  quad
	ADDQ $2048, DI
	MOVQ R12, SI
	MOVQ R13, R10
	SUBQ $32, BX
	JNZ  block
	VZEROUPPER
	RET

// Steps beyond k have empty masks: what is not there is not read.
last:
	XORL    AX, AX
	CMPQ    BX, $0
	CMOVQGT R9, AX
	KMOVW   AX, K3
	XORL    AX, AX
	CMPQ    BX, $16
	CMOVQGT R9, AX
	KMOVW   AX, K4
	DECQ    BX
	QUAD(K3, K4)
	DECL    CX
	JNZ     last
	VZEROUPPER
	RET

// PAIRMAX makes of the vectors at rows i and i+1 of DX the maxima of their halves.
#define PAIRMAX(i, D) \
	VMOVUPS   (i*64)(DX), Z16    \
	VMOVUPS   (i*64+64)(DX), Z17 \
	VUNPCKLPS Z17, Z16, Z18      \
	VUNPCKHPS Z17, Z16, Z19      \
	VPMAXUD   Z18, Z19, D

#define QUADMAX(A, B, D) \
	VUNPCKLPD B, A, Z18   \
	VUNPCKHPD B, A, Z19   \
	VPMAXUD   Z18, Z19, D

#define LANEMAX(low, high, A, B, D) \
	VSHUFF32X4 $low, B, A, Z18  \
	VSHUFF32X4 $high, B, A, Z19 \
	VPMAXUD    Z18, Z19, D

// ROWMAXIMA makes of the 16 vectors at DX the vector Z0 of their largest values.
#define ROWMAXIMA \
	PAIRMAX(0, Z0)                  \
	PAIRMAX(2, Z1)                  \
	PAIRMAX(4, Z2)                  \
	PAIRMAX(6, Z3)                  \
	PAIRMAX(8, Z4)                  \
	PAIRMAX(10, Z5)                 \
	PAIRMAX(12, Z6)                 \
	PAIRMAX(14, Z7)                 \
	QUADMAX(Z0, Z1, Z0)             \
	QUADMAX(Z2, Z3, Z1)             \
	QUADMAX(Z4, Z5, Z2)             \
	QUADMAX(Z6, Z7, Z3)             \
	LANEMAX(0x44, 0xee, Z0, Z1, Z0) \
	LANEMAX(0x44, 0xee, Z2, Z3, Z1) \
	LANEMAX(0x88, 0xdd, Z0, Z1, Z0)

// LEFTBEGIN finds the scales of the rows and leaves them at DX, and what the sums are multiplied
// with in Z2.
//
//	SI, R10   x0 and x1
//	R11       ld in bytes
//	R12       rows left
//	R8        whole blocks
//	BX        steps of the last block
//	K3, K4    steps of its halves
//	DX        64-byte aligned memory of 16 vectors
//
// It uses R13, R14, R15, CX, DX.
#define LEFTBEGIN \
	SHLQ          $2, R11                    \
	MOVQ          BX, R8                     \
	SHRQ          $5, R8                     \
	ANDL          $31, BX                    \
	MOVL          BX, CX                     \
	MOVL          $1, AX                     \
	SHLQ          CX, AX                     \
	DECQ          AX                         \
	KMOVW         AX, K3                     \
	SHRL          $16, AX                    \
	KMOVW         AX, K4                     \
	LEAQ          memory-1088(SP), DX        \
	ADDQ          $63, DX                    \
	ANDQ          $~63, DX                   \
	CONSTANTS                                \
	VPXORD        Z0, Z0, Z0                 \
	MOVL          $1024, AX                  \
	                                         \
	clear:                                   \
	VMOVUPS       Z0, -64(DX)(AX*1)          \
	SUBL          $64, AX                    \
	JNZ           clear                      \
	MOVQ          DX, R13                    \
	MOVQ          SI, R14                    \
	MOVQ          R10, R15                   \
	                                         \
	maximum:                                 \
	VPXORD        Z0, Z0, Z0                 \
	VPXORD        Z1, Z1, Z1                 \
	XORL          AX, AX                     \
	MOVQ          R8, CX                     \
	TESTQ         CX, CX                     \
	JZ            maximumLast                \
	                                         \
	maximumBlock:                            \
	VPANDD        (R14)(AX*1), Z31, Z2       \
	VPANDD        64(R14)(AX*1), Z31, Z3     \
	VPANDD        (R15)(AX*1), Z31, Z4       \
	VPANDD        64(R15)(AX*1), Z31, Z5     \
	VPMAXUD       Z2, Z0, Z0                 \
	VPMAXUD       Z3, Z1, Z1                 \
	VPMAXUD       Z4, Z0, Z0                 \
	VPMAXUD       Z5, Z1, Z1                 \
	ADDQ          $128, AX                   \
	DECQ          CX                         \
	JNZ           maximumBlock               \
	                                         \
	maximumLast:                             \
	VPANDD.Z      (R14)(AX*1), Z31, K3, Z2   \
	VPANDD.Z      64(R14)(AX*1), Z31, K4, Z3 \
	VPANDD.Z      (R15)(AX*1), Z31, K3, Z4   \
	VPANDD.Z      64(R15)(AX*1), Z31, K4, Z5 \
	VPMAXUD       Z2, Z0, Z0                 \
	VPMAXUD       Z3, Z1, Z1                 \
	VPMAXUD       Z4, Z0, Z0                 \
	VPMAXUD       Z5, Z1, Z1                 \
	VPMAXUD       Z1, Z0, Z0                 \
	VMOVUPS       Z0, (R13)                  \
	ADDQ          $64, R13                   \
	ADDQ          R11, R14                   \
	ADDQ          R11, R15                   \
	DECQ          R12                        \
	JNZ           maximum                    \
	ROWMAXIMA                                \
	SCALES                                   \
	VMOVUPS       Z1, (DX)

// ROW makes the integers of a row of a block.
#define ROW(A, B) \
	VMOVUPS.Z (SI)(AX*1), A, Z0    \
	VMOVUPS.Z 64(SI)(AX*1), B, Z1  \
	VMOVUPS.Z (R10)(AX*1), A, Z2   \
	VMOVUPS.Z 64(R10)(AX*1), B, Z3

#define CONJUGATEROW \
	MINUS(Z2, Z8)                      \
	MINUS(Z3, Z9)                      \
	INTEGER(Z0)                        \
	INTEGER(Z1)                        \
	INTEGER(Z2)                        \
	INTEGER(Z3)                        \
	HALVES(Z0, Z1, Z4, Z5)             \
	HALVES(Z2, Z3, Z6, Z7)             \
	HALVES(Z8, Z9, Z10, Z11)           \
	STOREDIGITS(Z4, Z5, Z6, Z7, DI)    \
	STOREDIGITS(Z10, Z11, Z4, Z5, R14)

// func sliceLeftAVX512(dst, x0, x1 *float32, ld, m, k int)
//
//	R9        dst of the row
//	DI        dst of the block of the row
//	R13       rows left
//	CX        blocks left
//	AX        bytes from the first step
TEXT ·sliceLeftAVX512(SB), 0, $1088-48
	MOVQ    x0+8(FP), SI
	MOVQ    x1+16(FP), R10
	MOVQ    ld+24(FP), R11
	MOVQ    m+32(FP), R12
	MOVQ    k+40(FP), BX
	LEFTBEGIN
	MOVQ    dst+0(FP), R9
	VMOVUPS Z2, (R9)
	ADDQ    $64, R9
	MOVQ    m+32(FP), R13
	KXNORW  K5, K5, K5

row:
	VBROADCASTSS (DX), Z16
	MOVQ         R9, DI
	XORL         AX, AX
	MOVQ         R8, CX
	TESTQ        CX, CX
	JZ           last

block:
	ROW(K5, K5)
	SLICES
	ADDQ $128, AX
	ADDQ $3072, DI
	DECQ CX
	JNZ  block

last:
	TESTQ BX, BX
	JZ    next
	ROW(K3, K4)
	SLICES

next:
	ADDQ $4, DX
	ADDQ $64, R9
	ADDQ R11, SI
	ADDQ R11, R10
	DECQ R13
	JNZ  row
	VZEROUPPER
	RET

// func sliceLeftConjugateAVX512(re, im, x0, x1 *float32, ld, m, k int)
//
// As sliceLeftAVX512, with R12 and R14 for im as R9 and DI for re.
TEXT ·sliceLeftConjugateAVX512(SB), 0, $1088-56
	MOVQ    x0+16(FP), SI
	MOVQ    x1+24(FP), R10
	MOVQ    ld+32(FP), R11
	MOVQ    m+40(FP), R12
	MOVQ    k+48(FP), BX
	LEFTBEGIN
	MOVQ    re+0(FP), R9
	MOVQ    im+8(FP), R12
	VMOVUPS Z2, (R9)
	VMOVUPS Z2, (R12)
	ADDQ    $64, R9
	ADDQ    $64, R12
	MOVQ    m+40(FP), R13
	KXNORW  K5, K5, K5

row:
	VBROADCASTSS (DX), Z16
	MOVQ         R9, DI
	MOVQ         R12, R14
	XORL         AX, AX
	MOVQ         R8, CX
	TESTQ        CX, CX
	JZ           last

block:
	ROW(K5, K5)
	CONJUGATEROW
	ADDQ $128, AX
	ADDQ $3072, DI
	ADDQ $3072, R14
	DECQ CX
	JNZ  block

last:
	TESTQ BX, BX
	JZ    next
	ROW(K3, K4)
	CONJUGATEROW

next:
	ADDQ $4, DX
	ADDQ $64, R9
	ADDQ $64, R12
	ADDQ R11, SI
	ADDQ R11, R10
	DECQ R13
	JNZ  row
	VZEROUPPER
	RET

// func transposeSlicesAVX512(slices *float32, count int)
//
//	DI, CX  the slice, slices left
TEXT ·transposeSlicesAVX512(SB), NOSPLIT, $0-16
	MOVQ slices+0(FP), DI
	MOVQ count+8(FP), CX

slice:
	LOAD4(DI, Z0, Z1, Z2, Z3)
	LEAQ 256(DI), R8
	LOAD4(R8, Z4, Z5, Z6, Z7)
	LEAQ 512(DI), R9
	LOAD4(R9, Z8, Z9, Z10, Z11)
	LEAQ 768(DI), R10
	LOAD4(R10, Z12, Z13, Z14, Z15)
	TRANSPOSE16
	STORE4(Z0, Z1, Z2, Z3, DI)
	STORE4(Z4, Z5, Z6, Z7, R8)
	STORE4(Z8, Z9, Z10, Z11, R9)
	STORE4(Z12, Z13, Z14, Z15, R10)
	ADDQ $1024, DI
	DECQ CX
	JNZ  slice
	VZEROUPPER
	RET
