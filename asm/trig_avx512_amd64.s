//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "trig_amd64.h"

// Sine, and sine with cosine, of |x| < 65536. In Go:
//
//	func sin(dst, x []float32) (done int) {
//		for ; more; next block of 64, at the end of 16 and under K1 {
//			if any |x| >= 65536 in the block { return done } // nothing of it is stored
//			y := fma(x, 1/pi, 1.5*2^23)      // low bits: k = round(x/pi)
//			k := y - 1.5*2^23
//			r := fma(-k, pi3, fma(-k, pi2, fma(-k, pi1, x)))
//			s := r*r
//			dst = fma(s*r, q(s), r) ^ (lowest bit of y)<<31 // sin(k*pi+r) = (-1)^k sin(r)
//		}
//	}
//
// sinAffine and sinCosAffine take scale*x + shift for x; the latter multiplies
// the cosine by scale. sinCos reduces by pi/2 instead, computes both polynomials and swaps them for
// odd k. A NaN passes through the arithmetic.
//
// Registers of sin
//	DI dst   SI x   CX values left   AX scratch   BX values at the start
//	Z0-Z3   x, r, result   Z4-Z7   y   Z8-Z11  k, then q   Z12-Z15 s = r*r
//	Z16 limit  Z17 magic  Z18 1/pi  Z19-Z21 pi1 pi2 pi3  Z22-Z25 S9 S7 S5 S3
//	Z26 scale  Z27 shift  Z31 zero
//
// Registers of sinCos and cos, a block of 32
//	DI s   DX c   SI x   CX values left   AX scratch   BX values at the start
//	Z0 Z1 x, r, sine   Z2 Z3 y   Z4 Z5 k, then s = r*r   Z6 Z7 cosine   Z8 Z9 scratch  Z10 zero
//	Z11 scale  Z12 shift
//	Z16 limit  Z17 magic  Z18 2/pi  Z19-Z21 pi/2 in parts  Z22-Z24 T7 T5 T3
//	Z25-Z27 C8 C6 C4  Z28 -1/2  Z29 one  Z30 integer one  Z31 sign bit

// CONSTANT broadcasts the bits V.
#define CONSTANT(V, Z) \
	MOVL         $V, AX; \
	VPBROADCASTD AX, Z

// K2 = lanes of X with |x| >= limit
#define OUTSIDE(X, T) \
	VRANGEPS $11, X, X, T;  \
	VCMPPS   $5, Z16, T, K2

// y, k and r for the arguments X. Z19-Z21 hold the parts.
#define REDUCE(X, Y, K) \
	VMOVAPS      Z17, Y;    \
	VFMADD231PS  Z18, X, Y; \ // y = x/pi + magic
	VSUBPS       Z17, Y, K; \ // k
	VFNMADD231PS Z19, K, X; \ // x -= k*pi1
	VFNMADD231PS Z20, K, X; \
	VFNMADD231PS Z21, K, X

// X = sin of the whole argument; Q and S are scratch.
#define SINE(X, Y, Q, S) \
	VMULPS      X, X, S;   \
	VMOVAPS     Z23, Q;    \
	VFMADD231PS Z22, S, Q; \ // q = S7 + s*S9
	VPSLLD      $31, Y, Y; \ // parity of k in the sign bit
	VFMADD213PS Z24, S, Q; \ // q = S5 + s*q
	VFMADD213PS Z25, S, Q; \ // q = S3 + s*q
	VFMADD213PS Z31, X, S; \ // t = s*r + 0: never -0
	VFMADD231PS Q, S, X;   \ // r += t*q
	VPXORD      Y, X, X

// STREAM4 stores past the caches.
#define STREAM4(A, B, C, D, P) \
	VMOVNTPS A, (P);    \
	VMOVNTPS B, 64(P);  \
	VMOVNTPS C, 128(P); \
	VMOVNTPS D, 192(P)

#define SINCONSTANTS \
	CONSTANT(LIMIT, Z16); \
	CONSTANT(MAGIC, Z17); \
	CONSTANT(INVPI, Z18); \
	CONSTANT(PI1, Z19);   \
	CONSTANT(PI2, Z20);   \
	CONSTANT(PI3, Z21);   \
	CONSTANT(S9, Z22);    \
	CONSTANT(S7, Z23);    \
	CONSTANT(S5, Z24);    \
	CONSTANT(S3, Z25);    \
	VPXORD Z31, Z31, Z31

// The argument of the functions is x as it is, or scale*x + shift. The latter
// stand in Z26 and Z27 for sin, in Z11 and Z12 for sinCos.
#define PLAIN(X)

#define SINAFFINE(X) VFMADD213PS Z27, Z26, X

#define SINCOSAFFINE(X) VFMADD213PS Z12, Z11, X

// STORE stores the four vectors of a block.
#define SIN(ARGUMENT, STORE) \
	CMPQ     CX, $64;            \
	JLT      vectors;            \
	loop:                        \
	LOAD4(SI, Z0, Z1, Z2, Z3);   \
	ARGUMENT(Z0);                \
	ARGUMENT(Z1);                \
	ARGUMENT(Z2);                \
	ARGUMENT(Z3);                \
	VRANGEPS $11, Z1, Z0, Z12;   \ // the larger magnitude; a NaN yields to a number
	VRANGEPS $11, Z3, Z2, Z13;   \
	VRANGEPS $11, Z13, Z12, Z12; \
	VCMPPS   $5, Z16, Z12, K2;   \ // not below the limit, or NaN
	KORTESTW K2, K2;             \
	JNE      done;               \
	REDUCE(Z0, Z4, Z8);          \
	REDUCE(Z1, Z5, Z9);          \
	REDUCE(Z2, Z6, Z10);         \
	REDUCE(Z3, Z7, Z11);         \
	SINE(Z0, Z4, Z8, Z12);       \
	SINE(Z1, Z5, Z9, Z13);       \
	SINE(Z2, Z6, Z10, Z14);      \
	SINE(Z3, Z7, Z11, Z15);      \
	STORE(Z0, Z1, Z2, Z3, DI);   \
	ADDQ     $256, SI;           \
	ADDQ     $256, DI;           \
	SUBQ     $64, CX;            \
	CMPQ     CX, $64;            \
	JGE      loop;               \
	vectors:                     \
	CMPQ     CX, $16;            \
	JLT      rest;               \
	VMOVUPS  (SI), Z0;           \
	ARGUMENT(Z0);                \
	OUTSIDE(Z0, Z12);            \
	KORTESTW K2, K2;             \
	JNE      done;               \
	REDUCE(Z0, Z4, Z8);          \
	SINE(Z0, Z4, Z8, Z12);       \
	VMOVUPS  Z0, (DI);           \
	ADDQ     $64, SI;            \
	ADDQ     $64, DI;            \
	SUBQ     $16, CX;            \
	JMP      vectors;            \
	rest:                   \
	TESTQ     CX, CX;       \
	JEQ       done;         \
	TAILMASK;               \
	VMOVUPS.Z (SI), K1, Z0; \
	ARGUMENT(Z0);           \
	OUTSIDE(Z0, Z12);       \
	KANDW     K1, K2, K2;   \
	KORTESTW  K2, K2;       \
	JNE       done;         \
	REDUCE(Z0, Z4, Z8);     \
	SINE(Z0, Z4, Z8, Z12);  \
	VMOVUPS   Z0, K1, (DI); \
	XORL      CX, CX;       \
	done:                   \
	SUBQ      CX, BX

// func sinAVX512(dst, x *float32, n int) int
TEXT ·sinAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ CX, BX
	SINCONSTANTS
	SIN(PLAIN, STORE4)
	MOVQ BX, ret+24(FP)
	VZEROUPPER
	RET

// func sinStreamAVX512(dst, x *float32, n int) int
TEXT ·sinStreamAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ CX, BX
	SINCONSTANTS
	SIN(PLAIN, STREAM4)
	MOVQ BX, ret+24(FP)
	VZEROUPPER
	RET

// func sinAffineAVX512(dst, x *float32, n int, scale, shift float32) int
TEXT ·sinAffineAVX512(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Z26
	VBROADCASTSS shift+28(FP), Z27
	MOVQ         CX, BX
	SINCONSTANTS
	SIN(SINAFFINE, STORE4)
	MOVQ         BX, ret+32(FP)
	VZEROUPPER
	RET

// X, C = sine and cosine of the whole argument. S, T and K3 are scratch.
#define SINECOSINE(X, Y, S, C, T) \
	VMULPS      X, X, S;          \
	VMOVAPS     Z23, T;           \
	VFMADD231PS Z22, S, T;        \ // T5 + s*T7
	VMOVAPS     Z26, C;           \
	VFMADD231PS Z25, S, C;        \ // C6 + s*C8
	VFMADD213PS Z24, S, T;        \ // T3 + s*t
	VFMADD213PS Z27, S, C;        \ // C4 + s*c
	VFMADD213PS Z28, S, C;        \ // -1/2 + s*c
	VPTESTMD    Z30, Y, K3;       \ // odd k: the functions change places
	VFMADD213PS Z29, S, C;        \ // cos(r) = 1 + s*c
	VFMADD213PS Z10, X, S;        \ // s*r + 0: never -0
	VFMADD231PS T, S, X;          \ // sin(r) = r + s*r*t
	VPADDD      Z30, Y, S;        \ // k+1
	VPSLLD      $30, Y, Y;        \ // bit 1 of k: the sign of the sine
	VPSLLD      $30, S, S;        \ // bit 1 of k+1: the sign of the cosine
	VMOVAPS     X, T;             \
	VMOVAPS     C, K3, X;         \
	VMOVAPS     T, K3, C;         \
	VPTERNLOGD  $0x78, Z31, Y, X; \ // x ^ (y & sign bit)
	VPTERNLOGD  $0x78, Z31, S, C

#define SINCOSCONSTANTS \
	VPXORD Z10, Z10, Z10;     \
	CONSTANT(LIMIT, Z16);     \
	CONSTANT(MAGIC, Z17);     \
	CONSTANT(INVPIO2, Z18);   \
	CONSTANT(PIO2A, Z19);     \
	CONSTANT(PIO2B, Z20);     \
	CONSTANT(PIO2C, Z21);     \
	CONSTANT(T7, Z22);        \
	CONSTANT(T5, Z23);        \
	CONSTANT(T3, Z24);        \
	CONSTANT(C8, Z25);        \
	CONSTANT(C6, Z26);        \
	CONSTANT(C4, Z27);        \
	CONSTANT(HALFNEG, Z28);   \
	CONSTANT(ONE, Z29);       \
	CONSTANT(1, Z30);         \
	CONSTANT(0x80000000, Z31)

// SLOPE finishes a cosine.
#define SINCOS(ARGUMENT, SLOPE) \
	CMPQ     CX, $32;               \
	JLT      vectors;               \
	loop:                           \
	VMOVUPS  (SI), Z0;              \
	VMOVUPS  64(SI), Z1;            \
	ARGUMENT(Z0);                   \
	ARGUMENT(Z1);                   \
	VRANGEPS $11, Z1, Z0, Z4;       \
	VCMPPS   $5, Z16, Z4, K2;       \
	KORTESTW K2, K2;                \
	JNE      done;                  \
	REDUCE(Z0, Z2, Z4);             \
	REDUCE(Z1, Z3, Z5);             \
	SINECOSINE(Z0, Z2, Z4, Z6, Z8); \
	SINECOSINE(Z1, Z3, Z5, Z7, Z9); \
	SLOPE(Z6);                      \
	SLOPE(Z7);                      \
	VMOVUPS  Z0, (DI);              \
	VMOVUPS  Z1, 64(DI);            \
	VMOVUPS  Z6, (DX);              \
	VMOVUPS  Z7, 64(DX);            \
	ADDQ     $128, SI;              \
	ADDQ     $128, DI;              \
	ADDQ     $128, DX;              \
	SUBQ     $32, CX;               \
	CMPQ     CX, $32;               \
	JGE      loop;                  \
	vectors:                        \
	CMPQ     CX, $16;               \
	JLT      rest;                  \
	VMOVUPS  (SI), Z0;              \
	ARGUMENT(Z0);                   \
	OUTSIDE(Z0, Z4);                \
	KORTESTW K2, K2;                \
	JNE      done;                  \
	REDUCE(Z0, Z2, Z4);             \
	SINECOSINE(Z0, Z2, Z4, Z6, Z8); \
	SLOPE(Z6);                      \
	VMOVUPS  Z0, (DI);              \
	VMOVUPS  Z6, (DX);              \
	ADDQ     $64, SI;               \
	ADDQ     $64, DI;               \
	ADDQ     $64, DX;               \
	SUBQ     $16, CX;               \
	JMP      vectors;               \
	rest:                           \
	TESTQ     CX, CX;               \
	JEQ       done;                 \
	TAILMASK;                       \
	VMOVUPS.Z (SI), K1, Z0;         \
	ARGUMENT(Z0);                   \
	OUTSIDE(Z0, Z4);                \
	KANDW     K1, K2, K2;           \
	KORTESTW  K2, K2;               \
	JNE       done;                 \
	REDUCE(Z0, Z2, Z4);             \
	SINECOSINE(Z0, Z2, Z4, Z6, Z8); \
	SLOPE(Z6);                      \
	VMOVUPS   Z0, K1, (DI);         \
	VMOVUPS   Z6, K1, (DX);         \
	XORL      CX, CX;               \
	done:                           \
	SUBQ      CX, BX

#define SCALE(C) VMULPS Z11, C, C

// func sinCosAVX512(s, c, x *float32, n int) int
TEXT ·sinCosAVX512(SB), NOSPLIT, $0-40
	MOVQ s+0(FP), DI
	MOVQ c+8(FP), DX
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ CX, BX
	SINCOSCONSTANTS
	SINCOS(PLAIN, PLAIN)
	MOVQ BX, ret+32(FP)
	VZEROUPPER
	RET

// func sinCosAffineAVX512(s, c, x *float32, n int, scale, shift float32) int
TEXT ·sinCosAffineAVX512(SB), NOSPLIT, $0-48
	MOVQ         s+0(FP), DI
	MOVQ         c+8(FP), DX
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
	VBROADCASTSS scale+32(FP), Z11
	VBROADCASTSS shift+36(FP), Z12
	MOVQ         CX, BX
	SINCOSCONSTANTS
	SINCOS(SINCOSAFFINE, SCALE)
	MOVQ         BX, ret+40(FP)
	VZEROUPPER
	RET

// func cosAVX512(dst, x *float32, n int) int
TEXT ·cosAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ CX, BX
	SINCOSCONSTANTS
	CMPQ CX, $32
	JLT  vectors

loop:
	VMOVUPS  (SI), Z0
	VMOVUPS  64(SI), Z1
	VRANGEPS $11, Z1, Z0, Z4
	VCMPPS   $5, Z16, Z4, K2
	KORTESTW K2, K2
	JNE      done
	REDUCE(Z0, Z2, Z4)
	REDUCE(Z1, Z3, Z5)
	SINECOSINE(Z0, Z2, Z4, Z6, Z8)
	SINECOSINE(Z1, Z3, Z5, Z7, Z9)
	VMOVUPS  Z6, (DI)
	VMOVUPS  Z7, 64(DI)
	ADDQ     $128, SI
	ADDQ     $128, DI
	SUBQ     $32, CX
	CMPQ     CX, $32
	JGE      loop

vectors:
	CMPQ     CX, $16
	JLT      rest
	VMOVUPS  (SI), Z0
	OUTSIDE(Z0, Z4)
	KORTESTW K2, K2
	JNE      done
	REDUCE(Z0, Z2, Z4)
	SINECOSINE(Z0, Z2, Z4, Z6, Z8)
	VMOVUPS  Z6, (DI)
	ADDQ     $64, SI
	ADDQ     $64, DI
	SUBQ     $16, CX
	JMP      vectors

rest:
	TESTQ     CX, CX
	JEQ       done
	TAILMASK
	VMOVUPS.Z (SI), K1, Z0
	OUTSIDE(Z0, Z4)
	KORTESTW  K2, K2
	JNE       done
	REDUCE(Z0, Z2, Z4)
	SINECOSINE(Z0, Z2, Z4, Z6, Z8)
	VMOVUPS   Z6, K1, (DI)
	XORL      CX, CX

done:
	SUBQ CX, BX
	MOVQ BX, ret+24(FP)
	VZEROUPPER
	RET
