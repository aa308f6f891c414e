package smalldisk

import (
	"syscall"
	"testing"
)

// Mount mounts a tmpfs that holds so many bytes, such as "24k", until the test ends, and returns its directory with a
// function that gives it another size. The test is skipped where that is not permitted.
func Mount(t *testing.T, size string) (dir string, resize func(size string)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs a small file system of its own, and a tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, func(size string) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
	}
}
