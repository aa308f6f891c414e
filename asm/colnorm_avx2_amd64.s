//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "avx2_amd64.h"

// Normalisation by columns of a strip, and its gradient, one row after the other:
//
//	for r := range rows { for j := range n {
//		t := x[r,j] - mean[j]
//		z := fma(t, scale[j], shift[j])
//		...
//	} }
//
// A strip has 64 columns, or at most 8 under Y15. Sums of 64 columns are taken of 32
// columns at a time.
//
// Registers
//	AX *colStrip   SI x   DX dy   DI dst   CX rows left
//	R8 row pitch in bytes   BX columns   R9 mean   R10 scale   R11 shift
//	R12 p   R13 q   R14 r
//	Y0-Y3 sums   Y4-Y7 dots   Y8 Y10 t   Y9 Y11 z, then g   Y12 q
//	Y13 all lanes if there is no floor   Y14 floor

// STRIP loads the pointers that all kernels have, the number of columns, and Y15.
#define STRIP \
	MOVQ s+0(FP), AX;             \
	MOVQ colStrip_n(AX), BX;      \
	MOVQ BX, CX;                  \
	ANDQ $15, CX;                 \
	TAILMASK;                     \
	MOVQ s+0(FP), AX;             \
	MOVQ colStrip_x(AX), SI;      \
	MOVQ colStrip_mean(AX), R9;   \
	MOVQ colStrip_rows(AX), CX;   \
	MOVQ colStrip_stride(AX), R8; \
	SHLQ $2, R8

DATA noFloor<>+0(SB)/8, $0xff800000ff800000
DATA noFloor<>+8(SB)/8, $0xff800000ff800000
DATA noFloor<>+16(SB)/8, $0xff800000ff800000
DATA noFloor<>+24(SB)/8, $0xff800000ff800000
GLOBL noFloor<>(SB), RODATA|NOPTR, $32

// MAP loads the rest of the map, and sets Y13 if it has no floor.
#define MAP \
	MOVQ         colStrip_scale(AX), R10; \
	MOVQ         colStrip_shift(AX), R11; \
	VBROADCASTSS colStrip_floor(AX), Y14; \
	VPCMPEQD     noFloor<>(SB), Y14, Y13

// NORMAL: T = x - mean, V = fma(T, scale, shift) of the vector at offset O.
#define NORMAL(O, T, V) \
	VMOVUPS     O(SI), T;    \
	VSUBPS      O(R9), T, T; \
	VMOVUPS     O(R10), V;   \
	VFMADD213PS O(R11), T, V

// NARROW is NORMAL of the lanes of Y15. The columns' values are in Y0-Y2.
#define NARROW(T, V) \
	VMASKMOVPS  (SI), Y15, T; \
	VSUBPS      Y0, T, T;     \
	VMOVAPS     Y1, V;        \
	VFMADD213PS Y2, T, V

#define NARROWMAP \
	VMASKMOVPS (R9), Y15, Y0;  \
	VMASKMOVPS (R10), Y15, Y1; \
	VMASKMOVPS (R11), Y15, Y2

// PASSED: V = dy, with 0 where V is not above the floor, if there is one.
#define PASSED(O, V) \
	VCMPPS $0x1e, Y14, V, V; \
	VORPS  Y13, V, V;        \
	VANDPS O(DX), V, V

#define NARROWPASSED(V, U) \
	VCMPPS     $0x1e, Y14, V, V; \
	VORPS      Y13, V, V;        \
	VMASKMOVPS (DX), Y15, U;     \
	VANDPS     U, V, V

// FETCH asks for the 64 values that lie half a page further: maps come from memory, and go
// there, and the processor by itself does not ask for enough at a time.
#define FETCH(P) \
	PREFETCHT0 2048(P); \
	PREFETCHT0 2112(P); \
	PREFETCHT0 2176(P); \
	PREFETCHT0 2240(P)

#define FORWARD(O, T, V) \
	NORMAL(O, T, V);   \
	VMAXPS  V, Y14, V; \ // floor > z ? floor : z
	VMOVUPS V, O(DI)

// func colNormAVX2(s *colStrip)
TEXT ·colNormAVX2(SB), NOSPLIT, $0-8
	STRIP
	MAP
	MOVQ colStrip_dst(AX), DI
	CMPQ BX, $64
	JEQ  wide
	NARROWMAP

narrow:
	NARROW(Y8, Y9)
	VMAXPS     Y9, Y14, Y9
	VMASKMOVPS Y9, Y15, (DI)
	ADDQ       R8, SI
	ADDQ       R8, DI
	DECQ       CX
	JNE        narrow
	VZEROUPPER
	RET

wide:
	FETCH(DI)
	FORWARD(0, Y8, Y9)
	FORWARD(32, Y10, Y11)
	FORWARD(64, Y8, Y9)
	FORWARD(96, Y10, Y11)
	FORWARD(128, Y8, Y9)
	FORWARD(160, Y10, Y11)
	FORWARD(192, Y8, Y9)
	FORWARD(224, Y10, Y11)
	ADDQ R8, SI
	ADDQ R8, DI
	DECQ CX
	JNE  wide
	VZEROUPPER
	RET

#define ZEROSUMS \
	VXORPS Y0, Y0, Y0; \
	VXORPS Y1, Y1, Y1; \
	VXORPS Y2, Y2, Y2; \
	VXORPS Y3, Y3, Y3; \
	VXORPS Y4, Y4, Y4; \
	VXORPS Y5, Y5, Y5; \
	VXORPS Y6, Y6, Y6; \
	VXORPS Y7, Y7, Y7

// SUMS adds the vector at offset O to SUM and DOT.
#define SUMS(O, T, V, SUM, DOT) \
	NORMAL(O, T, V);         \
	PASSED(O, V);            \
	VADDPS      V, SUM, SUM; \
	VFMADD231PS T, V, DOT

// func colNormSumsAVX2(s *colStrip)
TEXT ·colNormSumsAVX2(SB), NOSPLIT, $0-8
	STRIP
	MAP
	MOVQ   colStrip_dy(AX), DX
	MOVQ   colStrip_sum(AX), DI
	MOVQ   colStrip_dot(AX), R12
	CMPQ   BX, $64
	JEQ    wide
	NARROWMAP
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5

narrow:
	NARROW(Y8, Y9)
	NARROWPASSED(Y9, Y10)
	VADDPS      Y9, Y4, Y4
	VFMADD231PS Y8, Y9, Y5
	ADDQ        R8, SI
	ADDQ        R8, DX
	DECQ        CX
	JNE         narrow
	VMASKMOVPS  Y4, Y15, (DI)
	VMASKMOVPS  Y5, Y15, (R12)
	VZEROUPPER
	RET

wide:
	ZEROSUMS

wideloop:
	SUMS(0, Y8, Y9, Y0, Y4)
	SUMS(32, Y10, Y11, Y1, Y5)
	SUMS(64, Y8, Y9, Y2, Y6)
	SUMS(96, Y10, Y11, Y3, Y7)
	ADDQ R8, SI
	ADDQ R8, DX
	DECQ CX
	JNE  wideloop
	STORE4(Y0, Y1, Y2, Y3, DI)
	STORE4(Y4, Y5, Y6, Y7, R12)
	SUBQ $32, BX
	JEQ  done
	MOVQ colStrip_x(AX), SI
	MOVQ colStrip_dy(AX), DX
	MOVQ colStrip_rows(AX), CX
	ADDQ $128, SI
	ADDQ $128, DX
	ADDQ $128, R9
	ADDQ $128, R10
	ADDQ $128, R11
	ADDQ $128, DI
	ADDQ $128, R12
	JMP  wide

done:
	VZEROUPPER
	RET

// GRADIENT writes the vector at offset O.
#define GRADIENT(O, T, V) \
	NORMAL(O, T, V);            \
	PASSED(O, V);               \
	VMOVUPS     O(R13), Y12;    \
	VFMADD213PS O(R14), Y12, T; \ // t*q + r
	VFMADD231PS O(R12), V, T;   \
	VMOVUPS     T, O(DI)

// func colNormGradAVX2(s *colStrip)
TEXT ·colNormGradAVX2(SB), NOSPLIT, $0-8
	STRIP
	MAP
	MOVQ       colStrip_dst(AX), DI
	MOVQ       colStrip_dy(AX), DX
	MOVQ       colStrip_p(AX), R12
	MOVQ       colStrip_q(AX), R13
	MOVQ       colStrip_r(AX), R14
	CMPQ       BX, $64
	JEQ        wide
	NARROWMAP
	VMASKMOVPS (R12), Y15, Y4
	VMASKMOVPS (R13), Y15, Y5
	VMASKMOVPS (R14), Y15, Y6

narrow:
	NARROW(Y8, Y9)
	NARROWPASSED(Y9, Y10)
	VFMADD213PS Y6, Y5, Y8
	VFMADD231PS Y4, Y9, Y8
	VMASKMOVPS  Y8, Y15, (DI)
	ADDQ        R8, SI
	ADDQ        R8, DX
	ADDQ        R8, DI
	DECQ        CX
	JNE         narrow
	VZEROUPPER
	RET

wide:
	FETCH(DI)
	GRADIENT(0, Y8, Y9)
	GRADIENT(32, Y10, Y11)
	GRADIENT(64, Y8, Y9)
	GRADIENT(96, Y10, Y11)
	GRADIENT(128, Y8, Y9)
	GRADIENT(160, Y10, Y11)
	GRADIENT(192, Y8, Y9)
	GRADIENT(224, Y10, Y11)
	ADDQ R8, SI
	ADDQ R8, DX
	ADDQ R8, DI
	DECQ CX
	JNE  wide
	VZEROUPPER
	RET

// MOMENT adds t = x - pivot at offset O to SUM, and its square to DOT.
#define MOMENT(O, T, SUM, DOT) \
	VMOVUPS     O(SI), T;    \
	VSUBPS      O(R9), T, T; \
	VADDPS      T, SUM, SUM; \
	VFMADD231PS T, T, DOT

// func colMomentsAVX2(s *colStrip)
TEXT ·colMomentsAVX2(SB), NOSPLIT, $0-8
	STRIP
	MOVQ       colStrip_sum(AX), DI
	MOVQ       colStrip_dot(AX), R12
	CMPQ       BX, $64
	JEQ        wide
	VMASKMOVPS (R9), Y15, Y0
	VXORPS     Y4, Y4, Y4
	VXORPS     Y5, Y5, Y5

narrow:
	VMASKMOVPS  (SI), Y15, Y8
	VSUBPS      Y0, Y8, Y8
	VADDPS      Y8, Y4, Y4
	VFMADD231PS Y8, Y8, Y5
	ADDQ        R8, SI
	DECQ        CX
	JNE         narrow
	VMASKMOVPS  Y4, Y15, (DI)
	VMASKMOVPS  Y5, Y15, (R12)
	VZEROUPPER
	RET

wide:
	ZEROSUMS

wideloop:
	MOMENT(0, Y8, Y0, Y4)
	MOMENT(32, Y9, Y1, Y5)
	MOMENT(64, Y10, Y2, Y6)
	MOMENT(96, Y11, Y3, Y7)
	ADDQ R8, SI
	DECQ CX
	JNE  wideloop
	STORE4(Y0, Y1, Y2, Y3, DI)
	STORE4(Y4, Y5, Y6, Y7, R12)
	SUBQ $32, BX
	JEQ  done
	MOVQ colStrip_x(AX), SI
	MOVQ colStrip_rows(AX), CX
	ADDQ $128, SI
	ADDQ $128, R9
	ADDQ $128, DI
	ADDQ $128, R12
	JMP  wide

done:
	VZEROUPPER
	RET
