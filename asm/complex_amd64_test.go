//go:build !noasm

package asm

// setAddsBeside has complex products computed as for a processor of that kind, until restore is called.
func setAddsBeside(beside bool) (restore func()) {
	before := addsBeside
	addsBeside = beside
	return func() { addsBeside = before }
}
