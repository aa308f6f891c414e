// Package nn holds the layers, losses, optimisers and schedules of Noether's
// networks: everything but the group convolutions (package conv) and the kernel
// networks (package siren).
//
// There is no tape. Every layer has a Forward and a Backward next to each other,
// the second derived by hand from the first, and a network calls them in order.
// Before that a Plan reserves every buffer, sized for the largest number of group
// elements, in one arena, so that a training step allocates nothing:
//
//	plan -> Arena.Bind, Parameters.Bind -> Layer.Bind -> Forward, Backward, ...
//
// # Maps
//
// A Map is a feature map [C, n, H, W, B]: channels, group elements, rows,
// columns, batch (innermost). n changes from pass to pass with the learned
// subset, so layers ask the map for its live part. A map's gradient is
// overwritten by the first consumer that reaches it in a backward pass and added
// to by every other (Map.Accumulate). Map.Written begins a pass: layers call it for the
// maps that they compute, and whoever fills a network's input map calls it for that one
// before each Forward. Parameter gradients are always added to; Parameters.ZeroGrad
// clears them.
//
// A network that tells its Plan where each layer ends and which maps no later
// layer reads (Plan.Next) lets maps share memory: a value lives until its last
// reader, forward or backward, and a gradient from the backward pass of the last
// reader to that of the layer that made the map. On a CPU a map between a Standardize and
// convolutions that take planes one after the other (Map.ReadPlanes, Map.TakePlanes) then needs no
// memory for a value that such convolutions alone read, nor for a gradient that the Standardize alone gives
// such a convolution: Value, or Grad, is the zero Buffer, and planes are computed where they are read.
//
// ReLU and Add work in place where they may: the map that they return has the memory of
// the one that they take, which no layer planned later can read. Layers whose backward
// pass reads the value of a map say so while planning (Map.KeepValue), and an in-place
// layer planned on such a map takes a new one instead. So does one planned after a call
// of KeepValue by whoever builds a network where a later layer is to read the map. All
// this is the same in a plan for inference.
//
// # The mathematics
//
// With m values per channel, of x, y and the gradients dx, dy of the loss, and
// z = (x - mean(x)) / sqrt(var(x) + eps), where var divides by m:
//
//	BatchNorm     y = weight*z + bias, per channel       dx = weight*invstd*(dy - mean(dy) - z*mean(dy*z))
//	LayerNorm     y = weight*z + bias, z per sample      dx = invstd*(weight*dy - mean(weight*dy) - z*mean(weight*dy*z))
//	Standardize   y = z, per channel and sample          dx = invstd*(dy - mean(dy) - z*mean(dy*z))
//	ReLU          y = max(x, 0)                          dx = dy where y > 0, else 0
//	MaxPool2      y = max of a 2x2 window                dx = dy at the first maximum, else 0
//	GlobalMax     y = max over n, H, W                   dx = dy at the first maximum, else 0
//	GlobalMean    y = mean over n, H, W                  dx = dy / (n*H*W)
//	GroupMean     y = mean over n                        dx = dy / n
//	LearnedPool   y = w x + b, over n, H, W              dx = w dy, dw += sum(dy*x), db += sum(dy)
//	Dropout       y = mask*x, per channel and sample     dx = mask*dy
//	Linear        y = W x + b                            dx = W' dy, dW += dy x', db += sum(dy)
//	Add           y = a + b                              da = db = dy
//	CrossEntropy  L = mean of -log softmax(x)[label]     dx = (softmax(x) - onehot(label)) / samples
//
// BatchNorm and LayerNorm can take a sum before them and MaxPool2 and ReLU behind them,
// Standardize a ReLU: a map is then read once and only the result is written, and Backward finds
// out anew from x what passed. Such layers have the gradients of those they stand
// for.
//
// The maximum over the group is what turns equivariance into invariance; over a
// learned subset it becomes invariance to that subset only (Romero & Lohit,
// "Learning Partial Equivariances from Data", NeurIPS 2022).
//
// Sources: batch normalisation, Ioffe & Szegedy 2015; layer normalisation, Ba, Kiros &
// Hinton 2016; instance normalisation, Ulyanov, Vedaldi & Lempitsky 2016; Adam, Kingma & Ba 2015; decoupled weight
// decay, Loshchilov & Hutter 2019; cosine schedule, Loshchilov & Hutter 2017.
//
// Every layer is held to a float64 reference and to central differences by
// package gradcheck, which is also there for layers of your own.
package nn
