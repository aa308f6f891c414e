//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "avx512_amd64.h"

// Normalisation by columns of a strip, and its gradient, one row after the other, with
// what belongs to the columns in registers:
//
//	for r := range rows { for j := range n {
//		t := x[r,j] - mean[j]
//		z := fma(t, scale[j], shift[j])
//		...
//	} }
//
// A strip has 64 columns, four vectors at a time, or at most 16 under K1.
//
// Registers
//	R9 *colStrip   SI x   DX dy   DI dst   R11 r   CX rows left
//	R8 row pitch in bytes   AX scratch   BX columns
//	Z0-Z3 t   Z4-Z7 z, then g   Z8-Z11 mean   Z12-Z15 scale   Z16-Z19 shift
//	Z20-Z23 p, or sums   Z24-Z27 q, or dots   Z28 floor   K6 all lanes if there is a floor   K2-K5 those at or below it

// STRIP loads the pointer to x, the numbers of rows and columns, and what K1 is for.
#define STRIP \
	MOVQ  s+0(FP), R9;             \
	MOVQ  colStrip_x(R9), SI;      \
	MOVQ  colStrip_n(R9), BX;      \
	MOVQ  $1, AX;                  \
	MOVQ  BX, CX;                  \
	SHLQ  CX, AX;                  \
	DECQ  AX;                      \
	KMOVW AX, K1;                  \
	MOVQ  colStrip_rows(R9), CX;   \
	MOVQ  colStrip_stride(R9), R8; \
	SHLQ  $2, R8

// COLUMNS4 loads 64 values of the columns, COLUMNS1 those under K1.
#define COLUMNS4(FIELD, A, B, C, D) \
	MOVQ FIELD(R9), AX;   \
	LOAD4(AX, A, B, C, D)

#define COLUMNS1(FIELD, A) \
	MOVQ      FIELD(R9), AX; \
	VMOVUPS.Z (AX), K1, A

// FLOOR sets Z28, and K6 unless that is -Inf.
#define FLOOR \
	VBROADCASTSS colStrip_floor(R9), Z28; \
	MOVL         $0xff800000, AX;         \
	VPBROADCASTD AX, Z29;                 \
	VPCMPD       $4, Z29, Z28, K6

// MAP4 and MAP1 load mean, scale, shift and floor.
#define MAP4 \
	COLUMNS4(colStrip_mean, Z8, Z9, Z10, Z11);    \
	COLUMNS4(colStrip_scale, Z12, Z13, Z14, Z15); \
	COLUMNS4(colStrip_shift, Z16, Z17, Z18, Z19); \
	FLOOR

#define MAP1 \
	COLUMNS1(colStrip_mean, Z8);   \
	COLUMNS1(colStrip_scale, Z12); \
	COLUMNS1(colStrip_shift, Z16); \
	FLOOR

// NORMAL: T = x - mean, V = fma(T, scale, shift) of the vector at offset O.
#define NORMAL(O, T, V, MEAN, SCALE, SHIFT) \
	VMOVUPS     O(SI), T;       \
	VSUBPS      MEAN, T, T;     \
	VMOVAPS     T, V;           \
	VFMADD213PS SHIFT, SCALE, V

#define NORMAL4 \
	NORMAL(0, Z0, Z4, Z8, Z12, Z16);    \
	NORMAL(64, Z1, Z5, Z9, Z13, Z17);   \
	NORMAL(128, Z2, Z6, Z10, Z14, Z18); \
	NORMAL(192, Z3, Z7, Z11, Z15, Z19)

#define NORMAL1 \
	VMOVUPS.Z   (SI), K1, Z0; \
	VSUBPS      Z8, Z0, Z0;   \
	VMOVAPS     Z0, Z4;       \
	VFMADD213PS Z16, Z12, Z4

// PASSED: V = dy, with 0 where V is not above the floor, if there is one.
#define PASSED(O, V, K) \
	VCMPPS  $0x1a, Z28, V, K6, K; \
	VMOVUPS O(DX), V;             \
	VPXORD  V, V, K, V

#define PASSED4 \
	PASSED(0, Z4, K2);   \
	PASSED(64, Z5, K3);  \
	PASSED(128, Z6, K4); \
	PASSED(192, Z7, K5)

#define PASSED1 \
	VCMPPS    $0x1a, Z28, Z4, K6, K2; \
	VMOVUPS.Z (DX), K1, Z4;           \
	VPXORD    Z4, Z4, K2, Z4

#define ZEROSUMS \
	VPXORD Z20, Z20, Z20; \
	VPXORD Z21, Z21, Z21; \
	VPXORD Z22, Z22, Z22; \
	VPXORD Z23, Z23, Z23; \
	VPXORD Z24, Z24, Z24; \
	VPXORD Z25, Z25, Z25; \
	VPXORD Z26, Z26, Z26; \
	VPXORD Z27, Z27, Z27

#define STORESUMS4 \
	MOVQ colStrip_sum(R9), AX;      \
	STORE4(Z20, Z21, Z22, Z23, AX); \
	MOVQ colStrip_dot(R9), AX;      \
	STORE4(Z24, Z25, Z26, Z27, AX)

#define STORESUMS1 \
	MOVQ    colStrip_sum(R9), AX; \
	VMOVUPS Z20, K1, (AX);        \
	MOVQ    colStrip_dot(R9), AX; \
	VMOVUPS Z24, K1, (AX)

// FETCH4 asks for the 64 values that lie half a page further: maps come from memory, and go
// there, and the processor by itself does not ask for enough at a time.
#define FETCH4(P) \
	PREFETCHT0 2048(P); \
	PREFETCHT0 2112(P); \
	PREFETCHT0 2176(P); \
	PREFETCHT0 2240(P)

// func colNormAVX512(s *colStrip)
TEXT ·colNormAVX512(SB), NOSPLIT, $0-8
	STRIP
	MOVQ colStrip_dst(R9), DI
	CMPQ BX, $64
	JEQ  wide
	MAP1

narrow:
	NORMAL1
	VMAXPS  Z4, Z28, Z4  // floor > z ? floor : z
	VMOVUPS Z4, K1, (DI)
	ADDQ    R8, SI
	ADDQ    R8, DI
	DECQ    CX
	JNE     narrow
	VZEROUPPER
	RET

wide:
	MAP4

wideloop:
	NORMAL4
	VMAXPS Z4, Z28, Z4
	VMAXPS Z5, Z28, Z5
	VMAXPS Z6, Z28, Z6
	VMAXPS Z7, Z28, Z7
	FETCH4(DI)
	STORE4(Z4, Z5, Z6, Z7, DI)
	ADDQ   R8, SI
	ADDQ   R8, DI
	DECQ   CX
	JNE    wideloop
	VZEROUPPER
	RET

// func colNormSumsAVX512(s *colStrip)
TEXT ·colNormSumsAVX512(SB), NOSPLIT, $0-8
	STRIP
	MOVQ colStrip_dy(R9), DX
	ZEROSUMS
	CMPQ BX, $64
	JEQ  wide
	MAP1

narrow:
	NORMAL1
	PASSED1
	VADDPS      Z4, Z20, Z20
	VFMADD231PS Z0, Z4, Z24
	ADDQ        R8, SI
	ADDQ        R8, DX
	DECQ        CX
	JNE         narrow
	STORESUMS1
	VZEROUPPER
	RET

wide:
	MAP4

wideloop:
	FETCH4(SI)
	NORMAL4
	PASSED4
	VADDPS      Z4, Z20, Z20
	VADDPS      Z5, Z21, Z21
	VADDPS      Z6, Z22, Z22
	VADDPS      Z7, Z23, Z23
	VFMADD231PS Z0, Z4, Z24
	VFMADD231PS Z1, Z5, Z25
	VFMADD231PS Z2, Z6, Z26
	VFMADD231PS Z3, Z7, Z27
	ADDQ        R8, SI
	ADDQ        R8, DX
	DECQ        CX
	JNE         wideloop
	STORESUMS4
	VZEROUPPER
	RET

// func colNormGradAVX512(s *colStrip)
TEXT ·colNormGradAVX512(SB), NOSPLIT, $0-8
	STRIP
	MOVQ colStrip_dst(R9), DI
	MOVQ colStrip_dy(R9), DX
	CMPQ BX, $64
	JEQ  wide
	MAP1
	COLUMNS1(colStrip_p, Z20)
	COLUMNS1(colStrip_q, Z24)
	COLUMNS1(colStrip_r, Z29)

narrow:
	NORMAL1
	PASSED1
	VFMADD213PS Z29, Z24, Z0
	VFMADD231PS Z4, Z20, Z0
	VMOVUPS     Z0, K1, (DI)
	ADDQ        R8, SI
	ADDQ        R8, DX
	ADDQ        R8, DI
	DECQ        CX
	JNE         narrow
	VZEROUPPER
	RET

wide:
	MAP4
	COLUMNS4(colStrip_p, Z20, Z21, Z22, Z23)
	COLUMNS4(colStrip_q, Z24, Z25, Z26, Z27)
	MOVQ colStrip_r(R9), R11

wideloop:
	NORMAL4
	PASSED4
	VFMADD213PS (R11), Z24, Z0
	VFMADD213PS 64(R11), Z25, Z1
	VFMADD213PS 128(R11), Z26, Z2
	VFMADD213PS 192(R11), Z27, Z3
	VFMADD231PS Z4, Z20, Z0
	VFMADD231PS Z5, Z21, Z1
	VFMADD231PS Z6, Z22, Z2
	VFMADD231PS Z7, Z23, Z3
	FETCH4(DI)
	STORE4(Z0, Z1, Z2, Z3, DI)
	ADDQ        R8, SI
	ADDQ        R8, DX
	ADDQ        R8, DI
	DECQ        CX
	JNE         wideloop
	VZEROUPPER
	RET

// DISTANCE: T = x - pivot.
#define DISTANCE(O, T, PIVOT) \
	VMOVUPS O(SI), T;   \
	VSUBPS  PIVOT, T, T

// func colMomentsAVX512(s *colStrip)
TEXT ·colMomentsAVX512(SB), NOSPLIT, $0-8
	STRIP
	ZEROSUMS
	CMPQ BX, $64
	JEQ  wide
	COLUMNS1(colStrip_mean, Z8)

narrow:
	VMOVUPS.Z   (SI), K1, Z0
	VSUBPS      Z8, Z0, Z0
	VADDPS      Z0, Z20, Z20
	VFMADD231PS Z0, Z0, Z24
	ADDQ        R8, SI
	DECQ        CX
	JNE         narrow
	STORESUMS1
	VZEROUPPER
	RET

wide:
	COLUMNS4(colStrip_mean, Z8, Z9, Z10, Z11)

wideloop:
	DISTANCE(0, Z0, Z8)
	DISTANCE(64, Z1, Z9)
	DISTANCE(128, Z2, Z10)
	DISTANCE(192, Z3, Z11)
	FETCH4(SI)
	VADDPS      Z0, Z20, Z20
	VADDPS      Z1, Z21, Z21
	VADDPS      Z2, Z22, Z22
	VADDPS      Z3, Z23, Z23
	VFMADD231PS Z0, Z0, Z24
	VFMADD231PS Z1, Z1, Z25
	VFMADD231PS Z2, Z2, Z26
	VFMADD231PS Z3, Z3, Z27
	ADDQ        R8, SI
	DECQ        CX
	JNE         wideloop
	STORESUMS4
	VZEROUPPER
	RET
