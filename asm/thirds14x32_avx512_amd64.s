//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"
#include "tile_avx512_amd64.h"

// One of the three products of a complex one, for strips of 7 to 14 rows, one below the other, by 32 columns. Of each, in
// Go:
//
//	T = 0
//	for p := range k {
//		if bi != nil {
//			panel[p], panel[k+p] = Bi[p]-B[p], Bi[p]+B[p]
//		}
//		for i := range m {
//			T[i][:] += broadcast(A[i][p]) * B[p][:]
//		}
//	}
//	switch third {
//	case 0:
//		S = T
//	case 1:
//		C = S - T // accumulate: added
//	case 2:
//		C = S + T // accumulate: added
//	}
//	bi = nil
//
// Each m has loops of its own, for A row-major and for A k-major. The panel is made among products: a pass of its own
// takes a tenth of the time of five strips. Strips are counted, and stepped to, in the frame of the arguments.
//
//	Z0..Z27                T: row i in Z(2i) and Z(2i+1)
//	Z28, Z29               the row of B
//	Z30                    a broadcast value of A
//	SI, R11, R12, R13, BX  rows 0, 3, 6, 9, 12 of A, at the step; k-major SI alone, and R11 three steps further
//	R9                     bytes of a row of A, k-major of a step
//	DI, AX, DX             the row of B, ldb in bytes and three times that
//	R14                    what is fetched ahead, two lines every four steps
//	CX                     steps left
//
// Where a panel is made DX is the row of Bi, R8 that of the panel, R15 the bytes of a half of it, and Z31 and Z30 are
// made for it.

#define B0 VMOVUPS (DI), Z28; VMOVUPS 64(DI), Z29
#define B1 VMOVUPS (DI)(AX*1), Z28; VMOVUPS 64(DI)(AX*1), Z29
#define B2 VMOVUPS (DI)(AX*2), Z28; VMOVUPS 64(DI)(AX*2), Z29
#define B3 VMOVUPS (DI)(DX*1), Z28; VMOVUPS 64(DI)(DX*1), Z29

#define NEXT ADDQ AX, DI
#define NEXTFOUR LEAQ (DI)(AX*4), DI

#define MAKE \
	B0                         \
	VMOVUPS (DX), Z30          \
	VSUBPS  Z28, Z30, Z31      \
	VADDPS  Z28, Z30, Z30      \
	VMOVUPS Z31, (R8)          \
	VMOVUPS Z30, (R8)(R15*1)   \
	VMOVUPS 64(DX), Z30        \
	VSUBPS  Z29, Z30, Z31      \
	VADDPS  Z29, Z30, Z30      \
	VMOVUPS Z31, 64(R8)        \
	VMOVUPS Z30, 64(R8)(R15*1) \
	ADDQ    AX, DI             \
	ADDQ    AX, DX             \
	ADDQ    $128, R8

#define KEEP(d, c0, c1) \
	VMOVUPS c0, d(DI)    \
	VMOVUPS c1, d+64(DI)

#define REAL(d, c0, c1) \
	VMOVUPS d(DI), Z28    \
	VMOVUPS d+64(DI), Z29 \
	VSUBPS  c0, Z28, c0   \
	VSUBPS  c1, Z29, c1

#define IMAGINARY(d, c0, c1) \
	VADDPS d(DI), c0, c0    \
	VADDPS d+64(DI), c1, c1

#define STORE(d, c0, c1) \
	VMOVUPS c0, (R8)   \
	VMOVUPS c1, 64(R8) \
	DECQ    AX         \
	JZ      done       \
	ADDQ    DX, R8

#define MORE(d, c0, c1) \
	VADDPS (R8), c0, c0   \
	VADDPS 64(R8), c1, c1 \
	STORE(d, c0, c1)

#define ALL(do) \
	do(0, Z0, Z1)      \
	do(128, Z2, Z3)    \
	do(256, Z4, Z5)    \
	do(384, Z6, Z7)    \
	do(512, Z8, Z9)    \
	do(640, Z10, Z11)  \
	do(768, Z12, Z13)  \
	do(896, Z14, Z15)  \
	do(1024, Z16, Z17) \
	do(1152, Z18, Z19) \
	do(1280, Z20, Z21) \
	do(1408, Z22, Z23) \
	do(1536, Z24, Z25) \
	do(1664, Z26, Z27)

#define FETCHROW \
	PREFETCHT0 (DX)   \
	PREFETCHT0 64(DX)

#include "thirds14_avx512_amd64.h"

// func sgemmThird14x32AVX512(strips, m, k int, a *float32, row, step int, b *float32, ldb int, bi, panel *float32, third int, s, c *float32, ldc int, accumulate bool, ahead *float32)
TEXT ·sgemmThird14x32AVX512(SB), NOSPLIT, $0-128
	THIRDS14(7)
