//go:build !noasm

#include "textflag.h"

// Exponential and logarithm. n > 0 is a multiple of 4; a loop of several vectors
// is followed by one that takes a single vector with the same arithmetic. The
// polynomials are minimax for the relative error.
//
// R0 n, counts down; R1 dst; R2 x

DATA expTable<>+0x00(SB)/4, $0x3fb8aa3b // log2(e)
DATA expTable<>+0x04(SB)/4, $0x3f317200 // ln(2), two summands
DATA expTable<>+0x08(SB)/4, $0x35bfbe8e
DATA expTable<>+0x0c(SB)/4, $0x3efffffe // E2
DATA expTable<>+0x10(SB)/4, $0x3e2aaa45 // E3
DATA expTable<>+0x14(SB)/4, $0x3d2aac27 // E4
DATA expTable<>+0x18(SB)/4, $0x3c091f97 // E5
DATA expTable<>+0x1c(SB)/4, $0x3ab56891 // E6
DATA expTable<>+0x20(SB)/4, $0x3f800000 // 1
DATA expTable<>+0x24(SB)/4, $0xc2aeac4f // least argument with a normal result, -87.33654
DATA expTable<>+0x28(SB)/4, $0x42b17217 // greatest argument with a finite result, 88.72283
DATA expTable<>+0x2c(SB)/4, $0x7f800000 // +Inf
DATA expTable<>+0x30(SB)/4, $0x4b400000 // 1.5*2^23
GLOBL expTable<>(SB), RODATA|NOPTR, $52

// func expNEON(n int, dst, x *float32)
//
//    k := x*log2(e) + 1.5*2^23 - 1.5*2^23 // fused; the nearest integer
//    r := x - k*ln2hi - k*ln2lo
//    p := 1 + r*(1 + r*(E2 + r*(E3 + r*(E4 + r*(E5 + r*E6)))))
//    dst = p * 2^k // by adding k to the exponent
//    if x < least {
//        dst = 0
//    }
//    if x > greatest {
//        dst = +Inf
//    }
//
// Between least and greatest the exponent cannot leave its field. The conversion
// to an integer takes NaN to 0, so NaN stays NaN.
//
// V0, V1 x; V2, V3 r; V4, V5 k; V6, V7 k as an integer; V8-V11 p; V16-V28
// constants.
TEXT ·expNEON(SB), NOSPLIT, $0-24
	MOVD    n+0(FP), R0
	MOVD    dst+8(FP), R1
	MOVD    x+16(FP), R2
	MOVD    $expTable<>(SB), R9
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
	SUBS    $8, R0
	BLT     tail

loop:
	VLD1   (R2), [V0.S4, V1.S4]
	ADD    $32, R2
	VMOV   V28.B16, V4.B16
	VFMLA  V16.S4, V0.S4, V4.S4
	VMOV   V28.B16, V5.B16
	VFMLA  V16.S4, V1.S4, V5.S4
	WORD   $0x4ebcd484              // fsub v4.4s, v4.4s, v28.4s
	WORD   $0x4ebcd4a5              // fsub v5.4s, v5.4s, v28.4s
	VMOV   V0.B16, V2.B16
	VMOV   V1.B16, V3.B16
	VFMLS  V4.S4, V17.S4, V2.S4
	VFMLS  V5.S4, V17.S4, V3.S4
	VFMLS  V4.S4, V18.S4, V2.S4
	VFMLS  V5.S4, V18.S4, V3.S4
	WORD   $0x4e21a886              // fcvtns v6.4s, v4.4s
	VSHL   $23, V6.S4, V6.S4
	WORD   $0x4e21a8a7              // fcvtns v7.4s, v5.4s
	VSHL   $23, V7.S4, V7.S4
	VMOV   V22.B16, V8.B16
	VFMLA  V2.S4, V23.S4, V8.S4
	VMOV   V22.B16, V9.B16
	VFMLA  V3.S4, V23.S4, V9.S4
	VMOV   V21.B16, V10.B16
	VFMLA  V2.S4, V8.S4, V10.S4
	VMOV   V21.B16, V11.B16
	VFMLA  V3.S4, V9.S4, V11.S4
	VMOV   V20.B16, V8.B16
	VFMLA  V2.S4, V10.S4, V8.S4
	VMOV   V20.B16, V9.B16
	VFMLA  V3.S4, V11.S4, V9.S4
	VMOV   V19.B16, V10.B16
	VFMLA  V2.S4, V8.S4, V10.S4
	VMOV   V19.B16, V11.B16
	VFMLA  V3.S4, V9.S4, V11.S4
	VMOV   V24.B16, V8.B16
	VFMLA  V2.S4, V10.S4, V8.S4
	VMOV   V24.B16, V9.B16
	VFMLA  V3.S4, V11.S4, V9.S4
	VMOV   V24.B16, V10.B16
	VFMLA  V2.S4, V8.S4, V10.S4
	VMOV   V24.B16, V11.B16
	VFMLA  V3.S4, V9.S4, V11.S4
	VADD   V6.S4, V10.S4, V10.S4
	VADD   V7.S4, V11.S4, V11.S4
	WORD   $0x6ea0e724              // fcmgt v4.4s, v25.4s, v0.4s
	WORD   $0x4e641d4a              // bic v10.16b, v10.16b, v4.16b
	WORD   $0x6ea1e725              // fcmgt v5.4s, v25.4s, v1.4s
	WORD   $0x4e651d6b              // bic v11.16b, v11.16b, v5.16b
	WORD   $0x6ebae404              // fcmgt v4.4s, v0.4s, v26.4s
	VBIT   V4.B16, V27.B16, V10.B16
	WORD   $0x6ebae425              // fcmgt v5.4s, v1.4s, v26.4s
	VBIT   V5.B16, V27.B16, V11.B16
	VST1.P [V10.S4, V11.S4], 32(R1)
	SUBS   $8, R0
	BGE    loop

tail:
	ADDS $8, R0
	BEQ  done

loop4:
	VLD1   (R2), [V0.S4]
	ADD    $16, R2
	VMOV   V28.B16, V4.B16
	VFMLA  V16.S4, V0.S4, V4.S4
	WORD   $0x4ebcd484              // fsub v4.4s, v4.4s, v28.4s
	VMOV   V0.B16, V2.B16
	VFMLS  V4.S4, V17.S4, V2.S4
	VFMLS  V4.S4, V18.S4, V2.S4
	WORD   $0x4e21a886              // fcvtns v6.4s, v4.4s
	VSHL   $23, V6.S4, V6.S4
	VMOV   V22.B16, V8.B16
	VFMLA  V2.S4, V23.S4, V8.S4
	VMOV   V21.B16, V10.B16
	VFMLA  V2.S4, V8.S4, V10.S4
	VMOV   V20.B16, V8.B16
	VFMLA  V2.S4, V10.S4, V8.S4
	VMOV   V19.B16, V10.B16
	VFMLA  V2.S4, V8.S4, V10.S4
	VMOV   V24.B16, V8.B16
	VFMLA  V2.S4, V10.S4, V8.S4
	VMOV   V24.B16, V10.B16
	VFMLA  V2.S4, V8.S4, V10.S4
	VADD   V6.S4, V10.S4, V10.S4
	WORD   $0x6ea0e724              // fcmgt v4.4s, v25.4s, v0.4s
	WORD   $0x4e641d4a              // bic v10.16b, v10.16b, v4.16b
	WORD   $0x6ebae404              // fcmgt v4.4s, v0.4s, v26.4s
	VBIT   V4.B16, V27.B16, V10.B16
	VST1.P [V10.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET

DATA logTable<>+0x00(SB)/4, $0x3eaaaad2 // L0
DATA logTable<>+0x04(SB)/4, $0xbe800025 // L1
DATA logTable<>+0x08(SB)/4, $0x3e4cb4cf // L2
DATA logTable<>+0x0c(SB)/4, $0xbe2a76cb // L3
DATA logTable<>+0x10(SB)/4, $0x3e14403d // L4
DATA logTable<>+0x14(SB)/4, $0xbe06cc78 // L5
DATA logTable<>+0x18(SB)/4, $0x3dd67a54 // L6
DATA logTable<>+0x1c(SB)/4, $0xbd38f196 // L7
DATA logTable<>+0x20(SB)/4, $0xbf000000 // -1/2
DATA logTable<>+0x24(SB)/4, $0x3f317200 // ln(2), two summands
DATA logTable<>+0x28(SB)/4, $0x35bfbe8e
DATA logTable<>+0x2c(SB)/4, $0x3f400000 // 3/4
DATA logTable<>+0x30(SB)/4, $0x007fffff // mantissa
DATA logTable<>+0x34(SB)/4, $0x3f800000 // 1
DATA logTable<>+0x38(SB)/4, $0x00800000 // least normal number
DATA logTable<>+0x3c(SB)/4, $0x4b000000 // 2^23
DATA logTable<>+0x40(SB)/4, $0x41b80000 // 23
DATA logTable<>+0x44(SB)/4, $0x7f800000 // +Inf
DATA logTable<>+0x48(SB)/4, $0xff800000 // -Inf
GLOBL logTable<>(SB), RODATA|NOPTR, $76

// func logNEON(n int, dst, x *float32)
//
//    d := 0
//    if y := x; y < 2^-126 {
//        y, d = y*2^23, 23 // denormal numbers become normal
//    }
//    b := bits(y) - bits(3/4)
//    e := b>>23 - d // y = m * 2^e with 3/4 <= m < 3/2
//    f := frombits(b&mantissa + bits(3/4)) - 1
//    q := L0 + f*(L1 + ... + f*L7) // fused
//    w := q*f*(f*f) + e*ln2lo - f*f/2 + f // added from left to right
//    dst = e*ln2hi + w
//    NaN for x < 0, -Inf for x = 0, x for +Inf and NaN
//
// V0, V1 x; V2, V3 y, then f; V4, V5 e; V6, V7 and V27, V28 q, w and f*f;
// V29, V30 masks; V8-V26 constants.
TEXT ·logNEON(SB), NOSPLIT, $0-24
	MOVD    n+0(FP), R0
	MOVD    dst+8(FP), R1
	MOVD    x+16(FP), R2
	MOVD    $logTable<>(SB), R9
	VLD1R.P 4(R9), [V8.S4]
	VLD1R.P 4(R9), [V9.S4]
	VLD1R.P 4(R9), [V10.S4]
	VLD1R.P 4(R9), [V11.S4]
	VLD1R.P 4(R9), [V12.S4]
	VLD1R.P 4(R9), [V13.S4]
	VLD1R.P 4(R9), [V14.S4]
	VLD1R.P 4(R9), [V15.S4]
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
	SUBS    $8, R0
	BLT     tail

loop:
	VLD1   (R2), [V0.S4, V1.S4]
	ADD    $32, R2
	WORD   $0x6ea0e6dd               // fcmgt v29.4s, v22.4s, v0.4s
	WORD   $0x6ea1e6de               // fcmgt v30.4s, v22.4s, v1.4s
	VMOV   V0.B16, V2.B16
	WORD   $0x6e37dc06               // fmul v6.4s, v0.4s, v23.4s
	VMOV   V1.B16, V3.B16
	WORD   $0x6e37dc27               // fmul v7.4s, v1.4s, v23.4s
	VBIT   V29.B16, V6.B16, V2.B16
	VAND   V24.B16, V29.B16, V29.B16
	VBIT   V30.B16, V7.B16, V3.B16
	VAND   V24.B16, V30.B16, V30.B16
	VSUB   V19.S4, V2.S4, V2.S4
	VSUB   V19.S4, V3.S4, V3.S4
	WORD   $0x4f290444               // sshr v4.4s, v2.4s, #23
	WORD   $0x4e21d884               // scvtf v4.4s, v4.4s
	WORD   $0x4ebdd484               // fsub v4.4s, v4.4s, v29.4s
	WORD   $0x4f290465               // sshr v5.4s, v3.4s, #23
	WORD   $0x4e21d8a5               // scvtf v5.4s, v5.4s
	WORD   $0x4ebed4a5               // fsub v5.4s, v5.4s, v30.4s
	VAND   V20.B16, V2.B16, V2.B16
	VADD   V19.S4, V2.S4, V2.S4
	WORD   $0x4eb5d442               // fsub v2.4s, v2.4s, v21.4s
	VAND   V20.B16, V3.B16, V3.B16
	VADD   V19.S4, V3.S4, V3.S4
	WORD   $0x4eb5d463               // fsub v3.4s, v3.4s, v21.4s
	VMOV   V14.B16, V6.B16
	VFMLA  V2.S4, V15.S4, V6.S4
	VMOV   V14.B16, V7.B16
	VFMLA  V3.S4, V15.S4, V7.S4
	VMOV   V13.B16, V27.B16
	VFMLA  V2.S4, V6.S4, V27.S4
	VMOV   V13.B16, V28.B16
	VFMLA  V3.S4, V7.S4, V28.S4
	VMOV   V12.B16, V6.B16
	VFMLA  V2.S4, V27.S4, V6.S4
	VMOV   V12.B16, V7.B16
	VFMLA  V3.S4, V28.S4, V7.S4
	VMOV   V11.B16, V27.B16
	VFMLA  V2.S4, V6.S4, V27.S4
	VMOV   V11.B16, V28.B16
	VFMLA  V3.S4, V7.S4, V28.S4
	VMOV   V10.B16, V6.B16
	VFMLA  V2.S4, V27.S4, V6.S4
	VMOV   V10.B16, V7.B16
	VFMLA  V3.S4, V28.S4, V7.S4
	VMOV   V9.B16, V27.B16
	VFMLA  V2.S4, V6.S4, V27.S4
	VMOV   V9.B16, V28.B16
	VFMLA  V3.S4, V7.S4, V28.S4
	VMOV   V8.B16, V6.B16
	VFMLA  V2.S4, V27.S4, V6.S4
	VMOV   V8.B16, V7.B16
	VFMLA  V3.S4, V28.S4, V7.S4
	WORD   $0x6e22dc5b               // fmul v27.4s, v2.4s, v2.4s
	WORD   $0x6e22dcc6               // fmul v6.4s, v6.4s, v2.4s
	WORD   $0x6e23dc7c               // fmul v28.4s, v3.4s, v3.4s
	WORD   $0x6e23dce7               // fmul v7.4s, v7.4s, v3.4s
	WORD   $0x6e3bdcc6               // fmul v6.4s, v6.4s, v27.4s
	WORD   $0x6e3cdce7               // fmul v7.4s, v7.4s, v28.4s
	VFMLA  V4.S4, V18.S4, V6.S4
	VFMLA  V5.S4, V18.S4, V7.S4
	VFMLA  V27.S4, V16.S4, V6.S4
	VFMLA  V28.S4, V16.S4, V7.S4
	WORD   $0x4e26d442               // fadd v2.4s, v2.4s, v6.4s
	WORD   $0x4e27d463               // fadd v3.4s, v3.4s, v7.4s
	VFMLA  V4.S4, V17.S4, V2.S4
	VFMLA  V5.S4, V17.S4, V3.S4
	WORD   $0x6ea0e73d               // fcmgt v29.4s, v25.4s, v0.4s
	WORD   $0x6efd1c02               // bif v2.16b, v0.16b, v29.16b
	WORD   $0x6ea1e73e               // fcmgt v30.4s, v25.4s, v1.4s
	WORD   $0x6efe1c23               // bif v3.16b, v1.16b, v30.16b
	WORD   $0x4ea0e81d               // fcmlt v29.4s, v0.4s, #0.0
	VORR   V29.B16, V2.B16, V2.B16
	WORD   $0x4ea0e83e               // fcmlt v30.4s, v1.4s, #0.0
	VORR   V30.B16, V3.B16, V3.B16
	WORD   $0x4ea0d81d               // fcmeq v29.4s, v0.4s, #0.0
	VBIT   V29.B16, V26.B16, V2.B16
	WORD   $0x4ea0d83e               // fcmeq v30.4s, v1.4s, #0.0
	VBIT   V30.B16, V26.B16, V3.B16
	VST1.P [V2.S4, V3.S4], 32(R1)
	SUBS   $8, R0
	BGE    loop

tail:
	ADDS $8, R0
	BEQ  done

loop4:
	VLD1   (R2), [V0.S4]
	ADD    $16, R2
	WORD   $0x6ea0e6dd               // fcmgt v29.4s, v22.4s, v0.4s
	VMOV   V0.B16, V2.B16
	WORD   $0x6e37dc06               // fmul v6.4s, v0.4s, v23.4s
	VBIT   V29.B16, V6.B16, V2.B16
	VAND   V24.B16, V29.B16, V29.B16
	VSUB   V19.S4, V2.S4, V2.S4
	WORD   $0x4f290444               // sshr v4.4s, v2.4s, #23
	WORD   $0x4e21d884               // scvtf v4.4s, v4.4s
	WORD   $0x4ebdd484               // fsub v4.4s, v4.4s, v29.4s
	VAND   V20.B16, V2.B16, V2.B16
	VADD   V19.S4, V2.S4, V2.S4
	WORD   $0x4eb5d442               // fsub v2.4s, v2.4s, v21.4s
	VMOV   V14.B16, V6.B16
	VFMLA  V2.S4, V15.S4, V6.S4
	VMOV   V13.B16, V27.B16
	VFMLA  V2.S4, V6.S4, V27.S4
	VMOV   V12.B16, V6.B16
	VFMLA  V2.S4, V27.S4, V6.S4
	VMOV   V11.B16, V27.B16
	VFMLA  V2.S4, V6.S4, V27.S4
	VMOV   V10.B16, V6.B16
	VFMLA  V2.S4, V27.S4, V6.S4
	VMOV   V9.B16, V27.B16
	VFMLA  V2.S4, V6.S4, V27.S4
	VMOV   V8.B16, V6.B16
	VFMLA  V2.S4, V27.S4, V6.S4
	WORD   $0x6e22dc5b               // fmul v27.4s, v2.4s, v2.4s
	WORD   $0x6e22dcc6               // fmul v6.4s, v6.4s, v2.4s
	WORD   $0x6e3bdcc6               // fmul v6.4s, v6.4s, v27.4s
	VFMLA  V4.S4, V18.S4, V6.S4
	VFMLA  V27.S4, V16.S4, V6.S4
	WORD   $0x4e26d442               // fadd v2.4s, v2.4s, v6.4s
	VFMLA  V4.S4, V17.S4, V2.S4
	WORD   $0x6ea0e73d               // fcmgt v29.4s, v25.4s, v0.4s
	WORD   $0x6efd1c02               // bif v2.16b, v0.16b, v29.16b
	WORD   $0x4ea0e81d               // fcmlt v29.4s, v0.4s, #0.0
	VORR   V29.B16, V2.B16, V2.B16
	WORD   $0x4ea0d81d               // fcmeq v29.4s, v0.4s, #0.0
	VBIT   V29.B16, V26.B16, V2.B16
	VST1.P [V2.S4], 16(R1)
	SUBS   $4, R0
	BGT    loop4

done:
	RET
