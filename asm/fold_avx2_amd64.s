//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// func foldAVX2(even, odd, late, early *float32, step, pairs, run int)
//
// Each run 8 values an iteration, then the rest under a mask:
//
//	late += (pairs-1)*run
//	for ; pairs > 0; pairs-- {
//		for i := 0; i < run; i += 8 {
//			even[i:i+8], odd[i:i+8] = late[i:i+8] + early[i:i+8], late[i:i+8] - early[i:i+8]
//		}
//		even, odd, late, early = even+step, odd+step, late-run, early+run
//	}
//
// The loads of an iteration come before its stores, so a result may be a source.
//
// Registers
//	DI even   BX odd   SI late   DX early   R9 step, R10 run in bytes   R11 pairs left
//	R8 bytes done of the run   R12 bytes of its whole vectors   AX, CX scratch
//	Y0 late   Y1 early   Y2 sum   Y3 difference   Y15 mask of the last vector
TEXT ·foldAVX2(SB), NOSPLIT, $0-56
	MOVQ  even+0(FP), DI
	MOVQ  odd+8(FP), BX
	MOVQ  late+16(FP), SI
	MOVQ  early+24(FP), DX
	MOVQ  step+32(FP), R9
	MOVQ  pairs+40(FP), R11
	MOVQ  run+48(FP), R10
	MOVQ  R10, CX
	ANDQ  $7, CX
	TAILMASK
	MOVQ  R10, R12
	ANDQ  $~7, R12
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
	VMOVUPS (SI)(R8*1), Y0
	VMOVUPS (DX)(R8*1), Y1
	VADDPS  Y1, Y0, Y2
	VSUBPS  Y1, Y0, Y3
	VMOVUPS Y2, (DI)(R8*1)
	VMOVUPS Y3, (BX)(R8*1)
	ADDQ    $32, R8
	CMPQ    R8, R12
	JLT     vector

rest:
	CMPQ       R8, R10
	JEQ        next
	VMASKMOVPS (SI)(R8*1), Y15, Y0
	VMASKMOVPS (DX)(R8*1), Y15, Y1
	VADDPS     Y1, Y0, Y2
	VSUBPS     Y1, Y0, Y3
	VMASKMOVPS Y2, Y15, (DI)(R8*1)
	VMASKMOVPS Y3, Y15, (BX)(R8*1)

next:
	ADDQ R9, DI
	ADDQ R9, BX
	SUBQ R10, SI
	ADDQ R10, DX
	DECQ R11
	JNE  pair
	VZEROUPPER
	RET
