//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// One strip C (+)= A*B of at most 6 rows, tile by tile of 16 columns.
// sgemmNN6x16AVX2 reads A row-major, sgemmTN6x16AVX2 reads it k-major. In Go,
// with T for the accumulators:
//
//	for ; n > 0; n -= 16 { // the last tile may be narrower
//		T = 0
//		for p := range k {
//			for i := range m {
//				T[i][:] += broadcast(A[i][p]) * B[p][:] // one broadcast, two FMAs
//			}
//		}
//		for i := m - 1; i >= 0; i-- {
//			C[i][:] = T[i][:] // accumulate: T[i][:] + C[i][:]
//		}
//		B = B[distance:]
//		C = C[16:]
//	}
//
// Each m has a loop of its own in three forms: all 16 columns, 9..15 columns
// (masked) and at most 8 (masked, one vector a row).
//
//	Y0..Y11      T: row i in Y(2i) and Y(2i+1)
//	Y12, Y13     the row of B
//	Y14, Y15     broadcast values of A, in turn; Y15 also holds masks
//	SI, R9       A, lda in bytes; NN: rows 0 and 3 of A are at SI and R11; TN: R11 is
//	             three times R9
//	DI, R10, R12 the row of B, ldb in bytes once and three times
//	R8, DX       the row of C, ldc in bytes
//	BX           masks of columns 0..7, then of 8..15 (in onOff of pack_amd64.go)
//	CX           k
//	AX           counter
//	R12          at the end the columns of a narrower tile
//	R13, R14     what is fetched ahead, its step in bytes
//	R15          passes of four steps after those that fetch
//
// Loops hold few instructions beside products: where a core is shared, its other
// thread takes every other turn at handing them out.
//
// The rows of a narrower tile go through the frame. Meanwhile SI and DI are a row there and what is left of the row
// of C.
//
// n, b, c and ahead count along in the frame of the arguments, from which each tile
// loads its registers.

// WIDE and NARROW multiply x, a value of A, by the row of B; t holds x.
#define WIDE(x, t, c0, c1) \
	VBROADCASTSS x, t       \
	VFMADD231PS  Y12, t, c0 \
	VFMADD231PS  Y13, t, c1

#define NARROW(x, t, c0, c1) \
	VBROADCASTSS x, t       \
	VFMADD231PS  Y12, t, c0

// FULLB, MASKEDB and NARROWB load the row of B at x.

#define FULLB(x) \
	VMOVUPS 0 x, Y12  \
	VMOVUPS 32 x, Y13

#define MASKEDB(x) \
	VMOVUPS    (BX), Y14      \
	VMOVUPS    32(BX), Y15    \
	VMASKMOVPS 0 x, Y14, Y12  \
	VMASKMOVPS 32 x, Y15, Y13

#define NARROWB(x) \
	VMOVUPS    (BX), Y15     \
	VMASKMOVPS 0 x, Y15, Y12

// NN1..NN6 multiply the first rows of A, row-major, at byte d of each row.

#define NN1(row, d) row(d(SI), Y14, Y0, Y1)
#define NN2(row, d) NN1(row, d); row(d(SI)(R9*1), Y15, Y2, Y3)
#define NN3(row, d) NN2(row, d); row(d(SI)(R9*2), Y14, Y4, Y5)
#define NN4(row, d) NN3(row, d); row(d(R11), Y15, Y6, Y7)
#define NN5(row, d) NN4(row, d); row(d(R11)(R9*1), Y14, Y8, Y9)
#define NN6(row, d) NN5(row, d); row(d(R11)(R9*2), Y15, Y10, Y11)

// TN1..TN6 multiply the first columns of A, k-major, at x.

#define TN1(row, x) row(0 x, Y14, Y0, Y1)
#define TN2(row, x) TN1(row, x); row(4 x, Y15, Y2, Y3)
#define TN3(row, x) TN2(row, x); row(8 x, Y14, Y4, Y5)
#define TN4(row, x) TN3(row, x); row(12 x, Y15, Y6, Y7)
#define TN5(row, x) TN4(row, x); row(16 x, Y14, Y8, Y9)
#define TN6(row, x) TN5(row, x); row(20 x, Y15, Y10, Y11)

// AHEAD names the rows to fetch ahead, or the row of C, which is there.
#define AHEAD \
	MOVQ    ahead+80(FP), R13     \
	MOVQ    ldahead+88(FP), R14   \
	MOVQ    aheadRows+96(FP), R15 \
	SHLQ    $2, R14               \
	TESTQ   R15, R15              \
	CMOVQEQ R8, R13               \
	CMOVQEQ R15, R14

// FOURS counts the passes of four steps in AX: with rows to fetch ahead, as many as
// there are, and the others in R15.
#define FOURS(four, rest) \
	MOVQ    CX, AX   \
	SHRQ    $2, AX   \
	JZ      rest     \
	TESTQ   R15, R15 \
	JZ      four     \
	CMPQ    R15, AX  \
	CMOVQGT AX, R15  \
	SUBQ    R15, AX  \
	XCHGQ   AX, R15

// MOREFOURS goes back for the others, which fetch nothing new.
#define MOREFOURS(four) \
	MOVQ  R15, AX  \
	XORL  R14, R14 \
	XORL  R15, R15 \
	TESTQ AX, AX   \
	JNZ   four

// LOOPNN and LOOPTN run through k, four steps at a time, and leave to save. The
// other labels are the macro's own.
#define LOOPNN(rows, row, loadB, four, rest, one, save) \
	FOURS(four, rest)          \
	PCALIGN    $64             \
	four:                      \
	PREFETCHT0 (R13)           \
	ADDQ       R14, R13        \
	loadB((DI))                \
	rows(row, 0)               \
	loadB((DI)(R10*1))         \
	rows(row, 4)               \
	loadB((DI)(R10*2))         \
	rows(row, 8)               \
	loadB((DI)(R12*1))         \
	rows(row, 12)              \
	LEAQ       (DI)(R10*4), DI \
	ADDQ       $16, SI         \
	ADDQ       $16, R11        \
	DECQ       AX              \
	JNZ        four            \
	MOREFOURS(four)            \
	rest:                      \
	ANDQ       $3, CX          \
	JZ         save            \
	one:                       \
	loadB((DI))                \
	rows(row, 0)               \
	ADDQ       R10, DI         \
	ADDQ       $4, SI          \
	ADDQ       $4, R11         \
	DECQ       CX              \
	JNZ        one             \
	JMP        save

#define LOOPTN(rows, row, loadB, four, rest, one, save) \
	FOURS(four, rest)          \
	PCALIGN    $64             \
	four:                      \
	PREFETCHT0 (R13)           \
	ADDQ       R14, R13        \
	loadB((DI))                \
	rows(row, (SI))            \
	loadB((DI)(R10*1))         \
	rows(row, (SI)(R9*1))      \
	loadB((DI)(R10*2))         \
	rows(row, (SI)(R9*2))      \
	loadB((DI)(R12*1))         \
	rows(row, (SI)(R11*1))     \
	LEAQ       (DI)(R10*4), DI \
	LEAQ       (SI)(R9*4), SI  \
	DECQ       AX              \
	JNZ        four            \
	MOREFOURS(four)            \
	rest:                      \
	ANDQ       $3, CX          \
	JZ         save            \
	one:                       \
	loadB((DI))                \
	rows(row, (SI))            \
	ADDQ       R10, DI         \
	ADDQ       R9, SI          \
	DECQ       CX              \
	JNZ        one             \
	JMP        save

// SETUP wants min(n, 16) in AX and m in R11. It makes byte strides and the
// masks' address, fetches the rows of C into the cache, leaves R8 at the last one and
// clears T.
#define SETUP(fetch) \
	LEAQ       ·onOff+64(SB), BX \
	SHLQ       $2, R9            \
	SHLQ       $2, R10           \
	SHLQ       $2, DX            \
	SHLQ       $2, AX            \
	SUBQ       AX, BX            \
	fetch:                       \
	PREFETCHT0 (R8)              \
	ADDQ       DX, R8            \
	DECQ       R11               \
	JNZ        fetch             \
	SUBQ       DX, R8            \
	ZERO12

// PUT stores a row of T and steps to the row above, ADD adds it to C.
#define PUT(c0, c1) \
	VMOVUPS c0, (R8)   \
	VMOVUPS c1, 32(R8) \
	SUBQ    DX, R8

#define ADD(c0, c1) \
	VADDPS  (R8), c0, c0   \
	VADDPS  32(R8), c1, c1 \
	VMOVUPS c0, (R8)       \
	VMOVUPS c1, 32(R8)     \
	SUBQ    DX, R8

// KEEP puts T into the frame, and SI to its row m - 1.
#define KEEP \
	VMOVUPS Y0, t-384(SP)       \
	VMOVUPS Y1, t-352(SP)       \
	VMOVUPS Y2, t-320(SP)       \
	VMOVUPS Y3, t-288(SP)       \
	VMOVUPS Y4, t-256(SP)       \
	VMOVUPS Y5, t-224(SP)       \
	VMOVUPS Y6, t-192(SP)       \
	VMOVUPS Y7, t-160(SP)       \
	VMOVUPS Y8, t-128(SP)       \
	VMOVUPS Y9, t-96(SP)        \
	VMOVUPS Y10, t-64(SP)       \
	VMOVUPS Y11, t-32(SP)       \
	MOVQ    m+0(FP), CX         \
	MOVQ    CX, AX              \
	SHLQ    $6, AX              \
	LEAQ    t-448(SP)(AX*1), SI

// NARROWROWS stores CX rows of R12 < 16 columns, the last one first.
#define NARROWROWS(accumulate) \
	MOVQ       n+8(FP), R12                \
	VMOVUPS    (BX), Y14                   \
	VMOVUPS    32(BX), Y15                 \
	row:                                   \
	VMOVUPS    (SI), Y12                   \
	VMOVUPS    32(SI), Y13                 \
	SUBQ       $64, SI                     \
	MOVQ       R8, DI                      \
	CMPB       accumulate, $0              \
	JE         sum                         \
	VMASKMOVPS (R8), Y14, Y0               \
	VMASKMOVPS 32(R8), Y15, Y1             \
	VADDPS     Y0, Y12, Y12                \
	VADDPS     Y1, Y13, Y13                \
	sum:                                   \
	STORENARROW(DI, four, two, one, above) \
	above:                                 \
	SUBQ       DX, R8                      \
	DECQ       CX                          \
	JNZ        row

// FINISH stores the last m rows of T, entered at full6, ..., full1 or narrow, and goes to next.
#define FINISH(accumulate) \
full6: CMPB accumulate, $0; JNE add6; JMP put6 \
full5: CMPB accumulate, $0; JNE add5; JMP put5 \
full4: CMPB accumulate, $0; JNE add4; JMP put4 \
full3: CMPB accumulate, $0; JNE add3; JMP put3 \
full2: CMPB accumulate, $0; JNE add2; JMP put2 \
full1: CMPB accumulate, $0; JNE add1; JMP put1 \
put6: PUT(Y10, Y11) \
put5: PUT(Y8, Y9) \
put4: PUT(Y6, Y7) \
put3: PUT(Y4, Y5) \
put2: PUT(Y2, Y3) \
put1: PUT(Y0, Y1) \
	JMP next \
	add6: ADD(Y10, Y11) \
	add5: ADD(Y8, Y9)   \
	add4: ADD(Y6, Y7)   \
	add3: ADD(Y4, Y5)   \
	add2: ADD(Y2, Y3)   \
	add1: ADD(Y0, Y1)   \
	JMP   next          \
	narrow:                \
	KEEP                   \
	NARROWROWS(accumulate) \
	JMP     next

// JUMP goes to the loop for m = AX.
#define JUMP(l1, l2, l3, l4, l5, l6) \
	CMPQ AX, $6; JEQ l6 \
	CMPQ AX, $5; JEQ l5 \
	CMPQ AX, $4; JEQ l4 \
	CMPQ AX, $3; JEQ l3 \
	CMPQ AX, $2; JEQ l2 \
	JMP  l1

// func sgemmNN6x16AVX2(m, n, k int, a *float32, lda int, b *float32, ldb, distance int, c *float32, ldc int, ahead *float32, ldahead, aheadRows int, accumulate bool)
TEXT ·sgemmNN6x16AVX2(SB), NOSPLIT, $384-105
tile:
	MOVQ    m+0(FP), R11
	MOVQ    n+8(FP), AX
	MOVQ    $16, CX
	CMPQ    AX, CX
	CMOVQGT CX, AX
	MOVQ    k+16(FP), CX
	MOVQ    a+24(FP), SI
	MOVQ    lda+32(FP), R9
	MOVQ    b+40(FP), DI
	MOVQ    ldb+48(FP), R10
	MOVQ    c+64(FP), R8
	MOVQ    ldc+72(FP), DX
	SETUP(fetch)
	AHEAD
	LEAQ    (R9)(R9*2), AX
	LEAQ    (SI)(AX*1), R11
	MOVQ    m+0(FP), AX
	LEAQ    (R10)(R10*2), R12
	CMPQ    n+8(FP), $16
	JGE     wide
	CMPQ    n+8(FP), $8
	JGT     tail
	JUMP(narrow1, narrow2, narrow3, narrow4, narrow5, narrow6)

tail:
	JUMP(tail1, tail2, tail3, tail4, tail5, tail6)

wide:
	JUMP(wide1, wide2, wide3, wide4, wide5, wide6)

wide1:
	LOOPNN(NN1, WIDE, FULLB, wide1four, wide1rest, wide1one, full1)

wide2:
	LOOPNN(NN2, WIDE, FULLB, wide2four, wide2rest, wide2one, full2)

wide3:
	LOOPNN(NN3, WIDE, FULLB, wide3four, wide3rest, wide3one, full3)

wide4:
	LOOPNN(NN4, WIDE, FULLB, wide4four, wide4rest, wide4one, full4)

wide5:
	LOOPNN(NN5, WIDE, FULLB, wide5four, wide5rest, wide5one, full5)

wide6:
	LOOPNN(NN6, WIDE, FULLB, wide6four, wide6rest, wide6one, full6)

tail1:
	LOOPNN(NN1, WIDE, MASKEDB, tail1four, tail1rest, tail1one, narrow)

tail2:
	LOOPNN(NN2, WIDE, MASKEDB, tail2four, tail2rest, tail2one, narrow)

tail3:
	LOOPNN(NN3, WIDE, MASKEDB, tail3four, tail3rest, tail3one, narrow)

tail4:
	LOOPNN(NN4, WIDE, MASKEDB, tail4four, tail4rest, tail4one, narrow)

tail5:
	LOOPNN(NN5, WIDE, MASKEDB, tail5four, tail5rest, tail5one, narrow)

tail6:
	LOOPNN(NN6, WIDE, MASKEDB, tail6four, tail6rest, tail6one, narrow)

narrow1:
	LOOPNN(NN1, NARROW, NARROWB, narrow1four, narrow1rest, narrow1one, narrow)

narrow2:
	LOOPNN(NN2, NARROW, NARROWB, narrow2four, narrow2rest, narrow2one, narrow)

narrow3:
	LOOPNN(NN3, NARROW, NARROWB, narrow3four, narrow3rest, narrow3one, narrow)

narrow4:
	LOOPNN(NN4, NARROW, NARROWB, narrow4four, narrow4rest, narrow4one, narrow)

narrow5:
	LOOPNN(NN5, NARROW, NARROWB, narrow5four, narrow5rest, narrow5one, narrow)

narrow6:
	LOOPNN(NN6, NARROW, NARROWB, narrow6four, narrow6rest, narrow6one, narrow)

	FINISH(accumulate+104(FP))

next:
	SUBQ $16, n+8(FP)
	JLE  done
	MOVQ distance+56(FP), AX
	SHLQ $2, AX
	ADDQ AX, b+40(FP)
	ADDQ $64, c+64(FP)
	ADDQ $64, ahead+80(FP)
	JMP  tile

done:
	VZEROUPPER
	RET

// func sgemmTN6x16AVX2(m, n, k int, a *float32, lda int, b *float32, ldb, distance int, c *float32, ldc int, ahead *float32, ldahead, aheadRows int, accumulate bool)
TEXT ·sgemmTN6x16AVX2(SB), NOSPLIT, $384-105
tile:
	MOVQ    m+0(FP), R11
	MOVQ    n+8(FP), AX
	MOVQ    $16, CX
	CMPQ    AX, CX
	CMOVQGT CX, AX
	MOVQ    k+16(FP), CX
	MOVQ    a+24(FP), SI
	MOVQ    lda+32(FP), R9
	MOVQ    b+40(FP), DI
	MOVQ    ldb+48(FP), R10
	MOVQ    c+64(FP), R8
	MOVQ    ldc+72(FP), DX
	SETUP(fetch)
	AHEAD
	MOVQ    m+0(FP), AX
	LEAQ    (R9)(R9*2), R11
	LEAQ    (R10)(R10*2), R12
	CMPQ    n+8(FP), $16
	JGE     wide
	CMPQ    n+8(FP), $8
	JGT     tail
	JUMP(narrow1, narrow2, narrow3, narrow4, narrow5, narrow6)

tail:
	JUMP(tail1, tail2, tail3, tail4, tail5, tail6)

wide:
	JUMP(wide1, wide2, wide3, wide4, wide5, wide6)

wide1:
	LOOPTN(TN1, WIDE, FULLB, wide1four, wide1rest, wide1one, full1)

wide2:
	LOOPTN(TN2, WIDE, FULLB, wide2four, wide2rest, wide2one, full2)

wide3:
	LOOPTN(TN3, WIDE, FULLB, wide3four, wide3rest, wide3one, full3)

wide4:
	LOOPTN(TN4, WIDE, FULLB, wide4four, wide4rest, wide4one, full4)

wide5:
	LOOPTN(TN5, WIDE, FULLB, wide5four, wide5rest, wide5one, full5)

wide6:
	LOOPTN(TN6, WIDE, FULLB, wide6four, wide6rest, wide6one, full6)

tail1:
	LOOPTN(TN1, WIDE, MASKEDB, tail1four, tail1rest, tail1one, narrow)

tail2:
	LOOPTN(TN2, WIDE, MASKEDB, tail2four, tail2rest, tail2one, narrow)

tail3:
	LOOPTN(TN3, WIDE, MASKEDB, tail3four, tail3rest, tail3one, narrow)

tail4:
	LOOPTN(TN4, WIDE, MASKEDB, tail4four, tail4rest, tail4one, narrow)

tail5:
	LOOPTN(TN5, WIDE, MASKEDB, tail5four, tail5rest, tail5one, narrow)

tail6:
	LOOPTN(TN6, WIDE, MASKEDB, tail6four, tail6rest, tail6one, narrow)

narrow1:
	LOOPTN(TN1, NARROW, NARROWB, narrow1four, narrow1rest, narrow1one, narrow)

narrow2:
	LOOPTN(TN2, NARROW, NARROWB, narrow2four, narrow2rest, narrow2one, narrow)

narrow3:
	LOOPTN(TN3, NARROW, NARROWB, narrow3four, narrow3rest, narrow3one, narrow)

narrow4:
	LOOPTN(TN4, NARROW, NARROWB, narrow4four, narrow4rest, narrow4one, narrow)

narrow5:
	LOOPTN(TN5, NARROW, NARROWB, narrow5four, narrow5rest, narrow5one, narrow)

narrow6:
	LOOPTN(TN6, NARROW, NARROWB, narrow6four, narrow6rest, narrow6one, narrow)

	FINISH(accumulate+104(FP))

next:
	SUBQ $16, n+8(FP)
	JLE  done
	MOVQ distance+56(FP), AX
	SHLQ $2, AX
	ADDQ AX, b+40(FP)
	ADDQ $64, c+64(FP)
	ADDQ $64, ahead+80(FP)
	JMP  tile

done:
	VZEROUPPER
	RET
