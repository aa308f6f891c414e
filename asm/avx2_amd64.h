// Macros shared by the AVX2 kernels.

// tailMask<> + 4*(8-n) is the mask of n values.
DATA tailMask<>+0(SB)/8, $0xffffffffffffffff
DATA tailMask<>+8(SB)/8, $0xffffffffffffffff
DATA tailMask<>+16(SB)/8, $0xffffffffffffffff
DATA tailMask<>+24(SB)/8, $0xffffffffffffffff
DATA tailMask<>+32(SB)/8, $0
DATA tailMask<>+40(SB)/8, $0
DATA tailMask<>+48(SB)/8, $0
DATA tailMask<>+56(SB)/8, $0
GLOBL tailMask<>(SB), RODATA|NOPTR, $64

// TAILMASK sets the lowest CX lanes of Y15, CX <= 8.
#define TAILMASK \
	LEAQ    tailMask<>+32(SB), AX; \
	SHLQ    $2, CX;                \
	SUBQ    CX, AX;                \
	VMOVUPS (AX), Y15

#define LOAD4(P, A, B, C, D) \
	VMOVUPS (P), A;   \
	VMOVUPS 32(P), B; \
	VMOVUPS 64(P), C; \
	VMOVUPS 96(P), D

#define STORE4(A, B, C, D, P) \
	VMOVUPS A, (P);   \
	VMOVUPS B, 32(P); \
	VMOVUPS C, 64(P); \
	VMOVUPS D, 96(P)
