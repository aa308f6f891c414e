//go:build !noasm

#include "textflag.h"

// func foldNEON(n int, even, odd, late, early *float32, step, pairs, run int)
//
// The first n > 0 values of each run, 16 at a time, then 4. n is a multiple of 4. All loads
// of a step come before its stores, so a result may be a source.
//
//    late += (pairs-1)*run
//    for ; pairs > 0; pairs-- {
//        for i := range n {
//            even[i], odd[i] = late[i] + early[i], late[i] - early[i]
//        }
//        even, odd, late, early = even+step, odd+step, late-run, early+run
//    }
//
// R0 n; R1 even; R2 odd; R3 late; R4 early; R5 step, R7 run in bytes; R6 pairs left
// R8 values left of the run; R9-R12 go through even, odd, late and early
// V0-V3 sums; V4-V7 late; V16-V19 early; V20-V23 differences
TEXT ·foldNEON(SB), NOSPLIT, $0-64
	MOVD n+0(FP), R0
	MOVD even+8(FP), R1
	MOVD odd+16(FP), R2
	MOVD late+24(FP), R3
	MOVD early+32(FP), R4
	MOVD step+40(FP), R5
	MOVD pairs+48(FP), R6
	MOVD run+56(FP), R7
	LSL  $2, R5
	LSL  $2, R7
	SUB  $1, R6, R8
	MADD R7, R3, R8, R3

pair:
	MOVD R1, R9
	MOVD R2, R10
	MOVD R3, R11
	MOVD R4, R12
	SUBS $16, R0, R8
	BLT  tail

loop:
	VLD1.P 64(R11), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R12), [V16.S4, V17.S4, V18.S4, V19.S4]
	WORD   $0x4e30d480                               // fadd v0.4s, v4.4s, v16.4s
	WORD   $0x4e31d4a1                               // fadd v1.4s, v5.4s, v17.4s
	WORD   $0x4e32d4c2                               // fadd v2.4s, v6.4s, v18.4s
	WORD   $0x4e33d4e3                               // fadd v3.4s, v7.4s, v19.4s
	WORD   $0x4eb0d494                               // fsub v20.4s, v4.4s, v16.4s
	WORD   $0x4eb1d4b5                               // fsub v21.4s, v5.4s, v17.4s
	WORD   $0x4eb2d4d6                               // fsub v22.4s, v6.4s, v18.4s
	WORD   $0x4eb3d4f7                               // fsub v23.4s, v7.4s, v19.4s
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R9)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R10)
	SUBS   $16, R8
	BGE    loop

tail:
	ADDS $16, R8
	BEQ  next

loop4:
	VLD1.P 16(R11), [V4.S4]
	VLD1.P 16(R12), [V16.S4]
	WORD   $0x4e30d480       // fadd v0.4s, v4.4s, v16.4s
	WORD   $0x4eb0d494       // fsub v20.4s, v4.4s, v16.4s
	VST1.P [V0.S4], 16(R9)
	VST1.P [V20.S4], 16(R10)
	SUBS   $4, R8
	BGT    loop4

next:
	ADD  R5, R1
	ADD  R5, R2
	SUB  R7, R3
	ADD  R7, R4
	SUBS $1, R6
	BGT  pair
	RET
