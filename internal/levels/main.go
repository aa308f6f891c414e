// Levels prints the levels of assembly that this machine has, one a line,
// lowest first: what a loop over NOETHER_SIMD can run.
package main

import (
	"fmt"

	"github.com/noether-go/noether/asm"
)

func main() {
	for _, l := range asm.Available() {
		fmt.Println(l)
	}
}
