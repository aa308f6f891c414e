//go:build !noasm

#include "textflag.h"

// func adamNEON(n int, p, m, v, grad *float32, s *[8]float32)
//
//    // s is Step, Beta1, Beta2, Correction2, Eps, Decay, 1-Beta1, 1-Beta2
//    for i := range n { // n > 0 is a multiple of 4
//        m[i] = Beta1*m[i] + (1-Beta1)*grad[i]        // fused
//        v[i] = Beta2*v[i] + ((1-Beta2)*grad[i])*grad[i] // fused
//        step := Step*m[i] / (sqrt(v[i]*Correction2) + Eps)
//        p[i] = Decay*p[i] - step                  // fused
//    }
//
// R0 n, counts down; R1-R4 p, m, v, grad; R5 s
// V0 p; V1 m; V2 v; V3 grad; V4, V5 temporaries; V16-V23 s, each in all lanes
TEXT ·adamNEON(SB), NOSPLIT, $0-48
	MOVD    n+0(FP), R0
	MOVD    p+8(FP), R1
	MOVD    m+16(FP), R2
	MOVD    v+24(FP), R3
	MOVD    grad+32(FP), R4
	MOVD    s+40(FP), R5
	VLD1R.P 4(R5), [V16.S4]
	VLD1R.P 4(R5), [V17.S4]
	VLD1R.P 4(R5), [V18.S4]
	VLD1R.P 4(R5), [V19.S4]
	VLD1R.P 4(R5), [V20.S4]
	VLD1R.P 4(R5), [V21.S4]
	VLD1R.P 4(R5), [V22.S4]
	VLD1R.P 4(R5), [V23.S4]

loop:
	VLD1.P 16(R4), [V3.S4]
	VLD1   (R2), [V1.S4]
	VLD1   (R3), [V2.S4]
	VLD1   (R1), [V0.S4]

	WORD   $0x6e23dec4          // fmul v4.4s, v22.4s, v3.4s
	WORD   $0x6e23dee5          // fmul v5.4s, v23.4s, v3.4s
	WORD   $0x6e23dca5          // fmul v5.4s, v5.4s, v3.4s
	VFMLA  V1.S4, V17.S4, V4.S4
	VFMLA  V2.S4, V18.S4, V5.S4
	VST1.P [V4.S4], 16(R2)
	VST1.P [V5.S4], 16(R3)

	WORD   $0x6e33dca5          // fmul v5.4s, v5.4s, v19.4s
	WORD   $0x6ea1f8a5          // fsqrt v5.4s, v5.4s
	WORD   $0x4e34d4a5          // fadd v5.4s, v5.4s, v20.4s
	WORD   $0x6e24de04          // fmul v4.4s, v16.4s, v4.4s
	WORD   $0x6e25fc84          // fdiv v4.4s, v4.4s, v5.4s
	WORD   $0x6ea0f884          // fneg v4.4s, v4.4s
	VFMLA  V0.S4, V21.S4, V4.S4
	VST1.P [V4.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop
	RET
