//go:build !noasm

#include "textflag.h"
#include "avx512_amd64.h"

// packRowsAVX512 copies rows of at most 32 values to a panel; the masks load
// the columns that exist and store the panel's width, with zeros between. In Go:
//
//	for p := range k {
//		copy(dst[p*width:][:width], src[p*ldsrc:][:n]) // zero beyond n
//	}
//
//	DI, R8    dst, its step in bytes
//	SI, R9    src, its step in bytes
//	CX        k
//	K1, K2    columns 0..15, 16..31 to load
//	K3, K4    columns 0..15, 16..31 to store
//	Z0..Z7    four rows

// LOADROW also fetches the row of the next panel, which is likely to be packed
// next: rows far apart are nothing that the processor would foresee.
#define LOADROW(z0, z1) \
	VMOVUPS.Z  (SI), K1, z0   \
	VMOVUPS.Z  64(SI), K2, z1 \
	PREFETCHT0 128(SI)        \
	PREFETCHT0 192(SI)        \
	ADDQ       R9, SI

#define STOREROW(z0, z1) \
	VMOVUPS z0, K3, (DI)   \
	VMOVUPS z1, K4, 64(DI) \
	ADDQ    R8, DI

// LOADHALF and STOREHALF are the same for at most 16 values.
#define LOADHALF(z0) \
	VMOVUPS.Z  (SI), K1, z0 \
	PREFETCHT0 128(SI)      \
	ADDQ       R9, SI

#define STOREHALF(z0) \
	VMOVUPS z0, K3, (DI) \
	ADDQ    R8, DI

// func packRowsAVX512(dst *float32, width int, src *float32, ldsrc, k int, load, store uint32)
TEXT ·packRowsAVX512(SB), NOSPLIT, $0-48
	MOVQ  dst+0(FP), DI
	MOVQ  width+8(FP), R8
	MOVQ  src+16(FP), SI
	MOVQ  ldsrc+24(FP), R9
	MOVQ  k+32(FP), CX
	MOVL  load+40(FP), AX
	KMOVW AX, K1
	SHRL  $16, AX
	KMOVW AX, K2
	MOVL  store+44(FP), AX
	KMOVW AX, K3
	SHRL  $16, AX
	KMOVW AX, K4
	SHLQ  $2, R8
	SHLQ  $2, R9
	TESTL AX, AX
	JZ    half
	MOVQ  CX, AX
	SHRQ  $2, AX
	JZ    rest

four:
	LOADROW(Z0, Z1)
	LOADROW(Z2, Z3)
	LOADROW(Z4, Z5)
	LOADROW(Z6, Z7)
	STOREROW(Z0, Z1)
	STOREROW(Z2, Z3)
	STOREROW(Z4, Z5)
	STOREROW(Z6, Z7)
	DECQ AX
	JNZ  four

rest:
	ANDQ $3, CX
	JZ   done

one:
	LOADROW(Z0, Z1)
	STOREROW(Z0, Z1)
	DECQ CX
	JNZ  one
	JMP  done

half:
	MOVQ CX, AX
	SHRQ $3, AX
	JZ   halfRest

halfEight:
	LOADHALF(Z0)
	LOADHALF(Z1)
	LOADHALF(Z2)
	LOADHALF(Z3)
	LOADHALF(Z4)
	LOADHALF(Z5)
	LOADHALF(Z6)
	LOADHALF(Z7)
	STOREHALF(Z0)
	STOREHALF(Z1)
	STOREHALF(Z2)
	STOREHALF(Z3)
	STOREHALF(Z4)
	STOREHALF(Z5)
	STOREHALF(Z6)
	STOREHALF(Z7)
	DECQ AX
	JNZ  halfEight

halfRest:
	ANDQ $7, CX
	JZ   done

halfOne:
	LOADHALF(Z0)
	STOREHALF(Z0)
	DECQ CX
	JNZ  halfOne

done:
	VZEROUPPER
	RET

// gatherRowsAVX512 is packRowsAVX512 for a panel 32 wide and rows that start
// at src[offsets[p]].
//
//	DI, SI, BX  dst, src, offsets
//	CX          k
//	K1, K2      columns to load

// func gatherRowsAVX512(dst, src *float32, offsets *int, k int, load uint32)
TEXT ·gatherRowsAVX512(SB), NOSPLIT, $0-36
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  offsets+16(FP), BX
	MOVQ  k+24(FP), CX
	MOVL  load+32(FP), AX
	KMOVW AX, K1
	SHRL  $16, AX
	KMOVW AX, K2

row:
	MOVQ      (BX), AX
	VMOVUPS.Z (SI)(AX*4), K1, Z0
	VMOVUPS.Z 64(SI)(AX*4), K2, Z1
	VMOVUPS   Z0, (DI)
	VMOVUPS   Z1, 64(DI)
	ADDQ      $8, BX
	ADDQ      $128, DI
	DECQ      CX
	JNZ       row
	VZEROUPPER
	RET

// gatherColumnAVX512 copies values that are ldsrc apart. In Go:
//
//	for i := range n {
//		dst[i] = src[i*ldsrc]
//	}
//
//	DI, SI, R9  dst, src, 16*ldsrc in bytes
//	CX          n
//	K1, K2      values that exist; the gather clears its mask
//	Z31         the first 16 multiples of ldsrc

// func gatherColumnAVX512(dst, src *float32, ldsrc, n int, index *[16]int32)
TEXT ·gatherColumnAVX512(SB), NOSPLIT, $0-40
	MOVQ      dst+0(FP), DI
	MOVQ      src+8(FP), SI
	MOVQ      ldsrc+16(FP), R9
	MOVQ      n+24(FP), CX
	MOVQ      index+32(FP), BX
	SHLQ      $6, R9
	VMOVDQU32 (BX), Z31
	SUBQ      $16, CX
	JLT       tail

full:
	KXNORW     K2, K2, K2
	VPXORD     Z0, Z0, Z0
	VGATHERDPS (SI)(Z31*4), K2, Z0
	VMOVUPS    Z0, (DI)
	ADDQ       R9, SI
	ADDQ       $64, DI
	SUBQ       $16, CX
	JGE        full

tail:
	ADDQ       $16, CX
	JZ         done
	MOVL       $1, AX
	SHLL       CX, AX
	DECL       AX
	KMOVW      AX, K1
	KMOVW      AX, K2
	VPXORD     Z0, Z0, Z0
	VGATHERDPS (SI)(Z31*4), K2, Z0
	VMOVUPS    Z0, K1, (DI)

done:
	VZEROUPPER
	RET

// transposeStripAVX512 transposes at most 16 rows, 16 columns at a time. Rows
// that do not exist count as zeros; store masks the lanes to write. In Go:
//
//	for j := range cols {
//		for i := range 16 {
//			if store>>i&1 == 1 {
//				dst[j*lddst+i] = src[i*ldsrc+j] // zero for i >= rows
//			}
//		}
//	}
//
//	SI, R11, R12, R13  rows 0, 4, 8, 12
//	R9, R10            ldsrc, 3*ldsrc in bytes
//	DI, R8             dst, lddst in bytes
//	DX, CX             rows, columns left
//	K1                 columns of the block that exist
//	K2                 lanes to store
//	Z0..Z15            rows, then columns
//	Z16..Z31           temporaries

#define ZERO4(a, b, c, d) \
	VPXORD a, a, a \
	VPXORD b, b, b \
	VPXORD c, c, c \
	VPXORD d, d, d

// ROW loads row i unless it does not exist, and fetches what comes four blocks
// later. x is an address without displacement.
#define ROW(i, x, z) \
	CMPQ       DX, $i   \
	JLE        loaded   \
	PREFETCHT0 256 x    \
	VMOVUPS.Z  x, K1, z

// ROWS loads those that exist.
#define ROWS \
	ROW(0, (SI), Z0)           \
	ROW(1, (SI)(R9*1), Z1)     \
	ROW(2, (SI)(R9*2), Z2)     \
	ROW(3, (SI)(R10*1), Z3)    \
	ROW(4, (R11), Z4)          \
	ROW(5, (R11)(R9*1), Z5)    \
	ROW(6, (R11)(R9*2), Z6)    \
	ROW(7, (R11)(R10*1), Z7)   \
	ROW(8, (R12), Z8)          \
	ROW(9, (R12)(R9*1), Z9)    \
	ROW(10, (R12)(R9*2), Z10)  \
	ROW(11, (R12)(R10*1), Z11) \
	ROW(12, (R13), Z12)        \
	ROW(13, (R13)(R9*1), Z13)  \
	ROW(14, (R13)(R9*2), Z14)  \
	ROW(15, (R13)(R10*1), Z15)

#define COLUMN(z) \
	VMOVUPS z, K2, (DI) \
	ADDQ    R8, DI

// LASTCOLUMN stores column i unless it does not exist.
#define LASTCOLUMN(i, z) \
	CMPQ CX, $i \
	JLE  done   \
	COLUMN(z)

// func transposeStripAVX512(dst *float32, lddst int, src *float32, ldsrc, rows, cols int, store uint32)
TEXT ·transposeStripAVX512(SB), NOSPLIT, $0-52
	MOVQ  dst+0(FP), DI
	MOVQ  lddst+8(FP), R8
	MOVQ  src+16(FP), SI
	MOVQ  ldsrc+24(FP), R9
	MOVQ  rows+32(FP), DX
	MOVQ  cols+40(FP), CX
	MOVL  store+48(FP), AX
	KMOVW AX, K2
	SHLQ  $2, R8
	SHLQ  $2, R9
	LEAQ  (R9)(R9*2), R10
	LEAQ  (SI)(R9*4), R11
	LEAQ  (R11)(R9*4), R12
	LEAQ  (R12)(R9*4), R13
	MOVL  $0xffff, AX
	KMOVW AX, K1

block:
	CMPQ CX, $16
	JGE  load

	// The last block: mask the columns that do not exist.
	MOVL  $1, AX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K1

load:
	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
	ZERO4(Z8, Z9, Z10, Z11)
	ZERO4(Z12, Z13, Z14, Z15)
	ROWS

loaded:
	TRANSPOSE16
	CMPQ CX, $16
	JL   last
	COLUMN(Z0)
	COLUMN(Z1)
	COLUMN(Z2)
	COLUMN(Z3)
	COLUMN(Z4)
	COLUMN(Z5)
	COLUMN(Z6)
	COLUMN(Z7)
	COLUMN(Z8)
	COLUMN(Z9)
	COLUMN(Z10)
	COLUMN(Z11)
	COLUMN(Z12)
	COLUMN(Z13)
	COLUMN(Z14)
	COLUMN(Z15)
	ADDQ $64, SI
	ADDQ $64, R11
	ADDQ $64, R12
	ADDQ $64, R13
	SUBQ $16, CX
	JNZ  block
	JMP  done

last:
	LASTCOLUMN(0, Z0)
	LASTCOLUMN(1, Z1)
	LASTCOLUMN(2, Z2)
	LASTCOLUMN(3, Z3)
	LASTCOLUMN(4, Z4)
	LASTCOLUMN(5, Z5)
	LASTCOLUMN(6, Z6)
	LASTCOLUMN(7, Z7)
	LASTCOLUMN(8, Z8)
	LASTCOLUMN(9, Z9)
	LASTCOLUMN(10, Z10)
	LASTCOLUMN(11, Z11)
	LASTCOLUMN(12, Z12)
	LASTCOLUMN(13, Z13)
	LASTCOLUMN(14, Z14)

done:
	VZEROUPPER
	RET

// QUADCOLUMNS stores columns i to i+3 as rows of dst, offset in its values, unless they do not exist.
#define QUADCOLUMNS(i, A, B, C, D, offset) \
	CMPQ CX, $i         \
	JLE  done           \
	MOVQ offset, AX     \
	LEAQ (BX)(AX*4), DI \
	COLUMN(A)           \
	LASTCOLUMN(i+1, B)  \
	LASTCOLUMN(i+2, C)  \
	LASTCOLUMN(i+3, D)

// func transposeQuadsAVX512(dst *float32, lddst, d1, d2, d3 int, src *float32, ldsrc, s1, s2, s3, rows, cols int)
//
// As transposeStripAVX512, but for one block, whose rows, and columns, lie apart in fours.
//
//	BX  dst
TEXT ·transposeQuadsAVX512(SB), NOSPLIT, $0-96
	MOVQ  dst+0(FP), BX
	MOVQ  lddst+8(FP), R8
	MOVQ  src+40(FP), SI
	MOVQ  ldsrc+48(FP), R9
	MOVQ  s1+56(FP), R11
	MOVQ  s2+64(FP), R12
	MOVQ  s3+72(FP), R13
	MOVQ  rows+80(FP), DX
	MOVQ  cols+88(FP), CX
	SHLQ  $2, R8
	SHLQ  $2, R9
	LEAQ  (R9)(R9*2), R10
	LEAQ  (SI)(R11*4), R11
	LEAQ  (SI)(R12*4), R12
	LEAQ  (SI)(R13*4), R13
	MOVL  $1, AX
	XCHGQ CX, DX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K2
	XCHGQ CX, DX
	MOVL  $1, AX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K1
	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
	ZERO4(Z8, Z9, Z10, Z11)
	ZERO4(Z12, Z13, Z14, Z15)
	ROWS

loaded:
	TRANSPOSE16
	QUADCOLUMNS(0, Z0, Z1, Z2, Z3, $0)
	QUADCOLUMNS(4, Z4, Z5, Z6, Z7, d1+16(FP))
	QUADCOLUMNS(8, Z8, Z9, Z10, Z11, d2+24(FP))
	QUADCOLUMNS(12, Z12, Z13, Z14, Z15, d3+32(FP))

done:
	VZEROUPPER
	RET
