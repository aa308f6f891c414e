//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// A block of GemmMirrored, strip by strip of at most 3 rows, tile by tile of 16 columns. One part of a tile
// has too few sums to keep both units busy, so the even and the odd part take a step each in turn, as far as both
// have one. In Go:
//
//	for m > 0 { // strips of 3 rows, and of 2 and 2 rather than 3 and 1
//		for j := 0; j < n; j += 16 { // what is left has tiles of 8 columns, and a last one that may be narrower
//			E, O = 0, 0
//			for p := range both {
//				for i := range rows {
//					E[i][:] += broadcast(A0[p][i]) * B0[p][j:]
//					O[i][:] += broadcast(A1[p][i]) * B1[p][j:]
//				}
//			}
//			evenMore steps for E, and oddMore for O
//			for i := rows - 1; i >= 0; i-- {
//				up[i][j:] (+)= E[i][:] + O[i][:]
//				down[m-1-i][j:] (+)= E[i][:] - O[i][:] // not for i = 0 if that is the middle
//			}
//		}
//		A0, A1, up, m = A0[rows:], A1[rows:], up[rows:], m-rows
//	}
//
//	Y0..Y5       E: row i in Y(2i) and Y(2i+1)
//	Y6..Y11      O
//	Y12, Y13     the row of B; in tiles of 8 columns Y13 is the mask of those that exist
//	Y14, Y15     broadcast values of A, then sums of E and O
//	SI, BX       A0 and A1
//	AX, R9       bytes from there to the row of either, lda in bytes
//	DI, R11      B0 and B1, from the tile on
//	R14, R10     bytes from there to the row of either, ldb in bytes
//	R8, DX       the first row up, the first one down
//	R12          ldc in bytes
//	R13          columns left
//	CX           steps left
//
// m, a, up and middle count along in the frame of the arguments.

// WIDE and NARROW multiply x, a value of A, by the row of B; t holds x.
#define WIDE(x, t, c0, c1) \
	VBROADCASTSS x, t       \
	VFMADD231PS  Y12, t, c0 \
	VFMADD231PS  Y13, t, c1

#define NARROW(x, t, c0, c1) \
	VBROADCASTSS x, t       \
	VFMADD231PS  Y12, t, c0

#define EVEN1(row) row((SI)(AX*1), Y14, Y0, Y1)
#define EVEN2(row) EVEN1(row); row(4(SI)(AX*1), Y15, Y2, Y3)
#define EVEN3(row) EVEN2(row); row(8(SI)(AX*1), Y14, Y4, Y5)

#define ODD1(row) row((BX)(AX*1), Y15, Y6, Y7)
#define ODD2(row) ODD1(row); row(4(BX)(AX*1), Y14, Y8, Y9)
#define ODD3(row) ODD2(row); row(8(BX)(AX*1), Y15, Y10, Y11)

#define WIDEB(b) \
	VMOVUPS (b)(R14*1), Y12   \
	VMOVUPS 32(b)(R14*1), Y13

#define NARROWB(b) \
	VMASKMOVPS (b)(R14*1), Y13, Y12

#define STEP(again) \
	ADDQ R9, AX   \
	ADDQ R10, R14 \
	DECQ CX       \
	JNZ  again

// TILE makes E and O.
#define TILE(evens, odds, row, loadB, together, even, evenStep, odd, oddStep, save) \
	ZERO12                        \
	XORL      AX, AX              \
	XORL      R14, R14            \
	MOVQ      both+16(FP), CX     \
	TESTQ     CX, CX              \
	JZ        even                \
	together:                     \
	loadB(DI)                     \
	evens(row)                    \
	loadB(R11)                    \
	odds(row)                     \
	STEP(together)                \
	even:                         \
	MOVQ      evenMore+24(FP), CX \
	TESTQ     CX, CX              \
	JZ        odd                 \
	evenStep:                     \
	loadB(DI)                     \
	evens(row)                    \
	STEP(evenStep)                \
	odd:                          \
	MOVQ      oddMore+32(FP), CX  \
	TESTQ     CX, CX              \
	JZ        save                \
	oddStep:                      \
	loadB(R11)                    \
	odds(row)                     \
	STEP(oddStep)

// PUT stores values, ADD adds what is there.
#define PUT(x, to) \
	VMOVUPS x, to

#define ADD(x, to) \
	VADDPS  to, x, x \
	VMOVUPS x, to

#define MASKEDPUT(x, to) \
	VMASKMOVPS x, Y13, to

#define MASKEDADD(x, to) \
	VMASKMOVPS to, Y13, Y12 \
	VADDPS     Y12, x, x    \
	VMASKMOVPS x, Y13, to

// UP makes the sum of a row of E and of O, and saves it; the difference, which DOWN saves, is left in O.
#define WIDEUP(store, e0, e1, o0, o1, u0, u1) \
	VADDPS o0, e0, Y14 \
	VADDPS o1, e1, Y15 \
	VSUBPS o0, e0, o0  \
	VSUBPS o1, e1, o1  \
	store(Y14, u0)     \
	store(Y15, u1)

#define WIDEDOWN(store, o0, o1, d0, d1) \
	store(o0, d0) \
	store(o1, d1)

#define NARROWUP(store, e0, e1, o0, o1, u0, u1) \
	VADDPS o0, e0, Y14 \
	VSUBPS o0, e0, o0  \
	store(Y14, u0)

#define NARROWDOWN(store, o0, o1, d0, d1) \
store(o0, d0)

#define SAVE1(up, down, store, next) \
	up(store, Y0, Y1, Y6, Y7, (R8), 32(R8)) \
	CMPB middle+112(FP), $0                 \
	JNE  next                               \
	down(store, Y6, Y7, (DX), 32(DX))

#define SAVE2(up, down, store, next) \
	up(store, Y2, Y3, Y8, Y9, (R8)(R12*1), 32(R8)(R12*1)) \
	down(store, Y8, Y9, (DX), 32(DX))                     \
	up(store, Y0, Y1, Y6, Y7, (R8), 32(R8))               \
	CMPB middle+112(FP), $0                               \
	JNE  next                                             \
	down(store, Y6, Y7, (DX)(R12*1), 32(DX)(R12*1))

#define SAVE3(up, down, store, next) \
	up(store, Y4, Y5, Y10, Y11, (R8)(R12*2), 32(R8)(R12*2)) \
	down(store, Y10, Y11, (DX), 32(DX))                     \
	up(store, Y2, Y3, Y8, Y9, (R8)(R12*1), 32(R8)(R12*1))   \
	down(store, Y8, Y9, (DX)(R12*1), 32(DX)(R12*1))         \
	up(store, Y0, Y1, Y6, Y7, (R8), 32(R8))                 \
	CMPB middle+112(FP), $0                                 \
	JNE  next                                               \
	down(store, Y6, Y7, (DX)(R12*2), 32(DX)(R12*2))

// NEXT goes on by so many columns.
#define NEXT(columns) \
	ADDQ $(4*columns), DI  \
	ADDQ $(4*columns), R11 \
	ADDQ $(4*columns), R8  \
	ADDQ $(4*columns), DX  \
	SUBQ $columns, R13

// FETCH1..FETCH3 fetch what will be written 64 columns on: planes are seldom in the caches.
#define FETCH1 \
	PREFETCHT0 256(R8) \
	PREFETCHT0 256(DX)

#define FETCH2 \
	FETCH1                    \
	PREFETCHT0 256(R8)(R12*1) \
	PREFETCHT0 256(DX)(R12*1)

#define FETCH3 \
	FETCH2                    \
	PREFETCHT0 256(R8)(R12*2) \
	PREFETCHT0 256(DX)(R12*2)

// WIDETILES makes the tiles of 16 columns of a strip, as far as there are any.
#define WIDETILES(evens, odds, fetch, saves, tile, together, even, evenStep, odd, oddStep, save, add, next, narrow) \
	CMPQ  R13, $16                                                               \
	JLT   narrow                                                                 \
	tile:                                                                        \
	fetch                                                                        \
	TILE(evens, odds, WIDE, WIDEB, together, even, evenStep, odd, oddStep, save) \
	save:                                                                        \
	CMPB  accumulate+113(FP), $0                                                 \
	JNE   add                                                                    \
	saves(WIDEUP, WIDEDOWN, PUT, next)                                           \
	JMP   next                                                                   \
	add:                               \
	saves(WIDEUP, WIDEDOWN, ADD, next) \
	next:                              \
	NEXT(16)                           \
	CMPQ  R13, $16                     \
	JGE   tile

// NARROWTILES makes those of 8 columns, and the last one.
#define NARROWTILES(evens, odds, saves, tile, together, even, evenStep, odd, oddStep, save, add, masked, maskedAdd, next) \
	TESTQ   R13, R13                                                                 \
	JZ      strip                                                                    \
	tile:                                                                            \
	MOVQ    $8, CX                                                                   \
	CMPQ    R13, CX                                                                  \
	CMOVQLT R13, CX                                                                  \
	NEGQ    CX                                                                       \
	LEAQ    ·onOff+64(SB), AX                                                        \
	VMOVUPS (AX)(CX*4), Y13                                                          \
	TILE(evens, odds, NARROW, NARROWB, together, even, evenStep, odd, oddStep, save) \
	save:                                                                            \
	CMPQ    R13, $8                                                                  \
	JLT     masked                                                                   \
	CMPB    accumulate+113(FP), $0                                                   \
	JNE     add                                                                      \
	saves(NARROWUP, NARROWDOWN, PUT, next)                                           \
	JMP     next                                                                     \
	add:                                   \
	saves(NARROWUP, NARROWDOWN, ADD, next) \
	JMP  next                              \
	masked:                                      \
	CMPB    accumulate+113(FP), $0               \
	JNE     maskedAdd                            \
	saves(NARROWUP, NARROWDOWN, MASKEDPUT, next) \
	JMP     next                                 \
	maskedAdd:                                   \
	saves(NARROWUP, NARROWDOWN, MASKEDADD, next) \
	next:                                        \
	NEXT(8)                                      \
	JGT        tile                              \
	JMP        strip

// func sgemmMirrored3x16AVX2(m, n, both, evenMore, oddMore int, a0, a1 *float32, lda int, b0, b1 *float32, ldb int, up, down *float32, ldc int, middle, accumulate bool)
TEXT ·sgemmMirrored3x16AVX2(SB), NOSPLIT, $0-114
	MOVQ lda+56(FP), R9
	SHLQ $2, R9
	MOVQ ldb+80(FP), R10
	SHLQ $2, R10
	MOVQ ldc+104(FP), R12
	SHLQ $2, R12
	MOVQ m+0(FP), DX
	JMP  first

strip:
	MOVB  $0, middle+112(FP)
	MOVQ  m+0(FP), DX
	TESTQ DX, DX
	JZ    done

first:
	MOVQ    $3, CX
	CMPQ    DX, CX
	CMOVQLT DX, CX
	MOVQ    $2, AX
	CMPQ    DX, $4
	CMOVQEQ AX, CX
	SUBQ    CX, DX
	MOVQ    DX, m+0(FP)
	IMULQ   R12, DX
	ADDQ    down+96(FP), DX // the last row of the strip is the first one down
	MOVQ    a0+40(FP), SI
	LEAQ    (SI)(CX*4), AX
	MOVQ    AX, a0+40(FP)
	MOVQ    a1+48(FP), BX
	LEAQ    (BX)(CX*4), AX
	MOVQ    AX, a1+48(FP)
	MOVQ    up+88(FP), R8
	MOVQ    R12, AX
	IMULQ   CX, AX
	ADDQ    R8, AX
	MOVQ    AX, up+88(FP)
	MOVQ    b0+64(FP), DI
	MOVQ    b1+72(FP), R11
	MOVQ    n+8(FP), R13
	CMPQ    CX, $2
	JLT     rows1
	JEQ     rows2
	WIDETILES(EVEN3, ODD3, FETCH3, SAVE3, wide3, wide3both, wide3even, wide3evenStep, wide3odd, wide3oddStep, wide3save, wide3add, wide3next, rest3)

rest3:
	NARROWTILES(EVEN3, ODD3, SAVE3, narrow3, narrow3both, narrow3even, narrow3evenStep, narrow3odd, narrow3oddStep, narrow3save, narrow3add, masked3, masked3add, narrow3next)

rows2:
	WIDETILES(EVEN2, ODD2, FETCH2, SAVE2, wide2, wide2both, wide2even, wide2evenStep, wide2odd, wide2oddStep, wide2save, wide2add, wide2next, rest2)

rest2:
	NARROWTILES(EVEN2, ODD2, SAVE2, narrow2, narrow2both, narrow2even, narrow2evenStep, narrow2odd, narrow2oddStep, narrow2save, narrow2add, masked2, masked2add, narrow2next)

rows1:
	WIDETILES(EVEN1, ODD1, FETCH1, SAVE1, wide1, wide1both, wide1even, wide1evenStep, wide1odd, wide1oddStep, wide1save, wide1add, wide1next, rest1)

rest1:
	NARROWTILES(EVEN1, ODD1, SAVE1, narrow1, narrow1both, narrow1even, narrow1evenStep, narrow1odd, narrow1oddStep, narrow1save, narrow1add, masked1, masked1add, narrow1next)

done:
	VZEROUPPER
	RET
