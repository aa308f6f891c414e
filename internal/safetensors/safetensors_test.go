package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sample holds every kind of tensor: matrix, scalars of both types, empty, and
// the float32 values that comparisons get wrong.
func sample() ([]Tensor, map[string]string) {
	inf := float32(math.Inf(1))
	return []Tensor{
		{Name: "lift_conv.bias", Shape: []int{3}, F32: []float32{1.5, -2, 3e-45}},
		{Name: "norm.module.num_batches_tracked", Shape: []int{}, I64: []int64{math.MinInt64}},
		{Name: "blocks.0.gconv1.weight", Shape: []int{2, 1, 2}, F32: []float32{inf, -inf, float32(math.Copysign(0, -1)), 0x1p-149}},
		{Name: "empty", Shape: []int{4, 0, 7}, F32: []float32{}},
		{Name: `quote " and ü`, Shape: []int{}, F32: []float32{7}},
		{Name: "step", Shape: []int{2}, I64: []int64{1 << 40, -1}},
	}, map[string]string{"format": "pt", "config": "a = \"b\"\nc = 1\n"}
}

func encode(t *testing.T, tensors []Tensor, metadata map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// file puts a header in front of data, padded as it is.
func file(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func decode(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

func TestRoundTrip(t *testing.T) {
	tensors, metadata := sample()
	f, err := decode(encode(t, tensors, metadata))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f.Metadata, metadata) {
		t.Errorf("metadata %q", f.Metadata)
	}
	if len(f.Tensors) != len(tensors) {
		t.Fatalf("%d tensors", len(f.Tensors))
	}
	for i := range tensors {
		want := &tensors[i]
		if got := f.Lookup(want.Name); got == nil || !reflect.DeepEqual(*got, *want) {
			t.Errorf("%s: %v, want %v", want.Name, got, *want)
		}
	}
	if f.Lookup("missing") != nil {
		t.Error("found a tensor that is not there")
	}
}

// TestAnyOrder: a header may name tensors in another order than their data have, empty ones among them.
func TestAnyOrder(t *testing.T) {
	f, err := decode(file(`{"c":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"empty":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},`+
		`"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 0, 0, 128, 63, 0, 0, 0, 64))
	if err != nil {
		t.Fatal(err)
	}
	if a, c := f.Lookup("a"), f.Lookup("c"); a.F32[0] != 1 || c.F32[0] != 2 || len(f.Lookup("empty").F32) != 0 {
		t.Errorf("a is %v, c is %v", a.F32, c.F32)
	}
}

// TestNaN: payloads survive bit for bit.
func TestNaN(t *testing.T) {
	nan := math.Float32frombits(0x7fa00001)
	f, err := decode(encode(t, []Tensor{{Name: "x", F32: []float32{nan}}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := math.Float32bits(f.Tensors[0].F32[0]); got != 0x7fa00001 {
		t.Errorf("%#x", got)
	}
}

// TestBytes pins the format: written by hand from its specification.
func TestBytes(t *testing.T) {
	got := encode(t, []Tensor{
		{Name: "b", Shape: []int{2}, F32: []float32{1, -2}},
		{Name: "n", I64: []int64{258}},
	}, map[string]string{"k": "v"})
	header := `{"__metadata__":{"k":"v"},"n":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}`
	header += strings.Repeat(" ", (8-len(header)%8)%8)
	want := file(header, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0)
	if !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestChunks: lengths around the 64 KiB that are written and read at once.
func TestChunks(t *testing.T) {
	for _, n := range []int{1<<14 - 1, 1 << 14, 1<<14 + 1, 3<<14 + 5} {
		want := Tensor{Name: "x", Shape: []int{n}, F32: make([]float32, n)}
		count := Tensor{Name: "y", Shape: []int{n}, I64: make([]int64, n)}
		for i := range n {
			want.F32[i], count.I64[i] = float32(i), int64(-i)
		}
		f, err := decode(encode(t, []Tensor{want, count}, nil))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*f.Lookup("x"), want) || !reflect.DeepEqual(*f.Lookup("y"), count) {
			t.Errorf("n=%d: values differ", n)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	one := []float32{1}
	for _, tc := range []struct {
		tensors  []Tensor
		metadata map[string]string
		want     string
	}{
		{[]Tensor{{Name: "a", F32: one}, {Name: "a", F32: one}}, nil, `two tensors are named "a"`},
		{[]Tensor{{Name: "__metadata__", F32: one}}, nil, `"__metadata__" cannot be the name`},
		{[]Tensor{{Name: "\xff", F32: one}}, nil, `cannot be the name`},
		{[]Tensor{{Name: "a"}}, nil, `tensor "a" has neither or both`},
		{[]Tensor{{Name: "a", F32: one, I64: []int64{1}}}, nil, `tensor "a" has neither or both`},
		{[]Tensor{{Name: "a", Shape: []int{2}, F32: one}}, nil, `shape [2] but 1 values`},
		{[]Tensor{{Name: "a", Shape: []int{-1, -1}, F32: one}}, nil, `shape [-1 -1] but 1 values`},
		{[]Tensor{{Name: "a", Shape: []int{0, -1}, F32: []float32{}}}, nil, `shape [0 -1] but 0 values`},
		{[]Tensor{{Name: "a", Shape: []int{1 << (bits.UintSize / 2), 1 << (bits.UintSize / 2)}, F32: []float32{}}}, nil, `but 0 values`},
		{nil, map[string]string{"k": "\xff"}, `metadata "k" is not valid UTF-8`},
		{nil, map[string]string{"\xff": "v"}, `metadata "\xff" is not valid UTF-8`},
	} {
		var b bytes.Buffer
		err := Write(&b, tc.tensors, tc.metadata)
		if err == nil || !strings.Contains(err.Error(), tc.want) || b.Len() != 0 {
			t.Errorf("%v: error %v after %d bytes, want %q", tc.tensors, err, b.Len(), tc.want)
		}
	}
}

// limited is a writer on a disk that fills up, and has room again for what comes after.
type limited struct {
	left   int
	failed bool
}

var errFull = errors.New("no space left on device")

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.left && !l.failed {
		l.failed = true
		return l.left, errFull
	}
	l.left -= len(b)
	return len(b), nil
}

// TestWriteFull: a failing writer is reported wherever it fails.
func TestWriteFull(t *testing.T) {
	const n = 1 << 14 // values of a tensor: 64 or 128 KiB, behind a header of a few bytes
	tensors := []Tensor{
		{Name: "x", Shape: []int{n}, F32: make([]float32, n)},
		{Name: "n", Shape: []int{n}, I64: make([]int64, n)},
	}
	size := len(encode(t, tensors, nil))
	for _, left := range []int{0, 7, 8, 20, 200, 1 << 16, 1<<17 - 1, 1<<17 + 200, size - 1} {
		if err := Write(&limited{left: left}, tensors, nil); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
	if err := Write(&limited{left: size}, tensors, nil); err != nil {
		t.Error(err)
	}
}

func TestReadRefuses(t *testing.T) {
	entry := func(body string) string { return `{"w":{` + body + `}}` }
	whole := `"dtype":"F32","shape":[1],"data_offsets":[0,4]`
	data := []byte{0, 0, 128, 63}
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":              {nil, "truncated"},
		"7 bytes":              {make([]byte, 7), "truncated"},
		"no header":            {make([]byte, 8), "does not begin with {"},
		"a PNG":                {[]byte("\x89PNG\r\n\x1a\n0123456789"), "not a safetensors file"},
		"a pickle":             {append([]byte("PK\x03\x04\x00\x00\x00\x00"), make([]byte, 90)...), "truncated: the header is 67324752 bytes long, the file only 98"},
		"length overflows":     {binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "not a safetensors file"},
		"length too large":     {binary.LittleEndian.AppendUint64(nil, maxHeader+1), "not a safetensors file"},
		"header cut":           {file(entry(whole), data...)[:30], "truncated: the header is 54 bytes long, the file only 30"},
		"not UTF-8":            {file("{\"\xff\":{" + whole + "}}"), "UTF-8"},
		"not JSON":             {file(`{"w":{"dtype":`), `its "dtype" is not valid JSON: it ends too early`},
		"cut before a key":     {file(entry(whole)[:len(whole)+6] + `,`), `a key of tensor "w" is not valid JSON: it ends too early`},
		"key not a string":     {file(`{1:{}}`), "a key of the header is not valid JSON: invalid character"},
		"shape not JSON":       {file(entry(`"shape":!`)), `its "shape" is not valid JSON: invalid character`},
		"integer not JSON":     {file(entry(`"shape":[!`)), `its "shape" is not valid JSON: invalid character`},
		"array":                {file(`["w"]`), "does not begin with {"},
		"space first":          {file(` {}`), "does not begin with {"},
		"two objects":          {file(`{}{}`), "goes on"},
		"garbage after":        {file(`{} x`), "goes on"},
		"tensor is a number":   {file(`{"w":1}`), `tensor "w" is not a JSON object`},
		"unknown key":          {file(entry(whole + `,"strides":[1]`)), `tensor "w": unknown key "strides"`},
		"key twice":            {file(entry(whole + `,"dtype":"F32"`)), `tensor "w": its "dtype" is given twice`},
		"dtype missing":        {file(entry(`"shape":[1],"data_offsets":[0,4]`)), `tensor "w": its "dtype" is missing`},
		"shape missing":        {file(entry(`"dtype":"F32","data_offsets":[0,4]`)), `"shape" is missing`},
		"offsets missing":      {file(entry(`"dtype":"F32","shape":[1]`)), `"data_offsets" is missing`},
		"dtype a number":       {file(entry(`"dtype":1,"shape":[1],"data_offsets":[0,4]`)), `its "dtype" is not a JSON string`},
		"unknown dtype":        {file(entry(`"dtype":"BF16","shape":[2],"data_offsets":[0,4]`), data...), `tensor "w": its type is "BF16", supported are F32 and I64`},
		"shape a number":       {file(entry(`"dtype":"F32","shape":1,"data_offsets":[0,4]`)), `its "shape" is not a JSON array`},
		"shape negative":       {file(entry(`"dtype":"F32","shape":[-1],"data_offsets":[0,4]`)), "not an integer"},
		"shape fractional":     {file(entry(`"dtype":"F32","shape":[1.0],"data_offsets":[0,4]`)), "not an integer"},
		"shape null":           {file(entry(`"dtype":"F32","shape":[null],"data_offsets":[0,4]`)), "not an integer"},
		"shape nested":         {file(entry(`"dtype":"F32","shape":[[1]],"data_offsets":[0,4]`)), "not an integer"},
		"shape too large":      {file(entry(`"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]`), data...), "too large"},
		"bytes wrap to 0":      {file(entry(`"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]`)), "too large"},
		"shape wraps to 1":     {file(entry(`"dtype":"F32","shape":[4294967296,4294967296,0,1],"data_offsets":[0,4]`), data...), "takes 0 bytes, its data 4"},
		"shape does not match": {file(entry(`"dtype":"F32","shape":[2],"data_offsets":[0,4]`), data...), `tensor "w": its shape [2] takes 8 bytes, its data 4`},
		"scalar I64 of 4":      {file(entry(`"dtype":"I64","shape":[],"data_offsets":[0,4]`), data...), "takes 8 bytes, its data 4"},
		"one offset":           {file(entry(`"dtype":"F32","shape":[1],"data_offsets":[0]`)), "has 1 entries"},
		"offsets reversed":     {file(entry(`"dtype":"F32","shape":[1],"data_offsets":[4,0]`), data...), "its data are bytes 4 to 0"},
		"offset overflows":     {file(entry(`"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551616]`)), "not an integer"},
		"data cut":             {file(entry(whole), 0, 0, 128), `tensor "w": its data are bytes 0 to 4 of 3`},
		"data too long":        {file(entry(whole), 0, 0, 128, 63, 0), "1 bytes at the end belong to no tensor"},
		"data without tensor":  {file(`{}`, 1), "1 bytes at the end"},
		"gap":                  {file(entry(`"dtype":"F32","shape":[1],"data_offsets":[4,8]`), make([]byte, 8)...), "4 bytes before its data"},
		"overlap":              {file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, make([]byte, 8)...), `tensor "b": its data overlap those of "a"`},
		"same place":           {file(`{"a":{`+whole+`},"b":{`+whole+`}}`, data...), "overlap"},
		"tensor twice":         {file(`{"w":{`+whole+`},"w":{`+whole+`}}`, data...), `tensor "w": the header names it twice`},
		"metadata twice":       {file(`{"__metadata__":{},"__metadata__":{}}`), "names it twice"},
		"metadata a string":    {file(`{"__metadata__":"x"}`), "the metadata is not a JSON object"},
		"metadata not text":    {file(`{"__metadata__":{"a":1}}`), `metadata "a" is not a JSON string`},
		"metadata key twice":   {file(`{"__metadata__":{"a":"1","a":"2"}}`), `the metadata have "a" twice`},
	} {
		path := filepath.Join(t.TempDir(), "x.safetensors")
		if err := os.WriteFile(path, tc.file, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadFile(path)
		switch {
		case err == nil:
			t.Errorf("%s: no error", name)
		case !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "safetensors: "+path+": ") || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %q, want %q", name, err, tc.want)
		}
	}
}

// TestTruncatedEverywhere: every proper beginning of a file is refused.
func TestTruncatedEverywhere(t *testing.T) {
	tensors, metadata := sample()
	b := encode(t, tensors, metadata)
	for n := range b {
		if _, err := decode(b[:n]); err == nil {
			t.Errorf("the first %d of %d bytes were accepted", n, len(b))
		}
	}
}

// shrinking is a file that another process cuts while it is read.
type shrinking struct{ *bytes.Reader }

func TestShrinkingFile(t *testing.T) {
	tensors, metadata := sample()
	b := encode(t, tensors, metadata)
	short := fmt.Sprintf("tensor %q: truncated: it ends 1 bytes early", tensors[4].Name) // the last one of the file
	const cut = "truncated"
	for n, want := range map[int]string{0: cut, 4: cut, 8: cut, 60: cut, len(b) - 1: short} {
		_, err := Read(shrinking{bytes.NewReader(b[:n])}, int64(len(b)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("cut to %d: %v, want %s", n, err, want)
		}
	}
}

// atEnd says io.EOF together with the last bytes, as a ReaderAt may.
type atEnd struct{ *bytes.Reader }

func (r atEnd) ReadAt(b []byte, off int64) (int, error) {
	n, err := r.Reader.ReadAt(b, off)
	if off+int64(n) == r.Size() {
		err = io.EOF
	}
	return n, err
}

// broken is a file on a disk that cannot be read.
type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errFull }

func TestReaders(t *testing.T) {
	tensors, metadata := sample()
	b := encode(t, tensors, metadata)
	if _, err := Read(atEnd{bytes.NewReader(b)}, int64(len(b))); err != nil {
		t.Error(err)
	}
	if _, err := Read(broken{}, int64(len(b))); !errors.Is(err, errFull) {
		t.Errorf("error is %v", err)
	}
}

func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.safetensors")
	if _, err := ReadFile(missing); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), missing) != 1 {
		t.Errorf("%v", err)
	}
	if _, err := ReadFile(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "best.safetensors")
	tensors, metadata := sample()
	if err := WriteFile(path, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []Tensor{{Name: "bad"}}, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	f, err := ReadFile(path)
	if err != nil || len(f.Tensors) != len(tensors) {
		t.Errorf("after a failed write the file holds %v, %v", f, err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

// seal returns a file with its digest.
func seal(t *testing.T, tensors []Tensor, metadata map[string]string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sealed")
	if err := WriteFile(path, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDigest: whatever bit is another, the file is refused or says the same, as where a
// letter of the digest's key is no longer one of it.
func TestDigest(t *testing.T) {
	tensors, metadata := sample()
	b := seal(t, tensors, metadata)
	if !bytes.Equal(b, seal(t, tensors, metadata)) {
		t.Error("the same contents give two files")
	}
	want, err := decode(b)
	if err != nil || !reflect.DeepEqual(want.Metadata, metadata) {
		t.Fatalf("%v, %v", want, err)
	}
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		f, err := decode(b)
		b[i/8] ^= 1 << (i % 8)
		if err != nil {
			continue
		}
		for key := range f.Metadata {
			if _, known := metadata[key]; !known {
				delete(f.Metadata, key) // the model refuses it
			}
		}
		if !reflect.DeepEqual(f, want) {
			t.Errorf("bit %d of byte %d: %q is accepted", i%8, i/8, b[max(0, i/8-20):min(len(b), i/8+20)])
		}
	}
}

// TestDigestOfAnotherLayout: order and spaces are the writing program's.
func TestDigestOfAnotherLayout(t *testing.T) {
	tensors, metadata := sample()
	f, err := decode(seal(t, tensors, metadata))
	if err != nil {
		t.Fatal(err)
	}
	byName := slices.SortedFunc(slices.Values(tensors), func(a, b Tensor) int { return cmp.Compare(a.Name, b.Name) })
	f.Metadata[DigestKey] = fmt.Sprintf("%x", sha256.Sum256(encode(t, byName, metadata)))
	slices.Reverse(f.Tensors)
	b := encode(t, f.Tensors, f.Metadata)
	if _, err := decode(b); err != nil {
		t.Errorf("in another order: %v", err)
	}
	f.Lookup("step").I64[1]++
	_, err = decode(encode(t, f.Tensors, f.Metadata))
	if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), DigestKey) {
		t.Errorf("with another value: %v", err)
	}
}

// BenchmarkDigest is what writing and reading 2 MB take longer for their digest.
func BenchmarkDigest(b *testing.B) {
	tensors := []Tensor{{Name: "x", Shape: []int{1 << 19}, F32: make([]float32, 1<<19)}}
	b.SetBytes(4 << 19)
	for b.Loop() {
		if _, err := digest(tensors, nil); err != nil {
			b.Fatal(err)
		}
	}
}

var _ io.ReaderAt = shrinking{}

// FuzzRead: nothing panics, and whatever is accepted survives writing and
// reading.
func FuzzRead(f *testing.F) {
	tensors, metadata := sample()
	var b bytes.Buffer
	if err := Write(&b, tensors, metadata); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(file(`{}`))
	f.Add(file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 0, 0, 128, 63))
	f.Add(file(`{"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}}`, make([]byte, 8)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decode(b)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of more than one line: %q", err)
			}
			return
		}
		var out bytes.Buffer
		if err := Write(&out, x.Tensors, x.Metadata); err != nil {
			t.Fatal(err)
		}
		y, err := decode(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := Write(&again, y.Tensors, y.Metadata); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), again.Bytes()) || len(x.Tensors) != len(y.Tensors) {
			t.Errorf("not stable: %q, %q", out.Bytes(), again.Bytes())
		}
	})
}
