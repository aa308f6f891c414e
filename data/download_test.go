package data

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// remote is a set of two files and what a good mirror sends for them.
func remote() (FileSet, map[string][]byte) {
	content := map[string][]byte{"one.gz": ramp(200_000), "two.gz": []byte("second")}
	set := FileSet{Name: "remote"}
	for _, name := range []string{"one.gz", "two.gz"} {
		set.Files = append(set.Files, File{Name: name, Size: int64(len(content[name])), SHA256: fmt.Sprintf("%x", sha256.Sum256(content[name]))})
	}
	return set, content
}

// mirror starts an HTTPS server and returns its address with a path behind it.
// hits counts its requests.
func mirror(t *testing.T, handle http.HandlerFunc) (address string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		handle(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that leave are part of the tests
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + "/some/path/", hits
}

// serve is a good mirror.
func serve(content map[string][]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, ok := content[filepath.Base(r.URL.Path)]
		if !ok || !strings.HasPrefix(r.URL.Path, "/some/path/") {
			http.NotFound(w, r)
			return
		}
		w.Write(c)
	}
}

// testDownloader trusts the certificates of all test servers.
func testDownloader(t *testing.T) *downloader {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	return &downloader{client: s.Client(), stall: time.Minute}
}

// wantOnly fails unless dir holds exactly the named files, with their content.
func wantOnly(t *testing.T, dir string, content map[string][]byte, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
		if b, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || !bytes.Equal(b, content[e.Name()]) {
			t.Errorf("%s has the wrong content (%v)", e.Name(), err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("the directory holds %v, want %v", got, names)
	}
}

func TestDownload(t *testing.T) {
	set, content := remote()
	address, hits := mirror(t, serve(content))
	set.Mirrors = []string{strings.TrimSuffix(address, "/")} // with or without the slash
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var ends []string
	last := map[string]int64{}
	progress := func(file string, done, total int64) {
		if before, ok := last[file]; ok && done < before || total != int64(len(content[file])) {
			t.Errorf("%s: %d of %d after %d", file, done, total, before)
		}
		if last[file] = done; done == 0 || done == total {
			ends = append(ends, fmt.Sprint(file, done))
		}
	}
	d := testDownloader(t)
	if err := d.set(t.Context(), dir, set, progress); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, dir, content, "one.gz", "two.gz")
	if want := "[one.gz0 one.gz200000 two.gz0 two.gz6]"; fmt.Sprint(ends) != want {
		t.Errorf("progress %v, want %s", ends, want)
	}
	if info, err := os.Stat(filepath.Join(dir, "one.gz")); err != nil || info.Mode().Perm()&0o444 != 0o444 {
		t.Errorf("mode %v, %v: not readable by all", info.Mode(), err)
	}

	// Again: nothing to do, or to tell. With one file damaged: that one.
	ends = nil
	clear(last)
	if err := d.set(t.Context(), dir, set, progress); err != nil || hits.Load() != 2 || ends != nil {
		t.Errorf("%v, %d requests in all, want 2; progress %v", err, hits.Load(), ends)
	}
	damaged := bytes.Clone(content["one.gz"])
	damaged[77] ^= 4
	if err := os.WriteFile(filepath.Join(dir, "one.gz"), damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.set(t.Context(), dir, set, progress); err != nil || hits.Load() != 3 || fmt.Sprint(ends) != "[one.gz0 one.gz200000]" {
		t.Errorf("%v, %d requests in all, want 3; progress %v", err, hits.Load(), ends)
	}
	wantOnly(t, dir, content, "one.gz", "two.gz")
}

// The ways in which a mirror may fail: alone it is an error that says so, before
// a good mirror it does not matter. In neither case does anything else stay.
func TestDownloadBadMirror(t *testing.T) {
	set, content := remote()
	one := content["one.gz"]
	wrong := bytes.Clone(one)
	wrong[100_000]++
	var plain *httptest.Server
	bad := map[string]struct {
		handle http.HandlerFunc
		say    string
	}{
		"not found":   {http.NotFound, "status 404 Not Found"},
		"server down": {func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"checksum":    {func(w http.ResponseWriter, r *http.Request) { w.Write(wrong) }, "wrong checksum: SHA-256 " + fmt.Sprintf("%x", sha256.Sum256(wrong)) + ", expected " + set.Files[0].SHA256},
		"shorter":     {func(w http.ResponseWriter, r *http.Request) { w.Write(one[:5]) }, "5 bytes offered, 200000 expected"},
		"longer": {func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush() // no length
			w.Write(one)
			w.Write(one)
		}, "more than the expected 200000 bytes"},
		"short without a length": {func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(one[:150_000])
		}, "ended after 150000 of 200000 bytes"},
		"cut off": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "200000")
			w.Write(one[:150_000])
		}, "ended after 150000 of 200000 bytes"},
		"web page": {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>log in</html>") }, "bytes offered, 200000 expected"},
		"redirected to http": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, plain.URL, http.StatusFound)
		}, `redirected to scheme "http", only https is allowed`},
		"redirected for ever": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "redirected more than 5 times"},
		"stalled": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "200000")
			w.Write(one[:1000])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "it stopped sending"},
	}
	plain = httptest.NewServer(serve(content))
	defer plain.Close()
	good, _ := mirror(t, serve(content))
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			address, hits := mirror(t, c.handle)
			d := testDownloader(t)
			if name == "stalled" {
				d.stall = time.Second
			}
			dir := t.TempDir()
			set := set
			set.Mirrors = []string{address}
			err := d.set(t.Context(), dir, set, nil)
			wantFileError(t, err, "one.gz", "no mirror delivered it ("+address+"one.gz: ", c.say, "-data")
			wantOnly(t, dir, nil)
			if name == "stalled" && !errors.Is(err, errStalled) {
				t.Errorf("%v does not wrap what was wrong with the mirror", err)
			}
			if hits.Load() == 0 {
				t.Error("the mirror was not asked")
			}

			if name == "stalled" {
				d.stall = 2 * time.Second // the good mirror gets time on a busy machine
			}
			set.Mirrors = []string{address, good}
			set.Files = set.Files[:1]
			if err := d.set(t.Context(), dir, set, nil); err != nil {
				t.Fatal(err)
			}
			wantOnly(t, dir, content, "one.gz")
		})
	}
}

// A mirror may say of a packed file that it is packed on the way: it is kept as it comes.
func TestDownloadPackedOnTheWay(t *testing.T) {
	packed := gzipped(t, ramp(1000))
	set := FileSet{Name: "remote", Files: []File{{Name: "one.gz", SHA256: fmt.Sprintf("%x", sha256.Sum256(packed))}}}
	address, _ := mirror(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed)
	})
	set.Mirrors = []string{address}
	dir := t.TempDir()
	if err := testDownloader(t).set(t.Context(), dir, set, nil); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, dir, map[string][]byte{"one.gz": packed}, "one.gz")
}

// As many redirections are followed as the error says, and no more.
func TestDownloadRedirected(t *testing.T) {
	set, content := remote()
	set.Files = set.Files[1:]
	for times, ok := range map[int]bool{1: true, 5: true, 6: false} {
		var asked atomic.Int32
		address, _ := mirror(t, func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) > int32(times) {
				serve(content)(w, r)
				return
			}
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		})
		set.Mirrors = []string{address}
		err := testDownloader(t).set(t.Context(), t.TempDir(), set, nil)
		if (err == nil) != ok || asked.Load() != int32(min(times, 5)+1) {
			t.Errorf("redirected %d times: %v after %d requests", times, err, asked.Load())
		}
	}
}

func TestDownloadNoMirror(t *testing.T) {
	set, content := remote()
	s := httptest.NewServer(serve(content))
	defer s.Close()
	d := testDownloader(t)
	for say, mirrors := range map[string][]string{
		"no mirror is known":                   nil,
		`/x/one.gz: scheme "http", only https`: {s.URL + "/x"},
		`/z/one.gz: scheme "http", only https`: {s.URL + "/y", s.URL + "/z/"},
		`scheme "ftp", only https is allowed`:  {"ftp://localhost"},
		`scheme "", only https is allowed`:     {"relative/path"},
		"missing protocol scheme":              {"://"},
		"connection refused":                   {closedAddress(t)},
	} {
		set.Mirrors = mirrors
		dir := t.TempDir()
		wantFileError(t, d.set(t.Context(), dir, set, nil), "one.gz", say)
		wantOnly(t, dir, nil)
	}
}

// closedAddress returns an https address where nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	s.Close()
	return s.URL
}

// A certificate that nobody vouches for is refused: Download itself, not the
// tests' client.
func TestDownloadCertificate(t *testing.T) {
	set, content := remote()
	address, _ := mirror(t, serve(content))
	set.Mirrors = []string{address}
	dir := t.TempDir()
	wantFileError(t, Download(t.Context(), dir, set, nil), "one.gz", "certificate")
	wantOnly(t, dir, nil)
}

func TestDownloadCancel(t *testing.T) {
	set, content := remote()
	ctx, cancel := context.WithCancel(t.Context())
	first, _ := mirror(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "200000")
		w.Write(content["one.gz"][:100_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	second, hits := mirror(t, serve(content))
	set.Mirrors = []string{first, second}
	dir := t.TempDir()
	err := testDownloader(t).set(ctx, dir, set, func(file string, done, total int64) {
		if done >= 100_000 {
			if part, err := filepath.Glob(filepath.Join(dir, ".one.gz.*.part")); len(part) != 1 || err != nil {
				t.Errorf("no temporary file in the directory: %v, %v", part, err)
			}
			cancel()
		}
	})
	wantFileError(t, err, "one.gz", "cancelled")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
	wantOnly(t, dir, nil)
	if hits.Load() != 0 {
		t.Error("another mirror was tried after the cancellation")
	}
	err = testDownloader(t).set(ctx, dir, set, nil)
	if !errors.Is(err, context.Canceled) || hits.Load() != 0 {
		t.Errorf("with a cancelled context: %v", err)
	}

	// At the last byte, too.
	ctx, cancel = context.WithCancel(t.Context())
	set.Mirrors = []string{second}
	err = testDownloader(t).set(ctx, dir, set, func(_ string, done, total int64) {
		if done == total {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled at the end: %v", err)
	}
	wantOnly(t, dir, nil)
}

func TestDownloadUnwritable(t *testing.T) {
	set, content := remote()
	address, hits := mirror(t, serve(content))
	set.Mirrors = []string{address, address}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		wantFileError(t, testDownloader(t).set(t.Context(), dir, set, nil), dir, "not a directory", "-data")
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" || hits.Load() != 0 {
		t.Errorf("%q, %v after %d requests", b, err, hits.Load())
	}

	// A directory in the place of the file: the disk's fault, so one mirror is enough.
	dir := t.TempDir()
	blocked := filepath.Join(dir, "one.gz")
	if err := os.Mkdir(blocked, 0o755); err != nil {
		t.Fatal(err)
	}
	wantFileError(t, testDownloader(t).set(t.Context(), dir, set, nil), blocked, "cannot be put in place", "-data")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || hits.Load() != 1 {
		t.Errorf("%v, %v after %d requests", entries, err, hits.Load())
	}
}
