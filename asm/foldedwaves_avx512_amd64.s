//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// A strip of FoldedWaves of at most 6 frequencies, tile by tile of 16 columns. In Go:
//
//	for ; n > 0; n -= 16 { // the last tile may be narrower
//		RE, RO, IE, IO = 0, 0, 0, 0
//		for y := range h/2 { // and -y, the row opposite, and -x the column
//			s, d := p[-y][x][:]+p[y][x][:], p[-y][x][:]-p[y][x][:]
//			t, e := p[-y][-x][:]+p[y][-x][:], p[-y][-x][:]-p[y][-x][:]
//			for g := range m {
//				RE[g][:] += broadcast(cos[y][g]) * (t + s)
//				RO[g][:] += broadcast(cos[y][g]) * (t - s)
//				IE[g][:] += broadcast(minusSin[y][g]) * (e + d)
//				IO[g][:] += broadcast(minusSin[y][g]) * (e - d)
//			}
//		}
//		if h is odd {
//			the same for s and t of the middle row
//		}
//		for g := range m {
//			re[g][:], ro[g][:], ie[g][:], io[g][:] = RE[g][:], RO[g][:], IE[g][:], IO[g][:]
//		}
//		p, re, ro, ie, io = p[16:], re[16:], ro[16:], ie[16:], io[16:]
//	}
//
// Each m has a loop of its own. Meanwhile the next columns, towards the middle, are fetched.
//
//	Z0..Z5     RE, a row each
//	Z6..Z11    RO
//	Z12..Z17   IE
//	Z18..Z23   IO
//	Z24..Z27   t+s, t-s, e+d, e-d
//	Z28..Z31   the four values, then s, d, t and e, then broadcast values
//	K1         the columns that exist
//	K2         those of -x: none in the middle column
//	SI, DI     p[y][x] and p[-y][x]
//	R8         bytes from x to -x
//	R9         bytes from one row to the next
//	R10, R11   the rows of cos and of minusSin
//	R12        bytes from one of them to the next
//	R13, BX    bytes to what is fetched beside x and -x
//	CX         pairs of rows left
//	AX         scratch, rows left
//
// At the end SI, DI, R8 and R9 are rows of re, ro, ie and io, R12 is ldc in bytes. What counts along from
// tile to tile does so in the frame of the arguments.

#define ROW(d, re, ro, ie, io) \
	VBROADCASTSS d(R10), Z28  \
	VBROADCASTSS d(R11), Z29  \
	VFMADD231PS  Z24, Z28, re \
	VFMADD231PS  Z25, Z28, ro \
	VFMADD231PS  Z26, Z29, ie \
	VFMADD231PS  Z27, Z29, io

#define ROWS1 ROW(0, Z0, Z6, Z12, Z18)
#define ROWS2 ROWS1; ROW(4, Z1, Z7, Z13, Z19)
#define ROWS3 ROWS2; ROW(8, Z2, Z8, Z14, Z20)
#define ROWS4 ROWS3; ROW(12, Z3, Z9, Z15, Z21)
#define ROWS5 ROWS4; ROW(16, Z4, Z10, Z16, Z22)
#define ROWS6 ROWS5; ROW(20, Z5, Z11, Z17, Z23)

// SINGLE adds the middle row.
#define SINGLE(d, re, ro) \
	VBROADCASTSS d(R10), Z28  \
	VFMADD231PS  Z24, Z28, re \
	VFMADD231PS  Z25, Z28, ro

#define SINGLE1 SINGLE(0, Z0, Z6)
#define SINGLE2 SINGLE1; SINGLE(4, Z1, Z7)
#define SINGLE3 SINGLE2; SINGLE(8, Z2, Z8)
#define SINGLE4 SINGLE3; SINGLE(12, Z3, Z9)
#define SINGLE5 SINGLE4; SINGLE(16, Z4, Z10)
#define SINGLE6 SINGLE5; SINGLE(20, Z5, Z11)

// LINES adds up all rows.
#define LINES(single, rows, again, last) \
	TESTQ      CX, CX              \
	JZ         last                \
	again:                         \
	VMOVUPS.Z  (SI), K1, Z28       \
	VMOVUPS.Z  (DI), K1, Z29       \
	VMOVUPS.Z  (SI)(R8*1), K2, Z30 \
	VMOVUPS.Z  (DI)(R8*1), K2, Z31 \
	PREFETCHT0 (SI)(R13*1)         \
	PREFETCHT0 (DI)(R13*1)         \
	PREFETCHT0 (SI)(BX*1)          \
	PREFETCHT0 (DI)(BX*1)          \
	VSUBPS     Z28, Z29, Z26       \
	VADDPS     Z28, Z29, Z24       \
	VSUBPS     Z30, Z31, Z27       \
	VADDPS     Z30, Z31, Z25       \
	VADDPS     Z24, Z25, Z28       \
	VSUBPS     Z24, Z25, Z25       \
	VADDPS     Z26, Z27, Z29       \
	VSUBPS     Z26, Z27, Z27       \
	VMOVAPS    Z28, Z24            \
	VMOVAPS    Z29, Z26            \
	rows                           \
	ADDQ       R9, SI              \
	SUBQ       R9, DI              \
	ADDQ       R12, R10            \
	ADDQ       R12, R11            \
	DECQ       CX                  \
	JNZ        again               \
	last:                          \
	CMPQ       SI, DI              \
	JNE        save                \
	VMOVUPS.Z  (SI), K1, Z28       \
	VMOVUPS.Z  (SI)(R8*1), K2, Z30 \
	VADDPS     Z28, Z30, Z24       \
	VSUBPS     Z28, Z30, Z25       \
	single                         \
	JMP        save

// SAVE stores a row of all four, and goes on to the next.
#define SAVE(re, ro, ie, io) \
	VMOVUPS re, K1, (SI) \
	VMOVUPS ro, K2, (DI) \
	VMOVUPS ie, K1, (R8) \
	VMOVUPS io, K2, (R9) \
	DECQ    AX           \
	JZ      done         \
	ADDQ    R12, SI      \
	ADDQ    R12, DI      \
	ADDQ    R12, R8      \
	ADDQ    R12, R9

// func sfoldedWaves6x16AVX512(m, n, h int, cos, minusSin *float32, ldw int, p, opposite *float32, line int, re, ro, ie, io *float32, ldc, next int)
TEXT ·sfoldedWaves6x16AVX512(SB), NOSPLIT, $0-120

tile:
	MOVQ    n+8(FP), CX
	MOVQ    $16, AX
	CMPQ    CX, AX
	CMOVQGT AX, CX
	MOVQ    $1, AX
	SHLQ    CX, AX
	DECQ    AX
	KMOVW   AX, K1
	ZERO28
	MOVQ    p+48(FP), SI
	MOVQ    opposite+56(FP), R8
	SUBQ    SI, R8
	CMOVQEQ R8, AX               // the middle column: none
	KMOVW   AX, K2
	MOVQ    line+64(FP), R9
	SHLQ    $2, R9
	MOVQ    h+16(FP), CX
	MOVQ    CX, DI
	DECQ    DI
	IMULQ   R9, DI
	ADDQ    SI, DI               // the last row
	SHRQ    $1, CX
	MOVQ    next+112(FP), R13
	SHLQ    $2, R13
	MOVQ    R8, BX
	SUBQ    R13, BX
	MOVQ    cos+24(FP), R10
	MOVQ    minusSin+32(FP), R11
	MOVQ    ldw+40(FP), R12
	SHLQ    $2, R12
	MOVQ    m+0(FP), AX
	JUMP6(rows1, rows2, rows3, rows4, rows5, rows6)

rows1:
	LINES(SINGLE1, ROWS1, rows1again, rows1last)

rows2:
	LINES(SINGLE2, ROWS2, rows2again, rows2last)

rows3:
	LINES(SINGLE3, ROWS3, rows3again, rows3last)

rows4:
	LINES(SINGLE4, ROWS4, rows4again, rows4last)

rows5:
	LINES(SINGLE5, ROWS5, rows5again, rows5last)

rows6:
	LINES(SINGLE6, ROWS6, rows6again, rows6last)

save:
	MOVQ re+72(FP), SI
	MOVQ ro+80(FP), DI
	MOVQ ie+88(FP), R8
	MOVQ io+96(FP), R9
	MOVQ ldc+104(FP), R12
	SHLQ $2, R12
	MOVQ m+0(FP), AX
	SAVE(Z0, Z6, Z12, Z18)
	SAVE(Z1, Z7, Z13, Z19)
	SAVE(Z2, Z8, Z14, Z20)
	SAVE(Z3, Z9, Z15, Z21)
	SAVE(Z4, Z10, Z16, Z22)
	SAVE(Z5, Z11, Z17, Z23)

done:
	ADDQ $64, p+48(FP)
	ADDQ $64, opposite+56(FP)
	ADDQ $64, re+72(FP)
	ADDQ $64, ro+80(FP)
	ADDQ $64, ie+88(FP)
	ADDQ $64, io+96(FP)
	SUBQ $16, n+8(FP)
	JG   tile
	VZEROUPPER
	RET
