package tensor

import (
	"fmt"
	"slices"
)

// Tensor is a view of a Buffer as an array of any number of axes. Slice,
// Reshape and Transpose return further views of the same values; Contiguous
// copies. A Tensor is never changed once made, its values may be.
//
// Constructors return errors. Methods panic with *Error on an axis, index or
// range that does not exist, as Go's slices do.
type Tensor struct {
	shape   Shape
	strides []int // in values, one for each axis
	data    Buffer
}

// New returns a tensor of zeros in CPU memory. The error says which length is
// wrong or how many bytes were wanted, where they are more than can be addressed;
// memory that the Go runtime cannot give ends the program.
func New(dims ...int) (*Tensor, error) {
	n, err := countValues(dims)
	if err != nil {
		return nil, err
	}
	if err := checkSize(n); err != nil {
		return nil, err
	}
	x, err := allocate(n)
	if err != nil {
		return nil, &AllocError{n, err}
	}
	return View(HostBuffer(x), dims...)
}

// FromSlice returns a tensor whose values are those of x, row-major; they share
// memory. The error says which length is wrong or that x has another number of
// values.
func FromSlice(x []float32, dims ...int) (*Tensor, error) { return View(HostBuffer(x), dims...) }

// View returns a tensor whose values are those of b, row-major, on whatever
// device b lies.
func View(b Buffer, dims ...int) (*Tensor, error) {
	shape, err := NewShape(dims...)
	if err != nil {
		return nil, err
	}
	if n := shape.Len(); n != b.Len() {
		return nil, fmt.Errorf("tensor: shape %v has %d values, the buffer %d", shape, n, b.Len())
	}
	return &Tensor{shape, shape.Strides(), b}, nil
}

// Shape returns the lengths of the axes.
func (t *Tensor) Shape() Shape { return slices.Clone(t.shape) }

// Strides returns the distances of neighbours along each axis, in values.
func (t *Tensor) Strides() []int { return slices.Clone(t.strides) }

// Rank returns the number of axes.
func (t *Tensor) Rank() int { return len(t.shape) }

// Dim returns the length of an axis.
func (t *Tensor) Dim(axis int) int {
	t.checkAxis("Tensor.Dim", axis)
	return t.shape[axis]
}

// Len returns the number of values.
func (t *Tensor) Len() int { return t.shape.Len() }

func (t *Tensor) checkAxis(op string, axis int) {
	if axis < 0 || axis >= len(t.shape) {
		panic(&Error{op, fmt.Sprintf("axis %d of shape %v", axis, t.shape)})
	}
}

// offset returns where the value at index lies.
func (t *Tensor) offset(op string, index []int) int {
	if len(index) != len(t.shape) {
		panic(&Error{op, fmt.Sprintf("%d indices for shape %v", len(index), t.shape)})
	}
	at := 0
	for axis, i := range index {
		if i < 0 || i >= t.shape[axis] {
			panic(&Error{op, fmt.Sprintf("index %v outside shape %v", slices.Clone(index), t.shape)})
		}
		at += i * t.strides[axis]
	}
	return at
}

// hostValues returns the memory behind the view.
func (t *Tensor) hostValues(op string) []float32 {
	if t.data.host == nil && t.data.n > 0 {
		panic(&Error{op, "the values lie in the memory of another device"})
	}
	return t.data.host
}

// At returns the value at an index, one for each axis. The values must lie in
// CPU memory.
func (t *Tensor) At(index ...int) float32 {
	return t.hostValues("Tensor.At")[t.offset("Tensor.At", index)]
}

// Set sets the value at an index. The values must lie in CPU memory.
func (t *Tensor) Set(v float32, index ...int) {
	t.hostValues("Tensor.Set")[t.offset("Tensor.Set", index)] = v
}

// IsContiguous reports whether the values lie row-major without gaps.
func (t *Tensor) IsContiguous() bool {
	step := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 && t.strides[i] != step {
			return t.Len() == 0
		}
		step *= t.shape[i]
	}
	return true
}

// Buffer returns the values of a contiguous tensor, shared, for the operations
// of a Device.
func (t *Tensor) Buffer() Buffer {
	if !t.IsContiguous() {
		panic(&Error{"Tensor.Buffer", fmt.Sprintf("shape %v with strides %v is not contiguous; see Contiguous", t.shape, t.strides)})
	}
	return t.data.Slice(0, t.Len())
}

// Values returns the values of a contiguous tensor in CPU memory, row-major and
// shared.
func (t *Tensor) Values() []float32 {
	t.hostValues("Tensor.Values")
	return t.Buffer().Host()
}

// Slice returns the view of the positions lo <= i < hi of one axis.
func (t *Tensor) Slice(axis, lo, hi int) *Tensor {
	t.checkAxis("Tensor.Slice", axis)
	if lo < 0 || hi < lo || hi > t.shape[axis] {
		panic(rangeError("Tensor.Slice", lo, hi, t.shape[axis]))
	}
	v := &Tensor{slices.Clone(t.shape), slices.Clone(t.strides), t.data}
	v.shape[axis] = hi - lo
	if v.Len() > 0 {
		v.data = t.data.Slice(lo*t.strides[axis], t.data.Len())
	}
	return v
}

// Transpose returns the view with its axes in another order: axis i of the
// result is axis axes[i] of t. Without arguments the order is reversed.
func (t *Tensor) Transpose(axes ...int) *Tensor {
	if len(axes) == 0 {
		for i := len(t.shape) - 1; i >= 0; i-- {
			axes = append(axes, i)
		}
	}
	seen := make([]bool, len(t.shape))
	v := &Tensor{data: t.data}
	for _, a := range axes {
		if a < 0 || a >= len(seen) || seen[a] || len(axes) != len(seen) {
			panic(&Error{"Tensor.Transpose", fmt.Sprintf("axes %v are not an order of the axes of shape %v", slices.Clone(axes), t.shape)})
		}
		seen[a] = true
		v.shape = append(v.shape, t.shape[a])
		v.strides = append(v.strides, t.strides[a])
	}
	return v
}

// Reshape returns a view of a contiguous tensor with other axes. It panics when
// the number of values is not the same.
func (t *Tensor) Reshape(dims ...int) *Tensor {
	v, err := View(t.Buffer(), dims...)
	if err != nil {
		panic(&Error{"Tensor.Reshape", fmt.Sprintf("%v from shape %v: %v", slices.Clone(dims), t.shape, err)})
	}
	return v
}

// Contiguous returns a copy of the values in CPU memory, row-major without gaps.
// They must lie in CPU memory.
func (t *Tensor) Contiguous() *Tensor {
	src := t.hostValues("Tensor.Contiguous")
	n := t.Len()
	dst := make([]float32, n)
	v := &Tensor{slices.Clone(t.shape), t.shape.Strides(), HostBuffer(dst)}
	if n == 0 {
		return v
	}
	rank := len(t.shape)
	if rank == 0 {
		dst[0] = src[0]
		return v
	}
	inner, step := t.shape[rank-1], t.strides[rank-1]
	index := make([]int, rank-1) // of the row that is copied
	for at, from := 0, 0; ; {
		for i := range inner {
			dst[at+i] = src[from+i*step]
		}
		if at += inner; at == n {
			return v
		}
		axis := rank - 2
		for ; index[axis] == t.shape[axis]-1; axis-- {
			from -= index[axis] * t.strides[axis]
			index[axis] = 0
		}
		index[axis]++
		from += t.strides[axis]
	}
}
