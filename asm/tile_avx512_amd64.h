// Macros of the kernels with a register tile T of at most 14 rows and 32 columns, row i in
// Z(2i) and Z(2i+1), by rows of B in Z28 and Z29. A value of A is in Z30.

// WIDE multiplies x, a value of A, by the row of B.
#define WIDE(x, t, c0, c1) \
	VBROADCASTSS x, t       \
	VFMADD231PS  Z28, t, c0 \
	VFMADD231PS  Z29, t, c1

// NARROW multiplies x by the row of B where that is one vector.
#define NARROW(x, t, c0, c1) \
	VFMADD231PS.BCST x, Z28, c0

	// NN1..NN14 multiply the first rows of A, row-major, at byte d of each row.

#define NN1(row, d) row(d(SI), Z30, Z0, Z1)
#define NN2(row, d) NN1(row, d); row(d(SI)(R9*1), Z30, Z2, Z3)
#define NN3(row, d) NN2(row, d); row(d(SI)(R9*2), Z30, Z4, Z5)
#define NN4(row, d) NN3(row, d); row(d(R11), Z30, Z6, Z7)
#define NN5(row, d) NN4(row, d); row(d(R11)(R9*1), Z30, Z8, Z9)
#define NN6(row, d) NN5(row, d); row(d(R11)(R9*2), Z30, Z10, Z11)
#define NN7(row, d) NN6(row, d); row(d(R12), Z30, Z12, Z13)
#define NN8(row, d) NN7(row, d); row(d(R12)(R9*1), Z30, Z14, Z15)
#define NN9(row, d) NN8(row, d); row(d(R12)(R9*2), Z30, Z16, Z17)
#define NN10(row, d) NN9(row, d); row(d(R13), Z30, Z18, Z19)
#define NN11(row, d) NN10(row, d); row(d(R13)(R9*1), Z30, Z20, Z21)
#define NN12(row, d) NN11(row, d); row(d(R13)(R9*2), Z30, Z22, Z23)
#define NN13(row, d) NN12(row, d); row(d(BX), Z30, Z24, Z25)
#define NN14(row, d) NN13(row, d); row(d(BX)(R9*1), Z30, Z26, Z27)

#define NNADVANCE(bytes) \
	ADDQ $bytes, SI  \
	ADDQ $bytes, R11 \
	ADDQ $bytes, R12 \
	ADDQ $bytes, R13 \
	ADDQ $bytes, BX

// TN1..TN14 multiply the first columns of A, k-major.

#define TN1(row, a) row(a(0), Z30, Z0, Z1)
#define TN2(row, a) TN1(row, a); row(a(4), Z30, Z2, Z3)
#define TN3(row, a) TN2(row, a); row(a(8), Z30, Z4, Z5)
#define TN4(row, a) TN3(row, a); row(a(12), Z30, Z6, Z7)
#define TN5(row, a) TN4(row, a); row(a(16), Z30, Z8, Z9)
#define TN6(row, a) TN5(row, a); row(a(20), Z30, Z10, Z11)
#define TN7(row, a) TN6(row, a); row(a(24), Z30, Z12, Z13)
#define TN8(row, a) TN7(row, a); row(a(28), Z30, Z14, Z15)
#define TN9(row, a) TN8(row, a); row(a(32), Z30, Z16, Z17)
#define TN10(row, a) TN9(row, a); row(a(36), Z30, Z18, Z19)
#define TN11(row, a) TN10(row, a); row(a(40), Z30, Z20, Z21)
#define TN12(row, a) TN11(row, a); row(a(44), Z30, Z22, Z23)
#define TN13(row, a) TN12(row, a); row(a(48), Z30, Z24, Z25)
#define TN14(row, a) TN13(row, a); row(a(52), Z30, Z26, Z27)

// PUT stores a row of T and steps to the row above, ADD adds it to C.
#define PUT(c0, c1) \
	VMOVUPS c0, K1, (R8)   \
	VMOVUPS c1, K2, 64(R8) \
	SUBQ    DX, R8

#define ADD(c0, c1) \
	VADDPS  (R8), c0, K1, c0   \
	VADDPS  64(R8), c1, K2, c1 \
	VMOVUPS c0, K1, (R8)       \
	VMOVUPS c1, K2, 64(R8)     \
	SUBQ    DX, R8

// FINISH stores the last m rows of T, entered at save14, ..., save1, and goes to
// next.
#define FINISH(accumulate) \
save14: CMPB accumulate, $0; JNE add14; JMP put14 \
save13: CMPB accumulate, $0; JNE add13; JMP put13 \
save12: CMPB accumulate, $0; JNE add12; JMP put12 \
save11: CMPB accumulate, $0; JNE add11; JMP put11 \
save10: CMPB accumulate, $0; JNE add10; JMP put10 \
save9: CMPB accumulate, $0; JNE add9; JMP put9 \
save8: CMPB accumulate, $0; JNE add8; JMP put8 \
save7: CMPB accumulate, $0; JNE add7; JMP put7 \
save6: CMPB accumulate, $0; JNE add6; JMP put6 \
save5: CMPB accumulate, $0; JNE add5; JMP put5 \
save4: CMPB accumulate, $0; JNE add4; JMP put4 \
save3: CMPB accumulate, $0; JNE add3; JMP put3 \
save2: CMPB accumulate, $0; JNE add2; JMP put2 \
save1: CMPB accumulate, $0; JNE add1; JMP put1 \
put14: PUT(Z26, Z27) \
put13: PUT(Z24, Z25) \
put12: PUT(Z22, Z23) \
put11: PUT(Z20, Z21) \
put10: PUT(Z18, Z19) \
put9: PUT(Z16, Z17) \
put8: PUT(Z14, Z15) \
put7: PUT(Z12, Z13) \
put6: PUT(Z10, Z11) \
put5: PUT(Z8, Z9) \
put4: PUT(Z6, Z7) \
put3: PUT(Z4, Z5) \
put2: PUT(Z2, Z3) \
put1: PUT(Z0, Z1) \
	JMP next \
	add14: ADD(Z26, Z27) \
	add13: ADD(Z24, Z25) \
	add12: ADD(Z22, Z23) \
	add11: ADD(Z20, Z21) \
	add10: ADD(Z18, Z19) \
	add9:  ADD(Z16, Z17) \
	add8:  ADD(Z14, Z15) \
	add7:  ADD(Z12, Z13) \
	add6:  ADD(Z10, Z11) \
	add5:  ADD(Z8, Z9)   \
	add4:  ADD(Z6, Z7)   \
	add3:  ADD(Z4, Z5)   \
	add2:  ADD(Z2, Z3)   \
	add1:  ADD(Z0, Z1)   \
	JMP    next

// JUMP goes to the loop for m = AX.
#define JUMP(l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14) \
	CMPQ AX, $14; JEQ l14 \
	CMPQ AX, $13; JEQ l13 \
	CMPQ AX, $12; JEQ l12 \
	CMPQ AX, $11; JEQ l11 \
	CMPQ AX, $10; JEQ l10 \
	CMPQ AX, $9; JEQ l9   \
	CMPQ AX, $8; JEQ l8   \
	CMPQ AX, $7; JEQ l7   \
	CMPQ AX, $6; JEQ l6   \
	CMPQ AX, $5; JEQ l5   \
	CMPQ AX, $4; JEQ l4   \
	CMPQ AX, $3; JEQ l3   \
	CMPQ AX, $2; JEQ l2   \
	JMP  l1

