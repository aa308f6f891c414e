package tensor

import "fmt"

// Error is what this package panics with on programmer error: a shape, length
// or range that the caller could have checked. Op names the operation.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "tensor: " + e.Op + ": " + e.Problem }

func rangeError(op string, i, j, n int) *Error {
	return &Error{op, fmt.Sprintf("range [%d:%d) outside length %d", i, j, n)}
}
