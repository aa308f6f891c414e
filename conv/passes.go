package conv

import (
	"fmt"

	"github.com/noether-go/noether/tensor"
)

// Shape is the geometry of one convolution on a group,
//
//	y[o,i,p] = bias[o] + sum over c, j, t of kernel[(o,c),(i,j,t)] x[c,j,p + offset(t)]
//
// where p runs over the output plane and batch, and x is zero outside its plane.
// NIn and NOut may change from pass to pass; all else is fixed.
type Shape struct {
	In, Out    int // channels c, o
	NIn, NOut  int // live group elements j, i
	H, W       int // input plane
	OutH, OutW int // output plane
	B          int // batch
	Offsets    []Offset
	PerElement bool // each batch entry has elements, and so a kernel, of its own

	// Depthwise says that the planes do not mix: In and NIn are 1, x is [Out, NOut, H, W,
	// B], and y[o,i,p] is a sum over t alone, of x[o,i,p + offset(t)].
	Depthwise bool

	// Paired says that elements i and i+NOut/2 of a kernel stand half a turn apart, as do j
	// and j+NIn/2, so that the kernel between the second ones is that between the
	// first ones turned about its middle: kernel[(o,c), (i+NOut/2, j+NIn/2, t)] is
	// kernel[(o,c), (i,j,t')] with t' opposite t. The kernel then ends with the
	// first half of the i.
	//
	// Maps have these elements in the same order, or, where Runs is 2, in two runs of as many, such as
	// turns and then reflections, each with the partners of its first half behind these: the kernel
	// has the first halves of both runs, then the others.
	Paired bool
	Runs   int
}

// turn returns how far apart a map of n elements has those of a pair, or n where there are none.
func (s *Shape) turn(n int) int {
	if s.Paired {
		return n / 2 / max(1, s.Runs)
	}
	return n
}

// element returns which of n elements of a map is number e of a kernel.
func (s *Shape) element(e, n int) int {
	turn := s.turn(n)
	if s.Paired && e >= n/2 {
		return firstOfPair(e-n/2, turn) + turn
	}
	return firstOfPair(e, turn)
}

// firstOfPair returns which element of a map is the first one of pair e, where elements of pairs are a turn apart.
func firstOfPair(e, turn int) int { return e + e/turn*turn }

// Offset is the place of a tap: the position in the input plane less that in the
// output plane.
type Offset struct{ Row, Col int }

// newShape returns the shape of a layer with these taps, for n live elements in
// and out. Out of range sizes are refused by the caller.
func newShape(in, out, nIn, nOut, h, w, b int, taps []Tap, side int, padding Padding) *Shape {
	s := &Shape{In: in, Out: out, NIn: nIn, NOut: nOut, H: h, W: w, OutH: h, OutW: w, B: b}
	shift := 0
	if padding == Valid {
		s.OutH, s.OutW = h-side+1, w-side+1
		shift = side / 2
	}
	for _, t := range taps {
		s.Offsets = append(s.Offsets, Offset{t.Row + shift, t.Col + shift})
	}
	return s
}

// inputElements returns the number of live elements of the input map.
func (s *Shape) inputElements() int {
	if s.Depthwise {
		return s.NOut
	}
	return s.NIn
}

// Sources returns In*NIn, the number of input planes that an output plane is a sum over.
func (s *Shape) Sources() int { return s.In * s.NIn }

// Targets returns Out*NOut, the number of output planes.
func (s *Shape) Targets() int { return s.Out * s.NOut }

// KernelSize returns the number of values of a kernel [(o,c), (i,j,t)].
func (s *Shape) KernelSize() int {
	return s.Sources() * s.Out * s.rendered() * len(s.Offsets)
}

// kernels returns the number of values of the kernels of all lists.
func (s *Shape) kernels() int { return s.KernelSize() * s.lists() }

// positions returns the number of values that a pair of channels has in the kernels of all lists.
func (s *Shape) positions() int { return s.lists() * s.rendered() * s.NIn * len(s.Offsets) }

// rendered returns how many of the output elements the kernel has values for.
func (s *Shape) rendered() int {
	if s.Paired {
		return s.NOut / 2
	}
	return s.NOut
}

// lists returns the number of lists of elements on either side.
func (s *Shape) lists() int {
	if s.PerElement {
		return s.B
	}
	return 1
}

// Operations returns the number of floating-point operations of one pass: two
// for each live tap at each position, the border included.
func (s *Shape) Operations() float64 {
	return 2 * float64(s.KernelSize()) * float64(s.OutH*s.OutW) * float64(s.B)
}

// Passes computes the three passes of one convolution on one device. All arrays
// are laid out as Shape has them: x [In, NIn, H, W, B], y [Out, NOut, OutH, OutW,
// B], kernel [Out*In, NOut*NIn*len(Offsets)] as the kernel network writes it,
// row (o,c), column (i,j,t). An implementation belongs to one layer and
// allocates nothing in a pass.
type Passes interface {
	// Sizes returns the numbers of values of the buffers prepared and scratch,
	// for s with the largest element counts. Prepared keeps its contents, to which
	// Forward may add, until the next Prepare; scratch keeps nothing. The last call
	// holds for Bind and all passes; with inference there is no Backward.
	Sizes(s *Shape, inference bool) (prepared, scratch int)
	// Bind names the device and the largest shape.
	Bind(dev tensor.Device, s *Shape) error
	// Prepare rearranges a kernel and a bias [Out] (or the zero Buffer) for the
	// passes, which may run any number of times on it. The kernel itself is not
	// needed any more.
	Prepare(prepared, kernel, bias, scratch tensor.Buffer, s *Shape)
	// Forward computes y.
	Forward(y, x, prepared, scratch tensor.Buffer, s *Shape)
	// Backward writes the gradient of the kernel to dkernel, adds that of the bias to
	// dbias [Out] and writes, or with accumulate adds, the gradient of x to dx. Each may
	// be the zero Buffer, if it is not wanted. If there has been a Forward since Prepare,
	// x is that of the last one.
	Backward(dkernel, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool)
}

// kernelFactors are what a kernel is made of where the kernel network ends in a linear map: features f [K,
// NOut*NIn*len(Offsets)], weights w [Out*In, K] and offsets b [Out*In], all as siren.LowRank has them, and a
// scale of each position [NOut*NIn*len(Offsets)], or the zero Buffer for ones:
//
//	kernel[(o,c), (i,j,t)] = scale[i,j,t] (sum over k of w[(o,c), k] f[k, (i,j,t)] + b[(o,c)])
//
// Mask says that what the scale is zero for may be left out: it has no gradient there.
type kernelFactors struct {
	F, W, B, Scale tensor.Buffer
	Mask           bool
}

// featurePasses computes the three passes from the factors of a kernel, without a rendered one.
// Otherwise it is like Passes. Only a CPU has some.
type featurePasses interface {
	Sizes(s *Shape, inference bool) (prepared, scratch int)
	Bind(dev tensor.Device, s *Shape) error
	// Scales reports whether factors may have a scale.
	Scales() bool
	// Prepare rearranges factors and a bias [Out] (or the zero Buffer).
	Prepare(prepared tensor.Buffer, k kernelFactors, bias, scratch tensor.Buffer, s *Shape)
	Forward(y, x, prepared, scratch tensor.Buffer, s *Shape)
	// Backward writes to d the gradients of k, the factors of the last Prepare, adds that of the bias to
	// dbias [Out] and writes, or with accumulate adds, that of x to dx. The last two, and the scale's,
	// may be the zero Buffer, if they are not wanted.
	Backward(d, k kernelFactors, dbias, dx, x, dy, prepared, scratch tensor.Buffer, s *Shape, accumulate bool)
}

// cpuOf returns the CPU that passes are bound to, and an error for another device.
func cpuOf(dev tensor.Device) (*tensor.CPU, error) {
	cpu, ok := dev.(*tensor.CPU)
	if !ok {
		return nil, fmt.Errorf("planned for a CPU, bound to %s: name the device in nn.Plan.Device", dev.Name())
	}
	return cpu, nil
}

// addBiasGrad adds the sums over the planes of dy to the gradient of a bias, if that is wanted.
func addBiasGrad(cpu *tensor.CPU, dbias, dy tensor.Buffer, s *Shape) {
	if !dbias.IsZero() {
		cpu.SumRows(dbias, dy, s.Out, s.NOut*s.OutH*s.OutW*s.B, true)
	}
}

// Provider is a device that brings its own passes.
type Provider interface {
	tensor.Device
	// NewPasses returns passes for a layer of shape s, or an error for one that the device
	// has none for. It is not asked for lists of elements for each image (Shape.PerElement),
	// which only a CPU takes.
	NewPasses(s *Shape) (Passes, error)
}

// traits are what the choice of passes depends on besides the shape.
type traits struct {
	features  int  // that the kernel network ends in
	scaled    bool // the factors may have a scale
	pairs     bool // elements are expected to be paired, see Shape.Paired
	inference bool // there is no Backward
}

// choose returns the passes for a device, nil meaning a CPU: of the one kind or
// the other.
func choose(dev tensor.Device, s *Shape, a Algorithm, t traits) (Passes, featurePasses, error) {
	switch d := dev.(type) {
	case nil, *tensor.CPU:
		if s.Depthwise {
			return new(planes), nil, nil
		}
		if a == Auto && t.inference && rowsPay(s) && !lowRankPays(s, t.features, t.pairs) {
			return newRows(s), nil, nil
		}
		if f, err := a.featurePasses(s, t); f != nil || err != nil {
			return nil, f, err
		}
		if a != Taps && pairsPoints(s) {
			return newPoints(), nil, nil
		}
		return newDirect(s), nil, nil
	case Provider:
		if s.PerElement {
			return nil, nil, fmt.Errorf("the device %s takes no list of elements for each image", dev.Name())
		}
		p, err := d.NewPasses(s)
		return p, nil, err
	}
	return nil, nil, fmt.Errorf("no convolution for the device %s", dev.Name())
}

// Error is what this package panics with on programmer error.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "conv: " + e.Op + ": " + e.Problem }

func refuse(op, format string, args ...any) { panic(&Error{op, fmt.Sprintf(format, args...)}) }
