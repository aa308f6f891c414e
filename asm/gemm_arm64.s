//go:build !noasm

#include "textflag.h"

// The micro-kernels keep a tile of C in registers and add one rank-one product
// of a column of A and a row of B per step:
//
//    for p := range k {
//        for i := range rows { // 8 or 4
//            for j := range cols { // 12, 8 or 4
//                acc[i][j] += A(i, p) * b[p*ldb+j] // fused
//            }
//        }
//    }
//
// where A(i, p) is a[i*lda+p] in the NN kernels and a[p*lda+i] in those of gemm_tn_arm64.s.
// mode says what happens to C before and after:
//
//    overwrite  acc starts from 0, C = acc
//    add        acc starts from 0, C = acc + C
//    resume     acc starts from C, C = acc
//
// The product uses FMLA by element: four columns of B times one value of A that
// lies in one lane of a register. Go's assembler has no such form, hence the
// words. They cannot be written into a #define, so repetition is spelt out.
//
// Rows of C from m on are not written, and read only to resume. Kernels of 12 columns go on
// with the next tile, whose columns of B begin a distance further.
//
// Registers:
//
//    R0  k, counts down            R1, R9-R15  rows of A; one beyond m repeats the one before it
//    R2  lda in bytes              R3  b
//    R4  ldb in bytes              R5  c
//    R6  ldc in bytes              R7  mode
//    R8  p, index into rows of A   R16 m
//    R17 row of C                  R19 k
//    R21 b of the tile             R22 tiles left
//    R23 distance in bytes
//    V0-V2  row of B               V3-V7  values of A
//    V8-V31 tile of C, row by row

// func gemm8x12NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode, tiles, distance int)
TEXT ·gemm8x12NNNEON(SB), NOSPLIT, $0-88
	MOVD m+0(FP), R16
	MOVD k+8(FP), R19
	MOVD a+16(FP), R1
	MOVD lda+24(FP), R2
	MOVD b+32(FP), R21
	MOVD ldb+40(FP), R4
	MOVD c+48(FP), R5
	MOVD ldc+56(FP), R6
	MOVD mode+64(FP), R7
	MOVD tiles+72(FP), R22
	MOVD distance+80(FP), R23
	LSL  $2, R2
	LSL  $2, R4
	LSL  $2, R6
	LSL  $2, R23

	// Each row of A below m begins lda after the one before.
	ADD  R2, R1, R9
	CMP  $1, R16
	CSEL GT, R9, R1, R9
	ADD  R2, R9, R10
	CMP  $2, R16
	CSEL GT, R10, R9, R10
	ADD  R2, R10, R11
	CMP  $3, R16
	CSEL GT, R11, R10, R11
	ADD  R2, R11, R12
	CMP  $4, R16
	CSEL GT, R12, R11, R12
	ADD  R2, R12, R13
	CMP  $5, R16
	CSEL GT, R13, R12, R13
	ADD  R2, R13, R14
	CMP  $6, R16
	CSEL GT, R14, R13, R14
	ADD  R2, R14, R15
	CMP  $7, R16
	CSEL GT, R15, R14, R15

tile:
	MOVD R19, R0
	MOVD ZR, R8
	MOVD R21, R3
	CMP  $2, R7
	BEQ  resume
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
	B    test

resume:
	MOVD   R5, R17
	VLD1.P (R17)(R6), [V8.S4, V9.S4, V10.S4]
	VLD1.P (R17)(R6), [V11.S4, V12.S4, V13.S4]
	VLD1.P (R17)(R6), [V14.S4, V15.S4, V16.S4]
	VLD1.P (R17)(R6), [V17.S4, V18.S4, V19.S4]
	VLD1.P (R17)(R6), [V20.S4, V21.S4, V22.S4]
	VLD1.P (R17)(R6), [V23.S4, V24.S4, V25.S4]
	VLD1.P (R17)(R6), [V26.S4, V27.S4, V28.S4]
	VLD1.P (R17)(R6), [V29.S4, V30.S4, V31.S4]

test:
	CBZ R0, done

	PCALIGN $16

loop:
	VLD1.P (R3)(R4), [V0.S4, V1.S4, V2.S4]
	FMOVS  (R1)(R8<<2), F3
	FMOVS  (R9)(R8<<2), F4
	FMOVS  (R10)(R8<<2), F5
	FMOVS  (R11)(R8<<2), F6
	FMOVS  (R12)(R8<<2), F7
	WORD   $0x4f831008                     // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029                     // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4f83104a                     // fmla v10.4s, v2.4s, v3.s[0]
	FMOVS  (R13)(R8<<2), F3
	WORD   $0x4f84100b                     // fmla v11.4s, v0.4s, v4.s[0]
	WORD   $0x4f84102c                     // fmla v12.4s, v1.4s, v4.s[0]
	WORD   $0x4f84104d                     // fmla v13.4s, v2.4s, v4.s[0]
	FMOVS  (R14)(R8<<2), F4
	WORD   $0x4f85100e                     // fmla v14.4s, v0.4s, v5.s[0]
	WORD   $0x4f85102f                     // fmla v15.4s, v1.4s, v5.s[0]
	WORD   $0x4f851050                     // fmla v16.4s, v2.4s, v5.s[0]
	FMOVS  (R15)(R8<<2), F5
	WORD   $0x4f861011                     // fmla v17.4s, v0.4s, v6.s[0]
	WORD   $0x4f861032                     // fmla v18.4s, v1.4s, v6.s[0]
	WORD   $0x4f861053                     // fmla v19.4s, v2.4s, v6.s[0]
	WORD   $0x4f871014                     // fmla v20.4s, v0.4s, v7.s[0]
	WORD   $0x4f871035                     // fmla v21.4s, v1.4s, v7.s[0]
	WORD   $0x4f871056                     // fmla v22.4s, v2.4s, v7.s[0]
	WORD   $0x4f831017                     // fmla v23.4s, v0.4s, v3.s[0]
	WORD   $0x4f831038                     // fmla v24.4s, v1.4s, v3.s[0]
	WORD   $0x4f831059                     // fmla v25.4s, v2.4s, v3.s[0]
	WORD   $0x4f84101a                     // fmla v26.4s, v0.4s, v4.s[0]
	WORD   $0x4f84103b                     // fmla v27.4s, v1.4s, v4.s[0]
	WORD   $0x4f84105c                     // fmla v28.4s, v2.4s, v4.s[0]
	WORD   $0x4f85101d                     // fmla v29.4s, v0.4s, v5.s[0]
	WORD   $0x4f85103e                     // fmla v30.4s, v1.4s, v5.s[0]
	WORD   $0x4f85105f                     // fmla v31.4s, v2.4s, v5.s[0]
	ADD    $1, R8
	SUB    $1, R0
	CBNZ   R0, loop

done:
	CMP    $1, R7
	BNE    store
	MOVD   R5, R17
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d508                      // fadd v8.4s, v8.4s, v0.4s
	WORD   $0x4e21d529                      // fadd v9.4s, v9.4s, v1.4s
	WORD   $0x4e22d54a                      // fadd v10.4s, v10.4s, v2.4s
	CMP    $1, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d56b                      // fadd v11.4s, v11.4s, v0.4s
	WORD   $0x4e21d58c                      // fadd v12.4s, v12.4s, v1.4s
	WORD   $0x4e22d5ad                      // fadd v13.4s, v13.4s, v2.4s
	CMP    $2, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d5ce                      // fadd v14.4s, v14.4s, v0.4s
	WORD   $0x4e21d5ef                      // fadd v15.4s, v15.4s, v1.4s
	WORD   $0x4e22d610                      // fadd v16.4s, v16.4s, v2.4s
	CMP    $3, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d631                      // fadd v17.4s, v17.4s, v0.4s
	WORD   $0x4e21d652                      // fadd v18.4s, v18.4s, v1.4s
	WORD   $0x4e22d673                      // fadd v19.4s, v19.4s, v2.4s
	CMP    $4, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d694                      // fadd v20.4s, v20.4s, v0.4s
	WORD   $0x4e21d6b5                      // fadd v21.4s, v21.4s, v1.4s
	WORD   $0x4e22d6d6                      // fadd v22.4s, v22.4s, v2.4s
	CMP    $5, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d6f7                      // fadd v23.4s, v23.4s, v0.4s
	WORD   $0x4e21d718                      // fadd v24.4s, v24.4s, v1.4s
	WORD   $0x4e22d739                      // fadd v25.4s, v25.4s, v2.4s
	CMP    $6, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d75a                      // fadd v26.4s, v26.4s, v0.4s
	WORD   $0x4e21d77b                      // fadd v27.4s, v27.4s, v1.4s
	WORD   $0x4e22d79c                      // fadd v28.4s, v28.4s, v2.4s
	CMP    $7, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d7bd                      // fadd v29.4s, v29.4s, v0.4s
	WORD   $0x4e21d7de                      // fadd v30.4s, v30.4s, v1.4s
	WORD   $0x4e22d7ff                      // fadd v31.4s, v31.4s, v2.4s

store:
	MOVD   R5, R17
	VST1.P [V8.S4, V9.S4, V10.S4], (R17)(R6)
	CMP    $1, R16
	BLE    end
	VST1.P [V11.S4, V12.S4, V13.S4], (R17)(R6)
	CMP    $2, R16
	BLE    end
	VST1.P [V14.S4, V15.S4, V16.S4], (R17)(R6)
	CMP    $3, R16
	BLE    end
	VST1.P [V17.S4, V18.S4, V19.S4], (R17)(R6)
	CMP    $4, R16
	BLE    end
	VST1.P [V20.S4, V21.S4, V22.S4], (R17)(R6)
	CMP    $5, R16
	BLE    end
	VST1.P [V23.S4, V24.S4, V25.S4], (R17)(R6)
	CMP    $6, R16
	BLE    end
	VST1.P [V26.S4, V27.S4, V28.S4], (R17)(R6)
	CMP    $7, R16
	BLE    end
	VST1.P [V29.S4, V30.S4, V31.S4], (R17)(R6)

end:
	ADD  R23, R21
	ADD  $48, R5
	SUBS $1, R22
	BNE  tile
	RET

// func gemm4x12NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode, tiles, distance int)
TEXT ·gemm4x12NNNEON(SB), NOSPLIT, $0-88
	MOVD m+0(FP), R16
	MOVD k+8(FP), R19
	MOVD a+16(FP), R1
	MOVD lda+24(FP), R2
	MOVD b+32(FP), R21
	MOVD ldb+40(FP), R4
	MOVD c+48(FP), R5
	MOVD ldc+56(FP), R6
	MOVD mode+64(FP), R7
	MOVD tiles+72(FP), R22
	MOVD distance+80(FP), R23
	LSL  $2, R2
	LSL  $2, R4
	LSL  $2, R6
	LSL  $2, R23

	// Each row of A below m begins lda after the one before.
	ADD  R2, R1, R9
	CMP  $1, R16
	CSEL GT, R9, R1, R9
	ADD  R2, R9, R10
	CMP  $2, R16
	CSEL GT, R10, R9, R10
	ADD  R2, R10, R11
	CMP  $3, R16
	CSEL GT, R11, R10, R11

tile:
	MOVD R19, R0
	MOVD ZR, R8
	MOVD R21, R3
	CMP  $2, R7
	BEQ  resume
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
	B    test

resume:
	MOVD   R5, R17
	VLD1.P (R17)(R6), [V8.S4, V9.S4, V10.S4]
	VLD1.P (R17)(R6), [V11.S4, V12.S4, V13.S4]
	VLD1.P (R17)(R6), [V14.S4, V15.S4, V16.S4]
	VLD1.P (R17)(R6), [V17.S4, V18.S4, V19.S4]

test:
	CBZ R0, done

	PCALIGN $16

loop:
	VLD1.P (R3)(R4), [V0.S4, V1.S4, V2.S4]
	FMOVS  (R1)(R8<<2), F3
	FMOVS  (R9)(R8<<2), F4
	FMOVS  (R10)(R8<<2), F5
	FMOVS  (R11)(R8<<2), F6
	WORD   $0x4f831008                     // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029                     // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4f83104a                     // fmla v10.4s, v2.4s, v3.s[0]
	WORD   $0x4f84100b                     // fmla v11.4s, v0.4s, v4.s[0]
	WORD   $0x4f84102c                     // fmla v12.4s, v1.4s, v4.s[0]
	WORD   $0x4f84104d                     // fmla v13.4s, v2.4s, v4.s[0]
	WORD   $0x4f85100e                     // fmla v14.4s, v0.4s, v5.s[0]
	WORD   $0x4f85102f                     // fmla v15.4s, v1.4s, v5.s[0]
	WORD   $0x4f851050                     // fmla v16.4s, v2.4s, v5.s[0]
	WORD   $0x4f861011                     // fmla v17.4s, v0.4s, v6.s[0]
	WORD   $0x4f861032                     // fmla v18.4s, v1.4s, v6.s[0]
	WORD   $0x4f861053                     // fmla v19.4s, v2.4s, v6.s[0]
	ADD    $1, R8
	SUB    $1, R0
	CBNZ   R0, loop

done:
	CMP    $1, R7
	BNE    store
	MOVD   R5, R17
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d508                      // fadd v8.4s, v8.4s, v0.4s
	WORD   $0x4e21d529                      // fadd v9.4s, v9.4s, v1.4s
	WORD   $0x4e22d54a                      // fadd v10.4s, v10.4s, v2.4s
	CMP    $1, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d56b                      // fadd v11.4s, v11.4s, v0.4s
	WORD   $0x4e21d58c                      // fadd v12.4s, v12.4s, v1.4s
	WORD   $0x4e22d5ad                      // fadd v13.4s, v13.4s, v2.4s
	CMP    $2, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d5ce                      // fadd v14.4s, v14.4s, v0.4s
	WORD   $0x4e21d5ef                      // fadd v15.4s, v15.4s, v1.4s
	WORD   $0x4e22d610                      // fadd v16.4s, v16.4s, v2.4s
	CMP    $3, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4, V2.S4]
	WORD   $0x4e20d631                      // fadd v17.4s, v17.4s, v0.4s
	WORD   $0x4e21d652                      // fadd v18.4s, v18.4s, v1.4s
	WORD   $0x4e22d673                      // fadd v19.4s, v19.4s, v2.4s

store:
	MOVD   R5, R17
	VST1.P [V8.S4, V9.S4, V10.S4], (R17)(R6)
	CMP    $1, R16
	BLE    end
	VST1.P [V11.S4, V12.S4, V13.S4], (R17)(R6)
	CMP    $2, R16
	BLE    end
	VST1.P [V14.S4, V15.S4, V16.S4], (R17)(R6)
	CMP    $3, R16
	BLE    end
	VST1.P [V17.S4, V18.S4, V19.S4], (R17)(R6)

end:
	ADD  R23, R21
	ADD  $48, R5
	SUBS $1, R22
	BNE  tile
	RET

// func gemm8x8NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)
TEXT ·gemm8x8NNNEON(SB), NOSPLIT, $0-72
	MOVD m+0(FP), R16
	MOVD k+8(FP), R0
	MOVD a+16(FP), R1
	MOVD lda+24(FP), R2
	MOVD b+32(FP), R3
	MOVD ldb+40(FP), R4
	MOVD c+48(FP), R5
	MOVD ldc+56(FP), R6
	MOVD mode+64(FP), R7
	LSL  $2, R2
	LSL  $2, R4
	LSL  $2, R6
	MOVD ZR, R8

	// Each row of A below m begins lda after the one before.
	ADD  R2, R1, R9
	CMP  $1, R16
	CSEL GT, R9, R1, R9
	ADD  R2, R9, R10
	CMP  $2, R16
	CSEL GT, R10, R9, R10
	ADD  R2, R10, R11
	CMP  $3, R16
	CSEL GT, R11, R10, R11
	ADD  R2, R11, R12
	CMP  $4, R16
	CSEL GT, R12, R11, R12
	ADD  R2, R12, R13
	CMP  $5, R16
	CSEL GT, R13, R12, R13
	ADD  R2, R13, R14
	CMP  $6, R16
	CSEL GT, R14, R13, R14
	ADD  R2, R14, R15
	CMP  $7, R16
	CSEL GT, R15, R14, R15

	CMP  $2, R7
	BEQ  resume
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
	B    test

resume:
	MOVD   R5, R17
	VLD1.P (R17)(R6), [V8.S4, V9.S4]
	VLD1.P (R17)(R6), [V10.S4, V11.S4]
	VLD1.P (R17)(R6), [V12.S4, V13.S4]
	VLD1.P (R17)(R6), [V14.S4, V15.S4]
	VLD1.P (R17)(R6), [V16.S4, V17.S4]
	VLD1.P (R17)(R6), [V18.S4, V19.S4]
	VLD1.P (R17)(R6), [V20.S4, V21.S4]
	VLD1.P (R17)(R6), [V22.S4, V23.S4]

test:
	CBZ R0, done

	PCALIGN $16

loop:
	VLD1.P (R3)(R4), [V0.S4, V1.S4]
	FMOVS  (R1)(R8<<2), F3
	FMOVS  (R9)(R8<<2), F4
	FMOVS  (R10)(R8<<2), F5
	FMOVS  (R11)(R8<<2), F6
	FMOVS  (R12)(R8<<2), F7
	WORD   $0x4f831008              // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029              // fmla v9.4s, v1.4s, v3.s[0]
	FMOVS  (R13)(R8<<2), F3
	WORD   $0x4f84100a              // fmla v10.4s, v0.4s, v4.s[0]
	WORD   $0x4f84102b              // fmla v11.4s, v1.4s, v4.s[0]
	FMOVS  (R14)(R8<<2), F4
	WORD   $0x4f85100c              // fmla v12.4s, v0.4s, v5.s[0]
	WORD   $0x4f85102d              // fmla v13.4s, v1.4s, v5.s[0]
	FMOVS  (R15)(R8<<2), F5
	WORD   $0x4f86100e              // fmla v14.4s, v0.4s, v6.s[0]
	WORD   $0x4f86102f              // fmla v15.4s, v1.4s, v6.s[0]
	WORD   $0x4f871010              // fmla v16.4s, v0.4s, v7.s[0]
	WORD   $0x4f871031              // fmla v17.4s, v1.4s, v7.s[0]
	WORD   $0x4f831012              // fmla v18.4s, v0.4s, v3.s[0]
	WORD   $0x4f831033              // fmla v19.4s, v1.4s, v3.s[0]
	WORD   $0x4f841014              // fmla v20.4s, v0.4s, v4.s[0]
	WORD   $0x4f841035              // fmla v21.4s, v1.4s, v4.s[0]
	WORD   $0x4f851016              // fmla v22.4s, v0.4s, v5.s[0]
	WORD   $0x4f851037              // fmla v23.4s, v1.4s, v5.s[0]
	ADD    $1, R8
	SUB    $1, R0
	CBNZ   R0, loop

done:
	CMP    $1, R7
	BNE    store
	MOVD   R5, R17
	VLD1.P (R17)(R6), [V0.S4, V1.S4]
	WORD   $0x4e20d508               // fadd v8.4s, v8.4s, v0.4s
	WORD   $0x4e21d529               // fadd v9.4s, v9.4s, v1.4s
	CMP    $1, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4]
	WORD   $0x4e20d54a               // fadd v10.4s, v10.4s, v0.4s
	WORD   $0x4e21d56b               // fadd v11.4s, v11.4s, v1.4s
	CMP    $2, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4]
	WORD   $0x4e20d58c               // fadd v12.4s, v12.4s, v0.4s
	WORD   $0x4e21d5ad               // fadd v13.4s, v13.4s, v1.4s
	CMP    $3, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4]
	WORD   $0x4e20d5ce               // fadd v14.4s, v14.4s, v0.4s
	WORD   $0x4e21d5ef               // fadd v15.4s, v15.4s, v1.4s
	CMP    $4, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4]
	WORD   $0x4e20d610               // fadd v16.4s, v16.4s, v0.4s
	WORD   $0x4e21d631               // fadd v17.4s, v17.4s, v1.4s
	CMP    $5, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4]
	WORD   $0x4e20d652               // fadd v18.4s, v18.4s, v0.4s
	WORD   $0x4e21d673               // fadd v19.4s, v19.4s, v1.4s
	CMP    $6, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4]
	WORD   $0x4e20d694               // fadd v20.4s, v20.4s, v0.4s
	WORD   $0x4e21d6b5               // fadd v21.4s, v21.4s, v1.4s
	CMP    $7, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4, V1.S4]
	WORD   $0x4e20d6d6               // fadd v22.4s, v22.4s, v0.4s
	WORD   $0x4e21d6f7               // fadd v23.4s, v23.4s, v1.4s

store:
	VST1.P [V8.S4, V9.S4], (R5)(R6)
	CMP    $1, R16
	BLE    end
	VST1.P [V10.S4, V11.S4], (R5)(R6)
	CMP    $2, R16
	BLE    end
	VST1.P [V12.S4, V13.S4], (R5)(R6)
	CMP    $3, R16
	BLE    end
	VST1.P [V14.S4, V15.S4], (R5)(R6)
	CMP    $4, R16
	BLE    end
	VST1.P [V16.S4, V17.S4], (R5)(R6)
	CMP    $5, R16
	BLE    end
	VST1.P [V18.S4, V19.S4], (R5)(R6)
	CMP    $6, R16
	BLE    end
	VST1.P [V20.S4, V21.S4], (R5)(R6)
	CMP    $7, R16
	BLE    end
	VST1.P [V22.S4, V23.S4], (R5)(R6)

end:
	RET

// func gemm8x4NNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)
TEXT ·gemm8x4NNNEON(SB), NOSPLIT, $0-72
	MOVD m+0(FP), R16
	MOVD k+8(FP), R0
	MOVD a+16(FP), R1
	MOVD lda+24(FP), R2
	MOVD b+32(FP), R3
	MOVD ldb+40(FP), R4
	MOVD c+48(FP), R5
	MOVD ldc+56(FP), R6
	MOVD mode+64(FP), R7
	LSL  $2, R2
	LSL  $2, R4
	LSL  $2, R6
	MOVD ZR, R8

	// Each row of A below m begins lda after the one before.
	ADD  R2, R1, R9
	CMP  $1, R16
	CSEL GT, R9, R1, R9
	ADD  R2, R9, R10
	CMP  $2, R16
	CSEL GT, R10, R9, R10
	ADD  R2, R10, R11
	CMP  $3, R16
	CSEL GT, R11, R10, R11
	ADD  R2, R11, R12
	CMP  $4, R16
	CSEL GT, R12, R11, R12
	ADD  R2, R12, R13
	CMP  $5, R16
	CSEL GT, R13, R12, R13
	ADD  R2, R13, R14
	CMP  $6, R16
	CSEL GT, R14, R13, R14
	ADD  R2, R14, R15
	CMP  $7, R16
	CSEL GT, R15, R14, R15

	CMP  $2, R7
	BEQ  resume
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	B    test

resume:
	MOVD   R5, R17
	VLD1.P (R17)(R6), [V8.S4]
	VLD1.P (R17)(R6), [V9.S4]
	VLD1.P (R17)(R6), [V10.S4]
	VLD1.P (R17)(R6), [V11.S4]
	VLD1.P (R17)(R6), [V12.S4]
	VLD1.P (R17)(R6), [V13.S4]
	VLD1.P (R17)(R6), [V14.S4]
	VLD1.P (R17)(R6), [V15.S4]

test:
	CBZ R0, done

	PCALIGN $16

loop:
	VLD1.P (R3)(R4), [V0.S4]
	FMOVS  (R1)(R8<<2), F3
	FMOVS  (R9)(R8<<2), F4
	FMOVS  (R10)(R8<<2), F5
	FMOVS  (R11)(R8<<2), F6
	FMOVS  (R12)(R8<<2), F7
	WORD   $0x4f831008       // fmla v8.4s, v0.4s, v3.s[0]
	FMOVS  (R13)(R8<<2), F3
	WORD   $0x4f841009       // fmla v9.4s, v0.4s, v4.s[0]
	FMOVS  (R14)(R8<<2), F4
	WORD   $0x4f85100a       // fmla v10.4s, v0.4s, v5.s[0]
	FMOVS  (R15)(R8<<2), F5
	WORD   $0x4f86100b       // fmla v11.4s, v0.4s, v6.s[0]
	WORD   $0x4f87100c       // fmla v12.4s, v0.4s, v7.s[0]
	WORD   $0x4f83100d       // fmla v13.4s, v0.4s, v3.s[0]
	WORD   $0x4f84100e       // fmla v14.4s, v0.4s, v4.s[0]
	WORD   $0x4f85100f       // fmla v15.4s, v0.4s, v5.s[0]
	ADD    $1, R8
	SUB    $1, R0
	CBNZ   R0, loop

done:
	CMP    $1, R7
	BNE    store
	MOVD   R5, R17
	VLD1.P (R17)(R6), [V0.S4]
	WORD   $0x4e20d508        // fadd v8.4s, v8.4s, v0.4s
	CMP    $1, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4]
	WORD   $0x4e20d529        // fadd v9.4s, v9.4s, v0.4s
	CMP    $2, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4]
	WORD   $0x4e20d54a        // fadd v10.4s, v10.4s, v0.4s
	CMP    $3, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4]
	WORD   $0x4e20d56b        // fadd v11.4s, v11.4s, v0.4s
	CMP    $4, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4]
	WORD   $0x4e20d58c        // fadd v12.4s, v12.4s, v0.4s
	CMP    $5, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4]
	WORD   $0x4e20d5ad        // fadd v13.4s, v13.4s, v0.4s
	CMP    $6, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4]
	WORD   $0x4e20d5ce        // fadd v14.4s, v14.4s, v0.4s
	CMP    $7, R16
	BLE    store
	VLD1.P (R17)(R6), [V0.S4]
	WORD   $0x4e20d5ef        // fadd v15.4s, v15.4s, v0.4s

store:
	VST1.P [V8.S4], (R5)(R6)
	CMP    $1, R16
	BLE    end
	VST1.P [V9.S4], (R5)(R6)
	CMP    $2, R16
	BLE    end
	VST1.P [V10.S4], (R5)(R6)
	CMP    $3, R16
	BLE    end
	VST1.P [V11.S4], (R5)(R6)
	CMP    $4, R16
	BLE    end
	VST1.P [V12.S4], (R5)(R6)
	CMP    $5, R16
	BLE    end
	VST1.P [V13.S4], (R5)(R6)
	CMP    $6, R16
	BLE    end
	VST1.P [V14.S4], (R5)(R6)
	CMP    $7, R16
	BLE    end
	VST1.P [V15.S4], (R5)(R6)

end:
	RET
