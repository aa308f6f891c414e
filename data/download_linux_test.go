package data

import (
	"syscall"
	"testing"
)

func TestDownloadDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("needs a small file system of its own, and a tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	set, content := remote()
	first, hits := mirror(t, serve(content))
	set.Mirrors = []string{first, first}
	wantFileError(t, testDownloader(t).set(t.Context(), dir, set, nil), dir, "no space left on device", "make room")
	wantOnly(t, dir, nil)
	if hits.Load() != 1 {
		t.Errorf("%d requests: another mirror cannot help a full disk", hits.Load())
	}
}
