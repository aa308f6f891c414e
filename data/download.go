package data

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/noether-go/noether/internal/atomicfile"
)

// Progress is told how far a download is: done of total bytes of the named
// file, at its beginning, now and then, and at its end. It starts again from
// zero when another mirror has to be tried.
type Progress func(file string, done, total int64)

// Download fetches the files of the set into dir, which it makes if need be.
// Files that are there already, with the right content, are left alone; any
// other file of the same name is replaced. progress, which may be nil, is told of
// those alone that are fetched.
//
// Where the set has an archive, that is fetched, unless it lies in dir already,
// and unpacked; if it was fetched it is then removed. Files that are there
// already are known by their sizes.
//
// Several may fetch a set into one directory at the same time.
//
// Each file is taken from the first mirror, over HTTPS only, that delivers
// exactly the size and the SHA-256 (or MD5, see File) that the set says. It is written to a
// temporary file in dir, synced to the disk, and only then given its name, so
// under that name there is never anything but the whole file; whatever else
// happens (a cancelled ctx included) the temporary file is removed.
//
// The error is a *FileError, for failed mirrors one that names what was wrong
// with each, or wraps ctx's when it was cancelled.
func Download(ctx context.Context, dir string, set FileSet, progress Progress) error {
	d := downloader{
		client: &http.Client{
			Transport: http.DefaultTransport, // proxies from the environment, TLS checks
		},
		stall: 60 * time.Second,
	}
	return d.set(ctx, dir, set, progress)
}

// downloader carries what the tests replace.
type downloader struct {
	client *http.Client
	stall  time.Duration // a mirror that sends nothing for this long has failed
}

// maxUnsized bounds a file whose size neither the set nor the mirror states.
const maxUnsized = 1 << 30

var errStalled = errors.New("it stopped sending")

func (d *downloader) set(ctx context.Context, dir string, set FileSet, progress Progress) error {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return localError(dir, "cannot be made a directory", err)
	}
	if set.Archive != nil {
		return d.archive(ctx, dir, set, progress)
	}
	for _, f := range set.Files {
		if f.holds(ctx, filepath.Join(dir, f.Name)) {
			continue
		}
		if err := d.file(ctx, dir, f, set.Mirrors, progress); err != nil {
			return err
		}
	}
	return nil
}

// archive fetches and unpacks the archive of a set.
func (d *downloader) archive(ctx context.Context, dir string, set FileSet, progress Progress) error {
	if ctx.Err() != nil {
		return cancelled(set.Archive.Name, context.Cause(ctx))
	}
	if set.Unpacked(dir) {
		return nil
	}
	path := filepath.Join(dir, set.Archive.Name)
	given := set.Archive.holds(ctx, path)
	if !given {
		if err := d.file(ctx, dir, *set.Archive, set.Mirrors, progress); err != nil {
			return err
		}
	}
	if err := set.unpack(ctx, dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) && set.Unpacked(dir) {
			return nil // another Download was faster, and has removed the archive
		}
		return err
	}
	if !given {
		os.Remove(path) // in the way of nothing if that fails
	}
	return nil
}

// file fetches f from the first mirror that delivers it.
func (d *downloader) file(ctx context.Context, dir string, f File, mirrors []string, progress Progress) error {
	if ctx.Err() != nil { // which may have cut holds short
		return cancelled(f.Name, context.Cause(ctx))
	}
	var failed []string
	var last error
	for _, mirror := range mirrors {
		address := strings.TrimSuffix(mirror, "/") + "/" + f.Name
		err := d.fetch(ctx, dir, f, address, progress)
		var local *FileError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return cancelled(f.Name, context.Cause(ctx))
		case errors.As(err, &local): // the disk is at fault, not the mirror
			return local
		}
		last = err
		failed = append(failed, oneLine(address)+": "+oneLine(err.Error()))
	}
	if len(failed) == 0 {
		return &FileError{Path: f.Name, Problem: "cannot be downloaded: no mirror is known", Remedy: "get the file by other means and give its directory with -data"}
	}
	return &FileError{
		Path:    f.Name,
		Problem: "no mirror delivered it (" + strings.Join(failed, "; ") + ")",
		Remedy:  "check the network and try again, or get the file by other means and give its directory with -data",
		Err:     last,
	}
}

// fetch takes f from address. Its error is a *FileError when writing failed.
func (d *downloader) fetch(ctx context.Context, dir string, f File, address string, progress Progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(d.stall, func() { cancel(fmt.Errorf("%w for %v", errStalled, d.stall)) })
	defer watchdog.Stop()
	response, err := d.request(ctx, address)
	if err != nil {
		return err
	}
	defer response.Body.Close() // read only: nothing to lose
	t := transfer{file: f, body: response.Body, alive: func() { watchdog.Reset(d.stall) }, progress: progress}
	if err := t.offered(response.ContentLength); err != nil {
		return err
	}
	return place(dir, f.Name, func(tmp *os.File) error { return t.receive(ctx, tmp) })
}

// request asks for address, over HTTPS only, and returns a response that has it.
func (d *downloader) request(ctx context.Context, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, reason(ctx, err)
	}
	if request.URL.Scheme != "https" {
		return nil, fmt.Errorf("scheme %q, only https is allowed", request.URL.Scheme)
	}
	// The files are packed already: asking for gzip ourselves keeps the client
	// and the servers from unpacking them on the way.
	request.Header.Set("Accept-Encoding", "gzip")
	request.Header.Set("User-Agent", "noether (github.com/noether-go/noether)")
	client := *d.client
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" {
			return fmt.Errorf("redirected to scheme %q, only https is allowed", r.URL.Scheme)
		}
		if len(via) > 5 {
			return errors.New("redirected more than 5 times")
		}
		return nil
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, reason(ctx, err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close() // read only: nothing to lose
		return nil, fmt.Errorf("status %s", response.Status)
	}
	return response, nil
}

// reason gives the reason why ctx was cancelled instead of saying that it was.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err // the address is named already
	}
	return err
}

// transfer is a file on its way.
type transfer struct {
	file     File // with the size that the mirror states, where the set states none
	most     int64
	body     io.Reader
	alive    func() // called when something has arrived
	progress Progress
}

// offered notes how many bytes the mirror offers, -1 where it does not say.
func (t *transfer) offered(n int64) error {
	t.most = t.file.Size
	if t.most == 0 {
		t.most = maxUnsized
	}
	switch {
	case n < 0:
	case t.file.Size > 0 && n != t.file.Size:
		return fmt.Errorf("%d bytes offered, %d expected", n, t.file.Size)
	case n > t.most:
		return fmt.Errorf("%d bytes offered, at most %d expected", n, t.most)
	default:
		t.file.Size, t.most = n, n
	}
	return nil
}

// receive copies the body to tmp and checks it.
func (t *transfer) receive(ctx context.Context, tmp *os.File) error {
	t.progress(t.file.Name, 0, t.file.Size)
	sum, algorithm, want := t.file.digest()
	buf := make([]byte, 64<<10)
	var done int64
	for {
		n, readErr := t.body.Read(buf)
		t.alive()
		if done += int64(n); done > t.most {
			return fmt.Errorf("more than the expected %d bytes", t.most)
		}
		sum.Write(buf[:n]) // a hash never fails
		if _, err := tmp.Write(buf[:n]); err != nil {
			return localError(tmp.Name(), "cannot be written", err)
		}
		if n > 0 {
			t.progress(t.file.Name, done, t.file.Size)
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			if errors.Is(readErr, io.ErrUnexpectedEOF) && ctx.Err() == nil {
				break // the length tells it better
			}
			return reason(ctx, readErr)
		}
	}
	if size := t.file.Size; size > 0 && done != size {
		return fmt.Errorf("ended after %d of %d bytes", done, size)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("wrong checksum: %s %s, expected %s", algorithm, got, want)
	}
	if err := ctx.Err(); err != nil {
		return reason(ctx, err)
	}
	return nil
}

// place makes the file name in dir: a temporary one that gets its name when fill has
// succeeded and all of it is on the disk, and is removed otherwise.
func place(dir, name string, fill func(tmp *os.File) error) (err error) {
	tmp, err := os.CreateTemp(dir, "."+name+".*.part")
	if err != nil {
		return localError(dir, "cannot be written to", err)
	}
	defer atomicfile.Track(tmp)()
	defer func() {
		if err != nil {
			tmp.Close() // a second Close only fails
			os.Remove(tmp.Name())
		}
	}()
	if err := fill(tmp); err != nil {
		return err
	}
	if err := complete(tmp); err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	if err := os.Rename(tmp.Name(), path); err != nil {
		return localError(path, "cannot be put in place", err)
	}
	syncDir(dir)
	return nil
}

// complete puts a temporary file on the disk, for all to read, and closes it.
func complete(tmp *os.File) error {
	err := tmp.Chmod(0o644) // CreateTemp's files are private
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = tmp.Close()
	}
	if err != nil {
		return localError(tmp.Name(), "cannot be written", err)
	}
	return nil
}

// holds reports whether the file at path is f. It is not, once ctx is cancelled.
func (f File) holds(ctx context.Context, path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() // read only: nothing to lose
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || f.Size > 0 && info.Size() != f.Size {
		return false
	}
	sum, _, want := f.digest()
	if _, err := io.Copy(sum, contextReader{ctx, file}); err != nil {
		return false
	}
	return hex.EncodeToString(sum.Sum(nil)) == want
}

// contextReader reads from r until ctx is cancelled. Archives are gigabytes, which take a while
// to hash and to unpack.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(b []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(b)
}

// digest returns the hash that tells f's content, its name and its value.
func (f File) digest() (h hash.Hash, algorithm, want string) {
	if f.SHA256 != "" {
		return sha256.New(), "SHA-256", f.SHA256
	}
	return md5.New(), "MD5", f.MD5
}

// syncDir makes a rename in dir durable where the system can do that. The file
// itself is whole either way, so nothing depends on it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

func localError(path, problem string, err error) error {
	e := &FileError{Path: path, Problem: problem + ": " + cause(err).Error(), Remedy: "give another directory with -data", Err: err}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		e.Remedy = "make room, or give another directory with -data"
	}
	return e
}

func cancelled(file string, err error) error {
	return &FileError{Path: file, Problem: "the download was cancelled (" + err.Error() + ")", Remedy: "nothing half-written was kept: start it again", Err: err}
}
