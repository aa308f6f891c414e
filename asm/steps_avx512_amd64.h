// Macros of kernels that run through the steps of a register tile four at a time. Before this file one defines, for a tile
// whose rows of A are at SI, R11 and so on, R9 bytes apart or, k-major, with R9 bytes from step to step and R11 three steps
// further than SI,
//
//	B0..B3              load the row of B of the step, and of the three after it
//	NEXT, NEXTFOUR      go on by a step of B, and by four
//	NNADVANCE(bytes)    goes on by so many bytes of each row of A, row-major
//	WIDE                multiplies a value of A by the row of B
//
// and the rows of all heights, which take WIDE and the bytes from the beginning of a row of A, or, k-major, one of
// A0..A3.
//
// In four steps two lines of 64 bytes are fetched ahead, at R14, one after the other: both at once, or one in each step,
// make products slower whose operands come from beyond the second-level cache, and so does one in all four.

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
	PREFETCHT0 (R14)        \
	rows(WIDE, 0)           \
	B1                      \
	rows(WIDE, 4)           \
	B2                      \
	PREFETCHT0 64(R14)      \
	rows(WIDE, 8)           \
	B3                      \
	rows(WIDE, 12)          \
	ADDQ       $128, R14    \
	NNADVANCE(16)           \
	NEXTFOUR                \
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
	PREFETCHT0 (R14)            \
	rows(WIDE, A0)              \
	B1                          \
	rows(WIDE, A1)              \
	B2                          \
	PREFETCHT0 64(R14)          \
	rows(WIDE, A2)              \
	B3                          \
	rows(WIDE, A3)              \
	ADDQ       $128, R14        \
	LEAQ       (SI)(R9*4), SI   \
	LEAQ       (R11)(R9*4), R11 \
	NEXTFOUR                    \
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
