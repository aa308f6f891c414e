//go:build !noasm

#include "textflag.h"
#include "amx_amd64.h"

// C = A*B + u v' for split operands, blocks of 32 rows, columns and steps. In Go, with T for four tiles:
//
//	for panel := range panels {
//		for strip := range strips {
//			T = 0
//			for _, parts := range splitPairs {
//				T += A[parts[0]][strip] * B[panel][parts[1]]
//			}
//			scratch = T
//			for i := range 32 {
//				C[panel][strip][i][:32] = scratch[i][:] + u[strip][i]*v[panel][:32] // odd rows ^ sign
//			}
//		}
//	}
//
// The strips of a panel come one after the other, for which they and the panel stay in the
// first-level cache. The rows of a block are written while the products of the next one run: those occupy the
// matrix unit, these the ports for vectors and stores.
//
//	SI, R14, R15   the parts of the strip
//	DI             the panel
//	R8, R9         bytes between the rows of a tile of A and B, of scratch
//	DX             scratch of the block before
//	R12, R13       u and C of the block
//	AX, R10        u of the block before, its next row of C (nil: there is none)
//	R11            ldc in bytes
//	CX             strips left
//	BX             the next row of C of the block, to be fetched
//	Z28, Z29       v
//	Z30, Z31       v of the block before
//	Z27            sign
//
// a, b, v, c and panels count along in the frame of the arguments.

// LEFT14 and LEFT15 load tile t from R14 and R15, rows of R8 bytes.
#define LEFT14(t, d) \
	LONG $0x4b7b82c4     \
	WORD $(0x0684 + t*8) \
	LONG $d

#define LEFT15(t, d) \
	LONG $0x4b7b82c4     \
	WORD $(0x0784 + t*8) \
	LONG $d

#define LEFTMIDDLE \
	LEFT14(4, 0)    \
	LEFT14(5, 1024)

#define LEFTLAST \
	LEFT15(4, 0)    \
	LEFT15(5, 1024)

#define SUMS(i) \
	VMOVUPS          ((i)*128)(DX), Z0    \
	VMOVUPS          ((i)*128+64)(DX), Z1 \
	VFMADD231PS.BCST ((i)*4)(AX), Z30, Z0 \
	VFMADD231PS.BCST ((i)*4)(AX), Z31, Z1

#define WRITE \
	VMOVUPS Z0, (R10)   \
	VMOVUPS Z1, 64(R10) \
	ADDQ    R11, R10

// ROWS writes rows i and i+1 of the block before, and fetches those of the block.
#define ROWS(i) \
	PREFETCHT0 (BX)        \
	PREFETCHT0 64(BX)      \
	ADDQ       R11, BX     \
	SUMS(i)                \
	WRITE                  \
	PREFETCHT0 (BX)        \
	PREFETCHT0 64(BX)      \
	ADDQ       R11, BX     \
	SUMS(i+1)              \
	VPXORD     Z27, Z0, Z0 \
	VPXORD     Z27, Z1, Z1 \
	WRITE

// FETCH brings eight lines behind a part, BX bytes away, into the second-level cache.
#define FETCH(part) \
	PREFETCHT1 (part)(BX*1)    \
	PREFETCHT1 64(part)(BX*1)  \
	PREFETCHT1 128(part)(BX*1) \
	PREFETCHT1 192(part)(BX*1) \
	PREFETCHT1 256(part)(BX*1) \
	PREFETCHT1 320(part)(BX*1) \
	PREFETCHT1 384(part)(BX*1) \
	PREFETCHT1 448(part)(BX*1)

// SAVE moves the tiles of the block before to scratch, each just ahead of the first
// product of its successor.
#define SAVE \
	LEFTLAST        \
	RIGHTPART(0)    \
	STOREC(0, 0)    \
	ZERO(0)         \
	TDP46           \
	STOREC(2, 2048) \
	ZERO(2)         \
	TDP56           \
	STOREC(3, 2112) \
	ZERO(3)         \
	TDP57           \
	STOREC(1, 64)   \
	ZERO(1)         \
	TDP47

// ALONE is a block without one before.
#define ALONE \
	LEFTLAST     \
	RIGHTPART(0) \
	ZEROES       \
	PRODUCTS     \
	LEFTMIDDLE   \
	PRODUCTSBACK \
	RIGHTPART(1) \
	PRODUCTS     \
	LEFTPART(0)  \
	PRODUCTSBACK \
	RIGHTPART(2) \
	PRODUCTS     \
	RIGHTPART(0) \
	PRODUCTS

// BEHIND is a block that meanwhile writes the one before.
#define BEHIND \
	SAVE         \
	LEFTMIDDLE   \
	TDP47        \
	TDP57        \
	TDP56        \
	TDP46        \
	RIGHTPART(1) \
	TDP46        \
	ROWS(0)      \
	TDP56        \
	ROWS(2)      \
	TDP57        \
	ROWS(4)      \
	TDP47        \
	ROWS(6)      \
	LEFTPART(0)  \
	TDP47        \
	ROWS(8)      \
	TDP57        \
	ROWS(10)     \
	TDP56        \
	ROWS(12)     \
	TDP46        \
	ROWS(14)     \
	RIGHTPART(2) \
	TDP46        \
	ROWS(16)     \
	TDP56        \
	ROWS(18)     \
	TDP57        \
	ROWS(20)     \
	TDP47        \
	ROWS(22)     \
	RIGHTPART(0) \
	TDP46        \
	ROWS(24)     \
	TDP56        \
	ROWS(26)     \
	TDP57        \
	ROWS(28)     \
	TDP47        \
	ROWS(30)

// func outerSplitAMX(strips, panels int, a *float32, parta, stripa int, b, u *float32, stripu int, v, c *float32, ldc, stripc, panelc int, sign uint32, ahead int)
TEXT ·outerSplitAMX(SB), 0, $4176-120
	LEAQ         63(SP), DX
	ANDQ         $~63, DX
	MOVL         $64, R8
	MOVL         $128, R9
	MOVQ         ldc+80(FP), R11
	SHLQ         $2, R11
	SHLQ         $2, parta+24(FP)
	SHLQ         $2, stripa+32(FP)
	SHLQ         $2, stripu+56(FP)
	SHLQ         $2, stripc+88(FP)
	SHLQ         $2, panelc+96(FP)
	MOVQ         b+40(FP), DI
	MOVL         sign+104(FP), AX
	VPBROADCASTD AX, Z27
	SHLQ         $2, ahead+112(FP)
	MOVQ         ahead+112(FP), BX
	MOVQ         BX, fetch-8(SP)
	MOVQ         $0, ahead-16(SP)
	XORL         R10, R10
	LEAQ         tiles<>(SB), AX
	CONFIGURE

panel:
	MOVQ    a+16(FP), SI
	MOVQ    parta+24(FP), R14
	LEAQ    (SI)(R14*2), R15
	ADDQ    SI, R14
	MOVQ    u+48(FP), R12
	MOVQ    c+72(FP), R13
	MOVQ    strips+0(FP), CX
	MOVQ    v+64(FP), BX
	VMOVUPS (BX), Z28
	VMOVUPS 64(BX), Z29

strip:
	MOVQ  fetch-8(SP), BX
	FETCH(SI)
	FETCH(R14)
	FETCH(R15)
	TESTQ R10, R10
	JZ    alone
	MOVQ  R13, BX
	BEHIND
	JMP   next

alone:
	ALONE

next:
	MOVQ    R12, AX
	MOVQ    R13, R10
	VMOVAPS Z28, Z30
	VMOVAPS Z29, Z31
	MOVQ    stripa+32(FP), BX
	ADDQ    BX, SI
	ADDQ    BX, R14
	ADDQ    BX, R15
	ADDQ    stripu+56(FP), R12
	ADDQ    stripc+88(FP), R13
	DECQ    CX
	JNZ     strip
	ADDQ    $6144, DI
	ADDQ    $128, v+64(FP)
	MOVQ    panelc+96(FP), BX
	ADDQ    BX, c+72(FP)
	MOVQ    ahead-16(SP), BX
	ADDQ    $512, BX
	ANDQ    $2047, BX
	MOVQ    BX, ahead-16(SP)
	ADDQ    ahead+112(FP), BX
	MOVQ    BX, fetch-8(SP)
	DECQ    panels+8(FP)
	JNZ     panel

	// The last block.
	STOREC(0, 0)
	STOREC(2, 2048)
	STOREC(3, 2112)
	STOREC(1, 64)
	RELEASE
	MOVQ R10, BX
	ROWS(0)
	ROWS(2)
	ROWS(4)
	ROWS(6)
	ROWS(8)
	ROWS(10)
	ROWS(12)
	ROWS(14)
	ROWS(16)
	ROWS(18)
	ROWS(20)
	ROWS(22)
	ROWS(24)
	ROWS(26)
	ROWS(28)
	ROWS(30)
	VZEROUPPER
	RET
