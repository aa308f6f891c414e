// Package onnx writes networks in the ONNX format, https://onnx.ai, for other
// programs to run: a model is one protocol buffers message, whose fields and
// numbers https://github.com/onnx/onnx/blob/main/onnx/onnx.proto lists.
//
// Only what networks of ordinary convolutions need is here: float32 and int64
// tensors, attributes that are numbers or lists of them, one graph. Weights are
// streamed, not copied.
package onnx
