//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"
#include "explog_amd64.h"

// Exponential and natural logarithm, 16 values an iteration, then 8, then the
// rest under Y15. The arithmetic is that of explog_avx512_amd64.s, so results
// have the same bits; what VSCALEFPS, VGETEXPPS and VGETMANTPS do there is done
// on the integers here:
//
//	exp: 2^n is multiplied by adding n to the exponent of p. Outside
//	EXPMIN <= x <= EXPMAX, x is clamped first and the result replaced after.
//	log: e = (bits - bits(0.75)) >> 23 (arithmetic), m = bits - e<<23. A vector
//	with a value that is not a positive normal number takes the path "special".
//
// Registers of exp
//	DI dst   SI x   CX values left   AX scratch
//	Y0 Y1  x   Y2 Y3  n   Y4 Y5  p   Y6 Y7  clamped x, r
//	Y12 magic   Y13 E6   Y14 one   Y15 mask of the rest
//
// Registers of log
//	DI dst   SI x   CX values left   AX R8 scratch
//	Y0 Y1  x, then f   Y2 Y3  e   Y4 Y5  q, then w   Y6 Y7  f*f   Y8-Y11 scratch
//	Y13 L7   Y14 one   Y15 mask of the rest

#define EIGHT(NAME, V) \
DATA NAME<>+0(SB)/4, $V; \
DATA NAME<>+4(SB)/4, $V; \
DATA NAME<>+8(SB)/4, $V; \
DATA NAME<>+12(SB)/4, $V; \
DATA NAME<>+16(SB)/4, $V; \
DATA NAME<>+20(SB)/4, $V; \
DATA NAME<>+24(SB)/4, $V; \
DATA NAME<>+28(SB)/4, $V; \
GLOBL NAME<>(SB), RODATA|NOPTR, $32

EIGHT(magic, MAGIC)
EIGHT(log2e, LOG2E)
EIGHT(ln2hi, LN2HI)
EIGHT(ln2lo, LN2LO)
EIGHT(expMin, EXPMIN)
EIGHT(expMax, EXPMAX)
EIGHT(largest, 0x7f7fffff)       // the largest float32
EIGHT(one, ONE)
EIGHT(halfNeg, HALFNEG)
EIGHT(e2, E2)
EIGHT(e3, E3)
EIGHT(e4, E4)
EIGHT(e5, E5)
EIGHT(e6, E6)
EIGHT(l0, L0)
EIGHT(l1, L1)
EIGHT(l2, L2)
EIGHT(l3, L3)
EIGHT(l4, L4)
EIGHT(l5, L5)
EIGHT(l6, L6)
EIGHT(l7, L7)
EIGHT(threeQuarters, 0x3f400000)
EIGHT(normalShift, 0x7f800000)   // -2^31 - bits(2^-126): moves the normal numbers to the lowest integers
EIGHT(normalLast, 0xfeffffff)    // the largest normal number, moved
EIGHT(smallest, 0x00800000)      // 2^-126, the smallest normal number
EIGHT(scaleUp, 0x4c000000)       // 2^25: makes denormals normal
EIGHT(scaleUpLog2, 0x41c80000)   // 25
EIGHT(infinity, 0x7f800000)
EIGHT(minusInfinity, 0xff800000)
EIGHT(nan, 0x7fc00000)

// P = e^X. R and N are scratch. Minimum and maximum return their second operand
// for NaN. At the end R = x*largest where x > EXPMAX or NaN, that is +Inf or NaN,
// else 0; P, finite and not negative, is replaced by it where it is larger or NaN.
#define EXP(X, N, P, R) \
	VMOVUPS      expMax<>(SB), N;        \
	VMINPS       X, N, R;                \
	VMOVUPS      expMin<>(SB), N;        \
	VMAXPS       R, N, R;                \
	VMOVAPS      Y12, N;                 \
	VFMADD231PS  log2e<>(SB), R, N;      \ // n = x/ln 2 + magic
	VSUBPS       Y12, N, P;              \
	VFNMADD231PS ln2hi<>(SB), P, R;      \ // r = x - n*ln2hi
	VFNMADD231PS ln2lo<>(SB), P, R;      \
	VMOVAPS      Y13, P;                 \
	VFMADD213PS  e5<>(SB), R, P;         \ // p = E5 + r*E6
	VFMADD213PS  e4<>(SB), R, P;         \
	VFMADD213PS  e3<>(SB), R, P;         \
	VFMADD213PS  e2<>(SB), R, P;         \
	VFMADD213PS  Y14, R, P;              \
	VFMADD213PS  Y14, R, P;              \ // p = 1 + r*p
	VPSLLD       $23, N, N;              \
	VPADDD       N, P, P;                \ // p * 2^n
	VCMPPS       $5, expMin<>(SB), X, N; \ // not less than
	VCMPPS       $6, expMax<>(SB), X, R; \ // not less or equal
	VANDPS       N, P, P;                \
	VANDPS       X, R, R;                \
	VMULPS       largest<>(SB), R, R;    \
	VMAXPS       R, P, P

// func expAVX2(dst, x *float32, n int)
TEXT ·expAVX2(SB), NOSPLIT, $0-24
	MOVQ    dst+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS magic<>(SB), Y12
	VMOVUPS e6<>(SB), Y13
	VMOVUPS one<>(SB), Y14
	CMPQ    CX, $16
	JLT     vectors

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	EXP(Y0, Y2, Y4, Y6)
	EXP(Y1, Y3, Y5, Y7)
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, CX
	CMPQ    CX, $16
	JGE     loop

vectors:
	CMPQ    CX, $8
	JLT     rest
	VMOVUPS (SI), Y0
	EXP(Y0, Y2, Y4, Y6)
	VMOVUPS Y4, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, CX
	JMP     vectors

rest:
	TESTQ      CX, CX
	JEQ        done
	TAILMASK
	VMASKMOVPS (SI), Y15, Y0
	EXP(Y0, Y2, Y4, Y6)
	VMASKMOVPS Y4, Y15, (DI)

done:
	VZEROUPPER
	RET

// X = mantissa, E = exponent (a float) of the positive normal numbers X.
#define SPLIT(X, E, T) \
	VPSUBD    threeQuarters<>(SB), X, E; \
	VPSRAD    $23, E, E;                 \
	VPSLLD    $23, E, T;                 \
	VPSUBD    T, X, X;                   \
	VCVTDQ2PS E, E

// W = log(X*2^E), X a mantissa; F is scratch.
#define LOG(X, E, W, F) \
	VSUBPS      Y14, X, X;           \ // f
	VMOVAPS     Y13, W;              \
	VMULPS      X, X, F;             \ // f*f
	VFMADD213PS l6<>(SB), X, W;      \ // q = L6 + f*L7
	VFMADD213PS l5<>(SB), X, W;      \
	VFMADD213PS l4<>(SB), X, W;      \
	VFMADD213PS l3<>(SB), X, W;      \
	VFMADD213PS l2<>(SB), X, W;      \
	VFMADD213PS l1<>(SB), X, W;      \
	VFMADD213PS l0<>(SB), X, W;      \
	VMULPS      X, W, W;             \
	VMULPS      F, W, W;             \ // f*f*f*q
	VFMADD231PS ln2lo<>(SB), E, W;   \
	VFMADD231PS halfNeg<>(SB), F, W; \
	VADDPS      X, W, W;             \
	VFMADD231PS ln2hi<>(SB), E, W

// T's sign bits = the lanes of X that are not positive normal numbers.
#define ABNORMAL(X, T) \
	VPADDD   normalShift<>(SB), X, T; \
	VPCMPGTD normalLast<>(SB), T, T

// func logAVX2(dst, x *float32, n int)
TEXT ·logAVX2(SB), NOSPLIT, $0-24
	MOVQ    dst+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS l7<>(SB), Y13
	VMOVUPS one<>(SB), Y14

loop:
	CMPQ    CX, $16
	JLT     vectors
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	ABNORMAL(Y0, Y8)
	ABNORMAL(Y1, Y9)
	VORPS   Y8, Y9, Y8
	VPTEST  Y8, Y8
	JNE     special
	SPLIT(Y0, Y2, Y8)
	SPLIT(Y1, Y3, Y9)
	LOG(Y0, Y2, Y4, Y6)
	LOG(Y1, Y3, Y5, Y7)
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, CX
	JMP     loop

vectors:
	CMPQ       CX, $8
	JGE        special
	TESTQ      CX, CX
	JEQ        done
	MOVQ       CX, R8
	TAILMASK
	MOVQ       R8, CX
	VMASKMOVPS (SI), Y15, Y0
	JMP        compute

// One vector, or the rest, with any values.
special:
	VMOVUPS (SI), Y0

compute:
	VCMPPS    $1, smallest<>(SB), Y0, Y8 // denormal, zero or negative
	VMULPS    scaleUp<>(SB), Y0, Y9
	VBLENDVPS Y8, Y9, Y0, Y1
	SPLIT(Y1, Y2, Y9)
	VANDPS    scaleUpLog2<>(SB), Y8, Y8
	VSUBPS    Y8, Y2, Y2
	LOG(Y1, Y2, Y4, Y6)
	VXORPS    Y9, Y9, Y9
	VCMPPS    $0, Y9, Y0, Y8             // zero
	VMOVUPS   minusInfinity<>(SB), Y10
	VBLENDVPS Y8, Y10, Y4, Y4
	VCMPPS    $0, infinity<>(SB), Y0, Y8
	VBLENDVPS Y8, Y0, Y4, Y4
	VCMPPS    $9, Y9, Y0, Y8             // not greater or equal 0, or NaN
	VMOVUPS   nan<>(SB), Y10
	VBLENDVPS Y8, Y10, Y4, Y4
	CMPQ      CX, $8
	JLT       last
	VMOVUPS   Y4, (DI)
	ADDQ      $32, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JMP       loop

last:
	VMASKMOVPS Y4, Y15, (DI)

done:
	VZEROUPPER
	RET
