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
// A Distribution is a product of independent ones, one for each axis of the group.
// On a continuous axis it is uniform on an interval [-theta E, theta E] of the Lie
// algebra, with learned half-width theta. On a discrete axis, such as whether to
// mirror, every element but the identity is kept with a learned probability p, by a
// draw z from the relaxed Bernoulli distribution at temperature T (Maddison, Mnih &
// Teh, "The Concrete Distribution", ICLR 2017; Jang, Gu & Poole, "Categorical
// Reparameterization with Gumbel-Softmax", ICLR 2017), with u uniform:
//
//	soft = sigmoid((log p/(1-p) + log u/(1-u)) / T),   z = 1 if soft > 1/2, else 0
//
// which is 1 with probability p. Its derivative, zero almost everywhere, is replaced
// by that of soft: the straight-through estimator. T falls in the course of training,
// from where soft is smooth to where it is nearly z:
//
//	T = max(T1, T0 - (c/I) (T0 - T1)),   c = draws so far, I = Config.Steps
//
// z is a weight of the element: what it contributes to a sum over the list is
// multiplied by it. So an element that was dropped still has a gradient, and comes
// back when it is missed. Config.Measure multiplies weights by a measure. Outside of
// training z is what is more likely, so that the list differs from draw to draw only in
// where on its intervals elements stand.
//
// Elements is a list together with the gradients that layers add to it:
//
//	d.Draw(elements, source, true)      // before the forward pass
//	...                                 // layers read G and Weight, add to Grad and WeightGrad
//	d.Backward(elements)                // after the backward pass
//	...                                 // a step of the optimiser
//	d.Clamp()
//
// An Elements may also hold one list for each image of a batch, drawn
// independently from the one distribution.
//
// Nothing but the constructors, Learned, Widths, Size and SetSize allocates.
package gumbel
