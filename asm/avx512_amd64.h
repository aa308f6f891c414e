// Macros shared by the AVX-512 kernels.

// TAILMASK sets K1 to the lowest CX bits, CX < 16.
#define TAILMASK \
	MOVL  $1, AX; \
	SHLL  CX, AX; \
	DECL  AX;     \
	KMOVW AX, K1

#define LOAD4(P, A, B, C, D) \
	VMOVUPS (P), A;    \
	VMOVUPS 64(P), B;  \
	VMOVUPS 128(P), C; \
	VMOVUPS 192(P), D

#define STORE4(A, B, C, D, P) \
	VMOVUPS A, (P);    \
	VMOVUPS B, 64(P);  \
	VMOVUPS C, 128(P); \
	VMOVUPS D, 192(P)

#define TRANSPOSEQUAD(A, B, C, D, S, T, U, V) \
	VUNPCKLPS B, A, S; \
	VUNPCKHPS B, A, T; \
	VUNPCKLPS D, C, U; \
	VUNPCKHPS D, C, V; \
	VUNPCKLPD U, S, A; \
	VUNPCKHPD U, S, B; \
	VUNPCKLPD V, T, C; \
	VUNPCKHPD V, T, D

#define TRANSPOSELANES(A, B, C, D, S, T, U, V) \
	VSHUFF32X4 $0x44, B, A, S; \
	VSHUFF32X4 $0xee, B, A, T; \
	VSHUFF32X4 $0x44, D, C, U; \
	VSHUFF32X4 $0xee, D, C, V; \
	VSHUFF32X4 $0x88, U, S, A; \
	VSHUFF32X4 $0xdd, U, S, B; \
	VSHUFF32X4 $0x88, V, T, C; \
	VSHUFF32X4 $0xdd, V, T, D

// TRANSPOSE16 transposes the 16 rows Z0..Z15: 4x4 values within each 128-bit lane of four
// rows, then 4x4 lanes of four such results. It uses Z16..Z31.
#define TRANSPOSE16 \
	TRANSPOSEQUAD(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19);     \
	TRANSPOSEQUAD(Z4, Z5, Z6, Z7, Z20, Z21, Z22, Z23);     \
	TRANSPOSEQUAD(Z8, Z9, Z10, Z11, Z24, Z25, Z26, Z27);   \
	TRANSPOSEQUAD(Z12, Z13, Z14, Z15, Z28, Z29, Z30, Z31); \
	TRANSPOSELANES(Z0, Z4, Z8, Z12, Z16, Z17, Z18, Z19);   \
	TRANSPOSELANES(Z1, Z5, Z9, Z13, Z20, Z21, Z22, Z23);   \
	TRANSPOSELANES(Z2, Z6, Z10, Z14, Z24, Z25, Z26, Z27);  \
	TRANSPOSELANES(Z3, Z7, Z11, Z15, Z28, Z29, Z30, Z31)

// ZERO28 clears Z0..Z27, the sums of a register tile.
#define ZERO28 \
	VPXORD Z0, Z0, Z0;    \
	VPXORD Z1, Z1, Z1;    \
	VPXORD Z2, Z2, Z2;    \
	VPXORD Z3, Z3, Z3;    \
	VPXORD Z4, Z4, Z4;    \
	VPXORD Z5, Z5, Z5;    \
	VPXORD Z6, Z6, Z6;    \
	VPXORD Z7, Z7, Z7;    \
	VPXORD Z8, Z8, Z8;    \
	VPXORD Z9, Z9, Z9;    \
	VPXORD Z10, Z10, Z10; \
	VPXORD Z11, Z11, Z11; \
	VPXORD Z12, Z12, Z12; \
	VPXORD Z13, Z13, Z13; \
	VPXORD Z14, Z14, Z14; \
	VPXORD Z15, Z15, Z15; \
	VPXORD Z16, Z16, Z16; \
	VPXORD Z17, Z17, Z17; \
	VPXORD Z18, Z18, Z18; \
	VPXORD Z19, Z19, Z19; \
	VPXORD Z20, Z20, Z20; \
	VPXORD Z21, Z21, Z21; \
	VPXORD Z22, Z22, Z22; \
	VPXORD Z23, Z23, Z23; \
	VPXORD Z24, Z24, Z24; \
	VPXORD Z25, Z25, Z25; \
	VPXORD Z26, Z26, Z26; \
	VPXORD Z27, Z27, Z27

// JUMP6 goes to the label of m = AX, 1 <= m <= 6, JUMP7 to that of m <= 7.
#define JUMP6(l1, l2, l3, l4, l5, l6) \
	CMPQ AX, $6; \
	JEQ  l6;     \
	CMPQ AX, $5; \
	JEQ  l5;     \
	CMPQ AX, $4; \
	JEQ  l4;     \
	CMPQ AX, $3; \
	JEQ  l3;     \
	CMPQ AX, $2; \
	JEQ  l2;     \
	JMP  l1

#define JUMP7(l1, l2, l3, l4, l5, l6, l7) \
	CMPQ AX, $7;                  \
	JEQ  l7;                      \
	JUMP6(l1, l2, l3, l4, l5, l6)

// MASKS32 sets K1 and K2 to the columns 0..15 and 16..31 that exist of CX <= 32.
#define MASKS32 \
	MOVQ  $1, AX;  \
	SHLQ  CX, AX;  \
	DECQ  AX;      \
	KMOVW AX, K1;  \
	SHRQ  $16, AX; \
	KMOVW AX, K2

// FETCHTWO asks for AX rows of 32 columns at DX and at BX, R8 bytes apart.
#define FETCHTWO(again) \
again:  \
	PREFETCHT0 (DX);   \
	PREFETCHT0 64(DX); \
	PREFETCHT0 (BX);   \
	PREFETCHT0 64(BX); \
	ADDQ       R8, DX; \
	ADDQ       R8, BX; \
	DECQ       AX;     \
	JNZ        again
