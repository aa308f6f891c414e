// Package gumbel draws lists of group elements from distributions whose
// parameters are learned (Romero & Lohit, "Learning Partial Equivariances from
// Data", NeurIPS 2022, section 4).
//
// Every group convolution integrates over a subset of the group. The subset is
// the support of a distribution; the layer works on a list of elements drawn
// from it. Since a draw is a differentiable function of the parameters and of
// uniform numbers that do not depend on them, the gradient with respect to the
// elements goes on to the parameters, and the network learns which
// transformations matter to it, layer by layer.
//
// Uniform is the uniform distribution on an interval [-theta E, theta E] of the
// Lie algebra, with learned half-width theta. Elements is a list together with
// the gradient that layers add to it:
//
//	sampler.Draw(elements, source)      // before the forward pass
//	...                                 // layers read elements.G, add to elements.Grad
//	sampler.Backward(elements)          // after the backward pass
//	...                                 // a step of the optimiser
//	sampler.Clamp()
//
// An Elements may also hold one list for each image of a batch, drawn
// independently from the one distribution.
//
// Nothing but the constructors allocates.
package gumbel
