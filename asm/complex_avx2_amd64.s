//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// A tile of GemmComplexNN and its like, of at most 6 rows and 16 columns, one real product after the
// other: each has 12 sums, which leave no registers for those of another. In Go:
//
//	T = 0
//	for p := range k {
//		for i := range m {
//			T[i][:] += broadcast(sum[i][p]) * panel[p][:] // Br
//		}
//	}
//	S = T
//	the same for Ai and panel[2*k:], Bi + Br
//	Cr = S - T // accumulate: added
//	the same for Ar and panel[k:], Bi - Br
//	Ci = S + T // accumulate: added
//
// Each m has a loop of its own, for A row-major and for A in strips [k, 6]. They hold few instructions beside
// products: where a core is shared, its other thread takes every other turn at handing them out. S lies in the
// frame. A tile of fewer columns goes through 96 values behind the panel, whose rows SI then counts; R9 is what is
// left of the row of C.
//
//	Y0..Y11          T: row i in Y(2i) and Y(2i+1)
//	Y12, Y13         the row of the panel; at the end a row of S
//	Y14, Y15         broadcast values of A, in turn; at the end the columns that exist
//	SI               the step of A
//	R9, R11, R13     bytes of one, three and five rows of A
//	DI               the row of the panel, 128 bytes behind it in the loops
//	DX               what is fetched ahead, two lines every four steps
//	CX               steps left
//	BX               the product: 0, 1 and 2
//	R8, R10          at the end the row of C, ldc in bytes
//	R12              at the end the number of columns
//	AX               scratch, rows left

#define ROW(x, t, c0, c1) \
	VBROADCASTSS x, t       \
	VFMADD231PS  Y12, t, c0 \
	VFMADD231PS  Y13, t, c1

// ROWS1..ROWS6 multiply the first rows of A, row-major, at byte d of each row.

#define ROWS1(d) ROW(d(SI), Y14, Y0, Y1)
#define ROWS2(d) ROWS1(d); ROW(d(SI)(R9*1), Y15, Y2, Y3)
#define ROWS3(d) ROWS2(d); ROW(d(SI)(R9*2), Y14, Y4, Y5)
#define ROWS4(d) ROWS3(d); ROW(d(SI)(R11*1), Y15, Y6, Y7)
#define ROWS5(d) ROWS4(d); ROW(d(SI)(R9*4), Y14, Y8, Y9)
#define ROWS6(d) ROWS5(d); ROW(d(SI)(R13*1), Y15, Y10, Y11)

// COLS1..COLS6 multiply the first columns of A in strips, at byte d.

#define COLS1(d) ROW(d(SI), Y14, Y0, Y1)
#define COLS2(d) COLS1(d); ROW(d+4(SI), Y15, Y2, Y3)
#define COLS3(d) COLS2(d); ROW(d+8(SI), Y14, Y4, Y5)
#define COLS4(d) COLS3(d); ROW(d+12(SI), Y15, Y6, Y7)
#define COLS5(d) COLS4(d); ROW(d+16(SI), Y14, Y8, Y9)
#define COLS6(d) COLS5(d); ROW(d+20(SI), Y15, Y10, Y11)

#define PANEL(d) \
	VMOVUPS d-128(DI), Y12 \
	VMOVUPS d-96(DI), Y13

// STEPS runs through CX steps, bytes of A apart, four at a time.
#define STEPS(rows, bytes, four, rest, one) \
	SHRQ       $2, CX         \
	JZ         rest           \
	PCALIGN    $64            \
	four:                     \
	PANEL(0)                  \
	rows(0)                   \
	PANEL(64)                 \
	rows(bytes)               \
	PANEL(128)                \
	rows(2*bytes)             \
	PANEL(192)                \
	rows(3*bytes)             \
	PREFETCHT0 (DX)           \
	PREFETCHT0 64(DX)         \
	ADDQ       $(4*bytes), SI \
	ADDQ       $256, DI       \
	ADDQ       $128, DX       \
	DECQ       CX             \
	JNZ        four           \
	rest:                     \
	MOVQ       k+16(FP), CX   \
	ANDQ       $3, CX         \
	JZ         sums           \
	one:                      \
	PANEL(0)                  \
	rows(0)                   \
	ADDQ       $bytes, SI     \
	ADDQ       $64, DI        \
	DECQ       CX             \
	JNZ        one            \
	JMP        sums

// SUBTRACT and ADD make a row of C of S, at d, and T.
#define SUBTRACT(d, c0, c1) \
	VMOVUPS s-384+d(SP), Y12    \
	VMOVUPS s-384+d+32(SP), Y13 \
	VSUBPS  c0, Y12, c0         \
	VSUBPS  c1, Y13, c1

#define ADD(d, c0, c1) \
	VADDPS s-384+d(SP), c0, c0    \
	VADDPS s-384+d+32(SP), c1, c1

// PUT stores a row of C, MORE adds to it, and both go on to the next.
#define PUT(c0, c1) \
	VMOVUPS c0, (R8)   \
	VMOVUPS c1, 32(R8) \
	DECQ    AX         \
	JZ      next       \
	ADDQ    R10, R8

#define MORE(c0, c1) \
	VADDPS (R8), c0, c0   \
	VADDPS 32(R8), c1, c1 \
	PUT(c0, c1)

#define ALL(save) \
	save(Y0, Y1)   \
	save(Y2, Y3)   \
	save(Y4, Y5)   \
	save(Y6, Y7)   \
	save(Y8, Y9)   \
	save(Y10, Y11)

// func sgemmComplex6x16AVX2(m, n, k int, sum *float32, sumRow int, ar, ai *float32, row int, panel, cr, ci *float32, ldc int, accumulate bool, ahead *float32)
TEXT ·sgemmComplex6x16AVX2(SB), NOSPLIT, $384-112
	XORQ BX, BX
	MOVQ panel+64(FP), DI
	MOVQ ahead+104(FP), DX
	MOVQ sum+24(FP), SI
	MOVQ sumRow+32(FP), R9

product:
	ADDQ  $128, DI
	ZERO12
	MOVQ  k+16(FP), CX
	MOVQ  m+0(FP), AX
	TESTQ R9, R9
	JLT   strip
	SHLQ  $2, R9
	LEAQ  (R9)(R9*2), R11
	LEAQ  (R9)(R9*4), R13
	CMPQ  AX, $6
	JEQ   rows6
	CMPQ  AX, $5
	JEQ   rows5
	CMPQ  AX, $4
	JEQ   rows4
	CMPQ  AX, $3
	JEQ   rows3
	CMPQ  AX, $2
	JEQ   rows2
	JMP   rows1

strip:
	CMPQ AX, $6
	JEQ  cols6
	CMPQ AX, $5
	JEQ  cols5
	CMPQ AX, $4
	JEQ  cols4
	CMPQ AX, $3
	JEQ  cols3
	CMPQ AX, $2
	JEQ  cols2
	JMP  cols1

rows1:
	STEPS(ROWS1, 4, rows1four, rows1rest, rows1one)

rows2:
	STEPS(ROWS2, 4, rows2four, rows2rest, rows2one)

rows3:
	STEPS(ROWS3, 4, rows3four, rows3rest, rows3one)

rows4:
	STEPS(ROWS4, 4, rows4four, rows4rest, rows4one)

rows5:
	STEPS(ROWS5, 4, rows5four, rows5rest, rows5one)

rows6:
	STEPS(ROWS6, 4, rows6four, rows6rest, rows6one)

cols1:
	STEPS(COLS1, 24, cols1four, cols1rest, cols1one)

cols2:
	STEPS(COLS2, 24, cols2four, cols2rest, cols2one)

cols3:
	STEPS(COLS3, 24, cols3four, cols3rest, cols3one)

cols4:
	STEPS(COLS4, 24, cols4four, cols4rest, cols4one)

cols5:
	STEPS(COLS5, 24, cols5four, cols5rest, cols5one)

cols6:
	STEPS(COLS6, 24, cols6four, cols6rest, cols6one)

sums:
	SUBQ $128, DI
	MOVQ m+0(FP), AX
	MOVQ ldc+88(FP), R10
	SHLQ $2, R10
	CMPQ BX, $1
	JEQ  real
	JGT  imaginary

	VMOVUPS Y0, s-384(SP)
	VMOVUPS Y1, s-352(SP)
	VMOVUPS Y2, s-320(SP)
	VMOVUPS Y3, s-288(SP)
	VMOVUPS Y4, s-256(SP)
	VMOVUPS Y5, s-224(SP)
	VMOVUPS Y6, s-192(SP)
	VMOVUPS Y7, s-160(SP)
	VMOVUPS Y8, s-128(SP)
	VMOVUPS Y9, s-96(SP)
	VMOVUPS Y10, s-64(SP)
	VMOVUPS Y11, s-32(SP)
	MOVQ    k+16(FP), AX  // past Bi - Br
	SHLQ    $6, AX
	ADDQ    AX, DI
	MOVQ    ai+48(FP), SI
	JMP     more

real:
	SUBTRACT(0, Y0, Y1)
	SUBTRACT(64, Y2, Y3)
	SUBTRACT(128, Y4, Y5)
	SUBTRACT(192, Y6, Y7)
	SUBTRACT(256, Y8, Y9)
	SUBTRACT(320, Y10, Y11)
	MOVQ cr+72(FP), R8
	JMP  save

imaginary:
	ADD(0, Y0, Y1)
	ADD(64, Y2, Y3)
	ADD(128, Y4, Y5)
	ADD(192, Y6, Y7)
	ADD(256, Y8, Y9)
	ADD(320, Y10, Y11)
	MOVQ ci+80(FP), R8

save:
	MOVQ n+8(FP), R12
	CMPQ R12, $16
	JLT  narrow
	CMPB accumulate+96(FP), $0
	JNE  accumulate
	ALL(PUT)

accumulate:
	ALL(MORE)

narrow:
	LEAQ    ·onOff+64(SB), SI
	MOVQ    R12, AX
	SHLQ    $2, AX
	SUBQ    AX, SI
	VMOVUPS (SI), Y14
	VMOVUPS 32(SI), Y15
	MOVQ    $192, SI
	IMULQ   k+16(FP), SI
	ADDQ    panel+64(FP), SI
	VMOVUPS Y0, (SI)
	VMOVUPS Y1, 32(SI)
	VMOVUPS Y2, 64(SI)
	VMOVUPS Y3, 96(SI)
	VMOVUPS Y4, 128(SI)
	VMOVUPS Y5, 160(SI)
	VMOVUPS Y6, 192(SI)
	VMOVUPS Y7, 224(SI)
	VMOVUPS Y8, 256(SI)
	VMOVUPS Y9, 288(SI)
	VMOVUPS Y10, 320(SI)
	VMOVUPS Y11, 352(SI)
	MOVQ    m+0(FP), AX

narrowRow:
	VMOVUPS    (SI), Y12
	VMOVUPS    32(SI), Y13
	MOVQ       R8, R9
	CMPB       accumulate+96(FP), $0
	JE         sum
	VMASKMOVPS (R8), Y14, Y0
	VMASKMOVPS 32(R8), Y15, Y1
	VADDPS     Y0, Y12, Y12
	VADDPS     Y1, Y13, Y13

sum:
	STORENARROW(R9, four, two, one, below)

below:
	ADDQ $64, SI
	ADDQ R10, R8
	DECQ AX
	JNZ  narrowRow

next:
	CMPQ BX, $2
	JEQ  done
	MOVQ k+16(FP), AX  // back to Bi - Br
	SHLQ $7, AX
	SUBQ AX, DI
	MOVQ ar+40(FP), SI

more:
	INCQ BX
	MOVQ row+56(FP), R9
	JMP  product

done:
	VZEROUPPER
	RET

// Of both parts of n <= 16 columns of B a panel of three times k rows of 16 values: Br, Bi - Br and Bi + Br. In Go:
//
//	for p := range k {
//		panel[p], panel[k+p], panel[2*k+p] = Br[p], Bi[p]-Br[p], Bi[p]+Br[p]
//	}
//
//	SI, DI     the rows of Br and Bi
//	R8         ldb in bytes
//	R9, R10    the row of Br in the panel, bytes to that of Bi - Br
//	CX         rows left
//	Y0..Y3     a row of Br and of Bi
//	Y14, Y15   the columns that exist

#define PANELROW \
	VSUBPS  Y0, Y2, Y4        \
	VSUBPS  Y1, Y3, Y5        \
	VADDPS  Y0, Y2, Y6        \
	VADDPS  Y1, Y3, Y7        \
	VMOVUPS Y0, (R9)          \
	VMOVUPS Y1, 32(R9)        \
	VMOVUPS Y4, (R9)(R10*1)   \
	VMOVUPS Y5, 32(R9)(R10*1) \
	VMOVUPS Y6, (R9)(R10*2)   \
	VMOVUPS Y7, 32(R9)(R10*2) \
	ADDQ    R8, SI            \
	ADDQ    R8, DI            \
	ADDQ    $64, R9           \
	DECQ    CX

// func scomplexPanelAVX2(n, k int, br, bi *float32, ldb int, panel *float32)
TEXT ·scomplexPanelAVX2(SB), NOSPLIT, $0-48
	MOVQ n+0(FP), AX
	MOVQ k+8(FP), CX
	MOVQ br+16(FP), SI
	MOVQ bi+24(FP), DI
	MOVQ ldb+32(FP), R8
	MOVQ panel+40(FP), R9
	MOVQ CX, R10
	SHLQ $2, R8
	SHLQ $6, R10
	CMPQ AX, $16
	JLT  masked

full:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS (DI), Y2
	VMOVUPS 32(DI), Y3
	PANELROW
	JNZ     full
	VZEROUPPER
	RET

masked:
	LEAQ    ·onOff+64(SB), BX
	SHLQ    $2, AX
	SUBQ    AX, BX
	VMOVUPS (BX), Y14
	VMOVUPS 32(BX), Y15

maskedRow:
	VMASKMOVPS (SI), Y14, Y0
	VMASKMOVPS 32(SI), Y15, Y1
	VMASKMOVPS (DI), Y14, Y2
	VMASKMOVPS 32(DI), Y15, Y3
	PANELROW
	JNZ        maskedRow
	VZEROUPPER
	RET

// A strip of 1 <= m <= 6 columns of both parts of A, k-major, and of their sum: [3, k+1, 6]. In Go:
//
//	for p := range k {
//		x, y := ar[p*ld:], ai[p*ld:]
//		strip[0][p], strip[1][p], strip[2][p] = x+y, y, x // m values each
//	}
//
// A row is written as eight values, two of which the next one overwrites or, after the last, nobody reads.
//
//	SI, DI    the rows of ar and ai
//	R8        bytes from one to the next
//	R9, R10   the row of the sum in the strip, bytes to that of ai
//	CX        rows left
//	AX        scratch
//	Y0..Y2    the rows of ar, of ai and of the sum
//	Y15       the columns that exist

// func scomplexStripAVX2(m, k int, ar, ai *float32, ld int, strip *float32)
TEXT ·scomplexStripAVX2(SB), NOSPLIT, $0-48
	MOVQ m+0(FP), CX
	TAILMASK
	MOVQ k+8(FP), CX
	MOVQ ar+16(FP), SI
	MOVQ ai+24(FP), DI
	MOVQ ld+32(FP), R8
	MOVQ strip+40(FP), R9
	SHLQ $2, R8
	LEAQ 3(CX)(CX*2), R10 // 6*(k+1) values
	SHLQ $3, R10

row:
	VMASKMOVPS (SI), Y15, Y0
	VMASKMOVPS (DI), Y15, Y1
	VADDPS     Y1, Y0, Y2
	VMOVUPS    Y2, (R9)
	VMOVUPS    Y1, (R9)(R10*1)
	VMOVUPS    Y0, (R9)(R10*2)
	ADDQ       R8, SI
	ADDQ       R8, DI
	ADDQ       $24, R9
	DECQ       CX
	JNZ        row
	VZEROUPPER
	RET

// Rows of the sum of both parts of A, without gaps. In Go:
//
//	for i := range rows {
//		for j := range n {
//			sum[i*n+j] = x[i*ld+j] + y[i*ld+j]
//		}
//	}
//
//	SI, DI   the rows of x and y
//	R8       bytes from one row to the next
//	R9       sum
//	CX       rows left
//	BX       bytes of a row in whole vectors
//	AX, DX   bytes into the row, bytes left
//	Y15      the values of the last vector

// func saddRowsAVX2(rows, n int, x, y *float32, ld int, sum *float32)
TEXT ·saddRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ    rows+0(FP), CX
	MOVQ    n+8(FP), DX
	MOVQ    x+16(FP), SI
	MOVQ    y+24(FP), DI
	MOVQ    ld+32(FP), R8
	MOVQ    sum+40(FP), R9
	SHLQ    $2, R8
	MOVQ    DX, BX
	ANDQ    $-8, BX
	SHLQ    $2, BX
	ANDQ    $7, DX
	SHLQ    $2, DX
	LEAQ    tailMask<>+32(SB), AX
	SUBQ    DX, AX
	VMOVUPS (AX), Y15

row:
	XORQ AX, AX
	CMPQ AX, BX
	JEQ  tail

vector:
	VMOVUPS (SI)(AX*1), Y0
	VADDPS  (DI)(AX*1), Y0, Y0
	VMOVUPS Y0, (R9)(AX*1)
	ADDQ    $32, AX
	CMPQ    AX, BX
	JLT     vector

tail:
	TESTQ      DX, DX
	JZ         next
	VMASKMOVPS (SI)(AX*1), Y15, Y0
	VMASKMOVPS (DI)(AX*1), Y15, Y1
	VADDPS     Y0, Y1, Y0
	VMASKMOVPS Y0, Y15, (R9)(AX*1)

next:
	ADDQ R8, SI
	ADDQ R8, DI
	ADDQ AX, R9
	ADDQ DX, R9
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET
