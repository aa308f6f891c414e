//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// A strip of GaussRows, of at most 7 rows, 16 targets after the other. In Go, for columns of five taps:
//
//	for ; width > 0; width -= 16 { // the last ones may be fewer
//		S, T, D = 0, 0, 0
//		for _, column := range columns {
//			for c := range n {
//				b := column.slots[:][c*targets:][:16]
//				re := b[0] + waves[1]*b[1] + waves[2]*b[2]
//				im := waves[3]*b[3] + waves[4]*b[4]
//				for i := range m {
//					if column.rows>>i&1 != 0 {
//						S[i][:] += broadcast(x[0][i][c]) * (re + im)
//						T[i][:] += broadcast(x[1][i][c]) * im
//						D[i][:] += broadcast(x[2][i][c]) * re
//					}
//				}
//			}
//		}
//		y = S, T, D // accumulate: added
//	}
//
// A row outside the plane costs a test with the outcome that it had in the step before. Where x is real there is S alone,
// of re.
//
//	Z0..Z6       S
//	Z7..Z13      T
//	Z14..Z20     D
//	Z21..Z23     re, im, re + im
//	Z24..Z29     cosines and sines of 1..3
//	K1           the targets that exist
//	R14          the column
//	SI, R11, R12 the planes of x at the step
//	R9, R13, R10 bytes from one row of x to the next, to the third and to the fifth
//	DI           the slots at the step
//	R8, BX, R15  bytes from one slot to the next, to the third and to the fifth
//	DX           rows of the column, and 256 times its taps above the middle
//	AX           what is fetched ahead
//	CX           sources left
//
// width, y and ahead count along in the frame of the arguments; offset are the bytes to the targets, left the columns left.

#define column_x 0
#define column_slots 8
#define column_waves 16
#define column_rows 24
#define column__size 32

// STRIDES makes multiples of R9 and R8, which it takes to bytes.
#define STRIDES \
	SHLQ $2, R9          \
	SHLQ $2, R8          \
	LEAQ (R9)(R9*2), R13 \
	LEAQ (R9)(R9*4), R10 \
	LEAQ (R8)(R8*2), BX  \
	LEAQ (R8)(R8*4), R15

// WAVES broadcasts the waves of a column, for as many taps as it has, and goes to begin.
#define WAVES(one, two, begin) \
	MOVQ         column_waves(R14), R11 \
	CMPL         DX, $0x100             \
	JLT          begin                  \
	CMPL         DX, $0x200             \
	JLT          one                    \
	CMPL         DX, $0x300             \
	JLT          two                    \
	VBROADCASTSS 4(R11), Z24            \
	VBROADCASTSS 8(R11), Z25            \
	VBROADCASTSS 12(R11), Z26           \
	VBROADCASTSS 16(R11), Z27           \
	VBROADCASTSS 20(R11), Z28           \
	VBROADCASTSS 24(R11), Z29           \
	JMP          begin                  \
	two:                      \
	VBROADCASTSS 4(R11), Z24  \
	VBROADCASTSS 8(R11), Z25  \
	VBROADCASTSS 12(R11), Z27 \
	VBROADCASTSS 16(R11), Z28 \
	JMP          begin        \
	one:                     \
	VBROADCASTSS 4(R11), Z24 \
	VBROADCASTSS 8(R11), Z27

// TALL multiplies a row where the column's spectrum is complex, FLAT where it is real, and SINGLE where x is
// real, too. A row that is not one of the column's leaves off at next.
#define TALL(bit, a0, a1, a2, s, t, d, next) \
	TESTB            $bit, DX   \
	JEQ              next       \
	VFMADD231PS.BCST a1, Z22, t \
	VFMADD231PS.BCST a2, Z21, d \
	VFMADD231PS.BCST a0, Z23, s

#define FLAT(bit, a0, a2, s, d, next) \
	TESTB            $bit, DX   \
	JEQ              next       \
	VFMADD231PS.BCST a0, Z21, s \
	VFMADD231PS.BCST a2, Z21, d

#define SINGLE(bit, a0, s, next) \
	TESTB            $bit, DX   \
	JEQ              next       \
	VFMADD231PS.BCST a0, Z21, s

// PUT writes a row of a plane, or adds it to what is there.
#define PUT(to, sum, skip) \
	TESTB    $1, CX           \
	JEQ      skip             \
	VADDPS.Z to, sum, K1, sum \
	skip:                     \
	VMOVUPS  sum, K1, to

// MASK sets K1 to the lowest CX of 16 targets, all of them for more.
#define MASK \
	MOVQ    $16, AX \
	CMPQ    CX, AX  \
	CMOVQGT AX, CX  \
	MOVQ    $1, AX  \
	SHLQ    CX, AX  \
	DECQ    AX      \
	KMOVW   AX, K1

// SAVE writes a row of all planes, the first one alone where x is real, and goes on to the next.
#define SAVE(s, t, d, skip0, skip1, skip2, next) \
	PUT((DI), s, skip0)       \
	CMPB  real+97(FP), $0     \
	JNE   next                \
	PUT((DI)(BX*1), t, skip1) \
	PUT((DI)(BX*2), d, skip2) \
	next:                     \
	ADDQ  R8, DI              \
	DECQ  AX                  \
	JEQ   done

// func sgaussRowsAVX512(columns *gaussTaps, count, m, n, xrow, xplane, lds, targets, width int, y *float32, yplane int, ahead *float32, accumulate, real bool)
TEXT ·sgaussRowsAVX512(SB), NOSPLIT, $16-98
	SHLQ $2, targets+56(FP)
	SHLQ $2, xplane+40(FP)
	SHLQ $2, yplane+80(FP)
	MOVQ $0, offset-8(SP)

tile:
	MOVQ width+64(FP), CX
	MASK
	MOVQ m+16(FP), AX
	MOVQ y+72(FP), DI
	MOVQ targets+56(FP), R8
	MOVQ yplane+80(FP), BX

fetch:
	PREFETCHT0 (DI)
	PREFETCHT0 (DI)(BX*1)
	PREFETCHT0 (DI)(BX*2)
	ADDQ       R8, DI
	DECQ       AX
	JNZ        fetch
	ZERO28
	MOVQ       count+8(FP), CX
	MOVQ       CX, left-16(SP)
	TESTQ      CX, CX
	JEQ        save
	MOVQ       xrow+32(FP), R9
	MOVQ       lds+48(FP), R8
	STRIDES
	MOVQ       columns+0(FP), R14
	MOVQ       ahead+88(FP), AX

column:
	MOVQ column_rows(R14), DX
	WAVES(one, two, begin)

begin:
	MOVQ column_x(R14), SI
	MOVQ column_slots(R14), DI
	ADDQ offset-8(SP), DI
	MOVQ n+24(FP), CX
	MOVQ xplane+40(FP), R12
	LEAQ (SI)(R12*1), R11
	LEAQ (SI)(R12*2), R12
	CMPB real+97(FP), $0
	JNE  single

step:
	PREFETCHT1  (AX)
	ADDQ        $64, AX
	VMOVUPS.Z   (DI), K1, Z21
	CMPL        DX, $0x100
	JLT         flat
	VFMADD231PS (DI)(R8*1), Z24, K1, Z21
	CMPL        DX, $0x200
	JLT         ofthree
	VFMADD231PS (DI)(R8*2), Z25, K1, Z21
	CMPL        DX, $0x300
	JLT         offive
	VFMADD231PS (DI)(BX*1), Z26, K1, Z21
	VMULPS.Z    (DI)(R8*4), Z27, K1, Z22
	VFMADD231PS (DI)(R15*1), Z28, K1, Z22
	VFMADD231PS (DI)(BX*2), Z29, K1, Z22
	JMP         tall

offive:
	VMULPS.Z    (DI)(BX*1), Z27, K1, Z22
	VFMADD231PS (DI)(R8*4), Z28, K1, Z22
	JMP         tall

ofthree:
	VMULPS.Z (DI)(R8*2), Z27, K1, Z22

tall:
	VADDPS Z22, Z21, Z23
	TALL(1, (SI), (R11), (R12), Z0, Z7, Z14, tall2)

tall2:
	TALL(2, (SI)(R9*1), (R11)(R9*1), (R12)(R9*1), Z1, Z8, Z15, tall3)

tall3:
	TALL(4, (SI)(R9*2), (R11)(R9*2), (R12)(R9*2), Z2, Z9, Z16, tall4)

tall4:
	TALL(8, (SI)(R13*1), (R11)(R13*1), (R12)(R13*1), Z3, Z10, Z17, tall5)

tall5:
	TALL(16, (SI)(R9*4), (R11)(R9*4), (R12)(R9*4), Z4, Z11, Z18, tall6)

tall6:
	TALL(32, (SI)(R10*1), (R11)(R10*1), (R12)(R10*1), Z5, Z12, Z19, tall7)

tall7:
	TALL(64, (SI)(R13*2), (R11)(R13*2), (R12)(R13*2), Z6, Z13, Z20, behind)

behind:
	ADDQ $4, R11

next:
	ADDQ $4, SI
	ADDQ $4, R12
	ADDQ targets+56(FP), DI
	DECQ CX
	JNZ  step

columnend:
	ADDQ $column__size, R14
	DECQ left-16(SP)
	JNZ  column
	MOVQ AX, ahead+88(FP)
	JMP  save

flat:
	FLAT(1, (SI), (R12), Z0, Z14, flat2)

flat2:
	FLAT(2, (SI)(R9*1), (R12)(R9*1), Z1, Z15, flat3)

flat3:
	FLAT(4, (SI)(R9*2), (R12)(R9*2), Z2, Z16, flat4)

flat4:
	FLAT(8, (SI)(R13*1), (R12)(R13*1), Z3, Z17, flat5)

flat5:
	FLAT(16, (SI)(R9*4), (R12)(R9*4), Z4, Z18, flat6)

flat6:
	FLAT(32, (SI)(R10*1), (R12)(R10*1), Z5, Z19, flat7)

flat7:
	FLAT(64, (SI)(R13*2), (R12)(R13*2), Z6, Z20, next)
	JMP next

single:
	PREFETCHT1  (AX)
	ADDQ        $64, AX
	VMOVUPS.Z   (DI), K1, Z21
	CMPL        DX, $0x100
	JLT         single1
	VFMADD231PS (DI)(R8*1), Z24, K1, Z21
	CMPL        DX, $0x200
	JLT         single1
	VFMADD231PS (DI)(R8*2), Z25, K1, Z21
	CMPL        DX, $0x300
	JLT         single1
	VFMADD231PS (DI)(BX*1), Z26, K1, Z21

single1:
	SINGLE(1, (SI), Z0, single2)

single2:
	SINGLE(2, (SI)(R9*1), Z1, single3)

single3:
	SINGLE(4, (SI)(R9*2), Z2, single4)

single4:
	SINGLE(8, (SI)(R13*1), Z3, single5)

single5:
	SINGLE(16, (SI)(R9*4), Z4, single6)

single6:
	SINGLE(32, (SI)(R10*1), Z5, single7)

single7:
	SINGLE(64, (SI)(R13*2), Z6, singlenext)

singlenext:
	ADDQ $4, SI
	ADDQ targets+56(FP), DI
	DECQ CX
	JNZ  single
	JMP  columnend

save:
	MOVQ    y+72(FP), DI
	MOVQ    yplane+80(FP), BX
	MOVQ    targets+56(FP), R8
	MOVQ    m+16(FP), AX
	MOVBLZX accumulate+96(FP), CX
	SAVE(Z0, Z7, Z14, s0, t0, d0, n0)
	SAVE(Z1, Z8, Z15, s1, t1, d1, n1)
	SAVE(Z2, Z9, Z16, s2, t2, d2, n2)
	SAVE(Z3, Z10, Z17, s3, t3, d3, n3)
	SAVE(Z4, Z11, Z18, s4, t4, d4, n4)
	SAVE(Z5, Z12, Z19, s5, t5, d5, n5)
	SAVE(Z6, Z13, Z20, s6, t6, d6, n6)

done:
	ADDQ $64, offset-8(SP)
	ADDQ $64, y+72(FP)
	SUBQ $16, width+64(FP)
	JG   tile
	VZEROUPPER
	RET
