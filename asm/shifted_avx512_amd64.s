//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// Sums of shifted rows, 128 values at a time, then 64, 16 and the rest under K1:
//
//	for ; n > 0; n -= 128 {
//		T = y[:128]
//		for t := range rows {
//			T += a[t] * x[at[t]:]
//		}
//		y[:128] = T
//		y, x = y[128:], x[128:]
//	}
//
// Registers
//	Z0-Z7 T   Z8 a[t]   Z9 the rest of a row   K1 the lanes of the rest
//	DI y   SI x   R8 at   R9 a   R10 rows   CX values left
//	DX t   BX row t of x   AX scratch

// ROW sets BX to row t of x and Z8 to a[t].
#define ROW \
	MOVQ         (R8)(DX*8), BX; \
	LEAQ         (SI)(BX*4), BX; \
	VBROADCASTSS (R9)(DX*4), Z8

// EACH goes on with the next row.
#define EACH(row) \
	INCQ DX;      \
	CMPQ DX, R10; \
	JLT  row

// func addShiftedAVX512(y, x *float32, at *int, a *float32, rows, n int)
TEXT ·addShiftedAVX512(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ at+16(FP), R8
	MOVQ a+24(FP), R9
	MOVQ rows+32(FP), R10
	MOVQ n+40(FP), CX
	SUBQ $128, CX
	JLT  half

block8:
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS 192(DI), Z3
	VMOVUPS 256(DI), Z4
	VMOVUPS 320(DI), Z5
	VMOVUPS 384(DI), Z6
	VMOVUPS 448(DI), Z7
	XORQ    DX, DX

row8:
	ROW
	VFMADD231PS (BX), Z8, Z0
	VFMADD231PS 64(BX), Z8, Z1
	VFMADD231PS 128(BX), Z8, Z2
	VFMADD231PS 192(BX), Z8, Z3
	VFMADD231PS 256(BX), Z8, Z4
	VFMADD231PS 320(BX), Z8, Z5
	VFMADD231PS 384(BX), Z8, Z6
	VFMADD231PS 448(BX), Z8, Z7
	EACH(row8)
	VMOVUPS     Z0, (DI)
	VMOVUPS     Z1, 64(DI)
	VMOVUPS     Z2, 128(DI)
	VMOVUPS     Z3, 192(DI)
	VMOVUPS     Z4, 256(DI)
	VMOVUPS     Z5, 320(DI)
	VMOVUPS     Z6, 384(DI)
	VMOVUPS     Z7, 448(DI)
	ADDQ        $512, DI
	ADDQ        $512, SI
	SUBQ        $128, CX
	JGE         block8

half:
	ADDQ $64, CX
	JLT  vectors
	LOAD4(DI, Z0, Z1, Z2, Z3)
	XORQ DX, DX

row4:
	ROW
	VFMADD231PS (BX), Z8, Z0
	VFMADD231PS 64(BX), Z8, Z1
	VFMADD231PS 128(BX), Z8, Z2
	VFMADD231PS 192(BX), Z8, Z3
	EACH(row4)
	STORE4(Z0, Z1, Z2, Z3, DI)
	ADDQ        $256, DI
	ADDQ        $256, SI
	SUBQ        $64, CX

vectors:
	ADDQ $48, CX
	JLT  rest

block1:
	VMOVUPS (DI), Z0
	XORQ    DX, DX

row1:
	ROW
	VFMADD231PS (BX), Z8, Z0
	EACH(row1)
	VMOVUPS     Z0, (DI)
	ADDQ        $64, DI
	ADDQ        $64, SI
	SUBQ        $16, CX
	JGE         block1

rest:
	ADDQ      $16, CX
	JEQ       done
	TAILMASK
	VMOVUPS.Z (DI), K1, Z0
	XORQ      DX, DX

masked:
	ROW
	VMOVUPS.Z   (BX), K1, Z9
	VFMADD231PS Z9, Z8, Z0
	EACH(masked)
	VMOVUPS     Z0, K1, (DI)

done:
	VZEROUPPER
	RET
