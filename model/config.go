package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/siren"
)

// CKResNetConfig describes a CKResNet. Zero values stand for the setting that
// the paper uses on rotated MNIST, where the field says so.
type CKResNetConfig struct {
	Group      lie.Group // nil: lie.SE2
	Elements   int       // group elements drawn per layer; 0: 8, or all of a finite group (1 for lie.T2)
	Partial    bool      // learn which elements matter, layer by layer
	PerElement bool      // draw elements for every image of a batch, not once for all of them
	Augerino   bool      // a network on T(2) of copies of the image, moved by elements of a learned subset of Group

	SharedElements bool // group convolutions have the elements that the lifting convolution drew, and draw none

	Channels int // of the image; 0: 1
	Side     int // height and width of the image in pixels; 0: 28
	Classes  int // 0: 10

	Norm    Norm  // of feature maps; "": BatchNorm
	Width   int   // channels of the first block; 0: 32
	Factors []int // width of each residual block in units of Width; nil: {1, 2}
	Pools   []int // where to halve the resolution: 0 after the lifting, i after block i; nil: {0, 1}

	LastT2  bool    // the last convolution is on T(2), behind a mean over the group
	Pooling Pooling // behind it; "": MaxPooling
	Dropout float64 // probability with which, within a block, a channel of an image is left out in training

	Separable    bool           // kernels of group convolutions are products of one on the group and one on the plane
	KernelNet    conv.KernelNet // kind of the kernel networks; "": conv.SIREN
	KernelSide   int            // odd; 0: 7
	KernelHidden int            // hidden units of the kernel networks; 0: 32
	KernelLayers int            // linear maps of the kernel networks, hidden ones of filter networks; 0: 3
	Omega0       float64        // frequency of SIRENs; 0: 10
	LearnOmega0  bool           // learn the frequency of each layer of a SIREN
	WeightNorm   bool           // train the weights of the kernel networks as lengths and directions

	KernelActivation siren.Activation // of kernel networks that are conv.MLP; "": siren.ReLU
	KernelNorm       siren.Norm       // of kernel networks that are conv.MLP; "": siren.NoNorm

	Algorithm conv.Algorithm // of the group convolutions on a CPU; "": conv.Auto
	Sampling  gumbel.Method  // of group elements: at random, or the grid of the group
	Jitter    gumbel.Jitter  // of the drawn elements, which Compat draws as a Comb, whatever this is
	Measure   gumbel.Measure // of sums over them

	// Temperatures of the draws by which elements are kept or dropped, in the first step of
	// training and after the last; 0: 0.5 and 1e-4.
	InitTemperature, EndTemperature float64

	NoBias bool   // convolutions have no biases
	Compat bool   // reproduce the published program's sampler and gradients
	Seed   uint64 // of the initial weights
}

// GCNNConfig describes a GCNN, the paper's "13-layer CNN". Zero values stand for
// the paper's setting on CIFAR-10 where the field says so.
type GCNNConfig struct {
	Group      lie.Group // nil: lie.SE2
	Elements   int       // group elements drawn per layer; 0: 8, or all of a finite group (1 for lie.T2)
	Partial    bool      // learn which elements matter, layer by layer
	PerElement bool      // draw elements for every image of a batch, not once for all of them
	Augerino   bool      // a network on T(2) of copies of the image, moved by elements of a learned subset of Group

	SharedElements bool // group convolutions have the elements that the lifting convolution drew, and draw none

	Channels int // of the image; 0: 3
	Side     int // height and width of the image in pixels; 0: 32
	Classes  int // 0: 10

	Norm    Norm  // of feature maps; "": BatchNorm
	Width   int   // channels of the lifting convolution; 0: 128
	Factors []int // width of each group convolution in units of Width; nil: {1, 2, 2, 2, 2, 2, 2, 2}
	Pools   []int // where to halve the resolution: 0 after the lifting, i after group convolution i; nil: {2, 5}

	Pooling  Pooling // behind the last convolution; "": MeanPooling
	Dropout  float64 // probability with which a channel of an image is left out in training
	Dropouts []int   // the group convolutions that dropout follows, from 1; nil: {2, 5, 8} where Dropout is not 0

	Separable    bool           // kernels of group convolutions are products of one on the group and one on the plane
	KernelNet    conv.KernelNet // kind of the kernel networks; "": conv.SIREN
	KernelSide   int            // odd; 0: 3
	KernelHidden int            // hidden units of the kernel networks; 0: 8
	KernelLayers int            // linear maps of the kernel networks, hidden ones of filter networks; 0: 3
	Omega0       float64        // frequency of SIRENs; 0: 10
	LearnOmega0  bool           // learn the frequency of each layer of a SIREN
	WeightNorm   bool           // train the weights of the kernel networks as lengths and directions

	KernelActivation siren.Activation // of kernel networks that are conv.MLP; "": siren.ReLU
	KernelNorm       siren.Norm       // of kernel networks that are conv.MLP; "": siren.NoNorm

	Algorithm conv.Algorithm // of the group convolutions on a CPU; "": conv.Auto
	Sampling  gumbel.Method  // of group elements: at random, or the grid of the group
	Jitter    gumbel.Jitter  // of the drawn elements, which Compat draws as a Comb, whatever this is
	Measure   gumbel.Measure // of sums over them

	// Temperatures of the draws by which elements are kept or dropped, in the first step of
	// training and after the last; 0: 0.5 and 1e-4.
	InitTemperature, EndTemperature float64

	NoBias bool   // convolutions have no biases
	Compat bool   // reproduce the published program's sampler and gradients
	Seed   uint64 // of the initial weights
}

// settings are what the configurations of all architectures come to.
type settings struct {
	Type           string // "CKResNet" or "GCNN"
	Group          lie.Group
	Elements       int
	Partial        bool
	PerElement     bool
	SharedElements bool
	Augerino       bool

	Channels, Side, Classes int

	Norm           Norm
	Width          int
	Factors, Pools []int
	LastT2         bool
	Pooling        Pooling
	Dropout        float64
	Dropouts       []int

	Separable                              bool
	KernelNet                              conv.KernelNet
	KernelSide, KernelHidden, KernelLayers int
	Omega0                                 float64
	LearnOmega0, WeightNorm                bool
	KernelActivation                       siren.Activation
	KernelNorm                             siren.Norm

	Algorithm conv.Algorithm
	Sampling  gumbel.Method
	Jitter    gumbel.Jitter
	Measure   gumbel.Measure

	InitTemperature, EndTemperature float64

	NoBias bool
	Compat bool
	Seed   uint64
}

// maxBatch bounds the images of a batch: far beyond what memory has room for.
const maxBatch = 1 << 16

// Names of the architectures, as checkpoints state them.
const (
	typeCKResNet = "CKResNet"
	typeGCNN     = "GCNN"
)

// ConfigError says which field of a configuration is wrong.
type ConfigError struct {
	Field   string // such as "CKResNetConfig.KernelSide"
	Value   any
	Allowed string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("model: %s is %v; allowed: %s", e.Field, e.Value, e.Allowed)
}

func orDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

func (c CKResNetConfig) settings() settings {
	orDefault(&c.Channels, 1)
	orDefault(&c.Side, 28)
	orDefault(&c.Width, 32)
	if c.Factors == nil {
		c.Factors = []int{1, 2}
	}
	if c.Pools == nil {
		c.Pools = []int{0, 1}
	}
	orDefault(&c.KernelSide, 7)
	orDefault(&c.KernelHidden, 32)
	return settings{
		Type: typeCKResNet, Group: c.Group, Elements: c.Elements, Partial: c.Partial, PerElement: c.PerElement,
		SharedElements: c.SharedElements, Augerino: c.Augerino,
		Channels: c.Channels, Side: c.Side, Classes: c.Classes,
		Norm: c.Norm, Width: c.Width, Factors: c.Factors, Pools: c.Pools,
		LastT2: c.LastT2, Pooling: c.Pooling, Dropout: c.Dropout,
		Separable: c.Separable, KernelNet: c.KernelNet,
		KernelSide: c.KernelSide, KernelHidden: c.KernelHidden, KernelLayers: c.KernelLayers,
		Omega0: c.Omega0, LearnOmega0: c.LearnOmega0, WeightNorm: c.WeightNorm,
		KernelActivation: c.KernelActivation, KernelNorm: c.KernelNorm,
		Algorithm: c.Algorithm, Sampling: c.Sampling, Jitter: c.Jitter, Measure: c.Measure,
		InitTemperature: c.InitTemperature, EndTemperature: c.EndTemperature,
		NoBias: c.NoBias, Compat: c.Compat, Seed: c.Seed,
	}
}

func (c GCNNConfig) settings() settings {
	orDefault(&c.Channels, 3)
	orDefault(&c.Side, 32)
	orDefault(&c.Width, 128)
	if c.Factors == nil {
		c.Factors = []int{1, 2, 2, 2, 2, 2, 2, 2}
	}
	if c.Pools == nil {
		c.Pools = []int{2, 5}
	}
	if c.Dropouts == nil && c.Dropout != 0 {
		c.Dropouts = []int{2, 5, 8}
	}
	orDefault(&c.KernelSide, 3)
	orDefault(&c.KernelHidden, 8)
	return settings{
		Type: typeGCNN, Group: c.Group, Elements: c.Elements, Partial: c.Partial, PerElement: c.PerElement,
		SharedElements: c.SharedElements, Augerino: c.Augerino,
		Channels: c.Channels, Side: c.Side, Classes: c.Classes,
		Norm: c.Norm, Width: c.Width, Factors: c.Factors, Pools: c.Pools,
		Pooling: c.Pooling, Dropout: c.Dropout, Dropouts: c.Dropouts,
		Separable: c.Separable, KernelNet: c.KernelNet,
		KernelSide: c.KernelSide, KernelHidden: c.KernelHidden, KernelLayers: c.KernelLayers,
		Omega0: c.Omega0, LearnOmega0: c.LearnOmega0, WeightNorm: c.WeightNorm,
		KernelActivation: c.KernelActivation, KernelNorm: c.KernelNorm,
		Algorithm: c.Algorithm, Sampling: c.Sampling, Jitter: c.Jitter, Measure: c.Measure,
		InitTemperature: c.InitTemperature, EndTemperature: c.EndTemperature,
		NoBias: c.NoBias, Compat: c.Compat, Seed: c.Seed,
	}
}

// checkGiven reports a field that was given and has no effect beside the others. It
// expects that defaults are not filled in yet.
func (s *settings) checkGiven() error {
	switch {
	case s.Omega0 != 0 && s.KernelNet != "" && s.KernelNet != conv.SIREN:
		return &ConfigError{s.Type + "Config.Omega0", s.Omega0, fmt.Sprintf("none for kernel networks of kind %q, which have no frequency", s.KernelNet)}
	case s.Dropouts != nil && s.Dropout == 0:
		return &ConfigError{s.Type + "Config.Dropouts", s.Dropouts, "none where Dropout is 0"}
	}
	return nil
}

// withDefaults fills in the zero values that all architectures share.
func (s settings) withDefaults() settings {
	if s.Group == nil {
		s.Group = lie.SE2
	}
	elements := 8
	if s.Group.Dim() == 0 {
		elements = s.Group.Components()
	}
	orDefault(&s.Elements, elements)
	orDefault(&s.Classes, 10)
	orDefault(&s.KernelLayers, 3)
	if s.Omega0 == 0 {
		s.Omega0 = 10
	}
	if s.InitTemperature == 0 {
		s.InitTemperature = gumbel.DefaultInitTemperature
	}
	if s.EndTemperature == 0 {
		s.EndTemperature = min(gumbel.DefaultEndTemperature, s.InitTemperature)
	}
	s.Jitter = s.Jitter.For(s.Partial || s.Augerino)
	if s.KernelNet == "" {
		s.KernelNet = conv.SIREN
	}
	if s.Norm == "" {
		s.Norm = BatchNorm
	}
	if s.Pooling == "" {
		s.Pooling = MaxPooling
		if s.Type == typeGCNN {
			s.Pooling = MeanPooling
		}
	}
	if s.Algorithm == "" {
		s.Algorithm = conv.Auto
	}
	return s
}

// check reports the first field that is out of range, by its name in the
// configuration of the architecture. It expects defaults to be filled in.
func (s *settings) check() error {
	bad := func(field string, value any, allowed string) error {
		return &ConfigError{s.Type + "Config." + field, value, allowed}
	}
	for _, b := range []struct {
		field         string
		value, lo, hi int
	}{
		{"Elements", s.Elements, 1, 1024},
		{"Channels", s.Channels, 1, 1024},
		{"Side", s.Side, 1, 4096},
		{"Classes", s.Classes, 2, 1 << 16},
		{"Width", s.Width, 1, 4096},
		{"KernelSide", s.KernelSide, 1, 63},
		{"KernelHidden", s.KernelHidden, 2, 4096},
		{"KernelLayers", s.KernelLayers, 2, 16},
	} {
		if b.value < b.lo || b.value > b.hi {
			return bad(b.field, b.value, fmt.Sprintf("%d to %d", b.lo, b.hi))
		}
	}
	if s.KernelSide%2 == 0 {
		return bad("KernelSide", s.KernelSide, "odd numbers")
	}
	if !(s.Omega0 > 0 && s.Omega0 <= 1e4) {
		return bad("Omega0", s.Omega0, "above 0, up to 10000")
	}
	if !slices.Contains(Norms(), s.Norm) {
		return bad("Norm", fmt.Sprintf("%q", s.Norm), listed(Norms()))
	}
	if err := s.checkKernelNet(bad); err != nil {
		return err
	}
	if !slices.Contains(conv.Algorithms(), s.Algorithm) {
		return bad("Algorithm", fmt.Sprintf("%q", s.Algorithm), fmt.Sprint(conv.Algorithms()))
	}
	if err := s.checkAugerino(bad); err != nil {
		return err
	}
	if err := s.checkGroup(bad); err != nil {
		return err
	}
	if s.PerElement && !s.stochastic() {
		return bad("PerElement", true, "false for "+s.Group.Name()+", of which nothing is drawn at random")
	}
	if err := s.checkShared(bad); err != nil {
		return err
	}
	if s.PerElement && s.Algorithm != conv.Auto {
		return bad("Algorithm", fmt.Sprintf("%q", s.Algorithm), fmt.Sprintf("%q where every image has elements of its own", conv.Auto))
	}
	if err := s.checkSeparable(bad); err != nil {
		return err
	}
	if s.KernelSide == 1 && s.Algorithm == conv.Frequency {
		return bad("Algorithm", fmt.Sprintf("%q", s.Algorithm), "all others for kernels of one pixel")
	}
	if err := s.checkEnd(bad); err != nil {
		return err
	}
	return s.checkBlocks(bad)
}

// checkAugerino is check for a network on copies of the image.
func (s *settings) checkAugerino(bad func(field string, value any, allowed string) error) error {
	switch {
	case !s.Augerino:
		return nil
	case s.Partial:
		return bad("Partial", true, "false with Augerino, which learns one subset for the whole network")
	case s.PerElement:
		return bad("PerElement", true, "false with Augerino, which moves all images of a batch alike")
	case s.Sampling != gumbel.Random:
		return bad("Sampling", s.Sampling, "random with Augerino")
	case s.Measure != gumbel.Counting:
		return bad("Measure", s.Measure, "counting with Augerino, which takes the mean over copies")
	case s.LastT2:
		return bad("LastT2", true, "false with Augerino, all of whose convolutions are on T(2)")
	case strings.HasSuffix(s.Group.Name(), " periodic"):
		return bad("Group", s.Group.Name(), "the same without periodic with Augerino, whose kernel networks are fed no angles")
	case s.Group.Dim() == 0 && s.Group.Components() == 1:
		return bad("Group", s.Group.Name(), "groups of more than translations with Augerino, such as SE(2) and E(2)")
	}
	return nil
}

// checkShared is check for elements that are drawn once for all layers.
func (s *settings) checkShared(bad func(field string, value any, allowed string) error) error {
	switch {
	case !s.SharedElements:
		return nil
	case s.Augerino:
		return bad("SharedElements", true, "false with Augerino, all of whose convolutions are on T(2)")
	case s.Partial:
		return bad("SharedElements", true, "false with learned subsets, where every group convolution draws elements of the subset that it learns")
	case s.Group.Dim() == 0:
		return bad("SharedElements", true, "false for "+s.Group.Name()+", of which all layers have all elements")
	case s.Sampling == gumbel.Deterministic:
		return bad("SharedElements", true, "false with deterministic Sampling, where all layers have one grid")
	}
	return nil
}

// checkSeparable is check for kernels in two parts.
func (s *settings) checkSeparable(bad func(field string, value any, allowed string) error) error {
	switch {
	case !s.Separable:
		return nil
	case s.Algorithm != conv.Auto:
		return bad("Algorithm", fmt.Sprintf("%q", s.Algorithm), fmt.Sprintf("%q with Separable, both parts of which are computed in one way alone", conv.Auto))
	case s.KernelSide == 1:
		return bad("Separable", true, "false for kernels of one pixel, which are on the group alone")
	case s.KernelNet == conv.SIREN && s.staysOnElement() && s.zeroOnElement():
		return bad("Separable", true, fmt.Sprintf("false for %s with kernel networks of kind %q "+
			"where a convolution stays on one element, as the last one does with LastT2: "+
			"its part on the group begins as zero there and has no gradient", s.Group.Name(), s.KernelNet))
	}
	return nil
}

// staysOnElement reports whether there is a convolution from one element to the same one alone.
func (s *settings) staysOnElement() bool { return s.LastT2 || s.Elements == 1 && !s.redraws() }

// zeroOnElement reports whether all that kernel networks are fed of the group is zero between an
// element and itself.
func (s *settings) zeroOnElement() bool {
	group, _ := s.trunk()
	identity := group.Relative(lie.Element{}, lie.Element{})
	return !slices.ContainsFunc(identity[:group.Coordinates()], func(x float64) bool { return x != 0 })
}

// trunk returns the group that the convolutions are on, and how many of its elements
// they draw.
func (s *settings) trunk() (lie.Group, int) {
	if s.Augerino {
		return lie.T2, 1
	}
	return s.Group, s.Elements
}

// checkEnd is check for what follows the blocks.
func (s *settings) checkEnd(bad func(field string, value any, allowed string) error) error {
	switch {
	case !slices.Contains(Poolings(), s.Pooling):
		return bad("Pooling", fmt.Sprintf("%q", s.Pooling), listed(Poolings()))
	case s.Pooling == LearnedPooling && s.Partial && !s.LastT2:
		return bad("Pooling", fmt.Sprintf("%q", s.Pooling), "max and mean with learned subsets, where the number of elements varies")
	case s.LastT2 && s.Type != typeCKResNet:
		return bad("LastT2", true, "false for "+s.Type)
	case s.LastT2 && s.Compat && s.Group.Components() > 1:
		return bad("LastT2", true, "false for "+s.Group.Name()+" with Compat: the published program convolves on what is no element of the group")
	}
	return nil
}

// checkKernelNet is check for the kind of the kernel networks.
func (s *settings) checkKernelNet(bad func(field string, value any, allowed string) error) error {
	kind, mlp := fmt.Sprintf("%q", s.KernelNet), s.KernelNet == conv.MLP
	switch {
	case !slices.Contains(conv.KernelNets(), s.KernelNet):
		return bad("KernelNet", kind, listed(conv.KernelNets()))
	case s.KernelSide == 1 && s.KernelNet == conv.SIREN:
		return bad("KernelSide", 1, "3 and more for kernel networks of kind "+kind+", which begin as zero at the centre and have no gradient there")
	case s.LearnOmega0 && s.KernelNet != conv.SIREN:
		return bad("LearnOmega0", true, "false for kernel networks of kind "+kind)
	case !mlp && s.KernelActivation != "":
		return bad("KernelActivation", fmt.Sprintf("%q", s.KernelActivation), "none for kernel networks of kind "+kind)
	case !mlp && s.KernelNorm != "":
		return bad("KernelNorm", fmt.Sprintf("%q", s.KernelNorm), "none for kernel networks of kind "+kind)
	case s.KernelActivation != "" && !slices.Contains(siren.Activations(), s.KernelActivation):
		return bad("KernelActivation", fmt.Sprintf("%q", s.KernelActivation), listed(siren.Activations()))
	case s.KernelNorm != "" && !slices.Contains(siren.Norms(), s.KernelNorm):
		return bad("KernelNorm", fmt.Sprintf("%q", s.KernelNorm), listed(siren.Norms()))
	}
	return nil
}

// listed names what a field may be.
func listed[S ~string](list []S) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// stochastic reports whether layers draw elements at all, rather than take the grid
// of the group.
func (s *settings) stochastic() bool {
	group, _ := s.trunk()
	return s.Partial || group.Dim() > 0 && s.Sampling == gumbel.Random
}

// redraws reports whether a group convolution has other elements than its input.
func (s *settings) redraws() bool { return s.stochastic() && !s.SharedElements }

// drops reports whether elements of a partial network are dropped at random.
func (s *settings) drops() bool {
	return s.Sampling == gumbel.Deterministic || s.Group.Components() > 1
}

// checkGroup is check for the group and its elements.
func (s *settings) checkGroup(bad func(field string, value any, allowed string) error) error {
	group, components := s.Group.Name(), s.Group.Components()
	if trunk, _ := s.trunk(); conv.ChangesLengths(trunk) && s.PerElement {
		return bad("PerElement", true, "false for "+group+", where all images of a batch have one list of elements")
	}
	if s.Sampling > gumbel.Deterministic {
		return bad("Sampling", s.Sampling, "random and deterministic")
	}
	if s.Measure > gumbel.Haar {
		return bad("Measure", s.Measure, "counting, mean and haar")
	}
	if !(s.InitTemperature > 0 && s.InitTemperature <= 1e6) {
		return bad("InitTemperature", s.InitTemperature, "above 0, up to 1e6")
	}
	if !(s.EndTemperature > 0 && s.EndTemperature <= s.InitTemperature) {
		return bad("EndTemperature", s.EndTemperature, fmt.Sprintf("above 0, up to the temperature at the beginning, %v", s.InitTemperature))
	}
	if s.Compat && s.Measure != gumbel.Counting {
		return bad("Measure", s.Measure, "counting with Compat")
	}
	switch {
	case s.Compat && (s.Partial || s.Augerino) && !gumbel.Published(s.Group):
		return bad("Compat", true, "false where subsets of "+group+" are learned: the published program learns intervals of one angle, with reflections or without, or of one scale, and no others")
	case s.Partial && s.Elements == 1 && (s.Group.Dim() == 0 || s.Sampling == gumbel.Deterministic):
		return bad("Partial", true, "false where each layer has the identity alone, of which nothing can be left out")
	case s.Partial && s.Compat && s.PerElement && s.drops():
		return bad("PerElement", true, "false for "+group+" with Compat: the published program fails on it")
	}
	switch _, err := s.Group.Split(s.Elements); {
	case err == nil:
		return nil
	case s.Group.Dim() == 0:
		return bad("Elements", s.Elements, fmt.Sprintf("%d for %s, the order of its stabiliser", components, group))
	default:
		return bad("Elements", s.Elements, fmt.Sprintf("multiples of %d for %s", components, group))
	}
}

// checkBlocks is check for what depends on the number of blocks.
func (s *settings) checkBlocks(bad func(field string, value any, allowed string) error) error {
	if len(s.Factors) == 0 || len(s.Factors) > 64 {
		return bad("Factors", s.Factors, "1 to 64 blocks")
	}
	for _, f := range s.Factors {
		if f < 1 || f > 64 {
			return bad("Factors", s.Factors, "factors from 1 to 64")
		}
	}
	for i, p := range s.Pools {
		if p < 0 || p > len(s.Factors) || slices.Contains(s.Pools[:i], p) {
			return bad("Pools", s.Pools, fmt.Sprintf("positions 0 to %d, each once", len(s.Factors)))
		}
	}
	if !(s.Dropout >= 0 && s.Dropout < 1) {
		return bad("Dropout", s.Dropout, "0 to below 1")
	}
	for i, d := range s.Dropouts {
		if d < 1 || d > len(s.Factors) || slices.Contains(s.Dropouts[:i], d) {
			return bad("Dropouts", s.Dropouts, fmt.Sprintf("positions 1 to %d, each once", len(s.Factors)))
		}
	}
	if s.Type == typeGCNN && s.Dropout > 0 && len(s.Dropouts) == 0 {
		return bad("Dropouts", s.Dropouts, "one position or more with a Dropout above 0")
	}
	need, why := 1, "a pixel is left after the last pool"
	if s.Type == typeCKResNet { // whose last convolution has no padding
		need, why = s.KernelSide, fmt.Sprintf("the last layer's %d pixels hold its %d-pixel kernel", s.lastSide(), s.KernelSide)
	}
	if s.lastSide() < need {
		return bad("Side", s.Side, "large enough that "+why)
	}
	return nil
}

// pooled reports whether the resolution is halved after stage i (0: lifting).
func (s *settings) pooled(i int) bool { return slices.Contains(s.Pools, i) }

// lastSide is the side of the map after all pools.
func (s *settings) lastSide() int {
	side := s.Side
	for i := 0; i <= len(s.Factors); i++ {
		if s.pooled(i) {
			side /= 2
		}
	}
	return side
}

// pixels is the number of values of one image, C*H*W.
func (s *settings) pixels() int { return s.Channels * s.Side * s.Side }
