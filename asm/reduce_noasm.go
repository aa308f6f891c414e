//go:build noasm || (!amd64 && !arm64)

package asm

func sum(x []float32) float64 { return sumGeneric(x) }

func dot(x, y []float32) float64 { return dotGeneric(x, y) }

func sumSquares(x []float32, mean float32) float64 { return sumSquaresGeneric(x, mean) }

func colSum(dst, x []float32) { colSumGeneric(dst, x) }

func colAffine(dst, x, scale, shift []float32) { colAffineGeneric(dst, x, scale, shift) }

func colMax(max, index, x []float32) { colMaxGeneric(max, index, x) }
