//go:build !noasm

#include "textflag.h"

// The micro-kernels of gemm_arm64.s with A stored k-major: a step loads a row of 8 or 4
// values of A and multiplies by them lane by lane.
//
// Registers:
//
//    R0  k, counts down            R1  row of a
//    R2  lda in bytes              R3  b
//    R4  ldb in bytes              R5  c
//    R6  ldc in bytes              R7  mode
//    R16 m                         R17 row of C
//    R19 k                         R20 a, where there are tiles
//    R21 b of the tile             R22 tiles left
//    R23 distance in bytes
//    V0-V2  row of B               V3, V4 row of A
//    V8-V31 tile of C, row by row

// func gemm8x12TNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode, tiles, distance int)
TEXT ·gemm8x12TNNEON(SB), NOSPLIT, $0-88
	MOVD m+0(FP), R16
	MOVD k+8(FP), R19
	MOVD a+16(FP), R20
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

tile:
	MOVD R19, R0
	MOVD R20, R1
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
	VLD1.P (R1)(R2), [V3.S4, V4.S4]
	WORD   $0x4f831008                     // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029                     // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4f83104a                     // fmla v10.4s, v2.4s, v3.s[0]
	WORD   $0x4fa3100b                     // fmla v11.4s, v0.4s, v3.s[1]
	WORD   $0x4fa3102c                     // fmla v12.4s, v1.4s, v3.s[1]
	WORD   $0x4fa3104d                     // fmla v13.4s, v2.4s, v3.s[1]
	WORD   $0x4f83180e                     // fmla v14.4s, v0.4s, v3.s[2]
	WORD   $0x4f83182f                     // fmla v15.4s, v1.4s, v3.s[2]
	WORD   $0x4f831850                     // fmla v16.4s, v2.4s, v3.s[2]
	WORD   $0x4fa31811                     // fmla v17.4s, v0.4s, v3.s[3]
	WORD   $0x4fa31832                     // fmla v18.4s, v1.4s, v3.s[3]
	WORD   $0x4fa31853                     // fmla v19.4s, v2.4s, v3.s[3]
	WORD   $0x4f841014                     // fmla v20.4s, v0.4s, v4.s[0]
	WORD   $0x4f841035                     // fmla v21.4s, v1.4s, v4.s[0]
	WORD   $0x4f841056                     // fmla v22.4s, v2.4s, v4.s[0]
	WORD   $0x4fa41017                     // fmla v23.4s, v0.4s, v4.s[1]
	WORD   $0x4fa41038                     // fmla v24.4s, v1.4s, v4.s[1]
	WORD   $0x4fa41059                     // fmla v25.4s, v2.4s, v4.s[1]
	WORD   $0x4f84181a                     // fmla v26.4s, v0.4s, v4.s[2]
	WORD   $0x4f84183b                     // fmla v27.4s, v1.4s, v4.s[2]
	WORD   $0x4f84185c                     // fmla v28.4s, v2.4s, v4.s[2]
	WORD   $0x4fa4181d                     // fmla v29.4s, v0.4s, v4.s[3]
	WORD   $0x4fa4183e                     // fmla v30.4s, v1.4s, v4.s[3]
	WORD   $0x4fa4185f                     // fmla v31.4s, v2.4s, v4.s[3]
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

// func gemm4x12TNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode, tiles, distance int)
TEXT ·gemm4x12TNNEON(SB), NOSPLIT, $0-88
	MOVD m+0(FP), R16
	MOVD k+8(FP), R19
	MOVD a+16(FP), R20
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

tile:
	MOVD R19, R0
	MOVD R20, R1
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
	VLD1.P (R1)(R2), [V3.S4]
	WORD   $0x4f831008                     // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029                     // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4f83104a                     // fmla v10.4s, v2.4s, v3.s[0]
	WORD   $0x4fa3100b                     // fmla v11.4s, v0.4s, v3.s[1]
	WORD   $0x4fa3102c                     // fmla v12.4s, v1.4s, v3.s[1]
	WORD   $0x4fa3104d                     // fmla v13.4s, v2.4s, v3.s[1]
	WORD   $0x4f83180e                     // fmla v14.4s, v0.4s, v3.s[2]
	WORD   $0x4f83182f                     // fmla v15.4s, v1.4s, v3.s[2]
	WORD   $0x4f831850                     // fmla v16.4s, v2.4s, v3.s[2]
	WORD   $0x4fa31811                     // fmla v17.4s, v0.4s, v3.s[3]
	WORD   $0x4fa31832                     // fmla v18.4s, v1.4s, v3.s[3]
	WORD   $0x4fa31853                     // fmla v19.4s, v2.4s, v3.s[3]
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

// func gemm8x8TNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)
TEXT ·gemm8x8TNNEON(SB), NOSPLIT, $0-72
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
	VLD1.P (R1)(R2), [V3.S4, V4.S4]
	WORD   $0x4f831008              // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4f831029              // fmla v9.4s, v1.4s, v3.s[0]
	WORD   $0x4fa3100a              // fmla v10.4s, v0.4s, v3.s[1]
	WORD   $0x4fa3102b              // fmla v11.4s, v1.4s, v3.s[1]
	WORD   $0x4f83180c              // fmla v12.4s, v0.4s, v3.s[2]
	WORD   $0x4f83182d              // fmla v13.4s, v1.4s, v3.s[2]
	WORD   $0x4fa3180e              // fmla v14.4s, v0.4s, v3.s[3]
	WORD   $0x4fa3182f              // fmla v15.4s, v1.4s, v3.s[3]
	WORD   $0x4f841010              // fmla v16.4s, v0.4s, v4.s[0]
	WORD   $0x4f841031              // fmla v17.4s, v1.4s, v4.s[0]
	WORD   $0x4fa41012              // fmla v18.4s, v0.4s, v4.s[1]
	WORD   $0x4fa41033              // fmla v19.4s, v1.4s, v4.s[1]
	WORD   $0x4f841814              // fmla v20.4s, v0.4s, v4.s[2]
	WORD   $0x4f841835              // fmla v21.4s, v1.4s, v4.s[2]
	WORD   $0x4fa41816              // fmla v22.4s, v0.4s, v4.s[3]
	WORD   $0x4fa41837              // fmla v23.4s, v1.4s, v4.s[3]
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

// func gemm8x4TNNEON(m, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, mode int)
TEXT ·gemm8x4TNNEON(SB), NOSPLIT, $0-72
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
	VLD1.P (R1)(R2), [V3.S4, V4.S4]
	WORD   $0x4f831008              // fmla v8.4s, v0.4s, v3.s[0]
	WORD   $0x4fa31009              // fmla v9.4s, v0.4s, v3.s[1]
	WORD   $0x4f83180a              // fmla v10.4s, v0.4s, v3.s[2]
	WORD   $0x4fa3180b              // fmla v11.4s, v0.4s, v3.s[3]
	WORD   $0x4f84100c              // fmla v12.4s, v0.4s, v4.s[0]
	WORD   $0x4fa4100d              // fmla v13.4s, v0.4s, v4.s[1]
	WORD   $0x4f84180e              // fmla v14.4s, v0.4s, v4.s[2]
	WORD   $0x4fa4180f              // fmla v15.4s, v0.4s, v4.s[3]
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
