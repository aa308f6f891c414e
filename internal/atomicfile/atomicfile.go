// Package atomicfile replaces files as a whole: whoever reads the path, at any
// moment and after any crash, finds the old contents or the new ones.
package atomicfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// suffix marks temporary files, so that Clean knows them.
const suffix = ".noether-tmp"

// WriteFile writes what write produces to path: to a temporary file in the same
// folder, which is synced to the disk and then renamed. On any error until then,
// from write too, path is untouched and the temporary file is removed, and the error
// names the path. After that only the folder can fail to be synced: the new contents are
// there, and a crash may bring the old ones back. Where path is a symbolic link, the link is
// replaced.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, "."+shortened(base)+"."+rand.Text()[:8]+suffix)
	f, err := create(temp)
	if err != nil {
		return rename(err, path)
	}
	done := false
	defer func() { // also when write panics
		if !done {
			f.Close()
			os.Remove(temp)
		}
		forget(f)
	}()
	w := bufio.NewWriterSize(stoppable{f}, 1<<16)
	if err := write(w); err != nil {
		return rename(err, path)
	}
	if err := w.Flush(); err != nil {
		return rename(err, path)
	}
	if err := f.Sync(); err != nil {
		return rename(err, path)
	}
	if err := f.Close(); err != nil {
		return rename(err, path)
	}
	if err := stopped(); err != nil { // syncing may have taken long
		return rename(err, path)
	}
	if err := os.Rename(temp, path); err != nil {
		return rename(err, path)
	}
	done = true
	return syncDir(filepath.Dir(path))
}

// mostKept is how many bytes of a name the temporary one has: where a path may be as long as the file
// system takes it, what stands around it has to fit too.
const mostKept = 200

// shortened returns the beginning of a name, without a part of a character at its end.
func shortened(base string) string {
	if len(base) <= mostKept {
		return base
	}
	return strings.ToValidUTF8(base[:mostKept], "")
}

// Clean removes from dir what a WriteFile that was killed left behind. No other
// process may be writing to dir.
func Clean(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if name := e.Name(); strings.HasPrefix(name, ".") && strings.HasSuffix(name, suffix) && e.Type().IsRegular() {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// rename makes err speak of path, not of the temporary file.
func rename(err error, path string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && strings.HasSuffix(pe.Path, suffix) {
		err = pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		err = le.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}

// syncDir makes a rename in dir durable. Systems that cannot sync a folder
// say so with EINVAL, or, like Windows, do not open one for that.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
