//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

#define column_slots 0
#define column_waves 8
#define column_taps 16
#define column__size 24

// GaussPanelGrad, for up to 7 columns. In Go, for columns of five taps and 4 sources at a time:
//
//	sums = 0
//	for _, with := range [][2]int{{0, 0}, {1, 2}, {2, 1}} { // S, then T, then D on S
//		for q := range rows {
//			for s := range columns {
//				for c := range 4 {
//					sums[s][c][:] += broadcast(x[with[1]][c][q+s]) * dy[with[0]][q][:16]
//				}
//			}
//		}
//	}
//	for s, column := range columns {
//		for c := range 4 {
//			b, w := column.slots[c*slots*16:], column.waves
//			b[0:16] += w[0] * (S + T)[s][c]
//			b[16:32] += w[1] * (S + T)[s][c]
//			b[32:48] += w[2] * (S + T)[s][c]
//			b[48:64] += w[3] * (S + D)[s][c]
//			b[64:80] += w[4] * (S + D)[s][c]
//		}
//	}
//
// D is taken for the columns from the first to the last that have more than one tap. Where x is real there is S alone.
// Where there are fewer than four sources the last one is taken again, and not written.
//
//	Z0..Z27      sums
//	Z28          the targets of a row of dy
//	Z29, Z30     a wave, and what a slot had
//	K1           the targets
//	SI, R11..R13 x of the sources at the step
//	DI           dy at the step
//	R10          bytes to its next row
//	R14          bytes from one source of x to the next
//	AX, DX       the column, and columns
//	R8, R15      bytes from the slots of one source to the next, and to the third
//	R9           sources left
//	CX           steps left
//	BX           bytes from the first column to the present one
//
// offset are the bytes from the slots of the first source.

// COLUMN multiplies the rows s of x, in bytes.
#define COLUMN(s, sum0, sum1, sum2, sum3) \
	VFMADD231PS.BCST s(SI), Z28, sum0  \
	VFMADD231PS.BCST s(R11), Z28, sum1 \
	VFMADD231PS.BCST s(R12), Z28, sum2 \
	VFMADD231PS.BCST s(R13), Z28, sum3

// STEP goes on to the next row.
#define STEP(step, end) \
	ADDQ $4, SI  \
	ADDQ $4, R11 \
	ADDQ $4, R12 \
	ADDQ $4, R13 \
	ADDQ R10, DI \
	DECQ CX      \
	JNZ  step    \
	JMP  end

// STEPS adds the sums of a plane of x, from BX on, and one of dy, and goes to end. Seven and five columns have steps of their
// own.
#define STEPS(xof, dyof, step, done, step5, step7, end) \
	MOVQ      xplane+40(FP), SI    \
	IMUL3Q    $xof, SI, SI         \
	ADDQ      x+24(FP), SI         \
	ADDQ      BX, SI               \
	XORL      DI, DI               \
	MOVQ      R14, CX              \
	CMPQ      R9, $2               \
	CMOVQLT   DI, CX               \
	LEAQ      (SI)(CX*1), R11      \
	CMPQ      R9, $3               \
	CMOVQLT   DI, CX               \
	LEAQ      (R11)(CX*1), R12     \
	CMPQ      R9, $4               \
	CMOVQLT   DI, CX               \
	LEAQ      (R12)(CX*1), R13     \
	MOVQ      dyplane+72(FP), DI   \
	IMUL3Q    $dyof, DI, DI        \
	ADDQ      dy+56(FP), DI        \
	MOVQ      rows+80(FP), CX      \
	CMPQ      DX, $7               \
	JEQ       step7                \
	CMPQ      DX, $5               \
	JEQ       step5                \
	step:                          \
	VMOVUPS.Z (DI), K1, Z28        \
	COLUMN(0, Z0, Z1, Z2, Z3)      \
	CMPQ      DX, $1               \
	JEQ       done                 \
	COLUMN(4, Z4, Z5, Z6, Z7)      \
	CMPQ      DX, $2               \
	JEQ       done                 \
	COLUMN(8, Z8, Z9, Z10, Z11)    \
	CMPQ      DX, $3               \
	JEQ       done                 \
	COLUMN(12, Z12, Z13, Z14, Z15) \
	CMPQ      DX, $4               \
	JEQ       done                 \
	COLUMN(16, Z16, Z17, Z18, Z19) \
	CMPQ      DX, $5               \
	JEQ       done                 \
	COLUMN(20, Z20, Z21, Z22, Z23) \
	CMPQ      DX, $6               \
	JEQ       done                 \
	COLUMN(24, Z24, Z25, Z26, Z27) \
	done:                          \
	STEP(step, end)                \
	step5:                         \
	VMOVUPS.Z (DI), K1, Z28        \
	COLUMN(0, Z0, Z1, Z2, Z3)      \
	COLUMN(4, Z4, Z5, Z6, Z7)      \
	COLUMN(8, Z8, Z9, Z10, Z11)    \
	COLUMN(12, Z12, Z13, Z14, Z15) \
	COLUMN(16, Z16, Z17, Z18, Z19) \
	STEP(step5, end)               \
	step7:                         \
	VMOVUPS.Z (DI), K1, Z28        \
	COLUMN(0, Z0, Z1, Z2, Z3)      \
	COLUMN(4, Z4, Z5, Z6, Z7)      \
	COLUMN(8, Z8, Z9, Z10, Z11)    \
	COLUMN(12, Z12, Z13, Z14, Z15) \
	COLUMN(16, Z16, Z17, Z18, Z19) \
	COLUMN(20, Z20, Z21, Z22, Z23) \
	COLUMN(24, Z24, Z25, Z26, Z27) \
	STEP(step7, end)

#define FOLD(at, sum) \
	VMOVUPS     at, Z30       \
	VFMADD231PS sum, Z29, Z30 \
	VMOVUPS     Z30, at

// TAPS adds the sums of a column to CX slots of each source, by the waves at BX.
#define TAPS(sum0, sum1, sum2, sum3, tap, done) \
tap:  \
	VBROADCASTSS (BX), Z29  \
	FOLD((DI), sum0)        \
	CMPQ         R9, $2     \
	JLT          done       \
	FOLD((DI)(R8*1), sum1)  \
	CMPQ         R9, $3     \
	JLT          done       \
	FOLD((DI)(R8*2), sum2)  \
	CMPQ         R9, $4     \
	JLT          done       \
	FOLD((DI)(R15*1), sum3) \
	done:                   \
	ADDQ         $64, DI    \
	ADDQ         $4, BX     \
	DECQ         CX         \
	JNZ          tap

#define SLOTS \
	MOVQ column_slots(AX), DI \
	ADDQ offset-8(SP), DI     \
	MOVQ column_waves(AX), BX \
	MOVQ column_taps(AX), CX  \
	ADDQ $column__size, AX

// RE adds the sums of a column to the slots of its middle and its sums, and goes to end behind the last one.
#define RE(sum0, sum1, sum2, sum3, tap, done, end) \
	SLOTS                                   \
	INCQ CX                                 \
	TAPS(sum0, sum1, sum2, sum3, tap, done) \
	DECQ DX                                 \
	JEQ  end

// IM adds the sums of a column to the slots of its differences, and goes to end behind the last one.
#define IM(sum0, sum1, sum2, sum3, tap, done, flat, end) \
	SLOTS                                   \
	TESTQ CX, CX                            \
	JEQ   flat                              \
	LEAQ  4(BX)(CX*4), BX                   \
	MOVQ  CX, R11                           \
	SHLQ  $6, R11                           \
	LEAQ  64(DI)(R11*1), DI                 \
	TAPS(sum0, sum1, sum2, sum3, tap, done) \
	flat:                                   \
	DECQ  DX                                \
	JEQ   end

// func sgaussPanelGradAVX512(columns *gaussPanelTaps, count, n int, x *float32, xsource, xplane, slots int, dy *float32, dyrow, dyplane, rows, width int, spare *float32, tall, talls int, real bool)
TEXT ·sgaussPanelGradAVX512(SB), NOSPLIT, $8-121
	MOVQ  width+88(FP), CX
	MOVQ  $1, AX
	SHLQ  CX, AX
	DECQ  AX
	KMOVW AX, K1
	MOVQ  xsource+32(FP), R14
	SHLQ  $2, R14
	MOVQ  dyrow+64(FP), R10
	SHLQ  $2, R10
	MOVQ  slots+48(FP), R8
	SHLQ  $6, R8
	LEAQ  (R8)(R8*2), R15
	SHLQ  $2, xplane+40(FP)
	SHLQ  $2, dyplane+72(FP)
	MOVQ  n+16(FP), R9
	MOVQ  $0, offset-8(SP)

group:
	ZERO28
	MOVQ count+8(FP), DX
	XORL BX, BX
	STEPS(0, 0, s, sdone, s5, s7, kept)

kept:
	CMPB    real+120(FP), $0
	JNE     re
	MOVQ    spare+96(FP), DI
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VMOVUPS Z4, 256(DI)
	VMOVUPS Z5, 320(DI)
	VMOVUPS Z6, 384(DI)
	VMOVUPS Z7, 448(DI)
	VMOVUPS Z8, 512(DI)
	VMOVUPS Z9, 576(DI)
	VMOVUPS Z10, 640(DI)
	VMOVUPS Z11, 704(DI)
	VMOVUPS Z12, 768(DI)
	VMOVUPS Z13, 832(DI)
	VMOVUPS Z14, 896(DI)
	VMOVUPS Z15, 960(DI)
	VMOVUPS Z16, 1024(DI)
	VMOVUPS Z17, 1088(DI)
	VMOVUPS Z18, 1152(DI)
	VMOVUPS Z19, 1216(DI)
	VMOVUPS Z20, 1280(DI)
	VMOVUPS Z21, 1344(DI)
	VMOVUPS Z22, 1408(DI)
	VMOVUPS Z23, 1472(DI)
	VMOVUPS Z24, 1536(DI)
	VMOVUPS Z25, 1600(DI)
	VMOVUPS Z26, 1664(DI)
	VMOVUPS Z27, 1728(DI)
	STEPS(2, 1, t, tdone, t5, t7, re)

re:
	MOVQ columns+0(FP), AX
	RE(Z0, Z1, Z2, Z3, retap0, redone0, im)
	RE(Z4, Z5, Z6, Z7, retap1, redone1, im)
	RE(Z8, Z9, Z10, Z11, retap2, redone2, im)
	RE(Z12, Z13, Z14, Z15, retap3, redone3, im)
	RE(Z16, Z17, Z18, Z19, retap4, redone4, im)
	RE(Z20, Z21, Z22, Z23, retap5, redone5, im)
	RE(Z24, Z25, Z26, Z27, retap6, redone6, im)

im:
	CMPB    real+120(FP), $0
	JNE     next
	MOVQ    talls+112(FP), DX
	TESTQ   DX, DX
	JEQ     next
	MOVQ    tall+104(FP), BX
	MOVQ    BX, DI
	SHLQ    $8, DI
	ADDQ    spare+96(FP), DI
	SHLQ    $2, BX
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS 192(DI), Z3
	VMOVUPS 256(DI), Z4
	VMOVUPS 320(DI), Z5
	VMOVUPS 384(DI), Z6
	VMOVUPS 448(DI), Z7
	VMOVUPS 512(DI), Z8
	VMOVUPS 576(DI), Z9
	VMOVUPS 640(DI), Z10
	VMOVUPS 704(DI), Z11
	VMOVUPS 768(DI), Z12
	VMOVUPS 832(DI), Z13
	VMOVUPS 896(DI), Z14
	VMOVUPS 960(DI), Z15
	VMOVUPS 1024(DI), Z16
	VMOVUPS 1088(DI), Z17
	VMOVUPS 1152(DI), Z18
	VMOVUPS 1216(DI), Z19
	VMOVUPS 1280(DI), Z20
	VMOVUPS 1344(DI), Z21
	VMOVUPS 1408(DI), Z22
	VMOVUPS 1472(DI), Z23
	VMOVUPS 1536(DI), Z24
	VMOVUPS 1600(DI), Z25
	VMOVUPS 1664(DI), Z26
	VMOVUPS 1728(DI), Z27
	STEPS(1, 2, d, ddone, d5, d7, imtaps)

imtaps:
	MOVQ tall+104(FP), AX
	LEAQ (AX)(AX*2), AX
	SHLQ $3, AX
	ADDQ columns+0(FP), AX
	IM(Z0, Z1, Z2, Z3, imtap0, imdone0, flat0, next)
	IM(Z4, Z5, Z6, Z7, imtap1, imdone1, flat1, next)
	IM(Z8, Z9, Z10, Z11, imtap2, imdone2, flat2, next)
	IM(Z12, Z13, Z14, Z15, imtap3, imdone3, flat3, next)
	IM(Z16, Z17, Z18, Z19, imtap4, imdone4, flat4, next)
	IM(Z20, Z21, Z22, Z23, imtap5, imdone5, flat5, next)
	IM(Z24, Z25, Z26, Z27, imtap6, imdone6, flat6, next)

next:
	MOVQ x+24(FP), SI
	LEAQ (SI)(R14*4), SI
	MOVQ SI, x+24(FP)
	MOVQ R8, DI
	SHLQ $2, DI
	ADDQ DI, offset-8(SP)
	SUBQ $4, R9
	JG   group
	VZEROUPPER
	RET
