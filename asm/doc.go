// Package asm holds the float32 kernels that everything else is built on:
// matrix multiplication tiles and packing, trigonometric and exponential
// functions, elementwise operations, reductions, pooling and the Adam step. Each
// exists as portable Go, which is the reference, and as hand-written assembly.
//
// # Levels
//
// A Level is a set of kernels: generic (portable Go), neon (arm64), avx2, avx512
// and amx (amd64; amx on Linux only). The highest that the CPU and the operating
// system support is used. The environment variable NOETHER_SIMD caps it:
//
//	NOETHER_SIMD=avx2 go run ./train
//
// A value that is unknown or not available here is reported by EnvError and
// otherwise ignored. Build tag noasm leaves the assembly out. SetLevel switches
// in tests and benchmarks.
//
// # Conventions
//
// Slices are float32 and need no alignment, though 64 bytes is fastest. Matrices
// are row-major. Lengths that do not fit are programmer errors and panic with
// *Error. Nothing allocates, and nothing is kept from one call to the next: scratch
// memory is an argument. Functions are safe for concurrent use on distinct
// destinations; none starts goroutines.
//
// An elementwise function treats every value alike wherever it lies in the
// slice: the last values of a slice, fewer than a vector, take the same
// arithmetic under a mask. Splitting a slice between threads therefore never
// changes a bit. docs/numerics.md states error bounds and what is equal to
// what.
//
// # Layout of the source
//
// For each family F of functions: F.go has the API and its checks,
// F_generic.go the portable code, unless the family is put together from others, F_amd64.go
// and F_arm64.go the choice of the kernel, F_avx512_amd64.s and so on the kernels, F_noasm.go
// what replaces them elsewhere; where amd64 alone has kernels that is F_other.go.
package asm
