package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noether-go/noether/internal/atomicfile"
)

// WriteFile writes a file as a whole (see atomicfile.WriteFile), with its digest.
func WriteFile(path string, tensors []Tensor, metadata map[string]string) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		sum, err := digest(tensors, metadata)
		if err != nil {
			return err
		}
		sealed := map[string]string{}
		maps.Copy(sealed, metadata)
		sealed[DigestKey] = sum
		return Write(w, tensors, sealed)
	})
}

// digest returns what a file of these contents has under DigestKey.
func digest(tensors []Tensor, metadata map[string]string) (string, error) {
	byName := slices.SortedFunc(slices.Values(tensors), func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	if err := Write(h, byName, metadata); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Write writes the tensors in the given order, but int64 before float32 ones, so
// that each is aligned to the size of its values. Nothing is written when a
// tensor or the metadata cannot be.
func Write(w io.Writer, tensors []Tensor, metadata map[string]string) error {
	order := make([]*Tensor, 0, len(tensors))
	for i := range tensors {
		if tensors[i].I64 != nil {
			order = append(order, &tensors[i])
		}
	}
	for i := range tensors {
		if tensors[i].I64 == nil {
			order = append(order, &tensors[i])
		}
	}
	header, err := header(order, metadata)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	chunk := make([]byte, 0, 1<<16)
	flush := func(limit int) error {
		if len(chunk) < limit {
			return nil
		}
		_, err := w.Write(chunk)
		chunk = chunk[:0]
		return err
	}
	for _, t := range order {
		for _, v := range t.I64 {
			chunk = binary.LittleEndian.AppendUint64(chunk, uint64(v))
			if err := flush(cap(chunk) - 7); err != nil {
				return err
			}
		}
		for _, v := range t.F32 {
			chunk = binary.LittleEndian.AppendUint32(chunk, math.Float32bits(v))
			if err := flush(cap(chunk) - 7); err != nil {
				return err
			}
		}
	}
	return flush(1)
}

// header returns the JSON header, padded with spaces to a multiple of 8 bytes.
func header(tensors []*Tensor, metadata map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if len(metadata) > 0 {
		for k, v := range metadata {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, fmt.Errorf("metadata %q is not valid UTF-8", k)
			}
		}
		fmt.Fprintf(&b, "%s:%s", quote(metadataKey), quote(metadata))
	}
	seen := make(map[string]bool, len(tensors))
	at := 0
	for _, t := range tensors {
		switch {
		case t.Name == metadataKey || !utf8.ValidString(t.Name):
			return nil, fmt.Errorf("%q cannot be the name of a tensor", t.Name)
		case seen[t.Name]:
			return nil, fmt.Errorf("two tensors are named %q", t.Name)
		}
		seen[t.Name] = true
		if err := t.check(); err != nil {
			return nil, err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		dtype, size := t.dtype()
		end := at + size*(len(t.F32)+len(t.I64))
		shape := t.Shape
		if shape == nil {
			shape = []int{} // "[]", not "null"
		}
		fmt.Fprintf(&b, `%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, quote(t.Name), dtype, quote(shape), at, end)
		at = end
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	if b.Len() > maxHeader {
		return nil, fmt.Errorf("the header would take %d bytes, allowed are %d", b.Len(), maxHeader)
	}
	return b.Bytes(), nil
}

// quote returns v as JSON. Strings, integers and maps of strings always have a
// JSON form.
func quote(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("safetensors: " + err.Error())
	}
	return b
}
