//go:build !linux

package bench

import "testing"

// peak is only known on Linux.
type peak struct{}

func resetPeak(*testing.B) peak { return peak{} }
func (peak) report(*testing.B)  {}
