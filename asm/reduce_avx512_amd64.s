//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// Reductions of a vector. Eight accumulators of 16 take turns; whole vectors
// that are left go to the first, the rest goes there under K1. Then
// ((0+1)+(2+3))+((4+5)+(6+7)), and halves are added to halves until one value is
// left. In Go:
//
//	var acc [8][16]float32
//	for ; n >= 128; n -= 128 { for v := range 8 { acc[v] += op(x[16*v:]) }; advance }
//	for ; n >= 16; n -= 16 { acc[0] += op(x); advance }
//	acc[0][:n] += op(x[:n])
//
// Registers
//	SI x   DX y   CX values left   AX scratch
//	Z0-Z7 accumulators   Z8-Z15 x   Z16 mean   K1 the last lanes

#define ZERO8 \
	VPXORD Z0, Z0, Z0; \
	VPXORD Z1, Z1, Z1; \
	VPXORD Z2, Z2, Z2; \
	VPXORD Z3, Z3, Z3; \
	VPXORD Z4, Z4, Z4; \
	VPXORD Z5, Z5, Z5; \
	VPXORD Z6, Z6, Z6; \
	VPXORD Z7, Z7, Z7

// X0 = the sum of all lanes of Z0-Z7.
#define TOTAL \
	VADDPS        Z1, Z0, Z0; \
	VADDPS        Z3, Z2, Z2; \
	VADDPS        Z5, Z4, Z4; \
	VADDPS        Z7, Z6, Z6; \
	VADDPS        Z2, Z0, Z0; \
	VADDPS        Z6, Z4, Z4; \
	VADDPS        Z4, Z0, Z0; \
	VEXTRACTF64X4 $1, Z0, Y1; \
	VADDPS        Y1, Y0, Y0; \
	VEXTRACTF128  $1, Y0, X1; \
	VADDPS        X1, X0, X0; \
	VMOVHLPS      X0, X0, X1; \
	VADDPS        X1, X0, X0; \
	VMOVSHDUP     X0, X1;     \
	VADDSS        X1, X0, X0

// STEP(offset, temporary, accumulator) adds one vector at the offset; LAST adds
// the lanes of K1 to Z0; ADVANCE moves the pointers.
#define REDUCE(STEP, LAST, ADVANCE) \
	ZERO8;              \
	CMPQ     CX, $128;  \
	JLT      vectors;   \
	loop:               \
	STEP(0, Z8, Z0);    \
	STEP(64, Z9, Z1);   \
	STEP(128, Z10, Z2); \
	STEP(192, Z11, Z3); \
	STEP(256, Z12, Z4); \
	STEP(320, Z13, Z5); \
	STEP(384, Z14, Z6); \
	STEP(448, Z15, Z7); \
	ADVANCE(512);       \
	SUBQ     $128, CX;  \
	CMPQ     CX, $128;  \
	JGE      loop;      \
	vectors:            \
	CMPQ     CX, $16;   \
	JLT      rest;      \
	STEP(0, Z8, Z0);    \
	ADVANCE(64);        \
	SUBQ     $16, CX;   \
	JMP      vectors;   \
	rest:         \
	TESTQ CX, CX; \
	JEQ   done;   \
	TAILMASK;     \
	LAST;         \
	done:         \
	TOTAL

#define NEXT1(B) ADDQ $B, SI
#define NEXT2(B) ADDQ $B, SI; ADDQ $B, DX

#define SUMSTEP(O, T, A) VADDPS O(SI), A, A
#define SUMLAST VADDPS (SI), Z0, K1, Z0

#define DOTSTEP(O, T, A) \
	VMOVUPS     O(SI), T;   \
	VFMADD231PS O(DX), T, A

#define DOTLAST \
	VMOVUPS.Z   (SI), K1, Z8;    \
	VFMADD231PS (DX), Z8, K1, Z0

#define SQUARESTEP(O, T, A) \
	VMOVUPS     O(SI), T;  \
	VSUBPS      Z16, T, T; \
	VFMADD231PS T, T, A

#define SQUARELAST \
	VMOVUPS.Z   (SI), K1, Z8;  \
	VSUBPS      Z16, Z8, Z8;   \
	VFMADD231PS Z8, Z8, K1, Z0

// func sumAVX512(x *float32, n int) float32
TEXT ·sumAVX512(SB), NOSPLIT, $0-20
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	REDUCE(SUMSTEP, SUMLAST, NEXT1)
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func dotAVX512(x, y *float32, n int) float32
TEXT ·dotAVX512(SB), NOSPLIT, $0-28
	MOVQ   x+0(FP), SI
	MOVQ   y+8(FP), DX
	MOVQ   n+16(FP), CX
	REDUCE(DOTSTEP, DOTLAST, NEXT2)
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func sumSquaresAVX512(x *float32, n int, mean float32) float32
TEXT ·sumSquaresAVX512(SB), NOSPLIT, $0-28
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSS mean+16(FP), Z16
	REDUCE(SQUARESTEP, SQUARELAST, NEXT1)
	VMOVSS       X0, ret+24(FP)
	VZEROUPPER
	RET

// The column sums of a strip of x: 64 columns, or up to 16 under K1. Even and
// odd rows have accumulators of their own, which are added at the end:
//
//	for r := range rows { for c := range n { acc[r%2][c] += x[r*stride+c] } }
//	part[c] = acc[0][c] + acc[1][c]
//
// Registers
//	DI part   SI x   CX rows left   R8 row pitch in bytes   AX scratch
//	Z0-Z3 even rows   Z4-Z7 odd rows   K1 the columns

// COLUMNS sets BX to the number of columns and K1 to its lanes when at most 16.
#define COLUMNS(N) \
	MOVQ  N, BX;  \
	MOVQ  $1, AX; \
	MOVQ  BX, CX; \
	SHLQ  CX, AX; \
	DECQ  AX;     \
	KMOVW AX, K1

// func colSumAVX512(part, x *float32, rows, stride, n int)
TEXT ·colSumAVX512(SB), NOSPLIT, $0-40
	MOVQ part+0(FP), DI
	MOVQ x+8(FP), SI
	COLUMNS(n+32(FP))
	MOVQ rows+16(FP), CX
	MOVQ stride+24(FP), R8
	SHLQ $2, R8
	ZERO8
	CMPQ BX, $64
	JEQ  wide

narrow:
	VADDPS (SI), Z0, K1, Z0
	ADDQ   R8, SI
	DECQ   CX
	JEQ    narrowdone
	VADDPS (SI), Z4, K1, Z4
	ADDQ   R8, SI
	DECQ   CX
	JNE    narrow

narrowdone:
	VADDPS  Z4, Z0, Z0
	VMOVUPS Z0, K1, (DI)
	VZEROUPPER
	RET

wide:
	VADDPS (SI), Z0, Z0
	VADDPS 64(SI), Z1, Z1
	VADDPS 128(SI), Z2, Z2
	VADDPS 192(SI), Z3, Z3
	ADDQ   R8, SI
	DECQ   CX
	JEQ    widedone
	VADDPS (SI), Z4, Z4
	VADDPS 64(SI), Z5, Z5
	VADDPS 128(SI), Z6, Z6
	VADDPS 192(SI), Z7, Z7
	ADDQ   R8, SI
	DECQ   CX
	JNE    wide

widedone:
	VADDPS Z4, Z0, Z0
	VADDPS Z5, Z1, Z1
	VADDPS Z6, Z2, Z2
	VADDPS Z7, Z3, Z3
	STORE4(Z0, Z1, Z2, Z3, DI)
	VZEROUPPER
	RET

// The column map of a strip: 64 columns, or up to 16 under K1. The vectors stay in
// registers over the rows:
//
//	for r := range rows { for j := range n { dst[r,j] = fma(scale[j], x[r,j], shift[j]) } }
//
// Registers
//	DI dst   SI x   R9 scale   R10 shift   CX rows left
//	R8 row pitch in bytes   AX scratch   BX columns
//	Z0-Z3 x   Z16-Z19 scale   Z20-Z23 shift

// func colAffineAVX512(dst, x, scale, shift *float32, rows, stride, n int)
TEXT ·colAffineAVX512(SB), NOSPLIT, $0-56
	MOVQ      dst+0(FP), DI
	MOVQ      x+8(FP), SI
	MOVQ      scale+16(FP), R9
	MOVQ      shift+24(FP), R10
	COLUMNS(n+48(FP))
	MOVQ      rows+32(FP), CX
	MOVQ      stride+40(FP), R8
	SHLQ      $2, R8
	CMPQ      BX, $64
	JEQ       wide
	VMOVUPS.Z (R9), K1, Z16
	VMOVUPS.Z (R10), K1, Z20

narrow:
	VMOVUPS.Z   (SI), K1, Z0
	VFMADD213PS Z20, Z16, Z0
	VMOVUPS     Z0, K1, (DI)
	ADDQ        R8, SI
	ADDQ        R8, DI
	DECQ        CX
	JNE         narrow
	VZEROUPPER
	RET

wide:
	LOAD4(R9, Z16, Z17, Z18, Z19)
	LOAD4(R10, Z20, Z21, Z22, Z23)

wideloop:
	LOAD4(SI, Z0, Z1, Z2, Z3)
	VFMADD213PS Z20, Z16, Z0
	VFMADD213PS Z21, Z17, Z1
	VFMADD213PS Z22, Z18, Z2
	VFMADD213PS Z23, Z19, Z3
	STORE4(Z0, Z1, Z2, Z3, DI)
	ADDQ        R8, SI
	ADDQ        R8, DI
	DECQ        CX
	JNE         wideloop
	VZEROUPPER
	RET

// The column maximum of a strip, continued from the maxima and rows in memory:
//
//	for r := range rows {
//		for j := range n {
//			if max[j] is not NaN && !(x[r,j] <= max[j]) { max[j], index[j] = x[r,j], row }
//		}
//		row++
//	}
//
// Registers
//	DI max   DX index   SI x   CX rows left   R8 row pitch in bytes   BX columns
//	Z0-Z3 max   Z4-Z7 index   Z8-Z11 x   Z16 row   Z17 one   K1 the columns   K2-K5 taken

// X replaces M, and the row I, where M is a number and X is larger or NaN.
#define TAKE(X, M, I, K) \
	VCMPPS  $7, M, M, K;    \ // ordered
	VCMPPS  $6, M, X, K, K; \ // not less or equal
	VMOVAPS X, K, M;        \
	VMOVAPS Z16, K, I

DATA reduceOne<>+0(SB)/4, $0x3f800000
GLOBL reduceOne<>(SB), RODATA|NOPTR, $4

// func colMaxAVX512(max, index, x *float32, rows, stride, n int, row float32)
TEXT ·colMaxAVX512(SB), NOSPLIT, $0-52
	MOVQ         max+0(FP), DI
	MOVQ         index+8(FP), DX
	MOVQ         x+16(FP), SI
	COLUMNS(n+40(FP))
	MOVQ         rows+24(FP), CX
	MOVQ         stride+32(FP), R8
	SHLQ         $2, R8
	VBROADCASTSS row+48(FP), Z16
	VBROADCASTSS reduceOne<>(SB), Z17
	CMPQ         BX, $64
	JEQ          wide
	VMOVUPS.Z    (DI), K1, Z0
	VMOVUPS.Z    (DX), K1, Z4

narrow:
	VMOVUPS.Z (SI), K1, Z8
	TAKE(Z8, Z0, Z4, K2)
	VADDPS    Z17, Z16, Z16
	ADDQ      R8, SI
	DECQ      CX
	JNE       narrow
	VMOVUPS   Z0, K1, (DI)
	VMOVUPS   Z4, K1, (DX)
	VZEROUPPER
	RET

wide:
	LOAD4(DI, Z0, Z1, Z2, Z3)
	LOAD4(DX, Z4, Z5, Z6, Z7)

wideloop:
	LOAD4(SI, Z8, Z9, Z10, Z11)
	TAKE(Z8, Z0, Z4, K2)
	TAKE(Z9, Z1, Z5, K3)
	TAKE(Z10, Z2, Z6, K4)
	TAKE(Z11, Z3, Z7, K5)
	VADDPS Z17, Z16, Z16
	ADDQ   R8, SI
	DECQ   CX
	JNE    wideloop
	STORE4(Z0, Z1, Z2, Z3, DI)
	STORE4(Z4, Z5, Z6, Z7, DX)
	VZEROUPPER
	RET
