package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk: whether the disk is full before the last of the buffer is written or while
// much is, the old file stays and the error says so.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("needs a small file system of its own, and a tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "best.safetensors")
	if err := WriteFile(path, text("old")); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{32 << 10, 3 << 20} {
		err := WriteFile(path, func(w io.Writer) error {
			w.Write(make([]byte, size)) // its error sticks to w
			return nil
		})
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) {
			t.Errorf("%d bytes: error is %v", size, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "old" || len(names(t, dir)) != 1 {
			t.Errorf("%d bytes: old file is %q, %v; folder holds %v", size, got, err, names(t, dir))
		}
	}
}
