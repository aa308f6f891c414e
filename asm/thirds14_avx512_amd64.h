// Macros of kernels for one of the three products of a complex one with tiles of 7 to 14 rows. Beside those for
// thirds_avx512_amd64.h one defines before this file
//
//	FETCHROW  asks for the row of C at DX
//
// Registers are those of thirds14x32_avx512_amd64.s.

#include "thirds_avx512_amd64.h"
#include "heights14_avx512_amd64.h"

// MAKEROWSOF and MAKECOLUMNSOF go to the loop for m rows that makes the panel, of A row-major and of A k-major.
#define MAKEROWSOF(m) HEIGHT(m, makeRows7, makeRows8, makeRows9, makeRows10, makeRows11, makeRows12, makeRows13, makeRows14)
#define MAKECOLUMNSOF(m) HEIGHT(m, makeCols7, makeCols8, makeCols9, makeCols10, makeCols11, makeCols12, makeCols13, makeCols14)

// THIRDS14 is such a kernel, after TEXT. Rows of S, and of either half of the panel, have 1<<bits bytes.
#define THIRDS14(bits) \
	MOVQ         ahead+120(FP), R14 \
	strip:                          \
	MOVQ         c+96(FP), DX       \
	MOVQ         ldc+104(FP), R8    \
	MOVQ         m+8(FP), AX        \
	SHLQ         $2, R8             \
	fetch:                          \
	FETCHROW                        \
	ADDQ         R8, DX             \
	DECQ         AX                 \
	JNZ          fetch              \
	ZERO28                          \
	MOVQ         k+16(FP), CX       \
	MOVQ         a+24(FP), SI       \
	MOVQ         b+48(FP), DI       \
	MOVQ         ldb+56(FP), AX     \
	MOVQ         bi+64(FP), DX      \
	MOVQ         panel+72(FP), R8   \
	MOVQ         CX, R15            \
	SHLQ         $2, AX             \
	SHLQ         $bits, R15         \
	CMPQ         step+40(FP), $1    \
	JNE          columns            \
	MOVQ         row+32(FP), R9     \
	SHLQ         $2, R9             \
	LEAQ         (R9)(R9*2), BX     \
	LEAQ         (SI)(BX*1), R11    \
	LEAQ         (SI)(BX*2), R12    \
	LEAQ         (R11)(BX*2), R13   \
	LEAQ         (SI)(BX*4), BX     \
	TESTQ        DX, DX             \
	JNZ          makeRows           \
	LEAQ         (AX)(AX*2), DX     \
	ROWSOF(m+8(FP))                 \
	makeRows:                       \
	MAKEROWSOF(m+8(FP))             \
	columns:                        \
	MOVQ         step+40(FP), R9    \
	SHLQ         $2, R9             \
	LEAQ         (R9)(R9*2), R11    \
	ADDQ         SI, R11            \
	TESTQ        DX, DX             \
	JNZ          makeColumns        \
	LEAQ         (AX)(AX*2), DX     \
	COLUMNSOF(m+8(FP))              \
	makeColumns:                    \
	MAKECOLUMNSOF(m+8(FP))          \
	LOOPS                           \
	makeRows7:                      \
	MAKENN(NN7, makeRows7one)       \
	makeRows8:                      \
	MAKENN(NN8, makeRows8one)       \
	makeRows9:                      \
	MAKENN(NN9, makeRows9one)       \
	makeRows10:                     \
	MAKENN(NN10, makeRows10one)     \
	makeRows11:                     \
	MAKENN(NN11, makeRows11one)     \
	makeRows12:                     \
	MAKENN(NN12, makeRows12one)     \
	makeRows13:                     \
	MAKENN(NN13, makeRows13one)     \
	makeRows14:                     \
	MAKENN(NN14, makeRows14one)     \
	makeCols7:                      \
	MAKETN(TN7, makeCols7one)       \
	makeCols8:                      \
	MAKETN(TN8, makeCols8one)       \
	makeCols9:                      \
	MAKETN(TN9, makeCols9one)       \
	makeCols10:                     \
	MAKETN(TN10, makeCols10one)     \
	makeCols11:                     \
	MAKETN(TN11, makeCols11one)     \
	makeCols12:                     \
	MAKETN(TN12, makeCols12one)     \
	makeCols13:                     \
	MAKETN(TN13, makeCols13one)     \
	makeCols14:                     \
	MAKETN(TN14, makeCols14one)     \
	END(bits)
