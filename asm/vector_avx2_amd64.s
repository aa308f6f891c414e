//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// Elementwise kernels, 32 values an iteration, then 8, then the rest under a
// mask. In Go, with op the function's own arithmetic:
//
//	for ; n >= 32; n -= 32 { dst[0:32] = op(x[0:32], y[0:32], dst[0:32]); advance all by 32 }
//	for ; n >= 8; n -= 8 { dst[0:8] = op(...); advance all by 8 }
//	dst[0:n] = op(x[0:n], y[0:n], dst[0:n]) // under Y15
//
// All loads of an iteration come before its stores, so dst may be a source.
//
// Registers
//	DI dst   SI x   DX y   CX values left   AX scratch
//	Y0-Y3   x, then the result   Y4-Y7   y   Y8-Y11  dst (where it is read)
//	Y12-Y14 scalars              Y12     zero        Y15 mask of the last vector

// MAP1: dst = OP(x). OP(x) replaces its argument.
#define MAP1(OP) \
	CMPQ     CX, $32;           \
	JLT      vectors;           \
	loop:                       \
	LOAD4(SI, Y0, Y1, Y2, Y3);  \
	OP(Y0);                     \
	OP(Y1);                     \
	OP(Y2);                     \
	OP(Y3);                     \
	STORE4(Y0, Y1, Y2, Y3, DI); \
	ADDQ     $128, SI;          \
	ADDQ     $128, DI;          \
	SUBQ     $32, CX;           \
	CMPQ     CX, $32;           \
	JGE      loop;              \
	vectors:                    \
	CMPQ     CX, $8;            \
	JLT      rest;              \
	VMOVUPS  (SI), Y0;          \
	OP(Y0);                     \
	VMOVUPS  Y0, (DI);          \
	ADDQ     $32, SI;           \
	ADDQ     $32, DI;           \
	SUBQ     $8, CX;            \
	JMP      vectors;           \
	rest:                     \
	TESTQ      CX, CX;        \
	JEQ        done;          \
	TAILMASK;                 \
	VMASKMOVPS (SI), Y15, Y0; \
	OP(Y0);                   \
	VMASKMOVPS Y0, Y15, (DI); \
	done:                     \
	VZEROUPPER;               \
	RET

// MAP2: dst = OP(x, y). OP(x, y) replaces its first argument.
#define MAP2(OP) \
	CMPQ     CX, $32;           \
	JLT      vectors;           \
	loop:                       \
	LOAD4(SI, Y0, Y1, Y2, Y3);  \
	LOAD4(DX, Y4, Y5, Y6, Y7);  \
	OP(Y0, Y4);                 \
	OP(Y1, Y5);                 \
	OP(Y2, Y6);                 \
	OP(Y3, Y7);                 \
	STORE4(Y0, Y1, Y2, Y3, DI); \
	ADDQ     $128, SI;          \
	ADDQ     $128, DX;          \
	ADDQ     $128, DI;          \
	SUBQ     $32, CX;           \
	CMPQ     CX, $32;           \
	JGE      loop;              \
	vectors:                    \
	CMPQ     CX, $8;            \
	JLT      rest;              \
	VMOVUPS  (SI), Y0;          \
	VMOVUPS  (DX), Y4;          \
	OP(Y0, Y4);                 \
	VMOVUPS  Y0, (DI);          \
	ADDQ     $32, SI;           \
	ADDQ     $32, DX;           \
	ADDQ     $32, DI;           \
	SUBQ     $8, CX;            \
	JMP      vectors;           \
	rest:                     \
	TESTQ      CX, CX;        \
	JEQ        done;          \
	TAILMASK;                 \
	VMASKMOVPS (SI), Y15, Y0; \
	VMASKMOVPS (DX), Y15, Y4; \
	OP(Y0, Y4);               \
	VMASKMOVPS Y0, Y15, (DI); \
	done:                     \
	VZEROUPPER;               \
	RET

// MAP3: dst = OP(x, y, dst). OP(x, y, d) replaces its first argument.
#define MAP3(OP) \
	CMPQ     CX, $32;            \
	JLT      vectors;            \
	loop:                        \
	LOAD4(SI, Y0, Y1, Y2, Y3);   \
	LOAD4(DX, Y4, Y5, Y6, Y7);   \
	LOAD4(DI, Y8, Y9, Y10, Y11); \
	OP(Y0, Y4, Y8);              \
	OP(Y1, Y5, Y9);              \
	OP(Y2, Y6, Y10);             \
	OP(Y3, Y7, Y11);             \
	STORE4(Y0, Y1, Y2, Y3, DI);  \
	ADDQ     $128, SI;           \
	ADDQ     $128, DX;           \
	ADDQ     $128, DI;           \
	SUBQ     $32, CX;            \
	CMPQ     CX, $32;            \
	JGE      loop;               \
	vectors:                     \
	CMPQ     CX, $8;             \
	JLT      rest;               \
	VMOVUPS  (SI), Y0;           \
	VMOVUPS  (DX), Y4;           \
	VMOVUPS  (DI), Y8;           \
	OP(Y0, Y4, Y8);              \
	VMOVUPS  Y0, (DI);           \
	ADDQ     $32, SI;            \
	ADDQ     $32, DX;            \
	ADDQ     $32, DI;            \
	SUBQ     $8, CX;             \
	JMP      vectors;            \
	rest:                     \
	TESTQ      CX, CX;        \
	JEQ        done;          \
	TAILMASK;                 \
	VMASKMOVPS (SI), Y15, Y0; \
	VMASKMOVPS (DX), Y15, Y4; \
	VMASKMOVPS (DI), Y15, Y8; \
	OP(Y0, Y4, Y8);           \
	VMASKMOVPS Y0, Y15, (DI); \
	done:                     \
	VZEROUPPER;               \
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
#define AXPY(X, Y) VFMADD213PS Y, Y12, X // X = a*X + Y
#define AFFINE(X) VFMADD213PS Y13, Y12, X // X = scale*X + shift
// Y = b*Y + c; X = a*X + Y
#define COMBINE(X, Y) \
	VFMADD213PS Y14, Y13, Y; \
	VFMADD213PS Y, Y12, X

// X = 0 > X ? 0 : X; VMAXPS returns the second operand (X) for equal or NaN.
#define RELU(X) VMAXPS X, Y12, X

// Y = Y > 0 (ordered, quiet); X = X & Y
#define RELUGRAD(X, Y) \
	VCMPPS $0x1e, Y12, Y, Y; \
	VANDPS Y, X, X

// func addAVX2(dst, x, y *float32, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-32
	ARGS2
	MAP2(ADD)

// func subAVX2(dst, x, y *float32, n int)
TEXT ·subAVX2(SB), NOSPLIT, $0-32
	ARGS2
	MAP2(SUB)

// func mulAVX2(dst, x, y *float32, n int)
TEXT ·mulAVX2(SB), NOSPLIT, $0-32
	ARGS2
	MAP2(MUL)

// func mulAddAVX2(dst, x, y *float32, n int)
TEXT ·mulAddAVX2(SB), NOSPLIT, $0-32
	ARGS2
	MAP3(MULADD)

// func axpyAVX2(y, x *float32, n int, a float32)
TEXT ·axpyAVX2(SB), NOSPLIT, $0-28
	MOVQ         y+0(FP), DI
	MOVQ         DI, DX
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS a+24(FP), Y12
	MAP2(AXPY)

// func affineAVX2(dst, x *float32, n int, scale, shift float32)
TEXT ·affineAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y12
	VBROADCASTSS shift+28(FP), Y13
	MAP1(AFFINE)

// func combineAVX2(dst, x, y *float32, n int, a, b, c float32)
TEXT ·combineAVX2(SB), NOSPLIT, $0-44
	ARGS2
	VBROADCASTSS a+32(FP), Y12
	VBROADCASTSS b+36(FP), Y13
	VBROADCASTSS c+40(FP), Y14
	MAP2(COMBINE)

// func reluAVX2(dst, x *float32, n int)
TEXT ·reluAVX2(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	VXORPS Y12, Y12, Y12
	MAP1(RELU)

// func reluGradAVX2(dx, dy, y *float32, n int)
TEXT ·reluGradAVX2(SB), NOSPLIT, $0-32
	MOVQ   dx+0(FP), DI
	MOVQ   dy+8(FP), SI
	MOVQ   y+16(FP), DX
	MOVQ   n+24(FP), CX
	VXORPS Y12, Y12, Y12
	MAP2(RELUGRAD)

// func fillAVX2(dst *float32, n int, v float32)
TEXT ·fillAVX2(SB), NOSPLIT, $0-20
	MOVQ         dst+0(FP), DI
	MOVQ         n+8(FP), CX
	VBROADCASTSS v+16(FP), Y0
	CMPQ         CX, $32
	JLT          vectors

loop:
	STORE4(Y0, Y0, Y0, Y0, DI)
	ADDQ $128, DI
	SUBQ $32, CX
	CMPQ CX, $32
	JGE  loop

vectors:
	CMPQ    CX, $8
	JLT     rest
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	SUBQ    $8, CX
	JMP     vectors

rest:
	TESTQ      CX, CX
	JEQ        done
	TAILMASK
	VMASKMOVPS Y0, Y15, (DI)

done:
	VZEROUPPER
	RET
