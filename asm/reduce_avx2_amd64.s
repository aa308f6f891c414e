//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// Reductions of a vector. Eight accumulators of 8 take turns; whole vectors
// that are left go to the first, the rest goes there under Y15. Then
// ((0+1)+(2+3))+((4+5)+(6+7)), and halves are added to halves until one value is
// left. In Go:
//
//	var acc [8][8]float32
//	for ; n >= 64; n -= 64 { for v := range 8 { acc[v] += op(x[8*v:]) }; advance }
//	for ; n >= 8; n -= 8 { acc[0] += op(x); advance }
//	acc[0][:n] += op(x[:n])
//
// Registers
//	SI x   DX y   CX values left   AX scratch
//	Y0-Y7 accumulators   Y8-Y13 x   Y14 mean   Y15 the last lanes

#define ZERO8 \
	VXORPS Y0, Y0, Y0; \
	VXORPS Y1, Y1, Y1; \
	VXORPS Y2, Y2, Y2; \
	VXORPS Y3, Y3, Y3; \
	VXORPS Y4, Y4, Y4; \
	VXORPS Y5, Y5, Y5; \
	VXORPS Y6, Y6, Y6; \
	VXORPS Y7, Y7, Y7

// X0 = the sum of all lanes of Y0-Y7.
#define TOTAL \
	VADDPS       Y1, Y0, Y0; \
	VADDPS       Y3, Y2, Y2; \
	VADDPS       Y5, Y4, Y4; \
	VADDPS       Y7, Y6, Y6; \
	VADDPS       Y2, Y0, Y0; \
	VADDPS       Y6, Y4, Y4; \
	VADDPS       Y4, Y0, Y0; \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS       X1, X0, X0; \
	VMOVHLPS     X0, X0, X1; \
	VADDPS       X1, X0, X0; \
	VMOVSHDUP    X0, X1;     \
	VADDSS       X1, X0, X0

// STEP(offset, temporary, accumulator) adds one vector at the offset; LAST adds
// the lanes of Y15 to Y0; ADVANCE moves the pointers.
#define REDUCE(STEP, LAST, ADVANCE) \
	ZERO8;              \
	CMPQ     CX, $64;   \
	JLT      vectors;   \
	loop:               \
	STEP(0, Y8, Y0);    \
	STEP(32, Y9, Y1);   \
	STEP(64, Y10, Y2);  \
	STEP(96, Y11, Y3);  \
	STEP(128, Y12, Y4); \
	STEP(160, Y13, Y5); \
	STEP(192, Y8, Y6);  \
	STEP(224, Y9, Y7);  \
	ADVANCE(256);       \
	SUBQ     $64, CX;   \
	CMPQ     CX, $64;   \
	JGE      loop;      \
	vectors:            \
	CMPQ     CX, $8;    \
	JLT      rest;      \
	STEP(0, Y8, Y0);    \
	ADVANCE(32);        \
	SUBQ     $8, CX;    \
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
#define SUMLAST \
	VMASKMOVPS (SI), Y15, Y8; \
	VADDPS     Y8, Y0, Y0

#define DOTSTEP(O, T, A) \
	VMOVUPS     O(SI), T;   \
	VFMADD231PS O(DX), T, A

#define DOTLAST \
	VMASKMOVPS  (SI), Y15, Y8; \
	VMASKMOVPS  (DX), Y15, Y9; \
	VFMADD231PS Y9, Y8, Y0

#define SQUARESTEP(O, T, A) \
	VMOVUPS     O(SI), T;  \
	VSUBPS      Y14, T, T; \
	VFMADD231PS T, T, A

#define SQUARELAST \
	VMASKMOVPS  (SI), Y15, Y8; \
	VSUBPS      Y14, Y8, Y8;   \
	VANDPS      Y15, Y8, Y8;   \
	VFMADD231PS Y8, Y8, Y0

// func sumAVX2(x *float32, n int) float32
TEXT ·sumAVX2(SB), NOSPLIT, $0-20
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	REDUCE(SUMSTEP, SUMLAST, NEXT1)
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

// func dotAVX2(x, y *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ   x+0(FP), SI
	MOVQ   y+8(FP), DX
	MOVQ   n+16(FP), CX
	REDUCE(DOTSTEP, DOTLAST, NEXT2)
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func sumSquaresAVX2(x *float32, n int, mean float32) float32
TEXT ·sumSquaresAVX2(SB), NOSPLIT, $0-28
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VBROADCASTSS mean+16(FP), Y14
	REDUCE(SQUARESTEP, SQUARELAST, NEXT1)
	VMOVSS       X0, ret+24(FP)
	VZEROUPPER
	RET

// The column sums of a strip of x: 64 columns, or up to 8 under Y15:
//
//	for r := range rows { for c := range n { part[c] += x[r*stride+c] } }
//
// A narrow strip has accumulators of its own for even and odd rows, which are
// added at the end.
//
// Registers
//	DI part   SI x   CX rows left   R8 row pitch in bytes   BX columns   AX scratch
//	Y0-Y7 sums (narrow: Y0 even rows, Y4 odd rows)   Y8, Y9 x (narrow)   Y15 the columns

// COLUMNS sets BX to the number of columns and Y15 to its lanes, none for 64.
#define COLUMNS(N) \
	MOVQ N, BX;   \
	MOVQ BX, CX;  \
	ANDQ $15, CX; \
	TAILMASK

// func colSumAVX2(part, x *float32, rows, stride, n int)
TEXT ·colSumAVX2(SB), NOSPLIT, $0-40
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
	VMASKMOVPS (SI), Y15, Y8
	VADDPS     Y8, Y0, Y0
	ADDQ       R8, SI
	DECQ       CX
	JEQ        narrowdone
	VMASKMOVPS (SI), Y15, Y9
	VADDPS     Y9, Y4, Y4
	ADDQ       R8, SI
	DECQ       CX
	JNE        narrow

narrowdone:
	VADDPS     Y4, Y0, Y0
	VMASKMOVPS Y0, Y15, (DI)
	VZEROUPPER
	RET

wide:
	VADDPS (SI), Y0, Y0
	VADDPS 32(SI), Y1, Y1
	VADDPS 64(SI), Y2, Y2
	VADDPS 96(SI), Y3, Y3
	VADDPS 128(SI), Y4, Y4
	VADDPS 160(SI), Y5, Y5
	VADDPS 192(SI), Y6, Y6
	VADDPS 224(SI), Y7, Y7
	ADDQ   R8, SI
	DECQ   CX
	JNE    wide
	STORE4(Y0, Y1, Y2, Y3, DI)
	ADDQ   $128, DI
	STORE4(Y4, Y5, Y6, Y7, DI)
	VZEROUPPER
	RET

// The column map of a strip: 64 columns, in two halves, or up to 8 under Y15. The
// vectors stay in registers over the rows:
//
//	for r := range rows { for j := range n { dst[r,j] = fma(scale[j], x[r,j], shift[j]) } }
//
// Registers
//	DI dst   SI x   R9 scale   R10 shift   CX rows left
//	R8 row pitch in bytes   AX scratch   BX columns left
//	Y0-Y3 x   Y4-Y7 scale   Y8-Y11 shift   Y15 the columns

// func colAffineAVX2(dst, x, scale, shift *float32, rows, stride, n int)
TEXT ·colAffineAVX2(SB), NOSPLIT, $0-56
	MOVQ       dst+0(FP), DI
	MOVQ       x+8(FP), SI
	MOVQ       scale+16(FP), R9
	MOVQ       shift+24(FP), R10
	COLUMNS(n+48(FP))
	MOVQ       rows+32(FP), CX
	MOVQ       stride+40(FP), R8
	SHLQ       $2, R8
	CMPQ       BX, $64
	JEQ        wide
	VMASKMOVPS (R9), Y15, Y4
	VMASKMOVPS (R10), Y15, Y8

narrow:
	VMASKMOVPS  (SI), Y15, Y0
	VFMADD213PS Y8, Y4, Y0
	VMASKMOVPS  Y0, Y15, (DI)
	ADDQ        R8, SI
	ADDQ        R8, DI
	DECQ        CX
	JNE         narrow
	VZEROUPPER
	RET

wide:
	LOAD4(R9, Y4, Y5, Y6, Y7)
	LOAD4(R10, Y8, Y9, Y10, Y11)

wideloop:
	LOAD4(SI, Y0, Y1, Y2, Y3)
	VFMADD213PS Y8, Y4, Y0
	VFMADD213PS Y9, Y5, Y1
	VFMADD213PS Y10, Y6, Y2
	VFMADD213PS Y11, Y7, Y3
	STORE4(Y0, Y1, Y2, Y3, DI)
	ADDQ        R8, SI
	ADDQ        R8, DI
	DECQ        CX
	JNE         wideloop
	SUBQ        $32, BX
	JEQ         done
	MOVQ        dst+0(FP), DI
	MOVQ        x+8(FP), SI
	MOVQ        rows+32(FP), CX
	ADDQ        $128, DI
	ADDQ        $128, SI
	ADDQ        $128, R9
	ADDQ        $128, R10
	JMP         wide

done:
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
//	DI max   DX index   SI x   CX rows left   R8 row pitch in bytes   BX columns left
//	Y0-Y3 max   Y4-Y7 index   Y8 Y9 x   Y10-Y13 scratch   Y14 row   Y15 the columns

DATA reduceOne<>+0(SB)/4, $0x3f800000
DATA reduceOne<>+4(SB)/4, $0x3f800000
DATA reduceOne<>+8(SB)/4, $0x3f800000
DATA reduceOne<>+12(SB)/4, $0x3f800000
DATA reduceOne<>+16(SB)/4, $0x3f800000
DATA reduceOne<>+20(SB)/4, $0x3f800000
DATA reduceOne<>+24(SB)/4, $0x3f800000
DATA reduceOne<>+28(SB)/4, $0x3f800000
GLOBL reduceOne<>(SB), RODATA|NOPTR, $32

// X replaces M, and the row I, where M is a number and X is larger or NaN.
#define TAKE(X, M, I, T, U) \
	VCMPPS    $7, M, M, T; \ // ordered
	VCMPPS    $6, M, X, U; \ // not less or equal
	VANDPS    T, U, T;     \
	VBLENDVPS T, X, M, M;  \
	VBLENDVPS T, Y14, I, I

// func colMaxAVX2(max, index, x *float32, rows, stride, n int, row float32)
TEXT ·colMaxAVX2(SB), NOSPLIT, $0-52
	MOVQ         max+0(FP), DI
	MOVQ         index+8(FP), DX
	MOVQ         x+16(FP), SI
	COLUMNS(n+40(FP))
	MOVQ         rows+24(FP), CX
	MOVQ         stride+32(FP), R8
	SHLQ         $2, R8
	VBROADCASTSS row+48(FP), Y14
	CMPQ         BX, $64
	JEQ          wide
	VMASKMOVPS   (DI), Y15, Y0
	VMASKMOVPS   (DX), Y15, Y4

narrow:
	VMASKMOVPS (SI), Y15, Y8
	TAKE(Y8, Y0, Y4, Y10, Y11)
	VADDPS     reduceOne<>(SB), Y14, Y14
	ADDQ       R8, SI
	DECQ       CX
	JNE        narrow
	VMASKMOVPS Y0, Y15, (DI)
	VMASKMOVPS Y4, Y15, (DX)
	VZEROUPPER
	RET

wide:
	LOAD4(DI, Y0, Y1, Y2, Y3)
	LOAD4(DX, Y4, Y5, Y6, Y7)

wideloop:
	VMOVUPS      (SI), Y8
	VMOVUPS      32(SI), Y9
	TAKE(Y8, Y0, Y4, Y10, Y11)
	TAKE(Y9, Y1, Y5, Y12, Y13)
	VMOVUPS      64(SI), Y8
	VMOVUPS      96(SI), Y9
	TAKE(Y8, Y2, Y6, Y10, Y11)
	TAKE(Y9, Y3, Y7, Y12, Y13)
	VADDPS       reduceOne<>(SB), Y14, Y14
	ADDQ         R8, SI
	DECQ         CX
	JNE          wideloop
	STORE4(Y0, Y1, Y2, Y3, DI)
	STORE4(Y4, Y5, Y6, Y7, DX)
	SUBQ         $32, BX
	JEQ          done
	MOVQ         x+16(FP), SI
	MOVQ         rows+24(FP), CX
	VBROADCASTSS row+48(FP), Y14
	ADDQ         $128, SI
	ADDQ         $128, DI
	ADDQ         $128, DX
	JMP          wide

done:
	VZEROUPPER
	RET
