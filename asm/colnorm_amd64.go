//go:build !noasm

package asm

// normStrip is the number of columns of a strip.
const normStrip = strip

// normColumns returns how many columns the kernels take at a time when left columns are left.
func normColumns(left int) int { return columns(left) }

//go:noescape
func colNormAVX2(s *colStrip)

//go:noescape
func colNormAVX512(s *colStrip)

//go:noescape
func colNormSumsAVX2(s *colStrip)

//go:noescape
func colNormSumsAVX512(s *colStrip)

//go:noescape
func colNormGradAVX2(s *colStrip)

//go:noescape
func colNormGradAVX512(s *colStrip)

//go:noescape
func colMomentsAVX2(s *colStrip)

//go:noescape
func colMomentsAVX512(s *colStrip)

//go:noinline
func (s *colStrip) norm() {
	if level == AVX512 {
		colNormAVX512(s)
	} else {
		colNormAVX2(s)
	}
}

//go:noinline
func (s *colStrip) normSums() {
	if level == AVX512 {
		colNormSumsAVX512(s)
	} else {
		colNormSumsAVX2(s)
	}
}

//go:noinline
func (s *colStrip) normGrad() {
	if level == AVX512 {
		colNormGradAVX512(s)
	} else {
		colNormGradAVX2(s)
	}
}

//go:noinline
func (s *colStrip) moments() {
	if level == AVX512 {
		colMomentsAVX512(s)
	} else {
		colMomentsAVX2(s)
	}
}
