//go:build !noasm

#include "textflag.h"

// Sine and cosine. The argument is reduced by the nearest multiple of a constant
// that is split into three float32 summands, and a polynomial (minimax for the
// relative error) finishes. The nearest integer comes from adding 1.5*2^23: its
// lowest bits are then those of the integer.
//
// The reduction is exact enough below limit = 65536. The kernels stop at the
// first block that holds a larger or infinite value and return how many values
// they have done; the caller takes the block another way. n > 0 is a multiple of
// 4. A loop of four vectors takes 16 values a step, a second loop the last 4, 8
// or 12 with the same arithmetic.
//
// R0 n, counts down; R1, R2, R3 the slices in the order of the arguments;
// V0-V15 four registers for each of four vectors: x then r; the shifted
// quotient; n, then r*r; the polynomial. V16-V31 constants.

DATA sinTable<>+0x00(SB)/4, $0x47800000 // limit
DATA sinTable<>+0x04(SB)/4, $0x4b400000 // 1.5*2^23
DATA sinTable<>+0x08(SB)/4, $0x3ea2f983 // 1/pi
DATA sinTable<>+0x0c(SB)/4, $0x40490fda // pi, three summands
DATA sinTable<>+0x10(SB)/4, $0x34222168
DATA sinTable<>+0x14(SB)/4, $0x284234c4
DATA sinTable<>+0x18(SB)/4, $0xbe2aaaa6 // r^3
DATA sinTable<>+0x1c(SB)/4, $0x3c08876d // r^5
DATA sinTable<>+0x20(SB)/4, $0xb94fb875 // r^7
DATA sinTable<>+0x24(SB)/4, $0x362ee425 // r^9
DATA sinTable<>+0x28(SB)/4, $0x80000000 // sign
DATA sinTable<>+0x2c(SB)/4, $0x3f000000 // 1/2, for the cosine
GLOBL sinTable<>(SB), RODATA|NOPTR, $48

// func sinNEON(n int, dst, x *float32) int
//
//    t := x*(1/pi) + 1.5*2^23 // fused, as all that follows
//    q := t - 1.5*2^23
//    r := x - q*pi0 - q*pi1 - q*pi2
//    if t&1 != 0 { // sin(r + q*pi) = (-1)^q * sin(r)
//        r = -r
//    }
//    sin := r + r^3*(c3 + c5*r^2 + c7*r^4 + c9*r^6)
//
// The result gets the sign of r, which matters for -0 only.
TEXT ·sinNEON(SB), NOSPLIT, $0-32
	MOVD    n+0(FP), R0
	MOVD    dst+8(FP), R1
	MOVD    x+16(FP), R2
	MOVD    $sinTable<>(SB), R9
	VLD1R.P 4(R9), [V16.S4]
	VLD1R.P 4(R9), [V17.S4]
	VLD1R.P 4(R9), [V18.S4]
	VLD1R.P 4(R9), [V19.S4]
	VLD1R.P 4(R9), [V20.S4]
	VLD1R.P 4(R9), [V21.S4]
	VLD1R.P 4(R9), [V22.S4]
	VLD1R.P 4(R9), [V23.S4]
	VLD1R.P 4(R9), [V24.S4]
	VLD1R.P 4(R9), [V25.S4]
	VLD1R.P 4(R9), [V26.S4]
	SUBS    $16, R0
	BLT     tail

loop:
	VLD1   (R2), [V0.S4, V1.S4, V2.S4, V3.S4]
	WORD   $0x6e30ec04                          // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6e30ec25                          // facge v5.4s, v1.4s, v16.4s
	WORD   $0x6e30ec46                          // facge v6.4s, v2.4s, v16.4s
	WORD   $0x6e30ec67                          // facge v7.4s, v3.4s, v16.4s
	VORR   V5.B16, V4.B16, V4.B16
	VORR   V6.B16, V4.B16, V4.B16
	VORR   V7.B16, V4.B16, V4.B16
	WORD   $0x6eb0a884                          // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, stop
	ADD    $64, R2
	VMOV   V17.B16, V4.B16
	VFMLA  V18.S4, V0.S4, V4.S4
	VMOV   V17.B16, V5.B16
	VFMLA  V18.S4, V1.S4, V5.S4
	VMOV   V17.B16, V6.B16
	VFMLA  V18.S4, V2.S4, V6.S4
	VMOV   V17.B16, V7.B16
	VFMLA  V18.S4, V3.S4, V7.S4
	WORD   $0x4eb1d488                          // fsub v8.4s, v4.4s, v17.4s
	WORD   $0x4eb1d4a9                          // fsub v9.4s, v5.4s, v17.4s
	WORD   $0x4eb1d4ca                          // fsub v10.4s, v6.4s, v17.4s
	WORD   $0x4eb1d4eb                          // fsub v11.4s, v7.4s, v17.4s
	VFMLS  V8.S4, V19.S4, V0.S4
	VFMLS  V9.S4, V19.S4, V1.S4
	VFMLS  V10.S4, V19.S4, V2.S4
	VFMLS  V11.S4, V19.S4, V3.S4
	VFMLS  V8.S4, V20.S4, V0.S4
	VFMLS  V9.S4, V20.S4, V1.S4
	VFMLS  V10.S4, V20.S4, V2.S4
	VFMLS  V11.S4, V20.S4, V3.S4
	VFMLS  V8.S4, V21.S4, V0.S4
	VFMLS  V9.S4, V21.S4, V1.S4
	VFMLS  V10.S4, V21.S4, V2.S4
	VFMLS  V11.S4, V21.S4, V3.S4
	VSHL   $31, V4.S4, V4.S4
	VSHL   $31, V5.S4, V5.S4
	VSHL   $31, V6.S4, V6.S4
	VSHL   $31, V7.S4, V7.S4
	WORD   $0x6e20dc08                          // fmul v8.4s, v0.4s, v0.4s
	WORD   $0x6e21dc29                          // fmul v9.4s, v1.4s, v1.4s
	WORD   $0x6e22dc4a                          // fmul v10.4s, v2.4s, v2.4s
	WORD   $0x6e23dc6b                          // fmul v11.4s, v3.4s, v3.4s
	VEOR   V4.B16, V0.B16, V0.B16
	VEOR   V5.B16, V1.B16, V1.B16
	VEOR   V6.B16, V2.B16, V2.B16
	VEOR   V7.B16, V3.B16, V3.B16
	VMOV   V24.B16, V12.B16
	VFMLA  V8.S4, V25.S4, V12.S4
	VMOV   V24.B16, V13.B16
	VFMLA  V9.S4, V25.S4, V13.S4
	VMOV   V24.B16, V14.B16
	VFMLA  V10.S4, V25.S4, V14.S4
	VMOV   V24.B16, V15.B16
	VFMLA  V11.S4, V25.S4, V15.S4
	VMOV   V23.B16, V4.B16
	VFMLA  V8.S4, V12.S4, V4.S4
	VMOV   V23.B16, V5.B16
	VFMLA  V9.S4, V13.S4, V5.S4
	VMOV   V23.B16, V6.B16
	VFMLA  V10.S4, V14.S4, V6.S4
	VMOV   V23.B16, V7.B16
	VFMLA  V11.S4, V15.S4, V7.S4
	VMOV   V22.B16, V12.B16
	VFMLA  V8.S4, V4.S4, V12.S4
	VMOV   V22.B16, V13.B16
	VFMLA  V9.S4, V5.S4, V13.S4
	VMOV   V22.B16, V14.B16
	VFMLA  V10.S4, V6.S4, V14.S4
	VMOV   V22.B16, V15.B16
	VFMLA  V11.S4, V7.S4, V15.S4
	WORD   $0x6e20dd08                          // fmul v8.4s, v8.4s, v0.4s
	WORD   $0x6e21dd29                          // fmul v9.4s, v9.4s, v1.4s
	WORD   $0x6e22dd4a                          // fmul v10.4s, v10.4s, v2.4s
	WORD   $0x6e23dd6b                          // fmul v11.4s, v11.4s, v3.4s
	VMOV   V0.B16, V4.B16
	VFMLA  V8.S4, V12.S4, V4.S4
	VMOV   V1.B16, V5.B16
	VFMLA  V9.S4, V13.S4, V5.S4
	VMOV   V2.B16, V6.B16
	VFMLA  V10.S4, V14.S4, V6.S4
	VMOV   V3.B16, V7.B16
	VFMLA  V11.S4, V15.S4, V7.S4
	VBIT   V26.B16, V0.B16, V4.B16
	VBIT   V26.B16, V1.B16, V5.B16
	VBIT   V26.B16, V2.B16, V6.B16
	VBIT   V26.B16, V3.B16, V7.B16
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1   (R2), [V0.S4]
	WORD   $0x6e30ec04             // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6eb0a884             // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, done
	ADD    $16, R2
	VMOV   V17.B16, V4.B16
	VFMLA  V18.S4, V0.S4, V4.S4
	WORD   $0x4eb1d488             // fsub v8.4s, v4.4s, v17.4s
	VFMLS  V8.S4, V19.S4, V0.S4
	VFMLS  V8.S4, V20.S4, V0.S4
	VFMLS  V8.S4, V21.S4, V0.S4
	VSHL   $31, V4.S4, V4.S4
	WORD   $0x6e20dc08             // fmul v8.4s, v0.4s, v0.4s
	VEOR   V4.B16, V0.B16, V0.B16
	VMOV   V24.B16, V12.B16
	VFMLA  V8.S4, V25.S4, V12.S4
	VMOV   V23.B16, V4.B16
	VFMLA  V8.S4, V12.S4, V4.S4
	VMOV   V22.B16, V12.B16
	VFMLA  V8.S4, V4.S4, V12.S4
	WORD   $0x6e20dd08             // fmul v8.4s, v8.4s, v0.4s
	VMOV   V0.B16, V4.B16
	VFMLA  V8.S4, V12.S4, V4.S4
	VBIT   V26.B16, V0.B16, V4.B16
	VST1.P [V4.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

	B done

stop:
	ADD $16, R0

done:
	MOVD n+0(FP), R1
	SUB  R0, R1
	MOVD R1, ret+24(FP)
	RET

// func cosNEON(n int, dst, x *float32) int
//
// cos(x) = sin(x + pi/2), so q is the integer nearest to x/pi + 1/2, and
//
//    r := x - (q-1/2)*pi
//
// goes into the polynomial of the sine.
TEXT ·cosNEON(SB), NOSPLIT, $0-32
	MOVD    n+0(FP), R0
	MOVD    dst+8(FP), R1
	MOVD    x+16(FP), R2
	MOVD    $sinTable<>(SB), R9
	VLD1R.P 4(R9), [V16.S4]
	VLD1R.P 4(R9), [V17.S4]
	VLD1R.P 4(R9), [V18.S4]
	VLD1R.P 4(R9), [V19.S4]
	VLD1R.P 4(R9), [V20.S4]
	VLD1R.P 4(R9), [V21.S4]
	VLD1R.P 4(R9), [V22.S4]
	VLD1R.P 4(R9), [V23.S4]
	VLD1R.P 4(R9), [V24.S4]
	VLD1R.P 4(R9), [V25.S4]
	VLD1R.P 4(R9), [V26.S4]
	VLD1R.P 4(R9), [V27.S4]
	SUBS    $16, R0
	BLT     tail

loop:
	VLD1   (R2), [V0.S4, V1.S4, V2.S4, V3.S4]
	WORD   $0x6e30ec04                          // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6e30ec25                          // facge v5.4s, v1.4s, v16.4s
	WORD   $0x6e30ec46                          // facge v6.4s, v2.4s, v16.4s
	WORD   $0x6e30ec67                          // facge v7.4s, v3.4s, v16.4s
	VORR   V5.B16, V4.B16, V4.B16
	VORR   V6.B16, V4.B16, V4.B16
	VORR   V7.B16, V4.B16, V4.B16
	WORD   $0x6eb0a884                          // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, stop
	ADD    $64, R2
	VMOV   V27.B16, V4.B16
	VFMLA  V18.S4, V0.S4, V4.S4
	VMOV   V27.B16, V5.B16
	VFMLA  V18.S4, V1.S4, V5.S4
	VMOV   V27.B16, V6.B16
	VFMLA  V18.S4, V2.S4, V6.S4
	VMOV   V27.B16, V7.B16
	VFMLA  V18.S4, V3.S4, V7.S4
	WORD   $0x4e31d484                          // fadd v4.4s, v4.4s, v17.4s
	WORD   $0x4e31d4a5                          // fadd v5.4s, v5.4s, v17.4s
	WORD   $0x4e31d4c6                          // fadd v6.4s, v6.4s, v17.4s
	WORD   $0x4e31d4e7                          // fadd v7.4s, v7.4s, v17.4s
	WORD   $0x4eb1d488                          // fsub v8.4s, v4.4s, v17.4s
	WORD   $0x4eb1d4a9                          // fsub v9.4s, v5.4s, v17.4s
	WORD   $0x4eb1d4ca                          // fsub v10.4s, v6.4s, v17.4s
	WORD   $0x4eb1d4eb                          // fsub v11.4s, v7.4s, v17.4s
	WORD   $0x4ebbd508                          // fsub v8.4s, v8.4s, v27.4s
	WORD   $0x4ebbd529                          // fsub v9.4s, v9.4s, v27.4s
	WORD   $0x4ebbd54a                          // fsub v10.4s, v10.4s, v27.4s
	WORD   $0x4ebbd56b                          // fsub v11.4s, v11.4s, v27.4s
	VFMLS  V8.S4, V19.S4, V0.S4
	VFMLS  V9.S4, V19.S4, V1.S4
	VFMLS  V10.S4, V19.S4, V2.S4
	VFMLS  V11.S4, V19.S4, V3.S4
	VFMLS  V8.S4, V20.S4, V0.S4
	VFMLS  V9.S4, V20.S4, V1.S4
	VFMLS  V10.S4, V20.S4, V2.S4
	VFMLS  V11.S4, V20.S4, V3.S4
	VFMLS  V8.S4, V21.S4, V0.S4
	VFMLS  V9.S4, V21.S4, V1.S4
	VFMLS  V10.S4, V21.S4, V2.S4
	VFMLS  V11.S4, V21.S4, V3.S4
	VSHL   $31, V4.S4, V4.S4
	VSHL   $31, V5.S4, V5.S4
	VSHL   $31, V6.S4, V6.S4
	VSHL   $31, V7.S4, V7.S4
	WORD   $0x6e20dc08                          // fmul v8.4s, v0.4s, v0.4s
	WORD   $0x6e21dc29                          // fmul v9.4s, v1.4s, v1.4s
	WORD   $0x6e22dc4a                          // fmul v10.4s, v2.4s, v2.4s
	WORD   $0x6e23dc6b                          // fmul v11.4s, v3.4s, v3.4s
	VEOR   V4.B16, V0.B16, V0.B16
	VEOR   V5.B16, V1.B16, V1.B16
	VEOR   V6.B16, V2.B16, V2.B16
	VEOR   V7.B16, V3.B16, V3.B16
	VMOV   V24.B16, V12.B16
	VFMLA  V8.S4, V25.S4, V12.S4
	VMOV   V24.B16, V13.B16
	VFMLA  V9.S4, V25.S4, V13.S4
	VMOV   V24.B16, V14.B16
	VFMLA  V10.S4, V25.S4, V14.S4
	VMOV   V24.B16, V15.B16
	VFMLA  V11.S4, V25.S4, V15.S4
	VMOV   V23.B16, V4.B16
	VFMLA  V8.S4, V12.S4, V4.S4
	VMOV   V23.B16, V5.B16
	VFMLA  V9.S4, V13.S4, V5.S4
	VMOV   V23.B16, V6.B16
	VFMLA  V10.S4, V14.S4, V6.S4
	VMOV   V23.B16, V7.B16
	VFMLA  V11.S4, V15.S4, V7.S4
	VMOV   V22.B16, V12.B16
	VFMLA  V8.S4, V4.S4, V12.S4
	VMOV   V22.B16, V13.B16
	VFMLA  V9.S4, V5.S4, V13.S4
	VMOV   V22.B16, V14.B16
	VFMLA  V10.S4, V6.S4, V14.S4
	VMOV   V22.B16, V15.B16
	VFMLA  V11.S4, V7.S4, V15.S4
	WORD   $0x6e20dd08                          // fmul v8.4s, v8.4s, v0.4s
	WORD   $0x6e21dd29                          // fmul v9.4s, v9.4s, v1.4s
	WORD   $0x6e22dd4a                          // fmul v10.4s, v10.4s, v2.4s
	WORD   $0x6e23dd6b                          // fmul v11.4s, v11.4s, v3.4s
	VMOV   V0.B16, V4.B16
	VFMLA  V8.S4, V12.S4, V4.S4
	VMOV   V1.B16, V5.B16
	VFMLA  V9.S4, V13.S4, V5.S4
	VMOV   V2.B16, V6.B16
	VFMLA  V10.S4, V14.S4, V6.S4
	VMOV   V3.B16, V7.B16
	VFMLA  V11.S4, V15.S4, V7.S4
	VBIT   V26.B16, V0.B16, V4.B16
	VBIT   V26.B16, V1.B16, V5.B16
	VBIT   V26.B16, V2.B16, V6.B16
	VBIT   V26.B16, V3.B16, V7.B16
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1   (R2), [V0.S4]
	WORD   $0x6e30ec04             // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6eb0a884             // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, done
	ADD    $16, R2
	VMOV   V27.B16, V4.B16
	VFMLA  V18.S4, V0.S4, V4.S4
	WORD   $0x4e31d484             // fadd v4.4s, v4.4s, v17.4s
	WORD   $0x4eb1d488             // fsub v8.4s, v4.4s, v17.4s
	WORD   $0x4ebbd508             // fsub v8.4s, v8.4s, v27.4s
	VFMLS  V8.S4, V19.S4, V0.S4
	VFMLS  V8.S4, V20.S4, V0.S4
	VFMLS  V8.S4, V21.S4, V0.S4
	VSHL   $31, V4.S4, V4.S4
	WORD   $0x6e20dc08             // fmul v8.4s, v0.4s, v0.4s
	VEOR   V4.B16, V0.B16, V0.B16
	VMOV   V24.B16, V12.B16
	VFMLA  V8.S4, V25.S4, V12.S4
	VMOV   V23.B16, V4.B16
	VFMLA  V8.S4, V12.S4, V4.S4
	VMOV   V22.B16, V12.B16
	VFMLA  V8.S4, V4.S4, V12.S4
	WORD   $0x6e20dd08             // fmul v8.4s, v8.4s, v0.4s
	VMOV   V0.B16, V4.B16
	VFMLA  V8.S4, V12.S4, V4.S4
	VBIT   V26.B16, V0.B16, V4.B16
	VST1.P [V4.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

	B done

stop:
	ADD $16, R0

done:
	MOVD n+0(FP), R1
	SUB  R0, R1
	MOVD R1, ret+24(FP)
	RET

DATA sinCosTable<>+0x00(SB)/4, $0x47800000 // limit
DATA sinCosTable<>+0x04(SB)/4, $0x4b400000 // 1.5*2^23
DATA sinCosTable<>+0x08(SB)/4, $0x3f22f983 // 2/pi
DATA sinCosTable<>+0x0c(SB)/4, $0x3fc90fda // pi/2, three summands
DATA sinCosTable<>+0x10(SB)/4, $0x33a22168
DATA sinCosTable<>+0x14(SB)/4, $0x27c234c4
DATA sinCosTable<>+0x18(SB)/4, $0xbe2aaaa3 // sine: r^3
DATA sinCosTable<>+0x1c(SB)/4, $0x3c0883bb // r^5
DATA sinCosTable<>+0x20(SB)/4, $0xb94ca97d // r^7
DATA sinCosTable<>+0x24(SB)/4, $0x80000000 // sign
DATA sinCosTable<>+0x28(SB)/4, $0x3d2aaaa5 // cosine: r^4
DATA sinCosTable<>+0x2c(SB)/4, $0xbab60614 // r^6
DATA sinCosTable<>+0x30(SB)/4, $0x37ccf406 // r^8
DATA sinCosTable<>+0x34(SB)/4, $0xbf000000 // r^2
DATA sinCosTable<>+0x38(SB)/4, $0x3f800000 // 1
DATA sinCosTable<>+0x3c(SB)/4, $0x00000001 // integer 1
GLOBL sinCosTable<>(SB), RODATA|NOPTR, $64

// func sinCosNEON(n int, s, c, x *float32) int
//
//    t := x*(2/pi) + 1.5*2^23
//    q := t - 1.5*2^23
//    r := x - q*pi0 - q*pi1 - q*pi2 // of pi/2
//    sin := r + r^3*(c3 + c5*r^2 + c7*r^4)
//    cos := 1 + r^2*(-1/2 + r^2*(c4 + c6*r^2 + c8*r^4))
//    if t&1 != 0 {
//        sin, cos = cos, sin
//    }
//    sin, cos = sin * (-1)^bit1(t), cos * (-1)^bit1(t+1)
//
// Constants leave room for three vectors only beside them, so two are taken at
// a time. V0, V1 r; V2, V3 t; V4, V5 q, then r^2; V6, V7 sine; V8, V9 cosine;
// V10-V13 temporaries.
TEXT ·sinCosNEON(SB), NOSPLIT, $0-40
	MOVD    n+0(FP), R0
	MOVD    s+8(FP), R1
	MOVD    c+16(FP), R2
	MOVD    x+24(FP), R3
	MOVD    $sinCosTable<>(SB), R9
	VLD1R.P 4(R9), [V16.S4]
	VLD1R.P 4(R9), [V17.S4]
	VLD1R.P 4(R9), [V18.S4]
	VLD1R.P 4(R9), [V19.S4]
	VLD1R.P 4(R9), [V20.S4]
	VLD1R.P 4(R9), [V21.S4]
	VLD1R.P 4(R9), [V22.S4]
	VLD1R.P 4(R9), [V23.S4]
	VLD1R.P 4(R9), [V24.S4]
	VLD1R.P 4(R9), [V25.S4]
	VLD1R.P 4(R9), [V26.S4]
	VLD1R.P 4(R9), [V27.S4]
	VLD1R.P 4(R9), [V28.S4]
	VLD1R.P 4(R9), [V29.S4]
	VLD1R.P 4(R9), [V30.S4]
	VLD1R.P 4(R9), [V31.S4]
	SUBS    $8, R0
	BLT     tail

loop:
	VLD1   (R3), [V0.S4, V1.S4]
	WORD   $0x6e30ec04               // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6e30ec25               // facge v5.4s, v1.4s, v16.4s
	VORR   V5.B16, V4.B16, V4.B16
	WORD   $0x6eb0a884               // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, stop
	ADD    $32, R3
	VMOV   V17.B16, V2.B16
	VFMLA  V18.S4, V0.S4, V2.S4
	VMOV   V17.B16, V3.B16
	VFMLA  V18.S4, V1.S4, V3.S4
	WORD   $0x4eb1d444               // fsub v4.4s, v2.4s, v17.4s
	WORD   $0x4eb1d465               // fsub v5.4s, v3.4s, v17.4s
	VFMLS  V4.S4, V19.S4, V0.S4
	VFMLS  V5.S4, V19.S4, V1.S4
	VFMLS  V4.S4, V20.S4, V0.S4
	VFMLS  V5.S4, V20.S4, V1.S4
	VFMLS  V4.S4, V21.S4, V0.S4
	VFMLS  V5.S4, V21.S4, V1.S4
	WORD   $0x6e20dc04               // fmul v4.4s, v0.4s, v0.4s
	WORD   $0x6e21dc25               // fmul v5.4s, v1.4s, v1.4s
	VMOV   V23.B16, V6.B16
	VFMLA  V4.S4, V24.S4, V6.S4
	VMOV   V23.B16, V7.B16
	VFMLA  V5.S4, V24.S4, V7.S4
	VMOV   V22.B16, V10.B16
	VFMLA  V4.S4, V6.S4, V10.S4
	VMOV   V22.B16, V11.B16
	VFMLA  V5.S4, V7.S4, V11.S4
	WORD   $0x6e20dc8c               // fmul v12.4s, v4.4s, v0.4s
	WORD   $0x6e21dcad               // fmul v13.4s, v5.4s, v1.4s
	VMOV   V0.B16, V6.B16
	VFMLA  V12.S4, V10.S4, V6.S4
	VMOV   V1.B16, V7.B16
	VFMLA  V13.S4, V11.S4, V7.S4
	VBIT   V25.B16, V0.B16, V6.B16
	VBIT   V25.B16, V1.B16, V7.B16
	VMOV   V27.B16, V8.B16
	VFMLA  V4.S4, V28.S4, V8.S4
	VMOV   V27.B16, V9.B16
	VFMLA  V5.S4, V28.S4, V9.S4
	VMOV   V26.B16, V10.B16
	VFMLA  V4.S4, V8.S4, V10.S4
	VMOV   V26.B16, V11.B16
	VFMLA  V5.S4, V9.S4, V11.S4
	VMOV   V29.B16, V8.B16
	VFMLA  V4.S4, V10.S4, V8.S4
	VMOV   V29.B16, V9.B16
	VFMLA  V5.S4, V11.S4, V9.S4
	VMOV   V30.B16, V10.B16
	VFMLA  V4.S4, V8.S4, V10.S4
	VMOV   V30.B16, V11.B16
	VFMLA  V5.S4, V9.S4, V11.S4
	VCMTST V31.S4, V2.S4, V4.S4
	VCMTST V31.S4, V3.S4, V5.S4
	VMOV   V6.B16, V0.B16
	VBIT   V4.B16, V10.B16, V0.B16
	VMOV   V7.B16, V1.B16
	VBIT   V5.B16, V11.B16, V1.B16
	VMOV   V10.B16, V8.B16
	VBIT   V4.B16, V6.B16, V8.B16
	VMOV   V11.B16, V9.B16
	VBIT   V5.B16, V7.B16, V9.B16
	VADD   V31.S4, V2.S4, V12.S4
	VADD   V31.S4, V3.S4, V13.S4
	VSHL   $30, V2.S4, V2.S4
	VSHL   $30, V12.S4, V12.S4
	VSHL   $30, V3.S4, V3.S4
	VSHL   $30, V13.S4, V13.S4
	VAND   V25.B16, V2.B16, V2.B16
	VAND   V25.B16, V12.B16, V12.B16
	VAND   V25.B16, V3.B16, V3.B16
	VAND   V25.B16, V13.B16, V13.B16
	VEOR   V2.B16, V0.B16, V0.B16
	VEOR   V12.B16, V8.B16, V8.B16
	VEOR   V3.B16, V1.B16, V1.B16
	VEOR   V13.B16, V9.B16, V9.B16
	VST1.P [V0.S4, V1.S4], 32(R1)
	VST1.P [V8.S4, V9.S4], 32(R2)
	SUBS   $8, R0
	BGE    loop

tail:
	ADDS $8, R0
	BEQ  done

loop4:
	VLD1   (R3), [V0.S4]
	WORD   $0x6e30ec04               // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6eb0a884               // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, done
	ADD    $16, R3
	VMOV   V17.B16, V2.B16
	VFMLA  V18.S4, V0.S4, V2.S4
	WORD   $0x4eb1d444               // fsub v4.4s, v2.4s, v17.4s
	VFMLS  V4.S4, V19.S4, V0.S4
	VFMLS  V4.S4, V20.S4, V0.S4
	VFMLS  V4.S4, V21.S4, V0.S4
	WORD   $0x6e20dc04               // fmul v4.4s, v0.4s, v0.4s
	VMOV   V23.B16, V6.B16
	VFMLA  V4.S4, V24.S4, V6.S4
	VMOV   V22.B16, V10.B16
	VFMLA  V4.S4, V6.S4, V10.S4
	WORD   $0x6e20dc8c               // fmul v12.4s, v4.4s, v0.4s
	VMOV   V0.B16, V6.B16
	VFMLA  V12.S4, V10.S4, V6.S4
	VBIT   V25.B16, V0.B16, V6.B16
	VMOV   V27.B16, V8.B16
	VFMLA  V4.S4, V28.S4, V8.S4
	VMOV   V26.B16, V10.B16
	VFMLA  V4.S4, V8.S4, V10.S4
	VMOV   V29.B16, V8.B16
	VFMLA  V4.S4, V10.S4, V8.S4
	VMOV   V30.B16, V10.B16
	VFMLA  V4.S4, V8.S4, V10.S4
	VCMTST V31.S4, V2.S4, V4.S4
	VMOV   V6.B16, V0.B16
	VBIT   V4.B16, V10.B16, V0.B16
	VMOV   V10.B16, V8.B16
	VBIT   V4.B16, V6.B16, V8.B16
	VADD   V31.S4, V2.S4, V12.S4
	VSHL   $30, V2.S4, V2.S4
	VSHL   $30, V12.S4, V12.S4
	VAND   V25.B16, V2.B16, V2.B16
	VAND   V25.B16, V12.B16, V12.B16
	VEOR   V2.B16, V0.B16, V0.B16
	VEOR   V12.B16, V8.B16, V8.B16
	VST1.P [V0.S4], 16(R1)
	VST1.P [V8.S4], 16(R2)
	SUBS   $4, R0
	BGT    loop4

	B done

stop:
	ADD $8, R0

done:
	MOVD n+0(FP), R1
	SUB  R0, R1
	MOVD R1, ret+32(FP)
	RET
