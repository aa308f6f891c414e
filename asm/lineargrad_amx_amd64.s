//go:build !noasm

#include "textflag.h"
#include "amx_amd64.h"

// The way back through a linear map of 32 features, C = A*B of linear_amx_amd64.s, for
// strips of 32 rows and panels of 32 columns of Y, the gradient of C. In Go:
//
//	for strip := range strips {
//		for panel := range panels {
//			left, right := Y[strip][panel], split for either side
//			dW[strip] += left * H[panel]
//			dH[panel] += W[strip] * right
//			sums[strip] += sums of the rows of Y[strip][panel]
//		}
//	}
//
// A block is two products of 24 TDPBF16PS each, and splitting it takes the ports for
// vectors nearly as long as those take the matrix unit: right is made of Y under the
// product with left, and left of the next block under the product with right.
//
//	SI, DI         the left and the right operand of the product
//	R8             bytes between the rows of their tiles
//	DX, BX, R9     rows 0 and 16 of dW, bytes between its rows
//	AX, R10, CX    rows 0 and 16 of dH, bytes between its rows; R10 also the row ahead
//	R11, R14, R12  rows i and i+16 of Y, bytes between its rows
//	R13            scratch: left, right, the partial sums of the other rows
//	Z0-Z5          scratch
//	Z6-Z30         16 partial sums for each of the first 25 rows
//	Z31, K7        0xffff0000, the upper word of each value

// LOADH and STOREH move tile t from and to AX, LOADH16 and STOREH16 from and to R10,
// rows of CX bytes.
#define LOADH(t, d) \
	LONG $0x4b79e2c4     \
	WORD $(0x0884 + t*8) \
	LONG $d

#define STOREH(t, d) \
	LONG $0x4b7ae2c4     \
	WORD $(0x0884 + t*8) \
	LONG $d

#define LOADH16(t, d) \
	LONG $0x4b79c2c4     \
	WORD $(0x0a84 + t*8) \
	LONG $d

#define STOREH16(t, d) \
	LONG $0x4b7ac2c4     \
	WORD $(0x0a84 + t*8) \
	LONG $d

// PARTS writes the words of the pairs in Z0 and Z1, a row of each of the three parts,
// like UNIT in split_avx512_amd64.s.
#define WORDS(d) \
	VPSRLD    $16, Z0, Z2  \
	VMOVDQU16 Z1, K7, Z2   \
	VMOVUPS   Z2, (d)(R13)

#define REST \
	VPANDD Z31, Z0, Z3 \
	VPANDD Z31, Z1, Z4 \
	VSUBPS Z3, Z0, Z0  \
	VSUBPS Z4, Z1, Z1

#define PARTS(d) \
	WORDS(d)        \
	REST            \
	WORDS(d + 2048) \
	REST            \
	WORDS(d + 4096)

// LEFTROW splits row i of a block of Y and adds it to the partial sums z, LEFTROWM to
// those in memory.
#define LEFTROW(i, z) \
	VMOVUPS (R11), Z0   \
	VMOVUPS 64(R11), Z1 \
	ADDQ    R12, R11    \
	VADDPS  Z0, z, z    \
	VADDPS  Z1, z, z    \
	PARTS((i)*64)

#define LEFTROWM(i) \
	VMOVUPS (R11), Z0                          \
	VMOVUPS 64(R11), Z1                        \
	ADDQ    R12, R11                           \
	VADDPS  Z1, Z0, Z5                         \
	VADDPS  (12288 + ((i)-25)*64)(R13), Z5, Z5 \
	VMOVUPS Z5, (12288 + ((i)-25)*64)(R13)     \
	PARTS((i)*64)

// RIGHTROWS splits the first half of the columns of rows i and i+16 of a block of Y,
// RIGHTREST the second half. Four of these ask for the first four lines of a row a strip
// later, NEXTAHEAD goes on to the next such row: the processor, seeing a row begun,
// fetches the rest, without the buffers that the operands in the second-level cache need.
#define RIGHTROWS(i) \
	VMOVUPS (R11), Z0    \
	VMOVUPS (R14), Z1    \
	PARTS(6144 + (i)*64)

#define RIGHTREST(i) \
	VMOVUPS    64(R11), Z0       \
	VMOVUPS    64(R14), Z1       \
	PARTS(7168 + (i)*64)         \
	PREFETCHT1 (((i)&3)*64)(R10) \
	ADDQ       R12, R11          \
	ADDQ       R12, R14

// RIGHTPARTONCE is RIGHTPART for H, of which each panel is used once for a strip: the
// hint of TILELOADDT1 keeps it from taking the place in the first-level cache of what
// every block uses. LOADH gives it too.
#define RIGHTONCE(t, d) \
	LONG $0x4b79a2c4     \
	WORD $(0x0784 + t*8) \
	LONG $d

#define RIGHTPARTONCE(p) \
	RIGHTONCE(6, p*2048)      \
	RIGHTONCE(7, p*2048+1024)

// The first four products of a block end the one before, whose tiles move to dH or dW
// each just ahead of its successor: the unit does not run dry. It begins with zero or
// with what is there.
#define ZEROW \
	STOREH(0, 0)    \
	ZERO(0)         \
	TDP46           \
	STOREH16(2, 0)  \
	ZERO(2)         \
	TDP56           \
	STOREH16(3, 64) \
	ZERO(3)         \
	TDP57           \
	STOREH(1, 64)   \
	ZERO(1)         \
	TDP47

#define ADDW \
	STOREH(0, 0)    \
	LOADC(0, 0)     \
	TDP46           \
	STOREH16(2, 0)  \
	LOADC16(2, 0)   \
	TDP56           \
	STOREH16(3, 64) \
	LOADC16(3, 64)  \
	TDP57           \
	STOREH(1, 64)   \
	LOADC(1, 64)    \
	TDP47

#define ZEROH \
	STOREC(0, 0)    \
	ZERO(0)         \
	TDP46           \
	STOREC16(2, 0)  \
	ZERO(2)         \
	TDP56           \
	STOREC16(3, 64) \
	ZERO(3)         \
	TDP57           \
	STOREC(1, 64)   \
	ZERO(1)         \
	TDP47

#define ADDH \
	STOREC(0, 0)    \
	LOADH(0, 0)     \
	TDP46           \
	STOREC16(2, 0)  \
	LOADH16(2, 0)   \
	TDP56           \
	STOREC16(3, 64) \
	LOADH16(3, 64)  \
	TDP57           \
	STOREC(1, 64)   \
	LOADH(1, 64)    \
	TDP47

// NEXTAHEAD: see RIGHTREST.
#define NEXTAHEAD ADDQ R12, R10

// The other products.
#define RESTW \
	LEFTPART(1)      \
	TDP47            \
	RIGHTROWS(0)     \
	RIGHTREST(0)     \
	TDP57            \
	RIGHTROWS(1)     \
	RIGHTREST(1)     \
	TDP56            \
	RIGHTROWS(2)     \
	RIGHTREST(2)     \
	TDP46            \
	RIGHTROWS(3)     \
	RIGHTREST(3)     \
	NEXTAHEAD        \
	RIGHTPARTONCE(1) \
	TDP46            \
	RIGHTROWS(4)     \
	RIGHTREST(4)     \
	TDP56            \
	RIGHTROWS(5)     \
	RIGHTREST(5)     \
	TDP57            \
	RIGHTROWS(6)     \
	RIGHTREST(6)     \
	TDP47            \
	RIGHTROWS(7)     \
	RIGHTREST(7)     \
	NEXTAHEAD        \
	LEFTPART(0)      \
	TDP47            \
	RIGHTROWS(8)     \
	RIGHTREST(8)     \
	TDP57            \
	RIGHTROWS(9)     \
	RIGHTREST(9)     \
	TDP56            \
	RIGHTROWS(10)    \
	RIGHTREST(10)    \
	TDP46            \
	RIGHTROWS(11)    \
	RIGHTREST(11)    \
	NEXTAHEAD        \
	RIGHTPARTONCE(2) \
	TDP46            \
	RIGHTROWS(12)    \
	RIGHTREST(12)    \
	TDP56            \
	RIGHTROWS(13)    \
	RIGHTREST(13)    \
	TDP57            \
	RIGHTROWS(14)    \
	RIGHTREST(14)    \
	TDP47            \
	RIGHTROWS(15)    \
	RIGHTREST(15)    \
	NEXTAHEAD        \
	RIGHTPARTONCE(0) \
	TDP46            \
	TDP56            \
	TDP57            \
	TDP47

#define RESTH \
	LEFTPART(1)      \
	TDP47            \
	LEFTROW(0, Z6)   \
	LEFTROW(1, Z7)   \
	TDP57            \
	LEFTROW(2, Z8)   \
	LEFTROW(3, Z9)   \
	TDP56            \
	LEFTROW(4, Z10)  \
	LEFTROW(5, Z11)  \
	TDP46            \
	LEFTROW(6, Z12)  \
	LEFTROW(7, Z13)  \
	RIGHTPART(1)     \
	TDP46            \
	LEFTROW(8, Z14)  \
	LEFTROW(9, Z15)  \
	TDP56            \
	LEFTROW(10, Z16) \
	LEFTROW(11, Z17) \
	TDP57            \
	LEFTROW(12, Z18) \
	LEFTROW(13, Z19) \
	TDP47            \
	LEFTROW(14, Z20) \
	LEFTROW(15, Z21) \
	LEFTPART(0)      \
	TDP47            \
	LEFTROW(16, Z22) \
	LEFTROW(17, Z23) \
	TDP57            \
	LEFTROW(18, Z24) \
	LEFTROW(19, Z25) \
	TDP56            \
	LEFTROW(20, Z26) \
	LEFTROW(21, Z27) \
	TDP46            \
	LEFTROW(22, Z28) \
	LEFTROW(23, Z29) \
	RIGHTPART(2)     \
	TDP46            \
	LEFTROW(24, Z30) \
	LEFTROWM(25)     \
	TDP56            \
	LEFTROWM(26)     \
	LEFTROWM(27)     \
	TDP57            \
	LEFTROWM(28)     \
	LEFTROWM(29)     \
	TDP47            \
	LEFTROWM(30)     \
	LEFTROWM(31)     \
	RIGHTPART(0)     \
	TDP46            \
	TDP56            \
	TDP57            \
	TDP47

// CLEARSUMS clears the sums.
#define CLEARSUMS \
	VPXORD  Z6, Z6, Z6              \
	VPXORD  Z7, Z7, Z7              \
	VPXORD  Z8, Z8, Z8              \
	VPXORD  Z9, Z9, Z9              \
	VPXORD  Z10, Z10, Z10           \
	VPXORD  Z11, Z11, Z11           \
	VPXORD  Z12, Z12, Z12           \
	VPXORD  Z13, Z13, Z13           \
	VPXORD  Z14, Z14, Z14           \
	VPXORD  Z15, Z15, Z15           \
	VPXORD  Z16, Z16, Z16           \
	VPXORD  Z17, Z17, Z17           \
	VPXORD  Z18, Z18, Z18           \
	VPXORD  Z19, Z19, Z19           \
	VPXORD  Z20, Z20, Z20           \
	VPXORD  Z21, Z21, Z21           \
	VPXORD  Z22, Z22, Z22           \
	VPXORD  Z23, Z23, Z23           \
	VPXORD  Z24, Z24, Z24           \
	VPXORD  Z25, Z25, Z25           \
	VPXORD  Z26, Z26, Z26           \
	VPXORD  Z27, Z27, Z27           \
	VPXORD  Z28, Z28, Z28           \
	VPXORD  Z29, Z29, Z29           \
	VPXORD  Z30, Z30, Z30           \
	VMOVUPS Z6, (12288 + 0*64)(R13) \
	VMOVUPS Z6, (12288 + 1*64)(R13) \
	VMOVUPS Z6, (12288 + 2*64)(R13) \
	VMOVUPS Z6, (12288 + 3*64)(R13) \
	VMOVUPS Z6, (12288 + 4*64)(R13) \
	VMOVUPS Z6, (12288 + 5*64)(R13) \
	VMOVUPS Z6, (12288 + 6*64)(R13)

// ADDVALUES, ADDPAIRS and ADDLANES, one after the other, halve the partial sums of the rows in a and in b, and leave
// both in a.
#define ADDVALUES(a, b) \
	VUNPCKLPS b, a, Z0 \
	VUNPCKHPS b, a, a  \
	VADDPS    Z0, a, a

#define ADDPAIRS(a, b) \
	VUNPCKLPD b, a, Z0 \
	VUNPCKHPD b, a, a  \
	VADDPS    Z0, a, a

#define ADDLANES(a, b) \
	VSHUFF32X4 $0x88, b, a, Z0 \
	VSHUFF32X4 $0xdd, b, a, a  \
	VADDPS     Z0, a, a

#define TOTALS4(a, b, c, d) \
	ADDVALUES(a, b) \
	ADDVALUES(c, d) \
	ADDPAIRS(a, c)

// TOTALS adds up the partial sums of 16 rows: row by row in a.
#define TOTALS(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
	TOTALS4(a, b, c, d) \
	TOTALS4(e, f, g, h) \
	TOTALS4(i, j, k, l) \
	TOTALS4(m, n, o, p) \
	ADDLANES(a, e)      \
	ADDLANES(i, m)      \
	ADDLANES(a, i)

// func linearGradSplitAMX(strips, panels int, y *float32, ldy int, w, h, dw *float32, lddw int, dh *float32, lddh int, sums *float32, ahead int, addW, addH bool)
TEXT ·linearGradSplitAMX(SB), 0, $12896-98
	LEAQ         63(SP), R13
	ANDQ         $~63, R13
	MOVL         $64, R8
	MOVL         $0xffff0000, AX
	VPBROADCASTD AX, Z31
	MOVL         $0xaaaaaaaa, AX
	KMOVD        AX, K7
	MOVQ         lddw+56(FP), R9
	SHLQ         $2, R9
	MOVQ         lddh+72(FP), CX
	SHLQ         $2, CX
	MOVQ         ldy+24(FP), R12
	SHLQ         $2, R12
	MOVB         addW+96(FP), AX
	MOVB         AX, addAll-32(SP)
	LEAQ         tiles<>(SB), AX
	CONFIGURE

	// No sums, and the left form of the first block.
	CLEARSUMS
	MOVQ y+16(FP), R11
	LEFTROW(0, Z6)
	LEFTROW(1, Z7)
	LEFTROW(2, Z8)
	LEFTROW(3, Z9)
	LEFTROW(4, Z10)
	LEFTROW(5, Z11)
	LEFTROW(6, Z12)
	LEFTROW(7, Z13)
	LEFTROW(8, Z14)
	LEFTROW(9, Z15)
	LEFTROW(10, Z16)
	LEFTROW(11, Z17)
	LEFTROW(12, Z18)
	LEFTROW(13, Z19)
	LEFTROW(14, Z20)
	LEFTROW(15, Z21)
	LEFTROW(16, Z22)
	LEFTROW(17, Z23)
	LEFTROW(18, Z24)
	LEFTROW(19, Z25)
	LEFTROW(20, Z26)
	LEFTROW(21, Z27)
	LEFTROW(22, Z28)
	LEFTROW(23, Z29)
	LEFTROW(24, Z30)
	LEFTROWM(25)
	LEFTROWM(26)
	LEFTROWM(27)
	LEFTROWM(28)
	LEFTROWM(29)
	LEFTROWM(30)
	LEFTROWM(31)

	// What the first block finds in the tiles goes to where dH of the first panel will be
	// once there is one: here is none yet, so it goes to the place of the right form.
	LEAQ 6144(R13), AX
	LEAQ 2048(AX), R10
	MOVQ CX, lddh+72(FP)
	MOVL $128, CX

strip:
	MOVQ panels+8(FP), BX
	MOVQ BX, panel-16(SP)
	MOVQ h+40(FP), DI
	MOVQ dh+64(FP), BX
	MOVQ BX, dhNow-24(SP)

	// Ahead lies the next strip, or behind the last one what the caller says.
	MOVQ    R12, BX
	SHLQ    $5, BX
	CMPQ    strips+0(FP), $1
	CMOVQEQ ahead+88(FP), BX
	ADDQ    y+16(FP), BX
	MOVQ    BX, begun-40(SP)

panel:
	// dW += left * H
	MOVQ R13, SI
	MOVQ DI, hNow-8(SP)
	MOVQ dw+48(FP), DX
	MOVQ R9, BX
	SHLQ $4, BX
	ADDQ DX, BX
	MOVQ y+16(FP), R11
	MOVQ R12, R14
	SHLQ $4, R14
	ADDQ R11, R14
	LEFTPART(2)
	RIGHTPARTONCE(0)
	CMPB addW+96(FP), $0
	JEQ  zeroW
	ADDW
	JMP  restW

zeroW:
	ZEROW

restW:
	MOVQ begun-40(SP), R10
	RESTW
	MOVQ R10, begun-40(SP)

	// dH += W * right, meanwhile the next block: of this strip, of the next one, or
	// behind the last one the same again.
	MOVB $1, addW+96(FP)
	MOVQ w+32(FP), SI
	LEAQ 6144(R13), DI
	MOVQ dhNow-24(SP), AX
	MOVQ lddh+72(FP), CX
	MOVQ CX, R10
	SHLQ $4, R10
	ADDQ AX, R10
	ADDQ $128, dhNow-24(SP)
	MOVQ y+16(FP), R11
	DECQ panel-16(SP)
	JNZ  along

	// The sums of the strip are complete.
	MOVQ    sums+80(FP), R14
	TOTALS(Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19, Z20, Z21)
	VMOVUPS Z6, (R14)
	VMOVUPS (12288 + 0*64)(R13), Z6
	VMOVUPS (12288 + 1*64)(R13), Z7
	VMOVUPS (12288 + 2*64)(R13), Z8
	VMOVUPS (12288 + 3*64)(R13), Z9
	VMOVUPS (12288 + 4*64)(R13), Z10
	VMOVUPS (12288 + 5*64)(R13), Z11
	VMOVUPS (12288 + 6*64)(R13), Z12
	TOTALS(Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z6, Z7, Z8, Z9, Z10, Z11, Z12)
	VMOVUPS Z22, 64(R14)
	ADDQ    $128, R14
	CLEARSUMS
	MOVQ    R14, sums+80(FP)
	MOVQ    y+16(FP), R11
	CMPQ    strips+0(FP), $1
	JEQ     next
	MOVQ    panels+8(FP), R14
	SHLQ    $7, R14
	SUBQ    $128, R14
	SUBQ    R14, R11
	MOVQ    R12, R14
	SHLQ    $5, R14
	ADDQ    R14, R11
	JMP     next

along:
	ADDQ $128, R11

next:
	MOVQ R11, y+16(FP)
	LEFTPART(2)
	RIGHTPART(0)
	CMPB addH+97(FP), $0
	JEQ  zeroH
	ADDH
	JMP  restH

zeroH:
	ZEROH

restH:
	RESTH
	MOVQ hNow-8(SP), DI
	ADDQ $6144, DI
	CMPQ panel-16(SP), $0
	JNE  panel

	// The next strip.
	MOVB $1, addH+97(FP)
	MOVB addAll-32(SP), BX
	MOVB BX, addW+96(FP)
	ADDQ $6144, w+32(FP)
	MOVQ R9, BX
	SHLQ $5, BX
	ADDQ BX, dw+48(FP)
	DECQ strips+0(FP)
	JNZ  strip
	STOREH(0, 0)
	STOREH(1, 64)
	STOREH16(2, 0)
	STOREH16(3, 64)
	RELEASE
	VZEROUPPER
	RET
