package tensor_test

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/tensor"
)

func TestNewShape(t *testing.T) {
	const (
		side = 1 << (bits.UintSize/2 - 2) // 2^30, whose square can be addressed
		wide = 2 * side
		vast = 1 << (bits.UintSize/2 + 8)
	)
	for _, c := range []struct {
		dims []int
		n    int
	}{{nil, 1}, {[]int{7}, 7}, {[]int{2, 3, 4}, 24}, {[]int{2, 0, 4}, 0}, {[]int{side, side}, side * side}} {
		s, err := tensor.NewShape(c.dims...)
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != c.n || !s.Equal(c.dims) {
			t.Errorf("shape %v of %v has %d values, want %d", s, c.dims, s.Len(), c.n)
		}
	}
	for _, c := range []struct {
		dims []int
		says string
	}{
		{[]int{2, -1}, "length -1 of axis 1"},
		{[]int{math.MaxInt}, "more values than can be addressed"},
		{[]int{wide, wide}, fmt.Sprint([]int{wide, wide})},
		{[]int{vast, vast, 0}, "more values than can be addressed"},
		{[]int{math.MinInt, 2}, "negative"},
	} {
		_, err := tensor.NewShape(c.dims...)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("NewShape(%v): error %v does not say %q", c.dims, err, c.says)
		}
		if _, err := tensor.New(c.dims...); err == nil {
			t.Errorf("New(%v): no error", c.dims)
		}
		if _, err := tensor.FromSlice(nil, c.dims...); err == nil {
			t.Errorf("FromSlice(nil, %v): no error", c.dims)
		}
	}
	dims := []int{2, 3}
	s, err := tensor.NewShape(dims...)
	if err != nil {
		t.Fatal(err)
	}
	dims[0] = 5
	if s.String() != "[2 3]" || !slices.Equal(s.Strides(), []int{3, 1}) {
		t.Errorf("shape %v, strides %v", s, s.Strides())
	}
}

// numbered returns a tensor of the values 0, 1, 2, ...
func numbered(t *testing.T, dims ...int) *tensor.Tensor {
	t.Helper()
	x, err := tensor.New(dims...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Values() {
		x.Values()[i] = float32(i)
	}
	return x
}

func TestTensorViews(t *testing.T) {
	x := numbered(t, 2, 3, 4)
	if x.Rank() != 3 || x.Dim(1) != 3 || x.Len() != 24 || x.At(1, 2, 3) != 23 || !x.IsContiguous() {
		t.Fatalf("shape %v, last value %v", x.Shape(), x.At(1, 2, 3))
	}
	for _, c := range []struct {
		name       string
		v          *tensor.Tensor
		shape      []int
		want       []float32
		contiguous bool
	}{
		{"outer slice", x.Slice(0, 1, 2), []int{1, 3, 4}, []float32{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, true},
		{"middle slice", x.Slice(1, 1, 2), []int{2, 1, 4}, []float32{4, 5, 6, 7, 16, 17, 18, 19}, false},
		{"inner slice", x.Slice(2, 1, 3).Slice(1, 0, 2), []int{2, 2, 2}, []float32{1, 2, 5, 6, 13, 14, 17, 18}, false},
		{"empty slice", x.Slice(2, 4, 4), []int{2, 3, 0}, []float32{}, true},
		{"transpose", numbered(t, 2, 3).Transpose(), []int{3, 2}, []float32{0, 3, 1, 4, 2, 5}, false},
		{"transpose axes", numbered(t, 2, 2, 2).Transpose(1, 0, 2), []int{2, 2, 2}, []float32{0, 1, 4, 5, 2, 3, 6, 7}, false},
		{"transpose row", numbered(t, 1, 3).Transpose(), []int{3, 1}, []float32{0, 1, 2}, true},
		{"reshape", x.Reshape(4, 6).Slice(0, 3, 4), []int{1, 6}, []float32{18, 19, 20, 21, 22, 23}, true},
		{"reshape to a value", numbered(t, 1, 1).Reshape(), []int{}, []float32{0}, true},
	} {
		if !c.v.Shape().Equal(c.shape) || c.v.IsContiguous() != c.contiguous {
			t.Errorf("%s: shape %v, contiguous %v", c.name, c.v.Shape(), c.v.IsContiguous())
		}
		got := c.v.Contiguous()
		if !slices.Equal(got.Values(), c.want) || !got.Shape().Equal(c.shape) {
			t.Errorf("%s: %v of shape %v, want %v", c.name, got.Values(), got.Shape(), c.want)
		}
		if c.contiguous && !slices.Equal(c.v.Values(), c.want) {
			t.Errorf("%s: values %v, want %v", c.name, c.v.Values(), c.want)
		}
	}
	// Views share memory, copies do not.
	v := x.Slice(1, 1, 2).Transpose()
	copied := v.Contiguous()
	v.Set(-1, 2, 0, 1)
	if x.At(1, 1, 2) != -1 || copied.At(2, 0, 1) != 18 {
		t.Errorf("the view's value is %v, the copy's %v", x.At(1, 1, 2), copied.At(2, 0, 1))
	}
	// Accessors give copies of the axes.
	x.Shape()[0], x.Strides()[0] = 9, 9
	if x.Dim(0) != 2 || x.Strides()[0] != 12 {
		t.Error("the axes can be changed from outside")
	}
}

func TestTensorErrors(t *testing.T) {
	if _, err := tensor.FromSlice(make([]float32, 5), 2, 3); err == nil || !strings.Contains(err.Error(), "6 values, the buffer 5") {
		t.Errorf("error %v", err)
	}
	x := numbered(t, 2, 3)
	far, err := tensor.View(tensor.DeviceBuffer(64, 6), 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"rank":              func() { x.At(1) },
		"index":             func() { x.At(0, 3) },
		"negative index":    func() { x.Set(1, -1, 0) },
		"axis":              func() { x.Slice(2, 0, 1) },
		"range":             func() { x.Slice(0, 1, 3) },
		"backwards":         func() { x.Slice(0, 2, 1) },
		"axes twice":        func() { x.Transpose(1, 1) },
		"axes missing":      func() { x.Transpose(0) },
		"reshape":           func() { x.Reshape(4) },
		"reshape, negative": func() { x.Reshape(-2, -3) },
		"reshape a view":    func() { x.Transpose().Reshape(6) },
		"values of a view":  func() { x.Transpose().Values() },
		"dim":               func() { x.Dim(-1) },
		"far value":         func() { far.At(0, 0) },
		"far values":        func() { far.Values() },
		"far copy":          func() { far.Contiguous() },
	} {
		if _, ok := panicOf(f).(*tensor.Error); !ok {
			t.Errorf("%s: no *tensor.Error", name)
		}
	}
	if b := far.Slice(0, 1, 2).Buffer(); b.Addr() != 64+12 || b.Len() != 3 {
		t.Errorf("a slice in device memory lies at %d with %d values", b.Addr(), b.Len())
	}
}

func TestArena(t *testing.T) {
	dev := newCPU(t, 1)
	for range 2 { // an arena can be used again after Release
		var a tensor.Arena
		sizes := []int{1, 0, 16, 17, 1000, 5}
		bufs := make([]tensor.Buffer, len(sizes))
		for i, n := range sizes {
			a.Reserve(&bufs[i], n)
		}
		if want := 16 + 0 + 16 + 32 + 1008 + 16; a.Size() != want {
			t.Fatalf("planned %d values, want %d", a.Size(), want)
		}
		if err := a.Bind(dev); err != nil {
			t.Fatal(err)
		}
		for i, b := range bufs {
			if b.Len() != sizes[i] || len(b.Host()) != sizes[i] || cap(b.Host()) != sizes[i] {
				t.Errorf("buffer %d has %d values, want %d", i, b.Len(), sizes[i])
			}
			if sizes[i] > 0 && tensor.Address(b)%64 != 0 {
				t.Errorf("buffer %d is not aligned to 64 bytes", i)
			}
			for _, v := range b.Host() {
				if v != 0 {
					t.Fatalf("buffer %d holds %v, want 0", i, v)
				}
			}
			dev.Fill(b, float32(i+1))
		}
		for i, b := range bufs { // nothing overlaps
			for _, v := range b.Host() {
				if v != float32(i+1) {
					t.Fatalf("buffer %d holds %v", i, v)
				}
			}
		}
		for name, f := range map[string]func(){
			"reserve when bound": func() { a.Reserve(&bufs[0], 1) },
			"bind twice":         func() { _ = a.Bind(dev) },
		} {
			if _, ok := panicOf(f).(*tensor.Error); !ok {
				t.Errorf("%s: no *tensor.Error", name)
			}
		}
		a.Release()
		a.Release()
		for i, b := range bufs {
			if !b.IsZero() {
				t.Errorf("buffer %d is set after Release", i)
			}
		}
		if a.Size() != 0 {
			t.Errorf("%d values planned after Release", a.Size())
		}
		a.Reserve(&bufs[0], 3)
		if err := a.Bind(dev); err != nil || bufs[0].Len() != 3 {
			t.Errorf("planned anew: %d values, error %v", bufs[0].Len(), err)
		}
		a.Release()
	}
}

func TestArenaTooLarge(t *testing.T) {
	dev := newCPU(t, 1)
	var b, c tensor.Buffer
	for _, n := range []int{math.MaxInt/256 + 1, math.MaxInt/4 - 20, math.MaxInt} {
		var a tensor.Arena
		a.Reserve(&b, 100)
		a.Reserve(&c, n)
		if err := a.Bind(dev); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%d values: error %v", n, err)
		}
		if !b.IsZero() || !c.IsZero() {
			t.Errorf("%d values: buffers are set", n)
		}
		a.Release()
	}
	var a tensor.Arena
	for name, f := range map[string]func(){
		"negative": func() { a.Reserve(&b, -1) },
		"nil":      func() { a.Reserve(nil, 1) },
	} {
		if _, ok := panicOf(f).(*tensor.Error); !ok {
			t.Errorf("%s: no *tensor.Error", name)
		}
	}
}
