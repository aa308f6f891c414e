// Macros shared by the complex products of AVX-512, in tiles of at most 4 rows and two vectors of columns; both kernels
// list their registers. Before this file one defines REPEAT, which fills a vector with what it takes of A, and COMBINE, by
// which the parts of A make the operand of S; and before LOOPS, STEPS, which adds up all steps with given rows and loads.

#define ROW(a0, a1, s0, s1, d0, d1, t0, t1) \
	REPEAT      a0, Z30       \
	REPEAT      a1, Z31       \
	VFMADD231PS Z26, Z30, d0  \
	VFMADD231PS Z27, Z30, d1  \
	COMBINE     Z31, Z30, Z30 \
	VFMADD231PS Z28, Z31, t0  \
	VFMADD231PS Z29, Z31, t1  \
	VFMADD231PS Z24, Z30, s0  \
	VFMADD231PS Z25, Z30, s1

#define ROWS1 ROW((SI), (R11), Z0, Z1, Z8, Z9, Z16, Z17)
#define ROWS2 ROWS1; ROW((SI)(R9*1), (R11)(R9*1), Z2, Z3, Z10, Z11, Z18, Z19)
#define ROWS3 ROWS2; ROW((SI)(R9*2), (R11)(R9*2), Z4, Z5, Z12, Z13, Z20, Z21)
#define ROWS4 ROWS3; ROW((SI)(R13*1), (R11)(R13*1), Z6, Z7, Z14, Z15, Z22, Z23)

// NARROW and what follows are for one vector of columns.
#define NARROW(a0, a1, s0, d0, t0) \
	REPEAT      a0, Z30       \
	REPEAT      a1, Z31       \
	VFMADD231PS Z26, Z30, d0  \
	COMBINE     Z31, Z30, Z30 \
	VFMADD231PS Z28, Z31, t0  \
	VFMADD231PS Z24, Z30, s0

#define NARROW1 NARROW((SI), (R11), Z0, Z8, Z16)
#define NARROW2 NARROW1; NARROW((SI)(R9*1), (R11)(R9*1), Z2, Z10, Z18)
#define NARROW3 NARROW2; NARROW((SI)(R9*2), (R11)(R9*2), Z4, Z12, Z20)
#define NARROW4 NARROW3; NARROW((SI)(R13*1), (R11)(R13*1), Z6, Z14, Z22)

#define SUMS \
	VSUBPS Z24, Z30, Z26 \
	VSUBPS Z25, Z31, Z27 \
	VADDPS Z24, Z30, Z28 \
	VADDPS Z25, Z31, Z29

#define FULL \
	VMOVUPS (DI), Z24   \
	VMOVUPS 64(DI), Z25 \
	VMOVUPS (BX), Z30   \
	VMOVUPS 64(BX), Z31 \
	SUMS

#define MASKED \
	VMOVUPS.Z (DI), K1, Z24   \
	VMOVUPS.Z 64(DI), K2, Z25 \
	VMOVUPS.Z (BX), K1, Z30   \
	VMOVUPS.Z 64(BX), K2, Z31 \
	SUMS

#define ONE \
	VMOVUPS.Z (DI), K1, Z24 \
	VMOVUPS.Z (BX), K1, Z30 \
	VSUBPS    Z24, Z30, Z26 \
	VADDPS    Z24, Z30, Z28

// LOOPS goes to the loop for AX rows and the columns at n+8(FP): whole of them, half or fewer, or others under masks.
#define LOOPS(half, whole) \
	CMPQ n+8(FP), $half  \
	JLE  narrow          \
	CMPQ n+8(FP), $whole \
	JLT  masked          \
	CMPQ AX, $4          \
	JEQ  full4           \
	CMPQ AX, $3          \
	JEQ  full3           \
	CMPQ AX, $2          \
	JEQ  full2           \
	JMP  full1           \
	masked:         \
	CMPQ    AX, $4  \
	JEQ     masked4 \
	CMPQ    AX, $3  \
	JEQ     masked3 \
	CMPQ    AX, $2  \
	JEQ     masked2 \
	JMP     masked1 \
	narrow:         \
	CMPQ    AX, $4  \
	JEQ     narrow4 \
	CMPQ    AX, $3  \
	JEQ     narrow3 \
	CMPQ    AX, $2  \
	JEQ     narrow2 \
	JMP     narrow1 \
	full1:                             \
	STEPS(ROWS1, FULL, full1again)     \
	full2:                             \
	STEPS(ROWS2, FULL, full2again)     \
	full3:                             \
	STEPS(ROWS3, FULL, full3again)     \
	full4:                             \
	STEPS(ROWS4, FULL, full4again)     \
	masked1:                           \
	STEPS(ROWS1, MASKED, masked1again) \
	masked2:                           \
	STEPS(ROWS2, MASKED, masked2again) \
	masked3:                           \
	STEPS(ROWS3, MASKED, masked3again) \
	masked4:                           \
	STEPS(ROWS4, MASKED, masked4again) \
	narrow1:                           \
	STEPS(NARROW1, ONE, narrow1again)  \
	narrow2:                           \
	STEPS(NARROW2, ONE, narrow2again)  \
	narrow3:                           \
	STEPS(NARROW3, ONE, narrow3again)  \
	narrow4:                           \
	STEPS(NARROW4, ONE, narrow4again)
