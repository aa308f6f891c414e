//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// C = A*B + bias for 14 rows and tiles*32 columns. In Go, with T for the
// accumulators:
//
//	for range tiles {
//		T = 0
//		for p := range k {
//			for i := range 14 {
//				T[i][:] += broadcast(A[i][p]) * B[p][:] // one broadcast, two FMAs
//			}
//		}
//		for i := range 14 {
//			C[i][:] = T[i][:] + bias[i] // past the caches where stream
//		}
//		B = B[32:]
//		C = C[32:]
//	}
//
//	Z0..Z27      T: row i in Z(2i) and Z(2i+1)
//	Z28, Z29     the row of B
//	Z30, Z31     broadcast values of A, in turn
//	SI, R11, R12, R13, BX   rows 0, 3, 6, 9, 12 of A
//	R9           lda in bytes
//	DI, R10      the row of B, ldb in bytes
//	R8, DX       the row of C, ldc in bytes
//	CX           k, then steps left
//	AX           counter, bias

#define FMA(x, t, c0, c1) \
	VBROADCASTSS x, t       \
	VFMADD231PS  Z28, t, c0 \
	VFMADD231PS  Z29, t, c1

#define STEP(d) \
	VMOVUPS (DI), Z28                \
	VMOVUPS 64(DI), Z29              \
	ADDQ    R10, DI                  \
	FMA(d(SI), Z30, Z0, Z1)          \
	FMA(d(SI)(R9*1), Z31, Z2, Z3)    \
	FMA(d(SI)(R9*2), Z30, Z4, Z5)    \
	FMA(d(R11), Z31, Z6, Z7)         \
	FMA(d(R11)(R9*1), Z30, Z8, Z9)   \
	FMA(d(R11)(R9*2), Z31, Z10, Z11) \
	FMA(d(R12), Z30, Z12, Z13)       \
	FMA(d(R12)(R9*1), Z31, Z14, Z15) \
	FMA(d(R12)(R9*2), Z30, Z16, Z17) \
	FMA(d(R13), Z31, Z18, Z19)       \
	FMA(d(R13)(R9*1), Z30, Z20, Z21) \
	FMA(d(R13)(R9*2), Z31, Z22, Z23) \
	FMA(d(BX), Z30, Z24, Z25)        \
	FMA(d(BX)(R9*1), Z31, Z26, Z27)

#define ADVANCE(bytes) \
	ADDQ $bytes, SI  \
	ADDQ $bytes, R11 \
	ADDQ $bytes, R12 \
	ADDQ $bytes, R13 \
	ADDQ $bytes, BX

// ROW stores a row of T and steps to the next of C.
#define ROW(move, i, c0, c1) \
	VADDPS.BCST i*4(AX), c0, c0 \
	VADDPS.BCST i*4(AX), c1, c1 \
	move        c0, (R8)        \
	move        c1, 64(R8)      \
	ADDQ        DX, R8

#define ROWS(move) \
	ROW(move, 0, Z0, Z1)    \
	ROW(move, 1, Z2, Z3)    \
	ROW(move, 2, Z4, Z5)    \
	ROW(move, 3, Z6, Z7)    \
	ROW(move, 4, Z8, Z9)    \
	ROW(move, 5, Z10, Z11)  \
	ROW(move, 6, Z12, Z13)  \
	ROW(move, 7, Z14, Z15)  \
	ROW(move, 8, Z16, Z17)  \
	ROW(move, 9, Z18, Z19)  \
	ROW(move, 10, Z20, Z21) \
	ROW(move, 11, Z22, Z23) \
	ROW(move, 12, Z24, Z25) \
	ROW(move, 13, Z26, Z27)

// func linear14x32AVX512(tiles, k int, a *float32, lda int, b *float32, ldb int, bias, c *float32, ldc int, stream bool)
TEXT ·linear14x32AVX512(SB), NOSPLIT, $0-73
	MOVQ ldb+40(FP), R10
	MOVQ ldc+64(FP), DX
	MOVQ lda+24(FP), R9
	SHLQ $2, R10
	SHLQ $2, DX
	SHLQ $2, R9

tile:
	MOVQ    a+16(FP), SI
	MOVQ    b+32(FP), DI
	MOVQ    k+8(FP), CX
	LEAQ    (R9)(R9*2), AX
	LEAQ    (SI)(AX*1), R11
	LEAQ    (SI)(AX*2), R12
	LEAQ    (R11)(AX*2), R13
	LEAQ    (SI)(AX*4), BX
	ZERO28
	MOVQ    CX, AX
	SHRQ    $2, AX
	JZ      rest
	PCALIGN $64

four:
	STEP(0)
	STEP(4)
	STEP(8)
	STEP(12)
	ADVANCE(16)
	DECQ AX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   save

one:
	STEP(0)
	ADVANCE(4)
	DECQ CX
	JNZ  one

save:
	MOVQ bias+48(FP), AX
	MOVQ c+56(FP), R8
	CMPB stream+72(FP), $0
	JNE  past
	ROWS(VMOVUPS)
	JMP  next

past:
	ROWS(VMOVNTPS)

next:
	ADDQ $128, b+32(FP)
	ADDQ $128, c+56(FP)
	DECQ tiles+0(FP)
	JNZ  tile
	VZEROUPPER
	RET

// func storeFence()
TEXT ·storeFence(SB), NOSPLIT, $0-0
	SFENCE
	RET

// C (+)= A'*B for 8 columns of A [k, lda] and tiles*32 columns of B. In Go:
//
//	for range tiles {
//		T = 0
//		for p := range k {
//			for i := range 8 {
//				T[i][:] += broadcast(A[p][i]) * B[p][:]
//			}
//			every other step fetches a line of ahead
//		}
//		C[0:8][:] = T // accumulate: T + C
//		B, C, ahead = B[32:], C[32:], ahead[32:]
//	}
//
//	Z0..Z15      T: row i in Z(2i) and Z(2i+1)
//	Z28, Z29     the row of B
//	Z30, Z31     broadcast values of A, in turn
//	SI, R9       the row of A, lda in bytes
//	DI, R10      the row of B, ldb in bytes
//	R8, DX       the row of C, ldc in bytes
//	R12, R13     ahead, two of its rows in bytes
//	CX, AX       k, counter

#define PULL \
	VMOVUPS (DI), Z28          \
	VMOVUPS 64(DI), Z29        \
	FMA((SI), Z30, Z0, Z1)     \
	FMA(4(SI), Z31, Z2, Z3)    \
	FMA(8(SI), Z30, Z4, Z5)    \
	FMA(12(SI), Z31, Z6, Z7)   \
	FMA(16(SI), Z30, Z8, Z9)   \
	FMA(20(SI), Z31, Z10, Z11) \
	FMA(24(SI), Z30, Z12, Z13) \
	FMA(28(SI), Z31, Z14, Z15) \
	ADDQ    R9, SI             \
	ADDQ    R10, DI

#define PULLADD(c0, c1) \
	VADDPS  (R8), c0, c0   \
	VADDPS  64(R8), c1, c1 \
	VMOVUPS c0, (R8)       \
	VMOVUPS c1, 64(R8)     \
	ADDQ    DX, R8

#define PULLPUT(c0, c1) \
	VMOVUPS c0, (R8)   \
	VMOVUPS c1, 64(R8) \
	ADDQ    DX, R8

#define PULLROWS(ROW) \
	ROW(Z0, Z1)   \
	ROW(Z2, Z3)   \
	ROW(Z4, Z5)   \
	ROW(Z6, Z7)   \
	ROW(Z8, Z9)   \
	ROW(Z10, Z11) \
	ROW(Z12, Z13) \
	ROW(Z14, Z15)

// func pull8x32AVX512(tiles, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, ahead *float32, ldahead int, accumulate bool)
TEXT ·pull8x32AVX512(SB), NOSPLIT, $0-81
	MOVQ lda+24(FP), R9
	MOVQ ldb+40(FP), R10
	MOVQ ldc+56(FP), DX
	MOVQ ldahead+72(FP), R13
	SHLQ $2, R9
	SHLQ $2, R10
	SHLQ $2, DX
	SHLQ $3, R13

tile:
	MOVQ    a+16(FP), SI
	MOVQ    b+32(FP), DI
	MOVQ    ahead+64(FP), R12
	MOVQ    k+8(FP), CX
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
	MOVQ    CX, AX
	SHRQ    $1, AX
	JZ      rest
	PCALIGN $64

two:
	PULL
	PREFETCHT1 (R12)
	ADDQ       R13, R12
	PULL
	DECQ       AX
	JNZ        two

rest:
	ANDQ $1, CX
	JZ   save
	PULL

save:
	MOVQ c+48(FP), R8
	CMPB accumulate+80(FP), $0
	JNE  add
	PULLROWS(PULLPUT)
	JMP  next

add:
	PULLROWS(PULLADD)

next:
	ADDQ $128, b+32(FP)
	ADDQ $128, c+48(FP)
	ADDQ $128, ahead+64(FP)
	DECQ tiles+0(FP)
	JNZ  tile
	VZEROUPPER
	RET

// Rows are copied and summed, 1 <= cols. In Go:
//
//	for r := range rows {
//		copy(dst[r*lddst:], src[r*ldsrc:][:cols])
//		sums[r] = sum of src[r*ldsrc:][:cols] // by 4 accumulators of 16 lanes
//	}
//
//	DI, R8    the row of dst, lddst in bytes
//	SI, R9    the row of src, ldsrc in bytes
//	DX, R10   sums, rows left
//	CX, BX    values left, offset
//	Z0..Z3    sums, Z4..Z7 values, K1 the rest

// func copyRowsAVX512(dst *float32, lddst int, src *float32, ldsrc, rows, cols int, sums *float32)
TEXT ·copyRowsAVX512(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ lddst+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ ldsrc+24(FP), R9
	MOVQ rows+32(FP), R10
	MOVQ sums+48(FP), DX
	SHLQ $2, R8
	SHLQ $2, R9
	MOVQ cols+40(FP), CX
	ANDQ $15, CX
	TAILMASK

row:
	MOVQ   cols+40(FP), CX
	XORQ   BX, BX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	SUBQ   $64, CX
	JLT    vectors

four:
	VMOVUPS (SI)(BX*1), Z4
	VMOVUPS 64(SI)(BX*1), Z5
	VMOVUPS 128(SI)(BX*1), Z6
	VMOVUPS 192(SI)(BX*1), Z7
	VMOVUPS Z4, (DI)(BX*1)
	VMOVUPS Z5, 64(DI)(BX*1)
	VMOVUPS Z6, 128(DI)(BX*1)
	VMOVUPS Z7, 192(DI)(BX*1)
	VADDPS  Z4, Z0, Z0
	VADDPS  Z5, Z1, Z1
	VADDPS  Z6, Z2, Z2
	VADDPS  Z7, Z3, Z3
	ADDQ    $256, BX
	SUBQ    $64, CX
	JGE     four

vectors:
	ADDQ $48, CX
	JLT  tail

one:
	VMOVUPS (SI)(BX*1), Z4
	VMOVUPS Z4, (DI)(BX*1)
	VADDPS  Z4, Z0, Z0
	ADDQ    $64, BX
	SUBQ    $16, CX
	JGE     one

tail:
	VMOVUPS.Z     (SI)(BX*1), K1, Z4
	VMOVUPS       Z4, K1, (DI)(BX*1)
	VADDPS        Z4, Z1, K1, Z1
	VADDPS        Z1, Z0, Z0
	VADDPS        Z3, Z2, Z2
	VADDPS        Z2, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS        Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VADDPS        X1, X0, X0
	VPERMILPD     $1, X0, X1
	VADDPS        X1, X0, X0
	VMOVSHDUP     X0, X1
	VADDSS        X1, X0, X0
	VMOVSS        X0, (DX)
	ADDQ          $4, DX
	ADDQ          R8, DI
	ADDQ          R9, SI
	DECQ          R10
	JNZ           row
	VZEROUPPER
	RET
