// Macros of the kernels with a register tile T of at most 6 rows and 64 columns, row i in Z(4i)..Z(4i+3), by rows of B in
// Z24..Z27, whose halves, at DI and R8, need not lie side by side. A value of A is in Z28.

#define WIDE(x, c0, c1, c2, c3) \
	VBROADCASTSS x, Z28       \
	VFMADD231PS  Z24, Z28, c0 \
	VFMADD231PS  Z25, Z28, c1 \
	VFMADD231PS  Z26, Z28, c2 \
	VFMADD231PS  Z27, Z28, c3

// NN1..NN6 multiply the first rows of A, row-major, at byte d of each row.
#define NN1(row, d) row(d(SI), Z0, Z1, Z2, Z3)
#define NN2(row, d) NN1(row, d); row(d(SI)(R9*1), Z4, Z5, Z6, Z7)
#define NN3(row, d) NN2(row, d); row(d(SI)(R9*2), Z8, Z9, Z10, Z11)
#define NN4(row, d) NN3(row, d); row(d(R11), Z12, Z13, Z14, Z15)
#define NN5(row, d) NN4(row, d); row(d(R11)(R9*1), Z16, Z17, Z18, Z19)
#define NN6(row, d) NN5(row, d); row(d(R11)(R9*2), Z20, Z21, Z22, Z23)

// TN1..TN6 multiply those of a step of A, k-major.
#define TN1(row, a) row(a(0), Z0, Z1, Z2, Z3)
#define TN2(row, a) TN1(row, a); row(a(4), Z4, Z5, Z6, Z7)
#define TN3(row, a) TN2(row, a); row(a(8), Z8, Z9, Z10, Z11)
#define TN4(row, a) TN3(row, a); row(a(12), Z12, Z13, Z14, Z15)
#define TN5(row, a) TN4(row, a); row(a(16), Z16, Z17, Z18, Z19)
#define TN6(row, a) TN5(row, a); row(a(20), Z20, Z21, Z22, Z23)

#define NNADVANCE(bytes) \
	ADDQ $bytes, SI  \
	ADDQ $bytes, R11

#define B0 \
	VMOVUPS (DI), Z24   \
	VMOVUPS 64(DI), Z25 \
	VMOVUPS (R8), Z26   \
	VMOVUPS 64(R8), Z27

#define B1 \
	VMOVUPS (DI)(AX*1), Z24   \
	VMOVUPS 64(DI)(AX*1), Z25 \
	VMOVUPS (R8)(AX*1), Z26   \
	VMOVUPS 64(R8)(AX*1), Z27

#define B2 \
	VMOVUPS (DI)(AX*2), Z24   \
	VMOVUPS 64(DI)(AX*2), Z25 \
	VMOVUPS (R8)(AX*2), Z26   \
	VMOVUPS 64(R8)(AX*2), Z27

#define B3 \
	VMOVUPS (DI)(DX*1), Z24   \
	VMOVUPS 64(DI)(DX*1), Z25 \
	VMOVUPS (R8)(DX*1), Z26   \
	VMOVUPS 64(R8)(DX*1), Z27

#define NEXT \
	ADDQ AX, DI \
	ADDQ AX, R8

#define NEXTFOUR \
	LEAQ (DI)(AX*4), DI \
	LEAQ (R8)(AX*4), R8
