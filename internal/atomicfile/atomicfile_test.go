package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

func TestClean(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{".last.safetensors.ABCDEFGH" + suffix, "kept" + suffix, ".kept", "kept"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := Clean(dir); err != nil {
		t.Fatal(err)
	}
	if n := names(t, dir); len(n) != 3 {
		t.Errorf("folder holds %v", n)
	}
	if err := Clean(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}
