package onnx

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/onnx/onnxtest"
)

// The numbers of protocol buffers' documentation: 150 as field 1 is 08 96 01,
// "testing" as field 2 is 12 07 and the letters.
func TestWire(t *testing.T) {
	m := message{
		number(1, 150), text(2, "testing"), nested(3, message{number(1, 150)}), number(4, -1),
		float(5, 1), floats(6, []float32{1, -2}), integers(7, []int64{-2}), number(20, 0),
	}
	want := "\x08\x96\x01" + "\x12\x07testing" + "\x1a\x03\x08\x96\x01" + "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" +
		"\x2d\x00\x00\x80\x3f" + "\x32\x08\x00\x00\x80\x3f\x00\x00\x00\xc0" + "\x3a\x08\xfe\xff\xff\xff\xff\xff\xff\xff" + "\xa0\x01\x00"
	var got bytes.Buffer
	if err := m.write(&got); err != nil || got.String() != want {
		t.Errorf("%q, %v\nwant %q", got.String(), err, want)
	}
	if m.size() != len(want) {
		t.Errorf("size %d, want %d", m.size(), len(want))
	}
	for v, want := range map[uint64]int{0: 1, 127: 1, 128: 2, 1<<14 - 1: 2, 1 << 14: 3, 1<<63 - 1: 9, 1 << 63: 10} {
		if got := varintSize(v); got != want {
			t.Errorf("%d takes %d bytes, want %d", v, got, want)
		}
	}
}

// small is a network with a node of each kind, for images of one channel and 5 x 5
// pixels.
func small() *Model {
	return &Model{
		Producer: "test", Metadata: map[string]string{"b": "2", "a": "1"},
		Graph: Graph{
			Name:   "g",
			Inputs: []Value{{Name: "x", Shape: []int{-1, 1, 5, 5}, Free: "n"}}, Outputs: []Value{{Name: "y", Shape: []int{-1, 2}, Free: "n"}},
			Weights: []Tensor{
				{Name: "w", Shape: []int{2, 1, 3, 3}, F32: append(slices.Repeat([]float32{1}, 9), 0, 0, 0, 0, -1, 0, 0, 0, 0)},
				{Name: "b", Shape: []int{2}, F32: []float32{0, 30}},
				{Name: "mean", Shape: []int{2}, F32: []float32{9, 0}}, {Name: "var", Shape: []int{2}, F32: []float32{3, 0}},
				{Name: "scale", Shape: []int{2}, F32: []float32{2, 1}}, {Name: "shift", Shape: []int{2}, F32: []float32{0, -10}},
				{Name: "flat", Shape: []int{3}, I64: []int64{0, 2, -1}}, {Name: "two", Shape: []int{2}, I64: []int64{0, 2}},
				{Name: "fc", Shape: []int{2, 2}, F32: []float32{1, 0, 1, 1}}, {Name: "fcb", Shape: []int{2}, F32: []float32{0.5, 0}},
			},
			Nodes: []Node{
				{Op: "Conv", Name: "conv", Inputs: []string{"x", "w", "b"}, Outputs: []string{"c"},
					Attributes: []Attribute{{"kernel_shape", []int{3, 3}}, {"pads", []int{1, 1, 1, 1}}}},
				{Op: "BatchNormalization", Name: "bn", Inputs: []string{"c", "scale", "shift", "mean", "var"}, Outputs: []string{"n"},
					Attributes: []Attribute{{"epsilon", float32(1)}}},
				{Op: "MaxPool", Name: "pool", Inputs: []string{"n"}, Outputs: []string{"p"},
					Attributes: []Attribute{{"kernel_shape", []int{2, 2}}, {"strides", []int{2, 2}}}},
				{Op: "Relu", Name: "relu", Inputs: []string{"p"}, Outputs: []string{"r"}},
				{Op: "Reshape", Name: "f", Inputs: []string{"r", "flat"}, Outputs: []string{"f"}},
				{Op: "GlobalAveragePool", Name: "g", Inputs: []string{"f"}, Outputs: []string{"g"}},
				{Op: "Reshape", Name: "h", Inputs: []string{"g", "two"}, Outputs: []string{"h"}},
				{Op: "Gemm", Name: "fc", Inputs: []string{"h", "fc", "fcb"}, Outputs: []string{"y"}, Attributes: []Attribute{{"transB", 1}}},
			},
		},
	}
}

// ramp is the image with the pixels 0, 1, ..., 24.
func ramp() []float32 {
	x := make([]float32, 25)
	for i := range x {
		x[i] = float32(i)
	}
	return x
}

func encode(t *testing.T, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A graph is read back as it was written, and computes what it says.
func TestSmall(t *testing.T) {
	m, err := onnxtest.Read(encode(t, small()))
	if err != nil {
		t.Fatal(err)
	}
	if m.Producer != "test" || m.Name != "g" || m.Opset != Opset || m.Metadata["a"] != "1" || m.Metadata["b"] != "2" {
		t.Errorf("%+v", m)
	}
	// Channel 0: the largest sums of 3 x 3 pixels in the four windows are those around
	// the pixels 6, 8, 16 and 18: 54, 72, 144 and 162. (s - 9)/2*2 of them has mean 99.
	// Channel 1: 30 - pixel - 10 is largest at the pixels 0, 2, 10 and 12, with mean 14.
	y, shape, err := m.Run(append(ramp(), ramp()...), 2, 1, 5, 5)
	if want := []float64{99.5, 113, 99.5, 113}; err != nil || !slices.Equal(y, want) || !slices.Equal(shape, []int{2, 2}) {
		t.Errorf("%v of shape %v, %v; want %v", y, shape, err, want)
	}
}

// The reader of the tests notices what other readers would.
func TestReaderNotices(t *testing.T) {
	for name, damage := range map[string]func(m *Model){
		"shape of a weight":         func(m *Model) { m.Graph.Weights[0].Shape = []int{1, 2, 3, 3} },
		"too few values":            func(m *Model) { m.Graph.Weights[1].F32 = m.Graph.Weights[1].F32[:1] },
		"two of a name":             func(m *Model) { m.Graph.Weights[1].Name = "w" },
		"a weight nobody takes":     func(m *Model) { m.Graph.Weights = append(m.Graph.Weights, Tensor{Name: "z", F32: []float32{1}}) },
		"a name nobody makes":       func(m *Model) { m.Graph.Nodes[3].Inputs[0] = "q" },
		"the order of nodes":        func(m *Model) { slices.Reverse(m.Graph.Nodes) },
		"an unknown operation":      func(m *Model) { m.Graph.Nodes[3].Op = "Selu" },
		"an attribute of nothing":   func(m *Model) { m.Graph.Nodes[3].Attributes = []Attribute{{"axis", 1}} },
		"a missing input":           func(m *Model) { m.Graph.Nodes[0].Inputs = m.Graph.Nodes[0].Inputs[:2] },
		"a kernel of another shape": func(m *Model) { m.Graph.Nodes[0].Attributes[0].Value = []int{5, 5} },
		"an output of another name": func(m *Model) { m.Graph.Outputs[0].Name = "z" },
		"an output of other classes": func(m *Model) {
			m.Graph.Outputs[0].Shape[1] = 3
		},
		"an input of another shape": func(m *Model) { m.Graph.Inputs[0].Shape[2] = 6 },
		"a shape that does not fit": func(m *Model) { m.Graph.Weights[6].I64[1] = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			broken := small()
			damage(broken)
			m, err := onnxtest.Read(encode(t, broken))
			if err == nil {
				_, _, err = m.Run(ramp(), 1, 1, 5, 5)
			}
			if err == nil {
				t.Error("accepted")
			}
		})
	}
	file := encode(t, small())
	for n := range len(file) - 16 { // the metadata, which nothing needs, come last
		if m, err := onnxtest.Read(file[:n]); err == nil {
			if _, _, err := m.Run(ramp(), 1, 1, 5, 5); err == nil {
				t.Fatalf("accepted without its last %d bytes", len(file)-n)
			}
		}
	}
}

// full is a writer on a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A failing writer is reported, of a model that fits the buffer too.
func TestWriteFull(t *testing.T) {
	if err := small().Write(full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error is %v", err)
	}
}

// A file that protocol buffers cannot hold is refused, and nothing is written. The
// weights share their values, so that the test needs no memory.
func TestTooLarge(t *testing.T) {
	m := small()
	values := make([]float32, 1<<22)
	for range 128 {
		m.Graph.Weights = append(m.Graph.Weights, Tensor{Name: "z", Shape: []int{len(values)}, F32: values})
	}
	path := filepath.Join(t.TempDir(), "large.onnx")
	if err := m.WriteFile(path); err == nil || !strings.Contains(err.Error(), "the format holds 2147483647") {
		t.Errorf("%v", err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}
