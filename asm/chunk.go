package asm

// chunk is the most values that one call of a kernel works on: 64 KiB, which
// takes a few microseconds, and at most about 40 where memory is the limit.
// Assembly cannot be preempted, so a garbage collection that wants to stop the
// world waits for the kernel to return. The arch functions (sin, add, ...) are
// //go:noinline and call assembly, so each has the prologue that checks for
// preemption, and every chunk passes it.
//
// A chunk is a multiple of every kernel's block, so splitting keeps the
// alignment of the data.
const chunk = 16 << 10
