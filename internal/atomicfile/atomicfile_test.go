package atomicfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestWriteFileReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	for _, s := range []string{"first", strings.Repeat("second ", 1<<15), ""} {
		if err := WriteFile(path, text(s)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != s {
			t.Fatalf("read %d bytes, %v; wrote %d", len(got), err, len(s))
		}
		if n := names(t, dir); len(n) != 1 {
			t.Fatalf("folder holds %v", n)
		}
	}
}

func TestWriteFileRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := WriteFile("a", text("x")); err != nil {
		t.Fatal(err)
	}
	if n := names(t, "."); len(n) != 1 || n[0] != "a" {
		t.Fatalf("folder holds %v", n)
	}
}

// TestWriteFileFails: the old file stays whole and nothing else is left, whatever
// goes wrong and however much had been written.
func TestWriteFileFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "last.safetensors")
	if err := WriteFile(path, text("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err := WriteFile(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), suffix) {
		t.Errorf("error is %q", err)
	}
	other := filepath.Join(dir, "other")
	err = WriteFile(path, func(io.Writer) error { _, err := os.Open(other); return err })
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), other) {
		t.Errorf("of another file: error is %q", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		WriteFile(path, func(io.Writer) error { panic("in write") })
	}()
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("old file is %q, %v", got, err)
	}
	if n := names(t, dir); len(n) != 1 {
		t.Errorf("folder holds %v", n)
	}

	// A folder stands where the file should go: the rename fails.
	sub := filepath.Join(dir, "sub")
	if err := os.MkdirAll(filepath.Join(sub, "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(sub, text("new")); err == nil || !strings.Contains(err.Error(), sub) || strings.Contains(err.Error(), suffix) {
		t.Errorf("error is %q", err)
	}
	if n := names(t, dir); len(n) != 2 {
		t.Errorf("folder holds %v", n)
	}

	missing := filepath.Join(dir, "missing", "file")
	if err := WriteFile(missing, text("new")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) || strings.Contains(err.Error(), suffix) {
		t.Errorf("error is %q", err)
	}
}

// A file may have the longest name that a folder takes.
func TestLongName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{strings.Repeat("n", 255), "n" + strings.Repeat("é", 127)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Skip("needs names of 255 bytes: ", err)
		}
		err := WriteFile(path, text("new"))
		if got, _ := os.ReadFile(path); err != nil || string(got) != "new" {
			t.Errorf("%q, %v in a file of %d bytes' name", got, err, len(name))
		}
	}
	for _, name := range []string{"x" + strings.Repeat("é", 127), strings.Repeat("é", 127)} {
		if short := shortened(name); len(short) > mostKept || len(short) < mostKept-1 || !utf8.ValidString(short) || !strings.HasPrefix(name, short) {
			t.Errorf("%q is shortened to %q", name, short)
		}
	}
}

func TestClean(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{".last.safetensors.ABCDEFGH" + suffix, "kept" + suffix, ".kept", "kept"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".folder"+suffix), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Clean(dir); err != nil {
		t.Fatal(err)
	}
	if n := names(t, dir); len(n) != 4 {
		t.Errorf("folder holds %v", n)
	}
	if err := Clean(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

// A context that ends before, while or after the content is written leaves the old file,
// and one that is over counts no more when it is released.
func TestUntil(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "net.onnx")
	if err := WriteFile(path, text("old")); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(w io.Writer, cancel func()) error{
		"before": func(w io.Writer, _ func()) error { return nil },
		"while": func(w io.Writer, cancel func()) error {
			if _, err := w.Write(make([]byte, 3*between)); err != nil {
				t.Error("stopped too early: ", err)
			}
			cancel()
			n, err := w.Write(make([]byte, between))
			if n > 0 {
				t.Errorf("%d bytes were written afterwards", n)
			}
			return err
		},
		"after": func(w io.Writer, cancel func()) error {
			defer cancel()
			_, err := w.Write(make([]byte, 100))
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if name == "before" {
			cancel()
		}
		release := Until(ctx)
		err := WriteFile(path, func(w io.Writer) error { return write(w, cancel) })
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error is %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "old" || len(names(t, dir)) != 1 {
			t.Errorf("%s: old file is %q, %v; folder holds %v", name, got, err, names(t, dir))
		}
		release()
	}
	if err := WriteFile(path, text("new")); err != nil {
		t.Error("after release: ", err)
	}
}

// What is being written goes, in all folders, and nothing new is begun.
func TestAbandon(t *testing.T) {
	defer func() { open.abandoned = false }()
	dir, other := t.TempDir(), t.TempDir()
	write := func(next func() error) func(io.Writer) error {
		return func(w io.Writer) error {
			if _, err := w.Write(make([]byte, between)); err != nil {
				return err
			}
			return next()
		}
	}
	err := WriteFile(filepath.Join(dir, "a"), write(func() error {
		inner := WriteFile(filepath.Join(other, "b"), write(func() error {
			f, err := os.CreateTemp(other, "")
			if err != nil {
				t.Fatal(err)
			}
			defer Track(f)()
			if len(names(t, dir)) != 1 || len(names(t, other)) != 2 {
				t.Error("nothing is being written")
			}
			if Abandoned() {
				t.Error("abandoned before Abandon")
			}
			if Abandon(); !Abandoned() {
				t.Error("not abandoned by Abandon")
			}
			if n := append(names(t, dir), names(t, other)...); len(n) > 0 {
				t.Errorf("folders hold %v", n)
			}
			return nil
		}))
		if inner == nil {
			t.Error("an abandoned file was put in place")
		}
		return nil
	}))
	if err == nil {
		t.Error("an abandoned file was put in place")
	}
	if err := WriteFile(filepath.Join(dir, "c"), text("c")); !errors.Is(err, errAbandoned) {
		t.Errorf("error is %v", err)
	}
	late, err := os.CreateTemp(other, "")
	if err != nil {
		t.Fatal(err)
	}
	Track(late)()
	if n := append(names(t, dir), names(t, other)...); len(n) > 0 || len(open.files) > 0 {
		t.Errorf("folders hold %v, %d files are open", n, len(open.files))
	}
}
