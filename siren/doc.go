// Package siren holds the kernel networks: small networks psi: R^In -> R^Out
// that give a convolution kernel its values at any position, so that a kernel
// can be turned, moved and sampled where a group element asks for it (Romero et
// al., "CKConv", ICLR 2022; Romero & Lohit, NeurIPS 2022, section 4).
//
// Net is the sinusoidal network of Sitzmann et al. ("Implicit Neural
// Representations with Periodic Activation Functions", NeurIPS 2020): with L
// linear maps,
//
//	h_0     = x
//	h_i     = sin(w_i (W_i h_{i-1} + b_i)),   i = 1..L-1
//	psi(x)  = W_L h_{L-1} + b_L
//
// A frequency w_i multiplies the bias too. Weights start so that every
// pre-activation is spread over about one period and every layer keeps the
// spread: the first map uniform in +-1/In, the others in +-sqrt(6/Hidden)/w,
// biases zero.
//
// Filters is a multiplicative filter network (Fathony et al., ICLR 2021), which
// multiplies where others compose: with L hidden maps and L+1 filters of the position,
//
//	z_0     = f_0(x)
//	z_i     = f_i(x) * (A_i z_{i-1} + b_i),   i = 1..L
//	psi(x)  = A z_L + b
//	f(x)    = sin(W x + c) exp(-1/2 sum over d of (gamma_d (x_d - mu_d))^2)
//
// unit by unit. The Gaussian is absent from Fourier filters, has one gamma for each
// unit in Gabor filters, and one for each unit and coordinate in a MAGNet (Romero et
// al., "FlexConv", ICLR 2022). MLP is a perceptron, a(norm(W h + b)) in each hidden
// layer, with ReLU, LeakyReLU or Swish, with or without layer normalisation.
//
// Positions are given as [In, P], results as [Out, P], P positions innermost.
// With d_i = w_i cos(w_i z_i), z_i = W_i h_{i-1} + b_i, the backward pass of a Net is
//
//	dz_i = dh_i * d_i,  dW_i += dz_i h_{i-1}',  db_i += sum dz_i,  dh_{i-1} = W_i' dz_i
//
// and it ends with the gradient of the positions, through which the learned
// subset of a group gets its gradient.
//
// Nearly all the work lies in the last map, which is 30 times as wide as the
// others and the same in all kinds (network.go). A CPU therefore takes a block of up to 256 positions at a time through
// all layers (cpu.go): hidden layers stay in the cache, results are written once,
// their gradient is read once, and the backward pass evaluates the hidden layers
// again rather than keep them. Where the processor has a matrix unit, the last map
// multiplies split matrices there, and with 32 features blocks have up to 1024
// positions (split.go). Gradients of parameters are summed over segments of blocks and
// then, in order, over the segments; segments follow from the number of positions. The
// hidden layers are those of sines.go, product.go and perceptron.go. On other devices every map of a Net is one matrix product with the
// sine in its epilogue (device.go); Filters and MLP run on a CPU only.
//
// A network stands alone as well: fitted to the pixels of an image it is the image
// as a continuous function (see the examples).
package siren
