// Package tensor holds what layers are made of: float32 memory, the operations
// on it, and the threads that run them. It knows nothing about groups or
// networks.
//
// # Layout
//
// A feature map on a group is stored [C, n, H, W, B]: channels, group elements,
// rows, columns, batch, with the batch innermost. So one kernel that broadcasts
// a weight and streams along B serves every matrix product, every tap of a
// convolution and every DFT, unpacked and with full vectors. Images arrive as
// [B, C, H, W] and pass BatchInnermost once. Operations take flattened forms:
// batch normalisation sees [C] x [n*H*W*B], instance standardisation
// [C, n*H*W, B].
//
// # Devices
//
// Layers compute through the interface [Device] on opaque [Buffer] values and
// never ask where they are. An [Arena] plans all buffers of a network and binds
// them to one allocation, so a training step allocates nothing. [CPU] is the
// device for the processor: the kernels of package asm, shared out to a [Team]
// of threads. Package devicetest is the conformance suite of devices.
//
// [Sgemm] is the matrix product for those who want just that, and [Tensor] an
// array with shape and strides for those who hand data in and out.
//
// # Determinism
//
// Results depend on the input and on the level of instructions (asm.Active),
// not on the number of threads: work is split over outputs, never over the
// index of a sum, which has a fixed order. Long sums, but for those of matrix
// products, are taken over blocks of fixed size which are added in float64.
//
// # Errors
//
// What comes from a user (sizes, thread counts) is refused with an error. What
// a program could have known (lengths that do not fit a call) panics with
// *[Error]. NaN is never hidden: it reaches every result that depends on it.
// Only gradients that follow a comparison (ReLUGrad, MaxPool2Grad) are zero
// where the compared value is NaN.
package tensor
