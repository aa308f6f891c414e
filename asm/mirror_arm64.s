//go:build !noasm

#include "textflag.h"

// A strip of GemmMirrored of at most 4 rows, tile by tile of 12, 8 or 4 columns. The even and
// the odd part take a step each in turn, as far as both have one, for more sums beside each
// other:
//
//    for j := 0; j < n; j += width {
//        E, O = 0, 0
//        for p := range both {
//            for i := range 4 {
//                E[i][:] += a0[p*lda+i] * b0[p*ldb+j:] // fused
//                O[i][:] += a1[p*lda+i] * b1[p*ldb+j:]
//            }
//        }
//        evenMore steps for E, and oddMore for O
//        for i := m - 1; i >= 0; i-- {
//            up[i*ldc+j:] (+)= E[i][:] + O[i][:]
//            down[(m-1-i)*ldc+j:] (+)= E[i][:] - O[i][:] // not for i = 0 if that is the middle
//        }
//    }
//
// Rows beyond m repeat the last one, and are not stored.
//
// R0 m; R1 columns left; R2 accumulate; R3 middle; R4 a0; R5 a1; R6 lda in bytes
// R7 b0, R8 b1, from the tile on; R9 ldb in bytes; R10 up, R11 down, from the tile on; R12 ldc in bytes
// R13-R15 bytes from a value of the first row of A to those of rows 1, 2 and 3
// R19-R22 run along a0, a1, b0 and b1; R23 steps left; at the end R19 up and R20 down
// V0-V2 row of B, then sums; V3-V6 values of A, then V3-V5 differences
// V8-V19 E, row by row; V20-V31 O

// func sgemmMirrored4x12NEON(m, n, both, evenMore, oddMore int, a0, a1 *float32, lda int, b0, b1 *float32, ldb int, up, down *float32, ldc int, middle, accumulate bool)
TEXT ·sgemmMirrored4x12NEON(SB), NOSPLIT, $0-114
	MOVD  m+0(FP), R0
	MOVD  n+8(FP), R1
	MOVD  a0+40(FP), R4
	MOVD  a1+48(FP), R5
	MOVD  lda+56(FP), R6
	MOVD  b0+64(FP), R7
	MOVD  b1+72(FP), R8
	MOVD  ldb+80(FP), R9
	MOVD  up+88(FP), R10
	MOVD  down+96(FP), R11
	MOVD  ldc+104(FP), R12
	MOVBU middle+112(FP), R3
	MOVBU accumulate+113(FP), R2
	LSL   $2, R6
	LSL   $2, R9
	LSL   $2, R12
	SUB   $1, R0, R13
	MUL   R12, R13, R14
	ADD   R14, R10               // the last row up comes first
	LSL   $2, R13, R15           // of the last row
	MOVD  $4, R13
	CMP   R15, R13
	CSEL  LT, R13, R15, R13
	MOVD  $8, R14
	CMP   R15, R14
	CSEL  LT, R14, R15, R14

next:
	CMP $12, R1
	BLT below12
	CMP $16, R1
	BEQ tile8   // twice
	B   tile12

below12:
	CMP  $8, R1
	BGE  tile8
	CBNZ R1, tile4
	RET

tile12:
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16
	VEOR V28.B16, V28.B16, V28.B16
	VEOR V29.B16, V29.B16, V29.B16
	VEOR V30.B16, V30.B16, V30.B16
	VEOR V31.B16, V31.B16, V31.B16
	MOVD R4, R19
	MOVD R5, R20
	MOVD R7, R21
	MOVD R8, R22
	MOVD both+16(FP), R23
	CBZ  R23, even12

	PCALIGN $16

both12:
	VLD1.P (R21)(R9), [V0.S4, V1.S4, V2.S4]
	FMOVS  (R19), F3
	FMOVS  (R19)(R13), F4
	FMOVS  (R19)(R14), F5
	FMOVS  (R19)(R15), F6
	ADD    R6, R19
	WORD   $0x4f831008                      // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029                      // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4f83104a                      // fmla v10.4s, v2.4s, v3.s[0]
	WORD   $0x4f84100b                      // fmla v11.4s, v0.4s, v4.s[0]
	WORD   $0x4f84102c                      // fmla v12.4s, v1.4s, v4.s[0]
	WORD   $0x4f84104d                      // fmla v13.4s, v2.4s, v4.s[0]
	WORD   $0x4f85100e                      // fmla v14.4s, v0.4s, v5.s[0]
	WORD   $0x4f85102f                      // fmla v15.4s, v1.4s, v5.s[0]
	WORD   $0x4f851050                      // fmla v16.4s, v2.4s, v5.s[0]
	WORD   $0x4f861011                      // fmla v17.4s, v0.4s, v6.s[0]
	WORD   $0x4f861032                      // fmla v18.4s, v1.4s, v6.s[0]
	WORD   $0x4f861053                      // fmla v19.4s, v2.4s, v6.s[0]
	VLD1.P (R22)(R9), [V0.S4, V1.S4, V2.S4]
	FMOVS  (R20), F3
	FMOVS  (R20)(R13), F4
	FMOVS  (R20)(R14), F5
	FMOVS  (R20)(R15), F6
	ADD    R6, R20
	WORD   $0x4f831014                      // fmla v20.4s, v0.4s, v3.s[0]
	WORD   $0x4f831035                      // fmla v21.4s, v1.4s, v3.s[0]
	WORD   $0x4f831056                      // fmla v22.4s, v2.4s, v3.s[0]
	WORD   $0x4f841017                      // fmla v23.4s, v0.4s, v4.s[0]
	WORD   $0x4f841038                      // fmla v24.4s, v1.4s, v4.s[0]
	WORD   $0x4f841059                      // fmla v25.4s, v2.4s, v4.s[0]
	WORD   $0x4f85101a                      // fmla v26.4s, v0.4s, v5.s[0]
	WORD   $0x4f85103b                      // fmla v27.4s, v1.4s, v5.s[0]
	WORD   $0x4f85105c                      // fmla v28.4s, v2.4s, v5.s[0]
	WORD   $0x4f86101d                      // fmla v29.4s, v0.4s, v6.s[0]
	WORD   $0x4f86103e                      // fmla v30.4s, v1.4s, v6.s[0]
	WORD   $0x4f86105f                      // fmla v31.4s, v2.4s, v6.s[0]
	SUBS   $1, R23
	BNE    both12

even12:
	MOVD evenMore+24(FP), R23
	CBZ  R23, odd12

evenStep12:
	VLD1.P (R21)(R9), [V0.S4, V1.S4, V2.S4]
	FMOVS  (R19), F3
	FMOVS  (R19)(R13), F4
	FMOVS  (R19)(R14), F5
	FMOVS  (R19)(R15), F6
	ADD    R6, R19
	WORD   $0x4f831008                      // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029                      // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4f83104a                      // fmla v10.4s, v2.4s, v3.s[0]
	WORD   $0x4f84100b                      // fmla v11.4s, v0.4s, v4.s[0]
	WORD   $0x4f84102c                      // fmla v12.4s, v1.4s, v4.s[0]
	WORD   $0x4f84104d                      // fmla v13.4s, v2.4s, v4.s[0]
	WORD   $0x4f85100e                      // fmla v14.4s, v0.4s, v5.s[0]
	WORD   $0x4f85102f                      // fmla v15.4s, v1.4s, v5.s[0]
	WORD   $0x4f851050                      // fmla v16.4s, v2.4s, v5.s[0]
	WORD   $0x4f861011                      // fmla v17.4s, v0.4s, v6.s[0]
	WORD   $0x4f861032                      // fmla v18.4s, v1.4s, v6.s[0]
	WORD   $0x4f861053                      // fmla v19.4s, v2.4s, v6.s[0]
	SUBS   $1, R23
	BNE    evenStep12

odd12:
	MOVD oddMore+32(FP), R23
	CBZ  R23, save12

oddStep12:
	VLD1.P (R22)(R9), [V0.S4, V1.S4, V2.S4]
	FMOVS  (R20), F3
	FMOVS  (R20)(R13), F4
	FMOVS  (R20)(R14), F5
	FMOVS  (R20)(R15), F6
	ADD    R6, R20
	WORD   $0x4f831014                      // fmla v20.4s, v0.4s, v3.s[0]
	WORD   $0x4f831035                      // fmla v21.4s, v1.4s, v3.s[0]
	WORD   $0x4f831056                      // fmla v22.4s, v2.4s, v3.s[0]
	WORD   $0x4f841017                      // fmla v23.4s, v0.4s, v4.s[0]
	WORD   $0x4f841038                      // fmla v24.4s, v1.4s, v4.s[0]
	WORD   $0x4f841059                      // fmla v25.4s, v2.4s, v4.s[0]
	WORD   $0x4f85101a                      // fmla v26.4s, v0.4s, v5.s[0]
	WORD   $0x4f85103b                      // fmla v27.4s, v1.4s, v5.s[0]
	WORD   $0x4f85105c                      // fmla v28.4s, v2.4s, v5.s[0]
	WORD   $0x4f86101d                      // fmla v29.4s, v0.4s, v6.s[0]
	WORD   $0x4f86103e                      // fmla v30.4s, v1.4s, v6.s[0]
	WORD   $0x4f86105f                      // fmla v31.4s, v2.4s, v6.s[0]
	SUBS   $1, R23
	BNE    oddStep12

save12:
	MOVD R10, R19
	MOVD R11, R20
	CMP  $1, R0
	BEQ  row0of12
	CMP  $2, R0
	BEQ  row1of12
	CMP  $3, R0
	BEQ  row2of12
	WORD $0x4e3dd620                     // fadd v0.4s, v17.4s, v29.4s
	WORD $0x4e3ed641                     // fadd v1.4s, v18.4s, v30.4s
	WORD $0x4e3fd662                     // fadd v2.4s, v19.4s, v31.4s
	WORD $0x4ebdd623                     // fsub v3.4s, v17.4s, v29.4s
	WORD $0x4ebed644                     // fsub v4.4s, v18.4s, v30.4s
	WORD $0x4ebfd665                     // fsub v5.4s, v19.4s, v31.4s
	CBZ  R2, put3of12
	VLD1 (R19), [V17.S4, V18.S4, V19.S4]
	WORD $0x4e31d400                     // fadd v0.4s, v0.4s, v17.4s
	WORD $0x4e32d421                     // fadd v1.4s, v1.4s, v18.4s
	WORD $0x4e33d442                     // fadd v2.4s, v2.4s, v19.4s
	VLD1 (R20), [V17.S4, V18.S4, V19.S4]
	WORD $0x4e31d463                     // fadd v3.4s, v3.4s, v17.4s
	WORD $0x4e32d484                     // fadd v4.4s, v4.4s, v18.4s
	WORD $0x4e33d4a5                     // fadd v5.4s, v5.4s, v19.4s

put3of12:
	VST1 [V0.S4, V1.S4, V2.S4], (R19)
	VST1 [V3.S4, V4.S4, V5.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row2of12:
	WORD $0x4e3ad5c0                     // fadd v0.4s, v14.4s, v26.4s
	WORD $0x4e3bd5e1                     // fadd v1.4s, v15.4s, v27.4s
	WORD $0x4e3cd602                     // fadd v2.4s, v16.4s, v28.4s
	WORD $0x4ebad5c3                     // fsub v3.4s, v14.4s, v26.4s
	WORD $0x4ebbd5e4                     // fsub v4.4s, v15.4s, v27.4s
	WORD $0x4ebcd605                     // fsub v5.4s, v16.4s, v28.4s
	CBZ  R2, put2of12
	VLD1 (R19), [V14.S4, V15.S4, V16.S4]
	WORD $0x4e2ed400                     // fadd v0.4s, v0.4s, v14.4s
	WORD $0x4e2fd421                     // fadd v1.4s, v1.4s, v15.4s
	WORD $0x4e30d442                     // fadd v2.4s, v2.4s, v16.4s
	VLD1 (R20), [V14.S4, V15.S4, V16.S4]
	WORD $0x4e2ed463                     // fadd v3.4s, v3.4s, v14.4s
	WORD $0x4e2fd484                     // fadd v4.4s, v4.4s, v15.4s
	WORD $0x4e30d4a5                     // fadd v5.4s, v5.4s, v16.4s

put2of12:
	VST1 [V0.S4, V1.S4, V2.S4], (R19)
	VST1 [V3.S4, V4.S4, V5.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row1of12:
	WORD $0x4e37d560                     // fadd v0.4s, v11.4s, v23.4s
	WORD $0x4e38d581                     // fadd v1.4s, v12.4s, v24.4s
	WORD $0x4e39d5a2                     // fadd v2.4s, v13.4s, v25.4s
	WORD $0x4eb7d563                     // fsub v3.4s, v11.4s, v23.4s
	WORD $0x4eb8d584                     // fsub v4.4s, v12.4s, v24.4s
	WORD $0x4eb9d5a5                     // fsub v5.4s, v13.4s, v25.4s
	CBZ  R2, put1of12
	VLD1 (R19), [V11.S4, V12.S4, V13.S4]
	WORD $0x4e2bd400                     // fadd v0.4s, v0.4s, v11.4s
	WORD $0x4e2cd421                     // fadd v1.4s, v1.4s, v12.4s
	WORD $0x4e2dd442                     // fadd v2.4s, v2.4s, v13.4s
	VLD1 (R20), [V11.S4, V12.S4, V13.S4]
	WORD $0x4e2bd463                     // fadd v3.4s, v3.4s, v11.4s
	WORD $0x4e2cd484                     // fadd v4.4s, v4.4s, v12.4s
	WORD $0x4e2dd4a5                     // fadd v5.4s, v5.4s, v13.4s

put1of12:
	VST1 [V0.S4, V1.S4, V2.S4], (R19)
	VST1 [V3.S4, V4.S4, V5.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row0of12:
	WORD $0x4e34d500                   // fadd v0.4s, v8.4s, v20.4s
	WORD $0x4e35d521                   // fadd v1.4s, v9.4s, v21.4s
	WORD $0x4e36d542                   // fadd v2.4s, v10.4s, v22.4s
	WORD $0x4eb4d503                   // fsub v3.4s, v8.4s, v20.4s
	WORD $0x4eb5d524                   // fsub v4.4s, v9.4s, v21.4s
	WORD $0x4eb6d545                   // fsub v5.4s, v10.4s, v22.4s
	CBZ  R2, put0of12
	VLD1 (R19), [V8.S4, V9.S4, V10.S4]
	WORD $0x4e28d400                   // fadd v0.4s, v0.4s, v8.4s
	WORD $0x4e29d421                   // fadd v1.4s, v1.4s, v9.4s
	WORD $0x4e2ad442                   // fadd v2.4s, v2.4s, v10.4s
	CBNZ R3, put0of12
	VLD1 (R20), [V8.S4, V9.S4, V10.S4]
	WORD $0x4e28d463                   // fadd v3.4s, v3.4s, v8.4s
	WORD $0x4e29d484                   // fadd v4.4s, v4.4s, v9.4s
	WORD $0x4e2ad4a5                   // fadd v5.4s, v5.4s, v10.4s

put0of12:
	VST1 [V0.S4, V1.S4, V2.S4], (R19)
	CBNZ R3, done12
	VST1 [V3.S4, V4.S4, V5.S4], (R20)

done12:
	ADD $48, R7
	ADD $48, R8
	ADD $48, R10
	ADD $48, R11
	SUB $12, R1
	B   next

tile8:
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16
	MOVD R4, R19
	MOVD R5, R20
	MOVD R7, R21
	MOVD R8, R22
	MOVD both+16(FP), R23
	CBZ  R23, even8

	PCALIGN $16

both8:
	VLD1.P (R21)(R9), [V0.S4, V1.S4]
	FMOVS  (R19), F3
	FMOVS  (R19)(R13), F4
	FMOVS  (R19)(R14), F5
	FMOVS  (R19)(R15), F6
	ADD    R6, R19
	WORD   $0x4f831008               // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029               // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4f84100a               // fmla v10.4s, v0.4s, v4.s[0]
	WORD   $0x4f84102b               // fmla v11.4s, v1.4s, v4.s[0]
	WORD   $0x4f85100c               // fmla v12.4s, v0.4s, v5.s[0]
	WORD   $0x4f85102d               // fmla v13.4s, v1.4s, v5.s[0]
	WORD   $0x4f86100e               // fmla v14.4s, v0.4s, v6.s[0]
	WORD   $0x4f86102f               // fmla v15.4s, v1.4s, v6.s[0]
	VLD1.P (R22)(R9), [V0.S4, V1.S4]
	FMOVS  (R20), F3
	FMOVS  (R20)(R13), F4
	FMOVS  (R20)(R14), F5
	FMOVS  (R20)(R15), F6
	ADD    R6, R20
	WORD   $0x4f831014               // fmla v20.4s, v0.4s, v3.s[0]
	WORD   $0x4f831035               // fmla v21.4s, v1.4s, v3.s[0]
	WORD   $0x4f841016               // fmla v22.4s, v0.4s, v4.s[0]
	WORD   $0x4f841037               // fmla v23.4s, v1.4s, v4.s[0]
	WORD   $0x4f851018               // fmla v24.4s, v0.4s, v5.s[0]
	WORD   $0x4f851039               // fmla v25.4s, v1.4s, v5.s[0]
	WORD   $0x4f86101a               // fmla v26.4s, v0.4s, v6.s[0]
	WORD   $0x4f86103b               // fmla v27.4s, v1.4s, v6.s[0]
	SUBS   $1, R23
	BNE    both8

even8:
	MOVD evenMore+24(FP), R23
	CBZ  R23, odd8

evenStep8:
	VLD1.P (R21)(R9), [V0.S4, V1.S4]
	FMOVS  (R19), F3
	FMOVS  (R19)(R13), F4
	FMOVS  (R19)(R14), F5
	FMOVS  (R19)(R15), F6
	ADD    R6, R19
	WORD   $0x4f831008               // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029               // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4f84100a               // fmla v10.4s, v0.4s, v4.s[0]
	WORD   $0x4f84102b               // fmla v11.4s, v1.4s, v4.s[0]
	WORD   $0x4f85100c               // fmla v12.4s, v0.4s, v5.s[0]
	WORD   $0x4f85102d               // fmla v13.4s, v1.4s, v5.s[0]
	WORD   $0x4f86100e               // fmla v14.4s, v0.4s, v6.s[0]
	WORD   $0x4f86102f               // fmla v15.4s, v1.4s, v6.s[0]
	SUBS   $1, R23
	BNE    evenStep8

odd8:
	MOVD oddMore+32(FP), R23
	CBZ  R23, save8

oddStep8:
	VLD1.P (R22)(R9), [V0.S4, V1.S4]
	FMOVS  (R20), F3
	FMOVS  (R20)(R13), F4
	FMOVS  (R20)(R14), F5
	FMOVS  (R20)(R15), F6
	ADD    R6, R20
	WORD   $0x4f831014               // fmla v20.4s, v0.4s, v3.s[0]
	WORD   $0x4f831035               // fmla v21.4s, v1.4s, v3.s[0]
	WORD   $0x4f841016               // fmla v22.4s, v0.4s, v4.s[0]
	WORD   $0x4f841037               // fmla v23.4s, v1.4s, v4.s[0]
	WORD   $0x4f851018               // fmla v24.4s, v0.4s, v5.s[0]
	WORD   $0x4f851039               // fmla v25.4s, v1.4s, v5.s[0]
	WORD   $0x4f86101a               // fmla v26.4s, v0.4s, v6.s[0]
	WORD   $0x4f86103b               // fmla v27.4s, v1.4s, v6.s[0]
	SUBS   $1, R23
	BNE    oddStep8

save8:
	MOVD R10, R19
	MOVD R11, R20
	CMP  $1, R0
	BEQ  row0of8
	CMP  $2, R0
	BEQ  row1of8
	CMP  $3, R0
	BEQ  row2of8
	WORD $0x4e3ad5c0             // fadd v0.4s, v14.4s, v26.4s
	WORD $0x4e3bd5e1             // fadd v1.4s, v15.4s, v27.4s
	WORD $0x4ebad5c3             // fsub v3.4s, v14.4s, v26.4s
	WORD $0x4ebbd5e4             // fsub v4.4s, v15.4s, v27.4s
	CBZ  R2, put3of8
	VLD1 (R19), [V14.S4, V15.S4]
	WORD $0x4e2ed400             // fadd v0.4s, v0.4s, v14.4s
	WORD $0x4e2fd421             // fadd v1.4s, v1.4s, v15.4s
	VLD1 (R20), [V14.S4, V15.S4]
	WORD $0x4e2ed463             // fadd v3.4s, v3.4s, v14.4s
	WORD $0x4e2fd484             // fadd v4.4s, v4.4s, v15.4s

put3of8:
	VST1 [V0.S4, V1.S4], (R19)
	VST1 [V3.S4, V4.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row2of8:
	WORD $0x4e38d580             // fadd v0.4s, v12.4s, v24.4s
	WORD $0x4e39d5a1             // fadd v1.4s, v13.4s, v25.4s
	WORD $0x4eb8d583             // fsub v3.4s, v12.4s, v24.4s
	WORD $0x4eb9d5a4             // fsub v4.4s, v13.4s, v25.4s
	CBZ  R2, put2of8
	VLD1 (R19), [V12.S4, V13.S4]
	WORD $0x4e2cd400             // fadd v0.4s, v0.4s, v12.4s
	WORD $0x4e2dd421             // fadd v1.4s, v1.4s, v13.4s
	VLD1 (R20), [V12.S4, V13.S4]
	WORD $0x4e2cd463             // fadd v3.4s, v3.4s, v12.4s
	WORD $0x4e2dd484             // fadd v4.4s, v4.4s, v13.4s

put2of8:
	VST1 [V0.S4, V1.S4], (R19)
	VST1 [V3.S4, V4.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row1of8:
	WORD $0x4e36d540             // fadd v0.4s, v10.4s, v22.4s
	WORD $0x4e37d561             // fadd v1.4s, v11.4s, v23.4s
	WORD $0x4eb6d543             // fsub v3.4s, v10.4s, v22.4s
	WORD $0x4eb7d564             // fsub v4.4s, v11.4s, v23.4s
	CBZ  R2, put1of8
	VLD1 (R19), [V10.S4, V11.S4]
	WORD $0x4e2ad400             // fadd v0.4s, v0.4s, v10.4s
	WORD $0x4e2bd421             // fadd v1.4s, v1.4s, v11.4s
	VLD1 (R20), [V10.S4, V11.S4]
	WORD $0x4e2ad463             // fadd v3.4s, v3.4s, v10.4s
	WORD $0x4e2bd484             // fadd v4.4s, v4.4s, v11.4s

put1of8:
	VST1 [V0.S4, V1.S4], (R19)
	VST1 [V3.S4, V4.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row0of8:
	WORD $0x4e34d500           // fadd v0.4s, v8.4s, v20.4s
	WORD $0x4e35d521           // fadd v1.4s, v9.4s, v21.4s
	WORD $0x4eb4d503           // fsub v3.4s, v8.4s, v20.4s
	WORD $0x4eb5d524           // fsub v4.4s, v9.4s, v21.4s
	CBZ  R2, put0of8
	VLD1 (R19), [V8.S4, V9.S4]
	WORD $0x4e28d400           // fadd v0.4s, v0.4s, v8.4s
	WORD $0x4e29d421           // fadd v1.4s, v1.4s, v9.4s
	CBNZ R3, put0of8
	VLD1 (R20), [V8.S4, V9.S4]
	WORD $0x4e28d463           // fadd v3.4s, v3.4s, v8.4s
	WORD $0x4e29d484           // fadd v4.4s, v4.4s, v9.4s

put0of8:
	VST1 [V0.S4, V1.S4], (R19)
	CBNZ R3, done8
	VST1 [V3.S4, V4.S4], (R20)

done8:
	ADD $32, R7
	ADD $32, R8
	ADD $32, R10
	ADD $32, R11
	SUB $8, R1
	B   next

tile4:
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	MOVD R4, R19
	MOVD R5, R20
	MOVD R7, R21
	MOVD R8, R22
	MOVD both+16(FP), R23
	CBZ  R23, even4

	PCALIGN $16

both4:
	VLD1.P (R21)(R9), [V0.S4]
	FMOVS  (R19), F3
	FMOVS  (R19)(R13), F4
	FMOVS  (R19)(R14), F5
	FMOVS  (R19)(R15), F6
	ADD    R6, R19
	WORD   $0x4f831008        // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f841009        // fmla v9.4s, v0.4s, v4.s[0]
	WORD   $0x4f85100a        // fmla v10.4s, v0.4s, v5.s[0]
	WORD   $0x4f86100b        // fmla v11.4s, v0.4s, v6.s[0]
	VLD1.P (R22)(R9), [V0.S4]
	FMOVS  (R20), F3
	FMOVS  (R20)(R13), F4
	FMOVS  (R20)(R14), F5
	FMOVS  (R20)(R15), F6
	ADD    R6, R20
	WORD   $0x4f831014        // fmla v20.4s, v0.4s, v3.s[0]
	WORD   $0x4f841015        // fmla v21.4s, v0.4s, v4.s[0]
	WORD   $0x4f851016        // fmla v22.4s, v0.4s, v5.s[0]
	WORD   $0x4f861017        // fmla v23.4s, v0.4s, v6.s[0]
	SUBS   $1, R23
	BNE    both4

even4:
	MOVD evenMore+24(FP), R23
	CBZ  R23, odd4

evenStep4:
	VLD1.P (R21)(R9), [V0.S4]
	FMOVS  (R19), F3
	FMOVS  (R19)(R13), F4
	FMOVS  (R19)(R14), F5
	FMOVS  (R19)(R15), F6
	ADD    R6, R19
	WORD   $0x4f831008        // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f841009        // fmla v9.4s, v0.4s, v4.s[0]
	WORD   $0x4f85100a        // fmla v10.4s, v0.4s, v5.s[0]
	WORD   $0x4f86100b        // fmla v11.4s, v0.4s, v6.s[0]
	SUBS   $1, R23
	BNE    evenStep4

odd4:
	MOVD oddMore+32(FP), R23
	CBZ  R23, save4

oddStep4:
	VLD1.P (R22)(R9), [V0.S4]
	FMOVS  (R20), F3
	FMOVS  (R20)(R13), F4
	FMOVS  (R20)(R14), F5
	FMOVS  (R20)(R15), F6
	ADD    R6, R20
	WORD   $0x4f831014        // fmla v20.4s, v0.4s, v3.s[0]
	WORD   $0x4f841015        // fmla v21.4s, v0.4s, v4.s[0]
	WORD   $0x4f851016        // fmla v22.4s, v0.4s, v5.s[0]
	WORD   $0x4f861017        // fmla v23.4s, v0.4s, v6.s[0]
	SUBS   $1, R23
	BNE    oddStep4

save4:
	MOVD R10, R19
	MOVD R11, R20
	CMP  $1, R0
	BEQ  row0of4
	CMP  $2, R0
	BEQ  row1of4
	CMP  $3, R0
	BEQ  row2of4
	WORD $0x4e37d560     // fadd v0.4s, v11.4s, v23.4s
	WORD $0x4eb7d563     // fsub v3.4s, v11.4s, v23.4s
	CBZ  R2, put3of4
	VLD1 (R19), [V11.S4]
	WORD $0x4e2bd400     // fadd v0.4s, v0.4s, v11.4s
	VLD1 (R20), [V11.S4]
	WORD $0x4e2bd463     // fadd v3.4s, v3.4s, v11.4s

put3of4:
	VST1 [V0.S4], (R19)
	VST1 [V3.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row2of4:
	WORD $0x4e36d540     // fadd v0.4s, v10.4s, v22.4s
	WORD $0x4eb6d543     // fsub v3.4s, v10.4s, v22.4s
	CBZ  R2, put2of4
	VLD1 (R19), [V10.S4]
	WORD $0x4e2ad400     // fadd v0.4s, v0.4s, v10.4s
	VLD1 (R20), [V10.S4]
	WORD $0x4e2ad463     // fadd v3.4s, v3.4s, v10.4s

put2of4:
	VST1 [V0.S4], (R19)
	VST1 [V3.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row1of4:
	WORD $0x4e35d520    // fadd v0.4s, v9.4s, v21.4s
	WORD $0x4eb5d523    // fsub v3.4s, v9.4s, v21.4s
	CBZ  R2, put1of4
	VLD1 (R19), [V9.S4]
	WORD $0x4e29d400    // fadd v0.4s, v0.4s, v9.4s
	VLD1 (R20), [V9.S4]
	WORD $0x4e29d463    // fadd v3.4s, v3.4s, v9.4s

put1of4:
	VST1 [V0.S4], (R19)
	VST1 [V3.S4], (R20)
	SUB  R12, R19
	ADD  R12, R20

row0of4:
	WORD $0x4e34d500    // fadd v0.4s, v8.4s, v20.4s
	WORD $0x4eb4d503    // fsub v3.4s, v8.4s, v20.4s
	CBZ  R2, put0of4
	VLD1 (R19), [V8.S4]
	WORD $0x4e28d400    // fadd v0.4s, v0.4s, v8.4s
	CBNZ R3, put0of4
	VLD1 (R20), [V8.S4]
	WORD $0x4e28d463    // fadd v3.4s, v3.4s, v8.4s

put0of4:
	VST1 [V0.S4], (R19)
	CBNZ R3, done4
	VST1 [V3.S4], (R20)

done4:
	ADD $16, R7
	ADD $16, R8
	ADD $16, R10
	ADD $16, R11
	SUB $4, R1
	B   next
