// Constants of the trigonometric kernels (float32 bits).
//
// pi is split into three parts, each rounded down, and so is pi/2 (half of
// them): k times the first part has at most 40 bits, so x - k*part1 is exact.
//
// sin(r) = r + s*r*(S3 + s*(S5 + s*(S7 + s*S9))), s = r*r, on |r| <= pi/2 + 0.008,
// relative error 2^-27.1. The product s*r is taken as s*r + 0, which makes it +0
// for r = -0; times the negative polynomial it is -0, so sin(-0) = -0, sin(+0) = +0.
//
// sin(r) = r + s*r*(T3 + s*(T5 + s*T7)) on |r| <= pi/4 + 0.008, error 2^-27.8.
// cos(r) = 1 + s*(-1/2 + s*(C4 + s*(C6 + s*C8))) there, error 2^-32.7.
//
// The coefficients minimise the largest relative error (Remez exchange); each
// was rounded to float32 before the next ones were fitted.

#define LIMIT 0x47800000 // 65536: the kernels take |x| below it
#define MAGIC 0x4b400000 // 1.5*2^23: adding it rounds to an integer, in the low bits
#define INVPI 0x3ea2f983 // 1/pi
#define PI1 0x40490fda
#define PI2 0x34222168
#define PI3 0x284234c4
#define INVPIO2 0x3f22f983 // 2/pi
#define PIO2A 0x3fc90fda
#define PIO2B 0x33a22168
#define PIO2C 0x27c234c4
#define ONE 0x3f800000
#define S3 0xbe2aaaa6 // -0.166666597
#define S5 0x3c08876a // 0.00833306648
#define S7 0xb94fb791 // -0.000198094422
#define S9 0x362ed418 // 2.60514753e-06
#define T3 0xbe2aaaa2 // -0.166666538
#define T5 0x3c088363 // 0.00833210628
#define T7 0xb94c8e13 // -0.000195078828
#define HALFNEG 0xbf000000 // -1/2
#define C4 0x3d2aaaa5 // 0.0416666456
#define C6 0xbab6060a // -0.00138872978
#define C8 0x37ccef34 // 2.44300827e-05
