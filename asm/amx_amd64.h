// Macros shared by the kernels of the matrix unit.
//
// Go's assembler does not know AMX. Each instruction is written as its bytes, in
// the encodings of Intel's Instruction Set Reference.
//
//	TILELOADD  disp32(base)(index*1), tmm   C4E27B4B.. with a SIB byte
//	TILESTORED tmm, disp32(base)(index*1)   C4E27A4B.. with a SIB byte
//	TDPBF16PS  b, a, c                      C4E2..5C.., c += a*b

// LDTILECFG (AX)
#define CONFIGURE \
	LONG $0x4978e2c4 \
	BYTE $0x00

#define RELEASE \
	LONG $0x4978e2c4 \
	BYTE $0xc0

#define ZERO(t) \
	LONG $0x497be2c4   \
	BYTE $(0xc0 + t*8)

// LEFT and RIGHT load tile t from SI and from DI, rows of R8 = 64 bytes.
#define LEFT(t, d) \
	LONG $0x4b7ba2c4     \
	WORD $(0x0684 + t*8) \
	LONG $d

#define RIGHT(t, d) \
	LONG $0x4b7ba2c4     \
	WORD $(0x0784 + t*8) \
	LONG $d

// RIGHTLONG loads tile t from DI, rows of R10 bytes.
#define RIGHTLONG(t, d) \
	LONG $0x4b7ba2c4     \
	WORD $(0x1784 + t*8) \
	LONG $d

// LOADC and STOREC move tile t from and to DX, LOADC16 and STOREC16 from and to BX,
// rows of R9 bytes.
#define LOADC(t, d) \
	LONG $0x4b7ba2c4     \
	WORD $(0x0a84 + t*8) \
	LONG $d

#define STOREC(t, d) \
	LONG $0x4b7aa2c4     \
	WORD $(0x0a84 + t*8) \
	LONG $d

#define LOADC16(t, d) \
	LONG $0x4b7ba2c4     \
	WORD $(0x0b84 + t*8) \
	LONG $d

#define STOREC16(t, d) \
	LONG $0x4b7aa2c4     \
	WORD $(0x0b84 + t*8) \
	LONG $d

// Products of the tiles of A (4, 5) and B (6, 7): C (0 1; 2 3).
#define TDP46 \
	LONG $0x5c4ae2c4 \
	BYTE $0xc4

#define TDP47 \
	LONG $0x5c42e2c4 \
	BYTE $0xcc

#define TDP56 \
	LONG $0x5c4ae2c4 \
	BYTE $0xd5

#define TDP57 \
	LONG $0x5c42e2c4 \
	BYTE $0xdd

// Part p of both tiles of A, of B.
#define LEFTPART(p) \
	LEFT(4, p*2048)      \
	LEFT(5, p*2048+1024)

#define RIGHTPART(p) \
	RIGHT(6, p*2048)      \
	RIGHT(7, p*2048+1024)

// Four products, in an order in which a tile loaded last is used last.
#define PRODUCTS \
	TDP46 \
	TDP56 \
	TDP57 \
	TDP47

#define PRODUCTSBACK \
	TDP47 \
	TDP57 \
	TDP56 \
	TDP46

// BLOCK multiplies 32 steps: the parts in the order of splitPairs, such that
// seven loads serve twelve operands.
#define BLOCK \
	LEFTPART(2)  \
	RIGHTPART(0) \
	PRODUCTS     \
	LEFTPART(1)  \
	PRODUCTSBACK \
	RIGHTPART(1) \
	PRODUCTS     \
	LEFTPART(0)  \
	PRODUCTSBACK \
	RIGHTPART(2) \
	PRODUCTS     \
	RIGHTPART(0) \
	PRODUCTS

// SAVEPRODUCTS is PRODUCTS, the first of a block. It moves the tiles of C of the block before to DX, each just ahead
// of the product that begins it anew: the tiles of A and B are loaded by then, and the unit does not run dry.
#define SAVEPRODUCTS \
	STOREC(0, 0)    \
	ZERO(0)         \
	TDP46           \
	STOREC(2, 2048) \
	ZERO(2)         \
	TDP56           \
	STOREC(3, 2112) \
	ZERO(3)         \
	TDP57           \
	STOREC(1, 64)   \
	ZERO(1)         \
	TDP47

// ZEROES clears the four tiles of a block of C.
#define ZEROES \
	ZERO(0) \
	ZERO(1) \
	ZERO(2) \
	ZERO(3)

// LOADS and STORES move them, the first row being at DX and the seventeenth at BX.
#define LOADS \
	LOADC(0, 0)    \
	LOADC(1, 64)   \
	LOADC16(2, 0)  \
	LOADC16(3, 64)

#define STORES \
	STOREC(0, 0)    \
	STOREC(1, 64)   \
	STOREC16(2, 0)  \
	STOREC16(3, 64)

// Eight tiles of 16 rows of 64 bytes.
DATA tiles<>+0x00(SB)/8, $1
DATA tiles<>+0x08(SB)/8, $0
DATA tiles<>+0x10(SB)/8, $0x0040004000400040
DATA tiles<>+0x18(SB)/8, $0x0040004000400040
DATA tiles<>+0x20(SB)/8, $0
DATA tiles<>+0x28(SB)/8, $0
DATA tiles<>+0x30(SB)/8, $0x1010101010101010
DATA tiles<>+0x38(SB)/8, $0
GLOBL tiles<>(SB), RODATA|NOPTR, $64
