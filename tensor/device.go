package tensor

// Device runs the operations that layers are made of on buffers in its own
// memory. Layers never ask which device they run on.
//
// Calls enqueue in order and return no error: the first error sticks and Sync
// reports it. The CPU executes at once. A Device is used by one goroutine at a
// time. Destination buffers must not overlap sources unless an operation says
// that they may be the same. Lengths that do not fit the given sizes are
// programmer errors and panic with *Error.
//
// A feature map is stored [C, n, H, W, B], batch innermost; "rows x cols" names
// its flattened forms ([C] x [n*H*W*B] and so on).
type Device interface {
	// Name is "cpu" or, say, "cuda:0".
	Name() string

	// Alloc returns n zeroed values, aligned to 64 bytes.
	Alloc(n int) (Buffer, error)
	// Free gives back what Alloc returned.
	Free(b Buffer)
	// Close frees the device. It must not be used afterwards.
	Close() error
	// Sync waits until all enqueued work is done and returns the first error.
	Sync() error

	Upload(dst Buffer, src []float32)   // dst[:len(src)] = src
	Download(dst []float32, src Buffer) // dst = src[:len(dst)]; waits
	Copy(dst, src Buffer)               // equal lengths
	Fill(dst Buffer, v float32)

	// Gemm computes strided batches of C = op(A)*op(B) (+ C), see GemmArgs.
	Gemm(g *GemmArgs)

	Add(dst, x, y Buffer)                  // dst = x + y; dst may be x or y
	Mul(dst, x, y Buffer)                  // dst = x * y elementwise; dst may be x or y
	Axpy(y Buffer, a float32, x Buffer)    // y += a*x
	Scale(dst Buffer, a float32, x Buffer) // dst = a*x; dst may be x
	// AddRows adds bias[r] to row r of y [rows, cols].
	AddRows(y, bias Buffer, rows, cols int)
	// MulRows writes each row of x [rows, cols] times v [cols] to dst; dst may be x.
	MulRows(dst, x, v Buffer, rows, cols int)
	// SumRows writes (or, with accumulate, adds) the sum of each row of
	// x [rows, cols] to dst [rows].
	SumRows(dst, x Buffer, rows, cols int, accumulate bool)
	// DotRows writes the scalar product of each row of x [rows, cols] with that of
	// y to dst [rows].
	DotRows(dst, x, y Buffer, rows, cols int)
	// DotColumns writes the scalar product of each column of x [rows, cols] with
	// that of y to dst [cols].
	DotColumns(dst, x, y Buffer, rows, cols int)
	// SinCos writes sin(w*x) to s and w*cos(w*x) to c; s may be x. c may be the
	// zero Buffer where the derivative is not wanted. w is in radians per unit.
	SinCos(s, c, x Buffer, w float32)

	ReLU(y, x Buffer)          // y = max(x, 0); y may be x
	ReLUGrad(dx, dy, y Buffer) // dx = dy where y > 0, else 0; dx may be dy

	BatchNorm(a *BatchNormArgs)
	BatchNormGrad(a *BatchNormArgs)
	Standardize(a *StandardizeArgs)
	StandardizeGrad(a *StandardizeArgs)
	LayerNorm(a *LayerNormArgs)
	LayerNormGrad(a *LayerNormArgs)

	// MaxPool2 takes the maximum over 2x2 windows, stride 2, of
	// x [planes, h, w, b] into y [planes, h/2, w/2, b]; an odd last row or
	// column is dropped.
	MaxPool2(y, x Buffer, planes, h, w, b int)
	// MaxPool2Grad sends dy to the first maximum of each window (row-major
	// order) and writes zero elsewhere in dx. y holds MaxPool2's result, or
	// anything not larger where dy is zero.
	MaxPool2Grad(dx, dy, x, y Buffer, planes, h, w, b int)
	// GlobalMax takes the maximum over the middle axis of x [c, s, b] into
	// y [c, b] and notes the first maximal index (0..s-1, as float32) in index.
	GlobalMax(y, index, x Buffer, c, s, b int)
	// GlobalMaxGrad writes dy [c, b] to the noted positions of dx [c, s, b] and
	// zero elsewhere.
	GlobalMaxGrad(dx, dy, index Buffer, c, s, b int)

	// SoftmaxCrossEntropy computes for logits [classes, b] the losses
	// -log softmax(logits)[label] of the first live columns into loss [b] (zero
	// beyond), the class probabilities into prob [classes, b], and the gradient
	// of the mean loss over the live columns into dlogits [classes, b] (zero
	// beyond; may be the zero Buffer). labels [b] holds class indices.
	SoftmaxCrossEntropy(loss, prob, dlogits, logits, labels Buffer, classes, b, live int)

	// SumSquares writes the sum of squares of x to dst[0].
	SumSquares(dst, x Buffer)
	// ClipNorm scales g by max/sqrt(sumSquares[0]) where that is below one.
	ClipNorm(g, sumSquares Buffer, max float32)
	Adam(a *AdamArgs)
	SGD(a *SGDArgs)

	// BatchInnermost writes x [b, s] to y [s, b]: images to feature maps.
	BatchInnermost(y, x Buffer, b, s int)
	// BatchOutermost writes x [s, b] to y [b, s].
	BatchOutermost(y, x Buffer, s, b int)
}

// Epilogue is what Gemm applies to C before storing it.
type Epilogue uint8

const (
	NoEpilogue   Epilogue = iota
	ReLUEpilogue          // C = max(C, 0)
	SinEpilogue           // C = sin(Omega*C), Derivative = Omega*cos(Omega*C)
)

// GemmArgs describes Batch products C = op(A)*op(B): op(A) is [M, K], op(B) is
// [K, N], C is [M, N], row-major with leading dimensions LDA, LDB, LDC in
// values. A is stored [K, M] when TransA, B [N, K] when TransB. Product i uses
// A[i*StrideA:], B[i*StrideB:], C[i*StrideC:]; a stride of zero shares an
// operand. Then bias and epilogue are applied.
type GemmArgs struct {
	TransA, TransB bool
	M, N, K        int
	A              Buffer
	LDA, StrideA   int
	B              Buffer
	LDB, StrideB   int
	C              Buffer
	LDC, StrideC   int
	Batch          int // 0 means 1

	Accumulate bool // C += instead of C =

	Bias       Buffer // [M], added to each row; zero Buffer: none
	Epilogue   Epilogue
	Omega      float32 // radians per unit, for SinEpilogue
	Derivative Buffer  // laid out like C, for SinEpilogue; zero Buffer: not wanted
}

// Measure are weights of the group elements of a map, against which a normalisation takes
// its statistics: a value counts in mean and variance, and in the number of values, as much
// as the weight of its element says. The values of a channel are [Elements, plane, B]. The
// zero Measure is that of a map whose elements all have the weight 1.
//
// Forward, a normalisation writes to Moments what the gradient of the weights depends on:
// for each element the sums, without weights, of x-mean and of its square, those of one
// mean and one list together. Backward it reads them, and writes that gradient.
type Measure struct {
	Elements, Lists int    // one list for all samples, or B: one for each
	Weights         Buffer // [Elements, Lists], not all of a list zero
	Moments         Buffer // forward: zero Buffer: not wanted
	Grad            Buffer // [Elements, Lists]; zero Buffer: not wanted
}

// BatchNormArgs describes batch normalisation (Ioffe & Szegedy 2015) of
// X [Rows, Cols], with what surrounds it in a residual network: each row is one
// channel, Cols = n*H*W*B.
//
// BatchNorm first adds Addend to X, in X. With Train it computes the row's mean
// and 1/sqrt(biased variance+Eps) into Mean and InvStd, and updates RunningMean
// and RunningVar (unbiased variance) with weight Momentum; without Train it uses
// the running statistics and leaves them alone. Of
// z = (X-mean)*invstd*Weight + Bias it writes
//
//	Y = z                         [Rows, Cols]
//	Y = max over 2x2 windows of z [Rows, n*(H/2)*(W/2)*B], as MaxPool2, with Pool
//	Y = max(Y, 0)                 besides, with ReLU
//
// Y may be X only without Train and without Pool.
//
// BatchNormGrad reads X (the addend in it), Mean, InvStd, Weight and DY, and Bias
// with Pool or ReLU. It finds out anew which values passed, so neither z nor Y
// need be kept. It writes the gradient of X to DX and, where wanted, the same to
// DAddend, or adds it to what is there, and adds to DWeight and DBias. DX may be
// DY without Pool and AddDX.
type BatchNormArgs struct {
	Rows, Cols              int
	Train                   bool
	Eps, Momentum           float32
	X                       Buffer // [Rows, Cols]
	Addend                  Buffer // [Rows, Cols]; zero Buffer: none
	Y                       Buffer // [Rows, Cols], or pooled
	Weight, Bias            Buffer // [Rows]
	Mean, InvStd            Buffer // [Rows]
	RunningMean, RunningVar Buffer // [Rows]

	ReLU    bool
	Pool    bool
	H, W, B int // of the planes; for Pool, at least 2, 2 and 1; B also for a Measure with B lists

	DY                Buffer // as Y
	DX                Buffer // [Rows, Cols]
	DAddend           Buffer // [Rows, Cols]; zero Buffer: not wanted
	AddDX, AddDAddend bool   // add to what is there
	DWeight, DBias    Buffer // [Rows]

	Measure Measure // its Moments are [2, Rows, Elements, Lists]
}

// StandardizeArgs describes the standardisation of X [C, S, B] over its middle
// axis, for each channel and sample alone (instance normalisation without
// affine map, biased variance). Mean and InvStd are [C, B]. With ReLU, negative
// results are zero. Of each channel, S/N rows are those of one of N group elements, which sums
// are taken of one after the other; N may be 0, for 1.
//
// StandardizeGrad reads X, Mean, InvStd and DY, and writes DX, which may be DY, or
// with AddDX adds to it. With ReLU it finds out anew which values passed.
type StandardizeArgs struct {
	C, N, S, B   int
	Eps          float32
	ReLU         bool
	X, Y         Buffer // [C, S, B]
	Mean, InvStd Buffer // [C, B]
	DX, DY       Buffer // [C, S, B]
	AddDX        bool

	Measure Measure // its Moments are [2, C, Elements, B]
}

// LayerNormArgs describes layer normalisation (Ba, Kiros & Hinton 2016) of
// X [C, S, B]: each sample b is normalised over all its channels and positions, and
// each channel then has an affine map of its own. (That is group normalisation, Wu &
// He 2018, with a single group.) With the biased variance over a sample, LayerNorm
// writes the sample's mean and 1/sqrt(variance+Eps) to Mean and InvStd [B], and
//
//	Y = (X-mean)*invstd*Weight + Bias
//	Y = max(Y, 0), with ReLU besides
//
// With Fixed, Mean and InvStd are given and stay as they are.
//
// LayerNormGrad reads X, Mean, InvStd, Weight, Bias and DY, and writes DX, which may
// be DY, or with AddDX adds to it; it adds to DWeight and DBias. With ReLU it finds
// out anew which values passed.
type LayerNormArgs struct {
	C, S, B        int
	Eps            float32
	ReLU           bool
	Fixed          bool
	X, Y           Buffer // [C, S, B]
	Weight, Bias   Buffer // [C]
	Mean, InvStd   Buffer // [B]
	DX, DY         Buffer // [C, S, B]
	AddDX          bool
	DWeight, DBias Buffer // [C]

	Measure Measure // its Moments are [2, Elements, B]
}

// AdamArgs describes one step of Adam (Kingma & Ba 2015) on P with gradient G
// and moments M, V of equal length: with m, v updated,
// P -= LR * (m/(1-Beta1^Step)) / (sqrt(v/(1-Beta2^Step)) + Eps). Step counts
// from one.
type AdamArgs struct {
	P, G, M, V            Buffer
	LR, Beta1, Beta2, Eps float64
	WeightDecay           float64 // decoupled: P -= LR*WeightDecay*P first
	Step                  int
}

// SGDArgs describes one step of stochastic gradient descent on P with gradient
// G: V = Momentum*V + G; P -= LR*(G + Momentum*V if Nesterov, else V). V may be
// the zero Buffer when Momentum is zero.
type SGDArgs struct {
	P, G, V      Buffer
	LR, Momentum float64
	WeightDecay  float64 // decoupled: P -= LR*WeightDecay*P first
	Nesterov     bool
}
