//go:build !noasm

#include "textflag.h"

// Normalisation, 2x2 max pooling and floor in one go, and its gradient, for one
// row of windows: top and bottom are two rows of pixels of b values each, of which n,
// a multiple of 4, are looked at, and window w has the pixels 2w and 2w+1 of both:
//
//    for w := range windows {
//        for j := range n {
//            for k := range 4 {
//                t[k] = x[k] - mean
//                z[k] = fma(t[k], scale, shift)
//            }
//            m := max(z[0], z[1], z[2], z[3]) // NaN where one of them is; of +0 and -0 the first
//            ...
//        }
//    }
//
// R0 dst or dy; R1 top; R2 bottom; R3 windows left; R4 n; R5 a pixel in bytes; R6 the map
// R8-R11 run along the four pixels, R12 along dst or dy; R13 values left
// V0-V3 t; V4-V7 z; V8, V10 maxima of two; V9, V11 which of the two; V12 m; V13 scratch
// V24 mean; V25 scale; V26 shift; V27 floor

// func normPoolNEON(dst, top, bottom *float32, windows, n, b int, m *NormMap)
//
//    dst[w*b+j] = max(m, floor) // m where it is NaN
TEXT ·normPoolNEON(SB), NOSPLIT, $0-56
	MOVD  dst+0(FP), R0
	MOVD  top+8(FP), R1
	MOVD  bottom+16(FP), R2
	MOVD  windows+24(FP), R3
	MOVD  n+32(FP), R4
	MOVD  b+40(FP), R5
	MOVD  m+48(FP), R6
	LSL   $2, R5
	VLD4R (R6), [V24.S4, V25.S4, V26.S4, V27.S4]

window:
	MOVD R1, R8
	ADD  R5, R1, R9
	MOVD R2, R10
	ADD  R5, R2, R11
	MOVD R0, R12
	MOVD R4, R13

loop:
	VLD1.P 16(R8), [V0.S4]
	VLD1.P 16(R9), [V1.S4]
	VLD1.P 16(R10), [V2.S4]
	VLD1.P 16(R11), [V3.S4]
	VMOV   V26.B16, V4.B16
	VMOV   V26.B16, V5.B16
	VMOV   V26.B16, V6.B16
	VMOV   V26.B16, V7.B16
	WORD   $0x4eb8d400          // fsub v0.4s, v0.4s, v24.4s
	WORD   $0x4eb8d421          // fsub v1.4s, v1.4s, v24.4s
	WORD   $0x4eb8d442          // fsub v2.4s, v2.4s, v24.4s
	WORD   $0x4eb8d463          // fsub v3.4s, v3.4s, v24.4s
	VFMLA  V0.S4, V25.S4, V4.S4
	VFMLA  V1.S4, V25.S4, V5.S4
	VFMLA  V2.S4, V25.S4, V6.S4
	VFMLA  V3.S4, V25.S4, V7.S4
	WORD   $0x4e25f488          // fmax v8.4s, v4.4s, v5.4s
	WORD   $0x4e27f4ca          // fmax v10.4s, v6.4s, v7.4s
	WORD   $0x4e28e489          // fcmeq v9.4s, v4.4s, v8.4s
	WORD   $0x4e2ae4cb          // fcmeq v11.4s, v6.4s, v10.4s
	WORD   $0x6ea91c88          // bit v8.16b, v4.16b, v9.16b
	WORD   $0x6eab1cca          // bit v10.16b, v6.16b, v11.16b
	WORD   $0x4e2af50c          // fmax v12.4s, v8.4s, v10.4s
	WORD   $0x4e2ce50d          // fcmeq v13.4s, v8.4s, v12.4s
	WORD   $0x6ead1d0c          // bit v12.16b, v8.16b, v13.16b
	WORD   $0x6eace76d          // fcmgt v13.4s, v27.4s, v12.4s
	WORD   $0x6ead1f6c          // bit v12.16b, v27.16b, v13.16b
	VST1.P [V12.S4], 16(R12)
	SUBS   $4, R13
	BGT    loop
	ADD    R5<<1, R1
	ADD    R5<<1, R2
	ADD    R5, R0
	SUBS   $1, R3
	BGT    window
	RET

// func normPoolSumsNEON(sums *[2]vec, dy, top, bottom *float32, windows, n, b int, m *NormMap)
//
//    d := dy[w*b+j] // 0 where m is not above the floor
//    sums[0] += d
//    sums[1] += d * t[first k with z[k] == m] // fused
//
// V14 d; V28, V29 sums
TEXT ·normPoolSumsNEON(SB), NOSPLIT, $0-64
	MOVD  sums+0(FP), R7
	MOVD  dy+8(FP), R0
	MOVD  top+16(FP), R1
	MOVD  bottom+24(FP), R2
	MOVD  windows+32(FP), R3
	MOVD  n+40(FP), R4
	MOVD  b+48(FP), R5
	MOVD  m+56(FP), R6
	LSL   $2, R5
	VLD4R (R6), [V24.S4, V25.S4, V26.S4, V27.S4]
	VEOR  V28.B16, V28.B16, V28.B16
	VEOR  V29.B16, V29.B16, V29.B16

window:
	MOVD R1, R8
	ADD  R5, R1, R9
	MOVD R2, R10
	ADD  R5, R2, R11
	MOVD R0, R12
	MOVD R4, R13

loop:
	VLD1.P 16(R8), [V0.S4]
	VLD1.P 16(R9), [V1.S4]
	VLD1.P 16(R10), [V2.S4]
	VLD1.P 16(R11), [V3.S4]
	VMOV   V26.B16, V4.B16
	VMOV   V26.B16, V5.B16
	VMOV   V26.B16, V6.B16
	VMOV   V26.B16, V7.B16
	WORD   $0x4eb8d400               // fsub v0.4s, v0.4s, v24.4s
	WORD   $0x4eb8d421               // fsub v1.4s, v1.4s, v24.4s
	WORD   $0x4eb8d442               // fsub v2.4s, v2.4s, v24.4s
	WORD   $0x4eb8d463               // fsub v3.4s, v3.4s, v24.4s
	VFMLA  V0.S4, V25.S4, V4.S4
	VFMLA  V1.S4, V25.S4, V5.S4
	VFMLA  V2.S4, V25.S4, V6.S4
	VFMLA  V3.S4, V25.S4, V7.S4
	WORD   $0x4e25f488               // fmax v8.4s, v4.4s, v5.4s
	WORD   $0x4e27f4ca               // fmax v10.4s, v6.4s, v7.4s
	WORD   $0x4e28e489               // fcmeq v9.4s, v4.4s, v8.4s
	WORD   $0x4e2ae4cb               // fcmeq v11.4s, v6.4s, v10.4s
	WORD   $0x6ea91c88               // bit v8.16b, v4.16b, v9.16b
	WORD   $0x6eab1cca               // bit v10.16b, v6.16b, v11.16b
	WORD   $0x4e2af50c               // fmax v12.4s, v8.4s, v10.4s
	WORD   $0x4e2ce50d               // fcmeq v13.4s, v8.4s, v12.4s
	WORD   $0x6ead1d0c               // bit v12.16b, v8.16b, v13.16b
	VLD1.P 16(R12), [V14.S4]
	WORD   $0x6ebbe58d               // fcmgt v13.4s, v12.4s, v27.4s
	VAND   V13.B16, V14.B16, V14.B16
	WORD   $0x4e2ce4cd               // fcmeq v13.4s, v6.4s, v12.4s
	WORD   $0x6ead1c43               // bit v3.16b, v2.16b, v13.16b
	WORD   $0x4e2ce4ad               // fcmeq v13.4s, v5.4s, v12.4s
	WORD   $0x6ead1c23               // bit v3.16b, v1.16b, v13.16b
	WORD   $0x4e2ce48d               // fcmeq v13.4s, v4.4s, v12.4s
	WORD   $0x6ead1c03               // bit v3.16b, v0.16b, v13.16b
	WORD   $0x4e2ed79c               // fadd v28.4s, v28.4s, v14.4s
	VFMLA  V3.S4, V14.S4, V29.S4
	SUBS   $4, R13
	BGT    loop
	ADD    R5<<1, R1
	ADD    R5<<1, R2
	ADD    R5, R0
	SUBS   $1, R3
	BGT    window
	VST1   [V28.S4, V29.S4], (R7)
	RET

// func normPoolGradNEON(dtop, dbottom, dy, top, bottom *float32, windows, n, b int, m *NormMap, p, q, r float32)
//
//    d := dy[w*b+j] // 0 where m is not above the floor
//    for k := range 4 {
//        g := 0
//        if z[k] == m {
//            g, d = d, 0
//        }
//        dx[k] = fma(p, g, fma(q, t[k], r))
//    }
//
// R14 dtop; R15 dbottom; R19-R22 run along the four pixels of both
// V14 d; V15 g; V28 p; V29 q; V30 r
TEXT ·normPoolGradNEON(SB), NOSPLIT, $0-84
	MOVD  dtop+0(FP), R14
	MOVD  dbottom+8(FP), R15
	MOVD  dy+16(FP), R0
	MOVD  top+24(FP), R1
	MOVD  bottom+32(FP), R2
	MOVD  windows+40(FP), R3
	MOVD  n+48(FP), R4
	MOVD  b+56(FP), R5
	MOVD  m+64(FP), R6
	LSL   $2, R5
	VLD4R (R6), [V24.S4, V25.S4, V26.S4, V27.S4]
	FMOVS p+72(FP), F28
	VDUP  V28.S[0], V28.S4
	FMOVS q+76(FP), F29
	VDUP  V29.S[0], V29.S4
	FMOVS r+80(FP), F30
	VDUP  V30.S[0], V30.S4

window:
	MOVD R1, R8
	ADD  R5, R1, R9
	MOVD R2, R10
	ADD  R5, R2, R11
	MOVD R0, R12
	MOVD R4, R13
	MOVD R14, R19
	ADD  R5, R14, R20
	MOVD R15, R21
	ADD  R5, R15, R22

loop:
	VLD1.P 16(R8), [V0.S4]
	VLD1.P 16(R9), [V1.S4]
	VLD1.P 16(R10), [V2.S4]
	VLD1.P 16(R11), [V3.S4]
	VMOV   V26.B16, V4.B16
	VMOV   V26.B16, V5.B16
	VMOV   V26.B16, V6.B16
	VMOV   V26.B16, V7.B16
	WORD   $0x4eb8d400               // fsub v0.4s, v0.4s, v24.4s
	WORD   $0x4eb8d421               // fsub v1.4s, v1.4s, v24.4s
	WORD   $0x4eb8d442               // fsub v2.4s, v2.4s, v24.4s
	WORD   $0x4eb8d463               // fsub v3.4s, v3.4s, v24.4s
	VFMLA  V0.S4, V25.S4, V4.S4
	VFMLA  V1.S4, V25.S4, V5.S4
	VFMLA  V2.S4, V25.S4, V6.S4
	VFMLA  V3.S4, V25.S4, V7.S4
	WORD   $0x4e25f488               // fmax v8.4s, v4.4s, v5.4s
	WORD   $0x4e27f4ca               // fmax v10.4s, v6.4s, v7.4s
	WORD   $0x4e28e489               // fcmeq v9.4s, v4.4s, v8.4s
	WORD   $0x4e2ae4cb               // fcmeq v11.4s, v6.4s, v10.4s
	WORD   $0x6ea91c88               // bit v8.16b, v4.16b, v9.16b
	WORD   $0x6eab1cca               // bit v10.16b, v6.16b, v11.16b
	WORD   $0x4e2af50c               // fmax v12.4s, v8.4s, v10.4s
	WORD   $0x4e2ce50d               // fcmeq v13.4s, v8.4s, v12.4s
	WORD   $0x6ead1d0c               // bit v12.16b, v8.16b, v13.16b
	VLD1.P 16(R12), [V14.S4]
	WORD   $0x6ebbe58d               // fcmgt v13.4s, v12.4s, v27.4s
	VAND   V13.B16, V14.B16, V14.B16
	WORD   $0x4e2ce48d               // fcmeq v13.4s, v4.4s, v12.4s
	VAND   V13.B16, V14.B16, V15.B16
	WORD   $0x4e6d1dce               // bic v14.16b, v14.16b, v13.16b
	VMOV   V30.B16, V4.B16
	VFMLA  V0.S4, V29.S4, V4.S4
	VFMLA  V15.S4, V28.S4, V4.S4
	VST1.P [V4.S4], 16(R19)
	WORD   $0x4e2ce4ad               // fcmeq v13.4s, v5.4s, v12.4s
	VAND   V13.B16, V14.B16, V15.B16
	WORD   $0x4e6d1dce               // bic v14.16b, v14.16b, v13.16b
	VMOV   V30.B16, V5.B16
	VFMLA  V1.S4, V29.S4, V5.S4
	VFMLA  V15.S4, V28.S4, V5.S4
	VST1.P [V5.S4], 16(R20)
	WORD   $0x4e2ce4cd               // fcmeq v13.4s, v6.4s, v12.4s
	VAND   V13.B16, V14.B16, V15.B16
	WORD   $0x4e6d1dce               // bic v14.16b, v14.16b, v13.16b
	VMOV   V30.B16, V6.B16
	VFMLA  V2.S4, V29.S4, V6.S4
	VFMLA  V15.S4, V28.S4, V6.S4
	VST1.P [V6.S4], 16(R21)
	WORD   $0x4e2ce4ed               // fcmeq v13.4s, v7.4s, v12.4s
	VAND   V13.B16, V14.B16, V15.B16
	VMOV   V30.B16, V7.B16
	VFMLA  V3.S4, V29.S4, V7.S4
	VFMLA  V15.S4, V28.S4, V7.S4
	VST1.P [V7.S4], 16(R22)
	SUBS   $4, R13
	BGT    loop
	ADD    R5<<1, R1
	ADD    R5<<1, R2
	ADD    R5, R0
	ADD    R5<<1, R14
	ADD    R5<<1, R15
	SUBS   $1, R3
	BGT    window
	RET
