//go:build !noasm

#include "textflag.h"
#include "amx_amd64.h"

// C = A*B + u v' for split operands, two strips of 16 rows, 32 columns and 32 steps at a time. In Go, with T
// for four tiles:
//
//	for panel := range panels {
//		for strip := 0; strip < strips; strip += 2 {
//			T = 0
//			for _, parts := range splitPairs {
//				T += A[parts[0]][strip, strip+1] * B[panel][parts[1]]
//			}
//			scratch = T
//			for i := range 32 {
//				s, r := strip+i/16, i%16
//				C[panel][s][r][:32] = scratch[i][:] + u[s][r]*v[panel][:32] // odd rows ^ sign
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
//	BX             the next row of C of the block, to be fetched
//	R11            ldc in bytes
//	CX             bytes from a strip to what is fetched
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

// STRIPS loads a part of two strips, of which it fetches four lines of those to come, and steps over them.
#define STRIPS(LOAD, part) \
	LOAD(4, 0)               \
	FETCH(part)              \
	ADDQ stripa+32(FP), part \
	LOAD(5, 0)               \
	FETCH(part)              \
	ADDQ stripa+32(FP), part

#define FETCH(part) \
	PREFETCHT1 (part)(CX*1)    \
	PREFETCHT1 64(part)(CX*1)  \
	PREFETCHT1 128(part)(CX*1) \
	PREFETCHT1 192(part)(CX*1)

#define LEFTFIRST STRIPS(LEFT, SI)
#define LEFTMIDDLE STRIPS(LEFT14, R14)
#define LEFTLAST STRIPS(LEFT15, R15)

// SUMS makes row i of the block before, which is row r of its strip.
#define SUMS(i, r) \
	VMOVUPS          ((i)*128)(DX), Z0    \
	VMOVUPS          ((i)*128+64)(DX), Z1 \
	VFMADD231PS.BCST ((r)*4)(AX), Z30, Z0 \
	VFMADD231PS.BCST ((r)*4)(AX), Z31, Z1

#define WRITE \
	VMOVUPS Z0, (R10)   \
	VMOVUPS Z1, 64(R10) \
	ADDQ    R11, R10

#define FETCHROW \
	PREFETCHT0 (BX)    \
	PREFETCHT0 64(BX)  \
	ADDQ       R11, BX

// ROWS writes rows i and i+1 of the block before, and fetches those of the block.
#define ROWS(i, r) \
	FETCHROW           \
	SUMS(i, r)         \
	WRITE              \
	FETCHROW           \
	SUMS(i+1, r+1)     \
	VPXORD Z27, Z0, Z0 \
	VPXORD Z27, Z1, Z1 \
	WRITE

// FIRSTROWS and SECONDROWS go to the rows of either strip.
#define FIRSTROWS \
	MOVQ R13, BX

#define SECONDROWS \
	ADDQ stripu+56(FP), AX  \
	MOVQ second-24(SP), R10 \
	MOVQ stripc+88(FP), BX  \
	ADDQ R13, BX

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
	LEFTFIRST    \
	PRODUCTSBACK \
	RIGHTPART(2) \
	PRODUCTS     \
	RIGHTPART(0) \
	PRODUCTS

// BEHIND is a block that meanwhile writes the one before.
#define BEHIND \
	LEFTLAST     \
	RIGHTPART(0) \
	SAVEPRODUCTS \
	LEFTMIDDLE   \
	TDP47        \
	TDP57        \
	TDP56        \
	TDP46        \
	RIGHTPART(1) \
	TDP46        \
	FIRSTROWS    \
	ROWS(0, 0)   \
	TDP56        \
	ROWS(2, 2)   \
	TDP57        \
	ROWS(4, 4)   \
	TDP47        \
	ROWS(6, 6)   \
	LEFTFIRST    \
	TDP47        \
	ROWS(8, 8)   \
	TDP57        \
	ROWS(10, 10) \
	TDP56        \
	ROWS(12, 12) \
	TDP46        \
	ROWS(14, 14) \
	RIGHTPART(2) \
	TDP46        \
	SECONDROWS   \
	ROWS(16, 0)  \
	TDP56        \
	ROWS(18, 2)  \
	TDP57        \
	ROWS(20, 4)  \
	TDP47        \
	ROWS(22, 6)  \
	RIGHTPART(0) \
	TDP46        \
	ROWS(24, 8)  \
	TDP56        \
	ROWS(26, 10) \
	TDP57        \
	ROWS(28, 12) \
	TDP47        \
	ROWS(30, 14)

// func outerSplitAMX(strips, panels int, a *float32, parta, stripa int, b, u *float32, stripu int, v, c *float32, ldc, stripc, panelc int, sign uint32, ahead int)
TEXT ·outerSplitAMX(SB), 0, $4192-120
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
	SHLQ         $2, ahead+112(FP)
	MOVQ         ahead+112(FP), CX
	MOVQ         $0, fetched-8(SP)
	MOVQ         b+40(FP), DI
	MOVL         sign+104(FP), AX
	VPBROADCASTD AX, Z27
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
	MOVQ    strips+0(FP), BX
	MOVQ    BX, left-16(SP)
	MOVQ    v+64(FP), BX
	VMOVUPS (BX), Z28
	VMOVUPS 64(BX), Z29

strip:
	TESTQ R10, R10
	JZ    alone
	BEHIND
	JMP   next

alone:
	ALONE

next:
	MOVQ    R12, AX
	MOVQ    R13, R10
	MOVQ    stripc+88(FP), BX
	ADDQ    BX, R13
	MOVQ    R13, second-24(SP)
	ADDQ    BX, R13
	MOVQ    stripu+56(FP), BX
	LEAQ    (R12)(BX*2), R12
	VMOVAPS Z28, Z30
	VMOVAPS Z29, Z31
	SUBQ    $2, left-16(SP)
	JNZ     strip
	ADDQ    $6144, DI
	ADDQ    $128, v+64(FP)
	MOVQ    panelc+96(FP), BX
	ADDQ    BX, c+72(FP)

	// Four panels fetch a strip.
	MOVQ fetched-8(SP), CX
	ADDQ $256, CX
	ANDQ $1023, CX
	MOVQ CX, fetched-8(SP)
	ADDQ ahead+112(FP), CX
	DECQ panels+8(FP)
	JNZ  panel

	// The last block.
	STOREC(0, 0)
	STOREC(2, 2048)
	STOREC(3, 2112)
	STOREC(1, 64)
	RELEASE
	MOVQ R10, R13
	FIRSTROWS
	ROWS(0, 0)
	ROWS(2, 2)
	ROWS(4, 4)
	ROWS(6, 6)
	ROWS(8, 8)
	ROWS(10, 10)
	ROWS(12, 12)
	ROWS(14, 14)
	SECONDROWS
	ROWS(16, 0)
	ROWS(18, 2)
	ROWS(20, 4)
	ROWS(22, 6)
	ROWS(24, 8)
	ROWS(26, 10)
	ROWS(28, 12)
	ROWS(30, 14)
	VZEROUPPER
	RET
