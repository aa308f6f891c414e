//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// Elementwise kernels, 64 values an iteration, then 16, then the rest under a
// mask. In Go, with op the function's own arithmetic:
//
//	for ; n >= 64; n -= 64 { dst[0:64] = op(x[0:64], y[0:64], dst[0:64]); advance all by 64 }
//	for ; n >= 16; n -= 16 { dst[0:16] = op(...); advance all by 16 }
//	dst[0:n] = op(x[0:n], y[0:n], dst[0:n]) // under K1
//
// All loads of an iteration come before its stores, so dst may be a source.
//
// Registers
//	DI dst   SI x   DX y   CX values left   AX scratch
//	Z0-Z3   x, then the result   Z4-Z7   y   Z8-Z11  dst (where it is read)
//	Z16-Z18 scalars              Z31     zero        K1 mask of the last vector

// MAP1: dst = OP(x). OP(x) replaces its argument.
#define MAP1(OP) \
	CMPQ     CX, $64;           \
	JLT      vectors;           \
	loop:                       \
	LOAD4(SI, Z0, Z1, Z2, Z3);  \
	OP(Z0);                     \
	OP(Z1);                     \
	OP(Z2);                     \
	OP(Z3);                     \
	STORE4(Z0, Z1, Z2, Z3, DI); \
	ADDQ     $256, SI;          \
	ADDQ     $256, DI;          \
	SUBQ     $64, CX;           \
	CMPQ     CX, $64;           \
	JGE      loop;              \
	vectors:                    \
	CMPQ     CX, $16;           \
	JLT      rest;              \
	VMOVUPS  (SI), Z0;          \
	OP(Z0);                     \
	VMOVUPS  Z0, (DI);          \
	ADDQ     $64, SI;           \
	ADDQ     $64, DI;           \
	SUBQ     $16, CX;           \
	JMP      vectors;           \
	rest:                   \
	TESTQ     CX, CX;       \
	JEQ       done;         \
	TAILMASK;               \
	VMOVUPS.Z (SI), K1, Z0; \
	OP(Z0);                 \
	VMOVUPS   Z0, K1, (DI); \
	done:                   \
	VZEROUPPER;             \
	RET

// MAP2: dst = OP(x, y). OP(x, y) replaces its first argument.
#define MAP2(OP) \
	CMPQ     CX, $64;           \
	JLT      vectors;           \
	loop:                       \
	LOAD4(SI, Z0, Z1, Z2, Z3);  \
	LOAD4(DX, Z4, Z5, Z6, Z7);  \
	OP(Z0, Z4);                 \
	OP(Z1, Z5);                 \
	OP(Z2, Z6);                 \
	OP(Z3, Z7);                 \
	STORE4(Z0, Z1, Z2, Z3, DI); \
	ADDQ     $256, SI;          \
	ADDQ     $256, DX;          \
	ADDQ     $256, DI;          \
	SUBQ     $64, CX;           \
	CMPQ     CX, $64;           \
	JGE      loop;              \
	vectors:                    \
	CMPQ     CX, $16;           \
	JLT      rest;              \
	VMOVUPS  (SI), Z0;          \
	VMOVUPS  (DX), Z4;          \
	OP(Z0, Z4);                 \
	VMOVUPS  Z0, (DI);          \
	ADDQ     $64, SI;           \
	ADDQ     $64, DX;           \
	ADDQ     $64, DI;           \
	SUBQ     $16, CX;           \
	JMP      vectors;           \
	rest:                   \
	TESTQ     CX, CX;       \
	JEQ       done;         \
	TAILMASK;               \
	VMOVUPS.Z (SI), K1, Z0; \
	VMOVUPS.Z (DX), K1, Z4; \
	OP(Z0, Z4);             \
	VMOVUPS   Z0, K1, (DI); \
	done:                   \
	VZEROUPPER;             \
	RET

// MAP3: dst = OP(x, y, dst). OP(x, y, d) replaces its first argument.
#define MAP3(OP) \
	CMPQ     CX, $64;            \
	JLT      vectors;            \
	loop:                        \
	LOAD4(SI, Z0, Z1, Z2, Z3);   \
	LOAD4(DX, Z4, Z5, Z6, Z7);   \
	LOAD4(DI, Z8, Z9, Z10, Z11); \
	OP(Z0, Z4, Z8);              \
	OP(Z1, Z5, Z9);              \
	OP(Z2, Z6, Z10);             \
	OP(Z3, Z7, Z11);             \
	STORE4(Z0, Z1, Z2, Z3, DI);  \
	ADDQ     $256, SI;           \
	ADDQ     $256, DX;           \
	ADDQ     $256, DI;           \
	SUBQ     $64, CX;            \
	CMPQ     CX, $64;            \
	JGE      loop;               \
	vectors:                     \
	CMPQ     CX, $16;            \
	JLT      rest;               \
	VMOVUPS  (SI), Z0;           \
	VMOVUPS  (DX), Z4;           \
	VMOVUPS  (DI), Z8;           \
	OP(Z0, Z4, Z8);              \
	VMOVUPS  Z0, (DI);           \
	ADDQ     $64, SI;            \
	ADDQ     $64, DX;            \
	ADDQ     $64, DI;            \
	SUBQ     $16, CX;            \
	JMP      vectors;            \
	rest:                   \
	TESTQ     CX, CX;       \
	JEQ       done;         \
	TAILMASK;               \
	VMOVUPS.Z (SI), K1, Z0; \
	VMOVUPS.Z (DX), K1, Z4; \
	VMOVUPS.Z (DI), K1, Z8; \
	OP(Z0, Z4, Z8);         \
	VMOVUPS   Z0, K1, (DI); \
	done:                   \
	VZEROUPPER;             \
	RET

#define ARGS2 \
	MOVQ dst+0(FP), DI; \
	MOVQ x+8(FP), SI;   \
	MOVQ y+16(FP), DX;  \
	MOVQ n+24(FP), CX

#define ADD(X, Y) VADDPS Y, X, X // X += Y
#define SUB(X, Y) VSUBPS Y, X, X // X -= Y
#define MUL(X, Y) VMULPS Y, X, X // X *= Y
#define MULADD(X, Y, D) VFMADD213PS D, Y, X // X = X*Y + D
#define AXPY(X, Y) VFMADD213PS Y, Z16, X // X = a*X + Y
#define AFFINE(X) VFMADD213PS Z17, Z16, X // X = scale*X + shift
// Y = b*Y + c; X = a*X + Y
#define COMBINE(X, Y) \
	VFMADD213PS Z18, Z17, Y; \
	VFMADD213PS Y, Z16, X

// X = 0 > X ? 0 : X; VMAXPS returns the second operand (X) for equal or NaN.
#define RELU(X) VMAXPS X, Z31, X

// K2 = Y > 0 (ordered, quiet); X = K2 ? X : 0
#define RELUGRAD(X, Y) \
	VCMPPS    $0x1e, Z31, Y, K2; \
	VMOVAPS.Z X, K2, X

// func addAVX512(dst, x, y *float32, n int)
TEXT ·addAVX512(SB), NOSPLIT, $0-32
	ARGS2
	MAP2(ADD)

// func subAVX512(dst, x, y *float32, n int)
TEXT ·subAVX512(SB), NOSPLIT, $0-32
	ARGS2
	MAP2(SUB)

// func mulAVX512(dst, x, y *float32, n int)
TEXT ·mulAVX512(SB), NOSPLIT, $0-32
	ARGS2
	MAP2(MUL)

// func mulAddAVX512(dst, x, y *float32, n int)
TEXT ·mulAddAVX512(SB), NOSPLIT, $0-32
	ARGS2
	MAP3(MULADD)

// func axpyAVX512(y, x *float32, n int, a float32)
TEXT ·axpyAVX512(SB), NOSPLIT, $0-28
	MOVQ         y+0(FP), DI
	MOVQ         DI, DX
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS a+24(FP), Z16
	MAP2(AXPY)

// func affineAVX512(dst, x *float32, n int, scale, shift float32)
TEXT ·affineAVX512(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Z16
	VBROADCASTSS shift+28(FP), Z17
	MAP1(AFFINE)

// func combineAVX512(dst, x, y *float32, n int, a, b, c float32)
TEXT ·combineAVX512(SB), NOSPLIT, $0-44
	ARGS2
	VBROADCASTSS a+32(FP), Z16
	VBROADCASTSS b+36(FP), Z17
	VBROADCASTSS c+40(FP), Z18
	MAP2(COMBINE)

// func reluAVX512(dst, x *float32, n int)
TEXT ·reluAVX512(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	VPXORD Z31, Z31, Z31
	MAP1(RELU)

// func reluGradAVX512(dx, dy, y *float32, n int)
TEXT ·reluGradAVX512(SB), NOSPLIT, $0-32
	MOVQ   dx+0(FP), DI
	MOVQ   dy+8(FP), SI
	MOVQ   y+16(FP), DX
	MOVQ   n+24(FP), CX
	VPXORD Z31, Z31, Z31
	MAP2(RELUGRAD)

// func fillAVX512(dst *float32, n int, v float32)
TEXT ·fillAVX512(SB), NOSPLIT, $0-20
	MOVQ         dst+0(FP), DI
	MOVQ         n+8(FP), CX
	VBROADCASTSS v+16(FP), Z0
	CMPQ         CX, $64
	JLT          vectors

loop:
	STORE4(Z0, Z0, Z0, Z0, DI)
	ADDQ $256, DI
	SUBQ $64, CX
	CMPQ CX, $64
	JGE  loop

vectors:
	CMPQ    CX, $16
	JLT     rest
	VMOVUPS Z0, (DI)
	ADDQ    $64, DI
	SUBQ    $16, CX
	JMP     vectors

rest:
	TESTQ   CX, CX
	JEQ     done
	TAILMASK
	VMOVUPS Z0, K1, (DI)

done:
	VZEROUPPER
	RET
