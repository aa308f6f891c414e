// Package safetensors reads and writes the safetensors file format,
// https://huggingface.co/docs/safetensors: eight bytes that hold the length of a
// header (little-endian), the header, a JSON object that gives each tensor's
// type, shape and place, and the values, little-endian, without gaps.
//
// What WriteFile writes says in its metadata, under DigestKey, the SHA-256 of its
// contents, and Read checks it wherever it stands. Files of other programs have none.
//
// Float32 and int64 tensors are supported. Everything that a file says is
// checked before it is used: a damaged, truncated or foreign file gives an error
// of one line that names the tensor, never a panic, and no more memory is
// asked for than a small multiple of the file's size.
package safetensors

import (
	"fmt"
	"math"
	"math/bits"
)

// maxHeader is the format's bound on the length of a header in bytes.
const maxHeader = 100_000_000

// metadataKey is the key of the header that is not a tensor.
const metadataKey = "__metadata__"

// DigestKey is the metadata key of a file's digest: the SHA-256, in hexadecimal, of
// the bytes that Write writes of its tensors, in the order of their names, and of its
// other metadata. So it does not depend on how another program lays a file out.
const DigestKey = "noether.sha256"

// Tensor is a named array, row-major, of float32 or of int64 values: exactly one
// of F32 and I64 is not nil, and holds as many values as the shape says. The
// shape of a scalar is empty.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	I64   []int64
}

// dtype returns the format's name of the type and the bytes of one value.
func (t *Tensor) dtype() (string, int) {
	if t.I64 != nil {
		return "I64", 8
	}
	return "F32", 4
}

// check returns an error unless t is a tensor that can be written.
func (t *Tensor) check() error {
	if (t.F32 == nil) == (t.I64 == nil) {
		return fmt.Errorf("tensor %q has neither or both of float32 and int64 values", t.Name)
	}
	n, ok := count(t.Shape)
	if have := len(t.F32) + len(t.I64); !ok || n != have {
		return fmt.Errorf("tensor %q has shape %v but %d values", t.Name, t.Shape, have)
	}
	return nil
}

// count returns the number of values of a shape; not ok for a negative dimension
// or where the number, or its size in bytes, exceeds an int.
func count(shape []int) (n int, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		if d == 0 {
			n = 0
		}
	}
	for _, d := range shape {
		hi, lo := bits.Mul64(uint64(n), uint64(d))
		if hi != 0 || lo > math.MaxInt/8 {
			return 0, false
		}
		n = int(lo)
	}
	return n, true
}

// File is the contents of a file.
type File struct {
	Metadata map[string]string // without the digest
	Tensors  []Tensor          // in the order of their values in the file
}

// Lookup returns the tensor of that name, or nil.
func (f *File) Lookup(name string) *Tensor {
	for i := range f.Tensors {
		if f.Tensors[i].Name == name {
			return &f.Tensors[i]
		}
	}
	return nil
}
