//go:build !noasm

package asm

func add(dst, x, y []float32) { addGeneric(dst, x, y) }

func sub(dst, x, y []float32) { subGeneric(dst, x, y) }

func mul(dst, x, y []float32) { mulGeneric(dst, x, y) }

func mulAdd(dst, x, y []float32) { mulAddGeneric(dst, x, y) }

func axpy(y []float32, a float32, x []float32) { axpyGeneric(y, a, x) }

func affine(dst, x []float32, scale, shift float32) { affineGeneric(dst, x, scale, shift) }

func combine(dst, x, y []float32, a, b, c float32) { combineGeneric(dst, x, y, a, b, c) }

func relu(dst, x []float32) { reluGeneric(dst, x) }

func reluGrad(dx, dy, y []float32) { reluGradGeneric(dx, dy, y) }

func fill(dst []float32, v float32) { fillGeneric(dst, v) }
