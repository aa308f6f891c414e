//go:build !noasm

#include "textflag.h"

// Sine and cosine. The argument is reduced by the nearest multiple of a constant
// that is split into three float32 summands, and a polynomial (minimax for the
// relative error) finishes. The nearest integer comes from adding 1.5*2^23: the
// lowest bits of the sum are those of the integer.
//
// The reduction is exact enough below limit = 65536. The kernels stop at the
// first block that holds a larger or infinite value and return how many values
// they have done; the caller takes the block another way. n > 0 is a multiple of
// 4. A loop of several vectors is followed by one that takes a single vector with
// the same arithmetic. The arithmetic is that of the kernels of amd64, so the
// results are the same, too.
//
// R0 n, counts down; R1, R2, R3 the slices in the order of the arguments;
// V0-V3 x, r, result; V4-V7 y; V8-V11 k, then r*r; V12-V15 q; from V16
// constants.

DATA sinTable<>+0x00(SB)/4, $0x47800000 // limit
DATA sinTable<>+0x04(SB)/4, $0x4b400000 // 1.5*2^23
DATA sinTable<>+0x08(SB)/4, $0x3ea2f983 // 1/pi
DATA sinTable<>+0x0c(SB)/4, $0x40490fda // pi, three summands
DATA sinTable<>+0x10(SB)/4, $0x34222168
DATA sinTable<>+0x14(SB)/4, $0x284234c4
DATA sinTable<>+0x18(SB)/4, $0xbe2aaaa6 // S3
DATA sinTable<>+0x1c(SB)/4, $0x3c08876a // S5
DATA sinTable<>+0x20(SB)/4, $0xb94fb791 // S7
DATA sinTable<>+0x24(SB)/4, $0x362ed418 // S9
GLOBL sinTable<>(SB), RODATA|NOPTR, $40

// func sinNEON(n int, dst, x *float32) int
//
//    y := x*(1/pi) + 1.5*2^23 // fused, as all that follows
//    k := y - 1.5*2^23
//    r := x - k*pi0 - k*pi1 - k*pi2
//    s := r*r
//    q := S3 + s*(S5 + s*(S7 + s*S9))
//    dst = r + (s*r + 0)*q // s*r + 0 is never -0, so the sign of zero stays
//    if y&1 != 0 { // sin(r + k*pi) = (-1)^k * sin(r)
//        dst = -dst
//    }
//
// V26-V29 are temporaries here.
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
	WORD   $0x6e20dc08                          // fmul v8.4s, v0.4s, v0.4s
	WORD   $0x6e21dc29                          // fmul v9.4s, v1.4s, v1.4s
	WORD   $0x6e22dc4a                          // fmul v10.4s, v2.4s, v2.4s
	WORD   $0x6e23dc6b                          // fmul v11.4s, v3.4s, v3.4s
	VSHL   $31, V4.S4, V4.S4
	VSHL   $31, V5.S4, V5.S4
	VSHL   $31, V6.S4, V6.S4
	VSHL   $31, V7.S4, V7.S4
	VMOV   V24.B16, V12.B16
	VFMLA  V8.S4, V25.S4, V12.S4
	VMOV   V24.B16, V13.B16
	VFMLA  V9.S4, V25.S4, V13.S4
	VMOV   V24.B16, V14.B16
	VFMLA  V10.S4, V25.S4, V14.S4
	VMOV   V24.B16, V15.B16
	VFMLA  V11.S4, V25.S4, V15.S4
	VMOV   V23.B16, V26.B16
	VFMLA  V8.S4, V12.S4, V26.S4
	VMOV   V23.B16, V27.B16
	VFMLA  V9.S4, V13.S4, V27.S4
	VMOV   V23.B16, V28.B16
	VFMLA  V10.S4, V14.S4, V28.S4
	VMOV   V23.B16, V29.B16
	VFMLA  V11.S4, V15.S4, V29.S4
	VMOV   V22.B16, V12.B16
	VFMLA  V8.S4, V26.S4, V12.S4
	VMOV   V22.B16, V13.B16
	VFMLA  V9.S4, V27.S4, V13.S4
	VMOV   V22.B16, V14.B16
	VFMLA  V10.S4, V28.S4, V14.S4
	VMOV   V22.B16, V15.B16
	VFMLA  V11.S4, V29.S4, V15.S4
	VEOR   V26.B16, V26.B16, V26.B16
	VFMLA  V0.S4, V8.S4, V26.S4
	VEOR   V27.B16, V27.B16, V27.B16
	VFMLA  V1.S4, V9.S4, V27.S4
	VEOR   V28.B16, V28.B16, V28.B16
	VFMLA  V2.S4, V10.S4, V28.S4
	VEOR   V29.B16, V29.B16, V29.B16
	VFMLA  V3.S4, V11.S4, V29.S4
	VFMLA  V12.S4, V26.S4, V0.S4
	VFMLA  V13.S4, V27.S4, V1.S4
	VFMLA  V14.S4, V28.S4, V2.S4
	VFMLA  V15.S4, V29.S4, V3.S4
	VEOR   V4.B16, V0.B16, V0.B16
	VEOR   V5.B16, V1.B16, V1.B16
	VEOR   V6.B16, V2.B16, V2.B16
	VEOR   V7.B16, V3.B16, V3.B16
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R1)
	SUBS   $16, R0
	BGE    loop

tail:
	ADDS $16, R0
	BEQ  done

loop4:
	VLD1   (R2), [V0.S4]
	WORD   $0x6e30ec04               // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6eb0a884               // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, done
	ADD    $16, R2
	VMOV   V17.B16, V4.B16
	VFMLA  V18.S4, V0.S4, V4.S4
	WORD   $0x4eb1d488               // fsub v8.4s, v4.4s, v17.4s
	VFMLS  V8.S4, V19.S4, V0.S4
	VFMLS  V8.S4, V20.S4, V0.S4
	VFMLS  V8.S4, V21.S4, V0.S4
	WORD   $0x6e20dc08               // fmul v8.4s, v0.4s, v0.4s
	VSHL   $31, V4.S4, V4.S4
	VMOV   V24.B16, V12.B16
	VFMLA  V8.S4, V25.S4, V12.S4
	VMOV   V23.B16, V26.B16
	VFMLA  V8.S4, V12.S4, V26.S4
	VMOV   V22.B16, V12.B16
	VFMLA  V8.S4, V26.S4, V12.S4
	VEOR   V26.B16, V26.B16, V26.B16
	VFMLA  V0.S4, V8.S4, V26.S4
	VFMLA  V12.S4, V26.S4, V0.S4
	VEOR   V4.B16, V0.B16, V0.B16
	VST1.P [V0.S4], 16(R1)
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
DATA sinCosTable<>+0x18(SB)/4, $0xbe2aaaa2 // T3
DATA sinCosTable<>+0x1c(SB)/4, $0x3c088363 // T5
DATA sinCosTable<>+0x20(SB)/4, $0xb94c8e13 // T7
DATA sinCosTable<>+0x24(SB)/4, $0x80000000 // sign
DATA sinCosTable<>+0x28(SB)/4, $0x3d2aaaa5 // C4
DATA sinCosTable<>+0x2c(SB)/4, $0xbab6060a // C6
DATA sinCosTable<>+0x30(SB)/4, $0x37ccef34 // C8
DATA sinCosTable<>+0x34(SB)/4, $0xbf000000 // -1/2
DATA sinCosTable<>+0x38(SB)/4, $0x3f800000 // 1
DATA sinCosTable<>+0x3c(SB)/4, $0x00000001 // integer 1
GLOBL sinCosTable<>(SB), RODATA|NOPTR, $64

// func sinCosNEON(n int, s, c, x *float32) int
//
//    y := x*(2/pi) + 1.5*2^23
//    k := y - 1.5*2^23
//    r := x - k*h0 - k*h1 - k*h2 // pi/2 in parts
//    s := r*r
//    sin := r + (s*r + 0)*(T3 + s*(T5 + s*T7))
//    cos := 1 + s*(-1/2 + s*(C4 + s*(C6 + s*C8)))
//    if y&1 != 0 {
//        sin, cos = cos, sin
//    }
//    sin, cos = sin * (-1)^bit1(y), cos * (-1)^bit1(y+1)
//
// The constants leave room for two vectors at a time: V0, V1 x, r, sine;
// V2, V3 y; V4, V5 k, then s; V6, V7 polynomial of the sine; V8, V9 cosine;
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
	VMOV   V23.B16, V10.B16
	VFMLA  V4.S4, V24.S4, V10.S4
	VMOV   V23.B16, V11.B16
	VFMLA  V5.S4, V24.S4, V11.S4
	VMOV   V22.B16, V6.B16
	VFMLA  V4.S4, V10.S4, V6.S4
	VMOV   V22.B16, V7.B16
	VFMLA  V5.S4, V11.S4, V7.S4
	VEOR   V12.B16, V12.B16, V12.B16
	VFMLA  V0.S4, V4.S4, V12.S4
	VEOR   V13.B16, V13.B16, V13.B16
	VFMLA  V1.S4, V5.S4, V13.S4
	VFMLA  V6.S4, V12.S4, V0.S4
	VFMLA  V7.S4, V13.S4, V1.S4
	VMOV   V27.B16, V8.B16
	VFMLA  V4.S4, V28.S4, V8.S4
	VMOV   V27.B16, V9.B16
	VFMLA  V5.S4, V28.S4, V9.S4
	VMOV   V26.B16, V10.B16
	VFMLA  V4.S4, V8.S4, V10.S4
	VMOV   V26.B16, V11.B16
	VFMLA  V5.S4, V9.S4, V11.S4
	VMOV   V29.B16, V12.B16
	VFMLA  V4.S4, V10.S4, V12.S4
	VMOV   V29.B16, V13.B16
	VFMLA  V5.S4, V11.S4, V13.S4
	VMOV   V30.B16, V8.B16
	VFMLA  V4.S4, V12.S4, V8.S4
	VMOV   V30.B16, V9.B16
	VFMLA  V5.S4, V13.S4, V9.S4
	VCMTST V31.S4, V2.S4, V4.S4
	VCMTST V31.S4, V3.S4, V5.S4
	VMOV   V0.B16, V10.B16
	VMOV   V1.B16, V11.B16
	VBIT   V4.B16, V8.B16, V0.B16
	VBIT   V5.B16, V9.B16, V1.B16
	VBIT   V4.B16, V10.B16, V8.B16
	VBIT   V5.B16, V11.B16, V9.B16
	VADD   V31.S4, V2.S4, V12.S4
	VSHL   $30, V12.S4, V12.S4
	VAND   V25.B16, V12.B16, V12.B16
	VEOR   V12.B16, V8.B16, V8.B16
	VADD   V31.S4, V3.S4, V13.S4
	VSHL   $30, V13.S4, V13.S4
	VAND   V25.B16, V13.B16, V13.B16
	VEOR   V13.B16, V9.B16, V9.B16
	VSHL   $30, V2.S4, V2.S4
	VAND   V25.B16, V2.B16, V2.B16
	VEOR   V2.B16, V0.B16, V0.B16
	VSHL   $30, V3.S4, V3.S4
	VAND   V25.B16, V3.B16, V3.B16
	VEOR   V3.B16, V1.B16, V1.B16
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
	VMOV   V23.B16, V10.B16
	VFMLA  V4.S4, V24.S4, V10.S4
	VMOV   V22.B16, V6.B16
	VFMLA  V4.S4, V10.S4, V6.S4
	VEOR   V12.B16, V12.B16, V12.B16
	VFMLA  V0.S4, V4.S4, V12.S4
	VFMLA  V6.S4, V12.S4, V0.S4
	VMOV   V27.B16, V8.B16
	VFMLA  V4.S4, V28.S4, V8.S4
	VMOV   V26.B16, V10.B16
	VFMLA  V4.S4, V8.S4, V10.S4
	VMOV   V29.B16, V12.B16
	VFMLA  V4.S4, V10.S4, V12.S4
	VMOV   V30.B16, V8.B16
	VFMLA  V4.S4, V12.S4, V8.S4
	VCMTST V31.S4, V2.S4, V4.S4
	VMOV   V0.B16, V10.B16
	VBIT   V4.B16, V8.B16, V0.B16
	VBIT   V4.B16, V10.B16, V8.B16
	VADD   V31.S4, V2.S4, V12.S4
	VSHL   $30, V12.S4, V12.S4
	VAND   V25.B16, V12.B16, V12.B16
	VEOR   V12.B16, V8.B16, V8.B16
	VSHL   $30, V2.S4, V2.S4
	VAND   V25.B16, V2.B16, V2.B16
	VEOR   V2.B16, V0.B16, V0.B16
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

// func cosNEON(n int, dst, x *float32) int
//
// The cosine of sinCosNEON, which never exceeds 1: its polynomial starts there.
TEXT ·cosNEON(SB), NOSPLIT, $0-32
	MOVD    n+0(FP), R0
	MOVD    dst+8(FP), R1
	MOVD    x+16(FP), R2
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
	VLD1   (R2), [V0.S4, V1.S4]
	WORD   $0x6e30ec04               // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6e30ec25               // facge v5.4s, v1.4s, v16.4s
	VORR   V5.B16, V4.B16, V4.B16
	WORD   $0x6eb0a884               // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, stop
	ADD    $32, R2
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
	VMOV   V23.B16, V10.B16
	VFMLA  V4.S4, V24.S4, V10.S4
	VMOV   V23.B16, V11.B16
	VFMLA  V5.S4, V24.S4, V11.S4
	VMOV   V22.B16, V6.B16
	VFMLA  V4.S4, V10.S4, V6.S4
	VMOV   V22.B16, V7.B16
	VFMLA  V5.S4, V11.S4, V7.S4
	VEOR   V12.B16, V12.B16, V12.B16
	VFMLA  V0.S4, V4.S4, V12.S4
	VEOR   V13.B16, V13.B16, V13.B16
	VFMLA  V1.S4, V5.S4, V13.S4
	VFMLA  V6.S4, V12.S4, V0.S4
	VFMLA  V7.S4, V13.S4, V1.S4
	VMOV   V27.B16, V8.B16
	VFMLA  V4.S4, V28.S4, V8.S4
	VMOV   V27.B16, V9.B16
	VFMLA  V5.S4, V28.S4, V9.S4
	VMOV   V26.B16, V10.B16
	VFMLA  V4.S4, V8.S4, V10.S4
	VMOV   V26.B16, V11.B16
	VFMLA  V5.S4, V9.S4, V11.S4
	VMOV   V29.B16, V12.B16
	VFMLA  V4.S4, V10.S4, V12.S4
	VMOV   V29.B16, V13.B16
	VFMLA  V5.S4, V11.S4, V13.S4
	VMOV   V30.B16, V8.B16
	VFMLA  V4.S4, V12.S4, V8.S4
	VMOV   V30.B16, V9.B16
	VFMLA  V5.S4, V13.S4, V9.S4
	VCMTST V31.S4, V2.S4, V4.S4
	VCMTST V31.S4, V3.S4, V5.S4
	VBIT   V4.B16, V0.B16, V8.B16
	VBIT   V5.B16, V1.B16, V9.B16
	VADD   V31.S4, V2.S4, V12.S4
	VSHL   $30, V12.S4, V12.S4
	VAND   V25.B16, V12.B16, V12.B16
	VEOR   V12.B16, V8.B16, V8.B16
	VADD   V31.S4, V3.S4, V13.S4
	VSHL   $30, V13.S4, V13.S4
	VAND   V25.B16, V13.B16, V13.B16
	VEOR   V13.B16, V9.B16, V9.B16
	VST1.P [V8.S4, V9.S4], 32(R1)
	SUBS   $8, R0
	BGE    loop

tail:
	ADDS $8, R0
	BEQ  done

loop4:
	VLD1   (R2), [V0.S4]
	WORD   $0x6e30ec04               // facge v4.4s, v0.4s, v16.4s
	WORD   $0x6eb0a884               // umaxv s4, v4.4s
	FMOVS  F4, R10
	CBNZW  R10, done
	ADD    $16, R2
	VMOV   V17.B16, V2.B16
	VFMLA  V18.S4, V0.S4, V2.S4
	WORD   $0x4eb1d444               // fsub v4.4s, v2.4s, v17.4s
	VFMLS  V4.S4, V19.S4, V0.S4
	VFMLS  V4.S4, V20.S4, V0.S4
	VFMLS  V4.S4, V21.S4, V0.S4
	WORD   $0x6e20dc04               // fmul v4.4s, v0.4s, v0.4s
	VMOV   V23.B16, V10.B16
	VFMLA  V4.S4, V24.S4, V10.S4
	VMOV   V22.B16, V6.B16
	VFMLA  V4.S4, V10.S4, V6.S4
	VEOR   V12.B16, V12.B16, V12.B16
	VFMLA  V0.S4, V4.S4, V12.S4
	VFMLA  V6.S4, V12.S4, V0.S4
	VMOV   V27.B16, V8.B16
	VFMLA  V4.S4, V28.S4, V8.S4
	VMOV   V26.B16, V10.B16
	VFMLA  V4.S4, V8.S4, V10.S4
	VMOV   V29.B16, V12.B16
	VFMLA  V4.S4, V10.S4, V12.S4
	VMOV   V30.B16, V8.B16
	VFMLA  V4.S4, V12.S4, V8.S4
	VCMTST V31.S4, V2.S4, V4.S4
	VBIT   V4.B16, V0.B16, V8.B16
	VADD   V31.S4, V2.S4, V12.S4
	VSHL   $30, V12.S4, V12.S4
	VAND   V25.B16, V12.B16, V12.B16
	VEOR   V12.B16, V8.B16, V8.B16
	VST1.P [V8.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

	B done

stop:
	ADD $8, R0

done:
	MOVD n+0(FP), R1
	SUB  R0, R1
	MOVD R1, ret+24(FP)
	RET
