package data

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/noether-go/noether/internal/atomicfile"
)

// Bounds on what is taken out of an archive.
const (
	maxEntries = 10000
	maxMember  = 1 << 30 // bytes of a file whose size no set states
)

// Unpacked reports whether dir holds the files of s, each of the size that s
// states or, under another name, of any.
func (s FileSet) Unpacked(dir string) bool {
	paths, err := s.find(dir)
	if err != nil {
		return false
	}
	for i, f := range s.Files {
		if info, err := os.Stat(paths[i]); err != nil || filepath.Base(paths[i]) == f.Name && f.Size > 0 && info.Size() != f.Size {
			return false
		}
	}
	return true
}

// unpack takes the files of s out of its archive, which lies in dir, and puts them
// into dir once all are there. What else the archive holds is left in it. The
// error is a *FileError, or wraps ctx's.
func (s FileSet) unpack(ctx context.Context, dir string) (err error) {
	u := unpacking{ctx: ctx, dir: dir, set: s, path: filepath.Join(dir, s.Archive.Name), parts: map[string]string{}}
	defer func() {
		for _, part := range u.parts {
			os.Remove(part) // those in place have other names by now
		}
		for _, done := range u.tracked {
			done()
		}
	}()
	f, err := os.Open(u.path)
	if err != nil {
		return localError(u.path, "cannot be opened", err)
	}
	defer f.Close() // read only: nothing to lose
	if strings.HasSuffix(s.Archive.Name, ".zip") {
		err = u.zip(f)
	} else {
		err = u.tar(f)
	}
	if err != nil {
		return err
	}
	var missing []string
	for _, f := range s.Files {
		if u.parts[f.Name] == "" {
			missing = append(missing, f.Name)
		}
	}
	if len(missing) > 0 {
		return u.bad("it lacks %s", strings.Join(missing, ", "))
	}
	for _, f := range s.Files {
		to := filepath.Join(dir, f.Name)
		if err := os.Rename(u.parts[f.Name], to); err != nil {
			return localError(to, "cannot be put in place", err)
		}
	}
	syncDir(dir)
	return nil
}

// unpacking takes files out of one archive. Names in it only choose which of the
// set's files an entry is; no path is made of them.
type unpacking struct {
	ctx   context.Context
	dir   string
	set   FileSet
	path  string            // of the archive
	parts map[string]string // temporary file of each file that was found

	tracked []func() // what atomicfile.Track returned for each
}

func (u *unpacking) bad(format string, args ...any) error {
	return &FileError{Path: u.path, Problem: fmt.Sprintf(format, args...), Remedy: "remove the archive and fetch it again with -download"}
}

// tar reads an archive of format .tar.gz, up to the last file that is wanted.
func (u *unpacking) tar(r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return u.bad("not a .tar.gz archive: %v", cause(err))
	}
	t := tar.NewReader(contextReader{u.ctx, z}) // skipping an entry unpacks it
	for entries := 0; len(u.parts) < len(u.set.Files); entries++ {
		h, err := t.Next()
		switch {
		case u.ctx.Err() != nil:
			return u.cancelled()
		case err == io.EOF:
			return nil
		case err != nil:
			return u.bad("damaged archive: %v", cause(err))
		case entries == maxEntries:
			return u.bad("more than %d entries", maxEntries)
		case h.Typeflag != tar.TypeReg:
			continue
		}
		if err := u.take(h.Name, h.Size, func() (io.ReadCloser, error) { return io.NopCloser(t), nil }); err != nil {
			return err
		}
	}
	return nil
}

// zip reads an archive of format .zip.
func (u *unpacking) zip(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return localError(u.path, "cannot be read", err)
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return u.bad("not a .zip archive: %v", cause(err))
	}
	if len(z.File) > maxEntries {
		return u.bad("more than %d entries", maxEntries)
	}
	for _, entry := range z.File {
		if !entry.Mode().IsRegular() {
			continue
		}
		size := entry.UncompressedSize64
		if err := u.take(entry.Name, int64(min(size, math.MaxInt64)), entry.Open); err != nil {
			return err
		}
	}
	return nil
}

// take writes an entry of that size to a temporary file, if it is one of the
// set's files by the last part of its name.
func (u *unpacking) take(name string, size int64, open func() (io.ReadCloser, error)) error {
	var f *File
	for i := range u.set.Files {
		if u.set.Files[i].Name == path.Base(name) {
			f = &u.set.Files[i]
		}
	}
	switch {
	case f == nil:
		return nil
	case u.parts[f.Name] != "":
		return u.bad("it holds %s twice", f.Name)
	case f.Size > 0 && size != f.Size:
		return u.bad("%s in it has %d bytes, %d expected", f.Name, size, f.Size)
	case size > maxMember && f.Size == 0:
		return u.bad("%s in it has more than %d bytes", f.Name, maxMember)
	}
	r, err := open()
	if err != nil {
		return u.bad("%s in it cannot be read: %v", f.Name, cause(err))
	}
	defer r.Close() // read only: nothing to lose
	part, err := os.CreateTemp(u.dir, "."+f.Name+".*.part")
	if err != nil {
		return localError(u.dir, "cannot be written to", err)
	}
	defer part.Close() // fails after the Close below, which counts
	u.parts[f.Name] = part.Name()
	u.tracked = append(u.tracked, atomicfile.Track(part))
	buf := make([]byte, 1<<18)
	for done := int64(0); ; {
		n, readErr := r.Read(buf)
		if u.ctx.Err() != nil {
			return u.cancelled()
		}
		if done += int64(n); done > size || readErr == io.EOF && done != size {
			return u.bad("%s in it has %d bytes and says %d", f.Name, done, size)
		}
		if _, err := part.Write(buf[:n]); err != nil {
			return localError(part.Name(), "cannot be written", err)
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			return u.bad("%s in it is damaged: %v", f.Name, cause(readErr))
		}
	}
	return complete(part)
}

func (u *unpacking) cancelled() error { return cancelled(u.set.Archive.Name, context.Cause(u.ctx)) }
