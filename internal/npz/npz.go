// Package npz reads NumPy's array files: .npy, and .npz, a zip of them. It takes
// what the tests' reference numbers use: float32, float64, int32, int64 and
// bool, little-endian, in C order. Files come from outside, so sizes are bounded
// and nothing in a file makes it panic.
package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits on what a file may hold.
const (
	maxFile   = 16 << 20 // bytes of the file
	maxArray  = 16 << 20 // bytes of one decompressed array
	maxArrays = 1 << 16  // arrays in a file
	maxHeader = 1 << 16  // bytes of an array's header
	maxDims   = 32       // dimensions of an array, as in NumPy
)

// Archive is a file of named arrays. It is safe for concurrent use. The zero
// Archive is empty.
type Archive struct {
	path    string
	entries map[string]entry
}

// entry is one array, not yet decoded: a member of a zip file, or bytes.
type entry struct {
	member *zip.File
	bytes  []byte
}

// Open reads the file at path. A .npy file is an Archive of one array, named
// like the file without its extension.
func Open(path string) (Archive, error) {
	f, err := os.Open(path)
	if err != nil {
		return Archive{}, fmt.Errorf("npz: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Archive{}, fmt.Errorf("npz: %w", err)
	}
	return Read(path, data)
}

// Read is Open for a file's contents. The data must not change afterwards.
func Read(path string, data []byte) (Archive, error) {
	if len(data) > maxFile {
		return Archive{}, fmt.Errorf("npz: %s: larger than %d bytes", path, maxFile)
	}
	a := Archive{path: path, entries: map[string]entry{}}
	if bytes.HasPrefix(data, magic) {
		a.entries[strings.TrimSuffix(filepath.Base(path), ".npy")] = entry{bytes: data}
		return a, nil
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return Archive{}, fmt.Errorf("npz: %s: neither .npy nor .npz: %w", path, err)
	}
	if len(z.File) > maxArrays {
		return Archive{}, fmt.Errorf("npz: %s: %d arrays, more than %d", path, len(z.File), maxArrays)
	}
	for _, f := range z.File {
		a.entries[strings.TrimSuffix(f.Name, ".npy")] = entry{member: f}
	}
	return a, nil
}

// Names returns the names of the arrays, sorted.
func (a Archive) Names() []string {
	names := make([]string, 0, len(a.entries))
	for name := range a.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Has reports whether there is an array of that name.
func (a Archive) Has(name string) bool {
	_, ok := a.entries[name]
	return ok
}

// Float64 returns the values of an array, in C order, and its shape, which is
// empty for a scalar. Integers beyond 2^53 are an error; bools are 0 and 1.
func (a Archive) Float64(name string) ([]float64, []int, error) {
	return load[float64](a, name)
}

// Float32 is Float64 with values rounded to float32. Integers beyond 2^24 are
// an error.
func (a Archive) Float32(name string) ([]float32, []int, error) {
	return load[float32](a, name)
}

func load[T float32 | float64](a Archive, name string) ([]T, []int, error) {
	d, shape, raw, err := a.array(name)
	if err != nil {
		return nil, nil, fmt.Errorf("npz: %s: %s: %w", a.path, name, err)
	}
	values := make([]T, len(raw)/d.size())
	if err := decode(values, d, raw); err != nil {
		return nil, nil, fmt.Errorf("npz: %s: %s: %w", a.path, name, err)
	}
	return values, shape, nil
}

// array returns the type, the shape and the bytes of an array's values.
func (a Archive) array(name string) (dtype, []int, []byte, error) {
	e, ok := a.entries[name]
	if !ok {
		return 0, nil, nil, fmt.Errorf("no such array")
	}
	data := e.bytes
	if e.member != nil {
		r, err := e.member.Open()
		if err != nil {
			return 0, nil, nil, err
		}
		defer r.Close()
		// Read as far as the stream really goes rather than trust its stated size.
		if data, err = io.ReadAll(io.LimitReader(r, maxArray+1)); err != nil {
			return 0, nil, nil, err
		}
		if len(data) > maxArray {
			return 0, nil, nil, fmt.Errorf("larger than %d bytes", maxArray)
		}
	}
	d, shape, raw, err := parse(data)
	if err != nil {
		return 0, nil, nil, err
	}
	want := d.size()
	for _, n := range shape {
		if n > 0 && want > maxArray/n {
			return 0, nil, nil, fmt.Errorf("shape %v is larger than %d bytes", shape, maxArray)
		}
		want *= n
	}
	if len(raw) != want {
		return 0, nil, nil, fmt.Errorf("shape %v needs %d bytes of values, the file has %d", shape, want, len(raw))
	}
	return d, shape, raw, nil
}

// dtype is the type of an array's values.
type dtype uint8

const (
	float32Type dtype = iota
	float64Type
	int32Type
	int64Type
	boolType
)

var dtypes = map[string]dtype{
	"<f4": float32Type, "<f8": float64Type, "<i4": int32Type, "<i8": int64Type, "|b1": boolType,
}

func (d dtype) size() int { return [...]int{4, 8, 4, 8, 1}[d] }

// decode converts the values in raw to dst.
func decode[T float32 | float64](dst []T, d dtype, raw []byte) error {
	exact := int64(1) << 53
	if _, ok := any(T(0)).(float32); ok {
		exact = 1 << 24
	}
	for i := range dst {
		at := raw[i*d.size():]
		switch d {
		case float32Type:
			dst[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(at)))
		case float64Type:
			dst[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(at)))
		case boolType:
			dst[i] = T(at[0] & 1)
		default:
			v := int64(int32(binary.LittleEndian.Uint32(at)))
			if d == int64Type {
				v = int64(binary.LittleEndian.Uint64(at))
			}
			if v < -exact || v > exact {
				return fmt.Errorf("value %d (%d) is not exact in floating point", i, v)
			}
			dst[i] = T(v)
		}
	}
	return nil
}

var magic = []byte("\x93NUMPY")

// parse splits a .npy file (NEP 1) into its type, shape and values.
func parse(data []byte) (dtype, []int, []byte, error) {
	if !bytes.HasPrefix(data, magic) || len(data) < 10 {
		return 0, nil, nil, fmt.Errorf("not a .npy array: no magic number")
	}
	size, start := int(binary.LittleEndian.Uint16(data[8:])), 10
	switch major := data[6]; major {
	case 1:
	case 2, 3:
		if len(data) < 12 {
			return 0, nil, nil, fmt.Errorf("header cut short")
		}
		size, start = int(int32(binary.LittleEndian.Uint32(data[8:]))), 12
	default:
		return 0, nil, nil, fmt.Errorf(".npy version %d; known are 1 to 3", major)
	}
	if size < 0 || size > maxHeader || size > len(data)-start {
		return 0, nil, nil, fmt.Errorf("header of %d bytes in an array of %d", size, len(data))
	}
	d, shape, err := header(string(data[start : start+size]))
	return d, shape, data[start+size:], err
}

// header reads the Python dictionary at the head of a .npy file, such as
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
func header(s string) (d dtype, shape []int, err error) {
	inner, open := strings.CutPrefix(strings.TrimSpace(s), "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !open || !closed {
		return 0, nil, fmt.Errorf("header %q is not a dictionary", s)
	}
	seen := map[string]bool{}
	for inner = strings.TrimSpace(inner); inner != ""; {
		var key, value string
		var ok bool
		if key, inner, ok = strings.Cut(inner, ":"); !ok {
			return 0, nil, fmt.Errorf("header %q: a key has no value", s)
		}
		inner = strings.TrimSpace(inner)
		if strings.HasPrefix(inner, "(") { // a tuple: its commas do not end it
			if value, inner, ok = strings.Cut(inner[1:], ")"); !ok {
				return 0, nil, fmt.Errorf("header %q: the shape has no end", s)
			}
			_, inner, _ = strings.Cut(inner, ",")
		} else {
			value, inner, _ = strings.Cut(inner, ",")
		}
		key, inner = strings.TrimSpace(key), strings.TrimSpace(inner)
		if seen[key] {
			return 0, nil, fmt.Errorf("header %q: key %s twice", s, key)
		}
		seen[key] = true
		switch value = strings.TrimSpace(value); key {
		case "'descr'":
			if d, ok = dtypes[strings.Trim(value, "'")]; !ok {
				return 0, nil, fmt.Errorf("values of type %s; known are <f4, <f8, <i4, <i8 and |b1", value)
			}
		case "'fortran_order'":
			if value != "False" {
				return 0, nil, fmt.Errorf("fortran_order is %s; only C order is known", value)
			}
		case "'shape'":
			if shape, err = dims(value); err != nil {
				return 0, nil, err
			}
		default:
			return 0, nil, fmt.Errorf("header %q: unknown key %s", s, key)
		}
	}
	if len(seen) != 3 {
		return 0, nil, fmt.Errorf("header %q: descr, fortran_order and shape are needed", s)
	}
	return d, shape, nil
}

// dims reads the inside of a tuple of sizes.
func dims(s string) ([]int, error) {
	shape := []int{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var one string
		one, s, _ = strings.Cut(s, ",")
		n, err := strconv.Atoi(strings.TrimSpace(one))
		if err != nil || n < 0 || n > maxArray {
			return nil, fmt.Errorf("size %q in the shape", one)
		}
		if shape = append(shape, n); len(shape) > maxDims {
			return nil, fmt.Errorf("more than %d dimensions", maxDims)
		}
	}
	return shape, nil
}
