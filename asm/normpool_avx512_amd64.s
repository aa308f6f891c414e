//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// Normalisation, 2x2 max pooling and floor in one go, and its gradient, for one
// row of windows: top and bottom are two rows of pixels of b values each, and
// window w has the pixels 2w and 2w+1 of both. In Go, with t the distance from
// the mean and z the normalised value of the pixels k = 0..3 of a window:
//
//	for w := range windows { for j := range b {
//		for k := range 4 { t[k] = x[k] - mean; z[k] = fma(t[k], scale, shift) }
//		m := max(z[0], z[1], z[2], z[3]) // NaN where one of them is
//		...
//	} }
//
// 16 values of j at a time, the last under K7.
//
// Registers
//	SI R12 DX R13 x[0..3]   R8 bytes of a pixel   R11 bytes of its whole vectors
//	R9 windows left   AX byte offset   DI dst or dy
//	BX R14 CX R10 dx[0..3]
//	Z0-Z3 z   Z4 m   Z5 d   Z8-Z11 t
//	Z16 mean   Z17 scale   Z18 shift   Z19 floor   Z20 Z21 sums   Z22-Z24 p q r   Z31 NaN
//	K1 the lanes in use   K6 all lanes   K7 the last lanes

// SETUP broadcasts the map at R9 and prepares the lanes for b in CX.
#define SETUP \
	VBROADCASTSS (R9), Z16;       \
	VBROADCASTSS 4(R9), Z17;      \
	VBROADCASTSS 8(R9), Z18;      \
	VBROADCASTSS 12(R9), Z19;     \
	MOVL         $0x7fc00000, AX; \
	VPBROADCASTD AX, Z31;         \
	MOVQ         CX, R8;          \
	SHLQ         $2, R8;          \
	MOVQ         CX, R11;         \
	ANDQ         $~15, R11;       \
	SHLQ         $2, R11;         \
	ANDQ         $15, CX;         \
	TAILMASK;                     \
	KMOVW        K1, K7;          \
	MOVL         $0xffff, AX;     \
	KMOVW        AX, K6

// EACH runs BODY for all vectors of all windows; NEXT moves the pointers.
#define EACH(BODY, NEXT) \
window:  \
	LEAQ     (SI)(R8*1), R12; \
	LEAQ     (DX)(R8*1), R13; \
	XORQ     AX, AX;          \
	KMOVW    K6, K1;          \
	vector:                   \
	CMPQ     AX, R11;         \
	JLT      body;            \
	JGT      next;            \
	KORTESTW K7, K7;          \
	JEQ      next;            \
	KMOVW    K7, K1;          \
	body:                     \
	BODY;                     \
	ADDQ     $64, AX;         \
	JMP      vector;          \
	next:                 \
	LEAQ  (SI)(R8*2), SI; \
	LEAQ  (DX)(R8*2), DX; \
	ADDQ  R8, DI;         \
	NEXT;                 \
	DECQ  R9;             \
	JNE   window

#define NONE

// NORMAL loads pixel X: T = X - mean, V = T*scale + shift.
#define NORMAL(X, T, V) \
	VMOVUPS.Z   (X)(AX*1), K1, T; \
	VSUBPS      Z16, T, T;        \
	VMOVAPS     T, V;             \
	VFMADD213PS Z18, Z17, V

// FETCH asks for what is read a page's half later: a map comes from memory, and the
// processor by itself does not ask for enough at a time.
#define FETCH(X) PREFETCHT0 2048(X)(AX*1)

// Z4 = max(Z0, Z1, Z2, Z3)
#define WINDOW \
	FETCH(SI);              \
	FETCH(R12);             \
	FETCH(DX);              \
	FETCH(R13);             \
	NORMAL(SI, Z8, Z0);     \
	NORMAL(R12, Z9, Z1);    \
	NORMAL(DX, Z10, Z2);    \
	NORMAL(R13, Z11, Z3);   \
	VCMPPS  $3, Z1, Z0, K2; \ // unordered: one of the first two is NaN
	VCMPPS  $3, Z3, Z2, K3; \
	KORW    K2, K3, K2;     \
	VMAXPS  Z0, Z1, Z4;     \ // Z1 > Z0 ? Z1 : Z0
	VMAXPS  Z2, Z3, Z5;     \
	VMAXPS  Z4, Z5, Z4;     \
	VMOVAPS Z31, K2, Z4

#define FORWARD \
	WINDOW;                    \
	VMAXPS  Z4, Z19, Z4;       \ // floor > Z4 ? floor : Z4
	VMOVUPS Z4, K1, (DI)(AX*1)

// Z5 = dy where Z4 > floor, K4 the lanes.
#define PASSED \
	VCMPPS    $0x1e, Z19, Z4, K1, K4; \
	VMOVUPS.Z (DI)(AX*1), K4, Z5

// Z11 = t of the first maximum
#define SUMS \
	WINDOW;                     \
	PASSED;                     \
	VCMPPS      $0, Z4, Z2, K2; \
	VMOVAPS     Z10, K2, Z11;   \
	VCMPPS      $0, Z4, Z1, K2; \
	VMOVAPS     Z9, K2, Z11;    \
	VCMPPS      $0, Z4, Z0, K2; \
	VMOVAPS     Z8, K2, Z11;    \
	VADDPS      Z5, Z20, Z20;   \
	VFMADD231PS Z11, Z5, Z21

// SEND stores dx = p*g + (q*T + r), where g is Z5 in those lanes of K4 whose V
// is the maximum; they leave K4.
#define SEND(V, T, DST) \
	VCMPPS      $0, Z4, V, K4, K2; \
	VMOVAPS.Z   Z5, K2, V;         \
	KANDNW      K4, K2, K4;        \
	VFMADD213PS Z24, Z23, T;       \
	VFMADD231PS V, Z22, T;         \
	VMOVUPS     T, K1, (DST)(AX*1)

#define GRADIENT \
	WINDOW;            \
	PASSED;            \
	SEND(Z0, Z8, BX);  \
	SEND(Z1, Z9, R14); \
	SEND(Z2, Z10, CX); \
	SEND(Z3, Z11, R10)

#define NEXTGRADIENT \
	LEAQ (BX)(R8*2), BX;   \
	LEAQ (R14)(R8*2), R14; \
	LEAQ (CX)(R8*2), CX;   \
	LEAQ (R10)(R8*2), R10

// X0 = the sum of all lanes of ZA.
#define LANESUM(ZA, YA) \
	VEXTRACTF64X4 $1, ZA, Y1; \
	VADDPS        Y1, YA, Y0; \
	VEXTRACTF128  $1, Y0, X1; \
	VADDPS        X1, X0, X0; \
	VMOVHLPS      X0, X0, X1; \
	VADDPS        X1, X0, X0; \
	VMOVSHDUP     X0, X1;     \
	VADDSS        X1, X0, X0

// func normPoolAVX512(dst, top, bottom *float32, windows, b int, m *NormMap)
TEXT ·normPoolAVX512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ top+8(FP), SI
	MOVQ bottom+16(FP), DX
	MOVQ b+32(FP), CX
	MOVQ m+40(FP), R9
	SETUP
	MOVQ windows+24(FP), R9
	EACH(FORWARD, NONE)
	VZEROUPPER
	RET

// func normPoolSumsAVX512(sums *[2]float32, dy, top, bottom *float32, windows, b int, m *NormMap)
TEXT ·normPoolSumsAVX512(SB), NOSPLIT, $0-56
	MOVQ    dy+8(FP), DI
	MOVQ    top+16(FP), SI
	MOVQ    bottom+24(FP), DX
	MOVQ    b+40(FP), CX
	MOVQ    m+48(FP), R9
	SETUP
	VPXORD  Z20, Z20, Z20
	VPXORD  Z21, Z21, Z21
	MOVQ    windows+32(FP), R9
	EACH(SUMS, NONE)
	MOVQ    sums+0(FP), DI
	VMOVAPS Z20, Z2
	VMOVAPS Z21, Z3
	LANESUM(Z2, Y2)
	VMOVSS  X0, (DI)
	LANESUM(Z3, Y3)
	VMOVSS  X0, 4(DI)
	VZEROUPPER
	RET

// func normPoolGradAVX512(dtop, dbottom, dy, top, bottom *float32, windows, b int, m *NormMap, p, q, r float32)
TEXT ·normPoolGradAVX512(SB), NOSPLIT, $0-76
	MOVQ         dy+16(FP), DI
	MOVQ         top+24(FP), SI
	MOVQ         bottom+32(FP), DX
	MOVQ         b+48(FP), CX
	MOVQ         m+56(FP), R9
	SETUP
	VBROADCASTSS p+64(FP), Z22
	VBROADCASTSS q+68(FP), Z23
	VBROADCASTSS r+72(FP), Z24
	MOVQ         windows+40(FP), R9
	MOVQ         dtop+0(FP), BX
	LEAQ         (BX)(R8*1), R14
	MOVQ         dbottom+8(FP), CX
	LEAQ         (CX)(R8*1), R10
	EACH(GRADIENT, NEXTGRADIENT)
	VZEROUPPER
	RET
