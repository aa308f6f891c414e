package data

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// again is what to do about a file whose end or whose checksum is wrong.
const again = "the file is damaged or incomplete: remove it and fetch it again"

// unpacker reads a file, unpacking it where it is packed by gzip; which of the
// two it is, its content tells, not its name. It holds errors, with the name of
// the file, to the form of this package.
type unpacker struct {
	name   string
	file   *bufio.Reader
	in     io.Reader
	packed bool
}

// readFile opens the file at path for decode. The error is a *FileError.
func readFile(path string, decode func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		e := &FileError{Path: path, Problem: "cannot be opened: " + cause(err).Error(), Remedy: "check the name and the permissions", Err: err}
		if errors.Is(err, fs.ErrNotExist) {
			e.Problem, e.Remedy = "no such file", "give the directory that holds it with -data, or fetch it with -download"
		}
		return e
	}
	defer f.Close() // read only: nothing to lose
	return decode(f)
}

// unpack returns a reader of what r holds. A file without a byte is an error.
func unpack(r io.Reader, name string) (*unpacker, error) {
	u := &unpacker{name: name, file: bufio.NewReaderSize(r, 1<<16)}
	u.in = u.file
	head, err := u.file.Peek(2)
	if err != nil && err != io.EOF {
		return nil, u.broken(err)
	}
	if len(head) == 0 {
		return nil, u.bad(io.ErrUnexpectedEOF, again, "the file is empty")
	}
	if u.packed = len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b; !u.packed {
		return u, nil
	}
	z, err := gzip.NewReader(u.file)
	if err != nil {
		return nil, u.broken(err)
	}
	z.Multistream(false) // what follows the data is an error, not more of it
	u.in = z
	return u, nil
}

// bad returns a *FileError about the file.
func (u *unpacker) bad(err error, remedy, format string, args ...any) error {
	return &FileError{Path: u.name, Problem: fmt.Sprintf(format, args...), Remedy: remedy, Err: err}
}

// broken explains an error of reading, which is never io.EOF.
func (u *unpacker) broken(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return u.bad(err, again, "truncated gzip data")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return u.bad(err, again, "corrupt gzip data (%v)", err)
	}
	return u.bad(err, "check the file and the disk it lies on", "cannot be read: %v", cause(err))
}

// full fills b. Where the data end earlier it returns how much there was, without
// an error: that tells the end of the data from gzip data that are cut off.
func (u *unpacker) full(b []byte) (n int, err error) {
	for n < len(b) {
		m, err := u.in.Read(b[n:])
		n += m
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, u.broken(err)
		}
	}
	return n, nil
}

// end checks that nothing is left behind the data that what describes, and
// gzip's checksum.
func (u *unpacker) end(what string) error {
	var one [1]byte
	if n, err := u.full(one[:]); err != nil {
		return err
	} else if n > 0 {
		return u.bad(nil, again, "trailing garbage after %s", what)
	}
	if u.packed {
		if _, err := u.file.ReadByte(); err == nil {
			return u.bad(nil, again, "trailing garbage after the gzip data")
		} else if err != io.EOF {
			return u.broken(err)
		}
	}
	return nil
}

// eachRecord calls do for the records of size bytes that r, plain or packed by
// gzip, consists of: at least one, at most most. record is valid until do returns.
func eachRecord(r io.Reader, name string, size, most int, do func(u *unpacker, record []byte) error) error {
	u, err := unpack(r, name)
	if err != nil {
		return err
	}
	record := make([]byte, size)
	for i := 0; ; i++ {
		n, err := u.full(record)
		switch {
		case err != nil:
			return err
		case n == 0 && i == 0:
			return u.bad(io.ErrUnexpectedEOF, again, "no image in it")
		case n == 0:
			return u.end("the last image")
		case n < size:
			return u.bad(io.ErrUnexpectedEOF, again, "truncated: image %d has %d bytes of %d", i, n, size)
		case i == most:
			return u.bad(nil, "give the file as it was published", "more than %d images", most)
		}
		if err := do(u, record); err != nil {
			return err
		}
	}
}
