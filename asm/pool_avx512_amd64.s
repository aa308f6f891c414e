//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// Max4 and its gradient, 16 values an iteration, the rest under K1:
//
//	for i := range n {
//		m := a[i]
//		for _, v := range {b[i], c[i], d[i]} { if v > m { m = v } } // VMAXPS keeps m when equal
//		dst[i] = m, or NaN if one of the four is NaN
//	}
//	for i := range n {
//		first of a[i] == y[i], b[i] == y[i], ...: that gradient = dy[i], the others 0
//	}
//
// Registers
//	DI dst (Max4), DI R11 R12 R13 da db dc dd (Max4Grad)
//	SI dy   R14 y   R8 R9 R10 BX a b c d   CX values left   AX byte offset
//	Z0-Z3 a b c d   Z4 y   Z5 dy   Z31 NaN   K1 the lanes in use

#define POINTERS4 \
	MOVQ a+8(FP), R8;   \
	MOVQ b+16(FP), R9;  \
	MOVQ c+24(FP), R10; \
	MOVQ d+32(FP), BX

#define LOADS4 \
	VMOVUPS.Z (R8)(AX*1), K1, Z0;  \
	VMOVUPS.Z (R9)(AX*1), K1, Z1;  \
	VMOVUPS.Z (R10)(AX*1), K1, Z2; \
	VMOVUPS.Z (BX)(AX*1), K1, Z3

// K1 = the lanes left, all 16 or the lowest CX.
#define LANES \
	MOVL  $0xffff, DX; \
	CMPQ  CX, $16;     \
	JGE   full;        \
	MOVL  $1, DX;      \
	SHLL  CX, DX;      \
	DECL  DX;          \
	full:              \
	KMOVW DX, K1

// func max4AVX512(dst, a, b, c, d *float32, n int)
TEXT ·max4AVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	POINTERS4
	MOVQ         n+40(FP), CX
	XORQ         AX, AX
	MOVL         $0x7fc00000, DX
	VPBROADCASTD DX, Z31

loop:
	LANES
	LOADS4
	VCMPPS  $3, Z1, Z0, K2     // unordered: a or b is NaN
	VCMPPS  $3, Z3, Z2, K3     // c or d
	KORW    K2, K3, K2
	VMAXPS  Z0, Z1, Z0         // Z1 > Z0 ? Z1 : Z0
	VMAXPS  Z0, Z2, Z0
	VMAXPS  Z0, Z3, Z0
	VMOVAPS Z31, K2, Z0
	VMOVUPS Z0, K1, (DI)(AX*1)
	ADDQ    $64, AX
	SUBQ    $16, CX
	JGT     loop
	VZEROUPPER
	RET

// func max4GradAVX512(da, db, dc, dd, dy, y, a, b, c, d *float32, n int)
TEXT ·max4GradAVX512(SB), NOSPLIT, $0-88
	MOVQ da+0(FP), DI
	MOVQ db+8(FP), R11
	MOVQ dc+16(FP), R12
	MOVQ dd+24(FP), R13
	MOVQ dy+32(FP), SI
	MOVQ y+40(FP), R14
	MOVQ a+48(FP), R8
	MOVQ b+56(FP), R9
	MOVQ c+64(FP), R10
	MOVQ d+72(FP), BX
	MOVQ n+80(FP), CX
	XORQ AX, AX

loop:
	LANES
	LOADS4
	VMOVUPS.Z (R14)(AX*1), K1, Z4
	VMOVUPS.Z (SI)(AX*1), K1, Z5
	VCMPPS    $0, Z4, Z0, K2      // a == y
	VCMPPS    $0, Z4, Z1, K3
	VCMPPS    $0, Z4, Z2, K4
	VCMPPS    $0, Z4, Z3, K5
	KANDNW    K3, K2, K3          // b == y, not a
	KORW      K2, K3, K6          // a or b
	KANDNW    K4, K6, K4
	KORW      K4, K6, K6          // a, b or c
	KANDNW    K5, K6, K5
	VMOVAPS.Z Z5, K2, Z0
	VMOVAPS.Z Z5, K3, Z1
	VMOVAPS.Z Z5, K4, Z2
	VMOVAPS.Z Z5, K5, Z3
	VMOVUPS   Z0, K1, (DI)(AX*1)
	VMOVUPS   Z1, K1, (R11)(AX*1)
	VMOVUPS   Z2, K1, (R12)(AX*1)
	VMOVUPS   Z3, K1, (R13)(AX*1)
	ADDQ      $64, AX
	SUBQ      $16, CX
	JGT       loop
	VZEROUPPER
	RET
