package data

import (
	"testing"

	"github.com/noether-go/noether/internal/smalldisk"
)

func TestDownloadDiskFull(t *testing.T) {
	dir, _ := smalldisk.Mount(t, "64k")
	set, content := remote()
	first, hits := mirror(t, serve(content))
	set.Mirrors = []string{first, first}
	wantFileError(t, testDownloader(t).set(t.Context(), dir, set, nil), dir, "no space left on device", "make room")
	wantOnly(t, dir, nil)
	if hits.Load() != 1 {
		t.Errorf("%d requests: another mirror cannot help a full disk", hits.Load())
	}
}
