//go:build noasm || !(amd64 || arm64)

package tensor

import "sync/atomic"

// pause takes about as long as n PAUSE instructions. The atomic load keeps the
// compiler from removing the loop.
func pause(n uint32) {
	var x atomic.Uint32
	for range 16 * n {
		x.Load()
	}
}
