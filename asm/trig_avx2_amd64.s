//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"
#include "trig_amd64.h"

// Sine, and sine with cosine, of |x| < 65536: the arithmetic of
// trig_avx512_amd64.s, operation by operation, so the results have the same
// bits. A block is 32 values (sin), 16 (cos, sinCos), at the end 8 and a rest
// under Y15. Constants that only ever stand alone are read from memory.
//
// Registers of sin
//	DI dst   SI x   CX values left   AX scratch   BX values at the start
//	Y0-Y2   x, r, result   Y3-Y5   y   Y6-Y8  k, then q   Y9-Y11 s = r*r
//	Y12 magic   Y13 1/pi   Y14 S9   Y15 scratch of the range test, mask of the rest
//
// Registers of sinCos and cos
//	DI s   DX c   SI x   CX values left   AX scratch   BX values at the start
//	Y0 Y1 x, r, sine   Y2 Y3 y   Y4 Y5 k, then s = r*r   Y6 Y7 cosine   Y8 Y9 scratch
//	Y10 Y11 scratch    Y12 magic   Y13 2/pi   Y14 one   Y15 as above

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

EIGHT(absMask, 0x7fffffff)
EIGHT(signMask, 0x80000000)
EIGHT(limitBelow, 0x477fffff) // LIMIT - 1
EIGHT(magic, MAGIC)
EIGHT(intOne, 1)
EIGHT(one, ONE)
EIGHT(zero, 0)
EIGHT(invPi, INVPI)
EIGHT(pi1, PI1)
EIGHT(pi2, PI2)
EIGHT(pi3, PI3)
EIGHT(s9, S9)
EIGHT(s7, S7)
EIGHT(s5, S5)
EIGHT(s3, S3)
EIGHT(invPio2, INVPIO2)
EIGHT(pio2a, PIO2A)
EIGHT(pio2b, PIO2B)
EIGHT(pio2c, PIO2C)
EIGHT(t7, T7)
EIGHT(t5, T5)
EIGHT(t3, T3)
EIGHT(halfNeg, HALFNEG)
EIGHT(c8, C8)
EIGHT(c6, C6)
EIGHT(c4, C4)

// OUTSIDE leaves "not equal" in the flags when a lane of A, the bits of |x|, is
// not below the limit; those of a NaN are not.
#define OUTSIDE(A) \
	VPCMPGTD limitBelow<>(SB), A, A; \
	VPTEST   A, A

// y, k and r for the arguments X; P1-P3 are the parts in memory.
#define REDUCE(X, Y, K, P1, P2, P3) \
	VMOVAPS      Y12, Y;         \
	VFMADD231PS  Y13, X, Y;      \ // y = x/pi + magic
	VSUBPS       Y12, Y, K;      \ // k
	VFNMADD231PS P1<>(SB), K, X; \ // x -= k*pi1
	VFNMADD231PS P2<>(SB), K, X; \
	VFNMADD231PS P3<>(SB), K, X

// X = sin of the whole argument; Q and S are scratch.
#define SINE(X, Y, Q, S) \
	VMULPS      X, X, S;          \
	VMOVAPS     Y14, Q;           \
	VFMADD213PS s7<>(SB), S, Q;   \ // q = S7 + s*S9
	VPSLLD      $31, Y, Y;        \ // parity of k in the sign bit
	VFMADD213PS s5<>(SB), S, Q;   \
	VFMADD213PS s3<>(SB), S, Q;   \
	VFMADD213PS zero<>(SB), X, S; \ // t = s*r + 0: never -0
	VFMADD231PS Q, S, X;          \ // r += t*q
	VXORPS      Y, X, X

// func sinAVX2(dst, x *float32, n int) int
TEXT ·sinAVX2(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	MOVQ    CX, BX
	VMOVUPS magic<>(SB), Y12
	VMOVUPS invPi<>(SB), Y13
	VMOVUPS s9<>(SB), Y14
	CMPQ    CX, $24
	JLT     vectors

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS absMask<>(SB), Y15
	VANDPS  Y0, Y15, Y3
	VANDPS  Y1, Y15, Y4
	VANDPS  Y2, Y15, Y5
	VPMAXSD Y3, Y4, Y3
	VPMAXSD Y3, Y5, Y3
	OUTSIDE(Y3)
	JNE     done
	REDUCE(Y0, Y3, Y6, pi1, pi2, pi3)
	REDUCE(Y1, Y4, Y7, pi1, pi2, pi3)
	REDUCE(Y2, Y5, Y8, pi1, pi2, pi3)
	SINE(Y0, Y3, Y6, Y9)
	SINE(Y1, Y4, Y7, Y10)
	SINE(Y2, Y5, Y8, Y11)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	ADDQ    $96, SI
	ADDQ    $96, DI
	SUBQ    $24, CX
	CMPQ    CX, $24
	JGE     loop

vectors:
	CMPQ    CX, $8
	JLT     rest
	VMOVUPS (SI), Y0
	VANDPS  absMask<>(SB), Y0, Y3
	OUTSIDE(Y3)
	JNE     done
	REDUCE(Y0, Y3, Y6, pi1, pi2, pi3)
	SINE(Y0, Y3, Y6, Y9)
	VMOVUPS Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, CX
	JMP     vectors

rest:
	TESTQ      CX, CX
	JEQ        done
	MOVQ       CX, R8
	TAILMASK
	MOVQ       R8, CX
	VMASKMOVPS (SI), Y15, Y0
	VANDPS     absMask<>(SB), Y0, Y3
	OUTSIDE(Y3)
	JNE        done
	REDUCE(Y0, Y3, Y6, pi1, pi2, pi3)
	SINE(Y0, Y3, Y6, Y9)
	VMASKMOVPS Y0, Y15, (DI)
	XORL       CX, CX

done:
	SUBQ CX, BX
	MOVQ BX, ret+24(FP)
	VZEROUPPER
	RET

// X, C = sine and cosine of the whole argument. S and T are scratch.
#define SINECOSINE(X, Y, S, C, T) \
	VMULPS      X, X, S;              \
	VMOVUPS     t7<>(SB), T;          \
	VMOVUPS     c8<>(SB), C;          \
	VFMADD213PS t5<>(SB), S, T;       \
	VFMADD213PS c6<>(SB), S, C;       \
	VFMADD213PS t3<>(SB), S, T;       \
	VFMADD213PS c4<>(SB), S, C;       \
	VFMADD213PS halfNeg<>(SB), S, C;  \
	VFMADD213PS Y14, S, C;            \ // cos(r) = 1 + s*c
	VFMADD213PS zero<>(SB), X, S;     \ // s*r + 0: never -0
	VFMADD231PS T, S, X;              \ // sin(r) = r + s*r*t
	VPSLLD      $31, Y, T;            \ // odd k: the functions change places
	VPADDD      intOne<>(SB), Y, S;   \
	VPSLLD      $30, Y, Y;            \ // bit 1 of k: the sign of the sine
	VPSLLD      $30, S, S;            \ // bit 1 of k+1: the sign of the cosine
	VANDPS      signMask<>(SB), Y, Y; \
	VANDPS      signMask<>(SB), S, S; \
	VBLENDVPS   T, C, X, Y10;         \ // sine: C where k is odd
	VBLENDVPS   T, X, C, C;           \ // cosine: X where k is odd
	VXORPS      Y, Y10, X;            \
	VXORPS      S, C, C

#define SINCOSCONSTANTS \
	VMOVUPS magic<>(SB), Y12;   \
	VMOVUPS invPio2<>(SB), Y13; \
	VMOVUPS one<>(SB), Y14

// func sinCosAVX2(s, c, x *float32, n int) int
TEXT ·sinCosAVX2(SB), NOSPLIT, $0-40
	MOVQ s+0(FP), DI
	MOVQ c+8(FP), DX
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ CX, BX
	SINCOSCONSTANTS
	CMPQ CX, $16
	JLT  vectors

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS absMask<>(SB), Y15
	VANDPS  Y0, Y15, Y2
	VANDPS  Y1, Y15, Y3
	VPMAXSD Y2, Y3, Y2
	OUTSIDE(Y2)
	JNE     done
	REDUCE(Y0, Y2, Y4, pio2a, pio2b, pio2c)
	REDUCE(Y1, Y3, Y5, pio2a, pio2b, pio2c)
	SINECOSINE(Y0, Y2, Y4, Y6, Y8)
	SINECOSINE(Y1, Y3, Y5, Y7, Y9)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y6, (DX)
	VMOVUPS Y7, 32(DX)
	ADDQ    $64, SI
	ADDQ    $64, DI
	ADDQ    $64, DX
	SUBQ    $16, CX
	CMPQ    CX, $16
	JGE     loop

vectors:
	CMPQ    CX, $8
	JLT     rest
	VMOVUPS (SI), Y0
	VANDPS  absMask<>(SB), Y0, Y2
	OUTSIDE(Y2)
	JNE     done
	REDUCE(Y0, Y2, Y4, pio2a, pio2b, pio2c)
	SINECOSINE(Y0, Y2, Y4, Y6, Y8)
	VMOVUPS Y0, (DI)
	VMOVUPS Y6, (DX)
	ADDQ    $32, SI
	ADDQ    $32, DI
	ADDQ    $32, DX
	SUBQ    $8, CX
	JMP     vectors

rest:
	TESTQ      CX, CX
	JEQ        done
	MOVQ       CX, R8
	TAILMASK
	MOVQ       R8, CX
	VMASKMOVPS (SI), Y15, Y0
	VANDPS     absMask<>(SB), Y0, Y2
	OUTSIDE(Y2)
	JNE        done
	REDUCE(Y0, Y2, Y4, pio2a, pio2b, pio2c)
	SINECOSINE(Y0, Y2, Y4, Y6, Y8)
	VMASKMOVPS Y0, Y15, (DI)
	VMASKMOVPS Y6, Y15, (DX)
	XORL       CX, CX

done:
	SUBQ CX, BX
	MOVQ BX, ret+32(FP)
	VZEROUPPER
	RET

// func cosAVX2(dst, x *float32, n int) int
TEXT ·cosAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ CX, BX
	SINCOSCONSTANTS
	CMPQ CX, $16
	JLT  vectors

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS absMask<>(SB), Y15
	VANDPS  Y0, Y15, Y2
	VANDPS  Y1, Y15, Y3
	VPMAXSD Y2, Y3, Y2
	OUTSIDE(Y2)
	JNE     done
	REDUCE(Y0, Y2, Y4, pio2a, pio2b, pio2c)
	REDUCE(Y1, Y3, Y5, pio2a, pio2b, pio2c)
	SINECOSINE(Y0, Y2, Y4, Y6, Y8)
	SINECOSINE(Y1, Y3, Y5, Y7, Y9)
	VMOVUPS Y6, (DI)
	VMOVUPS Y7, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $16, CX
	CMPQ    CX, $16
	JGE     loop

vectors:
	CMPQ    CX, $8
	JLT     rest
	VMOVUPS (SI), Y0
	VANDPS  absMask<>(SB), Y0, Y2
	OUTSIDE(Y2)
	JNE     done
	REDUCE(Y0, Y2, Y4, pio2a, pio2b, pio2c)
	SINECOSINE(Y0, Y2, Y4, Y6, Y8)
	VMOVUPS Y6, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, CX
	JMP     vectors

rest:
	TESTQ      CX, CX
	JEQ        done
	MOVQ       CX, R8
	TAILMASK
	MOVQ       R8, CX
	VMASKMOVPS (SI), Y15, Y0
	VANDPS     absMask<>(SB), Y0, Y2
	OUTSIDE(Y2)
	JNE        done
	REDUCE(Y0, Y2, Y4, pio2a, pio2b, pio2c)
	SINECOSINE(Y0, Y2, Y4, Y6, Y8)
	VMASKMOVPS Y6, Y15, (DI)
	XORL       CX, CX

done:
	SUBQ CX, BX
	MOVQ BX, ret+24(FP)
	VZEROUPPER
	RET
