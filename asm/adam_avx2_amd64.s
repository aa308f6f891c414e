//go:build !noasm

#include "textflag.h"
#include "go_asm.h"
#include "avx2_amd64.h"

// The Adam step, 8 values an iteration, the rest under Y15:
//
//	for i := range n {
//		m[i] = fma(beta1, m[i], (1-beta1)*g[i])
//		v[i] = fma(beta2, v[i], ((1-beta2)*g[i])*g[i])
//		p[i] = fma(decay, p[i], -(step*m[i])/(sqrt(v[i]*correction2)+eps))
//	}
//
// Registers
//	DI p   SI m   DX v   R8 g   R9 *AdamStep   CX values left   AX scratch
//	Y0 p   Y1 m   Y2 v   Y3 g, then step*m   Y4 root
//	Y5 step   Y6 beta1   Y7 beta2   Y8 correction2   Y9 eps   Y10 decay
//	Y11 1-beta1   Y12 1-beta2   Y15 the lanes in use

DATA adamOne<>+0(SB)/4, $0x3f800000
GLOBL adamOne<>(SB), RODATA|NOPTR, $4

// UPDATE turns p, m, v, g in Y0-Y3 into the new p, m, v in Y0-Y2.
#define UPDATE \
	VMULPS      Y3, Y11, Y4; \ // (1-beta1)*g
	VFMADD213PS Y4, Y6, Y1;  \ // m = beta1*m + Y4
	VMULPS      Y3, Y12, Y4; \ // (1-beta2)*g
	VMULPS      Y3, Y4, Y4;  \ // ... *g
	VFMADD213PS Y4, Y7, Y2;  \ // v = beta2*v + Y4
	VMULPS      Y2, Y8, Y4;  \ // v*correction2
	VSQRTPS     Y4, Y4;      \
	VADDPS      Y9, Y4, Y4;  \ // + eps
	VMULPS      Y1, Y5, Y3;  \ // step*m
	VDIVPS      Y4, Y3, Y3;  \ // / root
	VFMSUB213PS Y3, Y10, Y0  // p = decay*p - Y3

// func adamAVX2(p, m, v, grad *float32, n int, s *AdamStep)
TEXT ·adamAVX2(SB), NOSPLIT, $0-48
	MOVQ         p+0(FP), DI
	MOVQ         m+8(FP), SI
	MOVQ         v+16(FP), DX
	MOVQ         grad+24(FP), R8
	MOVQ         n+32(FP), CX
	MOVQ         s+40(FP), R9
	VBROADCASTSS AdamStep_Step(R9), Y5
	VBROADCASTSS AdamStep_Beta1(R9), Y6
	VBROADCASTSS AdamStep_Beta2(R9), Y7
	VBROADCASTSS AdamStep_Correction2(R9), Y8
	VBROADCASTSS AdamStep_Eps(R9), Y9
	VBROADCASTSS AdamStep_Decay(R9), Y10
	VBROADCASTSS adamOne<>(SB), Y11
	VSUBPS       Y7, Y11, Y12                 // 1 - beta2
	VSUBPS       Y6, Y11, Y11                 // 1 - beta1
	SUBQ         $8, CX
	JLT          rest

loop:
	VMOVUPS (DI), Y0
	VMOVUPS (SI), Y1
	VMOVUPS (DX), Y2
	VMOVUPS (R8), Y3
	UPDATE
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, (SI)
	VMOVUPS Y2, (DX)
	ADDQ    $32, DI
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, R8
	SUBQ    $8, CX
	JGE     loop

rest:
	ADDQ       $8, CX
	JEQ        done
	TAILMASK
	VMASKMOVPS (DI), Y15, Y0
	VMASKMOVPS (SI), Y15, Y1
	VMASKMOVPS (DX), Y15, Y2
	VMASKMOVPS (R8), Y15, Y3
	UPDATE
	VMASKMOVPS Y0, Y15, (DI)
	VMASKMOVPS Y1, Y15, (SI)
	VMASKMOVPS Y2, Y15, (DX)

done:
	VZEROUPPER
	RET
