//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

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
// 8 values of j at a time, the last under Y15.
//
// Registers
//	SI R12 DX R13 x[0..3]   R8 bytes of a pixel   R11 bytes of its whole vectors
//	R9 the map: mean, scale, shift, floor   AX byte offset   DI dst or dy
//	BX R14 CX R10 dx[0..3]
//	Y0-Y3 t   Y4-Y7 z   Y8 scratch   Y9 m   Y10 Y11 sums, or d and scratch
//	Y12 mean   Y13 scale   Y14 shift   Y15 the last lanes

// SETUP broadcasts the map at R9 and prepares the lanes for b in CX.
#define SETUP \
	VBROADCASTSS (R9), Y12;  \
	VBROADCASTSS 4(R9), Y13; \
	VBROADCASTSS 8(R9), Y14; \
	MOVQ         CX, R8;     \
	SHLQ         $2, R8;     \
	MOVQ         CX, R11;    \
	ANDQ         $~7, R11;   \
	SHLQ         $2, R11;    \
	ANDQ         $7, CX;     \
	TAILMASK

// EACH runs WHOLE for the whole vectors of all windows and LAST for what is
// left of a pixel; NEXT moves the pointers, LEFT counts the windows.
#define EACH(WHOLE, LAST, NEXT, LEFT) \
window:  \
	LEAQ    (SI)(R8*1), R12; \
	LEAQ    (DX)(R8*1), R13; \
	XORQ    AX, AX;          \
	CMPQ    AX, R11;         \
	JGE     last;            \
	vector:                  \
	WHOLE;                   \
	ADDQ    $32, AX;         \
	CMPQ    AX, R11;         \
	JLT     vector;          \
	last:                    \
	CMPQ    R11, R8;         \
	JEQ     next;            \
	LAST;                    \
	next:                    \
	LEAQ    (SI)(R8*2), SI;  \
	LEAQ    (DX)(R8*2), DX;  \
	ADDQ    R8, DI;          \
	NEXT;                    \
	DECQ    LEFT;            \
	JNE     window

#define NONE

#define LOADWHOLE(P, T) VMOVUPS (P)(AX*1), T
#define LOADLAST(P, T) VMASKMOVPS (P)(AX*1), Y15, T
#define STOREWHOLE(T, P) VMOVUPS T, (P)(AX*1)
#define STORELAST(T, P) VMASKMOVPS T, Y15, (P)(AX*1)

// NORMAL: T = X - mean, V = T*scale + shift.
#define NORMAL(LOAD, X, T, V) \
	LOAD(X, T);             \
	VSUBPS      Y12, T, T;  \
	VMOVAPS     T, V;       \
	VFMADD213PS Y14, Y13, V

// Y9 = max(Y4, Y5, Y6, Y7)
#define WINDOW(LOAD) \
	NORMAL(LOAD, SI, Y0, Y4);  \
	NORMAL(LOAD, R12, Y1, Y5); \
	NORMAL(LOAD, DX, Y2, Y6);  \
	NORMAL(LOAD, R13, Y3, Y7); \
	VMAXPS Y4, Y5, Y8;         \ // Y5 > Y4 ? Y5 : Y4
	VMAXPS Y6, Y7, Y9;         \
	VMAXPS Y8, Y9, Y9;         \
	VCMPPS $3, Y5, Y4, Y8;     \ // unordered: one of the first two is NaN
	VORPS  Y8, Y9, Y9;         \ // all ones are a NaN
	VCMPPS $3, Y7, Y6, Y8;     \
	VORPS  Y8, Y9, Y9

#define FORWARD(LOAD, STORE) \
	WINDOW(LOAD);            \
	VBROADCASTSS 12(R9), Y8; \
	VMAXPS       Y9, Y8, Y9; \ // floor > Y9 ? floor : Y9
	STORE(Y9, DI)

// D = dy where Y9 > floor
#define PASSED(LOAD, D) \
	LOAD(DI, D);                    \
	VBROADCASTSS 12(R9), Y8;        \
	VCMPPS       $0x1e, Y8, Y9, Y8; \
	VANDPS       Y8, D, D

// Y3 = t of the first maximum
#define SUMS(LOAD) \
	WINDOW(LOAD);               \
	PASSED(LOAD, Y7);           \
	VCMPPS      $0, Y9, Y6, Y8; \
	VBLENDVPS   Y8, Y2, Y3, Y3; \
	VCMPPS      $0, Y9, Y5, Y8; \
	VBLENDVPS   Y8, Y1, Y3, Y3; \
	VCMPPS      $0, Y9, Y4, Y8; \
	VBLENDVPS   Y8, Y0, Y3, Y3; \
	VADDPS      Y7, Y10, Y10;   \
	VFMADD231PS Y3, Y7, Y11

// SEND stores dx = p*g + (q*T + r), where g is Y10 where V is the maximum; Y10
// loses what was sent.
#define SEND(STORE, V, T, DST) \
	VCMPPS       $0, Y9, V, Y8; \
	VANDPS       Y8, Y10, Y11;  \
	VANDNPS      Y10, Y8, Y10;  \
	VBROADCASTSS q+68(FP), Y8;  \
	VBROADCASTSS r+72(FP), V;   \
	VFMADD213PS  V, Y8, T;      \
	VBROADCASTSS p+64(FP), Y8;  \
	VFMADD231PS  Y11, Y8, T;    \
	STORE(T, DST)

#define GRADIENT(LOAD, STORE) \
	WINDOW(LOAD);             \
	PASSED(LOAD, Y10);        \
	SEND(STORE, Y4, Y0, BX);  \
	SEND(STORE, Y5, Y1, R14); \
	SEND(STORE, Y6, Y2, CX);  \
	SEND(STORE, Y7, Y3, R10)

#define NEXTGRADIENT \
	LEAQ (BX)(R8*2), BX;   \
	LEAQ (R14)(R8*2), R14; \
	LEAQ (CX)(R8*2), CX;   \
	LEAQ (R10)(R8*2), R10

// X0 = the sum of all lanes of YA.
#define LANESUM(YA, XA) \
	VEXTRACTF128 $1, YA, X0; \
	VADDPS       XA, X0, X0; \
	VMOVHLPS     X0, X0, X1; \
	VADDPS       X1, X0, X0; \
	VMOVSHDUP    X0, X1;     \
	VADDSS       X1, X0, X0

// func normPoolAVX2(dst, top, bottom *float32, windows, b int, m *NormMap)
TEXT ·normPoolAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ top+8(FP), SI
	MOVQ bottom+16(FP), DX
	MOVQ b+32(FP), CX
	MOVQ m+40(FP), R9
	SETUP
	MOVQ windows+24(FP), R10
	EACH(FORWARD(LOADWHOLE, STOREWHOLE), FORWARD(LOADLAST, STORELAST), NONE, R10)
	VZEROUPPER
	RET

// func normPoolSumsAVX2(sums *[2]float32, dy, top, bottom *float32, windows, b int, m *NormMap)
TEXT ·normPoolSumsAVX2(SB), NOSPLIT, $0-56
	MOVQ   dy+8(FP), DI
	MOVQ   top+16(FP), SI
	MOVQ   bottom+24(FP), DX
	MOVQ   b+40(FP), CX
	MOVQ   m+48(FP), R9
	SETUP
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	MOVQ   windows+32(FP), R10
	EACH(SUMS(LOADWHOLE), SUMS(LOADLAST), NONE, R10)
	MOVQ   sums+0(FP), DI
	LANESUM(Y10, X10)
	VMOVSS X0, (DI)
	LANESUM(Y11, X11)
	VMOVSS X0, 4(DI)
	VZEROUPPER
	RET

// func normPoolGradAVX2(dtop, dbottom, dy, top, bottom *float32, windows, b int, m *NormMap, p, q, r float32)
TEXT ·normPoolGradAVX2(SB), NOSPLIT, $0-76
	MOVQ dy+16(FP), DI
	MOVQ top+24(FP), SI
	MOVQ bottom+32(FP), DX
	MOVQ b+48(FP), CX
	MOVQ m+56(FP), R9
	SETUP
	MOVQ dtop+0(FP), BX
	LEAQ (BX)(R8*1), R14
	MOVQ dbottom+8(FP), CX
	LEAQ (CX)(R8*1), R10
	EACH(GRADIENT(LOADWHOLE, STOREWHOLE), GRADIENT(LOADLAST, STORELAST), NEXTGRADIENT, windows+40(FP))
	VZEROUPPER
	RET
