package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ReadFile reads a file. Its errors name the path.
func ReadFile(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("safetensors: %s: not a regular file", path)
	}
	out, err := Read(f, info.Size())
	if err != nil {
		var pe *fs.PathError // says the path itself
		if errors.As(err, &pe) {
			return nil, pe
		}
		return nil, fmt.Errorf("safetensors: %s: %w", path, errors.Unwrap(err))
	}
	return out, nil
}

// Read reads a file of size bytes from r.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f, err := read(r, size)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return f, nil
}

func read(r io.ReaderAt, size int64) (*File, error) {
	if size < 8 {
		return nil, fmt.Errorf("truncated: the file has %d bytes, the length of the header alone takes 8", size)
	}
	var length [8]byte
	if err := readAt(r, length[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return nil, fmt.Errorf("not a safetensors file: the header would be %d bytes long, allowed are %d", n, maxHeader)
	}
	if int64(n) > size-8 {
		return nil, fmt.Errorf("truncated: the header is %d bytes long, the file only %d", n, size)
	}
	head := make([]byte, n)
	if err := readAt(r, head, 8); err != nil {
		return nil, err
	}
	f, entries, err := parse(head)
	if err != nil {
		return nil, err
	}
	start := 8 + int64(n)
	if err := place(entries, size-start); err != nil {
		return nil, err
	}
	f.Tensors = make([]Tensor, len(entries))
	for i, e := range entries {
		if f.Tensors[i], err = e.load(r, start); err != nil {
			return nil, err
		}
	}
	return f, f.checkDigest()
}

// checkDigest takes the digest out of the metadata and compares it with the contents.
func (f *File) checkDigest() error {
	said, ok := f.Metadata[DigestKey]
	if !ok {
		return nil
	}
	delete(f.Metadata, DigestKey)
	sum, err := digest(f.Tensors, f.Metadata)
	if err == nil && sum != said {
		err = fmt.Errorf("damaged: its contents have another SHA-256 than its metadata say; restore it, or, where a program changed it on purpose, leave %s out", DigestKey)
	}
	return err
}

// readAt fills b.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return fmt.Errorf("truncated: it ends %d bytes early", len(b)-n)
	}
	return err
}

// entry is what the header says of one tensor.
type entry struct {
	name       string
	dtype      string
	shape      []int
	begin, end int64 // bytes, from the end of the header
}

func (e *entry) errorf(format string, args ...any) error {
	return fmt.Errorf("tensor %q: %s", e.name, fmt.Sprintf(format, args...))
}

// size returns the bytes of one value.
func (e *entry) size() int64 {
	if e.dtype == "I64" {
		return 8
	}
	return 4
}

// place sorts the entries by their place in the data and checks that they cover
// the length bytes of it without gaps and overlaps.
func place(entries []entry, length int64) error {
	for i := range entries {
		e := &entries[i]
		if e.dtype != "F32" && e.dtype != "I64" {
			return e.errorf("its type is %q, supported are F32 and I64", e.dtype)
		}
		if e.begin > e.end || e.end > length {
			return e.errorf("its data are bytes %d to %d of %d", e.begin, e.end, length)
		}
		n, ok := count(e.shape)
		if !ok {
			return e.errorf("its shape %v is too large", e.shape)
		}
		if int64(n)*e.size() != e.end-e.begin {
			return e.errorf("its shape %v takes %d bytes, its data %d", e.shape, int64(n)*e.size(), e.end-e.begin)
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for i := range entries {
		switch e := &entries[i]; {
		case e.begin < at:
			return e.errorf("its data overlap those of %q", entries[i-1].name)
		case e.begin > at:
			return e.errorf("%d bytes before its data belong to no tensor", e.begin-at)
		default:
			at = e.end
		}
	}
	if at != length {
		return fmt.Errorf("%d bytes at the end belong to no tensor", length-at)
	}
	return nil
}

// load reads the values of a tensor whose place has been checked.
func (e *entry) load(r io.ReaderAt, start int64) (Tensor, error) {
	t := Tensor{Name: e.name, Shape: e.shape}
	if e.dtype == "I64" {
		t.I64 = make([]int64, (e.end-e.begin)/8)
	} else {
		t.F32 = make([]float32, (e.end-e.begin)/4)
	}
	buf := make([]byte, min(1<<16, e.end-e.begin))
	done := 0 // values
	for off := e.begin; off < e.end; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), e.end-off)]
		if err := readAt(r, buf, start+off); err != nil {
			return Tensor{}, fmt.Errorf("tensor %q: %w", e.name, err)
		}
		if t.I64 != nil {
			for i := 0; i < len(buf); i += 8 {
				t.I64[done] = int64(binary.LittleEndian.Uint64(buf[i:]))
				done++
			}
			continue
		}
		for i := 0; i < len(buf); i += 4 {
			t.F32[done] = math.Float32frombits(binary.LittleEndian.Uint32(buf[i:]))
			done++
		}
	}
	return t, nil
}

// parse reads the header. It goes by tokens because decoding into a map would
// pass over names that occur twice.
func parse(head []byte) (*File, []entry, error) {
	if !utf8.Valid(head) {
		return nil, nil, errors.New("the header is not valid UTF-8")
	}
	if len(head) == 0 || head[0] != '{' {
		return nil, nil, errors.New("not a safetensors file: the header does not begin with {")
	}
	p := parser{json.NewDecoder(bytes.NewReader(head))}
	p.UseNumber()
	f, entries := new(File), []entry(nil)
	seen := make(map[string]bool)
	err := p.object("the header", func(name string) error {
		if seen[name] {
			return fmt.Errorf("tensor %q: the header names it twice", name)
		}
		seen[name] = true
		if name == metadataKey {
			f.Metadata = make(map[string]string)
			return p.object("the metadata", func(key string) error {
				if _, dup := f.Metadata[key]; dup {
					return fmt.Errorf("the metadata have %q twice", key)
				}
				v, err := p.text(fmt.Sprintf("metadata %q", key))
				f.Metadata[key] = v
				return err
			})
		}
		e, err := p.entry(name)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if _, err := p.Token(); err != io.EOF {
		return nil, nil, errors.New("the header goes on after its JSON object")
	}
	return f, entries, nil
}

type parser struct{ *json.Decoder }

// token returns the next token. A syntax error comes back with what was
// expected.
func (p parser) token(what string) (json.Token, error) {
	t, err := p.Token()
	if err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = errors.New("it ends too early")
		}
		return nil, fmt.Errorf("%s is not valid JSON: %w", what, err)
	}
	return t, nil
}

// object reads an object and calls member after each key.
func (p parser) object(what string, member func(key string) error) error {
	t, err := p.token(what)
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return fmt.Errorf("%s is not a JSON object", what)
	}
	for p.More() {
		key, err := p.text("a key of " + what)
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
	}
	_, err = p.token(what) // the closing brace
	return err
}

func (p parser) text(what string) (string, error) {
	t, err := p.token(what)
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("%s is not a JSON string", what)
	}
	return s, nil
}

// integers reads an array of numbers, each an integer that an int64 holds and
// not negative.
func (p parser) integers(what string) ([]int64, error) {
	t, err := p.token(what)
	if err != nil {
		return nil, err
	}
	if t != json.Delim('[') {
		return nil, fmt.Errorf("%s is not a JSON array", what)
	}
	list := []int64{}
	for p.More() {
		t, err := p.token(what)
		if err != nil {
			return nil, err
		}
		number, _ := t.(json.Number)
		v, err := strconv.ParseUint(string(number), 10, 63)
		if err != nil {
			return nil, fmt.Errorf("%s holds something that is not an integer from 0 to 2^63-1", what)
		}
		list = append(list, int64(v))
	}
	_, err = p.token(what) // the closing bracket
	return list, err
}

// entry reads what the header says of the tensor called name.
func (p parser) entry(name string) (entry, error) {
	e := entry{name: name}
	tensor := fmt.Sprintf("tensor %q", name)
	seen := make(map[string]bool, 3)
	err := p.object(tensor, func(key string) error {
		what := fmt.Sprintf("tensor %q: its %q", name, key)
		if seen[key] {
			return fmt.Errorf("%s is given twice", what)
		}
		seen[key] = true
		var list []int64
		var err error
		switch key {
		case "dtype":
			e.dtype, err = p.text(what)
		case "shape":
			if list, err = p.integers(what); err != nil {
				return err
			}
			e.shape = make([]int, len(list))
			for i, d := range list {
				if d > math.MaxInt {
					return fmt.Errorf("%s is too large", what)
				}
				e.shape[i] = int(d)
			}
		case "data_offsets":
			if list, err = p.integers(what); err != nil {
				return err
			}
			if len(list) != 2 {
				return fmt.Errorf("%s has %d entries, must have 2", what, len(list))
			}
			e.begin, e.end = list[0], list[1]
		default:
			return fmt.Errorf("tensor %q: unknown key %q", name, key)
		}
		return err
	})
	if err != nil {
		return e, err
	}
	for _, key := range [...]string{"dtype", "shape", "data_offsets"} {
		if !seen[key] {
			return e, fmt.Errorf("tensor %q: its %q is missing", name, key)
		}
	}
	return e, nil
}
