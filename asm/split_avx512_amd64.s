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

// BOTH is UNIT at offset 0 that also writes the parts with all signs turned, at a distance
// of R13.
#define BOTHPART(d) \
	PART(d)                  \
	VPXORD  Z30, Z2, Z2      \
	VMOVUPS Z2, d(DI)(R13*1)

#define BOTH \
	BOTHPART(0)    \
	REST           \
	BOTHPART(2048) \
	REST           \
	BOTHPART(4096)

#define CONSTANTS \
	MOVL         $0xffff0000, AX \
	VPBROADCASTD AX, Z31         \
	MOVL         $0xaaaaaaaa, AX \
	KMOVD        AX, K7

// func splitLeftAVX512(dst, negated, x *float32, ld, m, k int)
//
// A row at a time, 32 steps at a time.
//
//	DI, R9    dst of the row at hand, of the next
//	SI, R10   x of the row at hand, of the next
//	R11       ld in bytes
//	R12       rows left
//	R13       negated - dst
//	CX        blocks left
//	K1, K2    steps of the last block
//	Z30       signs
TEXT ·splitLeftAVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), R9
	MOVQ         negated+8(FP), R13
	MOVQ         x+16(FP), R10
	MOVQ         ld+24(FP), R11
	SHLQ         $2, R11
	MOVQ         m+32(FP), R12
	MOVQ         k+40(FP), R8
	MOVQ         R8, CX
	ANDL         $31, CX
	MOVL         $1, AX
	SHLQ         CX, AX
	DECQ         AX
	KMOVW        AX, K1
	SHRL         $16, AX
	KMOVW        AX, K2
	MOVQ         CX, BX
	SHRQ         $5, R8
	CONSTANTS
	TESTQ        R13, R13
	JZ           plainRow
	SUBQ         R9, R13
	MOVL         $0x80008000, AX
	VPBROADCASTD AX, Z30

bothRow:
	MOVQ  R9, DI
	MOVQ  R10, SI
	MOVQ  R8, CX
	TESTQ CX, CX
	JZ    bothLast

bothBlock:
	VMOVUPS    (SI), Z0
	VMOVUPS    64(SI), Z1
	PREFETCHT0 (SI)(R11*4)
	PREFETCHT0 64(SI)(R11*4)
	BOTH
	ADDQ       $128, SI
	ADDQ       $6144, DI
	DECQ       CX
	JNZ        bothBlock

bothLast:
	TESTQ     BX, BX
	JZ        bothNext
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z 64(SI), K2, Z1
	BOTH

bothNext:
	ADDQ $64, R9
	ADDQ R11, R10
	DECQ R12
	JNZ  bothRow
	VZEROUPPER
	RET

plainRow:
	MOVQ  R9, DI
	MOVQ  R10, SI
	MOVQ  R8, CX
	TESTQ CX, CX
	JZ    plainLast

plainBlock:
	VMOVUPS    (SI), Z0
	VMOVUPS    64(SI), Z1
	PREFETCHT0 (SI)(R11*4)
	PREFETCHT0 64(SI)(R11*4)
	UNIT(0)
	ADDQ       $128, SI
	ADDQ       $6144, DI
	DECQ       CX
	JNZ        plainBlock

plainLast:
	TESTQ     BX, BX
	JZ        plainNext
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z 64(SI), K2, Z1
	UNIT(0)

plainNext:
	ADDQ $64, R9
	ADDQ R11, R10
	DECQ R12
	JNZ  plainRow
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

// ROWPART writes 16 words of the row of a part that is at DI.
#define ROWPART(mask) \
	VPSRLD    $16, Z0, Z2          \
	VMOVDQU16 Z1, K7, Z2           \
	VMOVDQU32 Z2, mask, (DI)(R9*1)

// func splitRowsAVX512(dst *float32, ldd int, x *float32, ldx, k, n int)
//
//	for pair := range 16 { // k <= pair+16, k <= pair: zeros
//		for j := range n {
//			Z0, Z1 = x[pair, j], x[pair+16, j]
//			dst[pair, j], dst[16+pair, j], dst[32+pair, j] = the words of the parts
//		}
//	}
//
//	R8         dst at the pair
//	DI         dst at the part
//	SI, R10    x at steps pair and pair+16
//	R9         bytes from the first column
//	R11        ldx in bytes
//	R12        ldd in bytes
//	R13        bytes between the parts
//	BX         steps left
//	CX         columns left
//	DX         pairs left
//	K1         columns
//	K2, K3     the same, where there is step pair, and pair+16
TEXT ·splitRowsAVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), R8
	MOVQ         ldd+8(FP), R12
	SHLQ         $2, R12
	MOVQ         R12, R13
	SHLQ         $4, R13
	MOVQ         x+16(FP), SI
	MOVQ         ldx+24(FP), R11
	SHLQ         $2, R11
	MOVQ         R11, R10
	SHLQ         $4, R10
	ADDQ         SI, R10
	MOVQ         k+32(FP), BX
	MOVL         $0xffff0000, AX
	VPBROADCASTD AX, Z31
	MOVL         $0xaaaaaaaa, AX
	KMOVD        AX, K7
	KXORW        K0, K0, K0
	MOVL         $16, DX

pair:
	MOVQ n+40(FP), CX
	XORL R9, R9

columns:
	KXNORW K1, K1, K1
	CMPQ   CX, $16
	JGE    masks
	MOVL   $1, AX
	SHLL   CX, AX
	DECL   AX
	KMOVW  AX, K1

masks:
	KMOVW K1, K2
	KMOVW K1, K3
	CMPQ  BX, $16
	JGT   load
	KMOVW K0, K3
	CMPQ  BX, $0
	JGT   load
	KMOVW K0, K2

load:
	VMOVUPS.Z (SI)(R9*1), K2, Z0
	VMOVUPS.Z (R10)(R9*1), K3, Z1
	MOVQ      R8, DI
	ROWPART(K1)
	ADDQ      R13, DI
	REST
	ROWPART(K1)
	ADDQ      R13, DI
	REST
	ROWPART(K1)
	ADDQ      $64, R9
	SUBQ      $16, CX
	JGT       columns
	ADDQ      R12, R8
	ADDQ      R11, SI
	ADDQ      R11, R10
	DECQ      BX
	DECL      DX
	JNZ       pair
	VZEROUPPER
	RET
