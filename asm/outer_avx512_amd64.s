//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// One strip C (+)= A*B of m rows for 1 <= k <= 4, as k outer products: the rows of B, 64
// columns of them, stay in registers and C goes by row by row. In Go:
//
//	for ; n > 0; n -= 64 { // the last columns may be fewer
//		for i := range m {
//			T = 0
//			for p := range k {
//				T[:] += broadcast(A[i*row+p*step]) * B[p][:]
//			}
//			C[i][:] = T[:] // accumulate: T[:] + C[i][:]
//		}
//		B = B[2*distance:]
//		C = C[64:]
//	}
//
// A register tile of some rows would be cleared, addressed and stored for as long as it
// is multiplied.
//
//	Z0..Z15      the rows of B, row p in Z(4p)..Z(4p+3)
//	Z16..Z19     T
//	Z20..Z23     the broadcast values of A
//	K1..K4       the columns 0..15, 16..31, ... that exist
//	SI, R12      the row of A, from row to row in bytes
//	R9, R15      from step to step in bytes, three times that
//	DI, R13      the first and the second panel of B
//	R10, AX      ldb in bytes, three times that
//	R8, DX       the row of C, ldc in bytes
//	BX           counter

#define LOADB(o, p0, p1, p2, p3) \
	VMOVUPS.Z (DI)(o), K1, p0    \
	VMOVUPS.Z 64(DI)(o), K2, p1  \
	VMOVUPS.Z (R13)(o), K3, p2   \
	VMOVUPS.Z 64(R13)(o), K4, p3

#define CLEAR \
	VPXORD Z16, Z16, Z16 \
	VPXORD Z17, Z17, Z17 \
	VPXORD Z18, Z18, Z18 \
	VPXORD Z19, Z19, Z19

#define STEP(x, t, p0, p1, p2, p3) \
	VBROADCASTSS x, t       \
	VFMADD231PS  p0, t, Z16 \
	VFMADD231PS  p1, t, Z17 \
	VFMADD231PS  p2, t, Z18 \
	VFMADD231PS  p3, t, Z19

#define STEPS1 STEP((SI), Z20, Z0, Z1, Z2, Z3)
#define STEPS2 STEPS1; STEP((SI)(R9*1), Z21, Z4, Z5, Z6, Z7)
#define STEPS3 STEPS2; STEP((SI)(R9*2), Z22, Z8, Z9, Z10, Z11)
#define STEPS4 STEPS3; STEP((SI)(R15*1), Z23, Z12, Z13, Z14, Z15)

#define ADDC \
	VADDPS (R8), Z16, K1, Z16    \
	VADDPS 64(R8), Z17, K2, Z17  \
	VADDPS 128(R8), Z18, K3, Z18 \
	VADDPS 192(R8), Z19, K4, Z19

// NEXTROW stores T. Nothing of C is fetched ahead: rows that the second-level cache holds
// are written faster without.
#define NEXTROW(again) \
	VMOVUPS Z16, K1, (R8)    \
	VMOVUPS Z17, K2, 64(R8)  \
	VMOVUPS Z18, K3, 128(R8) \
	VMOVUPS Z19, K4, 192(R8) \
	ADDQ    R12, SI          \
	ADDQ    DX, R8           \
	DECQ    BX               \
	JNZ     again            \
	JMP     next

// ROWS is the loop over rows for one k, without and with accumulate.
#define ROWS(steps, put, add) \
	CMPB    accumulate+88(FP), $0 \
	JNE     add                   \
	PCALIGN $32                   \
	put:                          \
	CLEAR                         \
	steps                         \
	NEXTROW(put)                  \
	add:                          \
	CLEAR                         \
	steps                         \
	ADDC                          \
	NEXTROW(add)

// func souterAVX512(m, n, k int, a *float32, row, step int, b *float32, ldb, distance int, c *float32, ldc int, accumulate bool)
TEXT ·souterAVX512(SB), NOSPLIT, $0-89
	MOVQ row+32(FP), R12
	MOVQ step+40(FP), R9
	MOVQ b+48(FP), DI
	MOVQ ldb+56(FP), R10
	MOVQ distance+64(FP), R11
	MOVQ ldc+80(FP), DX
	SHLQ $2, R12
	SHLQ $2, R9
	SHLQ $2, R10
	SHLQ $2, R11
	SHLQ $2, DX
	LEAQ (R9)(R9*2), R15

columns:
	MOVQ      n+8(FP), CX
	MOVQ      $64, AX
	CMPQ      CX, AX
	CMOVQGT   AX, CX
	MOVQ      $-1, AX
	BZHIQ     CX, AX, AX
	KMOVW     AX, K1
	SHRQ      $16, AX
	KMOVW     AX, K2
	SHRQ      $16, AX
	KMOVW     AX, K3
	SHRQ      $16, AX
	KMOVW     AX, K4
	MOVQ      m+0(FP), BX
	MOVQ      a+24(FP), SI
	MOVQ      c+72(FP), R8
	LEAQ      (DI)(R11*1), R13
	MOVQ      k+16(FP), CX
	VMOVUPS.Z (DI), K1, Z0
	VMOVUPS.Z 64(DI), K2, Z1
	VMOVUPS.Z (R13), K3, Z2
	VMOVUPS.Z 64(R13), K4, Z3
	CMPQ      CX, $2
	JLT       rows1
	LOADB(R10*1, Z4, Z5, Z6, Z7)
	JEQ       rows2
	LOADB(R10*2, Z8, Z9, Z10, Z11)
	CMPQ      CX, $3
	JEQ       rows3
	LEAQ      (R10)(R10*2), AX
	LOADB(AX*1, Z12, Z13, Z14, Z15)
	ROWS(STEPS4, put4, add4)

rows1:
	ROWS(STEPS1, put1, add1)

rows2:
	ROWS(STEPS2, put2, add2)

rows3:
	ROWS(STEPS3, put3, add3)

next:
	LEAQ (DI)(R11*2), DI
	ADDQ $256, c+72(FP)
	SUBQ $64, n+8(FP)
	JGT  columns
	VZEROUPPER
	RET
