// Package devicetest is the conformance suite of tensor.Device: every operation
// at sizes around the widths of vectors, blocks and shares of work, against
// plain float64 arithmetic.
//
// A device's test calls Run. The table behind it is exported as Cases, so that
// a test can also compare two devices bit by bit (Outputs) or count the
// allocations of every operation (Allocs).
//
// What the suite demands of results: operations that only move or compare
// values, and sums and products of two, are exact; reductions are within 1e-6
// of the sum of magnitudes; the other bounds are stated where the cases are
// built. NaN must reach every value that depends on it, and no other.
package devicetest
