//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "tile_avx512_amd64.h"

// A tile of GemmComplexNN and its like, of 7 to 14 rows and 32 columns, one real product after the other. In Go:
//
//	T = 0
//	for p := range k {
//		if makes {
//			panel[p], panel[k+p] = Bi[p]-Br[p], Bi[p]+Br[p]
//		}
//		for i := range m {
//			T[i][:] += broadcast(sum[i][p]) * Br[p][:]
//		}
//	}
//	S = T
//	the same for Ai and panel[k:]
//	Cr = S - T // accumulate: added
//	the same for Ar and panel
//	Ci = S + T // accumulate: added
//
// Each m has loops of its own, for A row-major and for A k-major. S lies behind the panel. The panel is made among
// products: a pass of its own takes a tenth of the time of five strips. makes is cleared in the frame of the arguments.
//
//	Z0..Z27                T: row i in Z(2i) and Z(2i+1)
//	Z28, Z29               the row of B
//	Z30                    a broadcast value of A
//	SI, R11, R12, R13, BX  rows 0, 3, 6, 9, 12 of A, at the step; k-major SI alone, and R11 three steps further
//	R9                     bytes of a row of A, k-major of a step
//	R10                    the product: 0, 1 and 2
//	DI, AX, DX             the row of B, ldb in bytes and three times that
//	R14                    what is fetched ahead, two lines every four steps
//	CX                     steps left
//	R15                    bytes of a panel of one of the two
//
// Where a panel is made DX is the row of Bi, R8 that of the panel, and Z31 and Z30 are made for it. At the end DI is
// the row of S, R8 and DX are the row of C and ldc in bytes, and AX counts rows.

#define B0 VMOVUPS (DI), Z28; VMOVUPS 64(DI), Z29
#define B1 VMOVUPS (DI)(AX*1), Z28; VMOVUPS 64(DI)(AX*1), Z29
#define B2 VMOVUPS (DI)(AX*2), Z28; VMOVUPS 64(DI)(AX*2), Z29
#define B3 VMOVUPS (DI)(DX*1), Z28; VMOVUPS 64(DI)(DX*1), Z29

#define A0(d) d(SI)
#define A1(d) d(SI)(R9*1)
#define A2(d) d(SI)(R9*2)
#define A3(d) d(R11)

// LOOPNN and LOOPTN run through CX steps, four at a time, and go on to sums.
#define LOOPNN(rows, four, rest, one) \
	SHRQ       $2, CX         \
	JZ         rest           \
	PCALIGN    $64            \
	four:                     \
	B0                        \
	rows(WIDE, 0)             \
	B1                        \
	rows(WIDE, 4)             \
	B2                        \
	rows(WIDE, 8)             \
	B3                        \
	rows(WIDE, 12)            \
	PREFETCHT0 (R14)          \
	PREFETCHT0 64(R14)        \
	NNADVANCE(16)             \
	LEAQ       (DI)(AX*4), DI \
	ADDQ       $128, R14      \
	DECQ       CX             \
	JNZ        four           \
	rest:                     \
	MOVQ       k+8(FP), CX    \
	ANDQ       $3, CX         \
	JZ         sums           \
	one:                      \
	B0                        \
	rows(WIDE, 0)             \
	NNADVANCE(4)              \
	ADDQ       AX, DI         \
	DECQ       CX             \
	JNZ        one            \
	JMP        sums

#define LOOPTN(rows, four, rest, one) \
	SHRQ       $2, CX           \
	JZ         rest             \
	PCALIGN    $64              \
	four:                       \
	B0                          \
	rows(WIDE, A0)              \
	B1                          \
	rows(WIDE, A1)              \
	B2                          \
	rows(WIDE, A2)              \
	B3                          \
	rows(WIDE, A3)              \
	PREFETCHT0 (R14)            \
	PREFETCHT0 64(R14)          \
	LEAQ       (SI)(R9*4), SI   \
	LEAQ       (R11)(R9*4), R11 \
	LEAQ       (DI)(AX*4), DI   \
	ADDQ       $128, R14        \
	DECQ       CX               \
	JNZ        four             \
	rest:                       \
	MOVQ       k+8(FP), CX      \
	ANDQ       $3, CX           \
	JZ         sums             \
	one:                        \
	B0                          \
	rows(WIDE, A0)              \
	ADDQ       R9, SI           \
	ADDQ       AX, DI           \
	DECQ       CX               \
	JNZ        one              \
	JMP        sums

// MAKE makes a row of the panel. MAKENN and MAKETN do so in each step.
#define MAKE \
	B0                         \
	VMOVUPS (DX), Z30          \
	VSUBPS  Z28, Z30, Z31      \
	VADDPS  Z28, Z30, Z30      \
	VMOVUPS Z31, (R8)          \
	VMOVUPS Z30, (R8)(R15*1)   \
	VMOVUPS 64(DX), Z30        \
	VSUBPS  Z29, Z30, Z31      \
	VADDPS  Z29, Z30, Z30      \
	VMOVUPS Z31, 64(R8)        \
	VMOVUPS Z30, 64(R8)(R15*1) \
	ADDQ    AX, DI             \
	ADDQ    AX, DX             \
	ADDQ    $128, R8

#define MAKENN(rows, one) \
	MOVQ bi+72(FP), DX    \
	MOVQ panel+88(FP), R8 \
	one:                  \
	MAKE                  \
	rows(WIDE, 0)         \
	NNADVANCE(4)          \
	DECQ CX               \
	JNZ  one              \
	JMP  sums

#define MAKETN(rows, one) \
	MOVQ bi+72(FP), DX    \
	MOVQ panel+88(FP), R8 \
	one:                  \
	MAKE                  \
	rows(WIDE, A0)        \
	ADDQ R9, SI           \
	DECQ CX               \
	JNZ  one              \
	JMP  sums

// KEEP writes a row of S, at d; REAL and IMAGINARY make one of C of it and T.
#define KEEP(d, c0, c1) \
	VMOVUPS c0, d(DI)    \
	VMOVUPS c1, d+64(DI)

#define REAL(d, c0, c1) \
	VMOVUPS d(DI), Z28    \
	VMOVUPS d+64(DI), Z29 \
	VSUBPS  c0, Z28, c0   \
	VSUBPS  c1, Z29, c1

#define IMAGINARY(d, c0, c1) \
	VADDPS d(DI), c0, c0    \
	VADDPS d+64(DI), c1, c1

// STORE writes a row of C, MORE adds to it, and both go on to the next.
#define STORE(d, c0, c1) \
	VMOVUPS c0, (R8)   \
	VMOVUPS c1, 64(R8) \
	DECQ    AX         \
	JZ      next       \
	ADDQ    DX, R8

#define MORE(d, c0, c1) \
	VADDPS (R8), c0, c0   \
	VADDPS 64(R8), c1, c1 \
	STORE(d, c0, c1)

#define ALL(do) \
	do(0, Z0, Z1)      \
	do(128, Z2, Z3)    \
	do(256, Z4, Z5)    \
	do(384, Z6, Z7)    \
	do(512, Z8, Z9)    \
	do(640, Z10, Z11)  \
	do(768, Z12, Z13)  \
	do(896, Z14, Z15)  \
	do(1024, Z16, Z17) \
	do(1152, Z18, Z19) \
	do(1280, Z20, Z21) \
	do(1408, Z22, Z23) \
	do(1536, Z24, Z25) \
	do(1664, Z26, Z27)

// HEIGHT goes to the loop for so many rows.
#define HEIGHT(l7, l8, l9, l10, l11, l12, l13, l14) \
	MOVQ m+0(FP), R8      \
	CMPQ R8, $14; JEQ l14 \
	CMPQ R8, $13; JEQ l13 \
	CMPQ R8, $12; JEQ l12 \
	CMPQ R8, $11; JEQ l11 \
	CMPQ R8, $10; JEQ l10 \
	CMPQ R8, $9; JEQ l9   \
	CMPQ R8, $8; JEQ l8   \
	JMP  l7

// func sgemmComplex14x32AVX512(m, k int, sum *float32, sumLD int, ar, ai *float32, row, step int, br, bi *float32, ldb int, panel *float32, makes bool, cr, ci *float32, ldc int, accumulate bool, ahead *float32)
TEXT ·sgemmComplex14x32AVX512(SB), NOSPLIT, $0-144
	MOVQ cr+104(FP), DX
	MOVQ ci+112(FP), BX
	MOVQ ldc+120(FP), R8
	MOVQ m+0(FP), AX
	SHLQ $2, R8
	FETCHTWO(fetch)

	XORQ R10, R10
	MOVQ ahead+136(FP), R14
	MOVQ k+8(FP), R15
	MOVQ sum+16(FP), SI
	MOVQ sumLD+24(FP), R9
	MOVQ br+64(FP), DI
	MOVQ ldb+80(FP), AX
	SHLQ $7, R15
	SHLQ $2, AX

product:
	ZERO28
	MOVQ k+8(FP), CX
	SHLQ $2, R9
	LEAQ (R9)(R9*2), DX
	LEAQ (SI)(DX*1), R11
	CMPQ step+56(FP), $1
	JNE  columns
	LEAQ (SI)(DX*2), R12
	LEAQ (R11)(DX*2), R13
	LEAQ (SI)(DX*4), BX
	CMPB makes+96(FP), $0
	JNE  makeRows
	LEAQ (AX)(AX*2), DX
	HEIGHT(rows7, rows8, rows9, rows10, rows11, rows12, rows13, rows14)

makeRows:
	HEIGHT(makeRows7, makeRows8, makeRows9, makeRows10, makeRows11, makeRows12, makeRows13, makeRows14)

columns:
	CMPB makes+96(FP), $0
	JNE  makeColumns
	LEAQ (AX)(AX*2), DX
	HEIGHT(cols7, cols8, cols9, cols10, cols11, cols12, cols13, cols14)

makeColumns:
	HEIGHT(makeCols7, makeCols8, makeCols9, makeCols10, makeCols11, makeCols12, makeCols13, makeCols14)

rows7:
	LOOPNN(NN7, rows7four, rows7rest, rows7one)

rows8:
	LOOPNN(NN8, rows8four, rows8rest, rows8one)

rows9:
	LOOPNN(NN9, rows9four, rows9rest, rows9one)

rows10:
	LOOPNN(NN10, rows10four, rows10rest, rows10one)

rows11:
	LOOPNN(NN11, rows11four, rows11rest, rows11one)

rows12:
	LOOPNN(NN12, rows12four, rows12rest, rows12one)

rows13:
	LOOPNN(NN13, rows13four, rows13rest, rows13one)

rows14:
	LOOPNN(NN14, rows14four, rows14rest, rows14one)

cols7:
	LOOPTN(TN7, cols7four, cols7rest, cols7one)

cols8:
	LOOPTN(TN8, cols8four, cols8rest, cols8one)

cols9:
	LOOPTN(TN9, cols9four, cols9rest, cols9one)

cols10:
	LOOPTN(TN10, cols10four, cols10rest, cols10one)

cols11:
	LOOPTN(TN11, cols11four, cols11rest, cols11one)

cols12:
	LOOPTN(TN12, cols12four, cols12rest, cols12one)

cols13:
	LOOPTN(TN13, cols13four, cols13rest, cols13one)

cols14:
	LOOPTN(TN14, cols14four, cols14rest, cols14one)

makeRows7:
	MAKENN(NN7, makeRows7one)

makeRows8:
	MAKENN(NN8, makeRows8one)

makeRows9:
	MAKENN(NN9, makeRows9one)

makeRows10:
	MAKENN(NN10, makeRows10one)

makeRows11:
	MAKENN(NN11, makeRows11one)

makeRows12:
	MAKENN(NN12, makeRows12one)

makeRows13:
	MAKENN(NN13, makeRows13one)

makeRows14:
	MAKENN(NN14, makeRows14one)

makeCols7:
	MAKETN(TN7, makeCols7one)

makeCols8:
	MAKETN(TN8, makeCols8one)

makeCols9:
	MAKETN(TN9, makeCols9one)

makeCols10:
	MAKETN(TN10, makeCols10one)

makeCols11:
	MAKETN(TN11, makeCols11one)

makeCols12:
	MAKETN(TN12, makeCols12one)

makeCols13:
	MAKETN(TN13, makeCols13one)

makeCols14:
	MAKETN(TN14, makeCols14one)

sums:
	MOVQ panel+88(FP), DI
	LEAQ (DI)(R15*2), DI
	MOVQ ldc+120(FP), DX
	MOVQ m+0(FP), AX
	SHLQ $2, DX
	CMPQ R10, $1
	JEQ  real
	JGT  imaginary
	ALL(KEEP)
	MOVB $0, makes+96(FP)
	SUBQ R15, DI
	MOVQ ai+40(FP), SI
	JMP  more

real:
	ALL(REAL)
	MOVQ cr+104(FP), R8
	JMP  save

imaginary:
	ALL(IMAGINARY)
	MOVQ ci+112(FP), R8

save:
	CMPB accumulate+128(FP), $0
	JNE  accumulate
	ALL(STORE)

accumulate:
	ALL(MORE)

next:
	CMPQ R10, $2
	JEQ  done
	MOVQ panel+88(FP), DI
	MOVQ ar+32(FP), SI

more:
	INCQ R10
	MOVQ $128, AX
	MOVQ row+48(FP), R9
	CMPQ step+56(FP), $1
	JEQ  product
	MOVQ step+56(FP), R9
	JMP  product

done:
	VZEROUPPER
	RET
