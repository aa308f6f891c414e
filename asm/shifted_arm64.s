//go:build !noasm

#include "textflag.h"

// func addShiftedNEON(n, rows int, y, x *float32, at *int, a *float32)
//
// Sums of shifted rows, 32 values at a time, then 4. n > 0 is a multiple of 4.
//
//    for ; n > 0; n -= 32 {
//        T = y[:32]
//        for t := range rows {
//            T += a[t] * x[at[t]:]
//        }
//        y[:32] = T
//        y, x = y[32:], x[32:]
//    }
//
// R0 n, counts down; R1 rows; R2 y; R3 x; R4 at; R5 a
// R6, R7 go through at and a; R8 counts rows down; R9 row t of x
// V0-V7 T; V16-V23 of row t; V24 a[t]
TEXT ·addShiftedNEON(SB), NOSPLIT, $0-48
	MOVD n+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD y+16(FP), R2
	MOVD x+24(FP), R3
	MOVD at+32(FP), R4
	MOVD a+40(FP), R5
	SUBS $32, R0
	BLT  tail

block8:
	VLD1.P 64(R2), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1   (R2), [V4.S4, V5.S4, V6.S4, V7.S4]
	SUB    $64, R2
	MOVD   R4, R6
	MOVD   R5, R7
	MOVD   R1, R8

row8:
	MOVD.P  8(R6), R9
	ADD     R9<<2, R3, R9
	VLD1R.P 4(R7), [V24.S4]
	VLD1.P  64(R9), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1    (R9), [V20.S4, V21.S4, V22.S4, V23.S4]
	VFMLA   V16.S4, V24.S4, V0.S4
	VFMLA   V17.S4, V24.S4, V1.S4
	VFMLA   V18.S4, V24.S4, V2.S4
	VFMLA   V19.S4, V24.S4, V3.S4
	VFMLA   V20.S4, V24.S4, V4.S4
	VFMLA   V21.S4, V24.S4, V5.S4
	VFMLA   V22.S4, V24.S4, V6.S4
	VFMLA   V23.S4, V24.S4, V7.S4
	SUBS    $1, R8
	BGT     row8
	VST1.P  [V0.S4, V1.S4, V2.S4, V3.S4], 64(R2)
	VST1.P  [V4.S4, V5.S4, V6.S4, V7.S4], 64(R2)
	ADD     $128, R3
	SUBS    $32, R0
	BGE     block8

tail:
	ADDS $32, R0
	BEQ  done

block1:
	VLD1 (R2), [V0.S4]
	MOVD R4, R6
	MOVD R5, R7
	MOVD R1, R8

row1:
	MOVD.P  8(R6), R9
	ADD     R9<<2, R3, R9
	VLD1R.P 4(R7), [V24.S4]
	VLD1    (R9), [V16.S4]
	VFMLA   V16.S4, V24.S4, V0.S4
	SUBS    $1, R8
	BGT     row1
	VST1.P  [V0.S4], 16(R2)
	ADD     $16, R3
	SUBS    $4, R0
	BGT     block1

done:
	RET
