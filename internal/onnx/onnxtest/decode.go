// Package onnxtest reads ONNX files and runs them, one value after the other and
// in float64, so that tests can compare them with what they were made from. It
// shares no code with package onnx, and refuses what it does not know.
package onnxtest

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Model is a file as it was read.
type Model struct {
	Producer      string
	Name          string // of the graph
	Opset         int
	Metadata      map[string]string
	Nodes         []Node
	Weights       map[string]Tensor
	Input, Output Value
}

// Node is one operation.
type Node struct {
	Op, Name        string
	Inputs, Outputs []string
	Attributes      map[string]any // int, []int or float32
}

// Tensor is an array of float32 or of int64.
type Tensor struct {
	Shape []int
	F     []float64
	I     []int64
}

// Value is an input or output of the graph; a dimension is an int or a name.
type Value struct {
	Name  string
	Shape []any
}

// field is one field of a message of protocol buffers: a number or bytes.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

// fields cuts a message into its fields.
func fields(b []byte) (list []field, err error) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, fmt.Errorf("a tag is damaged")
		}
		b = b[n:]
		f := field{number: int(tag >> 3)}
		switch tag & 7 {
		case 0:
			if f.value, n = binary.Uvarint(b); n <= 0 {
				return nil, fmt.Errorf("field %d: its number is damaged", f.number)
			}
		case 2:
			length, k := binary.Uvarint(b)
			if k <= 0 || length > uint64(len(b)-k) {
				return nil, fmt.Errorf("field %d: %d bytes are said to follow, %d do", f.number, length, len(b)-k)
			}
			f.bytes = b[k : k+int(length)]
			n = k + int(length)
		case 5:
			if len(b) < 4 {
				return nil, fmt.Errorf("field %d: it ends too early", f.number)
			}
			f.value, n = uint64(binary.LittleEndian.Uint32(b)), 4
		default:
			return nil, fmt.Errorf("field %d has wire type %d", f.number, tag&7)
		}
		b = b[n:]
		list = append(list, f)
	}
	return list, nil
}

// each calls the function of every field of a message; one without is an error.
func each(what string, b []byte, do map[int]func(f field) error) error {
	list, err := fields(b)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	for _, f := range list {
		known, ok := do[f.number]
		if !ok {
			return fmt.Errorf("%s has an unknown field %d", what, f.number)
		}
		if err := known(f); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

func to(s *string) func(field) error {
	return func(f field) error { *s = string(f.bytes); return nil }
}

func toInt(v *int) func(field) error {
	return func(f field) error { *v = int(int64(f.value)); return nil }
}

func add(list *[]string) func(field) error {
	return func(f field) error { *list = append(*list, string(f.bytes)); return nil }
}

// Read reads a file.
func Read(b []byte) (*Model, error) {
	m := &Model{Metadata: map[string]string{}, Weights: map[string]Tensor{}}
	var ir int
	var inputs, outputs []Value
	err := each("the model", b, map[int]func(field) error{
		1: toInt(&ir), 2: to(&m.Producer),
		7: func(f field) error {
			return each("the graph", f.bytes, map[int]func(field) error{
				1: m.node, 2: to(&m.Name), 5: m.weight,
				11: func(f field) error { return readValue(f, &inputs) },
				12: func(f field) error { return readValue(f, &outputs) },
			})
		},
		8: func(f field) error {
			return each("the operator set", f.bytes, map[int]func(field) error{2: toInt(&m.Opset)})
		},
		14: func(f field) error {
			var key, value string
			err := each("metadata", f.bytes, map[int]func(field) error{1: to(&key), 2: to(&value)})
			m.Metadata[key] = value
			return err
		},
	})
	switch {
	case err != nil:
		return nil, err
	case ir < 3 || ir > 10:
		return nil, fmt.Errorf("IR version %d", ir)
	case len(inputs) != 1 || len(outputs) != 1:
		return nil, fmt.Errorf("%d inputs and %d outputs", len(inputs), len(outputs))
	}
	m.Input, m.Output = inputs[0], outputs[0]
	return m, nil
}

func (m *Model) node(f field) error {
	n := Node{Attributes: map[string]any{}}
	err := each("a node", f.bytes, map[int]func(field) error{
		1: add(&n.Inputs), 2: add(&n.Outputs), 3: to(&n.Name), 4: to(&n.Op),
		5: func(f field) error {
			var name string
			var kind, i int
			var x float32
			var ints []int
			err := each("an attribute", f.bytes, map[int]func(field) error{
				1: to(&name), 3: toInt(&i), 20: toInt(&kind),
				2: func(f field) error { x = math.Float32frombits(uint32(f.value)); return nil },
				8: func(f field) error { ints = append(ints, int(int64(f.value))); return nil },
			})
			v, ok := map[int]any{1: x, 2: i, 7: ints}[kind]
			if !ok && err == nil {
				return fmt.Errorf("attribute %s has type %d", name, kind)
			}
			n.Attributes[name] = v
			return err
		},
	})
	m.Nodes = append(m.Nodes, n)
	return err
}

func (m *Model) weight(f field) error {
	var name string
	var t Tensor
	var kind int
	var raw []byte
	err := each("a weight", f.bytes, map[int]func(field) error{
		1: func(f field) error { t.Shape = append(t.Shape, int(f.value)); return nil },
		2: toInt(&kind), 8: to(&name),
		9: func(f field) error { raw = f.bytes; return nil },
	})
	if err != nil {
		return err
	}
	size := map[int]int{1: 4, 7: 8}[kind]
	if size == 0 || len(raw) != size*count(t.Shape) {
		return fmt.Errorf("%s: %d bytes for shape %v of type %d", name, len(raw), t.Shape, kind)
	}
	for ; len(raw) > 0; raw = raw[size:] {
		if size == 4 {
			t.F = append(t.F, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		} else {
			t.I = append(t.I, int64(binary.LittleEndian.Uint64(raw)))
		}
	}
	if _, twice := m.Weights[name]; twice {
		return fmt.Errorf("two are called %s", name)
	}
	m.Weights[name] = t
	return nil
}

func readValue(f field, list *[]Value) error {
	var v Value
	elem := 0
	dim := func(f field) error {
		d := any(nil)
		err := each("a dimension", f.bytes, map[int]func(field) error{
			1: func(f field) error { d = int(f.value); return nil },
			2: func(f field) error { d = string(f.bytes); return nil },
		})
		v.Shape = append(v.Shape, d)
		return err
	}
	err := each("a value", f.bytes, map[int]func(field) error{
		1: to(&v.Name),
		2: func(f field) error {
			return each("a type", f.bytes, map[int]func(field) error{1: func(f field) error {
				return each("a tensor type", f.bytes, map[int]func(field) error{
					1: toInt(&elem),
					2: func(f field) error { return each("a shape", f.bytes, map[int]func(field) error{1: dim}) },
				})
			}})
		},
	})
	if err == nil && elem != 1 {
		err = fmt.Errorf("%s is of type %d", v.Name, elem)
	}
	*list = append(*list, v)
	return err
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
