package conv

import "github.com/noether-go/noether/lie"

// kernelOrder has both lists of elements in the order of the kernel, where that of the maps is another: see Shape.Runs.
type kernelOrder struct{ u, v []lie.Element }

// newKernelOrder makes room for so many output and input elements.
func newKernelOrder(out, in int) kernelOrder {
	return kernelOrder{make([]lie.Element, out), make([]lie.Element, in)}
}

// elements returns u and v, those of the maps, in the order of the kernel.
func (k *kernelOrder) elements(s *Shape, u, v []lie.Element) (_, _ []lie.Element) {
	if s.Runs <= 1 {
		return u, v
	}
	return arrange(k.u, u, s), arrange(k.v, v, s)
}

func arrange(to, from []lie.Element, s *Shape) []lie.Element {
	to = to[:len(from)]
	for e := range to {
		to[e] = from[s.element(e, len(from))]
	}
	return to
}
