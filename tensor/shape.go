package tensor

import (
	"fmt"
	"slices"
)

// Shape is the list of the lengths of a tensor's axes, outermost first. A Shape
// from NewShape has a number of values that an int holds; the empty Shape is
// that of a single value.
type Shape []int

// NewShape returns a copy of dims. The error names the length that is negative
// or the shape that is too large to have its values counted in bytes.
func NewShape(dims ...int) (Shape, error) {
	if _, err := countValues(dims); err != nil {
		return nil, err
	}
	return slices.Clone(Shape(dims)), nil
}

// countValues returns the product of dims. Axes of length zero do not hide
// others too large: the strides must be numbers, too.
func countValues(dims []int) (int, error) {
	product, empty := 1, false
	for i, n := range dims {
		switch {
		case n < 0:
			return 0, fmt.Errorf("tensor: shape %v: length %d of axis %d is negative", slices.Clone(dims), n, i)
		case n == 0:
			empty = true
		case product > maxValues/n:
			return 0, fmt.Errorf("tensor: shape %v has more values than can be addressed", slices.Clone(dims))
		default:
			product *= n
		}
	}
	if empty {
		return 0, nil
	}
	return product, nil
}

// Len returns the number of values, the product of the lengths.
func (s Shape) Len() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Strides returns the distances, in values, of neighbours along each axis when
// the values lie row-major without gaps.
func (s Shape) Strides() []int {
	strides := make([]int, len(s))
	step := 1
	for i := len(s) - 1; i >= 0; i-- {
		strides[i] = step
		step *= max(s[i], 1)
	}
	return strides
}

// Equal reports whether s and t have the same axes.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// String returns, for example, "[8 28 28]".
func (s Shape) String() string { return fmt.Sprint([]int(s)) }
