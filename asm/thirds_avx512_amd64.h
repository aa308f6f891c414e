// Macros shared by the kernels that compute one of the three products of a complex one. Before this file one defines, for
// a tile T whose rows of A are at SI, R11 and so on,
//
//	B0..B3                  load the row of B of the step, and of the three after it
//	NEXT, NEXTFOUR          go on by a step of B, and by four
//	NNADVANCE(bytes)        goes on by so many bytes of each row of A, row-major
//	WIDE                    multiplies a value of A by the row of B
//	MAKE                    loads the row of B, and makes and keeps a row of the panel
//	KEEP, REAL, IMAGINARY   write T to S, or make C of both
//	STORE, MORE             write a row of C, or add to it, and go on to the next or, after the last, to done
//	ALL(do)                 does one of these five with each row
//
// and the rows of all heights, which take WIDE and the bytes from the beginning of a row of A, or, k-major, one of
// A0..A3. The five get the bytes from the beginning of S. Registers are listed with the kernels.

#define A0(d) d(SI)
#define A1(d) d(SI)(R9*1)
#define A2(d) d(SI)(R9*2)
#define A3(d) d(R11)

// LOOPNN and LOOPTN run through CX steps, four at a time, and go on to sums.
#define LOOPNN(rows, four, rest, one) \
	SHRQ       $2, CX       \
	JZ         rest         \
	PCALIGN    $64          \
	four:                   \
	B0                      \
	rows(WIDE, 0)           \
	B1                      \
	rows(WIDE, 4)           \
	B2                      \
	rows(WIDE, 8)           \
	B3                      \
	rows(WIDE, 12)          \
	PREFETCHT0 (R14)        \
	PREFETCHT0 64(R14)      \
	NNADVANCE(16)           \
	NEXTFOUR                \
	ADDQ       $128, R14    \
	DECQ       CX           \
	JNZ        four         \
	rest:                   \
	MOVQ       k+16(FP), CX \
	ANDQ       $3, CX       \
	JZ         sums         \
	one:                    \
	B0                      \
	rows(WIDE, 0)           \
	NNADVANCE(4)            \
	NEXT                    \
	DECQ       CX           \
	JNZ        one          \
	JMP        sums

#define LOOPTN(rows, four, rest, one) \
	SHRQ       $2, CX           \
	JZ         rest             \
	PCALIGN    $64              \
	four:                       \
	B0                          \
	rows(WIDE, A0)              \
	B1                          \
	rows(WIDE, A1)              \
	B2                          \
	rows(WIDE, A2)              \
	B3                          \
	rows(WIDE, A3)              \
	PREFETCHT0 (R14)            \
	PREFETCHT0 64(R14)          \
	LEAQ       (SI)(R9*4), SI   \
	LEAQ       (R11)(R9*4), R11 \
	NEXTFOUR                    \
	ADDQ       $128, R14        \
	DECQ       CX               \
	JNZ        four             \
	rest:                       \
	MOVQ       k+16(FP), CX     \
	ANDQ       $3, CX           \
	JZ         sums             \
	one:                        \
	B0                          \
	rows(WIDE, A0)              \
	ADDQ       R9, SI           \
	NEXT                        \
	DECQ       CX               \
	JNZ        one              \
	JMP        sums

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
