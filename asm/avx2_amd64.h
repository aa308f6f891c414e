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

// ZERO12 clears the sums of a tile.
#define ZERO12 \
	VXORPS Y0, Y0, Y0;    \
	VXORPS Y1, Y1, Y1;    \
	VXORPS Y2, Y2, Y2;    \
	VXORPS Y3, Y3, Y3;    \
	VXORPS Y4, Y4, Y4;    \
	VXORPS Y5, Y5, Y5;    \
	VXORPS Y6, Y6, Y6;    \
	VXORPS Y7, Y7, Y7;    \
	VXORPS Y8, Y8, Y8;    \
	VXORPS Y9, Y9, Y9;    \
	VXORPS Y10, Y10, Y10; \
	VXORPS Y11, Y11, Y11

// STORENARROW stores the lowest R12 < 16 values of Y12 and Y13 at P, which counts along. Masked stores are slow on some
// processors. Done follows it, and the other labels are its own.
#define STORENARROW(P, four, two, one, done) \
	TESTQ        $8, R12;       \
	JZ           four;          \
	VMOVUPS      Y12, (P);      \
	VMOVAPS      Y13, Y12;      \
	ADDQ         $32, P;        \
	four:                       \
	TESTQ        $4, R12;       \
	JZ           two;           \
	VMOVUPS      X12, (P);      \
	VEXTRACTF128 $1, Y12, X12;  \
	ADDQ         $16, P;        \
	two:                        \
	TESTQ        $2, R12;       \
	JZ           one;           \
	VMOVLPS      X12, (P);      \
	VMOVHLPS     X12, X12, X12; \
	ADDQ         $8, P;         \
	one:                        \
	TESTQ        $1, R12;       \
	JZ           done;          \
	VMOVSS       X12, (P)
