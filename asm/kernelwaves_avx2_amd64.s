//go:build !noasm

#include "textflag.h"
#include "avx2_amd64.h"

// KernelWaves and KernelWavesGrad, for 8 kernels after the other, the last ones under a mask: the real part of
// a spectrum from the even slots, then the imaginary part from the odd ones. A part's sums along columns stay
// in registers: u of those slots that go with cosines along columns, v of those that go with sines.
// In Go, for one part of one kernel, with y and x by row, column and wave:
//
//	for _, s := range slots {
//		sums[s.kind][s.col] += y[s.row] * s
//	}
//	for f := range m - mirrored {
//		a, b := u[0]+cos[1]*u[1]+cos[2]*u[2]+cos[3]*u[3], sin[1]*v[1]+sin[2]*v[2]+sin[3]*v[3]
//		part[f] = a-b   // a+b of the imaginary part
//		part[m-f] = a+b // a-b of the imaginary part, of mirrored frequencies
//	}
//
// and back:
//
//	for f := range m - mirrored {
//		a := part[f]+part[m-f] // 0 for part[m-f] of the others
//		b := part[m-f]-part[f] // part[f]-part[m-f] of the imaginary part
//		u, v += cos*a, sin*b
//	}
//	for _, s := range slots {
//		s += y[s.row] * sums[s.kind][s.col] // = without accumulate
//	}
//
//	Y0..Y3     u
//	Y4..Y6     v
//	Y7..Y13    y: the cosines of 0..3, the sines of 1..3
//	Y7, Y8     a and b, at a frequency
//	Y9..Y14    x there
//	Y14        scratch between sums and slots, Y7 from slots to sums
//	Y15        the kernels that exist, of the last ones
//	DI         slots from one on
//	R9, R8     bytes from a slot to the next, and to the next of the part
//	R10        what is fetched is so many bytes behind slots
//	SI         x at the frequency
//	DI, BX     the part at the frequency and at its opposite, after slots or before
//	R11        bytes from re to im
//	R12        ld in bytes
//	DX         kernels left, less 8
//	CX         frequencies left
//	R13        pairs
//	R14        accumulate
//	AX         scratch
//
// slots and re count along in the frame of the arguments. The rows of a part lie too far apart for the processor to
// fetch them by itself: the lines 32 kernels on are asked for.

// ARGUMENTS are those of both but y.
#define ARGUMENTS \
	MOVQ n+0(FP), DX          \
	MOVQ lds+56(FP), R9       \
	MOVQ ld+80(FP), R12       \
	MOVQ im+72(FP), R11       \
	SUBQ re+64(FP), R11       \
	MOVQ distance+88(FP), R10 \
	MOVQ pairs+8(FP), R13     \
	SHLQ $2, R9               \
	SHLQ $2, R12              \
	LEAQ (R9)(R9*1), R8

#define ZERO7 \
	VXORPS Y0, Y0, Y0 \
	VXORPS Y1, Y1, Y1 \
	VXORPS Y2, Y2, Y2 \
	VXORPS Y3, Y3, Y3 \
	VXORPS Y4, Y4, Y4 \
	VXORPS Y5, Y5, Y5 \
	VXORPS Y6, Y6, Y6

// ROWS loads the waves of rows but the cosine of no angle, which lie a displacement behind y.
#define ROWS(c1, c2, c3, s1, s2, s3) \
	MOVQ         y+32(FP), AX \
	VBROADCASTSS c1(AX), Y8   \
	VBROADCASTSS c2(AX), Y9   \
	VBROADCASTSS c3(AX), Y10  \
	VBROADCASTSS s1(AX), Y11  \
	VBROADCASTSS s2(AX), Y12  \
	VBROADCASTSS s3(AX), Y13

// TWO takes two slots of a part.
#define TWO(SLOT1, w1, t1, SLOT2, w2, t2) \
	SLOT1((DI), w1, t1)       \
	SLOT2((DI)(R8*1), w2, t2) \
	PREFETCHT1 (DI)(R10*1)    \
	LEAQ       (DI)(R8*1), AX \
	PREFETCHT1 (AX)(R10*1)    \
	LEAQ       (DI)(R8*2), DI

// UNTIL ends at so many pairs.
#define UNTIL(count, done) \
	CMPQ R13, count \
	JEQ  done

// TAPS takes the slots of a part but the middle one in their order, each with the wave of its row and its sum. Off
// the axes one of sines along columns goes before one of cosines, with waves p and q of rows. Those in the middle
// row go to sums t, by AXIS.
#define TAPS(AXIS, t1, t2, t3, SLOT, p1, p2, p3, q1, q2, q3, done) \
	UNTIL($0, done)                 \
	TWO(AXIS, Y7, t1, SLOT, q1, Y0) \
	UNTIL($2, done)                 \
	TWO(SLOT, p1, Y4, SLOT, q1, Y1) \
	UNTIL($4, done)                 \
	TWO(AXIS, Y7, t2, SLOT, q2, Y0) \
	UNTIL($6, done)                 \
	TWO(SLOT, p1, Y5, SLOT, q1, Y2) \
	TWO(SLOT, p2, Y4, SLOT, q2, Y1) \
	UNTIL($10, done)                \
	TWO(SLOT, p2, Y5, SLOT, q2, Y2) \
	UNTIL($12, done)                \
	TWO(AXIS, Y7, t3, SLOT, q3, Y0) \
	UNTIL($14, done)                \
	TWO(SLOT, p1, Y6, SLOT, q1, Y3) \
	TWO(SLOT, p3, Y4, SLOT, q3, Y1) \
	UNTIL($18, done)                \
	TWO(SLOT, p2, Y6, SLOT, q2, Y3) \
	TWO(SLOT, p3, Y5, SLOT, q3, Y2) \
	UNTIL($22, done)                \
	TWO(SLOT, p3, Y6, SLOT, q3, Y3)

// EVEN and ODD are the slots of the real and of the imaginary part.
#define EVEN(AXIS, SLOT, done) \
	MOVQ       slots+48(FP), DI                                    \
	AXIS((DI), Y7, Y0)                                             \
	PREFETCHT1 (DI)(R10*1)                                         \
	ADDQ       R8, DI                                              \
	TAPS(AXIS, Y1, Y2, Y3, SLOT, Y11, Y12, Y13, Y8, Y9, Y10, done)

#define ODD(AXIS, SLOT, done) \
	MOVQ slots+48(FP), DI                                          \
	ADDQ R9, DI                                                    \
	TAPS(AXIS, Y4, Y5, Y6, SLOT, Y8, Y9, Y10, Y11, Y12, Y13, done)

// ADDAXIS has no wave: the cosine of no angle is one.
#define ADDAXIS(slot, wave, sum) \
	VADDPS slot, sum, sum

#define ADDSLOT(slot, wave, sum) \
	VFMADD231PS slot, wave, sum

#define ADDLASTAXIS(slot, wave, sum) \
	VMASKMOVPS slot, Y15, Y7 \
	VADDPS     Y7, sum, sum

#define ADDLAST(slot, wave, sum) \
	VMASKMOVPS  slot, Y15, Y7 \
	VFMADD231PS Y7, wave, sum

#define LOAD(from, to) \
	VMOVUPS from, to

#define LOADLAST(from, to) \
	VMASKMOVPS from, Y15, to

#define STORE(from, to) \
	VMOVUPS from, to

#define STORELAST(from, to) \
	VMASKMOVPS from, Y15, to

	// WAVES makes a in Y7 and b in Y8 at a frequency, of waves at SI, and stores there what COMBINE makes of them.
#define WAVES(COMBINE, STORE) \
	VBROADCASTSS (SI), Y9    \
	VBROADCASTSS 4(SI), Y10  \
	VBROADCASTSS 8(SI), Y11  \
	VBROADCASTSS 12(SI), Y12 \
	VBROADCASTSS 16(SI), Y13 \
	VBROADCASTSS 20(SI), Y14 \
	ADDQ         $24, SI     \
	VMOVAPS      Y0, Y7      \
	VMULPS       Y12, Y4, Y8 \
	VFMADD231PS  Y9, Y1, Y7  \
	VFMADD231PS  Y13, Y5, Y8 \
	VFMADD231PS  Y10, Y2, Y7 \
	VFMADD231PS  Y14, Y6, Y8 \
	VFMADD231PS  Y11, Y3, Y7 \
	COMBINE      Y8, Y7, Y9  \
	STORE(Y9, (DI))          \
	PREFETCHT0   128(DI)     \
	ADDQ         R12, DI

#define MIRRORED(COMBINE, OPPOSITE, STORE) \
	WAVES(COMBINE, STORE) \
	OPPOSITE   Y8, Y7, Y7 \
	STORE(Y7, (BX))       \
	PREFETCHT0 128(BX)    \
	SUBQ       R12, BX

// LASTFREQUENCY sets BX to it.
#define LASTFREQUENCY \
	MOVQ  single+16(FP), BX   \
	MOVQ  mirrored+24(FP), CX \
	LEAQ  -1(BX)(CX*2), BX    \
	IMULQ R12, BX             \
	ADDQ  DI, BX

// SPECTRUM makes a part, at DI, from its sums. It leaves to done; the other labels are the macro's own.
#define SPECTRUM(COMBINE, OPPOSITE, STORE, mirrored, rest, single, done) \
	MOVQ      x+40(FP), SI             \
	LASTFREQUENCY                      \
	WAVES(COMBINE, STORE)              \
	TESTQ     CX, CX                   \
	JZ        rest                     \
	mirrored:                          \
	MIRRORED(COMBINE, OPPOSITE, STORE) \
	DECQ      CX                       \
	JNZ       mirrored                 \
	rest:                              \
	MOVQ      single+16(FP), CX        \
	DECQ      CX                       \
	JZ        done                     \
	single:                            \
	WAVES(COMBINE, STORE)              \
	DECQ      CX                       \
	JNZ       single

// func skernelWavesAVX2(n, pairs, single, mirrored int, y, x, slots *float32, lds int, re, im *float32, ld, distance int)
TEXT ·skernelWavesAVX2(SB), NOSPLIT, $0-96
	ARGUMENTS
	SUBQ $8, DX
	JL   last

tile:
	ZERO7
	ROWS(0, 4, 8, 12, 16, 20)
	EVEN(ADDAXIS, ADDSLOT, real)

real:
	MOVQ re+64(FP), DI
	SPECTRUM(VSUBPS, VADDPS, STORE, mirroredReal, restReal, singleReal, doneReal)

doneReal:
	ZERO7
	ROWS(0, 4, 8, 12, 16, 20)
	ODD(ADDAXIS, ADDSLOT, imaginary)

imaginary:
	MOVQ re+64(FP), DI
	ADDQ R11, DI
	SPECTRUM(VADDPS, VSUBPS, STORE, mirroredImaginary, restImaginary, singleImaginary, doneImaginary)

doneImaginary:
	ADDQ $32, slots+48(FP)
	ADDQ $32, re+64(FP)
	SUBQ $8, DX
	JGE  tile

last:
	ADDQ $8, DX
	JZ   return
	MOVQ DX, CX
	TAILMASK
	ZERO7
	ROWS(0, 4, 8, 12, 16, 20)
	EVEN(ADDLASTAXIS, ADDLAST, lastReal)

lastReal:
	MOVQ re+64(FP), DI
	SPECTRUM(VSUBPS, VADDPS, STORELAST, mirroredLastReal, restLastReal, singleLastReal, doneLastReal)

doneLastReal:
	ZERO7
	ROWS(0, 4, 8, 12, 16, 20)
	ODD(ADDLASTAXIS, ADDLAST, lastImaginary)

lastImaginary:
	MOVQ re+64(FP), DI
	ADDQ R11, DI
	SPECTRUM(VADDPS, VSUBPS, STORELAST, mirroredLastImaginary, restLastImaginary, singleLastImaginary, return)

return:
	VZEROUPPER
	RET

// GRAD adds what a frequency, a in Y7 and b in Y8, contributes, by waves at SI.
#define GRAD \
	VBROADCASTSS (SI), Y9    \
	VBROADCASTSS 4(SI), Y10  \
	VBROADCASTSS 8(SI), Y11  \
	VBROADCASTSS 12(SI), Y12 \
	VBROADCASTSS 16(SI), Y13 \
	VBROADCASTSS 20(SI), Y14 \
	VFMADD231PS  Y9, Y7, Y0  \
	VBROADCASTSS 24(SI), Y9  \
	VFMADD231PS  Y10, Y7, Y1 \
	VFMADD231PS  Y11, Y7, Y2 \
	VFMADD231PS  Y12, Y7, Y3 \
	VFMADD231PS  Y13, Y8, Y4 \
	VFMADD231PS  Y14, Y8, Y5 \
	VFMADD231PS  Y9, Y8, Y6  \
	ADDQ         $28, SI     \
	ADDQ         R12, DI

// REAL and IMAGINARY make b of the values at a frequency and at its opposite.
#define REAL(at, opposite) \
	VSUBPS at, opposite, Y8

#define IMAGINARY(at, opposite) \
	VSUBPS opposite, at, Y8

#define GRADMIRRORED(PART, LOAD) \
	LOAD((DI), Y9)         \
	LOAD((BX), Y10)        \
	PREFETCHT0 128(DI)     \
	PREFETCHT0 128(BX)     \
	SUBQ       R12, BX     \
	VADDPS     Y10, Y9, Y7 \
	PART(Y9, Y10)          \
	GRAD

// The others have nothing opposite.
#define GRADSINGLE(PART, LOAD) \
	LOAD((DI), Y7)           \
	PREFETCHT0 128(DI)       \
	VXORPS     Y10, Y10, Y10 \
	PART(Y7, Y10)            \
	GRAD

// SUMS takes a part, at DI, to its sums. It leaves to done; the other labels are the macro's own.
#define SUMS(PART, LOAD, mirrored, rest, single, done) \
	ZERO7                       \
	MOVQ      x+40(FP), SI      \
	LASTFREQUENCY               \
	GRADSINGLE(PART, LOAD)      \
	TESTQ     CX, CX            \
	JZ        rest              \
	mirrored:                   \
	GRADMIRRORED(PART, LOAD)    \
	DECQ      CX                \
	JNZ       mirrored          \
	rest:                       \
	MOVQ      single+16(FP), CX \
	DECQ      CX                \
	JZ        done              \
	single:                     \
	GRADSINGLE(PART, LOAD)      \
	DECQ      CX                \
	JNZ       single

#define PUTSLOT(slot, wave, sum) \
	VMULPS  wave, sum, Y14 \
	VMOVUPS Y14, slot

#define PUTMORE(slot, wave, sum) \
	VMOVUPS     slot, Y14      \
	VFMADD231PS wave, sum, Y14 \
	VMOVUPS     Y14, slot

#define PUTLAST(slot, wave, sum) \
	VMULPS     wave, sum, Y14 \
	VMASKMOVPS Y14, Y15, slot

#define PUTLASTMORE(slot, wave, sum) \
	VMASKMOVPS  slot, Y15, Y14 \
	VFMADD231PS wave, sum, Y14 \
	VMASKMOVPS  Y14, Y15, slot

// SLOTS writes a part's slots by PUT, or adds to them by MORE. It leaves to done; the other label is the macro's own.
#define SLOTS(PART, PUT, MORE, more, done) \
	ROWS(4, 8, 12, 16, 20, 24) \
	VBROADCASTSS (AX), Y7      \
	TESTL        R14, R14      \
	JNE          more          \
	PART(PUT, PUT, done)       \
	JMP          done          \
	more:                  \
	PART(MORE, MORE, done)

// func skernelWavesGradAVX2(n, pairs, single, mirrored int, y, x, slots *float32, lds int, re, im *float32, ld, distance int, accumulate bool)
TEXT ·skernelWavesGradAVX2(SB), NOSPLIT, $0-97
	ARGUMENTS
	MOVBLZX accumulate+96(FP), R14
	SUBQ    $8, DX
	JL      last

tile:
	MOVQ re+64(FP), DI
	SUMS(REAL, LOAD, mirroredReal, restReal, singleReal, real)

real:
	SLOTS(EVEN, PUTSLOT, PUTMORE, moreReal, doneReal)

doneReal:
	MOVQ re+64(FP), DI
	ADDQ R11, DI
	SUMS(IMAGINARY, LOAD, mirroredImaginary, restImaginary, singleImaginary, imaginary)

imaginary:
	SLOTS(ODD, PUTSLOT, PUTMORE, moreImaginary, doneImaginary)

doneImaginary:
	ADDQ $32, slots+48(FP)
	ADDQ $32, re+64(FP)
	SUBQ $8, DX
	JGE  tile

last:
	ADDQ $8, DX
	JZ   return
	MOVQ DX, CX
	TAILMASK
	MOVQ re+64(FP), DI
	SUMS(REAL, LOADLAST, mirroredLastReal, restLastReal, singleLastReal, lastReal)

lastReal:
	SLOTS(EVEN, PUTLAST, PUTLASTMORE, moreLastReal, doneLastReal)

doneLastReal:
	MOVQ re+64(FP), DI
	ADDQ R11, DI
	SUMS(IMAGINARY, LOADLAST, mirroredLastImaginary, restLastImaginary, singleLastImaginary, lastImaginary)

lastImaginary:
	SLOTS(ODD, PUTLAST, PUTLASTMORE, moreLastImaginary, return)

return:
	VZEROUPPER
	RET
