//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "explog_amd64.h"

// Exponential and natural logarithm, 64 values an iteration, then 16, then the
// rest under K1. In Go:
//
//	func exp(x) {
//		keep := !(x < EXPMIN)                 // NaN is kept
//		x = x > 89 ? 89 : x
//		n := fma(x, 1/ln 2, 1.5*2^23) - 1.5*2^23
//		r := fma(-n, ln2lo, fma(-n, ln2hi, x))
//		return keep ? p(r) * 2^n : 0          // VSCALEFPS overflows to +Inf
//	}
//	func log(x) {
//		e, m := exponent and mantissa of x, 0.75 <= m < 1.5
//		// VGETEXPPS gives -Inf for 0 and +Inf for +Inf, VGETMANTPS 1 for both and
//		// NaN for negative numbers; both normalise denormals.
//		f := m - 1
//		w := fma(e, ln2lo, q(f)*f*(f*f))
//		w = fma(f*f, -1/2, w) + f
//		return fma(e, ln2hi, w)
//	}
//
// Registers of exp
//	DI dst   SI x   CX values left   AX scratch   K2 keep
//	Z0-Z3  x, r   Z4-Z7   n   Z8-Z11 p
//	Z16 EXPMIN  Z17 89  Z18 log2(e)  Z19 magic  Z20 Z21 ln 2 in parts
//	Z22-Z26 E6 to E2   Z27 one
//
// Registers of log
//	DI dst   SI x   CX values left   AX scratch   K2 mantissa below one
//	Z0-Z3  x, then f   Z4-Z7 e   Z8-Z11 q, then w   Z12-Z15 f*f
//	Z16 one  Z17 Z18 ln 2 in parts  Z19 -1/2  Z20-Z27 L7 to L0

// CONSTANT broadcasts the bits V.
#define CONSTANT(V, Z) \
	MOVL         $V, AX; \
	VPBROADCASTD AX, Z

#define MAP(OP) \
	CMPQ     CX, $64;             \
	JLT      vectors;             \
	loop:                         \
	LOAD4(SI, Z0, Z1, Z2, Z3);    \
	OP(Z0, Z4, Z8, Z12);          \
	OP(Z1, Z5, Z9, Z13);          \
	OP(Z2, Z6, Z10, Z14);         \
	OP(Z3, Z7, Z11, Z15);         \
	STORE4(Z8, Z9, Z10, Z11, DI); \
	ADDQ     $256, SI;            \
	ADDQ     $256, DI;            \
	SUBQ     $64, CX;             \
	CMPQ     CX, $64;             \
	JGE      loop;                \
	vectors:                      \
	CMPQ     CX, $16;             \
	JLT      rest;                \
	VMOVUPS  (SI), Z0;            \
	OP(Z0, Z4, Z8, Z12);          \
	VMOVUPS  Z8, (DI);            \
	ADDQ     $64, SI;             \
	ADDQ     $64, DI;             \
	SUBQ     $16, CX;             \
	JMP      vectors;             \
	rest:                   \
	TESTQ     CX, CX;       \
	JEQ       done;         \
	TAILMASK;               \
	VMOVUPS.Z (SI), K1, Z0; \
	OP(Z0, Z4, Z8, Z12);    \
	VMOVUPS   Z8, K1, (DI); \
	done:                   \
	VZEROUPPER;             \
	RET

// P = e^X. The minimum returns its second operand, X, for NaN.
#define EXP(X, N, P, T) \
	VCMPPS       $5, Z16, X, K2; \ // not less than EXPMIN
	VMINPS       X, Z17, X;      \
	VMOVAPS      Z19, N;         \
	VFMADD231PS  Z18, X, N;      \ // n = x/ln 2 + magic
	VSUBPS       Z19, N, N;      \
	VMOVAPS      Z23, P;         \
	VFNMADD231PS Z20, N, X;      \ // x -= n*ln2hi
	VFNMADD231PS Z21, N, X;      \
	VFMADD231PS  Z22, X, P;      \ // p = E5 + r*E6
	VFMADD213PS  Z24, X, P;      \
	VFMADD213PS  Z25, X, P;      \
	VFMADD213PS  Z26, X, P;      \ // p = E2 + r*p
	VFMADD213PS  Z27, X, P;      \ // p = 1 + r*p
	VFMADD213PS  Z27, X, P;      \
	VSCALEFPS.Z  N, P, K2, P

// func expAVX512(dst, x *float32, n int)
TEXT ·expAVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANT(EXPMIN, Z16)
	CONSTANT(EXPTOP, Z17)
	CONSTANT(LOG2E, Z18)
	CONSTANT(MAGIC, Z19)
	CONSTANT(LN2HI, Z20)
	CONSTANT(LN2LO, Z21)
	CONSTANT(E6, Z22)
	CONSTANT(E5, Z23)
	CONSTANT(E4, Z24)
	CONSTANT(E3, Z25)
	CONSTANT(E2, Z26)
	CONSTANT(ONE, Z27)
	MAP(EXP)

	// W = log(X). The exponent belongs to a mantissa in [1, 2): one more where the
	// mantissa in [0.75, 1.5) is below one.
#define LOG(X, E, W, F) \
	VGETEXPPS   X, E;           \
	VGETMANTPS  $11, X, X;      \ // NaN for negative numbers
	VCMPPS      $1, Z16, X, K2; \ // less than one
	VSUBPS      Z16, X, X;      \ // f
	VADDPS      Z16, E, K2, E;  \
	VMOVAPS     Z21, W;         \
	VMULPS      X, X, F;        \ // f*f
	VFMADD231PS Z20, X, W;      \ // q = L6 + f*L7
	VFMADD213PS Z22, X, W;      \
	VFMADD213PS Z23, X, W;      \
	VFMADD213PS Z24, X, W;      \
	VFMADD213PS Z25, X, W;      \
	VFMADD213PS Z26, X, W;      \
	VFMADD213PS Z27, X, W;      \ // q = L0 + f*q
	VMULPS      X, W, W;        \
	VMULPS      F, W, W;        \ // f*f*f*q
	VFMADD231PS Z18, E, W;      \ // + e*ln2lo
	VFMADD231PS Z19, F, W;      \ // - f*f/2
	VADDPS      X, W, W;        \ // + f
	VFMADD231PS Z17, E, W       // + e*ln2hi

// func logAVX512(dst, x *float32, n int)
TEXT ·logAVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANT(ONE, Z16)
	CONSTANT(LN2HI, Z17)
	CONSTANT(LN2LO, Z18)
	CONSTANT(HALFNEG, Z19)
	CONSTANT(L7, Z20)
	CONSTANT(L6, Z21)
	CONSTANT(L5, Z22)
	CONSTANT(L4, Z23)
	CONSTANT(L3, Z24)
	CONSTANT(L2, Z25)
	CONSTANT(L1, Z26)
	CONSTANT(L0, Z27)
	MAP(LOG)
