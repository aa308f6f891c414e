package siren

import (
	"github.com/noether-go/noether/tensor"
)

// LowRank is a Kernel that ends in a linear map of few features,
//
//	psi(x) = W f(x) + b,   W [Out, Features], f [Features, positions]
//
// so that whoever applies psi linearly, as a convolution does, may work on the
// features and apply W afterwards. The passes of this interface take the place of
// Forward and Backward; Plan, Bind and Parameters are those of Kernel.
type LowRank interface {
	Kernel
	// Features returns the number of features.
	Features() int
	// ForwardFeatures evaluates the features at the positions x [In, positions]
	// and returns them, [Features, positions], together with W [Out, Features]
	// and b [Out]. x must not change before BackwardFeatures, nor must they.
	ForwardFeatures(x tensor.Buffer, positions int) (f, w, b tensor.Buffer)
	// BackwardFeatures follows ForwardFeatures. Given the gradients dw, db and df,
	// laid out like w, b and f, it adds to the gradients of the parameters and,
	// unless dx is the zero Buffer, writes the gradient of the positions to dx
	// [In, positions]. df is overwritten.
	BackwardFeatures(dw, db, df, dx tensor.Buffer)
}

var (
	_ LowRank = (*Net)(nil)
	_ LowRank = (*Filters)(nil)
	_ LowRank = (*MLP)(nil)
)
