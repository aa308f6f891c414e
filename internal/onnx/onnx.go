package onnx

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/noether-go/noether/internal/atomicfile"
)

// Versions that the files state: operators as in ONNX 1.8 (2020).
const (
	irVersion = 7
	Opset     = 13
)

// MaxSize is the largest size of a file in bytes: protocol buffers hold no more.
const MaxSize = 1<<31 - 1

// Model is a graph and what is said about it.
type Model struct {
	Producer string            // the program that wrote it
	Metadata map[string]string // free texts
	Graph    Graph
}

// Graph is a list of operations, each behind those whose results it takes.
type Graph struct {
	Name            string
	Nodes           []Node
	Weights         []Tensor
	Inputs, Outputs []Value
}

// Node is one operation of the standard set Opset, such as "Conv".
type Node struct {
	Op              string
	Name            string
	Inputs, Outputs []string // names of weights, of the graph's inputs, and of other nodes' outputs
	Attributes      []Attribute
}

// Attribute is a named number of type int or float32, or a list of type []int.
type Attribute struct {
	Name  string
	Value any
}

// Tensor is a named constant, row-major. Exactly one of F32 and I64 is not nil.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	I64   []int64
}

// Value is a float32 input or output of a graph. Free names the dimensions that
// are not fixed; Shape has -1 there.
type Value struct {
	Name  string
	Shape []int
	Free  string
}

// WriteFile writes a file as a whole (see atomicfile.WriteFile).
func (m *Model) WriteFile(path string) error {
	return atomicfile.WriteFile(path, m.Write)
}

// Write writes the model. It is an error, and nothing is written, when that takes
// more than MaxSize bytes.
func (m *Model) Write(w io.Writer) error {
	fields := m.message()
	if n := fields.size(); n > MaxSize {
		return fmt.Errorf("onnx: the file would have %d bytes, the format holds %d", n, MaxSize)
	}
	return fields.write(w)
}

// Numbers of the message types' fields, and of the types of data and attributes,
// in onnx.proto.
const (
	modelIRVersion = 1
	modelProducer  = 2
	modelGraph     = 7
	modelOpset     = 8
	modelMetadata  = 14

	opsetVersion = 2

	entryKey   = 1
	entryValue = 2

	graphNode    = 1
	graphName    = 2
	graphWeights = 5
	graphInput   = 11
	graphOutput  = 12

	nodeInput     = 1
	nodeOutput    = 2
	nodeName      = 3
	nodeOp        = 4
	nodeAttribute = 5

	attributeName   = 1
	attributeFloat  = 2
	attributeInt    = 3
	attributeInts   = 8
	attributeType   = 20
	typeFloat       = 1
	typeInt         = 2
	typeInts        = 7
	tensorDims      = 1
	tensorType      = 2
	tensorName      = 8
	tensorRaw       = 9
	float32Data     = 1
	int64Data       = 7
	valueName       = 1
	valueType       = 2
	typeTensor      = 1
	tensorTypeElem  = 1
	tensorTypeShape = 2
	shapeDim        = 1
	dimValue        = 1
	dimParam        = 2
)

func (m *Model) message() message {
	out := message{
		number(modelIRVersion, irVersion),
		text(modelProducer, m.Producer),
		nested(modelGraph, m.Graph.message()),
		nested(modelOpset, message{number(opsetVersion, Opset)}),
	}
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		out = append(out, nested(modelMetadata, message{text(entryKey, key), text(entryValue, m.Metadata[key])}))
	}
	return out
}

func (g *Graph) message() message {
	var out message
	for i := range g.Nodes {
		out = append(out, nested(graphNode, g.Nodes[i].message()))
	}
	out = append(out, text(graphName, g.Name))
	for i := range g.Weights {
		out = append(out, nested(graphWeights, g.Weights[i].message()))
	}
	for i := range g.Inputs {
		out = append(out, nested(graphInput, g.Inputs[i].message()))
	}
	for i := range g.Outputs {
		out = append(out, nested(graphOutput, g.Outputs[i].message()))
	}
	return out
}

func (n *Node) message() message {
	var out message
	for _, name := range n.Inputs {
		out = append(out, text(nodeInput, name))
	}
	for _, name := range n.Outputs {
		out = append(out, text(nodeOutput, name))
	}
	out = append(out, text(nodeName, n.Name), text(nodeOp, n.Op))
	for i := range n.Attributes {
		out = append(out, nested(nodeAttribute, n.Attributes[i].message()))
	}
	return out
}

func (a *Attribute) message() message {
	out := message{text(attributeName, a.Name)}
	switch v := a.Value.(type) {
	case float32:
		return append(out, float(attributeFloat, v), number(attributeType, typeFloat))
	case int:
		return append(out, number(attributeInt, v), number(attributeType, typeInt))
	case []int:
		for _, n := range v {
			out = append(out, number(attributeInts, n))
		}
		return append(out, number(attributeType, typeInts))
	}
	panic(fmt.Sprintf("onnx: attribute %s has a value of type %T", a.Name, a.Value))
}

func (t *Tensor) message() message {
	var out message
	for _, n := range t.Shape {
		out = append(out, number(tensorDims, n))
	}
	if t.I64 != nil {
		return append(out, number(tensorType, int64Data), text(tensorName, t.Name), integers(tensorRaw, t.I64))
	}
	return append(out, number(tensorType, float32Data), text(tensorName, t.Name), floats(tensorRaw, t.F32))
}

func (v *Value) message() message {
	var shape message
	for _, n := range v.Shape {
		dim := number(dimValue, n)
		if n < 0 {
			dim = text(dimParam, v.Free)
		}
		shape = append(shape, nested(shapeDim, message{dim}))
	}
	of := message{number(tensorTypeElem, float32Data), nested(tensorTypeShape, shape)}
	return message{text(valueName, v.Name), nested(valueType, message{nested(typeTensor, of)})}
}
