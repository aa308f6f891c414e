package tensor

import "github.com/noether-go/noether/asm"

// finish applies bias and epilogue to a block of the matrix that begins at
// offset of C, while the block is still in the cache.
func (j *gemmJob) finish(offset, row, end, col0, col1 int) {
	if j.bias == nil && j.epilogue == NoEpilogue {
		return
	}
	for r := row; r < end; r++ {
		at := offset + r*j.ldc
		y := j.c[at+col0 : at+col1]
		var bias float32
		if j.bias != nil {
			bias = j.bias[r]
		}
		switch j.epilogue {
		case NoEpilogue:
			asm.Affine(y, y, 1, bias)
		case ReLUEpilogue:
			if j.bias != nil {
				asm.Affine(y, y, 1, bias)
			}
			asm.Relu(y, y)
		case SinEpilogue:
			if j.derivative == nil {
				asm.SinAffine(y, y, j.omega, j.omega*bias)
				continue
			}
			asm.SinCosAffine(y, j.derivative[at+col0:at+col1], y, j.omega, j.omega*bias)
		}
	}
}
