//go:build !noasm

#include "textflag.h"

// prefetchT1 touches each line of 64 bytes that a row meets. In Go:
//
//	for r := range rows {
//		for at := row r's first byte; at < row r's end; at += 64 {
//			prefetch(at)
//		}
//		prefetch(row r's last byte) // a row may begin in the middle of a line
//	}
//
//	SI, R9  row, ld in bytes
//	DX      rows left
//	CX      bytes of a row, less one
//	AX, BX  position, the row's last byte

// func prefetchT1(x *float32, ld, rows, cols int)
TEXT ·prefetchT1(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ ld+8(FP), R9
	MOVQ rows+16(FP), DX
	MOVQ cols+24(FP), CX
	SHLQ $2, R9
	SHLQ $2, CX
	DECQ CX

row:
	MOVQ SI, AX
	LEAQ (SI)(CX*1), BX

line:
	PREFETCHT1 (AX)
	ADDQ       $64, AX
	CMPQ       AX, BX
	JB         line
	PREFETCHT1 (BX)
	ADDQ       R9, SI
	DECQ       DX
	JNZ        row
	RET
