package model

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/safetensors"
	"github.com/noether-go/noether/lie"
	"github.com/noether-go/noether/nn"
)

// networkKey is the metadata key under which a checkpoint describes the network
// that its weights belong to.
const networkKey = "noether.network"

// networkJSON is CKResNetConfig as a checkpoint states it.
type networkJSON struct {
	Type         string  `json:"type"`
	Group        string  `json:"group"`
	Elements     int     `json:"elements"`
	Partial      bool    `json:"partial"`
	Channels     int     `json:"channels"`
	Side         int     `json:"side"`
	Classes      int     `json:"classes"`
	Width        int     `json:"width"`
	Factors      []int   `json:"factors"`
	Pools        []int   `json:"pools"`
	KernelSide   int     `json:"kernel_side"`
	KernelHidden int     `json:"kernel_hidden"`
	KernelLayers int     `json:"kernel_layers"`
	Omega0       float64 `json:"omega0"`
	Jitter       uint8   `json:"jitter"`
	Compat       bool    `json:"compat"`
	Seed         uint64  `json:"seed"`
}

func (c CKResNetConfig) describe() networkJSON {
	return networkJSON{
		"CKResNet", c.Group.Name(), c.Elements, c.Partial, c.Channels, c.Side, c.Classes,
		c.Width, c.Factors, c.Pools, c.KernelSide, c.KernelHidden, c.KernelLayers, c.Omega0,
		uint8(c.Jitter), c.Compat, c.Seed,
	}
}

func (j networkJSON) config() (CKResNetConfig, error) {
	if j.Type != "CKResNet" {
		return CKResNetConfig{}, fmt.Errorf("the network is of type %q; CKResNet is known", j.Type)
	}
	group, err := lie.ByName(j.Group)
	if err != nil {
		return CKResNetConfig{}, err
	}
	return CKResNetConfig{
		group, j.Elements, j.Partial, j.Channels, j.Side, j.Classes,
		j.Width, j.Factors, j.Pools, j.KernelSide, j.KernelHidden, j.KernelLayers, j.Omega0,
		gumbel.Jitter(j.Jitter), j.Compat, j.Seed,
	}, nil
}

// Save writes the network's configuration, parameters and running statistics as
// safetensors, under the names of the published program's state dictionary. The
// file is replaced as a whole or not at all.
func (net *CKResNet) Save(path string) error {
	if net.plan != nil {
		net.params.Download()
	}
	description, err := json.Marshal(net.cfg.describe())
	if err != nil {
		return fmt.Errorf("model: describing the network: %w", err)
	}
	return safetensors.WriteFile(path, net.tensors(), map[string]string{networkKey: string(description)})
}

// tensors returns the host's parameters in the form in which they are saved.
func (net *CKResNet) tensors() []safetensors.Tensor {
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

// Load reads a network that Save wrote. The error says which file is at fault
// and how.
func Load(path string) (*CKResNet, error) {
	file, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text, ok := file.Metadata[networkKey]
	if !ok {
		return nil, fmt.Errorf("model: %s has no %q in its metadata, so it does not say what network it holds; was it written by another program?", path, networkKey)
	}
	var description networkJSON
	if err := json.Unmarshal([]byte(text), &description); err != nil {
		return nil, fmt.Errorf("model: %s: the description of the network is damaged: %v", path, err)
	}
	cfg, err := description.config()
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", path, err)
	}
	net, err := NewCKResNet(cfg)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", path, err)
	}
	if err := net.setAll(path, file, ""); err != nil {
		return nil, err
	}
	return net, nil
}

// setAll sets every parameter on the host from the file's tensor of its name
// behind the prefix. A tensor that is missing, of another shape, or not finite
// is an error, and so is one that the network does not have.
func (net *CKResNet) setAll(path string, file *safetensors.File, prefix string) error {
	if prefix == "" {
		for i := range file.Tensors {
			if name := file.Tensors[i].Name; net.params.Lookup(name) == nil {
				return fmt.Errorf("model: %s: tensor %q does not belong to this network", path, name)
			}
		}
	}
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
	for i, v := range t.F32 {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("model: %s: value %d of tensor %q is %v; the weights of a usable network are finite", path, i, name, v)
		}
	}
	copy(values, t.F32)
	return nil
}
