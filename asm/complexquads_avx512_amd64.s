//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

#define REPEAT VBROADCASTF32X4
#define COMBINE VSUBPS

#include "complex_avx512_amd64.h"

// A tile of GemmComplexQuads, of at most 4 rows and 8 columns. In Go, with vectors of 32 values, a quad of each
// column:
//
//	S, D, T = 0, 0, 0
//	for p := 0; p < k; p += 4 {
//		for i := range m {
//			r, q := repeat(Ar[i][p:][:4]), repeat(Ai[i][p:][:4])
//			D[i][:] += r * (Bi[p][:] - Br[p][:])
//			T[i][:] += q * (Bi[p][:] + Br[p][:])
//			S[i][:] += (r - q) * Br[p][:]
//		}
//	}
//	Cr, Ci = sums of the quads of S+T, S+D // accumulate: added
//
// Each m has loops of its own, with all columns, under masks, and with 4 columns or fewer.
//
//	Z0..Z7     S: row i in Z(2i), columns 0..3, and Z(2i+1)
//	Z8..Z15    D
//	Z16..Z23   T
//	Z24, Z25   the row of Br
//	Z26, Z27   Bi - Br
//	Z28, Z29   Bi + Br
//	Z30, Z31   the row of Bi, then repeated values of A; at the end Z31 is the order of sums
//	K1, K2     the values of columns 0..3 and 4..7 that exist
//	K3         the columns that exist
//	SI, R11    the parts of A at the step
//	R9, R13    bytes from one row of A to the next, and to the third
//	DI, BX     rows of Br and Bi at the step
//	DX         what is fetched ahead
//	CX         quads of steps left
//	AX         scratch, rows left
//
// At the end DX, R9 and R8 are rows of Cr and Ci and ldc in bytes.

// Sums come as four of the first columns, real and imaginary, beside those of the others: columns have four each.
DATA quadOrder<>+0(SB)/4, $0
DATA quadOrder<>+4(SB)/4, $4
DATA quadOrder<>+8(SB)/4, $8
DATA quadOrder<>+12(SB)/4, $12
DATA quadOrder<>+16(SB)/4, $1
DATA quadOrder<>+20(SB)/4, $5
DATA quadOrder<>+24(SB)/4, $9
DATA quadOrder<>+28(SB)/4, $13
DATA quadOrder<>+32(SB)/4, $2
DATA quadOrder<>+36(SB)/4, $6
DATA quadOrder<>+40(SB)/4, $10
DATA quadOrder<>+44(SB)/4, $14
DATA quadOrder<>+48(SB)/4, $3
DATA quadOrder<>+52(SB)/4, $7
DATA quadOrder<>+56(SB)/4, $11
DATA quadOrder<>+60(SB)/4, $15
GLOBL quadOrder<>(SB), RODATA|NOPTR, $64

// STEPS adds up CX quads, in each of which two lines are fetched ahead.
#define STEPS(rows, load, again) \
again:  \
	load                \
	rows                \
	ADDQ       $16, SI  \
	ADDQ       $16, R11 \
	ADDQ       $128, DI \
	ADDQ       $128, BX \
	PREFETCHT0 (DX)     \
	PREFETCHT0 64(DX)   \
	ADDQ       $128, DX \
	DECQ       CX       \
	JNZ        again    \
	JMP        save

// SAVE adds up the quads of a row, writes it and goes on to the next.
#define SAVE(s0, s1, d0, d1, t0, t1, accumulate, next) \
	VADDPS     t0, s0, t0        \
	VADDPS     t1, s1, t1        \
	VADDPS     d0, s0, d0        \
	VADDPS     d1, s1, d1        \
	VUNPCKLPS  t1, t0, s0        \
	VUNPCKHPS  t1, t0, s1        \
	VUNPCKLPS  d1, d0, t0        \
	VUNPCKHPS  d1, d0, t1        \
	VADDPS     s1, s0, s0        \
	VADDPS     t1, t0, t0        \
	VUNPCKLPD  t0, s0, s1        \
	VUNPCKHPD  t0, s0, t1        \
	VADDPS     t1, s1, t0        \
	VPERMPS    t0, Z31, t0       \
	VSHUFF64X2 $0xee, t0, t0, d0 \
	TESTB      $1, accumulate    \
	JZ         next              \
	VADDPS.Z   (DX), t0, K3, t0  \
	VADDPS.Z   (R9), d0, K3, d0  \
	next:                        \
	VMOVUPS    t0, K3, (DX)      \
	VMOVUPS    d0, K3, (R9)      \
	DECQ       AX                \
	JZ         done              \
	ADDQ       R8, DX            \
	ADDQ       R8, R9

// func sgemmComplexQuads4x8AVX512(m, n, k int, ar, ai *float32, lda int, br, bi, cr, ci *float32, ldc int, accumulate bool, ahead *float32)
TEXT ·sgemmComplexQuads4x8AVX512(SB), NOSPLIT, $0-104
	MOVQ  n+8(FP), CX
	MOVQ  $1, AX
	SHLQ  CX, AX
	DECQ  AX
	KMOVW AX, K3
	SHLQ  $2, CX
	MASKS32
	ZERO28
	MOVQ  k+16(FP), CX
	TESTQ CX, CX
	JZ    save
	MOVQ  ar+24(FP), SI
	MOVQ  ai+32(FP), R11
	MOVQ  lda+40(FP), R9
	MOVQ  br+48(FP), DI
	MOVQ  bi+56(FP), BX
	SHLQ  $2, R9
	LEAQ  (R9)(R9*2), R13
	MOVQ  m+0(FP), AX
	MOVQ  ahead+96(FP), DX
	LOOPS(4, 8)

save:
	MOVQ    cr+64(FP), DX
	MOVQ    ci+72(FP), R9
	MOVQ    ldc+80(FP), R8
	MOVQ    m+0(FP), AX
	MOVBLZX accumulate+88(FP), CX
	SHLQ    $2, R8
	VMOVUPS quadOrder<>(SB), Z31
	SAVE(Z0, Z1, Z8, Z9, Z16, Z17, CX, save1)
	SAVE(Z2, Z3, Z10, Z11, Z18, Z19, CX, save2)
	SAVE(Z4, Z5, Z12, Z13, Z20, Z21, CX, save3)
	SAVE(Z6, Z7, Z14, Z15, Z22, Z23, CX, save4)

done:
	VZEROUPPER
	RET

// PackQuads for four columns. In Go, with quads of values:
//
//	for p := range k {
//		for j := range n {
//			dst[p][j] = src[j][p]
//		}
//	}
//
// Where there are fewer columns, the last one stands in for those that are missing.
//
//	Z0..Z3        four quads of each column, then results
//	Z4..Z7        temporaries
//	K1, K2        the values of four quads, and of the columns, that exist
//	SI            column 0; R9, R10, R11 lead from it to the others
//	DI            dst
//	DX            quads left
//	AX, CX        scratch

// func spackQuadsAVX512(dst, src *float32, ldsrc, k, n int)
TEXT ·spackQuadsAVX512(SB), NOSPLIT, $0-40
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    ldsrc+16(FP), R9
	MOVQ    k+24(FP), DX
	MOVQ    n+32(FP), CX
	SHLQ    $2, R9
	XORQ    AX, AX
	CMPQ    CX, $2
	CMOVQLT AX, R9
	LEAQ    (R9)(R9*1), R10
	CMPQ    CX, $3
	CMOVQLT R9, R10
	LEAQ    (R10)(R9*1), R11
	CMPQ    CX, $4
	CMOVQLT R10, R11
	SHLQ    $2, CX
	MOVQ    $1, AX
	SHLQ    CX, AX
	DECQ    AX
	KMOVW   AX, K2

quads:
	MOVQ    DX, CX
	MOVQ    $4, AX
	CMPQ    CX, AX
	CMOVQGT AX, CX
	SHLQ    $2, CX
	MOVQ    $1, AX
	SHLQ    CX, AX
	DECQ    AX
	KMOVW   AX, K1

	VMOVUPS.Z  (SI), K1, Z0
	VMOVUPS.Z  (SI)(R9*1), K1, Z1
	VMOVUPS.Z  (SI)(R10*1), K1, Z2
	VMOVUPS.Z  (SI)(R11*1), K1, Z3
	VSHUFF32X4 $0x44, Z1, Z0, Z4
	VSHUFF32X4 $0x44, Z3, Z2, Z5
	VSHUFF32X4 $0xee, Z1, Z0, Z6
	VSHUFF32X4 $0xee, Z3, Z2, Z7
	VSHUFF32X4 $0x88, Z5, Z4, Z0
	VSHUFF32X4 $0xdd, Z5, Z4, Z1
	VSHUFF32X4 $0x88, Z7, Z6, Z2
	VSHUFF32X4 $0xdd, Z7, Z6, Z3
	VMOVUPS    Z0, K2, (DI)
	DECQ       DX
	JZ         done
	VMOVUPS    Z1, K2, 128(DI)
	DECQ       DX
	JZ         done
	VMOVUPS    Z2, K2, 256(DI)
	DECQ       DX
	JZ         done
	VMOVUPS    Z3, K2, 384(DI)
	ADDQ       $64, SI
	ADDQ       $512, DI
	DECQ       DX
	JNZ        quads

done:
	VZEROUPPER
	RET
