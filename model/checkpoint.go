package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/noether-go/noether/conv"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/safetensors"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
	"github.com/noether-go/noether/siren"
)

// networkKey is the metadata key under which a checkpoint describes the network
// that its weights belong to.
const networkKey = "noether.network"

// formatKey is the metadata key under which libraries for PyTorch note theirs.
const formatKey = "format"

// networkJSON is the configuration of a network as a checkpoint states it: all
// but how its convolutions are computed. What an architecture does not have is
// left out.
type networkJSON struct {
	Type            string  `json:"type"`
	Group           string  `json:"group"`
	Elements        int     `json:"elements"`
	Partial         bool    `json:"partial"`
	PerElement      bool    `json:"per_element,omitempty"`
	SharedElements  bool    `json:"shared_elements,omitempty"`
	Channels        int     `json:"channels"`
	Side            int     `json:"side"`
	Classes         int     `json:"classes"`
	Norm            string  `json:"norm,omitempty"` // "": BatchNorm
	Width           int     `json:"width"`
	Factors         []int   `json:"factors"`
	Pools           []int   `json:"pools"`
	LastT2          bool    `json:"last_t2,omitempty"`
	Pooling         string  `json:"pooling,omitempty"` // "": the architecture's own
	Dropout         float64 `json:"dropout,omitempty"`
	Dropouts        []int   `json:"dropouts,omitempty"`
	Separable       bool    `json:"separable,omitempty"`
	KernelNet       string  `json:"kernel_net,omitempty"` // "": SIREN
	KernelSide      int     `json:"kernel_side"`
	KernelHidden    int     `json:"kernel_hidden"`
	KernelLayers    int     `json:"kernel_layers"`
	Omega0          float64 `json:"omega0"`
	LearnOmega0     bool    `json:"learn_omega0,omitempty"`
	WeightNorm      bool    `json:"weight_norm,omitempty"`
	Activation      string  `json:"kernel_activation,omitempty"`
	KernelNorm      string  `json:"kernel_norm,omitempty"`
	Sampling        uint8   `json:"sampling,omitempty"`
	Jitter          uint8   `json:"jitter"`
	Measure         uint8   `json:"measure,omitempty"`
	InitTemperature float64 `json:"init_temperature,omitempty"` // 0: the default
	EndTemperature  float64 `json:"end_temperature,omitempty"`  // 0: the default
	NoBias          bool    `json:"no_bias,omitempty"`
	Compat          bool    `json:"compat"`
	Seed            uint64  `json:"seed"`
}

func (s *settings) describe() networkJSON {
	return networkJSON{
		Type: s.name(), Group: s.Group.Name(), Elements: s.Elements, Partial: s.Partial, PerElement: s.PerElement, SharedElements: s.SharedElements,
		Channels: s.Channels, Side: s.Side, Classes: s.Classes,
		Norm: string(s.Norm), Width: s.Width, Factors: s.Factors, Pools: s.Pools, LastT2: s.LastT2, Pooling: string(s.Pooling), Dropout: s.Dropout, Dropouts: s.Dropouts,
		Separable: s.Separable, KernelNet: string(s.KernelNet), KernelSide: s.KernelSide, KernelHidden: s.KernelHidden, KernelLayers: s.KernelLayers, Omega0: s.Omega0,
		LearnOmega0: s.LearnOmega0, WeightNorm: s.WeightNorm,
		Activation: string(s.KernelActivation), KernelNorm: string(s.KernelNorm),
		Sampling: uint8(s.Sampling), Jitter: uint8(s.Jitter - gumbel.Stratified), Measure: uint8(s.Measure),
		InitTemperature: unless(s.InitTemperature, gumbel.DefaultInitTemperature), EndTemperature: unless(s.EndTemperature, gumbel.DefaultEndTemperature),
		NoBias: s.NoBias, Compat: s.Compat, Seed: s.Seed,
	}
}

// unless returns v, and 0 where it is the default.
func unless(v, standard float64) float64 {
	if v == standard {
		return 0
	}
	return v
}

// name returns the name of the architecture, with what is around it.
func (s *settings) name() string {
	if s.Augerino {
		return typePrefix + s.Type
	}
	return s.Type
}

func (j networkJSON) settings() (settings, error) {
	kind, augerino := strings.CutPrefix(j.Type, typePrefix)
	if kind != typeCKResNet && kind != typeGCNN {
		return settings{}, fmt.Errorf("the network is of type %q; %s and %s are known, and both behind %q", j.Type, typeCKResNet, typeGCNN, typePrefix)
	}
	group, err := lie.ByName(j.Group)
	if err != nil {
		return settings{}, err
	}
	// Files count from Stratified on, since what AutoJitter stands for is known by then.
	if last := uint8(gumbel.IID - gumbel.Stratified); j.Jitter > last {
		return settings{}, fmt.Errorf("the jitter is %d; 0 to %d are known", j.Jitter, last)
	}
	return settings{
		Type: kind, Augerino: augerino, Group: group, Elements: j.Elements, Partial: j.Partial, PerElement: j.PerElement, SharedElements: j.SharedElements,
		Channels: j.Channels, Side: j.Side, Classes: j.Classes,
		Norm: Norm(j.Norm), Width: j.Width, Factors: j.Factors, Pools: j.Pools, LastT2: j.LastT2, Pooling: Pooling(j.Pooling), Dropout: j.Dropout, Dropouts: j.Dropouts,
		Separable: j.Separable, KernelNet: conv.KernelNet(j.KernelNet), KernelSide: j.KernelSide, KernelHidden: j.KernelHidden, KernelLayers: j.KernelLayers, Omega0: j.Omega0,
		LearnOmega0: j.LearnOmega0, WeightNorm: j.WeightNorm,
		KernelActivation: siren.Activation(j.Activation), KernelNorm: siren.Norm(j.KernelNorm),
		Sampling: gumbel.Method(j.Sampling), Jitter: gumbel.Stratified + gumbel.Jitter(j.Jitter), Measure: gumbel.Measure(j.Measure),
		InitTemperature: j.InitTemperature, EndTemperature: j.EndTemperature,
		NoBias: j.NoBias, Compat: j.Compat, Seed: j.Seed,
	}, nil
}

// Save writes the network's configuration, parameters and running statistics as
// safetensors, under the names of the published program's state dictionary. The
// file is replaced as a whole or not at all. What Load could not read is refused: values
// that are no numbers and variances below 0 (*ValueError), and a group that is not what lie.ByName has
// under its name. Of a network on such a group SaveStateDict writes the parameters.
func (net *Network) Save(path string) error {
	if net.plan != nil {
		net.params.Download()
	}
	if g, err := lie.ByName(net.cfg.Group.Name()); err != nil || !reflect.DeepEqual(g, net.cfg.Group) {
		return fmt.Errorf("model: %s is not written: the group %q is not one of package lie, so Load could not make the network; SaveStateDict writes its parameters alone", path, net.cfg.Group.Name())
	}
	description, err := json.Marshal(net.cfg.describe())
	if err != nil {
		return fmt.Errorf("model: describing the network: %w", err)
	}
	return writeUsable(path, net.tensors(), map[string]string{networkKey: string(description)})
}

// ValueError reports a value that no usable network has, for which a file was not written: one that is no
// number, or infinite, or a variance below 0.
type ValueError struct {
	Path, Tensor string
	Index        int
	Value        float32
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("model: %s is not written: value %d of %s is %v; training diverged, or the parameters were spoilt", e.Path, e.Index, e.Tensor, e.Value)
}

// writeUsable writes tensors of what a usable network has; of other values nothing is written.
func writeUsable(path string, list []safetensors.Tensor, metadata map[string]string) error {
	for _, t := range list {
		if i := unusable(t.Name, t.F32); i >= 0 {
			return &ValueError{path, t.Name, i, t.F32[i]}
		}
	}
	return safetensors.WriteFile(path, list, metadata)
}

// tensors returns the host's parameters in the form in which they are saved.
func (net *Network) tensors() []safetensors.Tensor {
	var list []safetensors.Tensor
	for _, p := range net.params.All() {
		list = append(list, tensorOf(p.Name, p, p.Host))
	}
	return list
}

// tensorOf returns values of a parameter's shape as a tensor. Scalar statistics
// are counts, which PyTorch keeps as integers.
func tensorOf(name string, p *nn.Parameter, values []float32) safetensors.Tensor {
	if isCount(p) {
		return safetensors.Tensor{Name: name, Shape: p.Shape, I64: []int64{int64(values[0])}}
	}
	return safetensors.Tensor{Name: name, Shape: p.Shape, F32: values}
}

func isCount(p *nn.Parameter) bool { return p.Class == nn.Statistic && len(p.Shape) == 0 }

// Load reads a network that Save wrote, of whichever architecture. The error says
// which file is at fault and how. A description that asks for more values than the file
// has is refused before they are allocated.
func Load(path string) (*Network, error) {
	file, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := notState(path, file); err != nil {
		return nil, err
	}
	if _, ok := file.Metadata[networkKey]; !ok {
		return nil, fmt.Errorf("model: %s has no %q in its metadata, so it does not say what network it holds; was it written by another program?", path, networkKey)
	}
	var description networkJSON
	if err := decode(file, networkKey, &description); err != nil {
		return nil, fmt.Errorf("model: %s: the description of the network %w", path, err)
	}
	cfg, err := description.settings()
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", path, err)
	}
	net, err := newNetwork(cfg, min(values(file), mostValues))
	var large *SizeError
	switch {
	case errors.As(err, &large):
		return nil, fmt.Errorf("model: %s: its tensors hold %d values, the network that it describes has more than %d; the file belongs to another network", path, values(file), large.Most)
	case err != nil:
		return nil, fmt.Errorf("model: %s: %w", path, err)
	}
	for i := range file.Tensors {
		if name := file.Tensors[i].Name; net.params.Lookup(name) == nil {
			return nil, fmt.Errorf("model: %s: tensor %q does not belong to this network", path, name)
		}
	}
	if err := net.setAll(path, file, ""); err != nil {
		return nil, err
	}
	return net, nil
}

// notState refuses a file that Trainer.SaveState wrote: it has the weights of a network, among others, and
// not what network they are of.
func notState(path string, file *safetensors.File) error {
	if _, ok := file.Metadata[stateKey]; !ok {
		return nil
	}
	return fmt.Errorf("model: %s holds the state of a training, which Trainer.LoadState goes on with, and no network that Save wrote", path)
}

// values returns the number of values of all tensors of a file.
func values(file *safetensors.File) int {
	n := 0
	for _, t := range file.Tensors {
		n += len(t.F32) + len(t.I64)
	}
	return n
}

// decode reads the description that the metadata have under a key. What this version
// does not know, there or beside it, is an error: it may be a setting without which the
// network is another one.
func decode(file *safetensors.File, key string, v any) error {
	for other := range file.Metadata {
		if other != key && other != formatKey {
			return fmt.Errorf("stands beside metadata with the unknown key %q: %s", other, strange)
		}
	}
	d := json.NewDecoder(strings.NewReader(file.Metadata[key]))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		err = errors.New("something follows it")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("has the unknown key %s: %s", name, strange)
	}
	return fmt.Errorf("is damaged: %w", err)
}

// strange is what may be the matter with a file that has an unknown key.
const strange = "the file was written by another version of Noether, which is needed to read it, or is damaged"

// setAll sets every parameter on the host from the file's tensor of its name
// behind the prefix. A tensor that is missing, of another shape, or not finite
// is an error.
func (net *Network) setAll(path string, file *safetensors.File, prefix string) error {
	for _, p := range net.params.All() {
		if err := copyTensor(p.Host, path, file, prefix+p.Name, p); err != nil {
			return err
		}
	}
	return nil
}

// copyTensor copies the named tensor of a file to values of p's shape.
func copyTensor(values []float32, path string, file *safetensors.File, name string, p *nn.Parameter) error {
	t := file.Lookup(name)
	switch {
	case t == nil:
		return fmt.Errorf("model: %s: tensor %q is missing; the file belongs to another network", path, name)
	case !slices.Equal(t.Shape, p.Shape):
		return fmt.Errorf("model: %s: tensor %q has shape %v, this network needs %v", path, name, t.Shape, p.Shape)
	case isCount(p) && t.I64 != nil:
		values[0] = float32(t.I64[0])
		return nil
	case t.F32 == nil:
		return fmt.Errorf("model: %s: tensor %q holds integers, this network needs float32", path, name)
	}
	if i := unusable(p.Name, t.F32); i >= 0 {
		return fmt.Errorf("model: %s: value %d of tensor %q is %v; %s", path, i, name, t.F32[i], usable)
	}
	copy(values, t.F32)
	return nil
}

const usable = "the weights of a usable network are finite, and its variances not negative"

// unusable returns the index of the first value that a parameter of that name, behind any prefix, has not in a
// usable network, or -1.
func unusable(name string, values []float32) int {
	variance := strings.HasSuffix(name, "running_var")
	return slices.IndexFunc(values, func(v float32) bool { return !finite(float64(v)) || variance && v < 0 })
}

// Differs names the first setting in which net differs from another network, with the value that
// it has in either, and returns "" for networks of one configuration, whatever their seeds.
func (net *Network) Differs(from *Network) string {
	return otherNetwork(net.cfg.describe(), from.cfg.describe())
}

func otherNetwork(saved, present networkJSON) string {
	saved.Seed = present.Seed
	return differs(saved, present)
}
