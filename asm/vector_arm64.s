//go:build !noasm

#include "textflag.h"

// Elementwise kernels. n > 0 is a multiple of 4; a loop of four vectors takes
// 16 values a step, a second loop the last 4, 8 or 12 with the same arithmetic.
//
// R0 is n and counts down; R1, R2, R3 are the slices in the order of the
// arguments, the destination first. Each vector of a step has one register of
// each group V0-V3 (result), V4-V7, V16-V19; constants lie in V20-V22.

// func addNEON(n int, dst, x, y *float32)
//
//    for i := range n {
//        dst[i] = x[i] + y[i]
//    }
TEXT ·addNEON(SB), NOSPLIT, $0-32
	MOVD n+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD x+16(FP), R2
	MOVD y+24(FP), R3
	SUBS $16, R0
	BLT  tail

loop:
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R3), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD   $0x4e30d480                              // fadd v0.4s, v4.4s, v16.4s
	WORD   $0x4e31d4a1                              // fadd v1.4s, v5.4s, v17.4s
	WORD   $0x4e32d4c2                              // fadd v2.4s, v6.4s, v18.4s
	WORD   $0x4e33d4e3                              // fadd v3.4s, v7.4s, v19.4s
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1.P 16(R2), [V4.S4]
	VLD1.P 16(R3), [V16.S4]
	WORD   $0x4e30d480      // fadd v0.4s, v4.4s, v16.4s
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func subNEON(n int, dst, x, y *float32)
//
//    for i := range n {
//        dst[i] = x[i] - y[i]
//    }
TEXT ·subNEON(SB), NOSPLIT, $0-32
	MOVD n+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD x+16(FP), R2
	MOVD y+24(FP), R3
	SUBS $16, R0
	BLT  tail

loop:
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R3), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD   $0x4eb0d480                              // fsub v0.4s, v4.4s, v16.4s
	WORD   $0x4eb1d4a1                              // fsub v1.4s, v5.4s, v17.4s
	WORD   $0x4eb2d4c2                              // fsub v2.4s, v6.4s, v18.4s
	WORD   $0x4eb3d4e3                              // fsub v3.4s, v7.4s, v19.4s
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1.P 16(R2), [V4.S4]
	VLD1.P 16(R3), [V16.S4]
	WORD   $0x4eb0d480      // fsub v0.4s, v4.4s, v16.4s
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func mulNEON(n int, dst, x, y *float32)
//
//    for i := range n {
//        dst[i] = x[i] * y[i]
//    }
TEXT ·mulNEON(SB), NOSPLIT, $0-32
	MOVD n+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD x+16(FP), R2
	MOVD y+24(FP), R3
	SUBS $16, R0
	BLT  tail

loop:
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R3), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD   $0x6e30dc80                              // fmul v0.4s, v4.4s, v16.4s
	WORD   $0x6e31dca1                              // fmul v1.4s, v5.4s, v17.4s
	WORD   $0x6e32dcc2                              // fmul v2.4s, v6.4s, v18.4s
	WORD   $0x6e33dce3                              // fmul v3.4s, v7.4s, v19.4s
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1.P 16(R2), [V4.S4]
	VLD1.P 16(R3), [V16.S4]
	WORD   $0x6e30dc80      // fmul v0.4s, v4.4s, v16.4s
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func mulAddNEON(n int, dst, x, y *float32)
//
//    for i := range n {
//        dst[i] += x[i] * y[i] // fused
//    }
TEXT ·mulAddNEON(SB), NOSPLIT, $0-32
	MOVD n+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD x+16(FP), R2
	MOVD y+24(FP), R3
	SUBS $16, R0
	BLT  tail

loop:
	VLD1   (R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R3), [V16.S4, V17.S4, V18.S4, V19.S4]
	VFMLA  V16.S4, V4.S4, V0.S4
	VFMLA  V17.S4, V5.S4, V1.S4
	VFMLA  V18.S4, V6.S4, V2.S4
	VFMLA  V19.S4, V7.S4, V3.S4
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1   (R1), [V0.S4]
	VLD1.P 16(R2), [V4.S4]
	VLD1.P 16(R3), [V16.S4]
	VFMLA  V16.S4, V4.S4, V0.S4
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func axpyNEON(n int, y, x *float32, a float32)
//
//    for i := range n {
//        y[i] += a * x[i] // fused
//    }
TEXT ·axpyNEON(SB), NOSPLIT, $0-28
	MOVD  n+0(FP), R0
	MOVD  y+8(FP), R1
	MOVD  x+16(FP), R2
	FMOVS a+24(FP), F20
	VDUP  V20.S[0], V20.S4
	SUBS  $16, R0
	BLT   tail

loop:
	VLD1   (R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VFMLA  V20.S4, V4.S4, V0.S4
	VFMLA  V20.S4, V5.S4, V1.S4
	VFMLA  V20.S4, V6.S4, V2.S4
	VFMLA  V20.S4, V7.S4, V3.S4
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1   (R1), [V0.S4]
	VLD1.P 16(R2), [V4.S4]
	VFMLA  V20.S4, V4.S4, V0.S4
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func affineNEON(n int, dst, x *float32, scale, shift float32)
//
//    for i := range n {
//        dst[i] = scale*x[i] + shift // fused
//    }
TEXT ·affineNEON(SB), NOSPLIT, $0-32
	MOVD  n+0(FP), R0
	MOVD  dst+8(FP), R1
	MOVD  x+16(FP), R2
	FMOVS scale+24(FP), F20
	VDUP  V20.S[0], V20.S4
	FMOVS shift+28(FP), F21
	VDUP  V21.S[0], V21.S4
	SUBS  $16, R0
	BLT   tail

loop:
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VMOV   V21.B16, V0.B16
	VMOV   V21.B16, V1.B16
	VMOV   V21.B16, V2.B16
	VMOV   V21.B16, V3.B16
	VFMLA  V20.S4, V4.S4, V0.S4
	VFMLA  V20.S4, V5.S4, V1.S4
	VFMLA  V20.S4, V6.S4, V2.S4
	VFMLA  V20.S4, V7.S4, V3.S4
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1.P 16(R2), [V4.S4]
	VMOV   V21.B16, V0.B16
	VFMLA  V20.S4, V4.S4, V0.S4
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func combineNEON(n int, dst, x, y *float32, a, b, c float32)
//
//    for i := range n {
//        dst[i] = a*x[i] + (b*y[i] + c) // both fused
//    }
TEXT ·combineNEON(SB), NOSPLIT, $0-44
	MOVD  n+0(FP), R0
	MOVD  dst+8(FP), R1
	MOVD  x+16(FP), R2
	MOVD  y+24(FP), R3
	FMOVS a+32(FP), F20
	VDUP  V20.S[0], V20.S4
	FMOVS b+36(FP), F21
	VDUP  V21.S[0], V21.S4
	FMOVS c+40(FP), F22
	VDUP  V22.S[0], V22.S4
	SUBS  $16, R0
	BLT   tail

loop:
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R3), [V16.S4, V17.S4, V18.S4, V19.S4]
	VMOV   V22.B16, V0.B16
	VMOV   V22.B16, V1.B16
	VMOV   V22.B16, V2.B16
	VMOV   V22.B16, V3.B16
	VFMLA  V21.S4, V16.S4, V0.S4
	VFMLA  V21.S4, V17.S4, V1.S4
	VFMLA  V21.S4, V18.S4, V2.S4
	VFMLA  V21.S4, V19.S4, V3.S4
	VFMLA  V20.S4, V4.S4, V0.S4
	VFMLA  V20.S4, V5.S4, V1.S4
	VFMLA  V20.S4, V6.S4, V2.S4
	VFMLA  V20.S4, V7.S4, V3.S4
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1.P 16(R2), [V4.S4]
	VLD1.P 16(R3), [V16.S4]
	VMOV   V22.B16, V0.B16
	VFMLA  V21.S4, V16.S4, V0.S4
	VFMLA  V20.S4, V4.S4, V0.S4
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func reluNEON(n int, dst, x *float32)
//
//    for i := range n {
//        dst[i] = x[i]
//        if x[i] < 0 {
//            dst[i] = 0
//        }
//    }
TEXT ·reluNEON(SB), NOSPLIT, $0-24
	MOVD n+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD x+16(FP), R2
	SUBS $16, R0
	BLT  tail

loop:
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	WORD   $0x4ea0e890                          // fcmlt v16.4s, v4.4s, #0.0
	WORD   $0x4ea0e8b1                          // fcmlt v17.4s, v5.4s, #0.0
	WORD   $0x4ea0e8d2                          // fcmlt v18.4s, v6.4s, #0.0
	WORD   $0x4ea0e8f3                          // fcmlt v19.4s, v7.4s, #0.0
	WORD   $0x4e701c80                          // bic v0.16b, v4.16b, v16.16b
	WORD   $0x4e711ca1                          // bic v1.16b, v5.16b, v17.16b
	WORD   $0x4e721cc2                          // bic v2.16b, v6.16b, v18.16b
	WORD   $0x4e731ce3                          // bic v3.16b, v7.16b, v19.16b
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1.P 16(R2), [V4.S4]
	WORD   $0x4ea0e890     // fcmlt v16.4s, v4.4s, #0.0
	WORD   $0x4e701c80     // bic v0.16b, v4.16b, v16.16b
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func reluGradNEON(n int, dx, dy, y *float32)
//
//    for i := range n {
//        dx[i] = 0
//        if y[i] > 0 {
//            dx[i] = dy[i]
//        }
//    }
TEXT ·reluGradNEON(SB), NOSPLIT, $0-32
	MOVD n+0(FP), R0
	MOVD dx+8(FP), R1
	MOVD dy+16(FP), R2
	MOVD y+24(FP), R3
	SUBS $16, R0
	BLT  tail

loop:
	VLD1.P 64(R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R3), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD   $0x4ea0ca10                              // fcmgt v16.4s, v16.4s, #0.0
	WORD   $0x4ea0ca31                              // fcmgt v17.4s, v17.4s, #0.0
	WORD   $0x4ea0ca52                              // fcmgt v18.4s, v18.4s, #0.0
	WORD   $0x4ea0ca73                              // fcmgt v19.4s, v19.4s, #0.0
	VAND   V4.B16, V16.B16, V0.B16
	VAND   V5.B16, V17.B16, V1.B16
	VAND   V6.B16, V18.B16, V2.B16
	VAND   V7.B16, V19.B16, V3.B16
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1.P 16(R2), [V4.S4]
	VLD1.P 16(R3), [V16.S4]
	WORD   $0x4ea0ca10             // fcmgt v16.4s, v16.4s, #0.0
	VAND   V4.B16, V16.B16, V0.B16
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

// func fillNEON(n int, dst *float32, v float32)
//
//    for i := range n {
//        dst[i] = v
//    }
TEXT ·fillNEON(SB), NOSPLIT, $0-20
	MOVD  n+0(FP), R0
	MOVD  dst+8(FP), R1
	FMOVS v+16(FP), F20
	VDUP  V20.S[0], V20.S4
	VMOV  V20.B16, V0.B16
	VMOV  V20.B16, V1.B16
	VMOV  V20.B16, V2.B16
	VMOV  V20.B16, V3.B16
	SUBS  $16, R0
	BLT   tail

loop:
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VST1.P [V0.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET
