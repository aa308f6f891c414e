package npz_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/npz"
)

// array returns a .npy file of version 1 with that header and those values.
func array(header string, values any) []byte {
	return versioned(1, header, values)
}

func versioned(major byte, header string, values any) []byte {
	var b bytes.Buffer
	b.WriteString("\x93NUMPY")
	b.Write([]byte{major, 0})
	if major == 1 {
		binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	} else {
		binary.Write(&b, binary.LittleEndian, uint32(len(header)))
	}
	b.WriteString(header)
	if values != nil {
		if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func header(descr, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }   \n", descr, shape)
}

// archive returns a zip of the given members, in the order of their names.
func archive(members map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w, err := z.Create(name)
		if err != nil {
			panic(err)
		}
		w.Write(members[name])
	}
	z.Close()
	return b.Bytes()
}

func sample() []byte {
	return archive(map[string][]byte{
		"f4.npy":     array(header("<f4", "(2, 3)"), []float32{1, -2.5, 3, float32(math.Inf(1)), 5, 6}),
		"f8.npy":     versioned(2, header("<f8", "(3,)"), []float64{0.1, math.MaxFloat64, 0}),
		"i8.npy":     versioned(3, header("<i8", "()"), []int64{-7}),
		"i4.npy":     array(header("<i4", "(1, 2, 1)"), []int32{math.MaxInt32, math.MinInt32}),
		"b1.npy":     array(header("|b1", "(2,)"), []bool{true, false}),
		"empty.npy":  array(header("<f4", "(0,)"), nil),
		"p.a.b.npy":  array("{'shape': (1,), 'fortran_order': False, 'descr': '<f4'}", []float32{9}),
		"exact.npy":  array(header("<i8", "(1,)"), []int64{1 << 53}),
		"beyond.npy": array(header("<i8", "(1,)"), []int64{1<<53 + 1}),
	})
}

func TestValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.npz")
	if err := os.WriteFile(path, sample(), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := npz.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"b1", "beyond", "empty", "exact", "f4", "f8", "i4", "i8", "p.a.b"}
	if got := a.Names(); !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	for _, c := range []struct {
		name   string
		values []float64
		shape  []int
	}{
		{"f4", []float64{1, -2.5, 3, math.Inf(1), 5, 6}, []int{2, 3}},
		{"f8", []float64{0.1, math.MaxFloat64, 0}, []int{3}},
		{"i8", []float64{-7}, []int{}},
		{"i4", []float64{math.MaxInt32, math.MinInt32}, []int{1, 2, 1}},
		{"b1", []float64{1, 0}, []int{2}},
		{"empty", []float64{}, []int{0}},
		{"p.a.b", []float64{9}, []int{1}},
		{"exact", []float64{1 << 53}, []int{1}},
	} {
		got, shape, err := a.Float64(c.name)
		if err != nil || !slices.Equal(got, c.values) || !slices.Equal(shape, c.shape) {
			t.Errorf("Float64(%q) = %v, %v, %v, want %v, %v", c.name, got, shape, err, c.values, c.shape)
		}
		if !a.Has(c.name) {
			t.Errorf("Has(%q) is false", c.name)
		}
		if c.name == "i4" || c.name == "exact" {
			if _, _, err := a.Float32(c.name); err == nil || !strings.Contains(err.Error(), "not exact") {
				t.Errorf("Float32(%q): %v, want an error", c.name, err)
			}
			continue
		}
		got32, shape, err := a.Float32(c.name)
		want32 := make([]float32, len(c.values))
		for i, v := range c.values {
			want32[i] = float32(v)
		}
		if err != nil || !slices.Equal(got32, want32) || !slices.Equal(shape, c.shape) {
			t.Errorf("Float32(%q) = %v, %v, %v, want %v, %v", c.name, got32, shape, err, want32, c.shape)
		}
	}
	if _, _, err := a.Float64("beyond"); err == nil || !strings.Contains(err.Error(), "not exact") {
		t.Errorf("2^53 + 1 in float64: %v, want an error", err)
	}
	if _, _, err := a.Float64("absent"); err == nil || !strings.Contains(err.Error(), "sample.npz: absent: no such array") {
		t.Errorf("absent array: %v", err)
	}
}

func TestSingleArray(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, array(header("<f4", "(2,)"), []float32{1, 2}), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := npz.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := a.Float32("x"); err != nil || !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBadArrays(t *testing.T) {
	two := []float32{1, 2}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no magic":        {[]byte("hello, world"), "no magic number"},
		"nothing":         {nil, "no magic number"},
		"only magic":      {[]byte("\x93NUMPY\x01\x00"), "no magic number"},
		"version":         {versioned(4, header("<f4", "(2,)"), two), "version 4"},
		"short header":    {array(header("<f4", "(2,)"), nil)[:40], "header of"},
		"short header 2":  {versioned(2, "", nil)[:11], "cut short"},
		"negative header": {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"), "header of -1"},
		"huge header":     {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f{}"), "header of 2147483647"},
		"no dictionary":   {array("[1, 2]", two), "not a dictionary"},
		"no colon":        {array("{'descr'}", two), "no value"},
		"no end":          {array("{'shape': (1, 2}", two), "no end"},
		"twice":           {array("{'descr': '<f4', 'descr': '<f8'}", two), "twice"},
		"unknown key":     {array("{'colour': 1}", two), "unknown key"},
		"missing key":     {array("{'descr': '<f4', 'shape': (2,)}", two), "are needed"},
		"big endian":      {array(header(">f4", "(2,)"), two), "known are <f4"},
		"half":            {array(header("<f2", "(4,)"), two), "known are <f4"},
		"object":          {array(header("|O", "(2,)"), two), "known are <f4"},
		"fortran":         {array("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", two), "C order"},
		"negative size":   {array(header("<f4", "(-2,)"), two), `size "-2"`},
		"size no number":  {array(header("<f4", "(x,)"), two), `size "x"`},
		"too few values":  {array(header("<f4", "(3,)"), two), "needs 12 bytes of values, the file has 8"},
		"too many values": {array(header("<f4", "(1,)"), two), "needs 4 bytes of values, the file has 8"},
		"huge":            {array(header("<f4", "(100000, 100000)"), two), "larger than"},
		"overflow":        {array(header("<f8", "("+strings.Repeat("65536, ", 8)+")"), two), "larger than"},
		"dimensions":      {array(header("<f4", "("+strings.Repeat("1, ", 33)+")"), []float32{1}), "dimensions"},
	} {
		a, err := npz.Read("bad.npz", archive(map[string][]byte{"x.npy": c.data}))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, _, err := a.Float32("x"); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "npz: bad.npz: x: ") {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	if _, err := npz.Open(filepath.Join(t.TempDir(), "absent.npz")); err == nil || !strings.Contains(err.Error(), "absent.npz") {
		t.Errorf("absent file: %v", err)
	}
	whole := sample()
	for n := range whole { // no prefix of a zip is one
		if _, err := npz.Read("cut.npz", whole[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken", n, len(whole))
		}
	}
	// A flipped bit in the values is found by the checksum.
	data := array(header("<f4", "(1000,)"), make([]float32, 1000))
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: zip.Store})
	w.Write(data)
	z.Close()
	corrupt := b.Bytes()
	corrupt[2000] ^= 1
	a, err := npz.Read("corrupt.npz", corrupt)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Float32("x"); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("flipped bit: %v", err)
	}
}

// A file beyond the limit is refused for that, not read as far as the limit goes.
func TestLargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.npz")
	if err := os.WriteFile(path, sample(), 0o644); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]string{
		16 << 20:   ": neither .npy nor .npz: ",
		16<<20 + 1: ": larger than 16777216 bytes",
	} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if _, err := npz.Open(path); err == nil || !strings.HasPrefix(err.Error(), "npz: "+path+want) {
			t.Errorf("%d bytes: %v, want%s", size, err, want)
		}
	}
}

// A small file that would unpack to a large one must stop at the limit.
func TestZipBomb(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("x.npy")
	w.Write(array(header("<f4", "(5000000,)"), nil))
	zeros := make([]byte, 1<<20)
	for range 20 {
		w.Write(zeros)
	}
	z.Close()
	a, err := npz.Read("bomb.npz", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Float32("x"); err == nil || !strings.Contains(err.Error(), "larger than 16777216 bytes") {
		t.Errorf("a member of 20 MiB in a file of %d bytes: %v", b.Len(), err)
	}
}

// Nothing in a file may panic, and values must fit the shape.
func FuzzRead(f *testing.F) {
	f.Add(sample())
	f.Add(array(header("<f4", "(2,)"), []float32{1, 2}))
	f.Add(versioned(3, "{'shape':(),'descr':'<i8','fortran_order':False}", []int64{1}))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"))
	f.Add(array("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 99999999999), }", nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := npz.Read("fuzz.npy", data)
		if err != nil {
			return
		}
		for _, name := range a.Names() {
			values, shape, err := a.Float64(name)
			if err != nil {
				continue
			}
			n := 1
			for _, d := range shape {
				n *= d
			}
			if len(values) != n {
				t.Errorf("%q: %d values of shape %v", name, len(values), shape)
			}
		}
	})
}
