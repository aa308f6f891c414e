package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/noether-go/noether/internal/smalldisk"
)

// TestFullDisk: whether the disk is full before the last of the buffer is written or while
// much is, the old file stays and the error says so.
func TestFullDisk(t *testing.T) {
	dir, _ := smalldisk.Mount(t, "16k")
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
