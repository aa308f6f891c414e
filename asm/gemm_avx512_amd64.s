//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "tile_avx512_amd64.h"

// One strip C (+)= A*B of at most 14 rows, tile by tile of 32 columns.
// sgemmNN14x32AVX512 reads A row-major, sgemmTN14x32AVX512 reads it k-major. In
// Go, with T for the accumulators:
//
//	for ; n > 0; n -= 32 { // the last tile may be narrower
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
//		C = C[32:]
//	}
//
// Each m has a loop of its own, so that no FMA is wasted, in three forms: all 32
// columns, 17..31 columns (masked) and at most 16 (masked, one vector a row).
// A value of A is broadcast once for both FMAs of its row: folding it into each of them
// would take one instruction less and one load more, and it is loads that are short.
//
//	Z0..Z27      T: row i in Z(2i) and Z(2i+1)
//	Z28, Z29     the row of B
//	Z30          a broadcast value of A
//	K1, K2       the columns 0..15 and 16..31 that exist
//	SI, R9       A, lda in bytes; NN: rows 0, 3, 6, 9, 12 of A are at
//	             SI, R11, R12, R13, BX; TN: SI moves from step to step,
//	             R11 is three times lda, R12 what is fetched next
//	DI, R10, R15 the row of B, ldb in bytes and three times that
//	CX           the row of B that is fetched next
//	R8, DX       the row of C, ldc in bytes
//	R14          the row of C that is fetched next
//	AX           counter
//
// n, b, c and ahead count along in the frame of the arguments, from which each tile
// loads its registers.

// CPASSES is the number of passes of eight steps in which C0..C3 fetch 14 rows of C.
#define CPASSES 4

// B0..B3 address the rows of B of the next four steps, F0..F3 those eight steps
// later, A0..A3 and G0..G3 the columns of A when it is k-major. Adding to pointers less
// often leaves more of the processor's ports to the FMAs.
#define B0(d) d(DI)
#define B1(d) d(DI)(R10*1)
#define B2(d) d(DI)(R10*2)
#define B3(d) d(DI)(R15*1)
#define F0(d) d(CX)
#define F1(d) d(CX)(R10*1)
#define F2(d) d(CX)(R10*2)
#define F3(d) d(CX)(R15*1)
#define A0(d) d(SI)
#define A1(d) d(SI)(R9*1)
#define A2(d) d(SI)(R9*2)
#define A3(d) d(SI)(R11*1)
#define G0(d) d(R12)
#define G1(d) d(R12)(R9*1)
#define G2(d) d(R12)(R9*2)
#define G3(d) d(R12)(R11*1)

// A row is fetched eight steps ahead, for a step of B in place may be a page
// further and then nothing else would foresee it. After the last rows of a packed
// panel it is the next panel's.
#define FULLB(b, f) \
	VMOVUPS    b(0), Z28  \
	VMOVUPS    b(64), Z29 \
	PREFETCHT0 f(0)       \
	PREFETCHT0 f(64)

// A load under a mask takes a slot of the FMAs besides.
#define WIDEB(b, f) \
	VMOVUPS.Z  b(0), K1, Z28  \
	VMOVUPS.Z  b(64), K2, Z29 \
	PREFETCHT0 f(0)           \
	PREFETCHT0 f(64)

#define NARROWB(b, f) \
	VMOVUPS.Z  b(0), K1, Z28 \
	PREFETCHT0 f(0)

#define BADVANCE \
	LEAQ (DI)(R10*4), DI \
	LEAQ (CX)(R10*4), CX

// C0..C3 fetch two rows of C, at R14, in four steps, and CADVANCE goes on to the next: all of them at once would keep the
// rows of B waiting. R8 is the last one.
#define C0 PREFETCHT0 (R14)
#define C1 PREFETCHT0 64(R14)
#define C2 PREFETCHT0 (R14)(DX*1)
#define C3 PREFETCHT0 64(R14)(DX*1)

#define CADVANCE \
	LEAQ    (R14)(DX*2), R14 \
	CMPQ    R14, R8          \
	CMOVQHI R8, R14

// A step of eight fetches 64 steps ahead from two of the rows of A, row-major, or from one or none: their lines may come
// from memory when a strip is read for the first time.
#define NONE
#define ONE0 PREFETCHT0 256(SI)
#define TWO0 ONE0; PREFETCHT0 256(SI)(R9*1)
#define ONE1 PREFETCHT0 256(SI)(R9*2)
#define TWO1 ONE1; PREFETCHT0 256(R11)
#define ONE2 PREFETCHT0 256(R11)(R9*1)
#define TWO2 ONE2; PREFETCHT0 256(R11)(R9*2)
#define ONE3 PREFETCHT0 256(R12)
#define TWO3 ONE3; PREFETCHT0 256(R12)(R9*1)
#define ONE4 PREFETCHT0 256(R12)(R9*2)
#define TWO4 ONE4; PREFETCHT0 256(R13)
#define ONE5 PREFETCHT0 256(R13)(R9*1)
#define TWO5 ONE5; PREFETCHT0 256(R13)(R9*2)
#define ONE6 PREFETCHT0 256(BX)
#define TWO6 ONE6; PREFETCHT0 256(BX)(R9*1)

// FOURNN and FOURTN are four steps; h is what a step fetches of A, and d the byte of the row of A.
#define FOURNN(rows, row, loadB, h0, h1, h2, h3, d0, d1, d2, d3) \
	loadB(B0, F0) \
	h0            \
	C0            \
	rows(row, d0) \
	loadB(B1, F1) \
	h1            \
	C1            \
	rows(row, d1) \
	loadB(B2, F2) \
	h2            \
	C2            \
	rows(row, d2) \
	loadB(B3, F3) \
	h3            \
	C3            \
	rows(row, d3) \
	BADVANCE      \
	CADVANCE

#define FOURTN(rows, row, loadB) \
	loadB(B0, F0)               \
	PREFETCHT0 G0(0)            \
	C0                          \
	rows(row, A0)               \
	loadB(B1, F1)               \
	PREFETCHT0 G1(0)            \
	C1                          \
	rows(row, A1)               \
	loadB(B2, F2)               \
	PREFETCHT0 G2(0)            \
	C2                          \
	rows(row, A2)               \
	loadB(B3, F3)               \
	PREFETCHT0 G3(0)            \
	C3                          \
	rows(row, A3)               \
	BADVANCE                    \
	LEAQ       (SI)(R9*4), SI   \
	LEAQ       (R12)(R9*4), R12 \
	CADVANCE

// EIGHTS counts the passes of eight steps in AX. With rows to fetch ahead it counts
// those that C0..C3 need for C, and the others in later.
#define EIGHTS(eight, four) \
	MOVQ    k+16(FP), AX         \
	SHRQ    $3, AX               \
	JZ      four                 \
	CMPQ    aheadRows+96(FP), $0 \
	JEQ     eight                \
	MOVQ    R8, last-16(SP)      \
	MOVQ    $CPASSES, R8         \
	CMPQ    R8, AX               \
	CMOVQGT AX, R8               \
	SUBQ    R8, AX               \
	MOVQ    AX, later-8(SP)      \
	MOVQ    R8, AX               \
	MOVQ    last-16(SP), R8

// MOREEIGHTS goes back for the others, in which C0..C3 fetch the rows ahead, and then
// turns R8 and DX to C again.
#define MOREEIGHTS(eight, four) \
	CMPQ  aheadRows+96(FP), $0 \
	JEQ   four                 \
	MOVQ  later-8(SP), AX      \
	MOVQ  $0, later-8(SP)      \
	MOVQ  ldahead+88(FP), DX   \
	MOVQ  aheadRows+96(FP), R8 \
	DECQ  R8                   \
	SHLQ  $2, DX               \
	IMULQ DX, R8               \
	MOVQ  ahead+80(FP), R14    \
	ADDQ  R14, R8              \
	TESTQ AX, AX               \
	JNZ   eight                \
	MOVQ  last-16(SP), R8      \
	MOVQ  ldc+72(FP), DX       \
	SHLQ  $2, DX

// LOOPNN and LOOPTN run through k, eight steps at a time, then four, then one,
// and leave to save. The other labels are the macro's own.
#define LOOPNN(rows, h0, h1, h2, h3, h4, h5, h6, row, loadB, eight, four, rest, one, save) \
	EIGHTS(eight, four)                                           \
	PCALIGN $64                                                   \
	eight:                                                        \
	FOURNN(rows, row, loadB, h0, h1, h2, h3, 0, 4, 8, 12)         \
	FOURNN(rows, row, loadB, h4, h5, h6, NONE, 16, 20, 24, 28)    \
	NNADVANCE(32)                                                 \
	DECQ    AX                                                    \
	JNZ     eight                                                 \
	MOREEIGHTS(eight, four)                                       \
	four:                                                         \
	MOVQ    k+16(FP), AX                                          \
	TESTQ   $4, AX                                                \
	JZ      rest                                                  \
	FOURNN(rows, row, loadB, NONE, NONE, NONE, NONE, 0, 4, 8, 12) \
	NNADVANCE(16)                                                 \
	rest:                                                         \
	ANDQ    $3, AX                                                \
	JZ      save                                                  \
	one:                                                          \
	loadB(B0, F0)                                                 \
	rows(row, 0)                                                  \
	NNADVANCE(4)                                                  \
	ADDQ    R10, DI                                               \
	ADDQ    R10, CX                                               \
	DECQ    AX                                                    \
	JNZ     one                                                   \
	JMP     save

#define LOOPTN(rows, row, loadB, eight, four, rest, one, save) \
	EIGHTS(eight, four)      \
	PCALIGN    $64           \
	eight:                   \
	FOURTN(rows, row, loadB) \
	FOURTN(rows, row, loadB) \
	DECQ       AX            \
	JNZ        eight         \
	MOREEIGHTS(eight, four)  \
	four:                    \
	MOVQ       k+16(FP), AX  \
	TESTQ      $4, AX        \
	JZ         rest          \
	FOURTN(rows, row, loadB) \
	rest:                    \
	ANDQ       $3, AX        \
	JZ         save          \
	one:                     \
	loadB(B0, F0)            \
	PREFETCHT0 G0(0)         \
	rows(row, A0)            \
	ADDQ       R9, SI        \
	ADDQ       R9, R12       \
	ADDQ       R10, DI       \
	ADDQ       R10, CX       \
	DECQ       AX            \
	JNZ        one           \
	JMP        save

// SETUP wants n in CX and m in R11. It makes byte strides and masks, leaves R8 at
// the last row of C and R14 at the first, and clears T. Where k is too short for
// C0..C3 to get through, it fetches the rows of C.
#define SETUP(fetch, later, clear) \
	SHLQ       $2, R9        \
	SHLQ       $2, R10       \
	SHLQ       $2, DX        \
	MOVQ       $32, AX       \
	CMPQ       CX, AX        \
	CMOVQGT    AX, CX        \
	MOVQ       $1, AX        \
	SHLQ       CX, AX        \
	DECQ       AX            \
	KMOVW      AX, K1        \
	SHRQ       $16, AX       \
	KMOVW      AX, K2        \
	MOVQ       R8, R14       \
	CMPQ       k+16(FP), $28 \
	JGE        later         \
	fetch:                   \
	PREFETCHT0 (R8)          \
	PREFETCHT0 64(R8)        \
	ADDQ       DX, R8        \
	DECQ       R11           \
	JNZ        fetch         \
	SUBQ       DX, R8        \
	JMP        clear         \
	later:         \
	DECQ   R11     \
	IMULQ  DX, R11 \
	ADDQ   R11, R8 \
	clear:         \
	ZERO28

// func sgemmNN14x32AVX512(m, n, k int, a *float32, lda int, b *float32, ldb, distance int, c *float32, ldc int, ahead *float32, ldahead, aheadRows int, accumulate bool)
TEXT ·sgemmNN14x32AVX512(SB), NOSPLIT, $16-105
tile:
	MOVQ m+0(FP), R11
	MOVQ n+8(FP), CX
	MOVQ a+24(FP), SI
	MOVQ lda+32(FP), R9
	MOVQ b+40(FP), DI
	MOVQ ldb+48(FP), R10
	MOVQ c+64(FP), R8
	MOVQ ldc+72(FP), DX
	SETUP(fetch, later, clear)
	LEAQ (R10)(R10*2), R15
	LEAQ (DI)(R10*8), CX
	LEAQ (R9)(R9*2), AX
	LEAQ (SI)(AX*1), R11
	LEAQ (SI)(AX*2), R12
	LEAQ (R11)(AX*2), R13
	LEAQ (SI)(AX*4), BX
	MOVQ m+0(FP), AX
	CMPQ n+8(FP), $32
	JLT  masked
	JUMP(full1, full2, full3, full4, full5, full6, full7, full8, full9, full10, full11, full12, full13, full14)

masked:
	KORTESTW K2, K2
	JZ       narrow
	JUMP(wide1, wide2, wide3, wide4, wide5, wide6, wide7, wide8, wide9, wide10, wide11, wide12, wide13, wide14)

narrow:
	JUMP(narrow1, narrow2, narrow3, narrow4, narrow5, narrow6, narrow7, narrow8, narrow9, narrow10, narrow11, narrow12, narrow13, narrow14)

full1:
	LOOPNN(NN1, ONE0, NONE, NONE, NONE, NONE, NONE, NONE, WIDE, FULLB, full1eight, full1four, full1rest, full1one, save1)

full2:
	LOOPNN(NN2, TWO0, NONE, NONE, NONE, NONE, NONE, NONE, WIDE, FULLB, full2eight, full2four, full2rest, full2one, save2)

full3:
	LOOPNN(NN3, TWO0, ONE1, NONE, NONE, NONE, NONE, NONE, WIDE, FULLB, full3eight, full3four, full3rest, full3one, save3)

full4:
	LOOPNN(NN4, TWO0, TWO1, NONE, NONE, NONE, NONE, NONE, WIDE, FULLB, full4eight, full4four, full4rest, full4one, save4)

full5:
	LOOPNN(NN5, TWO0, TWO1, ONE2, NONE, NONE, NONE, NONE, WIDE, FULLB, full5eight, full5four, full5rest, full5one, save5)

full6:
	LOOPNN(NN6, TWO0, TWO1, TWO2, NONE, NONE, NONE, NONE, WIDE, FULLB, full6eight, full6four, full6rest, full6one, save6)

full7:
	LOOPNN(NN7, TWO0, TWO1, TWO2, ONE3, NONE, NONE, NONE, WIDE, FULLB, full7eight, full7four, full7rest, full7one, save7)

full8:
	LOOPNN(NN8, TWO0, TWO1, TWO2, TWO3, NONE, NONE, NONE, WIDE, FULLB, full8eight, full8four, full8rest, full8one, save8)

full9:
	LOOPNN(NN9, TWO0, TWO1, TWO2, TWO3, ONE4, NONE, NONE, WIDE, FULLB, full9eight, full9four, full9rest, full9one, save9)

full10:
	LOOPNN(NN10, TWO0, TWO1, TWO2, TWO3, TWO4, NONE, NONE, WIDE, FULLB, full10eight, full10four, full10rest, full10one, save10)

full11:
	LOOPNN(NN11, TWO0, TWO1, TWO2, TWO3, TWO4, ONE5, NONE, WIDE, FULLB, full11eight, full11four, full11rest, full11one, save11)

full12:
	LOOPNN(NN12, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, NONE, WIDE, FULLB, full12eight, full12four, full12rest, full12one, save12)

full13:
	LOOPNN(NN13, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, ONE6, WIDE, FULLB, full13eight, full13four, full13rest, full13one, save13)

full14:
	LOOPNN(NN14, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, TWO6, WIDE, FULLB, full14eight, full14four, full14rest, full14one, save14)

wide1:
	LOOPNN(NN1, ONE0, NONE, NONE, NONE, NONE, NONE, NONE, WIDE, WIDEB, wide1eight, wide1four, wide1rest, wide1one, save1)

wide2:
	LOOPNN(NN2, TWO0, NONE, NONE, NONE, NONE, NONE, NONE, WIDE, WIDEB, wide2eight, wide2four, wide2rest, wide2one, save2)

wide3:
	LOOPNN(NN3, TWO0, ONE1, NONE, NONE, NONE, NONE, NONE, WIDE, WIDEB, wide3eight, wide3four, wide3rest, wide3one, save3)

wide4:
	LOOPNN(NN4, TWO0, TWO1, NONE, NONE, NONE, NONE, NONE, WIDE, WIDEB, wide4eight, wide4four, wide4rest, wide4one, save4)

wide5:
	LOOPNN(NN5, TWO0, TWO1, ONE2, NONE, NONE, NONE, NONE, WIDE, WIDEB, wide5eight, wide5four, wide5rest, wide5one, save5)

wide6:
	LOOPNN(NN6, TWO0, TWO1, TWO2, NONE, NONE, NONE, NONE, WIDE, WIDEB, wide6eight, wide6four, wide6rest, wide6one, save6)

wide7:
	LOOPNN(NN7, TWO0, TWO1, TWO2, ONE3, NONE, NONE, NONE, WIDE, WIDEB, wide7eight, wide7four, wide7rest, wide7one, save7)

wide8:
	LOOPNN(NN8, TWO0, TWO1, TWO2, TWO3, NONE, NONE, NONE, WIDE, WIDEB, wide8eight, wide8four, wide8rest, wide8one, save8)

wide9:
	LOOPNN(NN9, TWO0, TWO1, TWO2, TWO3, ONE4, NONE, NONE, WIDE, WIDEB, wide9eight, wide9four, wide9rest, wide9one, save9)

wide10:
	LOOPNN(NN10, TWO0, TWO1, TWO2, TWO3, TWO4, NONE, NONE, WIDE, WIDEB, wide10eight, wide10four, wide10rest, wide10one, save10)

wide11:
	LOOPNN(NN11, TWO0, TWO1, TWO2, TWO3, TWO4, ONE5, NONE, WIDE, WIDEB, wide11eight, wide11four, wide11rest, wide11one, save11)

wide12:
	LOOPNN(NN12, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, NONE, WIDE, WIDEB, wide12eight, wide12four, wide12rest, wide12one, save12)

wide13:
	LOOPNN(NN13, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, ONE6, WIDE, WIDEB, wide13eight, wide13four, wide13rest, wide13one, save13)

wide14:
	LOOPNN(NN14, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, TWO6, WIDE, WIDEB, wide14eight, wide14four, wide14rest, wide14one, save14)

narrow1:
	LOOPNN(NN1, ONE0, NONE, NONE, NONE, NONE, NONE, NONE, NARROW, NARROWB, narrow1eight, narrow1four, narrow1rest, narrow1one, save1)

narrow2:
	LOOPNN(NN2, TWO0, NONE, NONE, NONE, NONE, NONE, NONE, NARROW, NARROWB, narrow2eight, narrow2four, narrow2rest, narrow2one, save2)

narrow3:
	LOOPNN(NN3, TWO0, ONE1, NONE, NONE, NONE, NONE, NONE, NARROW, NARROWB, narrow3eight, narrow3four, narrow3rest, narrow3one, save3)

narrow4:
	LOOPNN(NN4, TWO0, TWO1, NONE, NONE, NONE, NONE, NONE, NARROW, NARROWB, narrow4eight, narrow4four, narrow4rest, narrow4one, save4)

narrow5:
	LOOPNN(NN5, TWO0, TWO1, ONE2, NONE, NONE, NONE, NONE, NARROW, NARROWB, narrow5eight, narrow5four, narrow5rest, narrow5one, save5)

narrow6:
	LOOPNN(NN6, TWO0, TWO1, TWO2, NONE, NONE, NONE, NONE, NARROW, NARROWB, narrow6eight, narrow6four, narrow6rest, narrow6one, save6)

narrow7:
	LOOPNN(NN7, TWO0, TWO1, TWO2, ONE3, NONE, NONE, NONE, NARROW, NARROWB, narrow7eight, narrow7four, narrow7rest, narrow7one, save7)

narrow8:
	LOOPNN(NN8, TWO0, TWO1, TWO2, TWO3, NONE, NONE, NONE, NARROW, NARROWB, narrow8eight, narrow8four, narrow8rest, narrow8one, save8)

narrow9:
	LOOPNN(NN9, TWO0, TWO1, TWO2, TWO3, ONE4, NONE, NONE, NARROW, NARROWB, narrow9eight, narrow9four, narrow9rest, narrow9one, save9)

narrow10:
	LOOPNN(NN10, TWO0, TWO1, TWO2, TWO3, TWO4, NONE, NONE, NARROW, NARROWB, narrow10eight, narrow10four, narrow10rest, narrow10one, save10)

narrow11:
	LOOPNN(NN11, TWO0, TWO1, TWO2, TWO3, TWO4, ONE5, NONE, NARROW, NARROWB, narrow11eight, narrow11four, narrow11rest, narrow11one, save11)

narrow12:
	LOOPNN(NN12, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, NONE, NARROW, NARROWB, narrow12eight, narrow12four, narrow12rest, narrow12one, save12)

narrow13:
	LOOPNN(NN13, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, ONE6, NARROW, NARROWB, narrow13eight, narrow13four, narrow13rest, narrow13one, save13)

narrow14:
	LOOPNN(NN14, TWO0, TWO1, TWO2, TWO3, TWO4, TWO5, TWO6, NARROW, NARROWB, narrow14eight, narrow14four, narrow14rest, narrow14one, save14)

	FINISH(accumulate+104(FP))

next:
	SUBQ $32, n+8(FP)
	JLE  done
	MOVQ distance+56(FP), AX
	SHLQ $2, AX
	ADDQ AX, b+40(FP)
	ADDQ $128, c+64(FP)
	ADDQ $128, ahead+80(FP)
	JMP  tile

done:
	VZEROUPPER
	RET

// func sgemmTN14x32AVX512(m, n, k int, a *float32, lda int, b *float32, ldb, distance int, c *float32, ldc int, ahead *float32, ldahead, aheadRows int, accumulate bool)
TEXT ·sgemmTN14x32AVX512(SB), NOSPLIT, $16-105
tile:
	MOVQ m+0(FP), R11
	MOVQ n+8(FP), CX
	MOVQ a+24(FP), SI
	MOVQ lda+32(FP), R9
	MOVQ b+40(FP), DI
	MOVQ ldb+48(FP), R10
	MOVQ c+64(FP), R8
	MOVQ ldc+72(FP), DX
	SETUP(fetch, later, clear)
	LEAQ (R10)(R10*2), R15
	LEAQ (R9)(R9*2), R11
	LEAQ (SI)(R9*8), R12
	LEAQ (DI)(R10*8), CX
	MOVQ m+0(FP), AX
	CMPQ n+8(FP), $32
	JLT  masked
	JUMP(full1, full2, full3, full4, full5, full6, full7, full8, full9, full10, full11, full12, full13, full14)

masked:
	KORTESTW K2, K2
	JZ       narrow
	JUMP(wide1, wide2, wide3, wide4, wide5, wide6, wide7, wide8, wide9, wide10, wide11, wide12, wide13, wide14)

narrow:
	JUMP(narrow1, narrow2, narrow3, narrow4, narrow5, narrow6, narrow7, narrow8, narrow9, narrow10, narrow11, narrow12, narrow13, narrow14)

full1:
	LOOPTN(TN1, WIDE, FULLB, full1eight, full1four, full1rest, full1one, save1)

full2:
	LOOPTN(TN2, WIDE, FULLB, full2eight, full2four, full2rest, full2one, save2)

full3:
	LOOPTN(TN3, WIDE, FULLB, full3eight, full3four, full3rest, full3one, save3)

full4:
	LOOPTN(TN4, WIDE, FULLB, full4eight, full4four, full4rest, full4one, save4)

full5:
	LOOPTN(TN5, WIDE, FULLB, full5eight, full5four, full5rest, full5one, save5)

full6:
	LOOPTN(TN6, WIDE, FULLB, full6eight, full6four, full6rest, full6one, save6)

full7:
	LOOPTN(TN7, WIDE, FULLB, full7eight, full7four, full7rest, full7one, save7)

full8:
	LOOPTN(TN8, WIDE, FULLB, full8eight, full8four, full8rest, full8one, save8)

full9:
	LOOPTN(TN9, WIDE, FULLB, full9eight, full9four, full9rest, full9one, save9)

full10:
	LOOPTN(TN10, WIDE, FULLB, full10eight, full10four, full10rest, full10one, save10)

full11:
	LOOPTN(TN11, WIDE, FULLB, full11eight, full11four, full11rest, full11one, save11)

full12:
	LOOPTN(TN12, WIDE, FULLB, full12eight, full12four, full12rest, full12one, save12)

full13:
	LOOPTN(TN13, WIDE, FULLB, full13eight, full13four, full13rest, full13one, save13)

full14:
	LOOPTN(TN14, WIDE, FULLB, full14eight, full14four, full14rest, full14one, save14)

wide1:
	LOOPTN(TN1, WIDE, WIDEB, wide1eight, wide1four, wide1rest, wide1one, save1)

wide2:
	LOOPTN(TN2, WIDE, WIDEB, wide2eight, wide2four, wide2rest, wide2one, save2)

wide3:
	LOOPTN(TN3, WIDE, WIDEB, wide3eight, wide3four, wide3rest, wide3one, save3)

wide4:
	LOOPTN(TN4, WIDE, WIDEB, wide4eight, wide4four, wide4rest, wide4one, save4)

wide5:
	LOOPTN(TN5, WIDE, WIDEB, wide5eight, wide5four, wide5rest, wide5one, save5)

wide6:
	LOOPTN(TN6, WIDE, WIDEB, wide6eight, wide6four, wide6rest, wide6one, save6)

wide7:
	LOOPTN(TN7, WIDE, WIDEB, wide7eight, wide7four, wide7rest, wide7one, save7)

wide8:
	LOOPTN(TN8, WIDE, WIDEB, wide8eight, wide8four, wide8rest, wide8one, save8)

wide9:
	LOOPTN(TN9, WIDE, WIDEB, wide9eight, wide9four, wide9rest, wide9one, save9)

wide10:
	LOOPTN(TN10, WIDE, WIDEB, wide10eight, wide10four, wide10rest, wide10one, save10)

wide11:
	LOOPTN(TN11, WIDE, WIDEB, wide11eight, wide11four, wide11rest, wide11one, save11)

wide12:
	LOOPTN(TN12, WIDE, WIDEB, wide12eight, wide12four, wide12rest, wide12one, save12)

wide13:
	LOOPTN(TN13, WIDE, WIDEB, wide13eight, wide13four, wide13rest, wide13one, save13)

wide14:
	LOOPTN(TN14, WIDE, WIDEB, wide14eight, wide14four, wide14rest, wide14one, save14)

narrow1:
	LOOPTN(TN1, NARROW, NARROWB, narrow1eight, narrow1four, narrow1rest, narrow1one, save1)

narrow2:
	LOOPTN(TN2, NARROW, NARROWB, narrow2eight, narrow2four, narrow2rest, narrow2one, save2)

narrow3:
	LOOPTN(TN3, NARROW, NARROWB, narrow3eight, narrow3four, narrow3rest, narrow3one, save3)

narrow4:
	LOOPTN(TN4, NARROW, NARROWB, narrow4eight, narrow4four, narrow4rest, narrow4one, save4)

narrow5:
	LOOPTN(TN5, NARROW, NARROWB, narrow5eight, narrow5four, narrow5rest, narrow5one, save5)

narrow6:
	LOOPTN(TN6, NARROW, NARROWB, narrow6eight, narrow6four, narrow6rest, narrow6one, save6)

narrow7:
	LOOPTN(TN7, NARROW, NARROWB, narrow7eight, narrow7four, narrow7rest, narrow7one, save7)

narrow8:
	LOOPTN(TN8, NARROW, NARROWB, narrow8eight, narrow8four, narrow8rest, narrow8one, save8)

narrow9:
	LOOPTN(TN9, NARROW, NARROWB, narrow9eight, narrow9four, narrow9rest, narrow9one, save9)

narrow10:
	LOOPTN(TN10, NARROW, NARROWB, narrow10eight, narrow10four, narrow10rest, narrow10one, save10)

narrow11:
	LOOPTN(TN11, NARROW, NARROWB, narrow11eight, narrow11four, narrow11rest, narrow11one, save11)

narrow12:
	LOOPTN(TN12, NARROW, NARROWB, narrow12eight, narrow12four, narrow12rest, narrow12one, save12)

narrow13:
	LOOPTN(TN13, NARROW, NARROWB, narrow13eight, narrow13four, narrow13rest, narrow13one, save13)

narrow14:
	LOOPTN(TN14, NARROW, NARROWB, narrow14eight, narrow14four, narrow14rest, narrow14one, save14)

	FINISH(accumulate+104(FP))

next:
	SUBQ $32, n+8(FP)
	JLE  done
	MOVQ distance+56(FP), AX
	SHLQ $2, AX
	ADDQ AX, b+40(FP)
	ADDQ $128, c+64(FP)
	ADDQ $128, ahead+80(FP)
	JMP  tile

done:
	VZEROUPPER
	RET
