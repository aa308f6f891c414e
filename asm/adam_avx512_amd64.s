//go:build !noasm

#include "textflag.h"
#include "go_asm.h"

// The Adam step, 16 values an iteration, the rest under K1:
//
//	for i := range n {
//		m[i] = fma(beta1, m[i], (1-beta1)*g[i])
//		v[i] = fma(beta2, v[i], ((1-beta2)*g[i])*g[i])
//		p[i] = fma(decay, p[i], -(step*m[i])/(sqrt(v[i]*correction2)+eps))
//	}
//
// Registers
//	DI p   SI m   DX v   R8 g   R9 *AdamStep   CX values left   AX byte offset
//	Z0 p   Z1 m   Z2 v   Z3 g, then step*m   Z4 root
//	Z16 step   Z17 beta1   Z18 beta2   Z19 correction2   Z20 eps   Z21 decay
//	Z22 1-beta1   Z23 1-beta2   K1 the lanes in use

DATA adamOne<>+0(SB)/4, $0x3f800000
GLOBL adamOne<>(SB), RODATA|NOPTR, $4

// func adamAVX512(p, m, v, grad *float32, n int, s *AdamStep)
TEXT ·adamAVX512(SB), NOSPLIT, $0-48
	MOVQ         p+0(FP), DI
	MOVQ         m+8(FP), SI
	MOVQ         v+16(FP), DX
	MOVQ         grad+24(FP), R8
	MOVQ         n+32(FP), CX
	MOVQ         s+40(FP), R9
	VBROADCASTSS AdamStep_Step(R9), Z16
	VBROADCASTSS AdamStep_Beta1(R9), Z17
	VBROADCASTSS AdamStep_Beta2(R9), Z18
	VBROADCASTSS AdamStep_Correction2(R9), Z19
	VBROADCASTSS AdamStep_Eps(R9), Z20
	VBROADCASTSS AdamStep_Decay(R9), Z21
	VBROADCASTSS adamOne<>(SB), Z22
	VSUBPS       Z18, Z22, Z23                 // 1 - beta2
	VSUBPS       Z17, Z22, Z22                 // 1 - beta1
	XORQ         AX, AX

loop:
	MOVL $0xffff, BX
	CMPQ CX, $16
	JGE  full
	MOVL $1, BX
	SHLL CX, BX
	DECL BX

full:
	KMOVW       BX, K1
	VMOVUPS.Z   (DI)(AX*1), K1, Z0
	VMOVUPS.Z   (SI)(AX*1), K1, Z1
	VMOVUPS.Z   (DX)(AX*1), K1, Z2
	VMOVUPS.Z   (R8)(AX*1), K1, Z3
	VMULPS      Z3, Z22, Z4        // (1-beta1)*g
	VFMADD213PS Z4, Z17, Z1        // m = beta1*m + Z4
	VMULPS      Z3, Z23, Z4        // (1-beta2)*g
	VMULPS      Z3, Z4, Z4         // ... *g
	VFMADD213PS Z4, Z18, Z2        // v = beta2*v + Z4
	VMOVUPS     Z1, K1, (SI)(AX*1)
	VMOVUPS     Z2, K1, (DX)(AX*1)
	VMULPS      Z2, Z19, Z4        // v*correction2
	VSQRTPS     Z4, Z4
	VADDPS      Z20, Z4, Z4        // + eps
	VMULPS      Z1, Z16, Z3        // step*m
	VDIVPS      Z4, Z3, Z3         // / root
	VFMSUB213PS Z3, Z21, Z0        // p = decay*p - Z3
	VMOVUPS     Z0, K1, (DI)(AX*1)
	ADDQ        $64, AX
	SUBQ        $16, CX
	JGT         loop
	VZEROUPPER
	RET
