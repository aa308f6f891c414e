package asm

// AdamStep holds the scalars of one step of Adam (Kingma & Ba 2015) with
// decoupled weight decay (Loshchilov & Hutter 2019). t counts steps from one.
type AdamStep struct {
	Step        float32 // lr / (1 - Beta1^t)
	Beta1       float32 // decay of the first moment
	Beta2       float32 // decay of the second moment
	Correction2 float32 // 1 / (1 - Beta2^t)
	Eps         float32 // added to the root of the corrected second moment
	Decay       float32 // 1 - lr*weightDecay
}

// Adam updates the moments m, v and the parameters p by the gradient g:
//
//	m = Beta1*m + (1-Beta1)*g
//	v = Beta2*v + (1-Beta2)*g*g
//	p = Decay*p - Step*m/(sqrt(v*Correction2)+Eps)
//
// The slices must not overlap. It panics with *Error unless the lengths are
// equal.
func Adam(p, m, v, g []float32, s AdamStep) {
	n := len(p)
	same("Adam", "p", n, "m", len(m))
	same("Adam", "p", n, "v", len(v))
	same("Adam", "p", n, "g", len(g))
	raceRead(g)
	raceWrite(p)
	raceWrite(m)
	raceWrite(v)
	for n > chunk {
		adam(p[:chunk], m[:chunk], v[:chunk], g[:chunk], &s)
		p, m, v, g = p[chunk:], m[chunk:], v[chunk:], g[chunk:]
		n -= chunk
	}
	if n > 0 {
		adam(p, m, v, g, &s)
	}
}
