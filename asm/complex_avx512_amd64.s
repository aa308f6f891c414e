//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

#define REPEAT VBROADCASTSS
#define COMBINE VADDPS

#include "complex_avx512_amd64.h"

// A tile of GemmComplexNN and its like, of at most 4 rows and 32 columns. In Go:
//
//	S, D, T = 0, 0, 0
//	for p := range k {
//		for i := range m {
//			r, q := broadcast(Ar[i][p]), broadcast(Ai[i][p])
//			D[i][:] += r * (Bi[p][:] - Br[p][:])
//			T[i][:] += q * (Bi[p][:] + Br[p][:])
//			S[i][:] += (r + q) * Br[p][:]
//		}
//	}
//	Cr, Ci = S-T, S+D // accumulate: added
//
// Each m has loops of its own, with all columns, under masks, and with 16 columns or fewer. Sums of
// operands take as many instructions as a third of the products: sgemmThird14x32AVX512 and its like are for processors
// that issue them through the ports of these.
//
//	Z0..Z7     S: row i in Z(2i) and Z(2i+1)
//	Z8..Z15    D
//	Z16..Z23   T
//	Z24, Z25   the row of Br
//	Z26, Z27   Bi - Br
//	Z28, Z29   Bi + Br
//	Z30, Z31   the row of Bi, then broadcast values of A
//	K1, K2     the columns 0..15 and 16..31 that exist
//	SI, R11    the parts of A at the step
//	R9, R13    bytes from one row of A to the next, and to the third
//	R10        bytes from one step of A to the next
//	DI, BX, R8 rows of Br and Bi at the step, ldb in bytes
//	DX         what is fetched ahead
//	CX         steps left
//	AX         scratch, rows left
//
// At the end DX, R9 and R8 are rows of Cr and Ci and ldc in bytes.

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

// SAVE writes a row, and goes on to the next.
#define SAVE(s0, s1, d0, d1, t0, t1, accumulate, next) \
	VSUBPS   t0, s0, t0         \
	VSUBPS   t1, s1, t1         \
	VADDPS   d0, s0, d0         \
	VADDPS   d1, s1, d1         \
	TESTB    $1, accumulate     \
	JZ       next               \
	VADDPS.Z (DX), t0, K1, t0   \
	VADDPS.Z 64(DX), t1, K2, t1 \
	VADDPS.Z (R9), d0, K1, d0   \
	VADDPS.Z 64(R9), d1, K2, d1 \
	next:                       \
	VMOVUPS  t0, K1, (DX)       \
	VMOVUPS  t1, K2, 64(DX)     \
	VMOVUPS  d0, K1, (R9)       \
	VMOVUPS  d1, K2, 64(R9)     \
	DECQ     AX                 \
	JZ       done               \
	ADDQ     R8, DX             \
	ADDQ     R8, R9

// func sgemmComplex4x32AVX512(m, n, k int, ar, ai *float32, row, step int, br, bi *float32, ldb int, cr, ci *float32, ldc int, accumulate bool, ahead *float32)
TEXT ·sgemmComplex4x32AVX512(SB), NOSPLIT, $0-120
	MOVQ n+8(FP), CX
	MASKS32
	MOVQ ldc+96(FP), R8
	MOVQ cr+80(FP), DX
	MOVQ ci+88(FP), BX
	MOVQ m+0(FP), AX
	SHLQ $2, R8

	FETCHTWO(fetch)
	ZERO28
	MOVQ  k+16(FP), CX
	TESTQ CX, CX
	JZ    save
	MOVQ  ar+24(FP), SI
	MOVQ  ai+32(FP), R11
	MOVQ  row+40(FP), R9
	MOVQ  step+48(FP), R10
	MOVQ  br+56(FP), DI
	MOVQ  bi+64(FP), BX
	MOVQ  ldb+72(FP), R8
	SHLQ  $2, R9
	SHLQ  $2, R10
	SHLQ  $2, R8
	LEAQ  (R9)(R9*2), R13
	MOVQ  m+0(FP), AX
	MOVQ  ahead+112(FP), DX
	LOOPS(16, 32)

save:
	MOVQ    cr+80(FP), DX
	MOVQ    ci+88(FP), R9
	MOVQ    ldc+96(FP), R8
	MOVQ    m+0(FP), AX
	MOVBLZX accumulate+104(FP), CX
	SHLQ    $2, R8
	SAVE(Z0, Z1, Z8, Z9, Z16, Z17, CX, save1)
	SAVE(Z2, Z3, Z10, Z11, Z18, Z19, CX, save2)
	SAVE(Z4, Z5, Z12, Z13, Z20, Z21, CX, save3)
	SAVE(Z6, Z7, Z14, Z15, Z22, Z23, CX, save4)

done:
	VZEROUPPER
	RET
