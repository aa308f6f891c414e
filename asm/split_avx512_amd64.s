//go:build !noasm

#include "textflag.h"

// UNIT splits Z0 and Z1 into the words of a pair and writes one row of each of
// the three parts:
//
//	for p := range 3 {
//		DI[p*2048:] = Z0>>16 | Z1&0xffff0000
//		Z0 -= Z0&0xffff0000
//		Z1 -= Z1&0xffff0000
//	}
//
//	Z31   0xffff0000
//	K7    the upper word of each value
#define PART(d) \
	VPSRLD    $16, Z0, Z2 \
	VMOVDQU16 Z1, K7, Z2  \
	VMOVUPS   Z2, d(DI)

#define REST \
	VPANDD Z31, Z0, Z3 \
	VPANDD Z31, Z1, Z4 \
	VSUBPS Z3, Z0, Z0  \
	VSUBPS Z4, Z1, Z1

#define UNIT(d) \
	PART(d)        \
	REST           \
	PART(2048 + d) \
	REST           \
	PART(4096 + d)

#define CONSTANTS \
	MOVL         $0xffff0000, AX \
	VPBROADCASTD AX, Z31         \
	MOVL         $0xaaaaaaaa, AX \
	KMOVD        AX, K7

// func splitLeftAVX512(dst, x *float32, ld, m, k int)
//
// A row at a time, 32 steps at a time.
//
//	DI, R9    dst of the row at hand, of the next
//	SI, R10   x of the row at hand, of the next
//	R11       ld in bytes
//	R12       rows left
//	CX        blocks left
//	K1, K2    steps of the last block
TEXT ·splitLeftAVX512(SB), NOSPLIT, $0-40
	MOVQ  dst+0(FP), R9
	MOVQ  x+8(FP), R10
	MOVQ  ld+16(FP), R11
	SHLQ  $2, R11
	MOVQ  m+24(FP), R12
	MOVQ  k+32(FP), R8
	MOVQ  R8, CX
	ANDL  $31, CX
	MOVL  $1, AX
	SHLQ  CX, AX
	DECQ  AX
	KMOVW AX, K1
	SHRL  $16, AX
	KMOVW AX, K2
	MOVQ  CX, BX
	SHRQ  $5, R8
	CONSTANTS

row:
	MOVQ  R9, DI
	MOVQ  R10, SI
	MOVQ  R8, CX
	TESTQ CX, CX
	JZ    last

block:
	VMOVUPS    (SI), Z0
	VMOVUPS    64(SI), Z1
	PREFETCHT0 (SI)(R11*4)
	PREFETCHT0 64(SI)(R11*4)
	UNIT(0)
	ADDQ       $128, SI
	ADDQ       $6144, DI
	DECQ       CX
	JNZ        block

last:
	TESTQ     BX, BX
	JZ        next
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z 64(SI), K2, Z1
	UNIT(0)

next:
	ADDQ $64, R9
	ADDQ R11, R10
	DECQ R12
	JNZ  row
	VZEROUPPER
	RET

// PAIR splits steps i and i+16 of 32 columns.
#define PAIR \
	PREFETCHT0 (SI)(R12*1)     \
	PREFETCHT0 64(SI)(R12*1)   \
	PREFETCHT0 (R10)(R12*1)    \
	PREFETCHT0 64(R10)(R12*1)  \
	VMOVUPS.Z  (SI), K3, Z0    \
	VMOVUPS.Z  (R10), K5, Z1   \
	UNIT(0)                    \
	VMOVUPS.Z  64(SI), K4, Z0  \
	VMOVUPS.Z  64(R10), K6, Z1 \
	UNIT(1024)

// func splitRightAVX512(dst, x *float32, ld, k, n int)
//
// A pair of steps at a time.
//
//	DI        dst
//	SI, R10   x at steps i and i+16
//	R11       ld in bytes
//	R12       bytes of 32 rows: what is fetched ahead
//	R9        mask of the columns
//	BX        steps left
//	CX        pairs left of the block
//	K3, K4    columns of the first half and of the second at step i
//	K5, K6    the same at step i+16
TEXT ·splitRightAVX512(SB), NOSPLIT, $0-40
	MOVQ  dst+0(FP), DI
	MOVQ  x+8(FP), SI
	MOVQ  ld+16(FP), R11
	SHLQ  $2, R11
	MOVQ  k+24(FP), BX
	MOVQ  n+32(FP), CX
	MOVL  $1, R9
	SHLQ  CX, R9
	DECQ  R9
	KMOVW R9, K3
	KMOVW R9, K5
	MOVL  R9, AX
	SHRL  $16, AX
	KMOVW AX, K4
	KMOVW AX, K6
	CONSTANTS
	MOVQ  R11, R10
	SHLQ  $4, R10
	LEAQ  (R10)(R10*1), R12
	ADDQ  SI, R10

block:
	CMPQ BX, $32
	JLT  last
	MOVL $16, CX

pair:
	PAIR
	ADDQ $64, DI
	ADDQ R11, SI
	ADDQ R11, R10
	DECL CX
	JNZ  pair
	ADDQ $(6144-1024), DI
	MOVQ R10, SI
	MOVQ R11, AX
	SHLQ $4, AX
	ADDQ AX, R10
	SUBQ $32, BX
	JMP  block

// Steps beyond k have empty masks: what is not there is not read.
last:
	TESTQ BX, BX
	JZ    done
	MOVL  $16, CX

lastPair:
	XORL    AX, AX
	CMPQ    BX, $0
	CMOVQGT R9, AX
	KMOVW   AX, K3
	SHRL    $16, AX
	KMOVW   AX, K4
	XORL    AX, AX
	CMPQ    BX, $16
	CMOVQGT R9, AX
	KMOVW   AX, K5
	SHRL    $16, AX
	KMOVW   AX, K6
	DECQ    BX
	PAIR
	ADDQ    $64, DI
	ADDQ    R11, SI
	ADDQ    R11, R10
	DECL    CX
	JNZ     lastPair

done:
	VZEROUPPER
	RET
