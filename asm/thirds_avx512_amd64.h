// Macros shared by the kernels that compute one of the three products of a complex one. Beside those for
// steps_avx512_amd64.h one defines before this file, for a tile T,
//
//	MAKE                    loads the row of B, and makes and keeps a row of the panel
//	KEEP, REAL, IMAGINARY   write T to S, or make C of both
//	STORE, MORE             write a row of C, or add to it, and go on to the next or, after the last, to done
//	ALL(do)                 does one of these five, given the bytes from the beginning of S, with each row
//
// Registers are listed with the kernels.

#include "steps_avx512_amd64.h"

// MAKENN and MAKETN make a row of the panel in each of CX steps.
#define MAKENN(rows, one) \
one:  \
	MAKE          \
	rows(WIDE, 0) \
	NNADVANCE(4)  \
	DECQ CX       \
	JNZ  one      \
	JMP  sums

#define MAKETN(rows, one) \
one:  \
	MAKE           \
	rows(WIDE, A0) \
	ADDQ R9, SI    \
	DECQ CX        \
	JNZ  one       \
	JMP  sums

// END makes S or C of T and goes to the next strip. The row of S, of 1<<bits bytes, is at DI, that of C at R8, DX is ldc
// in bytes, and AX counts rows.
#define END(bits) \
sums:  \
	MOVQ s+88(FP), DI     \
	MOVQ c+96(FP), R8     \
	MOVQ ldc+104(FP), DX  \
	MOVQ m+8(FP), AX      \
	SHLQ $2, DX           \
	CMPQ third+80(FP), $1 \
	JEQ  real             \
	JGT  imaginary        \
	ALL(KEEP)             \
	JMP  done             \
	real:      \
	ALL(REAL)  \
	JMP   save \
	imaginary:                         \
	ALL(IMAGINARY)                     \
	save:                              \
	CMPB        accumulate+112(FP), $0 \
	JNE         accumulate             \
	ALL(STORE)                         \
	accumulate:                        \
	ALL(MORE)                          \
	done:                              \
	DECQ        strips+0(FP)           \
	JZ          return                 \
	MOVQ        m+8(FP), AX            \
	MOVQ        AX, CX                 \
	IMULQ       AX, DX                 \
	IMULQ       row+32(FP), AX         \
	SHLQ        $bits, CX              \
	SHLQ        $2, AX                 \
	ADDQ        AX, a+24(FP)           \
	ADDQ        CX, s+88(FP)           \
	ADDQ        DX, c+96(FP)           \
	MOVQ        $0, bi+64(FP)          \
	JMP         strip                  \
	return:    \
	VZEROUPPER \
	RET
