//go:build !noasm

#include "textflag.h"

// func pause(n uint32)
//
//	for ; n != 0; n-- { YIELD }
TEXT ·pause(SB), NOSPLIT, $0-4
	MOVWU n+0(FP), R0 // R0 = n
	CBZ   R0, done

loop:
	YIELD
	SUB  $1, R0   // n--
	CBNZ R0, loop

done:
	RET
