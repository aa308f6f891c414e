// Constants of the exponential and logarithm kernels (float32 bits).
//
// exp: n = round(x/ln 2), r = x - n*ln 2 in two parts (n*LN2HI is exact: LN2HI has
// 15 bits), e^r = 1 + r*(1 + r*(E2 + r*(E3 + r*(E4 + r*(E5 + r*E6))))) on
// |r| <= ln(2)/2, relative error 2^-28.2.
//
// log: x = 2^e*m, 0.75 <= m < 1.5, f = m-1,
// log(1+f) = f - f*f/2 + f*f*f*(L0 + f*(L1 + ... + f*L7)), relative error 2^-27.6.
//
// The coefficients minimise the largest relative error; each was rounded to
// float32 before the next ones were fitted.

#define MAGIC 0x4b400000 // 1.5*2^23: adding it rounds to an integer, in the low bits
#define LOG2E 0x3fb8aa3b
#define LN2HI 0x3f317200
#define LN2LO 0x35bfbe8e
#define EXPMIN 0xc2aeac4f // -87.33654
#define EXPMAX 0x42b17217 // 88.72283
#define EXPTOP 0x42b20000 // 89: e^89 overflows
#define ONE 0x3f800000
#define E2 0x3efffffe // 0.49999994
#define E3 0x3e2aaa45 // 0.166665152
#define E4 0x3d2aac27 // 0.0416680835
#define E5 0x3c091f97 // 0.00836934801
#define E6 0x3ab56891 // 0.00138403673
#define HALFNEG 0xbf000000 // -1/2
#define L0 0x3eaaaad2 // 0.333334506
#define L1 0xbe800025 // -0.250001103
#define L2 0x3e4cb4cf // 0.19990848
#define L3 0xbe2a76cb // -0.166468784
#define L4 0x3e14403d // 0.1447763
#define L5 0xbe06cc78 // -0.131639361
#define L6 0x3dd67a54 // 0.10472551
#define L7 0xbd38f196 // -0.0451522693
