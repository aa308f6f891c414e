package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// encodeIDX returns the plain IDX file of an array of bytes.
func encodeIDX(values []uint8, dims ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, values...)
}

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Name = "some-name"
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func ramp(n int) []uint8 {
	b := make([]uint8, n)
	for i := range b {
		b[i] = uint8(7 * i)
	}
	return b
}

// wantFileError fails unless err is a FileError of one line that names path and
// says each of the phrases.
func wantFileError(t *testing.T, err error, path string, phrases ...string) {
	t.Helper()
	var f *FileError
	if !errors.As(err, &f) {
		t.Fatalf("error is %T (%v), want *FileError", err, err)
	}
	s := err.Error()
	if !strings.HasPrefix(s, "data: ") || strings.ContainsAny(s, "\n\r") {
		t.Errorf("not one line that begins with data: %q", s)
	}
	if f.Remedy == "" {
		t.Errorf("does not say what to do: %q", s)
	}
	for _, p := range append(phrases, path) {
		if !strings.Contains(s, p) {
			t.Errorf("error %q does not say %q", s, p)
		}
	}
}

func TestReadIDX(t *testing.T) {
	plain := encodeIDX(ramp(3*4*5), 3, 4, 5)
	for name, content := range map[string][]byte{
		"plain":           plain,
		"packed.gz":       gzipped(t, plain),
		"packed-unnamed":  gzipped(t, plain),
		"plain-though.gz": plain,
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		x, err := ReadIDX(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(x.Dims, []int{3, 4, 5}) || !bytes.Equal(x.Data, ramp(60)) {
			t.Errorf("%s: read %v, %v", name, x.Dims, x.Data)
		}
		if !bytes.Equal(append(x.header(), x.Data...), plain) {
			t.Errorf("%s: header() does not restore the file", name)
		}
	}
}

// Dimensions have four bytes, of which small sets use two.
func TestIDXHeader(t *testing.T) {
	if got, want := (&IDX{Dims: []int{0x01020304, 5}}).header(), encodeIDX(nil, 0x01020304, 5); !bytes.Equal(got, want) {
		t.Errorf("header % x, want % x", got, want)
	}
	most := encodeIDX(ramp(6), 1, 2, 1, 1, 3, 1, 1, 1)
	if x, err := DecodeIDX(bytes.NewReader(most), "eight dimensions"); err != nil || !bytes.Equal(append(x.header(), x.Data...), most) {
		t.Errorf("%v, %v", x, err)
	}
}

// More than the first buffer, so that growing is tested, and beside its size.
func TestDecodeIDXLarge(t *testing.T) {
	for _, n := range []int{1<<20 - 1, 1 << 20, 1<<20 + 1, 5<<20 + 3} {
		plain := encodeIDX(ramp(n), uint32(n))
		for _, content := range [][]byte{plain, gzipped(t, plain)} {
			x, err := DecodeIDX(bytes.NewReader(content), "large")
			if err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if !bytes.Equal(x.Data, ramp(n)) {
				t.Fatalf("%d bytes: content differs", n)
			}
		}
	}
}

func TestDecodeIDXBad(t *testing.T) {
	plain := encodeIDX(ramp(60), 3, 4, 5)
	packed := gzipped(t, plain)
	alter := func(b []byte, at int, v byte) []byte {
		b = slices.Clone(b)
		b[at] = v
		return b
	}
	float := alter(plain, 2, 0x0d)
	for _, c := range []struct {
		name    string
		content []byte
		say     string
	}{
		{"empty", nil, "empty"},
		{"one byte", plain[:1], "1 bytes are too few"},
		{"cut magic", plain[:3], "3 bytes are too few"},
		{"web page", []byte("<!DOCTYPE html>"), "not an IDX file: it begins with 3c 21 44 4f"},
		{"first zero", alter(plain, 0, 1), "not an IDX file"},
		{"second zero", alter(plain, 1, 1), "not an IDX file"},
		{"float32", float, "type 0x0d (float32)"},
		{"no type", alter(plain, 2, 0x55), "type 0x55 (unknown)"},
		{"no dimensions", alter(plain, 3, 0), "0 dimensions"},
		{"many dimensions", alter(plain, 3, 9), "9 dimensions"},
		{"cut header", plain[:9], "truncated IDX header: 9 bytes of 16"},
		{"dimension 0", encodeIDX(nil, 3, 0, 5), "dimension 2 of 3 is 0"},
		{"cut data", plain[:len(plain)-1], "truncated: 59 data bytes of the 60 (3 x 4 x 5)"},
		{"no data", plain[:16], "truncated: 0 data bytes of the 60"},
		{"one more", append(slices.Clone(plain), 0), "trailing garbage after the 60 data bytes"},
		{"too big", encodeIDX(nil, 1<<20, 1<<10, 2), "more than the 1073741824 bytes"},
		{"too big by one", encodeIDX(nil, 1<<30+1), "more than the 1073741824 bytes"},
		{"overflow", encodeIDX(nil, 1<<31, 1<<31, 1<<31, 1<<31), "more than the 1073741824 bytes"},
		{"gzip of garbage", gzipped(t, []byte("garbage")), "not an IDX file"},
		{"gzip of too much", gzipped(t, append(slices.Clone(plain), 1)), "trailing garbage after the 60 data bytes"},
		{"gzip of too little", gzipped(t, plain[:40]), "truncated: 24 data bytes"},
		{"gzip magic only", packed[:2], "truncated gzip data"},
		{"cut gzip", packed[:len(packed)-12], "truncated gzip data"},
		{"cut checksum", packed[:len(packed)-1], "truncated gzip data"},
		{"wrong checksum", alter(packed, len(packed)-8, packed[len(packed)-8]^1), "corrupt gzip data"},
		{"wrong method", alter(packed, 2, 0), "corrupt gzip data"},
		{"garbage after gzip", append(slices.Clone(packed), 'x'), "trailing garbage after the gzip data"},
		{"two gzip members", append(slices.Clone(packed), packed...), "trailing garbage after the gzip data"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := DecodeIDX(bytes.NewReader(c.content), "some/file")
			if x != nil {
				t.Error("data returned with an error")
			}
			wantFileError(t, err, "some/file", c.say)
		})
	}
}

// Whatever byte a file is cut at, and whatever byte of gzip data is damaged, an
// error or the true content comes back.
func TestDecodeIDXDamage(t *testing.T) {
	plain := encodeIDX(ramp(60), 3, 4, 5)
	for _, content := range [][]byte{plain, gzipped(t, plain)} {
		for n := range content {
			_, err := DecodeIDX(bytes.NewReader(content[:n]), "cut")
			wantFileError(t, err, "cut")
		}
	}
	packed := gzipped(t, plain)
	for i := range packed {
		for bit := range 8 {
			b := slices.Clone(packed)
			b[i] ^= 1 << bit
			x, err := DecodeIDX(bytes.NewReader(b), "damaged")
			if err != nil {
				wantFileError(t, err, "damaged")
			} else if !bytes.Equal(x.Data, ramp(60)) {
				t.Fatalf("bit %d of byte %d flipped: wrong content without an error", bit, i)
			}
		}
	}
}

func TestReadIDXUnreadable(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	_, err := ReadIDX(missing)
	wantFileError(t, err, missing, "no such file", "-download")
	if !errors.Is(err, os.ErrNotExist) {
		t.Error("the cause is lost")
	}
	_, err = ReadIDX(dir)
	wantFileError(t, err, dir, "directory")
	_, err = ReadIDX("two\nlines")
	wantFileError(t, err, `"two\nlines"`)
	for _, before := range [][]byte{encodeIDX(nil, 9), gzipped(t, encodeIDX(ramp(9), 9))} { // the second fails behind its end
		failing := io.MultiReader(bytes.NewReader(before), errReader{errors.New("disk on fire")})
		_, err = DecodeIDX(failing, "f")
		wantFileError(t, err, "f", "disk on fire")
	}
}

type errReader struct{ error }

func (e errReader) Read([]byte) (int, error) { return 0, e.error }

// A header that lies about a gigabyte must not cost a gigabyte.
func TestDecodeIDXMemory(t *testing.T) {
	content := encodeIDX(ramp(100), 1<<30)
	for _, c := range [][]byte{content, gzipped(t, content)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := DecodeIDX(bytes.NewReader(c), "liar")
		runtime.ReadMemStats(&after)
		wantFileError(t, err, "liar", "truncated: 100 data bytes of the 1073741824")
		if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
			t.Errorf("allocated %d bytes", got)
		}
	}
}

func FuzzIDX(f *testing.F) {
	plain := encodeIDX(ramp(24), 2, 3, 4)
	f.Add(plain)
	f.Add(plain[:17])
	f.Add(append(slices.Clone(plain), 9))
	f.Add(encodeIDX(nil, 1<<31, 1<<31))
	f.Add(gzipped(f, plain))
	f.Add(gzipped(f, plain)[:30])
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, content []byte) {
		x, err := DecodeIDX(bytes.NewReader(content), "fuzz")
		if err != nil {
			wantFileError(t, err, "fuzz")
			return
		}
		n := 1
		for _, d := range x.Dims {
			n *= d
		}
		if n != len(x.Data) || n == 0 {
			t.Fatalf("%d values in %v", len(x.Data), x.Dims)
		}
		if content[0] == 0 && !bytes.Equal(append(x.header(), x.Data...), content) {
			t.Fatal("a plain file was not read to the byte")
		}
	})
}
