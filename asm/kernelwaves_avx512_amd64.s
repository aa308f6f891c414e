//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// KernelWaves and KernelWavesGrad, for 16 kernels after the other. A kernel's sums along columns stay in
// registers: of the real part by cosines, u, and by sines, v, and of the imaginary part, w and z.
// In Go, for one kernel, with y and x by row, column and wave:
//
//	for _, s := range slots {
//		sums[s.kind][s.col] += y[s.row] * s
//	}
//	for f := range m - mirrored {
//		a, b := u[0]+cos[1]*u[1]+cos[2]*u[2]+cos[3]*u[3], sin[1]*v[1]+sin[2]*v[2]+sin[3]*v[3]
//		c, d := w[0]+cos[1]*w[1]+cos[2]*w[2]+cos[3]*w[3], sin[1]*z[1]+sin[2]*z[2]+sin[3]*z[3]
//		re[f], im[f] = a-b, c+d
//		re[m-f], im[m-f] = a+b, c-d // of mirrored frequencies
//	}
//
// and back:
//
//	for f := range m - mirrored {
//		a, b := re[f]+re[m-f], re[m-f]-re[f] // 0 for re[m-f] of the others
//		c, d := im[f]+im[m-f], im[f]-im[m-f]
//		u, v, w, z += cos*a, sin*b, cos*c, sin*d
//	}
//	for _, s := range slots {
//		s += y[s.row] * sums[s.kind][s.col] // = without accumulate
//	}
//
//	Z0..Z3     u
//	Z4..Z6     v
//	Z7..Z10    w
//	Z11..Z13   z
//	Z14..Z20   y, then x at a frequency
//	K1         the kernels that exist
//	DI, R8     slots from one on, lds in bytes; R9 3*lds
//	R10        what is fetched is so many bytes behind them
//	SI         x at the frequency
//	DI, BX     re of the frequency and of its opposite, later
//	R11        bytes from re to im
//	R12        ld in bytes
//	DX         kernels left
//	CX         frequencies left
//	R13        pairs
//	AX         scratch
//
// slots, re and im count along in the frame of the arguments.

// ARGUMENTS are those of both but y.
#define ARGUMENTS \
	MOVQ n+0(FP), DX          \
	MOVQ lds+56(FP), R8       \
	MOVQ ld+80(FP), R12       \
	MOVQ im+72(FP), R11       \
	SUBQ re+64(FP), R11       \
	MOVQ distance+88(FP), R10 \
	MOVQ pairs+8(FP), R13     \
	SHLQ $2, R8               \
	SHLQ $2, R12              \
	LEAQ (R8)(R8*2), R9

// KERNELS sets K1 to the next 16 kernels, or to those left.
#define KERNELS \
	MOVQ     $-1, AX \
	CMPQ     DX, $16 \
	JGE      kernels \
	MOVQ     DX, CX  \
	MOVQ     $1, AX  \
	SHLQ     CX, AX  \
	DECQ     AX      \
	kernels:         \
	KMOVW    AX, K1

#define ZERO14 \
	VPXORD Z0, Z0, Z0    \
	VPXORD Z1, Z1, Z1    \
	VPXORD Z2, Z2, Z2    \
	VPXORD Z3, Z3, Z3    \
	VPXORD Z4, Z4, Z4    \
	VPXORD Z5, Z5, Z5    \
	VPXORD Z6, Z6, Z6    \
	VPXORD Z7, Z7, Z7    \
	VPXORD Z8, Z8, Z8    \
	VPXORD Z9, Z9, Z9    \
	VPXORD Z10, Z10, Z10 \
	VPXORD Z11, Z11, Z11 \
	VPXORD Z12, Z12, Z12 \
	VPXORD Z13, Z13, Z13

// FOUR takes the slots of two taps.
#define FOUR(SLOT, w1, t1, w2, t2, w3, t3, w4, t4) \
	SLOT((DI), w1, t1)         \
	SLOT((DI)(R8*1), w2, t2)   \
	SLOT((DI)(R8*2), w3, t3)   \
	SLOT((DI)(R9*1), w4, t4)   \
	LEAQ       (DI)(R10*1), AX \
	LEAQ       (DI)(R8*4), DI  \
	PREFETCHT1 (AX)            \
	PREFETCHT1 (AX)(R8*1)      \
	PREFETCHT1 (AX)(R8*2)      \
	PREFETCHT1 (AX)(R9*1)

// UNTIL ends at so many pairs.
#define UNTIL(count, done) \
	CMPQ R13, count \
	JEQ  done

// TAPS takes all slots in their order, each with the wave of its row and its sum: the middle one by ONE, the
// others by SLOT.
#define TAPS(ONE, SLOT, c0, c1, c2, c3, s1, s2, s3, done) \
	ONE((DI), c0, Z0)                            \
	ADDQ R8, DI                                  \
	UNTIL($0, done)                              \
	FOUR(SLOT, c0, Z11, c0, Z1, s1, Z7, c1, Z0)  \
	UNTIL($2, done)                              \
	FOUR(SLOT, c1, Z11, s1, Z4, s1, Z8, c1, Z1)  \
	UNTIL($4, done)                              \
	FOUR(SLOT, c0, Z12, c0, Z2, s2, Z7, c2, Z0)  \
	UNTIL($6, done)                              \
	FOUR(SLOT, c1, Z12, s1, Z5, s1, Z9, c1, Z2)  \
	FOUR(SLOT, c2, Z11, s2, Z4, s2, Z8, c2, Z1)  \
	UNTIL($10, done)                             \
	FOUR(SLOT, c2, Z12, s2, Z5, s2, Z9, c2, Z2)  \
	UNTIL($12, done)                             \
	FOUR(SLOT, c0, Z13, c0, Z3, s3, Z7, c3, Z0)  \
	UNTIL($14, done)                             \
	FOUR(SLOT, c1, Z13, s1, Z6, s1, Z10, c1, Z3) \
	FOUR(SLOT, c3, Z11, s3, Z4, s3, Z8, c3, Z1)  \
	UNTIL($18, done)                             \
	FOUR(SLOT, c2, Z13, s2, Z6, s2, Z10, c2, Z3) \
	FOUR(SLOT, c3, Z12, s3, Z5, s3, Z9, c3, Z2)  \
	UNTIL($22, done)                             \
	FOUR(SLOT, c3, Z13, s3, Z6, s3, Z10, c3, Z3)

#define ADDSLOT(slot, wave, sum) \
	VFMADD231PS slot, wave, K1, sum

#define LOADSLOT(slot, wave, sum) \
	VMOVUPS.Z slot, K1, sum

	// WAVES makes both parts at a frequency, of waves at SI: a in Z26, b in Z28, c in Z27, d in Z29.
#define WAVES \
	VBROADCASTSS (SI), Z14            \
	VBROADCASTSS 4(SI), Z15           \
	VBROADCASTSS 8(SI), Z16           \
	VBROADCASTSS 12(SI), Z17          \
	VBROADCASTSS 16(SI), Z18          \
	VBROADCASTSS 20(SI), Z19          \
	ADDQ         $24, SI              \
	VMOVAPS      Z0, Z26              \
	VMOVAPS      Z7, Z27              \
	VMULPS       Z17, Z4, Z28         \
	VMULPS       Z17, Z11, Z29        \
	VFMADD231PS  Z14, Z1, Z26         \
	VFMADD231PS  Z14, Z8, Z27         \
	VFMADD231PS  Z18, Z5, Z28         \
	VFMADD231PS  Z18, Z12, Z29        \
	VFMADD231PS  Z15, Z2, Z26         \
	VFMADD231PS  Z15, Z9, Z27         \
	VFMADD231PS  Z19, Z6, Z28         \
	VFMADD231PS  Z19, Z13, Z29        \
	VFMADD231PS  Z16, Z3, Z26         \
	VFMADD231PS  Z16, Z10, Z27        \
	VSUBPS       Z28, Z26, Z30        \
	VADDPS       Z29, Z27, Z31        \
	VMOVUPS      Z30, K1, (DI)        \
	VMOVUPS      Z31, K1, (DI)(R11*1) \
	ADDQ         R12, DI

#define MIRRORED \
	WAVES                        \
	VADDPS  Z28, Z26, Z26        \
	VSUBPS  Z29, Z27, Z27        \
	VMOVUPS Z26, K1, (BX)        \
	VMOVUPS Z27, K1, (BX)(R11*1) \
	SUBQ    R12, BX

// OPPOSITE sets BX to the last frequency.
#define OPPOSITE \
	MOVQ  single+16(FP), BX   \
	MOVQ  mirrored+24(FP), CX \
	LEAQ  -1(BX)(CX*2), BX    \
	IMULQ R12, BX             \
	ADDQ  DI, BX

// func skernelWavesAVX512(n, pairs, single, mirrored int, y, x, slots *float32, lds int, re, im *float32, ld, distance int)
TEXT ·skernelWavesAVX512(SB), NOSPLIT, $0-96
	ARGUMENTS

tile:
	KERNELS
	ZERO14
	MOVQ         y+32(FP), AX
	MOVQ         slots+48(FP), DI
	VBROADCASTSS one<>(SB), Z14
	VBROADCASTSS (AX), Z15
	VBROADCASTSS 4(AX), Z16
	VBROADCASTSS 8(AX), Z17
	VBROADCASTSS 12(AX), Z18
	VBROADCASTSS 16(AX), Z19
	VBROADCASTSS 20(AX), Z20
	PREFETCHT1   (DI)(R10*1)
	TAPS(LOADSLOT, ADDSLOT, Z14, Z15, Z16, Z17, Z18, Z19, Z20, waves)

waves:
	MOVQ  x+40(FP), SI
	MOVQ  re+64(FP), DI
	OPPOSITE
	WAVES
	TESTQ CX, CX
	JZ    rest

mirrored:
	MIRRORED
	DECQ CX
	JNZ  mirrored

rest:
	MOVQ single+16(FP), CX
	DECQ CX
	JZ   next

single:
	WAVES
	DECQ CX
	JNZ  single

next:
	ADDQ $64, slots+48(FP)
	ADDQ $64, re+64(FP)
	SUBQ $16, DX
	JG   tile
	VZEROUPPER
	RET

DATA one<>(SB)/4, $0x3f800000
GLOBL one<>(SB), RODATA|NOPTR, $4

// GRAD adds what a frequency, a in Z26, b in Z28, c in Z27 and d in Z29, contributes, by waves at SI.
#define GRAD \
	VBROADCASTSS (SI), Z14     \
	VBROADCASTSS 4(SI), Z15    \
	VBROADCASTSS 8(SI), Z16    \
	VBROADCASTSS 12(SI), Z17   \
	VBROADCASTSS 16(SI), Z18   \
	VBROADCASTSS 20(SI), Z19   \
	VBROADCASTSS 24(SI), Z20   \
	ADDQ         $28, SI       \
	ADDQ         R12, DI       \
	VFMADD231PS  Z14, Z26, Z0  \
	VFMADD231PS  Z14, Z27, Z7  \
	VFMADD231PS  Z15, Z26, Z1  \
	VFMADD231PS  Z15, Z27, Z8  \
	VFMADD231PS  Z16, Z26, Z2  \
	VFMADD231PS  Z16, Z27, Z9  \
	VFMADD231PS  Z17, Z26, Z3  \
	VFMADD231PS  Z17, Z27, Z10 \
	VFMADD231PS  Z18, Z28, Z4  \
	VFMADD231PS  Z18, Z29, Z11 \
	VFMADD231PS  Z19, Z28, Z5  \
	VFMADD231PS  Z19, Z29, Z12 \
	VFMADD231PS  Z20, Z28, Z6  \
	VFMADD231PS  Z20, Z29, Z13

#define GRADMIRRORED \
	VMOVUPS.Z (DI), K1, Z30        \
	VMOVUPS.Z (DI)(R11*1), K1, Z31 \
	VMOVUPS.Z (BX), K1, Z24        \
	VMOVUPS.Z (BX)(R11*1), K1, Z25 \
	SUBQ      R12, BX              \
	VADDPS    Z24, Z30, Z26        \
	VADDPS    Z25, Z31, Z27        \
	VSUBPS    Z30, Z24, Z28        \
	VSUBPS    Z25, Z31, Z29        \
	GRAD

#define GRADSINGLE \
	VMOVUPS.Z (DI), K1, Z26        \
	VMOVUPS.Z (DI)(R11*1), K1, Z27 \
	VPXORD    Z28, Z28, Z28        \
	VSUBPS    Z26, Z28, Z28        \
	VMOVAPS   Z27, Z29             \
	GRAD

#define PUTSLOT(slot, wave, sum) \
	VMULPS  wave, sum, Z30 \
	VMOVUPS Z30, K1, slot

#define PUTMORE(slot, wave, sum) \
	VMOVUPS.Z   slot, K1, Z30  \
	VFMADD231PS wave, sum, Z30 \
	VMOVUPS     Z30, K1, slot

// func skernelWavesGradAVX512(n, pairs, single, mirrored int, y, x, slots *float32, lds int, re, im *float32, ld, distance int, accumulate bool)
TEXT ·skernelWavesGradAVX512(SB), NOSPLIT, $0-97
	ARGUMENTS

tile:
	KERNELS
	ZERO14
	MOVQ  x+40(FP), SI
	MOVQ  re+64(FP), DI
	OPPOSITE
	GRADSINGLE
	TESTQ CX, CX
	JZ    rest

mirrored:
	GRADMIRRORED
	DECQ CX
	JNZ  mirrored

rest:
	MOVQ single+16(FP), CX
	DECQ CX
	JZ   taps

single:
	GRADSINGLE
	DECQ CX
	JNZ  single

taps:
	MOVQ         y+32(FP), AX
	MOVQ         slots+48(FP), DI
	VBROADCASTSS (AX), Z14
	VBROADCASTSS 4(AX), Z15
	VBROADCASTSS 8(AX), Z16
	VBROADCASTSS 12(AX), Z17
	VBROADCASTSS 16(AX), Z18
	VBROADCASTSS 20(AX), Z19
	VBROADCASTSS 24(AX), Z20
	PREFETCHT1   (DI)(R10*1)
	CMPB         accumulate+96(FP), $0
	JNE          accumulate
	TAPS(PUTSLOT, PUTSLOT, Z14, Z15, Z16, Z17, Z18, Z19, Z20, next)
	JMP          next

accumulate:
	TAPS(PUTMORE, PUTMORE, Z14, Z15, Z16, Z17, Z18, Z19, Z20, next)

next:
	ADDQ $64, slots+48(FP)
	ADDQ $64, re+64(FP)
	SUBQ $16, DX
	JG   tile
	VZEROUPPER
	RET
