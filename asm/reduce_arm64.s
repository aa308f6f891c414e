//go:build !noasm

#include "textflag.h"

// Sums of one block. n > 0 is a multiple of 4. Eight vectors run beside each
// other, so that 32 values of a step are added to 32 sums; a second loop adds
// the last vectors to the first sum. The eight are then added pairwise,
//
//    ((s0+s1) + (s2+s3)) + ((s4+s5) + (s6+s7))
//
// and the four lanes of the result are written to acc, to be added in float64.
//
// R0 n, counts down; R1 x; R2 y; R3 acc
// V0-V7 sums; V16-V23 values of x; V24-V31 values of y, or the mean

// func sumNEON(n int, x *float32, acc *vec)
//
//    acc = x summed
TEXT ·sumNEON(SB), NOSPLIT, $0-24
	MOVD n+0(FP), R0
	MOVD x+8(FP), R1
	MOVD acc+16(FP), R3
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	SUBS $32, R0
	BLT  tail

loop:
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	WORD   $0x4e30d400                              // fadd v0.4s, v0.4s, v16.4s
	WORD   $0x4e31d421                              // fadd v1.4s, v1.4s, v17.4s
	WORD   $0x4e32d442                              // fadd v2.4s, v2.4s, v18.4s
	WORD   $0x4e33d463                              // fadd v3.4s, v3.4s, v19.4s
	WORD   $0x4e34d484                              // fadd v4.4s, v4.4s, v20.4s
	WORD   $0x4e35d4a5                              // fadd v5.4s, v5.4s, v21.4s
	WORD   $0x4e36d4c6                              // fadd v6.4s, v6.4s, v22.4s
	WORD   $0x4e37d4e7                              // fadd v7.4s, v7.4s, v23.4s
	SUBS   $32, R0
	BGE    loop

tail:
	ADDS $32, R0
	BEQ  done

loop4:
	VLD1.P 16(R1), [V16.S4]
	WORD   $0x4e30d400      // fadd v0.4s, v0.4s, v16.4s
	SUBS   $4, R0
	BGT    loop4

done:
	WORD $0x4e21d400   // fadd v0.4s, v0.4s, v1.4s
	WORD $0x4e23d442   // fadd v2.4s, v2.4s, v3.4s
	WORD $0x4e25d484   // fadd v4.4s, v4.4s, v5.4s
	WORD $0x4e27d4c6   // fadd v6.4s, v6.4s, v7.4s
	WORD $0x4e22d400   // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e26d484   // fadd v4.4s, v4.4s, v6.4s
	WORD $0x4e24d400   // fadd v0.4s, v0.4s, v4.4s
	VST1 [V0.S4], (R3)
	RET

// func dotNEON(n int, x, y *float32, acc *vec)
//
//    acc = x[i]*y[i] summed, fused
TEXT ·dotNEON(SB), NOSPLIT, $0-32
	MOVD n+0(FP), R0
	MOVD x+8(FP), R1
	MOVD y+16(FP), R2
	MOVD acc+24(FP), R3
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	SUBS $32, R0
	BLT  tail

loop:
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	VLD1.P 64(R2), [V24.S4, V25.S4, V26.S4, V27.S4]
	VLD1.P 64(R2), [V28.S4, V29.S4, V30.S4, V31.S4]
	VFMLA  V16.S4, V24.S4, V0.S4
	VFMLA  V17.S4, V25.S4, V1.S4
	VFMLA  V18.S4, V26.S4, V2.S4
	VFMLA  V19.S4, V27.S4, V3.S4
	VFMLA  V20.S4, V28.S4, V4.S4
	VFMLA  V21.S4, V29.S4, V5.S4
	VFMLA  V22.S4, V30.S4, V6.S4
	VFMLA  V23.S4, V31.S4, V7.S4
	SUBS   $32, R0
	BGE    loop

tail:
	ADDS $32, R0
	BEQ  done

loop4:
	VLD1.P 16(R1), [V16.S4]
	VLD1.P 16(R2), [V24.S4]
	VFMLA  V16.S4, V24.S4, V0.S4
	SUBS   $4, R0
	BGT    loop4

done:
	WORD $0x4e21d400   // fadd v0.4s, v0.4s, v1.4s
	WORD $0x4e23d442   // fadd v2.4s, v2.4s, v3.4s
	WORD $0x4e25d484   // fadd v4.4s, v4.4s, v5.4s
	WORD $0x4e27d4c6   // fadd v6.4s, v6.4s, v7.4s
	WORD $0x4e22d400   // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e26d484   // fadd v4.4s, v4.4s, v6.4s
	WORD $0x4e24d400   // fadd v0.4s, v0.4s, v4.4s
	VST1 [V0.S4], (R3)
	RET

// func sumSquaresNEON(n int, x *float32, mean float32, acc *vec)
//
//    acc = (x[i]-mean)^2 summed, fused
TEXT ·sumSquaresNEON(SB), NOSPLIT, $0-32
	MOVD  n+0(FP), R0
	MOVD  x+8(FP), R1
	FMOVS mean+16(FP), F24
	VDUP  V24.S[0], V24.S4
	MOVD  acc+24(FP), R3
	VEOR  V0.B16, V0.B16, V0.B16
	VEOR  V1.B16, V1.B16, V1.B16
	VEOR  V2.B16, V2.B16, V2.B16
	VEOR  V3.B16, V3.B16, V3.B16
	VEOR  V4.B16, V4.B16, V4.B16
	VEOR  V5.B16, V5.B16, V5.B16
	VEOR  V6.B16, V6.B16, V6.B16
	VEOR  V7.B16, V7.B16, V7.B16
	SUBS  $32, R0
	BLT   tail

loop:
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	WORD   $0x4eb8d610                              // fsub v16.4s, v16.4s, v24.4s
	WORD   $0x4eb8d631                              // fsub v17.4s, v17.4s, v24.4s
	WORD   $0x4eb8d652                              // fsub v18.4s, v18.4s, v24.4s
	WORD   $0x4eb8d673                              // fsub v19.4s, v19.4s, v24.4s
	WORD   $0x4eb8d694                              // fsub v20.4s, v20.4s, v24.4s
	WORD   $0x4eb8d6b5                              // fsub v21.4s, v21.4s, v24.4s
	WORD   $0x4eb8d6d6                              // fsub v22.4s, v22.4s, v24.4s
	WORD   $0x4eb8d6f7                              // fsub v23.4s, v23.4s, v24.4s
	VFMLA  V16.S4, V16.S4, V0.S4
	VFMLA  V17.S4, V17.S4, V1.S4
	VFMLA  V18.S4, V18.S4, V2.S4
	VFMLA  V19.S4, V19.S4, V3.S4
	VFMLA  V20.S4, V20.S4, V4.S4
	VFMLA  V21.S4, V21.S4, V5.S4
	VFMLA  V22.S4, V22.S4, V6.S4
	VFMLA  V23.S4, V23.S4, V7.S4
	SUBS   $32, R0
	BGE    loop

tail:
	ADDS $32, R0
	BEQ  done

loop4:
	VLD1.P 16(R1), [V16.S4]
	WORD   $0x4eb8d610           // fsub v16.4s, v16.4s, v24.4s
	VFMLA  V16.S4, V16.S4, V0.S4
	SUBS   $4, R0
	BGT    loop4

done:
	WORD $0x4e21d400   // fadd v0.4s, v0.4s, v1.4s
	WORD $0x4e23d442   // fadd v2.4s, v2.4s, v3.4s
	WORD $0x4e25d484   // fadd v4.4s, v4.4s, v5.4s
	WORD $0x4e27d4c6   // fadd v6.4s, v6.4s, v7.4s
	WORD $0x4e22d400   // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e26d484   // fadd v4.4s, v4.4s, v6.4s
	WORD $0x4e24d400   // fadd v0.4s, v0.4s, v4.4s
	VST1 [V0.S4], (R3)
	RET

// Column operations. x has rows rows that begin ld values apart, of which the
// kernel takes the first cols, a multiple of 4: sixteen columns at a time, then
// four. A column is worked on from its first row to its last, always with the
// same arithmetic, so that taking it twice gives the same result. The loop:
//
//    for j := 0; j < cols; j += 16 { // or 4
//        for r := range rows {
//            ... x[r*ld+j : r*ld+j+16]
//        }
//    }
//
// R0 rows; R1 cols, counts down; R2 ld in bytes; R3 x; R4 y or a vector of cols;
// R5-R8 more of them; R10 rows left; R11, R12, R13 run down the columns of x, y
// and dst

// func colSumNEON(rows, cols, ld int, x, acc *float32)
//
//    acc[j] = x[r*ld+j] summed over r
TEXT ·colSumNEON(SB), NOSPLIT, $0-40
	MOVD rows+0(FP), R0
	MOVD cols+8(FP), R1
	MOVD ld+16(FP), R2
	MOVD x+24(FP), R3
	MOVD acc+32(FP), R4
	LSL  $2, R2

wide:
	SUBS $16, R1
	BLT  narrow
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD R0, R10
	MOVD R3, R11
	ADD  $64, R3

wideRow:
	VLD1.P (R11)(R2), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD   $0x4e30d400                                 // fadd v0.4s, v0.4s, v16.4s
	WORD   $0x4e31d421                                 // fadd v1.4s, v1.4s, v17.4s
	WORD   $0x4e32d442                                 // fadd v2.4s, v2.4s, v18.4s
	WORD   $0x4e33d463                                 // fadd v3.4s, v3.4s, v19.4s
	SUB    $1, R10
	CBNZ   R10, wideRow
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R4)
	B      wide

narrow:
	ADD $16, R1

four:
	SUBS $4, R1
	BLT  done
	VEOR V0.B16, V0.B16, V0.B16
	MOVD R0, R10
	MOVD R3, R11
	ADD  $16, R3

fourRow:
	VLD1.P (R11)(R2), [V16.S4]
	WORD   $0x4e30d400         // fadd v0.4s, v0.4s, v16.4s
	SUB    $1, R10
	CBNZ   R10, fourRow
	VST1.P [V0.S4], 16(R4)
	B      four

done:
	RET

// func colAffineNEON(rows, cols, ld int, dst, x, scale, shift *float32)
//
//    dst[r*ld+j] = scale[j]*x[r*ld+j] + shift[j] // fused
TEXT ·colAffineNEON(SB), NOSPLIT, $0-56
	MOVD rows+0(FP), R0
	MOVD cols+8(FP), R1
	MOVD ld+16(FP), R2
	MOVD dst+24(FP), R4
	MOVD x+32(FP), R3
	MOVD scale+40(FP), R5
	MOVD shift+48(FP), R6
	LSL  $2, R2

wide:
	SUBS   $16, R1
	BLT    narrow
	VLD1.P 64(R5), [V20.S4, V21.S4, V22.S4, V23.S4]
	VLD1.P 64(R6), [V24.S4, V25.S4, V26.S4, V27.S4]
	MOVD   R0, R10
	MOVD   R3, R11
	MOVD   R4, R13
	ADD    $64, R3
	ADD    $64, R4

wideRow:
	VLD1.P (R11)(R2), [V16.S4, V17.S4, V18.S4, V19.S4]
	VMOV   V24.B16, V0.B16
	VMOV   V25.B16, V1.B16
	VMOV   V26.B16, V2.B16
	VMOV   V27.B16, V3.B16
	VFMLA  V16.S4, V20.S4, V0.S4
	VFMLA  V17.S4, V21.S4, V1.S4
	VFMLA  V18.S4, V22.S4, V2.S4
	VFMLA  V19.S4, V23.S4, V3.S4
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], (R13)(R2)
	SUB    $1, R10
	CBNZ   R10, wideRow
	B      wide

narrow:
	ADD $16, R1

four:
	SUBS   $4, R1
	BLT    done
	VLD1.P 16(R5), [V20.S4]
	VLD1.P 16(R6), [V24.S4]
	MOVD   R0, R10
	MOVD   R3, R11
	MOVD   R4, R13
	ADD    $16, R3
	ADD    $16, R4

fourRow:
	VLD1.P (R11)(R2), [V16.S4]
	VMOV   V24.B16, V0.B16
	VFMLA  V16.S4, V20.S4, V0.S4
	VST1.P [V0.S4], (R13)(R2)
	SUB    $1, R10
	CBNZ   R10, fourRow
	B      four

done:
	RET

// func colMaxNEON(rows, cols, ld int, x, max, index, first *float32)
//
//     first is the number of the first row
//    if !(max[j] >= x[r*ld+j]) && max[j] == max[j] { // larger, or the first NaN
//        max[j], index[j] = x[r*ld+j], first+r
//    }
TEXT ·colMaxNEON(SB), NOSPLIT, $0-56
	MOVD  rows+0(FP), R0
	MOVD  cols+8(FP), R1
	MOVD  ld+16(FP), R2
	MOVD  x+24(FP), R3
	MOVD  max+32(FP), R4
	MOVD  index+40(FP), R5
	MOVD  first+48(FP), R6
	LSL   $2, R2
	VLD1R (R6), [V30.S4]
	FMOVS $1.0, F31
	VDUP  V31.S[0], V31.S4

wide:
	SUBS $16, R1
	BLT  narrow
	VLD1 (R4), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1 (R5), [V4.S4, V5.S4, V6.S4, V7.S4]
	VMOV V30.B16, V29.B16
	MOVD R0, R10
	MOVD R3, R11
	ADD  $64, R3

wideRow:
	VLD1.P (R11)(R2), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD   $0x6e30e414                                 // fcmge v20.4s, v0.4s, v16.4s
	WORD   $0x4e20e418                                 // fcmeq v24.4s, v0.4s, v0.4s
	WORD   $0x6e31e435                                 // fcmge v21.4s, v1.4s, v17.4s
	WORD   $0x4e21e439                                 // fcmeq v25.4s, v1.4s, v1.4s
	WORD   $0x6e32e456                                 // fcmge v22.4s, v2.4s, v18.4s
	WORD   $0x4e22e45a                                 // fcmeq v26.4s, v2.4s, v2.4s
	WORD   $0x6e33e477                                 // fcmge v23.4s, v3.4s, v19.4s
	WORD   $0x4e23e47b                                 // fcmeq v27.4s, v3.4s, v3.4s
	WORD   $0x4e741f14                                 // bic v20.16b, v24.16b, v20.16b
	WORD   $0x4e751f35                                 // bic v21.16b, v25.16b, v21.16b
	WORD   $0x4e761f56                                 // bic v22.16b, v26.16b, v22.16b
	WORD   $0x4e771f77                                 // bic v23.16b, v27.16b, v23.16b
	VBIT   V20.B16, V16.B16, V0.B16
	VBIT   V20.B16, V29.B16, V4.B16
	VBIT   V21.B16, V17.B16, V1.B16
	VBIT   V21.B16, V29.B16, V5.B16
	VBIT   V22.B16, V18.B16, V2.B16
	VBIT   V22.B16, V29.B16, V6.B16
	VBIT   V23.B16, V19.B16, V3.B16
	VBIT   V23.B16, V29.B16, V7.B16
	WORD   $0x4e3fd7bd                                 // fadd v29.4s, v29.4s, v31.4s
	SUB    $1, R10
	CBNZ   R10, wideRow
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R4)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R5)
	B      wide

narrow:
	ADD $16, R1

four:
	SUBS $4, R1
	BLT  done
	VLD1 (R4), [V0.S4]
	VLD1 (R5), [V4.S4]
	VMOV V30.B16, V29.B16
	MOVD R0, R10
	MOVD R3, R11
	ADD  $16, R3

fourRow:
	VLD1.P (R11)(R2), [V16.S4]
	WORD   $0x6e30e414              // fcmge v20.4s, v0.4s, v16.4s
	WORD   $0x4e20e418              // fcmeq v24.4s, v0.4s, v0.4s
	WORD   $0x4e741f14              // bic v20.16b, v24.16b, v20.16b
	VBIT   V20.B16, V16.B16, V0.B16
	VBIT   V20.B16, V29.B16, V4.B16
	WORD   $0x4e3fd7bd              // fadd v29.4s, v29.4s, v31.4s
	SUB    $1, R10
	CBNZ   R10, fourRow
	VST1.P [V0.S4], 16(R4)
	VST1.P [V4.S4], 16(R5)
	B      four

done:
	RET
