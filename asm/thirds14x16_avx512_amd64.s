//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "tile_avx512_amd64.h"

// sgemmThird14x32AVX512 for 16 columns, whose sums are in the even ones of Z0..Z27. A step has one load, of a row of B,
// beside products that load the values of A themselves.

#undef WIDE
#define WIDE(x, t, c0, c1) NARROW(x, t, c0, c1)

#define B0 VMOVUPS (DI), Z28
#define B1 VMOVUPS (DI)(AX*1), Z28
#define B2 VMOVUPS (DI)(AX*2), Z28
#define B3 VMOVUPS (DI)(DX*1), Z28

#define NEXT ADDQ AX, DI
#define NEXTFOUR LEAQ (DI)(AX*4), DI

#define MAKE \
	B0                       \
	VMOVUPS (DX), Z30        \
	VSUBPS  Z28, Z30, Z31    \
	VADDPS  Z28, Z30, Z30    \
	VMOVUPS Z31, (R8)        \
	VMOVUPS Z30, (R8)(R15*1) \
	ADDQ    AX, DI           \
	ADDQ    AX, DX           \
	ADDQ    $64, R8

#define KEEP(d, c) VMOVUPS c, d(DI)

#define REAL(d, c) \
	VMOVUPS d(DI), Z28 \
	VSUBPS  c, Z28, c

#define IMAGINARY(d, c) VADDPS d(DI), c, c

#define STORE(d, c) \
	VMOVUPS c, (R8) \
	DECQ    AX      \
	JZ      done    \
	ADDQ    DX, R8

#define MORE(d, c) \
	VADDPS (R8), c, c \
	STORE(d, c)

#define ALL(do) \
	do(0, Z0)    \
	do(64, Z2)   \
	do(128, Z4)  \
	do(192, Z6)  \
	do(256, Z8)  \
	do(320, Z10) \
	do(384, Z12) \
	do(448, Z14) \
	do(512, Z16) \
	do(576, Z18) \
	do(640, Z20) \
	do(704, Z22) \
	do(768, Z24) \
	do(832, Z26)

#define FETCHROW PREFETCHT0 (DX)

#include "thirds14_avx512_amd64.h"

// func sgemmThird14x16AVX512(strips, m, k int, a *float32, row, step int, b *float32, ldb int, bi, panel *float32, third int, s, c *float32, ldc int, accumulate bool, ahead *float32)
TEXT ·sgemmThird14x16AVX512(SB), NOSPLIT, $0-128
	THIRDS14(6)
