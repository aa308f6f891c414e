// Package conv holds the convolutions of networks on a group R^2 x| H: they keep
// their output equivariant to the translations and to those elements of H that
// they are given (Romero & Lohit, "Learning Partial Equivariances from Data",
// NeurIPS 2022, sections 3 and 4).
//
// A feature map lives on the plane and on a list of elements of H, [C, n, H, W,
// B]. The layers are
//
//	Lifting    y[o,i,p] = bias[o] + sum over c, t    of psi_oc(u_i^-1 q_t)            x[c,   p+t]
//	Group      y[o,i,p] = bias[o] + sum over c, j, t of psi_oc(u_i^-1 q_t, u_i^-1 v_j) x[c,j, p+t]
//	Pointwise  y[o,i,p] =           sum over c, j    of psi_oc(u_i^-1 v_j)            x[c,j, p]
//	Depthwise  y[o,i,p] = bias[o] + sum over t       of psi_o(u_i^-1 q_t)             x[o,i, p+t]
//
// with output elements u_i, input elements v_j, and taps t at the points q_t of a
// k x k grid on [-1, 1] x [-1, 1]. There are no stored weights: psi is a kernel
// network (package siren) that is evaluated wherever the elements put the taps,
// so the elements may be any, be drawn anew in every step, and be fewer than
// planned. Taps outside the disc of radius one are left out, for else a kernel
// could not be turned; 29 of 49 remain for k = 7. On a group that scales the plane each
// element has a disc of its own (ChangesLengths).
//
// The layers read gumbel.Elements.G when they run and add the gradient of the
// loss with respect to every element to gumbel.Elements.Grad: through u^-1 q,
// through u^-1 v as output element and as input element. Whoever draws the lists
// takes it from there. A list is for all images of a batch, or there is one for
// each image (gumbel.NewLists), and with it a kernel for each. Weights of input
// elements multiply what they contribute to the sums; weights of output elements are
// the business of the next layer.
//
// # A step
//
// Forward is Render (positions, kernel network, rearrangement) and Convolve. With
// elements and parameters at rest one Render serves many Convolves, in inference. Backward goes
// from the gradient of the output map to that of the kernel, through the kernel
// network to its parameters and to the elements, and to the input map. No pass
// allocates, and the results do not depend on the number of threads.
//
// # Algorithms
//
// The passes of the convolution proper are an interface, Passes, that each device
// fulfils, on a rendered kernel. A CPU also has passes that render none, on the features that
// the kernel network's last linear map makes it of. On the CPU there are
//
//   - Taps, the direct convolution over live taps as matrix products that read the
//     maps where they lie, or from one copy, never from an im2col matrix (taps.go
//     and the files it names; with the normalisation behind a lifting layer, stem.go; for kernels of one
//     tap and elements in pairs, points.go). It takes a rendered kernel, the next two take features;
//   - Frequency, a product for each frequency of the transformed planes
//     (frequency.go and the files it names), which are real where elements come in
//     pairs half a turn apart, as the combs of layers that learn no subset do
//     (paired.go);
//   - LowRank, which does not render the kernel at all: the channels are convolved with the
//     features and mixed afterwards (lowrank.go). It wins where features are few: k = 3, 8
//     features, 8 elements.
//
// Rows are transformed along one axis alone, and convolved tap by tap along the other (rowpass.go).
// That is for kernels that serve few images: those of a frozen network (rows.go), and of a
// layer with a list of elements for each image, which has no other way (perelement.go).
//
// A Depthwise layer has one way alone, row by row (planes.go).
package conv
