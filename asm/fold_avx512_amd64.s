//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// func foldAVX512(even, odd, late, early *float32, step, pairs, run int)
//
// Each run 16 values an iteration, then the rest under a mask:
//
//	late += (pairs-1)*run
//	for ; pairs > 0; pairs-- {
//		for i := 0; i < run; i += 16 {
//			even[i:i+16], odd[i:i+16] = late[i:i+16] + early[i:i+16], late[i:i+16] - early[i:i+16]
//		}
//		even, odd, late, early = even+step, odd+step, late-run, early+run
//	}
//
// The loads of an iteration come before its stores, so a result may be a source.
//
// Registers
//	DI even   BX odd   SI late   DX early   R9 step, R10 run in bytes   R11 pairs left
//	R8 bytes done of the run   R12 bytes of its whole vectors   AX, CX scratch
//	Z0 late   Z1 early   Z2 sum   Z3 difference   K1 mask of the last vector
TEXT ·foldAVX512(SB), NOSPLIT, $0-56
	MOVQ  even+0(FP), DI
	MOVQ  odd+8(FP), BX
	MOVQ  late+16(FP), SI
	MOVQ  early+24(FP), DX
	MOVQ  step+32(FP), R9
	MOVQ  pairs+40(FP), R11
	MOVQ  run+48(FP), R10
	MOVQ  R10, CX
	ANDQ  $15, CX
	TAILMASK
	MOVQ  R10, R12
	ANDQ  $~15, R12
	SHLQ  $2, R12
	SHLQ  $2, R10
	SHLQ  $2, R9
	MOVQ  R11, AX
	DECQ  AX
	IMULQ R10, AX
	ADDQ  AX, SI

pair:
	XORQ R8, R8
	CMPQ R8, R12
	JEQ  rest

vector:
	VMOVUPS (SI)(R8*1), Z0
	VMOVUPS (DX)(R8*1), Z1
	VADDPS  Z1, Z0, Z2
	VSUBPS  Z1, Z0, Z3
	VMOVUPS Z2, (DI)(R8*1)
	VMOVUPS Z3, (BX)(R8*1)
	ADDQ    $64, R8
	CMPQ    R8, R12
	JLT     vector

rest:
	CMPQ      R8, R10
	JEQ       next
	VMOVUPS.Z (SI)(R8*1), K1, Z0
	VMOVUPS.Z (DX)(R8*1), K1, Z1
	VADDPS    Z1, Z0, Z2
	VSUBPS    Z1, Z0, Z3
	VMOVUPS   Z2, K1, (DI)(R8*1)
	VMOVUPS   Z3, K1, (BX)(R8*1)

next:
	ADDQ R9, DI
	ADDQ R9, BX
	SUBQ R10, SI
	ADDQ R10, DX
	DECQ R11
	JNE  pair
	VZEROUPPER
	RET
