//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// Max4 and its gradient, 8 values an iteration, the rest under Y15:
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
//	SI dy   R14 y   R8 R9 R10 BX a b c d   CX values left   DX byte offset
//	Y0-Y3 a b c d   Y4 y   Y5 dy   Y6-Y9 scratch   Y14 NaN   Y15 the lanes in use

DATA poolNaN<>+0(SB)/4, $0x7fc00000
GLOBL poolNaN<>(SB), RODATA|NOPTR, $4

// Y0 = max(Y0, Y1, Y2, Y3)
#define MAX4 \
	VCMPPS    $3, Y1, Y0, Y6; \ // unordered: a or b is NaN
	VCMPPS    $3, Y3, Y2, Y7; \ // c or d
	VORPS     Y6, Y7, Y6;     \
	VMAXPS    Y0, Y1, Y0;     \ // Y1 > Y0 ? Y1 : Y0
	VMAXPS    Y0, Y2, Y0;     \
	VMAXPS    Y0, Y3, Y0;     \
	VBLENDVPS Y6, Y14, Y0, Y0 // NaN where Y6

// Y0-Y3 = the gradients of a, b, c, d. Y6 marks the lanes that are taken.
#define MAX4GRAD \
	VCMPPS  $0, Y4, Y0, Y6; \ // a == y
	VANDPS  Y5, Y6, Y0;     \
	VCMPPS  $0, Y4, Y1, Y7; \ // b == y
	VANDNPS Y7, Y6, Y8;     \ // and not a
	VANDPS  Y5, Y8, Y1;     \
	VORPS   Y7, Y6, Y6;     \
	VCMPPS  $0, Y4, Y2, Y7; \
	VANDNPS Y7, Y6, Y8;     \
	VANDPS  Y5, Y8, Y2;     \
	VORPS   Y7, Y6, Y6;     \
	VCMPPS  $0, Y4, Y3, Y7; \
	VANDNPS Y7, Y6, Y8;     \
	VANDPS  Y5, Y8, Y3

// func max4AVX2(dst, a, b, c, d *float32, n int)
TEXT ·max4AVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         a+8(FP), R8
	MOVQ         b+16(FP), R9
	MOVQ         c+24(FP), R10
	MOVQ         d+32(FP), BX
	MOVQ         n+40(FP), CX
	VBROADCASTSS poolNaN<>(SB), Y14
	XORQ         DX, DX
	SUBQ         $8, CX
	JLT          rest

loop:
	VMOVUPS (R8)(DX*1), Y0
	VMOVUPS (R9)(DX*1), Y1
	VMOVUPS (R10)(DX*1), Y2
	VMOVUPS (BX)(DX*1), Y3
	MAX4
	VMOVUPS Y0, (DI)(DX*1)
	ADDQ    $32, DX
	SUBQ    $8, CX
	JGE     loop

rest:
	ADDQ       $8, CX
	JEQ        done
	TAILMASK
	VMASKMOVPS (R8)(DX*1), Y15, Y0
	VMASKMOVPS (R9)(DX*1), Y15, Y1
	VMASKMOVPS (R10)(DX*1), Y15, Y2
	VMASKMOVPS (BX)(DX*1), Y15, Y3
	MAX4
	VMASKMOVPS Y0, Y15, (DI)(DX*1)

done:
	VZEROUPPER
	RET

// func max4GradAVX2(da, db, dc, dd, dy, y, a, b, c, d *float32, n int)
TEXT ·max4GradAVX2(SB), NOSPLIT, $0-88
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
	XORQ DX, DX
	SUBQ $8, CX
	JLT  rest

loop:
	VMOVUPS (R8)(DX*1), Y0
	VMOVUPS (R9)(DX*1), Y1
	VMOVUPS (R10)(DX*1), Y2
	VMOVUPS (BX)(DX*1), Y3
	VMOVUPS (R14)(DX*1), Y4
	VMOVUPS (SI)(DX*1), Y5
	MAX4GRAD
	VMOVUPS Y0, (DI)(DX*1)
	VMOVUPS Y1, (R11)(DX*1)
	VMOVUPS Y2, (R12)(DX*1)
	VMOVUPS Y3, (R13)(DX*1)
	ADDQ    $32, DX
	SUBQ    $8, CX
	JGE     loop

rest:
	ADDQ       $8, CX
	JEQ        done
	TAILMASK
	VMASKMOVPS (R8)(DX*1), Y15, Y0
	VMASKMOVPS (R9)(DX*1), Y15, Y1
	VMASKMOVPS (R10)(DX*1), Y15, Y2
	VMASKMOVPS (BX)(DX*1), Y15, Y3
	VMASKMOVPS (R14)(DX*1), Y15, Y4
	VMASKMOVPS (SI)(DX*1), Y15, Y5
	MAX4GRAD
	VMASKMOVPS Y0, Y15, (DI)(DX*1)
	VMASKMOVPS Y1, Y15, (R11)(DX*1)
	VMASKMOVPS Y2, Y15, (R12)(DX*1)
	VMASKMOVPS Y3, Y15, (R13)(DX*1)

done:
	VZEROUPPER
	RET
