//go:build noasm || !amd64

package asm

// setAddsBeside has nothing to choose: all processors have one way.
func setAddsBeside(bool) (restore func()) { return func() {} }
