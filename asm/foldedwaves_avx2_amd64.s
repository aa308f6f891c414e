//go:build !noasm

#include "textflag.h"

// sfoldedProducts6x16AVX2 multiplies one or two kinds of folded rows of n >= 8 values by waves, a strip of at
// most 6 frequencies. In Go:
//
//	for kind := range kinds {
//		for i := 0; ; i = min(i+16, n-16) { // the last tile may overlap the one before
//			T = 0
//			for y := range k {
//				for g := range m {
//					T[g][:] += broadcast(waves[y][g]) * folded[y][i:]
//				}
//			}
//			for g := range m {
//				to[kind][g][i:] = T[g][:]
//			}
//			if i == n-16 {
//				break
//			}
//		}
//		folded = folded[k:]
//	}
//
// A tile is two vectors, which overlap where n < 16. It has few steps, so little else is done for one. Each m has a loop
// of its own. Meanwhile k rows of next are fetched for each kind, which lie line apart.
//
//	Y0..Y11    T: row g in Y(2g) and Y(2g+1)
//	Y12, Y13   the row of folded
//	Y14, Y15   broadcast waves in turn
//	SI, R12    the row of waves, bytes from one to the next
//	DI, R10    the row of folded at i, bytes from one to the next
//	R9, R13    the row of next at i, bytes from one to the next
//	R8, AX     rows 0 and 3 of the results at i
//	DX         bytes from one of them to the next
//	R11        bytes from the first vector to the second
//	BX         i in bytes
//	CX         rows left
//
// At the end SI and DI are R8 and AX at the second vector.

#define ROW(d, t, c0, c1) \
	VBROADCASTSS d(SI), t   \
	VFMADD231PS  Y12, t, c0 \
	VFMADD231PS  Y13, t, c1

#define ROWS1 ROW(0, Y14, Y0, Y1)
#define ROWS2 ROWS1; ROW(4, Y15, Y2, Y3)
#define ROWS3 ROWS2; ROW(8, Y14, Y4, Y5)
#define ROWS4 ROWS3; ROW(12, Y15, Y6, Y7)
#define ROWS5 ROWS4; ROW(16, Y14, Y8, Y9)
#define ROWS6 ROWS5; ROW(20, Y15, Y10, Y11)

// CLEAR1..CLEAR6 clear the first rows of T and fetch those of the results.
#define CLEAR(to, c0, c1) \
	PREFETCHT0 to         \
	VXORPS     c0, c0, c0 \
	VXORPS     c1, c1, c1

#define CLEAR1 CLEAR((R8), Y0, Y1)
#define CLEAR2 CLEAR1; CLEAR((R8)(DX*1), Y2, Y3)
#define CLEAR3 CLEAR2; CLEAR((R8)(DX*2), Y4, Y5)
#define CLEAR4 CLEAR3; CLEAR((AX), Y6, Y7)
#define CLEAR5 CLEAR4; CLEAR((AX)(DX*1), Y8, Y9)
#define CLEAR6 CLEAR5; CLEAR((AX)(DX*2), Y10, Y11)

#define SAVE1 VMOVUPS Y0, (R8); VMOVUPS Y1, (SI)
#define SAVE2 SAVE1; VMOVUPS Y2, (R8)(DX*1); VMOVUPS Y3, (SI)(DX*1)
#define SAVE3 SAVE2; VMOVUPS Y4, (R8)(DX*2); VMOVUPS Y5, (SI)(DX*2)
#define SAVE4 SAVE3; VMOVUPS Y6, (AX); VMOVUPS Y7, (DI)
#define SAVE5 SAVE4; VMOVUPS Y8, (AX)(DX*1); VMOVUPS Y9, (DI)(DX*1)
#define SAVE6 SAVE5; VMOVUPS Y10, (AX)(DX*2); VMOVUPS Y11, (DI)(DX*2)

// TILES computes all tiles of a kind. The labels are the macro's own.
#define TILES(clear, rows, save, tile, again, last) \
tile:  \
	MOVQ       to0+56(FP), R8    \
	ADDQ       BX, R8            \
	LEAQ       (DX)(DX*2), AX    \
	ADDQ       R8, AX            \
	clear                        \
	MOVQ       waves+32(FP), SI  \
	MOVQ       folded+48(FP), DI \
	ADDQ       BX, DI            \
	MOVQ       next0+80(FP), R9  \
	ADDQ       BX, R9            \
	MOVQ       k+16(FP), CX      \
	TESTQ      CX, CX            \
	JZ         last              \
	again:                       \
	VMOVUPS    (DI), Y12         \
	VMOVUPS    (DI)(R11*1), Y13  \
	PREFETCHT0 (R9)              \
	rows                         \
	ADDQ       R13, R9           \
	ADDQ       R10, DI           \
	ADDQ       R12, SI           \
	DECQ       CX                \
	JNZ        again             \
	last:                        \
	LEAQ       (R8)(R11*1), SI   \
	LEAQ       (AX)(R11*1), DI   \
	save                         \
	MOVQ       end-8(SP), AX     \
	CMPQ       BX, AX            \
	JEQ        next              \
	ADDQ       $64, BX           \
	CMPQ       BX, AX            \
	CMOVQGT    AX, BX            \
	JMP        tile

// func sfoldedProducts6x16AVX2(m, n, k, kinds int, waves *float32, ldw int, folded, to0, to1 *float32, ldc int, next0, next1 *float32, line int)
TEXT ·sfoldedProducts6x16AVX2(SB), NOSPLIT, $8-104
	MOVQ    ldw+40(FP), R12
	SHLQ    $2, R12
	MOVQ    n+8(FP), R10
	SHLQ    $2, R10
	MOVQ    ldc+72(FP), DX
	SHLQ    $2, DX
	MOVQ    line+96(FP), R13
	SHLQ    $2, R13
	LEAQ    -32(R10), AX
	MOVQ    $32, R11
	CMPQ    AX, R11
	CMOVQLT AX, R11
	SUBQ    R11, AX
	MOVQ    AX, end-8(SP)    // i of the last tile

kind:
	XORL BX, BX
	MOVQ m+0(FP), AX
	CMPQ AX, $6
	JEQ  tile6
	CMPQ AX, $5
	JEQ  tile5
	CMPQ AX, $4
	JEQ  tile4
	CMPQ AX, $3
	JEQ  tile3
	CMPQ AX, $2
	JEQ  tile2
	TILES(CLEAR1, ROWS1, SAVE1, tile1, again1, last1)
	TILES(CLEAR2, ROWS2, SAVE2, tile2, again2, last2)
	TILES(CLEAR3, ROWS3, SAVE3, tile3, again3, last3)
	TILES(CLEAR4, ROWS4, SAVE4, tile4, again4, last4)
	TILES(CLEAR5, ROWS5, SAVE5, tile5, again5, last5)
	TILES(CLEAR6, ROWS6, SAVE6, tile6, again6, last6)

next:
	DECQ  kinds+24(FP)
	JZ    done
	MOVQ  k+16(FP), AX
	IMULQ R10, AX
	ADDQ  AX, folded+48(FP)
	MOVQ  to1+64(FP), AX
	MOVQ  AX, to0+56(FP)
	MOVQ  next1+88(FP), AX
	MOVQ  AX, next0+80(FP)
	JMP   kind

done:
	VZEROUPPER
	RET

// sfoldColumnsAVX2 folds a column of a plane and the one opposite, of n >= 8 values. In Go:
//
//	for y := range h/2 { // and -y, the row opposite, and -x the column
//		for i := 0; ; i = min(i+8, n-8) { // the last vector may overlap the one before
//			s, d := p[-y][x][i:]+p[y][x][i:], p[-y][x][i:]-p[y][x][i:]
//			t, e := p[-y][-x][i:]+p[y][-x][i:], p[-y][-x][i:]-p[y][-x][i:]
//			re[y][i:], ro[y][i:], ie[y][i:], io[y][i:] = t+s, t-s, e+d, e-d
//			if i == n-8 {
//				break
//			}
//		}
//	}
//	if h is odd {
//		the same for re and ro of the middle row, whose values are s and t
//	}
//
// In the middle, where x is -x, re is s, ie is d, and there are no others. The rows of re, ro, ie and io lie
// one behind the other.
//
//	Y0..Y3     the four values, then t+s, t-s, e+d, e-d
//	Y4..Y7     s, t, d, e
//	SI, DI     p[-y][x] and p[y][x], at i
//	R8         bytes from x to -x
//	R9         bytes from the end of a column's row to the next one
//	R10, R11   re and ie, at i
//	R12, R13   bytes from re to ro and from ie to io
//	BX         bytes that the last vector overlaps
//	DX         vectors of a row but the last
//	CX         those left
//	AX         pairs of rows left

#define PAIR \
	VMOVUPS (SI), Y0         \
	VMOVUPS (SI)(R8*1), Y1   \
	VMOVUPS (DI), Y2         \
	VMOVUPS (DI)(R8*1), Y3   \
	VADDPS  Y2, Y0, Y4       \
	VADDPS  Y3, Y1, Y5       \
	VSUBPS  Y2, Y0, Y6       \
	VSUBPS  Y3, Y1, Y7       \
	VADDPS  Y4, Y5, Y0       \
	VSUBPS  Y4, Y5, Y1       \
	VADDPS  Y6, Y7, Y2       \
	VSUBPS  Y6, Y7, Y3       \
	VMOVUPS Y0, (R10)        \
	VMOVUPS Y1, (R10)(R12*1) \
	VMOVUPS Y2, (R11)        \
	VMOVUPS Y3, (R11)(R13*1)

#define PAIRMIDDLE \
	VMOVUPS (SI), Y4         \
	VMOVUPS (SI)(R8*1), Y5   \
	VADDPS  Y4, Y5, Y0       \
	VSUBPS  Y4, Y5, Y1       \
	VMOVUPS Y0, (R10)        \
	VMOVUPS Y1, (R10)(R12*1)

#define ALONE \
	VMOVUPS (SI), Y0   \
	VMOVUPS (DI), Y2   \
	VADDPS  Y2, Y0, Y4 \
	VSUBPS  Y2, Y0, Y6 \
	VMOVUPS Y4, (R10)  \
	VMOVUPS Y6, (R11)

#define ALONEMIDDLE \
	VMOVUPS (SI), Y0  \
	VMOVUPS Y0, (R10)

// VECTORS folds the vectors of a row. The labels are the macro's own.
#define VECTORS(vector, again, last) \
	MOVQ   DX, CX   \
	TESTQ  CX, CX   \
	JZ     last     \
	again:          \
	vector          \
	ADDQ   $32, SI  \
	ADDQ   $32, DI  \
	ADDQ   $32, R10 \
	ADDQ   $32, R11 \
	DECQ   CX       \
	JNZ    again    \
	last:           \
	SUBQ   BX, SI   \
	SUBQ   BX, DI   \
	SUBQ   BX, R10  \
	SUBQ   BX, R11  \
	vector

#define COLUMN(vector, middle, row, again, last, single, singleagain, singlelast) \
	TESTQ   AX, AX                           \
	JZ      single                           \
	row:                                     \
	VECTORS(vector, again, last)             \
	ADDQ    $32, R10                         \
	ADDQ    $32, R11                         \
	ADDQ    $32, DI                          \
	ADDQ    R9, DI                           \
	ADDQ    $32, SI                          \
	SUBQ    back-8(SP), SI                   \
	DECQ    AX                               \
	JNZ     row                              \
	single:                                  \
	CMPQ    SI, DI                           \
	JNE     done                             \
	VECTORS(middle, singleagain, singlelast) \
	JMP     done

// func sfoldColumnsAVX2(n, h int, p, opposite *float32, line int, folded *float32)
TEXT ·sfoldColumnsAVX2(SB), NOSPLIT, $8-48
	MOVQ  n+0(FP), BX
	MOVQ  h+8(FP), AX
	MOVQ  p+16(FP), DI
	MOVQ  opposite+24(FP), R8
	MOVQ  line+32(FP), R9
	MOVQ  folded+40(FP), R10
	SHLQ  $2, R9
	LEAQ  -1(AX), SI
	IMULQ R9, SI
	ADDQ  DI, SI              // the last row
	LEAQ  -1(BX), DX
	SHRQ  $3, DX
	SHLQ  $2, BX
	LEAQ  (R9)(BX*1), CX
	MOVQ  CX, back-8(SP)
	SUBQ  BX, R9
	LEAQ  1(AX), R12
	SHRQ  $1, R12
	IMULQ BX, R12
	SHRQ  $1, AX
	MOVQ  AX, R13
	IMULQ BX, R13
	NEGQ  BX
	ANDQ  $31, BX
	LEAQ  (R10)(R12*1), R11
	SUBQ  DI, R8
	JEQ   alone
	ADDQ  R12, R11
	COLUMN(PAIR, PAIRMIDDLE, pair, pairagain, pairlast, single, singleagain, singlelast)

alone:
	COLUMN(ALONE, ALONEMIDDLE, alonepair, alonepairagain, alonepairlast, alonesingle, alonesingleagain, alonesinglelast)

done:
	VZEROUPPER
	RET
