//go:build !noasm

#include "textflag.h"

// Kernels of the 2x2 maximum. n > 0 is a multiple of 4, one vector a step.

// func max4NEON(n int, dst, a, b, c, d *float32)
//
//    for i := range n {
//        m := a[i]
//        for _, v := range [...]float32{b[i], c[i], d[i]} {
//            t := max(m, v) // NaN where one of them is, +0 of +0 and -0
//            if m != t {    // so that of +0 and -0 the first stays
//                m = t
//            }
//        }
//        dst[i] = m
//    }
//
// R0 n, counts down; R1 dst; R2-R5 a-d; V0 m; V1-V3 b-d; V4 t; V5 m == t
TEXT ·max4NEON(SB), NOSPLIT, $0-48
	MOVD n+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD a+16(FP), R2
	MOVD b+24(FP), R3
	MOVD c+32(FP), R4
	MOVD d+40(FP), R5

loop:
	VLD1.P 16(R2), [V0.S4]
	VLD1.P 16(R3), [V1.S4]
	VLD1.P 16(R4), [V2.S4]
	VLD1.P 16(R5), [V3.S4]
	WORD   $0x4e21f404     // fmax v4.4s, v0.4s, v1.4s
	WORD   $0x4e24e405     // fcmeq v5.4s, v0.4s, v4.4s
	WORD   $0x6ee51c80     // bif v0.16b, v4.16b, v5.16b
	WORD   $0x4e22f404     // fmax v4.4s, v0.4s, v2.4s
	WORD   $0x4e24e405     // fcmeq v5.4s, v0.4s, v4.4s
	WORD   $0x6ee51c80     // bif v0.16b, v4.16b, v5.16b
	WORD   $0x4e23f404     // fmax v4.4s, v0.4s, v3.4s
	WORD   $0x4e24e405     // fcmeq v5.4s, v0.4s, v4.4s
	WORD   $0x6ee51c80     // bif v0.16b, v4.16b, v5.16b
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop
	RET

// func max4GradNEON(n int, da, db, dc, dd, dy, y, a, b, c, d *float32)
//
//    for i := range n {
//        da[i], db[i], dc[i], dd[i] = 0, 0, 0, 0
//        switch y[i] {
//        case a[i]:
//            da[i] = dy[i]
//        case b[i]:
//            db[i] = dy[i]
//        case c[i]:
//            dc[i] = dy[i]
//        case d[i]:
//            dd[i] = dy[i]
//        }
//    }
//
// R0 n, counts down; R1-R4 da-dd; R5 dy; R6 y; R7-R10 a-d
// V0 what is left of dy: each source that equals y takes it and leaves zero
// V1 y; V2-V5 the sources, then whether they equal y, then the gradients
TEXT ·max4GradNEON(SB), NOSPLIT, $0-88
	MOVD n+0(FP), R0
	MOVD da+8(FP), R1
	MOVD db+16(FP), R2
	MOVD dc+24(FP), R3
	MOVD dd+32(FP), R4
	MOVD dy+40(FP), R5
	MOVD y+48(FP), R6
	MOVD a+56(FP), R7
	MOVD b+64(FP), R8
	MOVD c+72(FP), R9
	MOVD d+80(FP), R10

loop:
	VLD1.P 16(R5), [V0.S4]
	VLD1.P 16(R6), [V1.S4]
	VLD1.P 16(R7), [V2.S4]
	VLD1.P 16(R8), [V3.S4]
	VLD1.P 16(R9), [V4.S4]
	VLD1.P 16(R10), [V5.S4]
	WORD   $0x4e21e442            // fcmeq v2.4s, v2.4s, v1.4s
	WORD   $0x4e21e463            // fcmeq v3.4s, v3.4s, v1.4s
	WORD   $0x4e21e484            // fcmeq v4.4s, v4.4s, v1.4s
	WORD   $0x4e21e4a5            // fcmeq v5.4s, v5.4s, v1.4s
	WORD   $0x4e621c06            // bic v6.16b, v0.16b, v2.16b
	VAND   V0.B16, V2.B16, V2.B16
	VMOV   V6.B16, V0.B16
	WORD   $0x4e631c06            // bic v6.16b, v0.16b, v3.16b
	VAND   V0.B16, V3.B16, V3.B16
	VMOV   V6.B16, V0.B16
	WORD   $0x4e641c06            // bic v6.16b, v0.16b, v4.16b
	VAND   V0.B16, V4.B16, V4.B16
	VMOV   V6.B16, V0.B16
	VAND   V0.B16, V5.B16, V5.B16
	VST1.P [V2.S4], 16(R1)
	VST1.P [V3.S4], 16(R2)
	VST1.P [V4.S4], 16(R3)
	VST1.P [V5.S4], 16(R4)
	SUBS   $4, R0
	BGT    loop
	RET
