//go:build !noasm

#include "textflag.h"
#include "go_asm.h"

// Normalisation by columns of a strip, and its gradient, one row after the other:
//
//    for r := range rows {
//        for j := range n {
//            t := x[r,j] - mean[j]
//            z := fma(t, scale[j], shift[j])
//            ...
//        }
//    }
//
// A strip has 16 columns or 4. What belongs to the columns stays in registers.
//
// R0 *colStrip; R1 x; R2 dy; R3 dst; R4 rows left; R5 row pitch in bytes; R6 the
// same without the half of a row that was passed; R7 columns; R8, R9 scratch

// func colNormNEON(s *colStrip)
//
//    dst[r,j] = max(z, floor) // z where it is NaN
//
// V0-V3 mean; V4-V7 scale; V8-V11 shift; V12 floor; V16-V19 t; V20-V23 z;
// V24-V27 floor > z
TEXT ·colNormNEON(SB), NOSPLIT, $0-8
	MOVD  s+0(FP), R0
	MOVD  colStrip_x(R0), R1
	MOVD  colStrip_rows(R0), R4
	MOVD  colStrip_stride(R0), R5
	MOVD  colStrip_n(R0), R7
	LSL   $2, R5
	SUB   $32, R5, R6
	MOVD  colStrip_dst(R0), R3
	FMOVS colStrip_floor(R0), F12
	VDUP  V12.S[0], V12.S4
	CMP   $16, R7
	BNE   narrow
	MOVD  colStrip_mean(R0), R8
	VLD1  (R8), [V0.S4, V1.S4, V2.S4, V3.S4]
	MOVD  colStrip_scale(R0), R8
	VLD1  (R8), [V4.S4, V5.S4, V6.S4, V7.S4]
	MOVD  colStrip_shift(R0), R8
	VLD1  (R8), [V8.S4, V9.S4, V10.S4, V11.S4]

wide:
	VLD1.P (R1)(R5), [V16.S4, V17.S4, V18.S4, V19.S4]
	VMOV   V8.B16, V20.B16
	VMOV   V9.B16, V21.B16
	VMOV   V10.B16, V22.B16
	VMOV   V11.B16, V23.B16
	WORD   $0x4ea0d610                                // fsub v16.4s, v16.4s, v0.4s
	WORD   $0x4ea1d631                                // fsub v17.4s, v17.4s, v1.4s
	WORD   $0x4ea2d652                                // fsub v18.4s, v18.4s, v2.4s
	WORD   $0x4ea3d673                                // fsub v19.4s, v19.4s, v3.4s
	VFMLA  V16.S4, V4.S4, V20.S4
	VFMLA  V17.S4, V5.S4, V21.S4
	VFMLA  V18.S4, V6.S4, V22.S4
	VFMLA  V19.S4, V7.S4, V23.S4
	WORD   $0x6eb4e598                                // fcmgt v24.4s, v12.4s, v20.4s
	WORD   $0x6eb5e599                                // fcmgt v25.4s, v12.4s, v21.4s
	WORD   $0x6eb6e59a                                // fcmgt v26.4s, v12.4s, v22.4s
	WORD   $0x6eb7e59b                                // fcmgt v27.4s, v12.4s, v23.4s
	WORD   $0x6eb81d94                                // bit v20.16b, v12.16b, v24.16b
	WORD   $0x6eb91d95                                // bit v21.16b, v12.16b, v25.16b
	WORD   $0x6eba1d96                                // bit v22.16b, v12.16b, v26.16b
	WORD   $0x6ebb1d97                                // bit v23.16b, v12.16b, v27.16b
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], (R3)(R5)
	SUBS   $1, R4
	BNE    wide
	RET

narrow:
	MOVD colStrip_mean(R0), R8
	VLD1 (R8), [V0.S4]
	MOVD colStrip_scale(R0), R8
	VLD1 (R8), [V4.S4]
	MOVD colStrip_shift(R0), R8
	VLD1 (R8), [V8.S4]

loop:
	VLD1.P (R1)(R5), [V16.S4]
	VMOV   V8.B16, V20.B16
	WORD   $0x4ea0d610           // fsub v16.4s, v16.4s, v0.4s
	VFMLA  V16.S4, V4.S4, V20.S4
	WORD   $0x6eb4e598           // fcmgt v24.4s, v12.4s, v20.4s
	WORD   $0x6eb81d94           // bit v20.16b, v12.16b, v24.16b
	VST1.P [V20.S4], (R3)(R5)
	SUBS   $1, R4
	BNE    loop
	RET

// func colNormSumsNEON(s *colStrip)
//
//    g := dy[r,j] // 0 where z is not above the floor, if there is one
//    sum[j] += g
//    dot[j] += t * g // fused
//
// V0-V3 mean; V4-V7 scale; V8-V11 shift; V12 floor; V13 all bits if there is none;
// V14, V15 dy, then g; V16, V17 t; V20, V21 z, then whether it passes; V24-V27 sum;
// V28-V31 dot
TEXT ·colNormSumsNEON(SB), NOSPLIT, $0-8
	MOVD  s+0(FP), R0
	MOVD  colStrip_x(R0), R1
	MOVD  colStrip_rows(R0), R4
	MOVD  colStrip_stride(R0), R5
	MOVD  colStrip_n(R0), R7
	LSL   $2, R5
	SUB   $32, R5, R6
	MOVD  colStrip_dy(R0), R2
	FMOVS colStrip_floor(R0), F12
	VDUP  V12.S[0], V12.S4
	MOVWU colStrip_floor(R0), R8
	MOVD  $0xff800000, R9                      // no floor
	CMP   R9, R8
	CSETM EQ, R8
	VDUP  R8, V13.S4
	VEOR  V24.B16, V24.B16, V24.B16
	VEOR  V25.B16, V25.B16, V25.B16
	VEOR  V26.B16, V26.B16, V26.B16
	VEOR  V27.B16, V27.B16, V27.B16
	VEOR  V28.B16, V28.B16, V28.B16
	VEOR  V29.B16, V29.B16, V29.B16
	VEOR  V30.B16, V30.B16, V30.B16
	VEOR  V31.B16, V31.B16, V31.B16
	CMP   $16, R7
	BNE   narrow
	MOVD  colStrip_mean(R0), R8
	VLD1  (R8), [V0.S4, V1.S4, V2.S4, V3.S4]
	MOVD  colStrip_scale(R0), R8
	VLD1  (R8), [V4.S4, V5.S4, V6.S4, V7.S4]
	MOVD  colStrip_shift(R0), R8
	VLD1  (R8), [V8.S4, V9.S4, V10.S4, V11.S4]

wide:
	VLD1.P 32(R1), [V16.S4, V17.S4]
	VLD1.P 32(R2), [V14.S4, V15.S4]
	VMOV   V8.B16, V20.B16
	VMOV   V9.B16, V21.B16
	WORD   $0x4ea0d610                            // fsub v16.4s, v16.4s, v0.4s
	WORD   $0x4ea1d631                            // fsub v17.4s, v17.4s, v1.4s
	VFMLA  V16.S4, V4.S4, V20.S4
	VFMLA  V17.S4, V5.S4, V21.S4
	WORD   $0x6eace694                            // fcmgt v20.4s, v20.4s, v12.4s
	WORD   $0x6eace6b5                            // fcmgt v21.4s, v21.4s, v12.4s
	VORR   V13.B16, V20.B16, V20.B16
	VORR   V13.B16, V21.B16, V21.B16
	VAND   V20.B16, V14.B16, V14.B16
	VAND   V21.B16, V15.B16, V15.B16
	WORD   $0x4e2ed718                            // fadd v24.4s, v24.4s, v14.4s
	WORD   $0x4e2fd739                            // fadd v25.4s, v25.4s, v15.4s
	VFMLA  V16.S4, V14.S4, V28.S4
	VFMLA  V17.S4, V15.S4, V29.S4
	VLD1.P (R1)(R6), [V16.S4, V17.S4]
	VLD1.P (R2)(R6), [V14.S4, V15.S4]
	VMOV   V10.B16, V20.B16
	VMOV   V11.B16, V21.B16
	WORD   $0x4ea2d610                            // fsub v16.4s, v16.4s, v2.4s
	WORD   $0x4ea3d631                            // fsub v17.4s, v17.4s, v3.4s
	VFMLA  V16.S4, V6.S4, V20.S4
	VFMLA  V17.S4, V7.S4, V21.S4
	WORD   $0x6eace694                            // fcmgt v20.4s, v20.4s, v12.4s
	WORD   $0x6eace6b5                            // fcmgt v21.4s, v21.4s, v12.4s
	VORR   V13.B16, V20.B16, V20.B16
	VORR   V13.B16, V21.B16, V21.B16
	VAND   V20.B16, V14.B16, V14.B16
	VAND   V21.B16, V15.B16, V15.B16
	WORD   $0x4e2ed75a                            // fadd v26.4s, v26.4s, v14.4s
	WORD   $0x4e2fd77b                            // fadd v27.4s, v27.4s, v15.4s
	VFMLA  V16.S4, V14.S4, V30.S4
	VFMLA  V17.S4, V15.S4, V31.S4
	SUBS   $1, R4
	BNE    wide
	MOVD   colStrip_sum(R0), R8
	VST1   [V24.S4, V25.S4, V26.S4, V27.S4], (R8)
	MOVD   colStrip_dot(R0), R8
	VST1   [V28.S4, V29.S4, V30.S4, V31.S4], (R8)
	RET

narrow:
	MOVD colStrip_mean(R0), R8
	VLD1 (R8), [V0.S4]
	MOVD colStrip_scale(R0), R8
	VLD1 (R8), [V4.S4]
	MOVD colStrip_shift(R0), R8
	VLD1 (R8), [V8.S4]

loop:
	VLD1.P (R1)(R5), [V16.S4]
	VLD1.P (R2)(R5), [V14.S4]
	VMOV   V8.B16, V20.B16
	WORD   $0x4ea0d610               // fsub v16.4s, v16.4s, v0.4s
	VFMLA  V16.S4, V4.S4, V20.S4
	WORD   $0x6eace694               // fcmgt v20.4s, v20.4s, v12.4s
	VORR   V13.B16, V20.B16, V20.B16
	VAND   V20.B16, V14.B16, V14.B16
	WORD   $0x4e2ed718               // fadd v24.4s, v24.4s, v14.4s
	VFMLA  V16.S4, V14.S4, V28.S4
	SUBS   $1, R4
	BNE    loop
	MOVD   colStrip_sum(R0), R8
	VST1   [V24.S4], (R8)
	MOVD   colStrip_dot(R0), R8
	VST1   [V28.S4], (R8)
	RET

// func colNormGradNEON(s *colStrip)
//
//    g := dy[r,j] // 0 where z is not above the floor, if there is one
//    dst[r,j] = fma(p[j], g, fma(q[j], t, r[j]))
//
// V0-V3 mean; V4-V7 scale; V8-V11 shift; V12-V15 p; V16-V19 q; V20-V23 r; V24 floor;
// V25 all bits if there is none; V26, V27 t; V28, V29 z, then whether it passes, then the
// result; V30, V31 dy, then g
TEXT ·colNormGradNEON(SB), NOSPLIT, $0-8
	MOVD  s+0(FP), R0
	MOVD  colStrip_x(R0), R1
	MOVD  colStrip_rows(R0), R4
	MOVD  colStrip_stride(R0), R5
	MOVD  colStrip_n(R0), R7
	LSL   $2, R5
	SUB   $32, R5, R6
	MOVD  colStrip_dy(R0), R2
	MOVD  colStrip_dst(R0), R3
	FMOVS colStrip_floor(R0), F24
	VDUP  V24.S[0], V24.S4
	MOVWU colStrip_floor(R0), R8
	MOVD  $0xff800000, R9                        // no floor
	CMP   R9, R8
	CSETM EQ, R8
	VDUP  R8, V25.S4
	CMP   $16, R7
	BNE   narrow
	MOVD  colStrip_mean(R0), R8
	VLD1  (R8), [V0.S4, V1.S4, V2.S4, V3.S4]
	MOVD  colStrip_scale(R0), R8
	VLD1  (R8), [V4.S4, V5.S4, V6.S4, V7.S4]
	MOVD  colStrip_shift(R0), R8
	VLD1  (R8), [V8.S4, V9.S4, V10.S4, V11.S4]
	MOVD  colStrip_p(R0), R8
	VLD1  (R8), [V12.S4, V13.S4, V14.S4, V15.S4]
	MOVD  colStrip_q(R0), R8
	VLD1  (R8), [V16.S4, V17.S4, V18.S4, V19.S4]
	MOVD  colStrip_r(R0), R8
	VLD1  (R8), [V20.S4, V21.S4, V22.S4, V23.S4]

wide:
	VLD1.P 32(R1), [V26.S4, V27.S4]
	VLD1.P 32(R2), [V30.S4, V31.S4]
	VMOV   V8.B16, V28.B16
	VMOV   V9.B16, V29.B16
	WORD   $0x4ea0d75a                // fsub v26.4s, v26.4s, v0.4s
	WORD   $0x4ea1d77b                // fsub v27.4s, v27.4s, v1.4s
	VFMLA  V26.S4, V4.S4, V28.S4
	VFMLA  V27.S4, V5.S4, V29.S4
	WORD   $0x6eb8e79c                // fcmgt v28.4s, v28.4s, v24.4s
	WORD   $0x6eb8e7bd                // fcmgt v29.4s, v29.4s, v24.4s
	VORR   V25.B16, V28.B16, V28.B16
	VORR   V25.B16, V29.B16, V29.B16
	VAND   V28.B16, V30.B16, V30.B16
	VAND   V29.B16, V31.B16, V31.B16
	VMOV   V20.B16, V28.B16
	VMOV   V21.B16, V29.B16
	VFMLA  V26.S4, V16.S4, V28.S4
	VFMLA  V27.S4, V17.S4, V29.S4
	VFMLA  V30.S4, V12.S4, V28.S4
	VFMLA  V31.S4, V13.S4, V29.S4
	VST1.P [V28.S4, V29.S4], 32(R3)
	VLD1.P (R1)(R6), [V26.S4, V27.S4]
	VLD1.P (R2)(R6), [V30.S4, V31.S4]
	VMOV   V10.B16, V28.B16
	VMOV   V11.B16, V29.B16
	WORD   $0x4ea2d75a                // fsub v26.4s, v26.4s, v2.4s
	WORD   $0x4ea3d77b                // fsub v27.4s, v27.4s, v3.4s
	VFMLA  V26.S4, V6.S4, V28.S4
	VFMLA  V27.S4, V7.S4, V29.S4
	WORD   $0x6eb8e79c                // fcmgt v28.4s, v28.4s, v24.4s
	WORD   $0x6eb8e7bd                // fcmgt v29.4s, v29.4s, v24.4s
	VORR   V25.B16, V28.B16, V28.B16
	VORR   V25.B16, V29.B16, V29.B16
	VAND   V28.B16, V30.B16, V30.B16
	VAND   V29.B16, V31.B16, V31.B16
	VMOV   V22.B16, V28.B16
	VMOV   V23.B16, V29.B16
	VFMLA  V26.S4, V18.S4, V28.S4
	VFMLA  V27.S4, V19.S4, V29.S4
	VFMLA  V30.S4, V14.S4, V28.S4
	VFMLA  V31.S4, V15.S4, V29.S4
	VST1.P [V28.S4, V29.S4], (R3)(R6)
	SUBS   $1, R4
	BNE    wide
	RET

narrow:
	MOVD colStrip_mean(R0), R8
	VLD1 (R8), [V0.S4]
	MOVD colStrip_scale(R0), R8
	VLD1 (R8), [V4.S4]
	MOVD colStrip_shift(R0), R8
	VLD1 (R8), [V8.S4]
	MOVD colStrip_p(R0), R8
	VLD1 (R8), [V12.S4]
	MOVD colStrip_q(R0), R8
	VLD1 (R8), [V16.S4]
	MOVD colStrip_r(R0), R8
	VLD1 (R8), [V20.S4]

loop:
	VLD1.P (R1)(R5), [V26.S4]
	VLD1.P (R2)(R5), [V30.S4]
	VMOV   V8.B16, V28.B16
	WORD   $0x4ea0d75a               // fsub v26.4s, v26.4s, v0.4s
	VFMLA  V26.S4, V4.S4, V28.S4
	WORD   $0x6eb8e79c               // fcmgt v28.4s, v28.4s, v24.4s
	VORR   V25.B16, V28.B16, V28.B16
	VAND   V28.B16, V30.B16, V30.B16
	VMOV   V20.B16, V28.B16
	VFMLA  V26.S4, V16.S4, V28.S4
	VFMLA  V30.S4, V12.S4, V28.S4
	VST1.P [V28.S4], (R3)(R5)
	SUBS   $1, R4
	BNE    loop
	RET

// func colMomentsNEON(s *colStrip)
//
//    sum[j] += t
//    dot[j] += t * t // fused
//
// V0-V3 mean; V16-V19 t; V24-V27 sum; V28-V31 dot
TEXT ·colMomentsNEON(SB), NOSPLIT, $0-8
	MOVD s+0(FP), R0
	MOVD colStrip_x(R0), R1
	MOVD colStrip_rows(R0), R4
	MOVD colStrip_stride(R0), R5
	MOVD colStrip_n(R0), R7
	LSL  $2, R5
	SUB  $32, R5, R6
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16
	VEOR V28.B16, V28.B16, V28.B16
	VEOR V29.B16, V29.B16, V29.B16
	VEOR V30.B16, V30.B16, V30.B16
	VEOR V31.B16, V31.B16, V31.B16
	CMP  $16, R7
	BNE  narrow
	MOVD colStrip_mean(R0), R8
	VLD1 (R8), [V0.S4, V1.S4, V2.S4, V3.S4]

wide:
	VLD1.P (R1)(R5), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD   $0x4ea0d610                                // fsub v16.4s, v16.4s, v0.4s
	WORD   $0x4ea1d631                                // fsub v17.4s, v17.4s, v1.4s
	WORD   $0x4ea2d652                                // fsub v18.4s, v18.4s, v2.4s
	WORD   $0x4ea3d673                                // fsub v19.4s, v19.4s, v3.4s
	WORD   $0x4e30d718                                // fadd v24.4s, v24.4s, v16.4s
	WORD   $0x4e31d739                                // fadd v25.4s, v25.4s, v17.4s
	WORD   $0x4e32d75a                                // fadd v26.4s, v26.4s, v18.4s
	WORD   $0x4e33d77b                                // fadd v27.4s, v27.4s, v19.4s
	VFMLA  V16.S4, V16.S4, V28.S4
	VFMLA  V17.S4, V17.S4, V29.S4
	VFMLA  V18.S4, V18.S4, V30.S4
	VFMLA  V19.S4, V19.S4, V31.S4
	SUBS   $1, R4
	BNE    wide
	MOVD   colStrip_sum(R0), R8
	VST1   [V24.S4, V25.S4, V26.S4, V27.S4], (R8)
	MOVD   colStrip_dot(R0), R8
	VST1   [V28.S4, V29.S4, V30.S4, V31.S4], (R8)
	RET

narrow:
	MOVD colStrip_mean(R0), R8
	VLD1 (R8), [V0.S4]

loop:
	VLD1.P (R1)(R5), [V16.S4]
	WORD   $0x4ea0d610            // fsub v16.4s, v16.4s, v0.4s
	WORD   $0x4e30d718            // fadd v24.4s, v24.4s, v16.4s
	VFMLA  V16.S4, V16.S4, V28.S4
	SUBS   $1, R4
	BNE    loop
	MOVD   colStrip_sum(R0), R8
	VST1   [V24.S4], (R8)
	MOVD   colStrip_dot(R0), R8
	VST1   [V28.S4], (R8)
	RET
