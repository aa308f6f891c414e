//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// A strip of GemmWaves of at most 6 rows, tile by tile of 16 columns. In Go:
//
//	for ; n > 0; n -= 16 { // the last tile may be narrower
//		E0, O0, E1, O1 = 0, 0, 0, 0
//		for f := range period/2 + 1 { // -f where that is another frequency
//			s0, d0 := x[-f][:]+x[f][:], y[-f][:]-y[f][:]
//			s1, d1 := y[-f][:]+y[f][:], x[f][:]-x[-f][:]
//			for i := range m {
//				E0[i][:] += broadcast(cos[f][i]) * s0
//				E1[i][:] += broadcast(cos[f][i]) * s1
//				O0[i][:] += broadcast(sin[f][i]) * d0
//				O1[i][:] += broadcast(sin[f][i]) * d1
//			}
//		}
//		for i := range m {
//			up0[i][:], down0[-i][:] = E0[i]+O0[i], E0[i]-O0[i] // with the sign turned
//			up1[i][:], down1[-i][:] = E1[i]+O1[i], E1[i]-O1[i]
//		}
//		x, y, up0, up1, down0, down1 = x[16:], y[16:], up0[16:], up1[16:], down0[16:], down1[16:]
//	}
//
// Each m has loops of its own, with all columns or under masks. Meanwhile the columns of the next tile are fetched.
//
//	Z0..Z5     E0, a row each
//	Z6..Z11    O0
//	Z12..Z17   E1
//	Z18..Z23   O1
//	Z24..Z27   s0, d0, s1, d1
//	Z28..Z31   x[f], x[-f], y[f], y[-f], then broadcast values; at the end Z31 is the sign
//	K1         the columns that exist
//	DX, R13    columns left, bytes of those done
//	SI, DI     x[f] and x[-f]
//	R8, R9     bytes from x to y, and from one frequency to the next
//	R10, R11   the rows of cosines and sines
//	R12        bytes from one of them to the next
//	R14, R15   bytes from the first frequency to the last, ldc in bytes
//	CX         pairs of frequencies left
//	AX         scratch, rows left
//
// At the end SI, DI, R10 and R11 are rows of up0, down0, up1 and down1.

#define ROW(d, e0, o0, e1, o1) \
	VBROADCASTSS d(R10), Z28  \
	VBROADCASTSS d(R11), Z29  \
	VFMADD231PS  Z24, Z28, e0 \
	VFMADD231PS  Z26, Z28, e1 \
	VFMADD231PS  Z25, Z29, o0 \
	VFMADD231PS  Z27, Z29, o1

#define ROWS1 ROW(0, Z0, Z6, Z12, Z18)
#define ROWS2 ROWS1; ROW(4, Z1, Z7, Z13, Z19)
#define ROWS3 ROWS2; ROW(8, Z2, Z8, Z14, Z20)
#define ROWS4 ROWS3; ROW(12, Z3, Z9, Z15, Z21)
#define ROWS5 ROWS4; ROW(16, Z4, Z10, Z16, Z22)
#define ROWS6 ROWS5; ROW(20, Z5, Z11, Z17, Z23)

// SINGLE adds a frequency that is its own opposite.
#define SINGLE(d, e0, e1) \
	VBROADCASTSS d(R10), Z28  \
	VFMADD231PS  Z24, Z28, e0 \
	VFMADD231PS  Z26, Z28, e1

#define SINGLE1 SINGLE(0, Z0, Z12)
#define SINGLE2 SINGLE1; SINGLE(4, Z1, Z13)
#define SINGLE3 SINGLE2; SINGLE(8, Z2, Z14)
#define SINGLE4 SINGLE3; SINGLE(12, Z3, Z15)
#define SINGLE5 SINGLE4; SINGLE(16, Z4, Z16)
#define SINGLE6 SINGLE5; SINGLE(20, Z5, Z17)

#define OWN \
	VMOVUPS.Z  (SI), K1, Z24       \
	VMOVUPS.Z  (SI)(R8*1), K1, Z26 \
	PREFETCHT0 64(SI)              \
	PREFETCHT0 64(SI)(R8*1)

#define FULL \
	VMOVUPS (SI), Z28       \
	VMOVUPS (DI), Z29       \
	VMOVUPS (SI)(R8*1), Z30 \
	VMOVUPS (DI)(R8*1), Z31

#define MASKED \
	VMOVUPS.Z (SI), K1, Z28       \
	VMOVUPS.Z (DI), K1, Z29       \
	VMOVUPS.Z (SI)(R8*1), K1, Z30 \
	VMOVUPS.Z (DI)(R8*1), K1, Z31

// FREQUENCIES adds up all frequencies.
#define FREQUENCIES(load, single, rows, again, last) \
	OWN                          \
	single                       \
	ADDQ       R9, SI            \
	ADDQ       R12, R10          \
	TESTQ      CX, CX            \
	JZ         last              \
	again:                       \
	load                         \
	PREFETCHT0 64(SI)            \
	PREFETCHT0 64(DI)            \
	PREFETCHT0 64(SI)(R8*1)      \
	PREFETCHT0 64(DI)(R8*1)      \
	VADDPS     Z29, Z28, Z24     \
	VSUBPS     Z30, Z31, Z25     \
	VADDPS     Z31, Z30, Z26     \
	VSUBPS     Z29, Z28, Z27     \
	rows                         \
	ADDQ       R9, SI            \
	SUBQ       R9, DI            \
	ADDQ       R12, R10          \
	ADDQ       R12, R11          \
	DECQ       CX                \
	JNZ        again             \
	last:                        \
	TESTB      $1, period+16(FP) \
	JNZ        save              \
	OWN                          \
	single                       \
	JMP        save

// SAVE stores the rows up and down of both results, and goes on to the next.
#define SAVE(e0, o0, e1, o1, next) \
	VADDPS  o0, e0, Z24    \
	VSUBPS  o0, e0, Z25    \
	VADDPS  o1, e1, Z26    \
	VSUBPS  o1, e1, Z27    \
	VPXORD  Z31, Z24, Z24  \
	VPXORD  Z31, Z25, Z25  \
	VMOVUPS Z24, K1, (SI)  \
	VMOVUPS Z26, K1, (R10) \
	TESTQ   CX, CX         \
	JNZ     next           \
	VMOVUPS Z25, K1, (DI)  \
	VMOVUPS Z27, K1, (R11) \
	next:                  \
	XORQ    CX, CX         \
	DECQ    AX             \
	JZ      done           \
	ADDQ    R15, SI        \
	ADDQ    R15, R10       \
	SUBQ    R15, DI        \
	SUBQ    R15, R11

// func sgemmWaves6x16AVX512(m, n, period int, cos, sin *float32, ldw int, x, y *float32, ldx int, up0, down0, up1, down1 *float32, ldc int, sign uint32, middle bool)
TEXT ·sgemmWaves6x16AVX512(SB), NOSPLIT, $0-117

	MOVQ  n+8(FP), DX
	XORL  R13, R13
	MOVQ  y+56(FP), R8
	SUBQ  x+48(FP), R8
	MOVQ  ldx+64(FP), R9
	SHLQ  $2, R9
	MOVQ  period+16(FP), R14
	DECQ  R14
	IMULQ R9, R14
	MOVQ  ldw+40(FP), R12
	SHLQ  $2, R12
	MOVQ  ldc+104(FP), R15
	SHLQ  $2, R15

tile:
	MOVQ    $16, CX
	CMPQ    DX, CX
	CMOVQLT DX, CX
	MOVQ    $1, AX
	SHLQ    CX, AX
	DECQ    AX
	KMOVW   AX, K1
	ZERO28
	MOVQ    x+48(FP), SI
	ADDQ    R13, SI
	LEAQ    (SI)(R14*1), DI   // the last frequency, -1
	MOVQ    period+16(FP), CX
	DECQ    CX
	SHRQ    $1, CX            // (period-1)/2 pairs
	MOVQ    cos+24(FP), R10
	MOVQ    sin+32(FP), R11
	MOVQ    m+0(FP), AX
	CMPQ    DX, $16
	JLT     masked
	JUMP6(full1, full2, full3, full4, full5, full6)

masked:
	JUMP6(masked1, masked2, masked3, masked4, masked5, masked6)

full1:
	FREQUENCIES(FULL, SINGLE1, ROWS1, full1again, full1last)

full2:
	FREQUENCIES(FULL, SINGLE2, ROWS2, full2again, full2last)

full3:
	FREQUENCIES(FULL, SINGLE3, ROWS3, full3again, full3last)

full4:
	FREQUENCIES(FULL, SINGLE4, ROWS4, full4again, full4last)

full5:
	FREQUENCIES(FULL, SINGLE5, ROWS5, full5again, full5last)

full6:
	FREQUENCIES(FULL, SINGLE6, ROWS6, full6again, full6last)

masked1:
	FREQUENCIES(MASKED, SINGLE1, ROWS1, masked1again, masked1last)

masked2:
	FREQUENCIES(MASKED, SINGLE2, ROWS2, masked2again, masked2last)

masked3:
	FREQUENCIES(MASKED, SINGLE3, ROWS3, masked3again, masked3last)

masked4:
	FREQUENCIES(MASKED, SINGLE4, ROWS4, masked4again, masked4last)

masked5:
	FREQUENCIES(MASKED, SINGLE5, ROWS5, masked5again, masked5last)

masked6:
	FREQUENCIES(MASKED, SINGLE6, ROWS6, masked6again, masked6last)

save:
	MOVQ         up0+72(FP), SI
	ADDQ         R13, SI
	MOVQ         down0+80(FP), DI
	ADDQ         R13, DI
	MOVQ         up1+88(FP), R10
	ADDQ         R13, R10
	MOVQ         down1+96(FP), R11
	ADDQ         R13, R11
	MOVL         sign+112(FP), AX
	VPBROADCASTD AX, Z31
	MOVBQZX      middle+116(FP), CX
	MOVQ         m+0(FP), AX
	SAVE(Z0, Z6, Z12, Z18, save1)
	SAVE(Z1, Z7, Z13, Z19, save2)
	SAVE(Z2, Z8, Z14, Z20, save3)
	SAVE(Z3, Z9, Z15, Z21, save4)
	SAVE(Z4, Z10, Z16, Z22, save5)
	SAVE(Z5, Z11, Z17, Z23, save6)

done:
	ADDQ $64, R13
	SUBQ $16, DX
	JG   tile
	VZEROUPPER
	RET
