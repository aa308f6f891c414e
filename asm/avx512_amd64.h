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
