//go:build !noasm

#include "textflag.h"
#include "amx_amd64.h"

// func gemmSplitAMX(panels, steps int, a, b, c *float32, ldc int, accumulate bool)
//
//	for range panels {
//		T = 0 // accumulate: C
//		for range steps {
//			for _, parts := range splitPairs {
//				T += A[parts[0]] * B[parts[1]] // four tiles each
//			}
//			A, B = next blocks
//		}
//		C = T
//		A = the first block
//		C = C[32:]
//	}
//
//	SI, R10    the block of A, the first one
//	DI         the block of B
//	DX, BX     rows 0 and 16 of C
//	R8, R9     bytes between the rows of a tile of A and B, of C
//	R11, CX    steps, steps left
//	R12        panels left
//	R13        accumulate
TEXT ·gemmSplitAMX(SB), NOSPLIT, $0-49
	MOVQ    panels+0(FP), R12
	MOVQ    steps+8(FP), R11
	MOVQ    a+16(FP), R10
	MOVQ    b+24(FP), DI
	MOVQ    c+32(FP), DX
	MOVQ    ldc+40(FP), R9
	MOVBLZX accumulate+48(FP), R13
	SHLQ    $2, R9
	MOVQ    R9, BX
	SHLQ    $4, BX
	ADDQ    DX, BX
	MOVL    $64, R8
	LEAQ    tiles<>(SB), AX
	CONFIGURE

panel:
	MOVQ  R10, SI
	MOVQ  R11, CX
	TESTL R13, R13
	JNZ   load
	ZERO(0)
	ZERO(1)
	ZERO(2)
	ZERO(3)
	JMP   block

load:
	LOADC(0, 0)
	LOADC(1, 64)
	LOADC16(2, 0)
	LOADC16(3, 64)

block:
	BLOCK
	ADDQ $6144, SI
	ADDQ $6144, DI
	DECQ CX
	JNZ  block
	STOREC(0, 0)
	STOREC(1, 64)
	STOREC16(2, 0)
	STOREC16(3, 64)
	ADDQ $128, DX
	ADDQ $128, BX
	DECQ R12
	JNZ  panel
	RELEASE
	RET
