package asm

import "fmt"

// Error is what this package panics with on programmer error (lengths that do
// not fit) and returns for a level that is unknown or not available. Func names
// the function or the environment variable.
type Error struct {
	Func    string
	Problem string
}

func (e *Error) Error() string { return "asm: " + e.Func + ": " + e.Problem }

// same panics unless two slices have equally many values.
func same(fn, first string, want int, name string, have int) {
	if want != have {
		panic(&Error{fn, fmt.Sprintf("%s has %d values but %s has %d", name, have, first, want)})
	}
}
