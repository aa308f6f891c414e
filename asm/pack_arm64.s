//go:build !noasm

#include "textflag.h"

// func packPanel12NEON(k int, dst, src *float32, ldsrc int)
//
//    for p := range k {
//        copy(dst[p*12:p*12+12], src[p*ldsrc:])
//    }
//
// R0 k, counts down; R1 dst; R2 src; R3 ldsrc in bytes; V0-V2 a row
TEXT ·packPanel12NEON(SB), NOSPLIT, $0-32
	MOVD k+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD src+16(FP), R2
	MOVD ldsrc+24(FP), R3
	LSL  $2, R3

loop:
	VLD1.P (R2)(R3), [V0.S4, V1.S4, V2.S4]
	VST1.P [V0.S4, V1.S4, V2.S4], 48(R1)
	SUB    $1, R0
	CBNZ   R0, loop
	RET

// func packPanel8NEON(k int, dst, src *float32, ldsrc int)
//
// The same for rows of 8.
TEXT ·packPanel8NEON(SB), NOSPLIT, $0-32
	MOVD k+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD src+16(FP), R2
	MOVD ldsrc+24(FP), R3
	LSL  $2, R3

loop:
	VLD1.P (R2)(R3), [V0.S4, V1.S4]
	VST1.P [V0.S4, V1.S4], 32(R1)
	SUB    $1, R0
	CBNZ   R0, loop
	RET

// func packRows12NEON(k int, dst, src *float32, offsets *int)
//
//    for p := range k {
//        copy(dst[p*12:p*12+12], src[offsets[p]:])
//    }
//
// R0 k, counts down; R1 dst; R2 src; R3 offsets; R4 a row; V0-V2 its values
TEXT ·packRows12NEON(SB), NOSPLIT, $0-32
	MOVD k+0(FP), R0
	MOVD dst+8(FP), R1
	MOVD src+16(FP), R2
	MOVD offsets+24(FP), R3

loop:
	MOVD.P 8(R3), R4
	ADD    R4<<2, R2, R4
	VLD1   (R4), [V0.S4, V1.S4, V2.S4]
	VST1.P [V0.S4, V1.S4, V2.S4], 48(R1)
	SUB    $1, R0
	CBNZ   R0, loop
	RET

// func transpose4NEON(dst *float32, lddst int, src *float32, ldsrc, cols int)
//
// Transposes four rows of src to four columns of dst; cols > 0 is a multiple
// of 4.
//
//    for j := 0; j < cols; j += 4 {
//        for q := range 4 {
//            for i := range 4 {
//                dst[(j+q)*lddst+i] = src[i*ldsrc+j+q]
//            }
//        }
//    }
//
// A block of 4x4 turns in two steps, first pairs of values, then pairs of pairs:
//
//    V0 = a0 a1 a2 a3        V4 = a0 b0 a2 b2        V0 = a0 b0 c0 d0
//    V1 = b0 b1 b2 b3  trn   V5 = a1 b1 a3 b3  trn   V1 = a1 b1 c1 d1
//    V2 = c0 c1 c2 c3  .4s   V6 = c0 d0 c2 d2  .2d   V2 = a2 b2 c2 d2
//    V3 = d0 d1 d2 d3        V7 = c1 d1 c3 d3        V3 = a3 b3 c3 d3
//
// R0 dst; R1 lddst in bytes; R2-R5 the rows of src; R6 cols, counts down
TEXT ·transpose4NEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD lddst+8(FP), R1
	MOVD src+16(FP), R2
	MOVD ldsrc+24(FP), R3
	MOVD cols+32(FP), R6
	LSL  $2, R1
	LSL  $2, R3, R7
	ADD  R7, R2, R3
	ADD  R7, R3, R4
	ADD  R7, R4, R5

loop:
	VLD1.P 16(R2), [V0.S4]
	VLD1.P 16(R3), [V1.S4]
	VLD1.P 16(R4), [V2.S4]
	VLD1.P 16(R5), [V3.S4]
	VTRN1  V1.S4, V0.S4, V4.S4
	VTRN2  V1.S4, V0.S4, V5.S4
	VTRN1  V3.S4, V2.S4, V6.S4
	VTRN2  V3.S4, V2.S4, V7.S4
	VTRN1  V6.D2, V4.D2, V0.D2
	VTRN1  V7.D2, V5.D2, V1.D2
	VTRN2  V6.D2, V4.D2, V2.D2
	VTRN2  V7.D2, V5.D2, V3.D2
	VST1.P [V0.S4], (R0)(R1)
	VST1.P [V1.S4], (R0)(R1)
	VST1.P [V2.S4], (R0)(R1)
	VST1.P [V3.S4], (R0)(R1)
	SUBS   $4, R6
	BGT    loop
	RET
