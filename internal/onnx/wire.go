package onnx

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
)

// Wire types of protocol buffers.
const (
	wireVarint  = 0
	wireBytes   = 2
	wireFixed32 = 5
)

// message is a message of protocol buffers: its fields in the order in which they
// are written.
type message []field

// field is one field. What it holds is in the one of value, text, message, floats
// and integers that its kind means.
type field struct {
	tag      uint64 // number<<3 | wire type
	kind     kind
	value    uint64
	text     string
	message  message
	floats   []float32
	integers []int64
	length   int // of a message, in bytes
}

type kind uint8

const (
	isNumber kind = iota
	isFloat
	isText
	isMessage
	isFloats
	isIntegers
)

func number(at, v int) field { return field{tag: uint64(at)<<3 | wireVarint, value: uint64(int64(v))} }

func float(at int, v float32) field {
	return field{tag: uint64(at)<<3 | wireFixed32, kind: isFloat, value: uint64(math.Float32bits(v))}
}

func text(at int, s string) field {
	return field{tag: uint64(at)<<3 | wireBytes, kind: isText, text: s}
}

func nested(at int, m message) field {
	return field{tag: uint64(at)<<3 | wireBytes, kind: isMessage, message: m, length: m.size()}
}

// floats is a field of bytes: the values, little-endian.
func floats(at int, v []float32) field {
	return field{tag: uint64(at)<<3 | wireBytes, kind: isFloats, floats: v}
}

// integers is a field of bytes: the values, little-endian.
func integers(at int, v []int64) field {
	return field{tag: uint64(at)<<3 | wireBytes, kind: isIntegers, integers: v}
}

// payload returns the bytes of a field whose length is written in front of it.
func (f *field) payload() int {
	switch f.kind {
	case isText:
		return len(f.text)
	case isMessage:
		return f.length
	case isFloats:
		return 4 * len(f.floats)
	}
	return 8 * len(f.integers)
}

// size returns the bytes of a message.
func (m message) size() int {
	n := 0
	for i := range m {
		f := &m[i]
		n += varintSize(f.tag)
		switch f.kind {
		case isNumber:
			n += varintSize(f.value)
		case isFloat:
			n += 4
		default:
			n += varintSize(uint64(f.payload())) + f.payload()
		}
	}
	return n
}

// varintSize returns the bytes of a number at seven bits each.
func varintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func (m message) write(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	m.append(w)
	return w.Flush()
}

// append writes the fields. The first error sticks to w.
func (m message) append(w *bufio.Writer) {
	var b [binary.MaxVarintLen64]byte
	put := func(v uint64) { w.Write(binary.AppendUvarint(b[:0], v)) }
	for i := range m {
		f := &m[i]
		put(f.tag)
		switch f.kind {
		case isNumber:
			put(f.value)
			continue
		case isFloat:
			w.Write(binary.LittleEndian.AppendUint32(b[:0], uint32(f.value)))
			continue
		}
		put(uint64(f.payload()))
		switch f.kind {
		case isText:
			w.WriteString(f.text)
		case isMessage:
			f.message.append(w)
		case isFloats:
			for _, v := range f.floats {
				w.Write(binary.LittleEndian.AppendUint32(b[:0], math.Float32bits(v)))
			}
		case isIntegers:
			for _, v := range f.integers {
				w.Write(binary.LittleEndian.AppendUint64(b[:0], uint64(v)))
			}
		}
	}
}
