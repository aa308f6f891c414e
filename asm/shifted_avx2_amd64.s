//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// Sums of shifted rows, 64 values at a time, then 8 and the rest under Y15:
//
//	for ; n > 0; n -= 64 {
//		T = y[:64]
//		for t := range rows {
//			T += a[t] * x[at[t]:]
//		}
//		y[:64] = T
//		y, x = y[64:], x[64:]
//	}
//
// Registers
//	Y0-Y7 T   Y8 a[t]   Y9 the rest of a row   Y15 the lanes of the rest
//	DI y   SI x   R8 at   R9 a   R10 rows   CX values left
//	DX t   BX row t of x   AX scratch

// ROW sets BX to row t of x and Y8 to a[t].
#define ROW \
	MOVQ         (R8)(DX*8), BX; \
	LEAQ         (SI)(BX*4), BX; \
	VBROADCASTSS (R9)(DX*4), Y8

// EACH goes on with the next row.
#define EACH(row) \
	INCQ DX;      \
	CMPQ DX, R10; \
	JLT  row

// func addShiftedAVX2(y, x *float32, at *int, a *float32, rows, n int)
TEXT ·addShiftedAVX2(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ at+16(FP), R8
	MOVQ a+24(FP), R9
	MOVQ rows+32(FP), R10
	MOVQ n+40(FP), CX
	SUBQ $64, CX
	JLT  vectors

block8:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
	VMOVUPS 128(DI), Y4
	VMOVUPS 160(DI), Y5
	VMOVUPS 192(DI), Y6
	VMOVUPS 224(DI), Y7
	XORQ    DX, DX

row8:
	ROW
	VFMADD231PS (BX), Y8, Y0
	VFMADD231PS 32(BX), Y8, Y1
	VFMADD231PS 64(BX), Y8, Y2
	VFMADD231PS 96(BX), Y8, Y3
	VFMADD231PS 128(BX), Y8, Y4
	VFMADD231PS 160(BX), Y8, Y5
	VFMADD231PS 192(BX), Y8, Y6
	VFMADD231PS 224(BX), Y8, Y7
	EACH(row8)
	VMOVUPS     Y0, (DI)
	VMOVUPS     Y1, 32(DI)
	VMOVUPS     Y2, 64(DI)
	VMOVUPS     Y3, 96(DI)
	VMOVUPS     Y4, 128(DI)
	VMOVUPS     Y5, 160(DI)
	VMOVUPS     Y6, 192(DI)
	VMOVUPS     Y7, 224(DI)
	ADDQ        $256, DI
	ADDQ        $256, SI
	SUBQ        $64, CX
	JGE         block8

vectors:
	ADDQ $56, CX
	JLT  rest

block1:
	VMOVUPS (DI), Y0
	XORQ    DX, DX

row1:
	ROW
	VFMADD231PS (BX), Y8, Y0
	EACH(row1)
	VMOVUPS     Y0, (DI)
	ADDQ        $32, DI
	ADDQ        $32, SI
	SUBQ        $8, CX
	JGE         block1

rest:
	ADDQ       $8, CX
	JEQ        done
	TAILMASK
	VMASKMOVPS (DI), Y15, Y0
	XORQ       DX, DX

masked:
	ROW
	VMASKMOVPS  (BX), Y15, Y9
	VFMADD231PS Y9, Y8, Y0
	EACH(masked)
	VMASKMOVPS  Y0, Y15, (DI)

done:
	VZEROUPPER
	RET
