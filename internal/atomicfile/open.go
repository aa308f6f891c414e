package atomicfile

import (
	"context"
	"errors"
	"os"
	"sync"
)

// errAbandoned is what WriteFile returns after Abandon.
var errAbandoned = errors.New("the program is ending")

// open are the temporary files that are being written, and what may end that.
var open struct {
	sync.Mutex
	files     map[*os.File]struct{}
	until     context.Context // nil: nothing ends it
	abandoned bool
}

// Until makes every WriteFile, until release is called, fail with ctx's error once
// ctx has ended, as if write had returned it. One Until at a time is in force.
func Until(ctx context.Context) (release func()) {
	set := func(ctx context.Context) {
		open.Lock()
		defer open.Unlock()
		open.until = ctx
	}
	set(ctx)
	return func() { set(nil) }
}

// Abandon removes the temporary files that are being written and keeps others from
// being made. It is for a program that exits without waiting for WriteFile.
func Abandon() {
	open.Lock()
	defer open.Unlock()
	open.abandoned = true
	for f := range open.files {
		remove(f)
	}
}

// Abandoned reports whether Abandon was called: what fails from then on may have failed by that.
func Abandoned() bool {
	open.Lock()
	defer open.Unlock()
	return open.abandoned
}

// Track has Abandon remove a temporary file that is not WriteFile's too, until done is
// called.
func Track(f *os.File) (done func()) {
	open.Lock()
	defer open.Unlock()
	if open.abandoned {
		remove(f)
	}
	track(f)
	return func() { forget(f) }
}

// remove closes first: some systems remove no open file.
func remove(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

func track(f *os.File) {
	if open.files == nil {
		open.files = map[*os.File]struct{}{}
	}
	open.files[f] = struct{}{}
}

// create makes a temporary file.
func create(path string) (*os.File, error) {
	open.Lock()
	defer open.Unlock()
	if open.abandoned {
		return nil, errAbandoned
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	track(f)
	return f, nil
}

// forget is for a temporary file that was renamed or removed.
func forget(f *os.File) {
	open.Lock()
	defer open.Unlock()
	delete(open.files, f)
}

// stopped returns the error of the context that Until was given.
func stopped() error {
	open.Lock()
	defer open.Unlock()
	if open.until == nil {
		return nil
	}
	return open.until.Err()
}

// stoppable writes to a file until Until's context ends.
type stoppable struct{ f *os.File }

// between is how many bytes are written between two looks at the context.
const between = 1 << 20

func (s stoppable) Write(p []byte) (n int, err error) {
	for {
		if err := stopped(); err != nil {
			return n, err
		}
		m, err := s.f.Write(p[n:min(len(p), n+between)])
		if n += m; err != nil || n == len(p) {
			return n, err
		}
	}
}
