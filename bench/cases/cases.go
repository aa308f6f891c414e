// Package cases is the table of what is measured: the benchmarks take their
// sizes from it, the comparison its pairs, and the report its rows, so that all
// three mean the same by a name.
package cases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/internal/config"
)

// Gemm is a product C = A B of row-major matrices: op(A) is m x k, op(B) k x n.
type Gemm struct {
	M, N, K        int
	TransA, TransB bool
}

// Gemms are cubes, products with a transposed operand, and products as the
// networks have them.
var Gemms = []Gemm{
	{M: 64, N: 64, K: 64}, {M: 128, N: 128, K: 128}, {M: 256, N: 256, K: 256}, {M: 384, N: 384, K: 384},
	{M: 512, N: 512, K: 512}, {M: 1024, N: 1024, K: 1024}, {M: 2048, N: 2048, K: 2048},
	{M: 512, N: 512, K: 512, TransA: true}, {M: 512, N: 512, K: 512, TransB: true},
	{M: 1024, N: 1856, K: 32}, {M: 32, N: 1856, K: 3}, {M: 32, N: 1856, K: 32},
	{M: 256, N: 196, K: 256}, {M: 256, N: 12544, K: 7424}, {M: 512, N: 3136, K: 14848},
}

// Operations returns the number of floating-point operations.
func (g Gemm) Operations() float64 { return 2 * float64(g.M) * float64(g.N) * float64(g.K) }

// Cube reports whether all sizes are the same and nothing is transposed.
func (g Gemm) Cube() bool { return g.M == g.N && g.N == g.K && !g.TransA && !g.TransB }

// Bench returns the benchmark's name without "Benchmark".
func (g Gemm) Bench(impl string, threads int) string {
	name := fmt.Sprintf("Sgemm/impl=%s/threads=%d/m=%d/n=%d/k=%d", impl, threads, g.M, g.N, g.K)
	switch {
	case g.TransA:
		name += "/trans=a"
	case g.TransB:
		name += "/trans=b"
	}
	return name
}

// Ops are the elementwise operations.
var Ops = []string{"sin", "exp", "log", "relu", "adam"}

// Lengths are the numbers of floats of the elementwise operations: what fits
// into the second-level cache, and what fits into none.
var Lengths = []int{1 << 16, 1 << 24}

// ElementwiseBench returns the benchmark's name without "Benchmark".
func ElementwiseBench(op, impl string, n int) string {
	return fmt.Sprintf("Elementwise/op=%s/impl=%s/n=%d", op, impl, n)
}

// The kernel network of the SIREN benchmarks is that of a layer with 32 channels
// on either side.
const (
	SirenIn, SirenOut, SirenHidden, SirenLayers = 3, 1024, 32, 3
	SirenOmega0                                 = 10
)

// Positions at which the kernel network is evaluated, and its passes.
var (
	Positions   = []int{3136, 25088, 200704}
	SirenPasses = []string{"forward", "forward+backward"}
)

// SirenOperations returns the number of floating-point operations of the products of a pass: backward has two of
// each size of forward. Sines are not counted.
func SirenOperations(pass string, positions int) float64 {
	forward := 2 * float64(positions) * float64(SirenIn*SirenHidden+(SirenLayers-2)*SirenHidden*SirenHidden+SirenHidden*SirenOut)
	if pass == "forward" {
		return forward
	}
	return 3 * forward
}

// SirenBench returns the benchmark's name without "Benchmark".
func SirenBench(pass string, positions, threads int) string {
	return fmt.Sprintf("Siren/pass=%s/positions=%d/threads=%d", pass, positions, threads)
}

// Conv is a group convolution inside a network: "same" padding, one kernel
// network of three linear maps.
type Conv struct {
	Name     string
	In, Out  int  // channels
	Elements int  // that the layer is planned for, on either side
	Live     int  // of them drawn; 0: all
	Full     bool // the uniform grid with one offset, in place of elements drawn independently
	Side     int  // of the plane
	Kernel   int  // side of the kernel
	Hidden   int  // of the kernel network
	Batch    int
}

// Convs are the layers of the acceptance table, then what varies around the
// first of them.
var Convs = []Conv{
	{Name: "rotmnist1", In: 32, Out: 32, Elements: 8, Side: 14, Kernel: 7, Hidden: 32, Batch: 64},
	{Name: "rotmnist1-full", In: 32, Out: 32, Elements: 8, Full: true, Side: 14, Kernel: 7, Hidden: 32, Batch: 64},
	{Name: "rotmnist2", In: 32, Out: 64, Elements: 8, Side: 7, Kernel: 7, Hidden: 32, Batch: 64},
	{Name: "rotmnist3", In: 64, Out: 64, Elements: 8, Side: 7, Kernel: 7, Hidden: 32, Batch: 64},
	{Name: "mnist6", In: 10, Out: 10, Elements: 8, Side: 28, Kernel: 7, Hidden: 32, Batch: 64},
	{Name: "cifar1", In: 32, Out: 32, Elements: 16, Side: 16, Kernel: 7, Hidden: 32, Batch: 64},
	{Name: "cifar0", In: 32, Out: 32, Elements: 16, Side: 32, Kernel: 7, Hidden: 32, Batch: 64},
	{Name: "gcnn", In: 128, Out: 128, Elements: 8, Side: 16, Kernel: 3, Hidden: 8, Batch: 64},
	{Name: "gcnn4", In: 128, Out: 128, Elements: 4, Side: 16, Kernel: 3, Hidden: 8, Batch: 64},
	{Name: "gcnn2", In: 128, Out: 128, Elements: 2, Side: 16, Kernel: 3, Hidden: 8, Batch: 64},
}

// Growth is a variation of a layer along one axis.
type Growth struct {
	Axis   string // what varies, as names have it
	About  string // and as people say it
	Values []int
	set    func(c *Conv, v int)
}

// Growths vary rotmnist1: the formula says that its cost is proportional to the
// batch and to the product of the channels, and grows with the product of the
// elements and with the plane.
var Growths = []Growth{
	{"batch", "batch", []int{8, 16, 32, 64, 128}, func(c *Conv, v int) { c.Batch = v }},
	{"channels", "channels", []int{8, 16, 32, 64}, func(c *Conv, v int) { c.In, c.Out = v, v }},
	{"elements", "elements", []int{2, 4, 8, 16}, func(c *Conv, v int) { c.Elements = v }},
	{"side", "side", []int{7, 14, 28, 56}, func(c *Conv, v int) { c.Side = v }},
	{"live", "elements drawn of 8", []int{2, 4, 6, 8}, func(c *Conv, v int) { c.Live = v }},
}

// Formula returns the operations of the layer with that value.
func (g Growth) Formula(v int) float64 {
	c := Convs[0]
	g.set(&c, v)
	return c.Operations()
}

// Cases returns the layers of a growth, named after rotmnist1 and the value.
func (g Growth) Cases() []Conv {
	list := make([]Conv, len(g.Values))
	for i, v := range g.Values {
		c := Convs[0]
		c.Name = fmt.Sprintf("%s-%s%d", c.Name, g.Axis, v)
		g.set(&c, v)
		list[i] = c
	}
	return list
}

// AllConvs returns Convs and the layers of all Growths.
func AllConvs() []Conv {
	list := slices.Clone(Convs)
	for _, g := range Growths {
		list = append(list, g.Cases()...)
	}
	return list
}

// Algorithms are the names of the ways to compute a layer, "auto" first.
func Algorithms() []string {
	var names []string
	for _, a := range conv.Algorithms() {
		names = append(names, string(a))
	}
	return names
}

// Draw returns the number of elements drawn.
func (c Conv) Draw() int {
	if c.Live != 0 {
		return c.Live
	}
	return c.Elements
}

// Operations returns the number of floating-point operations of the dense
// convolution that the layer is to the rival: two for each of the k x k taps at
// each position, in three passes.
func (c Conv) Operations() float64 {
	return 3 * 2 * float64(c.In*c.Out*c.Draw()*c.Draw()) * float64(c.Kernel*c.Kernel) * float64(c.Side*c.Side*c.Batch)
}

// Dense says in short what the layer is to a library that knows no groups, such
// as "256->256@14 k 7".
func (c Conv) Dense() string {
	return fmt.Sprintf("%d->%d@%d k %d", c.In*c.Draw(), c.Out*c.Draw(), c.Side, c.Kernel)
}

// Bench returns the benchmark's name without "Benchmark". Pass is "forward",
// "backward" or "all"; each includes what it needs of the kernel's rendering.
func (c Conv) Bench(algorithm, pass string, threads int) string {
	return fmt.Sprintf("Conv/case=%s/algorithm=%s/pass=%s/threads=%d", c.Name, algorithm, pass, threads)
}

// Step is a training step, or an inference, of a preset's network.
type Step struct {
	Preset string
	Batch  int
	Theta  float64 // of every learned subset; 0: as a new network has it, 1
}

// Steps are those of the acceptance table. CIFAR-10's 13-layer CNN is measured at
// a quarter of the paper's batch, for the rival's sake.
var Steps = []Step{
	{Preset: "rotmnist-se2-8-partial", Batch: 64},
	{Preset: "rotmnist-se2-8-full", Batch: 64},
	{Preset: "mnist6-180-se2-8-partial", Batch: 64},
	{Preset: "mnist6-180-se2-8-partial-perelement", Batch: 64},
	{Preset: "cifar10-se2-16-partial", Batch: 64},
	{Preset: "cifar10-e2-16-partial", Batch: 64},
	{Preset: "cifar10-se2-4-full-13layer", Batch: 16},
	{Preset: "rotmnist-sim2-8-partial", Batch: 64},
	{Preset: "mnist6-m-mirror-2-partial", Batch: 64},
}

// Thetas are the sizes of the learned subsets whose cost is compared.
var Thetas = []float64{1, 0.75, 0.5, 0.25}

// Partial are steps of the first of Steps over the Thetas.
func Partial() []Step {
	var list []Step
	for _, theta := range Thetas {
		s := Steps[0]
		s.Theta = theta
		list = append(list, s)
	}
	return list
}

// Inferences are those of the acceptance table: throughput and latency.
var Inferences = []Step{
	{Preset: "rotmnist-se2-8-partial", Batch: 64},
	{Preset: "rotmnist-se2-8-partial", Batch: 1},
}

// TrainBench returns the benchmark's name without "Benchmark".
func (s Step) TrainBench(threads int) string {
	name := fmt.Sprintf("TrainStep/preset=%s/batch=%d/threads=%d", s.Preset, s.Batch, threads)
	if s.Theta != 0 {
		name += fmt.Sprintf("/theta=%g", s.Theta)
	}
	return name
}

// InferBench returns the benchmark's name without "Benchmark".
func (s Step) InferBench(threads int) string {
	return fmt.Sprintf("Infer/preset=%s/batch=%d/threads=%d", s.Preset, s.Batch, threads)
}

// Large reports whether the step takes a dense convolution most of a minute.
func (s Step) Large() bool {
	return s.Preset == "cifar10-se2-16-partial" || s.Preset == "cifar10-e2-16-partial"
}

// Network describes the preset's network in the words of the peers.
func (s Step) Network() (string, error) {
	c, err := config.Lookup(s.Preset)
	if err != nil {
		return "", err
	}
	im := c.Image()
	net := map[string]string{"CKResNet": "ckresnet", "GCNN": "cnn13"}[c.Net.Type]
	theta := s.Theta
	if theta == 0 {
		theta = 1
	}
	return fmt.Sprintf("net=%s channels=%d side=%d classes=%d width=%d factors=%s pools=%s dropouts=%s dropout=%g elements=%d group=%s partial=%d perelement=%d theta=%g k=%d hidden=%d layers=%d omega0=%g batch=%d",
		net, im.Channels, im.Side, im.Classes, c.Net.Width, list(c.Net.Factors), list(c.Net.Pools), list(c.Net.Dropouts), c.Net.Dropout,
		c.Group.Elements, c.Group.Name, number(c.Conv.Partial), number(c.Conv.PerElement), theta,
		c.Kernel.Side, c.Kernel.Hidden, c.Kernel.Layers, c.Kernel.Omega0, s.Batch), nil
}

func list(values []int) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ",")
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
