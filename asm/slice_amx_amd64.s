//go:build !noasm

#include "textflag.h"
#include "amx_amd64.h"

// BYTES adds to tile c the product of tile a of A and tile b of B: TDPBSSD, signed bytes.
#define BYTES(c, a, b) \
	LONG $(0x5e7be2c4 - b*0x80000) \
	BYTE $(0xc0 + c*8 + a)

// STORESUM stores tile t to DX, rows of R10 = 64 bytes.
#define STORESUM(t, d) \
	LONG $0x4b7aa2c4     \
	WORD $(0x1284 + t*8) \
	LONG $d

// FETCH brings four lines into the second-level cache.
#define FETCH(d) \
	PREFETCHT1 d(R14)       \
	PREFETCHT1 (d+64)(R14)  \
	PREFETCHT1 (d+128)(R14) \
	PREFETCHT1 (d+192)(R14)

// ROW makes row i of C of the sums at DX.
//
//	AX     what the sums of the row are multiplied with
//	Z31    the same of the columns
//	Z30    2^8
//	Z29    2^-8
//	K1     all columns, if C is added to
#define ROW(i) \
	VCVTDQ2PS   ((i)*64)(DX), Z0        \
	VCVTDQ2PS   (1024 + (i)*64)(DX), Z1 \
	VCVTDQ2PS   (2048 + (i)*64)(DX), Z2 \
	VCVTDQ2PS   (3072 + (i)*64)(DX), Z5 \
	VMULPS.BCST (AX), Z31, Z3           \
	VMOVUPS.Z   (BX), K1, Z4            \
	VFMADD213PS Z1, Z30, Z0             \
	VFMADD213PS Z2, Z30, Z0             \
	VFMADD231PS Z5, Z29, Z0             \
	VFMADD213PS Z4, Z3, Z0              \
	VMOVUPS     Z0, (BX)                \
	ADDQ        scales+56(FP), AX       \
	ADDQ        R9, BX

// FIRST to EIGHTH are the products of a block, each behind what it loads; ahead and the next
// block come last.
#define FIRST \
	LEFT(4, 0)      \
	RIGHTLONG(7, 0) \
	BYTES(0, 4, 7)

#define SECOND \
	FETCH(0)       \
	ADDQ R12, SI   \
	LEFT(5, 0)     \
	BYTES(1, 5, 7)

#define THIRD \
	FETCH(256)     \
	ADDQ R12, SI   \
	LEFT(6, 0)     \
	BYTES(2, 6, 7)

#define FOURTH \
	RIGHTLONG(7, 1024) \
	FETCH(512)         \
	BYTES(1, 4, 7)

#define FIFTH BYTES(2, 5, 7)

#define SIXTH BYTES(3, 6, 7)

#define SEVENTH \
	RIGHTLONG(7, 2048) \
	FETCH(768)         \
	BYTES(2, 4, 7)

#define EIGHTH \
	BYTES(3, 5, 7)           \
	ADDQ stride+128(FP), R14 \
	ADDQ R12, SI             \
	ADDQ $3072, DI

#define SLICES \
	FIRST   \
	SECOND  \
	THIRD   \
	FOURTH  \
	FIFTH   \
	SIXTH   \
	SEVENTH \
	EIGHTH

// SLICEROWS is SLICES that makes rows i to i+7 of the tile before, SLICEALLROWS all of them,
// one by one between the products: behind one another they would keep the unit waiting for
// the products of the next block to enter the processor's window.
#define SLICEROWS(i) \
	FIRST    \
	ROW(i)   \
	SECOND   \
	ROW(i+1) \
	THIRD    \
	ROW(i+2) \
	FOURTH   \
	ROW(i+3) \
	FIFTH    \
	ROW(i+4) \
	SIXTH    \
	ROW(i+5) \
	SEVENTH  \
	ROW(i+6) \
	EIGHTH   \
	ROW(i+7)

#define SLICEALLROWS \
	FIRST   \
	ROW(0)  \
	ROW(1)  \
	SECOND  \
	ROW(2)  \
	ROW(3)  \
	THIRD   \
	ROW(4)  \
	ROW(5)  \
	FOURTH  \
	ROW(6)  \
	ROW(7)  \
	FIFTH   \
	ROW(8)  \
	ROW(9)  \
	SIXTH   \
	ROW(10) \
	ROW(11) \
	SEVENTH \
	ROW(12) \
	ROW(13) \
	EIGHTH  \
	ROW(14) \
	ROW(15)

// func gemmSlicesAMX(strips, panels, steps int, a0, a1 *float32, pitch, slice, scales, distance int, b *float32, c0, c1 *float32, ldc int, accumulate bool, ahead0, ahead1 *float32, stride int)
//
//	for range strips {
//		for range panels { // B
//			for A, C, ahead in (a0, c0, ahead0), (a1, c1, ahead1) { // the former alone if a1 is nil
//				S0, S1, S2, S3 = 0, 0, 0, 0
//				for range steps {
//					S0 += A0 B0; S1 += A0 B1 + A1 B0; S2 += A0 B2 + A1 B1 + A2 B0; S3 += A1 B2 + A2 B1
//					fetch 16 lines from ahead on
//					ahead += stride
//				}
//				C (+)= (S0*2^16 + S1*2^8 + S2 + S3*2^-8) * rows of A * columns of B
//				C = C[16:]
//			}
//		}
//		A, C = A[distance:], next 16 rows
//	}
//
// C is made of the sums of a tile while the products of the next one are computed.
//
//	SI, DI     the blocks of A and B
//	R11, R13   the strip, the panel
//	R15        C at the tile
//	AX, BX     of the tile before: a row of A, a row of C
//	DX         its sums, 64-byte aligned
//	R8, R12    bytes between the rows of a tile of A, between its slices
//	R9, R10    bytes between the rows of C, 64
//	CX         blocks left
//	R14        ahead
//
// Of the operand whose turn is next the strip, C and ahead are on the stack.
TEXT ·gemmSlicesAMX(SB), 0, $4208-136
	MOVQ  strips+0(FP), AX
	IMULQ panels+8(FP), AX
	MOVQ  panels+8(FP), CX
	MOVQ  CX, panel-16(SP)
	MOVQ  $1, second-24(SP)
	MOVQ  a0+24(FP), R11
	MOVQ  a1+32(FP), CX
	MOVQ  CX, strip-32(SP)
	TESTQ CX, CX
	JZ    count
	SHLQ  $1, AX

count:
	MOVQ         AX, left-8(SP)
	MOVQ         pitch+40(FP), R8
	SHLQ         $2, R8
	MOVQ         slice+48(FP), R12
	SHLQ         $2, R12
	SHLQ         $2, scales+56(FP)
	SHLQ         $2, distance+64(FP)
	MOVQ         b+72(FP), R13
	MOVL         $64, R10
	MOVQ         c0+80(FP), R15
	MOVQ         c1+88(FP), AX
	MOVQ         AX, tile-40(SP)
	MOVQ         ldc+96(FP), R9
	SHLQ         $2, R9
	MOVQ         ahead0+112(FP), R14
	MOVQ         ahead1+120(FP), AX
	MOVQ         AX, fetch-48(SP)
	SHLQ         $2, stride+128(FP)
	LEAQ         sums-4208(SP), DX
	ADDQ         $63, DX
	ANDQ         $~63, DX
	MOVL         $0x43800000, AX
	VPBROADCASTD AX, Z30
	MOVL         $0x3b800000, AX
	VPBROADCASTD AX, Z29
	MOVBLZX      accumulate+104(FP), AX
	NEGL         AX
	KMOVW        AX, K1
	LEAQ         tiles<>(SB), AX
	CONFIGURE
	XORL         AX, AX

tile:
	LEAQ  64(R11), SI
	LEAQ  64(R13), DI
	MOVQ  steps+16(FP), CX
	ZERO(0)
	ZERO(1)
	ZERO(2)
	ZERO(3)
	TESTQ AX, AX
	JZ    block
	CMPQ  CX, $1
	JEQ   single
	SLICEROWS(0)
	SLICEROWS(8)
	SUBQ  $2, CX
	JZ    store

block:
	SLICES
	DECQ CX
	JNZ  block
	JMP  store

single:
	SLICEALLROWS

store:
	STORESUM(0, 0)
	STORESUM(1, 1024)
	STORESUM(2, 2048)
	STORESUM(3, 3072)
	MOVQ    R11, AX
	VMOVUPS (R13), Z31
	MOVQ    R15, BX
	DECQ    left-8(SP)
	JZ      last

	// The other operand.
	MOVQ  strip-32(SP), CX
	TESTQ CX, CX
	JZ    panel
	MOVQ  R11, strip-32(SP)
	MOVQ  CX, R11
	MOVQ  tile-40(SP), R15
	MOVQ  BX, tile-40(SP)
	MOVQ  fetch-48(SP), CX
	MOVQ  R14, fetch-48(SP)
	MOVQ  CX, R14
	XORQ  $1, second-24(SP)
	JZ    tile

panel:  // the next one
	MOVQ DI, R13
	ADDQ $64, R15
	ADDQ $64, tile-40(SP)
	DECQ panel-16(SP)
	JNZ  tile

	// The next strip.
	MOVQ panels+8(FP), CX
	MOVQ CX, panel-16(SP)
	SHLQ $6, CX
	SUBQ CX, R15
	SUBQ CX, tile-40(SP)
	MOVQ R9, CX
	SHLQ $4, CX
	ADDQ CX, R15
	ADDQ CX, tile-40(SP)
	ADDQ distance+64(FP), R11
	CMPQ strip-32(SP), $0
	JEQ  strip
	MOVQ distance+64(FP), CX
	ADDQ CX, strip-32(SP)

strip:
	MOVQ b+72(FP), R13
	JMP  tile

last:
	ROW(0)
	ROW(1)
	ROW(2)
	ROW(3)
	ROW(4)
	ROW(5)
	ROW(6)
	ROW(7)
	ROW(8)
	ROW(9)
	ROW(10)
	ROW(11)
	ROW(12)
	ROW(13)
	ROW(14)
	ROW(15)
	RELEASE
	VZEROUPPER
	RET
