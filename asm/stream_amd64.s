//go:build !noasm

#include "textflag.h"

// Copy with stores that go past the caches, one line of 64 bytes at a time. In
// Go:
//
//	for ; n > 0; n -= 16 { copy(dst[:16], src[:16]); advance both by 16 }
//
// Registers
//	DI dst   SI src   CX values left   Y0 Y1 a line

// func streamAVX2(dst, src *float32, n int)
TEXT ·streamAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

loop:
	VMOVUPS  (SI), Y0
	VMOVUPS  32(SI), Y1
	VMOVNTPS Y0, (DI)
	VMOVNTPS Y1, 32(DI)
	ADDQ     $64, SI
	ADDQ     $64, DI
	SUBQ     $16, CX
	JGT      loop
	SFENCE              // what follows must not be seen before it
	VZEROUPPER
	RET
