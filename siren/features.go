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

var _ LowRank = (*Net)(nil)

// Features returns the width of the last sine layer.
func (n *Net) Features() int { return n.cfg.Hidden }

// ForwardFeatures evaluates all but the last linear map.
func (n *Net) ForwardFeatures(x tensor.Buffer, positions int) (f, w, b tensor.Buffer) {
	n.start("Net.ForwardFeatures", x, positions)
	last := n.layers[len(n.layers)-1]
	if n.onCPU {
		f = n.f.Slice(0, n.cfg.Hidden*positions)
		n.cpu.features(f, n.x, positions)
	} else {
		f = n.sines()
	}
	return f, last.value(), last.bias.Value
}

// BackwardFeatures goes back from the features and the last linear map.
func (n *Net) BackwardFeatures(dw, db, df, dx tensor.Buffer) {
	if n.inference {
		refuse("Net.BackwardFeatures", "planned for inference")
	}
	if n.positions == 0 {
		refuse("Net.BackwardFeatures", "no ForwardFeatures before it")
	}
	last := n.layers[len(n.layers)-1]
	if df.Len() < n.cfg.Hidden*n.positions || dw.Len() < last.out*last.in || db.Len() < last.out || !dx.IsZero() && dx.Len() < n.cfg.In*n.positions {
		refuse("Net.BackwardFeatures", "gradients are too short for %d features at %d positions", n.cfg.Hidden, n.positions)
	}
	dw, db = dw.Slice(0, last.out*last.in), db.Slice(0, last.out)
	if last.norm != nil {
		n.dev.Copy(last.norm.grad, dw)
		last.norm.backward(n.dev)
	} else {
		n.dev.Add(last.weight.Grad, last.weight.Grad, dw)
	}
	n.dev.Add(last.bias.Grad, last.bias.Grad, db)
	df = df.Slice(0, n.cfg.Hidden*n.positions)
	if n.onCPU {
		n.cpu.featuresGrad(df, dx, n.x, n.positions)
		return
	}
	n.backward(df, dx, len(n.layers)-2)
}
