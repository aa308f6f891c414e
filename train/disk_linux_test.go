package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/smalldisk"
)

// On a disk that fills up during training the run ends with what is whole, and
// can be gone on with when there is room.
func TestFullDisk(t *testing.T) {
	disk, resize := smalldisk.Mount(t, "24k")
	dir := filepath.Join(disk, "run")
	code, stdout, stderr := here(tinyRun(dir)...)
	refused(t, exitFailure, code, stdout, stderr, dir, "no space left on device", "make room", "-resume "+dir)
	for name := range contents(t, dir) {
		if strings.Contains(name, "tmp") || strings.Contains(name, "lock") || strings.Contains(name, resultFile) {
			t.Errorf("left behind: %s", name)
		}
	}
	resize("4m")
	if code, _, stderr := here("-quiet", "-resume", dir); code != exitOK {
		t.Fatal(code, stderr)
	}
	sameWeights(t, dir)
}

// A disk that is full from the start leaves nothing.
func TestFullDiskAtTheStart(t *testing.T) {
	disk, _ := smalldisk.Mount(t, "4k")
	write(t, make([]byte, 4096), disk, "full")
	dir := filepath.Join(disk, "new", "run")
	code, stdout, stderr := here(tinyRun(dir)...)
	refused(t, exitFailure, code, stdout, stderr, dir, "no space left on device", "give another directory")
	if list, err := os.ReadDir(disk); err != nil || len(list) != 1 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// A run that cannot be written whole leaves nothing.
func TestImportOntoAFullDisk(t *testing.T) {
	disk, _ := smalldisk.Mount(t, "8k")
	file := filepath.Join(t.TempDir(), "state.safetensors")
	exportTo(t, finished(t), file)
	there := mkdir(t, disk, "there")
	for _, out := range []string{filepath.Join(disk, "new", "run"), there} {
		code, stdout, stderr := here("import", "-config", filepath.Join(finished(t), configFile), "-out", out, file)
		refused(t, exitFailure, code, stdout, stderr, "no space left on device", "another directory")
		if list, err := os.ReadDir(disk); err != nil || len(list) != 1 || list[0].Name() != "there" {
			t.Errorf("-out %s leaves %v, %v", out, list, err)
		}
		if list, err := os.ReadDir(there); err != nil || len(list) > 0 {
			t.Errorf("-out %s leaves %v, %v", out, list, err)
		}
	}
}

// An export that cannot be written says what to do, and leaves nothing.
func TestExportOntoAFullDisk(t *testing.T) {
	disk, _ := smalldisk.Mount(t, "8k")
	for _, name := range []string{"net.onnx", "net.safetensors"} {
		code, stdout, stderr := here("export", finished(t), filepath.Join(disk, name))
		refused(t, exitFailure, code, stdout, stderr, filepath.Join(disk, name), "no space left on device", "make room, or give a file")
		if list, err := os.ReadDir(disk); err != nil || len(list) > 0 {
			t.Errorf("left behind: %v, %v", list, err)
		}
	}
}
