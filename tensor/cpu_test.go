package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/asmtest"
	"github.com/noether-go/noether/tensor"
	"github.com/noether-go/noether/tensor/devicetest"
)

// newCPU returns a device that is closed at the end of the test.
func newCPU(t testing.TB, threads int) *tensor.CPU {
	t.Helper()
	dev, err := tensor.NewCPU(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

func TestConformance(t *testing.T) {
	teams := []int{1, 2, 3}
	if testing.Short() {
		teams = teams[2:] // TestThreadsDoNotChangeBits has all of them
	}
	asmtest.EachLevel(t, func(t *testing.T) {
		for _, threads := range teams {
			t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
				devicetest.Run(t, newCPU(t, threads))
			})
		}
	})
}

// Every operation gives the same bits whatever the number of threads.
func TestThreadsDoNotChangeBits(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		one := newCPU(t, 1)
		list := devicetest.Cases()
		want := make([][]float32, len(list))
		for i := range list {
			var err error
			if want[i], err = devicetest.Outputs(one, &list[i]); err != nil {
				t.Fatal(err)
			}
		}
		for _, threads := range []int{2, 3} {
			dev := newCPU(t, threads)
			for i := range list {
				got, err := devicetest.Outputs(dev, &list[i])
				if err != nil {
					t.Fatal(err)
				}
				if !devicetest.SameBits(got, want[i]) {
					t.Errorf("%s: other bits with %d threads than with one", list[i].Name(), threads)
				}
			}
		}
	})
}

// TestFirstOperation: an operation has the memory that it needs on a device that has run no other, and gives the same bits
// there as on one that has.
func TestFirstOperation(t *testing.T) {
	used := newCPU(t, 1)
	list := devicetest.Cases()
	for i := range list {
		if testing.Short() && i%4 > 0 { // slow under the race detector
			continue
		}
		want, err := devicetest.Outputs(used, &list[i])
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := tensor.NewCPU(1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := devicetest.Outputs(fresh, &list[i])
		if err != nil || !devicetest.SameBits(got, want) {
			t.Errorf("%s: error %v, or other bits than on a device that has been used", list[i].Name(), err)
		}
		if err := fresh.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOperationsAllocateNothing(t *testing.T) {
	for _, threads := range []int{1, 2} {
		dev := newCPU(t, threads)
		for _, group := range devicetest.Groups() {
			n, err := devicetest.Allocs(dev, group)
			if err != nil {
				t.Fatal(err)
			}
			if n != 0 {
				t.Errorf("%d threads: %s: %v allocations", threads, group[0].Op, n)
			}
			for i := 0; n != 0 && i < len(group); i++ { // at which sizes?
				if n, err := devicetest.Allocs(dev, group[i:i+1]); n != 0 || err != nil {
					t.Errorf("%d threads: %s: %v allocations, error %v", threads, group[i].Name(), n, err)
				}
			}
		}
	}
}

func TestScaleKeepsMinusZero(t *testing.T) {
	asmtest.EachLevel(t, func(t *testing.T) {
		dev := newCPU(t, 1)
		x := []float32{float32(math.Copysign(0, -1)), 0}
		b := tensor.HostBuffer(x)
		dev.Scale(b, 2, b)
		dev.SinCos(b, tensor.Buffer{}, b, 3)
		if !math.Signbit(float64(x[0])) || math.Signbit(float64(x[1])) || x[0] != 0 || x[1] != 0 {
			t.Errorf("sin(3*2*[-0 0]) = %v", x)
		}
	})
}

func TestCPUIdentity(t *testing.T) {
	dev := newCPU(t, 2)
	if dev.Name() != "cpu" || dev.Threads() != 2 || dev.Team().Size() != 2 || dev.Sync() != nil {
		t.Errorf("name %q, %d threads, team of %d, error %v", dev.Name(), dev.Threads(), dev.Team().Size(), dev.Sync())
	}
}

func TestCPUAlloc(t *testing.T) {
	dev := newCPU(t, 1)
	for _, n := range []int{1, 17, 1 << 19, 1<<19 + 5} {
		for range 3 {
			b, err := dev.Alloc(n)
			if err != nil {
				t.Fatal(err)
			}
			if tensor.Address(b)%64 != 0 {
				t.Errorf("Alloc(%d) is not aligned to 64 bytes", n)
			}
			if len(b.Host()) != n || cap(b.Host()) != n {
				t.Errorf("Alloc(%d): length %d, capacity %d", n, len(b.Host()), cap(b.Host()))
			}
		}
	}
	const huge = math.MaxInt/256 + 1 // 2^55 where an int has 64 bits
	for _, c := range []struct {
		n     int
		bytes string
	}{{-3, "(-12 bytes)"}, {math.MaxInt, fmt.Sprintf("%.3g bytes", 4*float64(math.MaxInt))}, {huge, fmt.Sprintf("(%d bytes)", 4*huge)}} {
		_, err := dev.Alloc(c.n)
		var e *tensor.AllocError
		if !errors.As(err, &e) || e.Values != c.n || !strings.Contains(err.Error(), c.bytes) {
			t.Errorf("Alloc(%d): error %v does not say %s", c.n, err, c.bytes)
		}
	}
}

// Close twice, with buffers outstanding. Nothing is allocated afterwards, and what is freed was free.
func TestCPUClose(t *testing.T) {
	dev, err := tensor.NewCPU(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.ReserveWorkspace(100); err != nil {
		t.Fatal(err)
	}
	var buffers []tensor.Buffer
	for _, n := range []int{10, 1 << 20} {
		b, err := dev.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, b)
	}
	for range 2 {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, b := range buffers {
		dev.Free(b)
	}
	const want = "tensor: the device is closed"
	for _, n := range []int{0, 10, 1 << 20} {
		if b, err := dev.Alloc(n); err == nil || err.Error() != want || !b.IsZero() {
			t.Errorf("Alloc(%d) of a closed device: %d values, error %v", n, b.Len(), err)
		}
		if err := dev.ReserveWorkspace(n); err == nil || err.Error() != want {
			t.Errorf("ReserveWorkspace(%d) of a closed device: %v", n, err)
		}
	}
	if n := len(dev.Workspace(2)); n != 0 {
		t.Errorf("a closed device has a workspace of %d values", n)
	}
}

// What a caller could have known panics with *Error, and leaves the device
// usable.
func TestProgrammerErrors(t *testing.T) {
	dev := newCPU(t, 2)
	buf := func(n int) tensor.Buffer { return tensor.HostBuffer(make([]float32, n)) }
	elsewhere := tensor.DeviceBuffer(64, 10)
	small, big := buf(4), buf(10)
	alloc, err := dev.Alloc(10)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"free what is not allocated": func() { dev.Free(big) },
		"free a part":                func() { dev.Free(alloc.Slice(0, 5)) },
		"upload too much":            func() { dev.Upload(small, make([]float32, 5)) },
		"download too much":          func() { dev.Download(make([]float32, 5), small) },
		"copy lengths":               func() { dev.Copy(small, big) },
		"fill another device's":      func() { dev.Fill(elsewhere, 1) },
		"add lengths":                func() { dev.Add(big, big, small) },
		"mul lengths":                func() { dev.Mul(small, big, small) },
		"axpy lengths":               func() { dev.Axpy(small, 1, big) },
		"scale another device's":     func() { dev.Scale(big, 1, elsewhere) },
		"sincos lengths":             func() { dev.SinCos(big, small, big, 1) },
		"relu lengths":               func() { dev.ReLU(big, small) },
		"relu gradient lengths":      func() { dev.ReLUGrad(big, big, small) },
		"add rows":                   func() { dev.AddRows(big, buf(1), 2, 5) },
		"add rows, size":             func() { dev.AddRows(big, buf(3), 3, 5) },
		"sum rows":                   func() { dev.SumRows(buf(1), big, 2, 5, false) },
		"sum rows, negative":         func() { dev.SumRows(small, big, -1, -5, false) },
		"sum rows, overflow":         func() { dev.SumRows(small, big, math.MaxInt, 4, false) },
		"dot":                        func() { dev.DotRows(buf(1), big, small, 1, big.Len()) },
		"dot, no room":               func() { dev.DotRows(tensor.Buffer{}, big, big, 1, big.Len()) },
		"sum of squares, no room":    func() { dev.SumSquares(tensor.Buffer{}, big) },
		"batch norm":                 func() { dev.BatchNorm(&tensor.BatchNormArgs{Rows: 2, Cols: 5, X: big, Y: buf(10)}) },
		"batch norm in place": func() {
			dev.BatchNorm(&tensor.BatchNormArgs{Rows: 2, Cols: 5, Train: true, X: big, Y: big, Weight: small, Bias: small,
				Mean: small, InvStd: small, RunningMean: small, RunningVar: small})
		},
		"batch norm gradient":  func() { dev.BatchNormGrad(&tensor.BatchNormArgs{Rows: 2, Cols: 5, X: big, DX: big}) },
		"standardize":          func() { dev.Standardize(&tensor.StandardizeArgs{C: 2, S: 2, B: 2, X: big, Y: buf(10)}) },
		"standardize gradient": func() { dev.StandardizeGrad(&tensor.StandardizeArgs{C: 2, S: 2, B: 3, X: big}) },
		"layer norm":           func() { dev.LayerNorm(&tensor.LayerNormArgs{C: 2, S: 2, B: 2, X: big, Y: buf(10), Weight: small}) },
		"layer norm gradient": func() {
			dev.LayerNormGrad(&tensor.LayerNormArgs{C: 2, S: 2, B: 2, X: big, DX: big, DY: big, Weight: small, Bias: small, DWeight: small, DBias: buf(1)})
		},
		"max pool":             func() { dev.MaxPool2(buf(1), big, 2, 2, 2, 1) },
		"max pool gradient":    func() { dev.MaxPool2Grad(small, buf(2), big, buf(2), 2, 2, 2, 1) },
		"global max, nothing":  func() { dev.GlobalMax(small, small, big, 2, 0, 2) },
		"global max":           func() { dev.GlobalMax(small, buf(3), big, 2, 2, 2) },
		"global max positions": func() { dev.GlobalMax(small, small, big, 1, 1<<24+1, 0) },
		"global max gradient": func() {
			dev.GlobalMaxGrad(buf(8), small, tensor.HostBuffer([]float32{0, 1, 2, 0}), 2, 2, 2)
		},
		"global max gradient, nan": func() {
			dev.GlobalMaxGrad(buf(8), small, tensor.HostBuffer([]float32{0, 1, float32(math.NaN()), 0}), 2, 2, 2)
		},
		"label": func() {
			dev.SoftmaxCrossEntropy(buf(2), small, tensor.Buffer{}, buf(4), tensor.HostBuffer([]float32{0, 2}), 2, 2, 2)
		},
		"label nan": func() {
			dev.SoftmaxCrossEntropy(buf(2), small, tensor.Buffer{}, buf(4), tensor.HostBuffer([]float32{0, float32(math.NaN())}), 2, 2, 2)
		},
		"live":             func() { dev.SoftmaxCrossEntropy(buf(2), small, small, buf(4), buf(2), 2, 2, 3) },
		"no classes":       func() { dev.SoftmaxCrossEntropy(buf(2), small, small, buf(4), buf(2), 0, 2, 1) },
		"clip at zero":     func() { dev.ClipNorm(big, small, 0) },
		"clip at nan":      func() { dev.ClipNorm(big, small, float32(math.NaN())) },
		"adam step":        func() { dev.Adam(&tensor.AdamArgs{P: big, G: big, M: big, V: big}) },
		"adam lengths":     func() { dev.Adam(&tensor.AdamArgs{P: big, G: small, M: big, V: big, Step: 1}) },
		"sgd lengths":      func() { dev.SGD(&tensor.SGDArgs{P: big, G: small}) },
		"sgd velocity":     func() { dev.SGD(&tensor.SGDArgs{P: big, G: buf(10), Momentum: 0.9}) },
		"batch innermost":  func() { dev.BatchInnermost(buf(5), big, 2, 3) },
		"batch outermost":  func() { dev.BatchOutermost(big, buf(5), 2, 3) },
		"slice backwards":  func() { big.Slice(3, 2) },
		"slice beyond end": func() { big.Slice(0, 11) },
	} {
		err, ok := panicOf(f).(error)
		var e *tensor.Error
		if !ok || !errors.As(err, &e) {
			t.Errorf("%s: panic %v, want a *tensor.Error", name, err)
		}
		dev.Fill(big, 0)
	}
	dev.Free(alloc)
	if panicOf(func() { dev.Free(alloc) }) == nil {
		t.Error("a second Free does not panic")
	}
}

// panicOf returns what f panics with.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}
