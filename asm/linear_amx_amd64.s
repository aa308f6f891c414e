//go:build !noasm

#include "textflag.h"
#include "amx_amd64.h"

// C = A*B + bias for split operands: strips of 32 rows, panels of 32 columns. In
// Go, with T for four tiles:
//
//	for strip := range strips {
//		for panel := range panels {
//			T = 0
//			for step := range steps {
//				for _, parts := range splitPairs {
//					T += A[strip][step][parts[0]] * B[panel][step][parts[1]]
//				}
//			}
//			scratch = T
//			for i := range 32 {
//				C[strip*32+i][panel*32:][:32] = scratch[i][:] + bias[strip*32+i]
//			}
//		}
//	}
//
// The rows of a block are written while the products of the one after the next run:
// those occupy the matrix unit, these the ports for vectors and stores, and the
// stores past the caches keep those to scratch waiting.
//
//	SI, DI     the blocks of A and of B
//	R8, R9     bytes between the rows of a tile of A and B, of scratch
//	DX, CX     scratch of the block before, of the one before that
//	BX         C of the block before (nil: there is none)
//	AX         bias of the one before that
//	R10, R11   the row of C of the block before that (nil: there is none), ldc in bytes
//	R12        panels left
//	R13        steps left

// ROW writes row i of the block before.
#define ROW(move, i) \
	VMOVUPS     ((i)*128)(CX), Z0    \
	VMOVUPS     ((i)*128+64)(CX), Z1 \
	VADDPS.BCST ((i)*4)(AX), Z0, Z0  \
	VADDPS.BCST ((i)*4)(AX), Z1, Z1  \
	move        Z0, (R10)            \
	move        Z1, 64(R10)          \
	ADDQ        R11, R10

// ROWS2 writes row i by first and the next by move.
#define ROWS2(first, move, i) \
	ROW(first, i)  \
	ROW(move, i+1)

#define ROWS8(move, i) \
	ROWS2(move, move, i)   \
	ROWS2(move, move, i+2) \
	ROWS2(move, move, i+4) \
	ROWS2(move, move, i+6)

#define ROWS32(move) \
	ROWS8(move, 0)  \
	ROWS8(move, 8)  \
	ROWS8(move, 16) \
	ROWS8(move, 24)

// SAVE begins a block behind another one.
#define SAVE \
	LEFTPART(2)  \
	RIGHTPART(0) \
	SAVEPRODUCTS

// BLOCKSAVE is BLOCK behind another one.
#define BLOCKSAVE \
	SAVE         \
	LEFTPART(1)  \
	TDP47        \
	TDP57        \
	TDP56        \
	TDP46        \
	RIGHTPART(1) \
	TDP46        \
	TDP56        \
	TDP57        \
	TDP47        \
	LEFTPART(0)  \
	TDP47        \
	TDP57        \
	TDP56        \
	TDP46        \
	RIGHTPART(2) \
	TDP46        \
	TDP56        \
	TDP57        \
	TDP47        \
	RIGHTPART(0) \
	TDP46        \
	TDP56        \
	TDP57        \
	TDP47

// BLOCKROWS is BLOCKSAVE that meanwhile writes the 32 rows of the last but one, every eighth by eighth.
#define BLOCKROWS(eighth, move) \
	SAVE                    \
	LEFTPART(1)             \
	TDP47                   \
	TDP57                   \
	TDP56                   \
	TDP46                   \
	RIGHTPART(1)            \
	TDP46                   \
	ROWS2(eighth, move, 0)  \
	TDP56                   \
	ROWS2(move, move, 2)    \
	TDP57                   \
	ROWS2(move, move, 4)    \
	TDP47                   \
	ROWS2(move, move, 6)    \
	LEFTPART(0)             \
	TDP47                   \
	ROWS2(eighth, move, 8)  \
	TDP57                   \
	ROWS2(move, move, 10)   \
	TDP56                   \
	ROWS2(move, move, 12)   \
	TDP46                   \
	ROWS2(move, move, 14)   \
	RIGHTPART(2)            \
	TDP46                   \
	ROWS2(eighth, move, 16) \
	TDP56                   \
	ROWS2(move, move, 18)   \
	TDP57                   \
	ROWS2(move, move, 20)   \
	TDP47                   \
	ROWS2(move, move, 22)   \
	RIGHTPART(0)            \
	TDP46                   \
	ROWS2(eighth, move, 24) \
	TDP56                   \
	ROWS2(move, move, 26)   \
	TDP57                   \
	ROWS2(move, move, 28)   \
	TDP47                   \
	ROWS2(move, move, 30)

// func linearSplitAMX(strips, panels, steps int, a, b, bias, c *float32, ldc int, stores uint8)
TEXT ·linearSplitAMX(SB), 0, $8272-65
	LEAQ 63(SP), DX
	ANDQ $~63, DX
	LEAQ 4096(DX), CX
	MOVL $64, R8
	MOVL $128, R9
	MOVQ ldc+56(FP), R11
	SHLQ $2, R11
	XORL R10, R10
	XORL BX, BX
	LEAQ tiles<>(SB), AX
	CONFIGURE

strip:
	MOVQ b+32(FP), DI
	MOVQ panels+8(FP), R12

panel:
	MOVQ  a+24(FP), SI
	MOVQ  steps+16(FP), R13
	XCHGQ CX, DX
	TESTQ R10, R10
	JZ    save
	CMPB  stores+64(FP), $1
	JEQ   most
	JHI   past
	BLOCKROWS(VMOVUPS, VMOVUPS)
	JMP   next

most:
	BLOCKROWS(VMOVUPS, VMOVNTPS)
	JMP next

past:
	BLOCKROWS(VMOVNTPS, VMOVNTPS)
	JMP next

save:
	BLOCKSAVE
	JMP next

step:
	BLOCK

next:
	ADDQ $6144, SI
	ADDQ $6144, DI
	DECQ R13
	JNZ  step
	MOVQ before-8(SP), AX
	MOVQ BX, R10
	MOVQ bias+40(FP), BX
	MOVQ BX, before-8(SP)
	MOVQ c+48(FP), BX
	ADDQ $128, c+48(FP)
	DECQ R12
	JNZ  panel

	// The next strip.
	MOVQ SI, a+24(FP)
	ADDQ $128, bias+40(FP)
	MOVQ panels+8(FP), R12
	SHLQ $7, R12
	MOVQ R11, R13
	SHLQ $5, R13
	SUBQ R12, R13
	ADDQ R13, c+48(FP)
	DECQ strips+0(FP)
	JNZ  strip

	// The last two blocks.
	XCHGQ CX, DX
	STOREC(0, 0)
	STOREC(2, 2048)
	STOREC(3, 2112)
	STOREC(1, 64)
	RELEASE
	TESTQ R10, R10
	JZ    only
	ROWS32(VMOVUPS)

only:
	MOVQ DX, CX
	MOVQ before-8(SP), AX
	MOVQ BX, R10
	ROWS32(VMOVUPS)
	VZEROUPPER
	RET
