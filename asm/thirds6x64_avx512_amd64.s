//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "tile6x64_avx512_amd64.h"

// sgemmThird14x32AVX512 for strips of 4 to 6 rows by 64 columns, of which the last 32 of B are at beside. A step has 10
// loads beside its 24 products, where that has 16 beside 28.
//
//	Z0..Z23    T: row i in Z(4i)..Z(4i+3)
//	Z24..Z27   the row of B
//	Z28        a broadcast value of A
//	SI, R11    rows 0 and 3 of A, at the step; k-major R11 is three steps further
//	R9         bytes of a row of A, k-major of a step
//	DI, R8     both halves of the row of B
//	AX, DX     ldb in bytes and three times that
//	R14        what is fetched ahead, two lines every four steps
//	CX         steps left
//
// Where a panel is made DX is how far Bi lies behind B, R13 the row of the panel, R15 the bytes of a half of it, and Z28,
// Z29 and Z30 are made for it.

#define MAKEVECTOR(bi, b, d) \
	VMOVUPS bi, Z28            \
	VSUBPS  b, Z28, Z29        \
	VADDPS  b, Z28, Z30        \
	VMOVUPS Z29, d(R13)        \
	VMOVUPS Z30, d(R13)(R15*1)

#define MAKE \
	B0                                 \
	MAKEVECTOR((DI)(DX*1), Z24, 0)     \
	MAKEVECTOR(64(DI)(DX*1), Z25, 64)  \
	MAKEVECTOR((R8)(DX*1), Z26, 128)   \
	MAKEVECTOR(64(R8)(DX*1), Z27, 192) \
	NEXT                               \
	ADDQ $256, R13

#define KEEP(d, c0, c1, c2, c3) \
	VMOVUPS c0, d(DI)     \
	VMOVUPS c1, d+64(DI)  \
	VMOVUPS c2, d+128(DI) \
	VMOVUPS c3, d+192(DI)

#define REAL(d, c0, c1, c2, c3) \
	VMOVUPS d(DI), Z28     \
	VMOVUPS d+64(DI), Z29  \
	VMOVUPS d+128(DI), Z30 \
	VMOVUPS d+192(DI), Z31 \
	VSUBPS  c0, Z28, c0    \
	VSUBPS  c1, Z29, c1    \
	VSUBPS  c2, Z30, c2    \
	VSUBPS  c3, Z31, c3

#define IMAGINARY(d, c0, c1, c2, c3) \
	VADDPS d(DI), c0, c0     \
	VADDPS d+64(DI), c1, c1  \
	VADDPS d+128(DI), c2, c2 \
	VADDPS d+192(DI), c3, c3

#define STORE(d, c0, c1, c2, c3) \
	VMOVUPS c0, (R8)    \
	VMOVUPS c1, 64(R8)  \
	VMOVUPS c2, 128(R8) \
	VMOVUPS c3, 192(R8) \
	DECQ    AX          \
	JZ      done        \
	ADDQ    DX, R8

#define MORE(d, c0, c1, c2, c3) \
	VADDPS (R8), c0, c0      \
	VADDPS 64(R8), c1, c1    \
	VADDPS 128(R8), c2, c2   \
	VADDPS 192(R8), c3, c3   \
	STORE(d, c0, c1, c2, c3)

#define ALL(do) \
	do(0, Z0, Z1, Z2, Z3)        \
	do(256, Z4, Z5, Z6, Z7)      \
	do(512, Z8, Z9, Z10, Z11)    \
	do(768, Z12, Z13, Z14, Z15)  \
	do(1024, Z16, Z17, Z18, Z19) \
	do(1280, Z20, Z21, Z22, Z23)

#include "thirds_avx512_amd64.h"

// HEIGHT goes to the loop for so many rows.
#define HEIGHT(l4, l5, l6) \
	CMPQ m+8(FP), $6; JEQ l6 \
	CMPQ m+8(FP), $5; JEQ l5 \
	JMP  l4

// func sgemmThird6x64AVX512(strips, m, k int, a *float32, row, step int, b *float32, ldb int, bi, panel *float32, third int, s, c *float32, ldc int, accumulate bool, ahead, beside *float32)
TEXT ·sgemmThird6x64AVX512(SB), NOSPLIT, $0-136
	MOVQ ahead+120(FP), R14

strip:
	MOVQ c+96(FP), DX
	MOVQ ldc+104(FP), R8
	MOVQ m+8(FP), AX
	SHLQ $2, R8

fetch:
	PREFETCHT0 (DX)
	PREFETCHT0 64(DX)
	PREFETCHT0 128(DX)
	PREFETCHT0 192(DX)
	ADDQ       R8, DX
	DECQ       AX
	JNZ        fetch

	ZERO28
	MOVQ  k+16(FP), CX
	MOVQ  a+24(FP), SI
	MOVQ  b+48(FP), DI
	MOVQ  beside+128(FP), R8
	MOVQ  ldb+56(FP), AX
	MOVQ  bi+64(FP), DX
	MOVQ  panel+72(FP), R13
	MOVQ  CX, R15
	SHLQ  $2, AX
	SHLQ  $8, R15
	CMPQ  step+40(FP), $1
	JNE   columns
	MOVQ  row+32(FP), R9
	SHLQ  $2, R9
	LEAQ  (R9)(R9*2), R11
	ADDQ  SI, R11
	TESTQ DX, DX
	JNZ   makeRows
	LEAQ  (AX)(AX*2), DX
	HEIGHT(rows4, rows5, rows6)

makeRows:
	SUBQ DI, DX
	HEIGHT(makeRows4, makeRows5, makeRows6)

columns:
	MOVQ  step+40(FP), R9
	SHLQ  $2, R9
	LEAQ  (R9)(R9*2), R11
	ADDQ  SI, R11
	TESTQ DX, DX
	JNZ   makeColumns
	LEAQ  (AX)(AX*2), DX
	HEIGHT(cols4, cols5, cols6)

makeColumns:
	SUBQ DI, DX
	HEIGHT(makeCols4, makeCols5, makeCols6)

rows4:
	LOOPNN(NN4, rows4four, rows4rest, rows4one)

rows5:
	LOOPNN(NN5, rows5four, rows5rest, rows5one)

rows6:
	LOOPNN(NN6, rows6four, rows6rest, rows6one)

cols4:
	LOOPTN(TN4, cols4four, cols4rest, cols4one)

cols5:
	LOOPTN(TN5, cols5four, cols5rest, cols5one)

cols6:
	LOOPTN(TN6, cols6four, cols6rest, cols6one)

makeRows4:
	MAKENN(NN4, makeRows4one)

makeRows5:
	MAKENN(NN5, makeRows5one)

makeRows6:
	MAKENN(NN6, makeRows6one)

makeCols4:
	MAKETN(TN4, makeCols4one)

makeCols5:
	MAKETN(TN5, makeCols5one)

makeCols6:
	MAKETN(TN6, makeCols6one)

	END(8)
