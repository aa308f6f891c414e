//go:build !noasm

#include "textflag.h"
#include "amx_amd64.h"

// FETCH brings eight lines at R14 into the second-level cache.
#define FETCH \
	PREFETCHT1 (R14)    \
	PREFETCHT1 64(R14)  \
	PREFETCHT1 128(R14) \
	PREFETCHT1 192(R14) \
	PREFETCHT1 256(R14) \
	PREFETCHT1 320(R14) \
	PREFETCHT1 384(R14) \
	PREFETCHT1 448(R14) \
	ADDQ       R15, R14

// LEFTPARTONCE is LEFTPART for A, of which each block is used once for 32 columns: the hint
// of TILELOADDT1 keeps it from taking the place in the first-level cache of B, whose lines
// neighbouring blocks share.
#define LEFTONCE(t, d) \
	LONG $0x4b79a2c4     \
	WORD $(0x0684 + t*8) \
	LONG $d

#define LEFTPARTONCE(p) \
	LEFTONCE(4, p*2048)      \
	LEFTONCE(5, p*2048+1024)

// COLUMNS points DI at the columns of the block of B whose turn it is.
#define COLUMNS \
	MOVQ (R11), DI       \
	ADDQ $8, R11         \
	LEAQ (R12)(DI*4), DI

// WIDE and NARROW load the 32 or 16 columns of the part of B at DI.
#define WIDE \
	RIGHTLONG(6, 0)  \
	RIGHTLONG(7, 64)

#define NARROW RIGHTLONG(6, 0)

// BLOCKWIDE and BLOCKNARROW are BLOCK for B in rows.
#define BLOCKWIDE \
	LEFTPARTONCE(2) \
	WIDE            \
	PRODUCTS        \
	FETCH           \
	LEFTPARTONCE(1) \
	PRODUCTSBACK    \
	FETCH           \
	ADDQ R13, DI    \
	WIDE            \
	PRODUCTS        \
	FETCH           \
	LEFTPARTONCE(0) \
	PRODUCTSBACK    \
	FETCH           \
	ADDQ R13, DI    \
	WIDE            \
	PRODUCTS        \
	FETCH           \
	SUBQ R13, DI    \
	SUBQ R13, DI    \
	WIDE            \
	PRODUCTS        \
	FETCH

#define BLOCKNARROW \
	LEFTPARTONCE(2) \
	NARROW          \
	TDP46           \
	TDP56           \
	FETCH           \
	LEFTPARTONCE(1) \
	TDP46           \
	TDP56           \
	FETCH           \
	ADDQ R13, DI    \
	NARROW          \
	TDP46           \
	TDP56           \
	FETCH           \
	LEFTPARTONCE(0) \
	TDP46           \
	TDP56           \
	FETCH           \
	ADDQ R13, DI    \
	NARROW          \
	TDP46           \
	TDP56           \
	FETCH           \
	SUBQ R13, DI    \
	SUBQ R13, DI    \
	NARROW          \
	TDP46           \
	TDP56           \
	FETCH

// func gemmSplitRowsAMX(halves, blocks int, a, b *float32, ldb int, at *int, c *float32, ldc int, accumulate bool, ahead *float32, stride int)
//
//	for ; halves > 0; halves -= 2 { // halves == 1: of 16 columns
//		T = 0 // accumulate: C[:, :32]
//		for e := range blocks {
//			T += products of the parts of A[e] and B[at[e]]
//			for range 6 {
//				fetch 8 lines from ahead on
//				ahead += stride
//			}
//		}
//		C[:, :32] = T
//		B, C = B[32:], C[32:]
//	}
//
//	SI         the block of A
//	R11        at
//	DI         the part of the block of B
//	DX, BX     rows 0 and 16 of C
//	R8         bytes between the rows of a tile of A
//	R9         bytes between the rows of C
//	R10        bytes between the rows of B
//	R12        the columns of B
//	R13        bytes between the parts of B
//	R14, R15   ahead, stride
//	CX         blocks left
TEXT ·gemmSplitRowsAMX(SB), NOSPLIT, $0-88
	MOVQ b+24(FP), R12
	MOVQ ldb+32(FP), R10
	SHLQ $2, R10
	MOVQ R10, R13
	SHLQ $4, R13
	MOVQ c+48(FP), DX
	MOVQ ldc+56(FP), R9
	SHLQ $2, R9
	MOVQ ahead+72(FP), R14
	MOVQ stride+80(FP), R15
	SHLQ $2, R15
	MOVL $64, R8
	LEAQ tiles<>(SB), AX
	CONFIGURE

columns:
	MOVQ    a+16(FP), SI
	MOVQ    at+40(FP), R11
	MOVQ    blocks+8(FP), CX
	MOVQ    R9, BX
	SHLQ    $4, BX
	ADDQ    DX, BX
	MOVBLZX accumulate+64(FP), AX
	CMPQ    halves+0(FP), $1
	JEQ     narrow
	TESTL   AX, AX
	JNZ     load
	ZEROES
	JMP     block

load:
	LOADS

block:
	COLUMNS
	BLOCKWIDE
	ADDQ $6144, SI
	DECQ CX
	JNZ  block
	STORES
	ADDQ $128, DX
	ADDQ $128, R12
	SUBQ $2, halves+0(FP)
	JNZ  columns
	RELEASE
	RET

narrow:
	TESTL AX, AX
	JNZ   loadNarrow
	ZERO(0)
	ZERO(2)
	JMP   blockNarrow

loadNarrow:
	LOADC(0, 0)
	LOADC16(2, 0)

blockNarrow:
	COLUMNS
	BLOCKNARROW
	ADDQ $6144, SI
	DECQ CX
	JNZ  blockNarrow
	STOREC(0, 0)
	STOREC16(2, 0)
	RELEASE
	RET
