package data

import (
	"fmt"
	"io"
	"strings"
)

// MaxIDXBytes is the most data that an IDX file may hold.
const MaxIDXBytes = 1 << 30

// maxIDXDims bounds the number of dimensions; MNIST has three.
const maxIDXDims = 8

// IDX is an array of bytes as the IDX format stores it (the format of MNIST:
// two zero bytes, the type of the values, the number of dimensions, then each
// dimension as a big-endian uint32, then the values, last dimension innermost).
type IDX struct {
	Dims []int   // each at least 1
	Data []uint8 // [Dims[0], Dims[1], ...]
}

// ReadIDX reads the IDX file at path, plain or packed by gzip; which of the two
// it is, its content tells, not its name. The error is a *FileError.
func ReadIDX(path string) (*IDX, error) {
	var x *IDX
	err := readFile(path, func(r io.Reader) (err error) {
		x, err = DecodeIDX(r, path)
		return err
	})
	return x, err
}

// DecodeIDX reads one IDX array of unsigned bytes, plain or packed by gzip, from
// r, which must end where the array ends. name is used in errors, which are
// *FileError. Memory grows with the bytes that are really there, not with what
// the header says, and never beyond MaxIDXBytes.
func DecodeIDX(r io.Reader, name string) (*IDX, error) {
	u, err := unpack(r, name)
	if err != nil {
		return nil, err
	}
	var header [4 + 4*maxIDXDims]byte
	n, err := u.full(header[:4])
	if err != nil {
		return nil, err
	}
	const notIDX = "give the IDX file as it was published (.gz or unpacked)"
	switch {
	case n < 4:
		return nil, u.bad(io.ErrUnexpectedEOF, again, "%d bytes are too few for an IDX header", n)
	case header[0] != 0 || header[1] != 0:
		return nil, u.bad(nil, notIDX, "not an IDX file: it begins with % x where 00 00 08 and the number of dimensions belong", header[:4])
	case header[2] != 0x08:
		return nil, u.bad(nil, notIDX, "IDX values of type 0x%02x%s, only 0x08 (unsigned bytes) can be read", header[2], idxType(header[2]))
	case header[3] < 1 || header[3] > maxIDXDims:
		return nil, u.bad(nil, notIDX, "IDX header with %d dimensions, 1 to %d are possible", header[3], maxIDXDims)
	}
	x := &IDX{Dims: make([]int, header[3])}
	n, err = u.full(header[4 : 4+4*len(x.Dims)])
	if err != nil {
		return nil, err
	}
	if n < 4*len(x.Dims) {
		return nil, u.bad(io.ErrUnexpectedEOF, again, "truncated IDX header: %d bytes of %d", 4+n, 4+4*len(x.Dims))
	}
	total := uint64(1)
	for i := range x.Dims {
		h := header[4+4*i:]
		d := uint64(h[0])<<24 | uint64(h[1])<<16 | uint64(h[2])<<8 | uint64(h[3])
		if d == 0 {
			return nil, u.bad(nil, notIDX, "IDX header says that dimension %d of %d is 0", i+1, len(x.Dims))
		}
		// total stays below 2^30 and d below 2^32: no overflow.
		if total *= d; total > MaxIDXBytes {
			return nil, u.bad(nil, notIDX, "IDX header asks for more than the %d bytes that are allowed", MaxIDXBytes)
		}
		x.Dims[i] = int(d)
	}

	size := int(total)
	buf := make([]byte, min(size, 1<<20))
	for have := 0; ; {
		n, err := u.full(buf[have:])
		if err != nil {
			return nil, err
		}
		if have += n; have < len(buf) {
			return nil, u.bad(io.ErrUnexpectedEOF, again, "truncated: %d data bytes of the %d (%s) that the header says", have, size, x.shape())
		}
		if have == size {
			break
		}
		grown := make([]byte, min(size, 2*len(buf)))
		copy(grown, buf)
		buf = grown
	}
	x.Data = buf

	if err := u.end(fmt.Sprintf("the %d data bytes (%s) that the header says", size, x.shape())); err != nil {
		return nil, err
	}
	return x, nil
}

// shape returns the dimensions as "60000 x 28 x 28".
func (x *IDX) shape() string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(x.Dims), "[]"), " ", " x ")
}

// header returns the bytes that stand before Data in a plain file.
func (x *IDX) header() []byte {
	h := []byte{0, 0, 0x08, byte(len(x.Dims))}
	for _, d := range x.Dims {
		h = append(h, byte(d>>24), byte(d>>16), byte(d>>8), byte(d))
	}
	return h
}

func idxType(t byte) string {
	switch t {
	case 0x09:
		return " (signed bytes)"
	case 0x0b:
		return " (int16)"
	case 0x0c:
		return " (int32)"
	case 0x0d:
		return " (float32)"
	case 0x0e:
		return " (float64)"
	}
	return " (unknown)"
}
