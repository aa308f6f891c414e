//go:build !noasm

#include "textflag.h"

// GemmWaves of a group, 8 columns by 8 columns, tile by tile of 2 rows. In Go:
//
//	for ; n > 0; n -= 8 { // the last columns may be fewer
//		for k := 0; k < m; k += 2 { // the last tile may have one row
//			E0, O0, E1, O1 = 0, 0, 0, 0
//			for f := range period/2 + 1 { // -f where that is another frequency
//				s0, d0 := x[-f][:]+x[f][:], y[-f][:]-y[f][:]
//				s1, d1 := y[-f][:]+y[f][:], x[f][:]-x[-f][:]
//				for i := range rows {
//					E0[i][:] += broadcast(cos[f][k+i]) * s0
//					E1[i][:] += broadcast(cos[f][k+i]) * s1
//					O0[i][:] += broadcast(sin[f][k+i]) * d0
//					O1[i][:] += broadcast(sin[f][k+i]) * d1
//				}
//			}
//			for i := range rows {
//				up0[k+i][:], down0[-k-i][:] = E0[i]+O0[i], E0[i]-O0[i] // with the sign turned
//				up1[k+i][:], down1[-k-i][:] = E1[i]+O1[i], E1[i]-O1[i] // down not for the middle
//			}
//		}
//		x, y, up0, up1, down0, down1 = x[8:], y[8:], up0[8:], up1[8:], down0[8:], down1[8:]
//	}
//
//	Y0..Y3     E0, O0, E1 and O1 of row 0
//	Y4..Y7     of row 1
//	Y8..Y11    s0, d0, s1, d1, then what is stored
//	Y12, Y13   x[f] and x[-f], y[f] and y[-f], then broadcast values
//	Y14, Y15   the sign, the columns of a narrow tile
//	SI, DI     x[f] and x[-f]
//	R8, R9     bytes from x to y, and from one frequency to the next
//	R10, R11   the rows of cosines and sines
//	R12        bytes from one of them to the next
//	R14, DX    bytes from the first frequency to the last, ldc in bytes
//	BX, R13    bytes from the first column to the tile, rows left
//	CX         pairs of frequencies left
//	AX         scratch
//
// At the end of a tile SI, DI, R10 and R11 are rows of up0, down0, up1 and down1. n counts down in the frame of the
// arguments.

#define FULL(x, to) \
	VMOVUPS x, to

#define MASKED(x, to) \
	VMASKMOVPS x, Y15, to

#define ROW(d, e0, o0, e1, o1) \
	VBROADCASTSS d(R10), Y12  \
	VBROADCASTSS d(R11), Y13  \
	VFMADD231PS  Y8, Y12, e0  \
	VFMADD231PS  Y10, Y12, e1 \
	VFMADD231PS  Y9, Y13, o0  \
	VFMADD231PS  Y11, Y13, o1

#define ROWS1 ROW(0, Y0, Y1, Y2, Y3)
#define ROWS2 ROWS1; ROW(4, Y4, Y5, Y6, Y7)

// SINGLE adds a frequency that is its own opposite.
#define SINGLE(d, e0, e1) \
	VBROADCASTSS d(R10), Y12  \
	VFMADD231PS  Y8, Y12, e0  \
	VFMADD231PS  Y10, Y12, e1

#define SINGLE1 SINGLE(0, Y0, Y2)
#define SINGLE2 SINGLE1; SINGLE(4, Y4, Y6)

// FREQUENCIES adds up all frequencies.
#define FREQUENCIES(single, rows, load, again, last, save) \
	VXORPS Y0, Y0, Y0        \
	VXORPS Y1, Y1, Y1        \
	VXORPS Y2, Y2, Y2        \
	VXORPS Y3, Y3, Y3        \
	VXORPS Y4, Y4, Y4        \
	VXORPS Y5, Y5, Y5        \
	VXORPS Y6, Y6, Y6        \
	VXORPS Y7, Y7, Y7        \
	MOVQ   x+48(FP), SI      \
	ADDQ   BX, SI            \
	LEAQ   (SI)(R14*1), DI   \
	MOVQ   period+16(FP), CX \
	DECQ   CX                \
	SHRQ   $1, CX            \
	MOVQ   m+0(FP), AX       \
	SUBQ   R13, AX           \
	SUBQ   $2, AX            \
	MOVQ   cos+24(FP), R10   \
	LEAQ   (R10)(AX*4), R10  \
	MOVQ   sin+32(FP), R11   \
	LEAQ   (R11)(AX*4), R11  \
	load((SI), Y8)           \
	load((SI)(R8*1), Y10)    \
	single                   \
	ADDQ   R9, SI            \
	ADDQ   R12, R10          \
	TESTQ  CX, CX            \
	JZ     last              \
	again:                   \
	load((SI), Y12)          \
	load((DI), Y13)          \
	VADDPS Y13, Y12, Y8      \
	VSUBPS Y13, Y12, Y11     \
	load((SI)(R8*1), Y12)    \
	load((DI)(R8*1), Y13)    \
	VSUBPS Y12, Y13, Y9      \
	VADDPS Y13, Y12, Y10     \
	rows                     \
	ADDQ   R9, SI            \
	SUBQ   R9, DI            \
	ADDQ   R12, R10          \
	ADDQ   R12, R11          \
	DECQ   CX                \
	JNZ    again             \
	last:                    \
	TESTB  $1, period+16(FP) \
	JNZ    save              \
	load((SI), Y8)           \
	load((SI)(R8*1), Y10)    \
	single                   \
	save:                    \
	IMULQ  DX, AX            \
	LEAQ   (BX)(AX*1), CX    \
	MOVQ   up0+72(FP), SI    \
	ADDQ   CX, SI            \
	MOVQ   up1+88(FP), R10   \
	ADDQ   CX, R10           \
	MOVQ   BX, CX            \
	SUBQ   AX, CX            \
	MOVQ   down0+80(FP), DI  \
	ADDQ   CX, DI            \
	MOVQ   down1+96(FP), R11 \
	ADDQ   CX, R11

#define PUT(x, to) \
	VMOVUPS x, to

#define MASKEDPUT(x, to) \
	VMASKMOVPS x, Y15, to

	// UP stores a row up of both results, DOWN one down.
#define UP(e0, o0, e1, o1, store) \
	VADDPS o0, e0, Y8  \
	VADDPS o1, e1, Y10 \
	VXORPS Y14, Y8, Y8 \
	store(Y8, (SI))    \
	store(Y10, (R10))

#define DOWN(e0, o0, e1, o1, store) \
	VSUBPS o0, e0, Y9  \
	VSUBPS o1, e1, Y11 \
	VXORPS Y14, Y9, Y9 \
	store(Y9, (DI))    \
	store(Y11, (R11))

#define SAVE1(store, down, next) \
	UP(Y0, Y1, Y2, Y3, store)   \
	TESTQ AX, AX                \
	JNZ   down                  \
	CMPB  middle+116(FP), $0    \
	JNE   next                  \
	down:                       \
	DOWN(Y0, Y1, Y2, Y3, store)

#define SAVE2(store, down, next) \
	UP(Y0, Y1, Y2, Y3, store)   \
	ADDQ  DX, SI                \
	ADDQ  DX, R10               \
	UP(Y4, Y5, Y6, Y7, store)   \
	TESTQ AX, AX                \
	JNZ   down                  \
	CMPB  middle+116(FP), $0    \
	JNE   next                  \
	down:                       \
	DOWN(Y0, Y1, Y2, Y3, store) \
	next:                       \
	SUBQ  DX, DI                \
	SUBQ  DX, R11               \
	DOWN(Y4, Y5, Y6, Y7, store)

// COLUMNS makes the tiles of 8 columns, or of as many as the mask has.
#define COLUMNS(load, store, pair, again2, last2, save2, down2, next2, odd, again1, last1, save1, down1) \
	MOVQ  m+0(FP), R13                                      \
	SUBQ  $2, R13                                           \
	JLT   odd                                               \
	pair:                                                   \
	FREQUENCIES(SINGLE2, ROWS2, load, again2, last2, save2) \
	SAVE2(store, down2, next2)                              \
	SUBQ  $2, R13                                           \
	JGE   pair                                              \
	odd:                                                    \
	CMPQ  R13, $-1                                          \
	JNE   columns                                           \
	FREQUENCIES(SINGLE1, ROWS1, load, again1, last1, save1) \
	SAVE1(store, down1, columns)

// func sgemmWaves2x8AVX2(m, n, period int, cos, sin *float32, ldw int, x, y *float32, ldx int, up0, down0, up1, down1 *float32, ldc int, sign uint32, middle bool)
TEXT ·sgemmWaves2x8AVX2(SB), NOSPLIT, $0-117
	VBROADCASTSS sign+112(FP), Y14
	MOVQ         y+56(FP), R8
	SUBQ         x+48(FP), R8
	MOVQ         ldx+64(FP), R9
	SHLQ         $2, R9
	MOVQ         period+16(FP), R14
	DECQ         R14
	IMULQ        R9, R14
	MOVQ         ldw+40(FP), R12
	SHLQ         $2, R12
	MOVQ         ldc+104(FP), DX
	SHLQ         $2, DX
	XORL         BX, BX
	CMPQ         n+8(FP), $8
	JLT          masked

full:
	// The next 16 columns are fetched while these are multiplied.
	TESTQ $32, BX
	JNZ   tiles
	MOVQ  x+48(FP), SI
	ADDQ  BX, SI
	MOVQ  period+16(FP), CX

fetch:
	PREFETCHT0 64(SI)
	PREFETCHT0 64(SI)(R8*1)
	ADDQ       R9, SI
	DECQ       CX
	JNZ        fetch

tiles:
	COLUMNS(FULL, PUT, full2, full2again, full2last, full2save, full2down, full2next, full1, full1again, full1last, full1save, full1down)

columns:
	ADDQ $32, BX
	SUBQ $8, n+8(FP)
	JLE  done
	CMPQ n+8(FP), $8
	JGE  full

masked:
	MOVQ    n+8(FP), AX
	NEGQ    AX
	LEAQ    ·onOff+64(SB), CX
	VMOVUPS (CX)(AX*4), Y15
	COLUMNS(MASKED, MASKEDPUT, masked2, masked2again, masked2last, masked2save, masked2down, masked2next, masked1, masked1again, masked1last, masked1save, masked1down)
	JMP     columns

done:
	VZEROUPPER
	RET
