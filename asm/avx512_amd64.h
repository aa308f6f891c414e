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
