//go:build !noasm

#include "textflag.h"
#include "amx_amd64.h"

// FETCH5 and FETCH6 bring lines at R14 into the second-level cache.
#define FETCH5 \
	PREFETCHT1 (R14)     \
	PREFETCHT1 64(R14)   \
	PREFETCHT1 128(R14)  \
	PREFETCHT1 192(R14)  \
	PREFETCHT1 256(R14)  \
	ADDQ       $320, R14

#define FETCH6 \
	PREFETCHT1 (R14)     \
	PREFETCHT1 64(R14)   \
	PREFETCHT1 128(R14)  \
	PREFETCHT1 192(R14)  \
	PREFETCHT1 256(R14)  \
	PREFETCHT1 320(R14)  \
	ADDQ       $384, R14

// BLOCKAHEAD is BLOCK while 32 lines are fetched.
#define BLOCKAHEAD \
	LEFTPART(2)  \
	RIGHTPART(0) \
	PRODUCTS     \
	FETCH5       \
	LEFTPART(1)  \
	PRODUCTSBACK \
	FETCH5       \
	RIGHTPART(1) \
	PRODUCTS     \
	FETCH5       \
	LEFTPART(0)  \
	PRODUCTSBACK \
	FETCH5       \
	RIGHTPART(2) \
	PRODUCTS     \
	FETCH6       \
	RIGHTPART(0) \
	PRODUCTS     \
	FETCH6

// func gemmSplitPanelsAMX(strips, panels, steps int, a, b *float32, distance int, c *float32, ldc int, accumulate bool, ahead *float32, stride int)
//
//	for s := range strips {
//		for p := range panels {
//			T = 0 // accumulate: C
//			for range steps {
//				T += products of the parts of A and B // BLOCK
//				fetch 32 lines from ahead on
//				A, B, ahead = next blocks
//			}
//			C = T
//			A = the first block of the strip
//			B = panel p+1
//			C = C[32:]
//		}
//		A, C = next strip
//		ahead += stride
//	}
//
//	SI, R10    the block of A, the first one of the strip
//	DI         the block of B
//	DX, BX     rows 0 and 16 of C
//	R8, R9     bytes between the rows of a tile of A and B, of C
//	CX         steps left
//	R11        panels left
//	R12        distance of the panels less their blocks, bytes
//	R13        accumulate
//	R14        ahead
TEXT ·gemmSplitPanelsAMX(SB), NOSPLIT, $0-88
	MOVQ    a+24(FP), R10
	MOVQ    c+48(FP), DX
	MOVQ    ldc+56(FP), R9
	MOVBLZX accumulate+64(FP), R13
	SHLQ    $2, R9
	MOVQ    steps+16(FP), AX
	IMULQ   $6144, AX
	MOVQ    distance+40(FP), R12
	SHLQ    $2, R12
	SUBQ    AX, R12
	MOVL    $64, R8
	LEAQ    tiles<>(SB), AX
	CONFIGURE

strip:
	MOVQ b+32(FP), DI
	MOVQ panels+8(FP), R11
	MOVQ ahead+72(FP), R14
	MOVQ R9, BX
	SHLQ $4, BX
	ADDQ DX, BX

panel:
	MOVQ  R10, SI
	MOVQ  steps+16(FP), CX
	TESTL R13, R13
	JNZ   load
	ZEROES
	JMP   block

load:
	LOADS

block:
	BLOCKAHEAD
	ADDQ $6144, SI
	ADDQ $6144, DI
	DECQ CX
	JNZ  block
	STORES
	ADDQ $128, DX
	ADDQ $128, BX
	ADDQ R12, DI
	DECQ R11
	JNZ  panel
	MOVQ SI, R10
	MOVQ panels+8(FP), AX
	SHLQ $7, AX
	SUBQ AX, DX
	MOVQ R9, AX
	SHLQ $5, AX
	ADDQ AX, DX
	MOVQ stride+80(FP), AX
	SHLQ $2, AX
	ADDQ AX, ahead+72(FP)
	DECQ strips+0(FP)
	JNZ  strip
	RELEASE
	RET
