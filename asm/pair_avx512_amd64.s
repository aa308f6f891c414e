//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "tile_avx512_amd64.h"

// A strip of one of the products of GemmPair, of at most 14 rows, tile by tile of 32
// columns. In Go:
//
//	for ; n > 0; n -= 32 { // the last tile may be narrower
//		T = 0
//		for p := range k {
//			fetch(ahead[:32])
//			ahead = ahead[32:]
//			for i := range m {
//				T[i][:] += broadcast(A[i][p]) * B[p][:]
//			}
//		}
//		for i := m - 1; i >= 0; i-- {
//			C[i][:] = T[i][:] // accumulate: T[i][:] + C[i][:]
//		}
//		B, C = B[32:], C[32:]
//	}
//
// Each m has a loop of its own, in three forms: all 32 columns, 17..31 columns (masked) and
// at most 16 (masked, one vector a row).
//
//	Z0..Z27                T: row i in Z(2i) and Z(2i+1)
//	Z28, Z29               the row of B
//	Z30                    a broadcast value of A
//	K1, K2                 the columns 0..15 and 16..31 that exist
//	SI, R11, R12, R13, BX  rows 0, 3, 6, 9, 12 of A, at the step
//	R9                     lda in bytes
//	DI, R10                the row of B, ldb in bytes
//	CX                     steps left
//	R8, DX                 the row of C, ldc in bytes
//	R14                    what is fetched ahead
//	AX                     scratch
//
// n, b and c count along in the frame of the arguments.

#define FULL \
	VMOVUPS (DI), Z28   \
	VMOVUPS 64(DI), Z29

#define MASKED \
	VMOVUPS.Z (DI), K1, Z28   \
	VMOVUPS.Z 64(DI), K2, Z29

#define ONLYFIRST \
	VMOVUPS.Z (DI), K1, Z28

	// STEP is a step, with A at byte d of each row, and STEPS all of them: CX, at least one.
#define STEP(rows, row, load, d) \
	load                 \
	PREFETCHT0 (R14)     \
	PREFETCHT0 64(R14)   \
	ADDQ       $128, R14 \
	rows(row, d)         \
	ADDQ       R10, DI

#define STEPS(rows, row, load, again, two, save) \
	SHRQ    $1, CX           \
	JCC     two              \
	STEP(rows, row, load, 0) \
	NNADVANCE(4)             \
	two:                     \
	TESTQ   CX, CX           \
	JZ      save             \
	PCALIGN $32              \
	again:                   \
	STEP(rows, row, load, 0) \
	STEP(rows, row, load, 4) \
	NNADVANCE(8)             \
	DECQ    CX               \
	JNZ     again            \
	JMP     save

// func sgemmPair14x32AVX512(m, n, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, ahead *float32, accumulate bool)
TEXT ·sgemmPair14x32AVX512(SB), NOSPLIT, $0-81
	MOVQ lda+32(FP), R9
	MOVQ ldb+48(FP), R10
	MOVQ ldc+64(FP), DX
	MOVQ ahead+72(FP), R14
	SHLQ $2, R9
	SHLQ $2, R10
	SHLQ $2, DX

tile:
	MOVQ    n+8(FP), CX
	MOVQ    $32, AX
	CMPQ    CX, AX
	CMOVQGT AX, CX
	MASKS32
	ZERO28
	MOVQ    a+24(FP), SI
	MOVQ    b+40(FP), DI
	MOVQ    k+16(FP), CX
	LEAQ    (R9)(R9*2), AX
	LEAQ    (SI)(AX*1), R11
	LEAQ    (SI)(AX*2), R12
	LEAQ    (R11)(AX*2), R13
	LEAQ    (SI)(AX*4), BX
	MOVQ    m+0(FP), AX
	LEAQ    -1(AX), R8
	IMULQ   DX, R8
	ADDQ    c+56(FP), R8
	TESTQ   CX, CX
	JZ      empty
	CMPQ    n+8(FP), $32
	JLT     masked
	JUMP(full1, full2, full3, full4, full5, full6, full7, full8, full9, full10, full11, full12, full13, full14)

masked:
	KORTESTW K2, K2
	JZ       narrow
	JUMP(masked1, masked2, masked3, masked4, masked5, masked6, masked7, masked8, masked9, masked10, masked11, masked12, masked13, masked14)

narrow:
	JUMP(narrow1, narrow2, narrow3, narrow4, narrow5, narrow6, narrow7, narrow8, narrow9, narrow10, narrow11, narrow12, narrow13, narrow14)

empty:
	JUMP(save1, save2, save3, save4, save5, save6, save7, save8, save9, save10, save11, save12, save13, save14)

full1:
	STEPS(NN1, WIDE, FULL, full1again, full1two, save1)

full2:
	STEPS(NN2, WIDE, FULL, full2again, full2two, save2)

full3:
	STEPS(NN3, WIDE, FULL, full3again, full3two, save3)

full4:
	STEPS(NN4, WIDE, FULL, full4again, full4two, save4)

full5:
	STEPS(NN5, WIDE, FULL, full5again, full5two, save5)

full6:
	STEPS(NN6, WIDE, FULL, full6again, full6two, save6)

full7:
	STEPS(NN7, WIDE, FULL, full7again, full7two, save7)

full8:
	STEPS(NN8, WIDE, FULL, full8again, full8two, save8)

full9:
	STEPS(NN9, WIDE, FULL, full9again, full9two, save9)

full10:
	STEPS(NN10, WIDE, FULL, full10again, full10two, save10)

full11:
	STEPS(NN11, WIDE, FULL, full11again, full11two, save11)

full12:
	STEPS(NN12, WIDE, FULL, full12again, full12two, save12)

full13:
	STEPS(NN13, WIDE, FULL, full13again, full13two, save13)

full14:
	STEPS(NN14, WIDE, FULL, full14again, full14two, save14)

masked1:
	STEPS(NN1, WIDE, MASKED, masked1again, masked1two, save1)

masked2:
	STEPS(NN2, WIDE, MASKED, masked2again, masked2two, save2)

masked3:
	STEPS(NN3, WIDE, MASKED, masked3again, masked3two, save3)

masked4:
	STEPS(NN4, WIDE, MASKED, masked4again, masked4two, save4)

masked5:
	STEPS(NN5, WIDE, MASKED, masked5again, masked5two, save5)

masked6:
	STEPS(NN6, WIDE, MASKED, masked6again, masked6two, save6)

masked7:
	STEPS(NN7, WIDE, MASKED, masked7again, masked7two, save7)

masked8:
	STEPS(NN8, WIDE, MASKED, masked8again, masked8two, save8)

masked9:
	STEPS(NN9, WIDE, MASKED, masked9again, masked9two, save9)

masked10:
	STEPS(NN10, WIDE, MASKED, masked10again, masked10two, save10)

masked11:
	STEPS(NN11, WIDE, MASKED, masked11again, masked11two, save11)

masked12:
	STEPS(NN12, WIDE, MASKED, masked12again, masked12two, save12)

masked13:
	STEPS(NN13, WIDE, MASKED, masked13again, masked13two, save13)

masked14:
	STEPS(NN14, WIDE, MASKED, masked14again, masked14two, save14)

narrow1:
	STEPS(NN1, NARROW, ONLYFIRST, narrow1again, narrow1two, save1)

narrow2:
	STEPS(NN2, NARROW, ONLYFIRST, narrow2again, narrow2two, save2)

narrow3:
	STEPS(NN3, NARROW, ONLYFIRST, narrow3again, narrow3two, save3)

narrow4:
	STEPS(NN4, NARROW, ONLYFIRST, narrow4again, narrow4two, save4)

narrow5:
	STEPS(NN5, NARROW, ONLYFIRST, narrow5again, narrow5two, save5)

narrow6:
	STEPS(NN6, NARROW, ONLYFIRST, narrow6again, narrow6two, save6)

narrow7:
	STEPS(NN7, NARROW, ONLYFIRST, narrow7again, narrow7two, save7)

narrow8:
	STEPS(NN8, NARROW, ONLYFIRST, narrow8again, narrow8two, save8)

narrow9:
	STEPS(NN9, NARROW, ONLYFIRST, narrow9again, narrow9two, save9)

narrow10:
	STEPS(NN10, NARROW, ONLYFIRST, narrow10again, narrow10two, save10)

narrow11:
	STEPS(NN11, NARROW, ONLYFIRST, narrow11again, narrow11two, save11)

narrow12:
	STEPS(NN12, NARROW, ONLYFIRST, narrow12again, narrow12two, save12)

narrow13:
	STEPS(NN13, NARROW, ONLYFIRST, narrow13again, narrow13two, save13)

narrow14:
	STEPS(NN14, NARROW, ONLYFIRST, narrow14again, narrow14two, save14)

	FINISH(accumulate+80(FP))

next:
	ADDQ $128, b+40(FP)
	ADDQ $128, c+56(FP)
	SUBQ $32, n+8(FP)
	JG   tile
	VZEROUPPER
	RET
