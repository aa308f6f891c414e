//go:build !noasm

#include "textflag.h"

// func pause(n uint32)
//
//	for ; n != 0; n-- { PAUSE }
TEXT ·pause(SB), NOSPLIT, $0-4
	MOVL  n+0(FP), CX // CX = n
	TESTL CX, CX
	JZ    done

loop:
	PAUSE
	DECL CX   // n--
	JNZ  loop

done:
	RET
