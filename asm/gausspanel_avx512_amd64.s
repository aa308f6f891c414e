//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

#define column_slots 0
#define column_waves 8
#define column_taps 16
#define column__size 24

// A strip of GaussPanel. In Go, for columns of five taps:
//
//	for s, column := range columns {
//		for c := range n {
//			b, w := column.slots[c*slots*16:], column.waves
//			spare.re[c][s] = b[0:16] + w[1]*b[16:32] + w[2]*b[32:48]
//			spare.im[c][s] = w[3]*b[48:64] + w[4]*b[64:80]
//		}
//	}
//	for plane, factor := range {re, im, re + im} { // D, T and S
//		sums = 0
//		for c := range n {
//			for s := range columns {
//				for i := range m {
//					sums[i][:] += broadcast(x[2-plane][c][i+s]) * factor[c][s][:16]
//				}
//			}
//		}
//		y[2-plane] = sums // accumulate: added
//	}
//
// T is taken for the talls columns from tall on: the others have one tap, and no im. Where x is real there is D alone, of
// the first plane.
//
// Of the factors:
//
//	Z0..Z5      waves, cosines and sines of 1..3
//	Z6, Z7      re and im
//	AX, DX      the column, and its taps above the middle
//	DI          the slots at the step
//	SI, R14     re and im at the step
//	R8          bytes from the slots of one source to the next
//	R9          bytes from one source to the next in spare
//
// Of the sums:
//
//	Z0..Z27     sums
//	Z28         the factor
//	K1, K2      the targets, and where y is added to
//	SI          x at the step
//	R8          bytes to its next source
//	R14         the factors at the step
//	R9, R11     bytes to those of the next source, and from re to im
//	DX          columns
//	R10         rows
//	CX          sources left

// FACTORS keeps those of a source, and goes on to the next.
#define FACTORS(step) \
	VMOVUPS Z6, (SI)  \
	VMOVUPS Z7, (R14) \
	ADDQ    R8, DI    \
	ADDQ    R9, SI    \
	ADDQ    R9, R14   \
	DECQ    CX        \
	JNZ     step      \
	JMP     made

// ROW multiplies the factor with rows s to s+1, and so on, of x, for a column s.
#define ROWS7(s) \
	VFMADD231PS.BCST 0+s(SI), Z28, Z0  \
	VFMADD231PS.BCST 4+s(SI), Z28, Z1  \
	VFMADD231PS.BCST 8+s(SI), Z28, Z2  \
	VFMADD231PS.BCST 12+s(SI), Z28, Z3 \
	VFMADD231PS.BCST 16+s(SI), Z28, Z4 \
	VFMADD231PS.BCST 20+s(SI), Z28, Z5 \
	VFMADD231PS.BCST 24+s(SI), Z28, Z6

#define ROWS14(s) \
	ROWS7(s)                            \
	VFMADD231PS.BCST 28+s(SI), Z28, Z7  \
	VFMADD231PS.BCST 32+s(SI), Z28, Z8  \
	VFMADD231PS.BCST 36+s(SI), Z28, Z9  \
	VFMADD231PS.BCST 40+s(SI), Z28, Z10 \
	VFMADD231PS.BCST 44+s(SI), Z28, Z11 \
	VFMADD231PS.BCST 48+s(SI), Z28, Z12 \
	VFMADD231PS.BCST 52+s(SI), Z28, Z13

#define ROWS28(s) \
	ROWS14(s)                            \
	VFMADD231PS.BCST 56+s(SI), Z28, Z14  \
	VFMADD231PS.BCST 60+s(SI), Z28, Z15  \
	VFMADD231PS.BCST 64+s(SI), Z28, Z16  \
	VFMADD231PS.BCST 68+s(SI), Z28, Z17  \
	VFMADD231PS.BCST 72+s(SI), Z28, Z18  \
	VFMADD231PS.BCST 76+s(SI), Z28, Z19  \
	VFMADD231PS.BCST 80+s(SI), Z28, Z20  \
	VFMADD231PS.BCST 84+s(SI), Z28, Z21  \
	VFMADD231PS.BCST 88+s(SI), Z28, Z22  \
	VFMADD231PS.BCST 92+s(SI), Z28, Z23  \
	VFMADD231PS.BCST 96+s(SI), Z28, Z24  \
	VFMADD231PS.BCST 100+s(SI), Z28, Z25 \
	VFMADD231PS.BCST 104+s(SI), Z28, Z26 \
	VFMADD231PS.BCST 108+s(SI), Z28, Z27

#define ROWS(s, done) \
	VFMADD231PS.BCST 0+s(SI), Z28, Z0    \
	CMPQ             R10, $1             \
	JEQ              done                \
	VFMADD231PS.BCST 4+s(SI), Z28, Z1    \
	CMPQ             R10, $2             \
	JEQ              done                \
	VFMADD231PS.BCST 8+s(SI), Z28, Z2    \
	VFMADD231PS.BCST 12+s(SI), Z28, Z3   \
	CMPQ             R10, $4             \
	JEQ              done                \
	VFMADD231PS.BCST 16+s(SI), Z28, Z4   \
	VFMADD231PS.BCST 20+s(SI), Z28, Z5   \
	VFMADD231PS.BCST 24+s(SI), Z28, Z6   \
	CMPQ             R10, $7             \
	JEQ              done                \
	VFMADD231PS.BCST 28+s(SI), Z28, Z7   \
	CMPQ             R10, $8             \
	JEQ              done                \
	VFMADD231PS.BCST 32+s(SI), Z28, Z8   \
	VFMADD231PS.BCST 36+s(SI), Z28, Z9   \
	VFMADD231PS.BCST 40+s(SI), Z28, Z10  \
	VFMADD231PS.BCST 44+s(SI), Z28, Z11  \
	VFMADD231PS.BCST 48+s(SI), Z28, Z12  \
	VFMADD231PS.BCST 52+s(SI), Z28, Z13  \
	CMPQ             R10, $14            \
	JEQ              done                \
	VFMADD231PS.BCST 56+s(SI), Z28, Z14  \
	VFMADD231PS.BCST 60+s(SI), Z28, Z15  \
	CMPQ             R10, $16            \
	JEQ              done                \
	VFMADD231PS.BCST 64+s(SI), Z28, Z16  \
	VFMADD231PS.BCST 68+s(SI), Z28, Z17  \
	VFMADD231PS.BCST 72+s(SI), Z28, Z18  \
	VFMADD231PS.BCST 76+s(SI), Z28, Z19  \
	VFMADD231PS.BCST 80+s(SI), Z28, Z20  \
	VFMADD231PS.BCST 84+s(SI), Z28, Z21  \
	VFMADD231PS.BCST 88+s(SI), Z28, Z22  \
	VFMADD231PS.BCST 92+s(SI), Z28, Z23  \
	VFMADD231PS.BCST 96+s(SI), Z28, Z24  \
	VFMADD231PS.BCST 100+s(SI), Z28, Z25 \
	VFMADD231PS.BCST 104+s(SI), Z28, Z26 \
	VFMADD231PS.BCST 108+s(SI), Z28, Z27

// SOURCE goes on to the next source.
#define SOURCE(step) \
	ADDQ R8, SI  \
	ADDQ R9, R14 \
	DECQ CX      \
	JNZ  step    \
	JMP  save

#define SAVEROW(sum) \
	VADDPS  (DI), sum, K2, sum \
	VMOVUPS sum, K1, (DI)      \
	ADDQ    BX, DI             \
	DECQ    CX                 \
	JEQ     saved

// RE has re for the factor of a column, and goes to end behind the last. IM has im, and adds it to re.
#define RE(s, end) \
	CMPQ    DX, $s         \
	JEQ     end            \
	VMOVUPS 64*s(R14), Z28

#define IM(s, end) \
	CMPQ    DX, $s                \
	JEQ     end                   \
	VMOVUPS 64*s(R14)(R11*1), Z28 \
	VADDPS  64*s(R14), Z28, Z29   \
	VMOVUPS Z29, 64*s(R14)

// func sgaussPanelAVX512(columns *gaussPanelTaps, count, m, n int, x *float32, xsource, xplane, slots int, y *float32, yrow, yplane, width int, spare *float32, tall, talls int, accumulate, real bool)
TEXT ·sgaussPanelAVX512(SB), NOSPLIT, $8-122
	MOVQ    width+88(FP), CX
	MOVQ    $1, AX
	SHLQ    CX, AX
	DECQ    AX
	KMOVW   AX, K1
	MOVBLZX accumulate+120(FP), CX
	NEGQ    CX
	ANDQ    AX, CX
	KMOVW   CX, K2

	MOVQ  slots+56(FP), R8
	SHLQ  $6, R8
	MOVQ  count+8(FP), R15
	MOVQ  R15, R9
	SHLQ  $6, R9
	MOVQ  n+24(FP), R11
	IMULQ R9, R11
	MOVQ  columns+0(FP), AX
	MOVQ  spare+96(FP), R12

taps:
	MOVQ         column_slots(AX), DI
	MOVQ         column_waves(AX), BX
	MOVQ         column_taps(AX), DX
	MOVQ         R12, SI
	LEAQ         (R12)(R11*1), R14
	MOVQ         n+24(FP), CX
	CMPQ         DX, $1
	JLT          flat
	JEQ          one
	CMPQ         DX, $2
	JEQ          two
	VBROADCASTSS 4(BX), Z0
	VBROADCASTSS 8(BX), Z1
	VBROADCASTSS 12(BX), Z2
	VBROADCASTSS 16(BX), Z3
	VBROADCASTSS 20(BX), Z4
	VBROADCASTSS 24(BX), Z5

three:
	VMOVUPS     (DI), Z6
	VFMADD231PS 64(DI), Z0, Z6
	VFMADD231PS 128(DI), Z1, Z6
	VFMADD231PS 192(DI), Z2, Z6
	VMULPS      256(DI), Z3, Z7
	VFMADD231PS 320(DI), Z4, Z7
	VFMADD231PS 384(DI), Z5, Z7
	FACTORS(three)

two:
	VBROADCASTSS 4(BX), Z0
	VBROADCASTSS 8(BX), Z1
	VBROADCASTSS 12(BX), Z3
	VBROADCASTSS 16(BX), Z4

twostep:
	VMOVUPS     (DI), Z6
	VFMADD231PS 64(DI), Z0, Z6
	VFMADD231PS 128(DI), Z1, Z6
	VMULPS      192(DI), Z3, Z7
	VFMADD231PS 256(DI), Z4, Z7
	FACTORS(twostep)

one:
	VBROADCASTSS 4(BX), Z0
	VBROADCASTSS 8(BX), Z3

onestep:
	VMOVUPS     (DI), Z6
	VFMADD231PS 64(DI), Z0, Z6
	VMULPS      128(DI), Z3, Z7
	FACTORS(onestep)

flat:
	VPXORD Z7, Z7, Z7

flatstep:
	VMOVUPS (DI), Z6
	FACTORS(flatstep)

made:
	ADDQ $column__size, AX
	ADDQ $64, R12
	DECQ R15
	JNZ  taps

	MOVQ xsource+40(FP), R8
	SHLQ $2, R8
	MOVQ m+16(FP), R10
	SHLQ $2, xplane+48(FP)
	SHLQ $2, yplane+80(FP)
	MOVQ $0, plane-8(SP)
	CMPB real+121(FP), $0
	JNE  re
	MOVQ $2, plane-8(SP)

re:
	ZERO28
	MOVQ  spare+96(FP), R14
	MOVQ  x+32(FP), SI
	MOVQ  xplane+48(FP), BX
	IMULQ plane-8(SP), BX
	ADDQ  BX, SI
	MOVQ  count+8(FP), DX
	MOVQ  n+24(FP), CX
	CMPQ  R10, $28
	JEQ   re28
	CMPQ  R10, $14
	JEQ   re14

reany:
	RE(0, reanyend)
	ROWS(0, reany0)

reany0:
	RE(1, reanyend)
	ROWS(4, reany1)

reany1:
	RE(2, reanyend)
	ROWS(8, reany2)

reany2:
	RE(3, reanyend)
	ROWS(12, reany3)

reany3:
	RE(4, reanyend)
	ROWS(16, reany4)

reany4:
	RE(5, reanyend)
	ROWS(20, reany5)

reany5:
	RE(6, reanyend)
	ROWS(24, reany6)

reany6:

reanyend:
	SOURCE(reany)

re14:
	RE(0, re14end)
	ROWS14(0)
	RE(1, re14end)
	ROWS14(4)
	RE(2, re14end)
	ROWS14(8)
	RE(3, re14end)
	ROWS14(12)
	RE(4, re14end)
	ROWS14(16)
	RE(5, re14end)
	ROWS14(20)
	RE(6, re14end)
	ROWS14(24)

re14end:
	SOURCE(re14)

re28:
	RE(0, re28end)
	ROWS28(0)
	RE(1, re28end)
	ROWS28(4)
	RE(2, re28end)
	ROWS28(8)
	RE(3, re28end)
	ROWS28(12)
	RE(4, re28end)
	ROWS28(16)
	RE(5, re28end)
	ROWS28(20)
	RE(6, re28end)
	ROWS28(24)

re28end:
	SOURCE(re28)

im:
	MOVQ  talls+112(FP), DX
	ZERO28
	MOVQ  x+32(FP), SI
	ADDQ  xplane+48(FP), SI
	MOVQ  tall+104(FP), BX
	LEAQ  (SI)(BX*4), SI
	MOVQ  BX, R14
	SHLQ  $6, R14
	ADDQ  spare+96(FP), R14
	MOVQ  n+24(FP), CX
	TESTQ DX, DX
	JEQ   save
	CMPQ  R10, $28
	JEQ   im28
	CMPQ  R10, $14
	JEQ   im14

imany:
	IM(0, imanyend)
	ROWS(0, imany0)

imany0:
	IM(1, imanyend)
	ROWS(4, imany1)

imany1:
	IM(2, imanyend)
	ROWS(8, imany2)

imany2:
	IM(3, imanyend)
	ROWS(12, imany3)

imany3:
	IM(4, imanyend)
	ROWS(16, imany4)

imany4:
	IM(5, imanyend)
	ROWS(20, imany5)

imany5:
	IM(6, imanyend)
	ROWS(24, imany6)

imany6:

imanyend:
	SOURCE(imany)

im14:
	IM(0, im14end)
	ROWS14(0)
	IM(1, im14end)
	ROWS14(4)
	IM(2, im14end)
	ROWS14(8)
	IM(3, im14end)
	ROWS14(12)
	IM(4, im14end)
	ROWS14(16)
	IM(5, im14end)
	ROWS14(20)
	IM(6, im14end)
	ROWS14(24)

im14end:
	SOURCE(im14)

im28:
	IM(0, im28end)
	ROWS28(0)
	IM(1, im28end)
	ROWS28(4)
	IM(2, im28end)
	ROWS28(8)
	IM(3, im28end)
	ROWS28(12)
	IM(4, im28end)
	ROWS28(16)
	IM(5, im28end)
	ROWS28(20)
	IM(6, im28end)
	ROWS28(24)

im28end:
	SOURCE(im28)

save:
	MOVQ  yplane+80(FP), DI
	IMULQ plane-8(SP), DI
	ADDQ  y+64(FP), DI
	MOVQ  yrow+72(FP), BX
	SHLQ  $2, BX
	MOVQ  R10, CX
	SAVEROW(Z0)
	SAVEROW(Z1)
	SAVEROW(Z2)
	SAVEROW(Z3)
	SAVEROW(Z4)
	SAVEROW(Z5)
	SAVEROW(Z6)
	SAVEROW(Z7)
	SAVEROW(Z8)
	SAVEROW(Z9)
	SAVEROW(Z10)
	SAVEROW(Z11)
	SAVEROW(Z12)
	SAVEROW(Z13)
	SAVEROW(Z14)
	SAVEROW(Z15)
	SAVEROW(Z16)
	SAVEROW(Z17)
	SAVEROW(Z18)
	SAVEROW(Z19)
	SAVEROW(Z20)
	SAVEROW(Z21)
	SAVEROW(Z22)
	SAVEROW(Z23)
	SAVEROW(Z24)
	SAVEROW(Z25)
	SAVEROW(Z26)
	SAVEROW(Z27)

saved:
	DECQ plane-8(SP)
	JLT  end
	JEQ  re
	JMP  im

end:
	VZEROUPPER
	RET
