// Macros shared by kernels with tiles of 7 to 14 rows that run through steps as steps_avx512_amd64.h has it.

// HEIGHT goes to the loop for m rows.
#define HEIGHT(m, l7, l8, l9, l10, l11, l12, l13, l14) \
	CMPQ m, $14; JEQ l14 \
	CMPQ m, $13; JEQ l13 \
	CMPQ m, $12; JEQ l12 \
	CMPQ m, $11; JEQ l11 \
	CMPQ m, $10; JEQ l10 \
	CMPQ m, $9; JEQ l9   \
	CMPQ m, $8; JEQ l8   \
	JMP  l7

// ROWSOF and COLUMNSOF go to the loop of LOOPS for m rows, of A row-major and of A k-major.
#define ROWSOF(m) HEIGHT(m, rows7, rows8, rows9, rows10, rows11, rows12, rows13, rows14)
#define COLUMNSOF(m) HEIGHT(m, cols7, cols8, cols9, cols10, cols11, cols12, cols13, cols14)

// LOOPS has the loops of all heights, for A row-major and for A k-major.
#define LOOPS \
rows7:  \
	LOOPNN(NN7, rows7four, rows7rest, rows7one)     \
	rows8:                                          \
	LOOPNN(NN8, rows8four, rows8rest, rows8one)     \
	rows9:                                          \
	LOOPNN(NN9, rows9four, rows9rest, rows9one)     \
	rows10:                                         \
	LOOPNN(NN10, rows10four, rows10rest, rows10one) \
	rows11:                                         \
	LOOPNN(NN11, rows11four, rows11rest, rows11one) \
	rows12:                                         \
	LOOPNN(NN12, rows12four, rows12rest, rows12one) \
	rows13:                                         \
	LOOPNN(NN13, rows13four, rows13rest, rows13one) \
	rows14:                                         \
	LOOPNN(NN14, rows14four, rows14rest, rows14one) \
	cols7:                                          \
	LOOPTN(TN7, cols7four, cols7rest, cols7one)     \
	cols8:                                          \
	LOOPTN(TN8, cols8four, cols8rest, cols8one)     \
	cols9:                                          \
	LOOPTN(TN9, cols9four, cols9rest, cols9one)     \
	cols10:                                         \
	LOOPTN(TN10, cols10four, cols10rest, cols10one) \
	cols11:                                         \
	LOOPTN(TN11, cols11four, cols11rest, cols11one) \
	cols12:                                         \
	LOOPTN(TN12, cols12four, cols12rest, cols12one) \
	cols13:                                         \
	LOOPTN(TN13, cols13four, cols13rest, cols13one) \
	cols14:                                         \
	LOOPTN(TN14, cols14four, cols14rest, cols14one)
