package data

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// entry is a file in an archive; one without content is a symbolic link to
// "one.bin".
type entry struct {
	name    string
	content []byte
}

func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Size: int64(len(e.content)), Mode: 0o644, Typeflag: tar.TypeReg}
		if e.content == nil {
			h.Typeflag, h.Linkname = tar.TypeSymlink, "one.bin"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return gzipped(t, b.Bytes())
}

func zipOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.content == nil {
			h.SetMode(os.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archiveKinds are the formats, by the suffix of a name.
var archiveKinds = map[string]func(testing.TB, ...entry) []byte{".tar.gz": tarOf, ".zip": zipOf}

// packedSet is a set of two files in an archive with that suffix: one of 300 bytes
// and one whose size is not stated.
func packedSet(suffix string, archive []byte) FileSet {
	a := &File{Name: "set" + suffix, Size: int64(len(archive)), SHA256: fmt.Sprintf("%x", sha256.Sum256(archive))}
	if suffix == ".zip" {
		a = &File{Name: "set" + suffix, MD5: fmt.Sprintf("%x", md5.Sum(archive))}
	}
	return FileSet{Name: "packed", Archive: a, Files: []File{{Name: "one.bin", Size: 300, Aliases: []string{"one"}}, {Name: "two.txt", Aliases: []string{"two.txt.gz"}}}}
}

var inside = map[string][]byte{"one.bin": ramp(300), "two.txt": []byte("second")}

func wholesome() []entry {
	return []entry{{"folder/readme", ramp(10)}, {"folder/two.txt", inside["two.txt"]}, {"folder/one.bin", inside["one.bin"]}, {"folder/other.bin", ramp(1000)}}
}

func TestDownloadArchive(t *testing.T) {
	for suffix, pack := range archiveKinds {
		t.Run(suffix, func(t *testing.T) {
			archive := pack(t, wholesome()...)
			set := packedSet(suffix, archive)
			address, hits := mirror(t, serve(map[string][]byte{set.Archive.Name: archive}))
			set.Mirrors = []string{address}
			d, dir := testDownloader(t), t.TempDir()
			var end [2]int64
			if err := d.set(t.Context(), dir, set, func(_ string, done, total int64) { end = [2]int64{done, total} }); err != nil {
				t.Fatal(err)
			}
			wantOnly(t, dir, inside, "one.bin", "two.txt")
			if n := int64(len(archive)); end != [2]int64{n, n} {
				t.Errorf("progress ends with %d", end)
			}
			// Again, and under another name, of which no size is stated: nothing to do. A cut file: all of it.
			if err := os.Rename(filepath.Join(dir, "two.txt"), filepath.Join(dir, "two.txt.gz")); err != nil {
				t.Fatal(err)
			}
			if err := d.set(t.Context(), dir, set, nil); err != nil || hits.Load() != 1 {
				t.Errorf("%v, %d requests in all, want 1", err, hits.Load())
			}
			put(t, ramp(299), dir, "one")
			if err := errors.Join(os.Remove(filepath.Join(dir, "one.bin")), d.set(t.Context(), dir, set, nil)); err != nil || hits.Load() != 1 {
				t.Errorf("%v, %d requests in all, want 1", err, hits.Load())
			}
			if err := os.Rename(filepath.Join(dir, "one"), filepath.Join(dir, "one.bin")); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(d.set(t.Context(), dir, set, nil), os.Remove(filepath.Join(dir, "two.txt.gz"))); err != nil || hits.Load() != 2 {
				t.Errorf("%v, %d requests in all, want 2", err, hits.Load())
			}
			wantOnly(t, dir, inside, "one.bin", "two.txt")
		})
	}
}

// An archive that lies there is used and kept; a damaged one is replaced.
func TestDownloadArchiveThatIsThere(t *testing.T) {
	for suffix, pack := range archiveKinds {
		archive := pack(t, wholesome()...)
		set := packedSet(suffix, archive)
		content := map[string][]byte{"one.bin": inside["one.bin"], "two.txt": inside["two.txt"], set.Archive.Name: archive}
		d, dir := testDownloader(t), t.TempDir()
		put(t, archive, dir, set.Archive.Name)
		if err := d.set(t.Context(), dir, set, nil); err != nil { // without a mirror
			t.Fatal(err)
		}
		wantOnly(t, dir, content, "one.bin", set.Archive.Name, "two.txt")

		dir = t.TempDir()
		put(t, append(archive[:len(archive)-1:len(archive)-1], 0xee), dir, set.Archive.Name)
		wantFileError(t, d.set(t.Context(), dir, set, nil), set.Archive.Name, "no mirror is known")
		address, _ := mirror(t, serve(content))
		set.Mirrors = []string{address}
		if err := d.set(t.Context(), dir, set, nil); err != nil {
			t.Fatal(err)
		}
		wantOnly(t, dir, content, "one.bin", "two.txt")
	}
}

// An archive that another Download unpacks and removes, while this one still finds out
// whether it is whole, is not missed.
func TestDownloadArchiveAtTheSameTime(t *testing.T) {
	archive := append(tarOf(t, wholesome()...), make([]byte, 64<<20)...) // takes a while to be checked
	set := packedSet(".tar.gz", archive)
	address, _ := mirror(t, serve(map[string][]byte{set.Archive.Name: archive}))
	set.Mirrors = []string{address}
	d, dir := testDownloader(t), t.TempDir()
	put(t, archive, dir, set.Archive.Name)
	done := make(chan error)
	go func() { done <- d.set(t.Context(), dir, set, nil) }()
	time.Sleep(10 * time.Millisecond)
	for name, content := range inside {
		put(t, content, dir, name)
	}
	if err := os.Remove(filepath.Join(dir, set.Archive.Name)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	wantOnly(t, dir, inside, "one.bin", "two.txt")
}

// Whatever is wrong with an archive, nothing of it stays, in the directory or
// elsewhere.
func TestUnpackRefuses(t *testing.T) {
	one, two := entry{"one.bin", inside["one.bin"]}, entry{"two.txt", inside["two.txt"]}
	for suffix, pack := range archiveKinds {
		good := pack(t, one, two)
		for _, c := range []struct {
			name    string
			archive []byte
			say     string
		}{
			{"no archive", ramp(2000), "archive: "},
			{"empty", nil, "archive: "},
			{"cut", good[:len(good)/2], "archive"},
			{"lacking a file", pack(t, one), "it lacks two.txt"},
			{"lacking both", pack(t, entry{"x", ramp(3)}), "it lacks one.bin, two.txt"},
			{"a file twice", pack(t, one, entry{"other/one.bin", inside["one.bin"]}, two), "it holds one.bin twice"},
			{"another size", pack(t, entry{"one.bin", ramp(301)}, two), "one.bin in it has 301 bytes, 300 expected"},
			{"a link", pack(t, entry{"one.bin", nil}, two), "it lacks one.bin"},
			{"too many entries", pack(t, slices.Repeat([]entry{{"x", nil}}, maxEntries+1)...), "more than 10000 entries"},
			{"a folder of that name", pack(t, entry{"one.bin/more", ramp(300)}, two), "it lacks one.bin"},
		} {
			t.Run(suffix+" "+c.name, func(t *testing.T) {
				set := packedSet(suffix, c.archive)
				dir := t.TempDir()
				put(t, c.archive, dir, set.Archive.Name)
				wantFileError(t, testDownloader(t).set(t.Context(), dir, set, nil), filepath.Join(dir, set.Archive.Name), c.say, "-download")
				wantOnly(t, dir, map[string][]byte{set.Archive.Name: c.archive}, set.Archive.Name)
			})
		}
	}
}

// Names that lead elsewhere lead nowhere: what has the right last part is written
// where the set's file belongs.
func TestUnpackStaysInside(t *testing.T) {
	for suffix, pack := range archiveKinds {
		archive := pack(t, entry{"../../evil", ramp(5)}, entry{"/tmp/../one.bin", inside["one.bin"]}, entry{"../two.txt", inside["two.txt"]})
		set := packedSet(suffix, archive)
		root := t.TempDir()
		dir := filepath.Join(root, "a", "b")
		put(t, archive, dir, set.Archive.Name)
		if err := set.unpack(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, set.Archive.Name)); err != nil {
			t.Fatal(err)
		}
		wantOnly(t, dir, inside, "one.bin", "two.txt")
		for _, above := range []string{root, filepath.Join(root, "a")} {
			if list, err := os.ReadDir(above); err != nil || len(list) != 1 {
				t.Errorf("%s holds %v, %v", above, list, err)
			}
		}
	}
}

// A zip that says less than it holds is refused at what it says.
func TestUnpackZipThatLies(t *testing.T) {
	archive := zipOf(t, entry{"one.bin", ramp(5000)}, entry{"two.txt", []byte("2")})
	at := bytes.LastIndex(archive, []byte("PK\x01\x02"))
	at = bytes.LastIndex(archive[:at], []byte("PK\x01\x02")) // the central header of the first entry
	copy(archive[at+24:], []byte{44, 1, 0, 0})               // 300 bytes unpacked
	set := packedSet(".zip", archive)
	dir := t.TempDir()
	put(t, archive, dir, set.Archive.Name)
	wantFileError(t, set.unpack(t.Context(), dir), filepath.Join(dir, set.Archive.Name), "one.bin in it is damaged")
	wantOnly(t, dir, map[string][]byte{set.Archive.Name: archive}, set.Archive.Name)
}

// tarHead returns an archive that is cut off behind the header of a file of that size.
func tarHead(t *testing.T, name string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	return gzipped(t, b.Bytes())
}

// A file whose size no set states may not take the disk: it is refused by what the archive says of it.
func TestUnpackHuge(t *testing.T) {
	zipped := zipOf(t, entry{"two.txt", []byte("2")}, entry{"one.bin", ramp(300)})
	at := bytes.Index(zipped, []byte("PK\x01\x02"))
	copy(zipped[at+24:], []byte{1, 0, 0, 0x40})
	for suffix, archive := range map[string][]byte{".tar.gz": tarHead(t, "two.txt", maxMember+1), ".zip": zipped} {
		wantUnpackError(t, packedSet(suffix, archive), archive, "two.txt in it has more than 1073741824 bytes")
	}
	// One byte less may be, and so may any size that the set states: what is wrong is that the file is not there.
	for name, size := range map[string]int64{"two.txt": maxMember, "one.bin": maxMember + 1} {
		archive := tarHead(t, name, size)
		set := packedSet(".tar.gz", archive)
		set.Files[0].Size = size
		wantUnpackError(t, set, archive, name+" in it is damaged")
	}
}

// wantUnpackError fails unless unpacking the archive of set is an error that says say and leaves nothing behind.
func wantUnpackError(t *testing.T, set FileSet, archive []byte, say string) {
	t.Helper()
	dir := t.TempDir()
	put(t, archive, dir, set.Archive.Name)
	wantFileError(t, set.unpack(t.Context(), dir), filepath.Join(dir, set.Archive.Name), say)
	wantOnly(t, dir, map[string][]byte{set.Archive.Name: archive}, set.Archive.Name)
}

// What one of the two formats alone can have wrong.
func TestUnpackRefusesOneFormat(t *testing.T) {
	garbage := gzipped(t, ramp(2000))
	wantUnpackError(t, packedSet(".tar.gz", garbage), garbage, "damaged archive")
	method := zipOf(t, entry{"one.bin", inside["one.bin"]}, entry{"two.txt", inside["two.txt"]})
	for _, head := range []struct {
		mark string
		at   int
	}{{"PK\x03\x04", 8}, {"PK\x01\x02", 10}} { // the local and the central header of the first entry
		method[bytes.Index(method, []byte(head.mark))+head.at] = 99
	}
	wantUnpackError(t, packedSet(".zip", method), method, "one.bin in it cannot be read: zip: unsupported compression algorithm")
}

// An archive may have as many entries as the error says, the last of them being wanted.
func TestUnpackManyEntries(t *testing.T) {
	for suffix, pack := range archiveKinds {
		archive := pack(t, append(slices.Repeat([]entry{{"x", nil}}, maxEntries-2), wholesome()[1:3]...)...)
		set := packedSet(suffix, archive)
		dir := t.TempDir()
		put(t, archive, dir, set.Archive.Name)
		if err := set.unpack(t.Context(), dir); err != nil || !set.Unpacked(dir) {
			t.Errorf("%s: %v", suffix, err)
		}
	}
}

// What the directory has against it is an error about the directory.
func TestUnpackUnwritable(t *testing.T) {
	archive := tarOf(t, wholesome()...)
	set := packedSet(".tar.gz", archive)
	dir := t.TempDir()
	wantFileError(t, set.unpack(t.Context(), dir), filepath.Join(dir, set.Archive.Name), "cannot be opened", "-data")

	put(t, archive, dir, set.Archive.Name)
	put(t, nil, dir, "one.bin", "in the way")
	wantFileError(t, set.unpack(t.Context(), dir), filepath.Join(dir, "one.bin"), "cannot be put in place", "-data")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

func TestUnpackCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for suffix, pack := range archiveKinds {
		archive := pack(t, entry{"one.bin", inside["one.bin"]}, entry{"two.txt", ramp(1 << 20)})
		set := packedSet(suffix, archive)
		dir := t.TempDir()
		put(t, archive, dir, set.Archive.Name)
		if err := set.unpack(ctx, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", suffix, err)
		}
		wantOnly(t, dir, map[string][]byte{set.Archive.Name: archive}, set.Archive.Name)
	}
}

// patience is a context that is cancelled once it has been asked so many times, or on which something else
// happens then.
type patience struct {
	context.Context
	asks    int
	instead func()
}

func (p *patience) Err() error {
	if p.asks--; p.asks >= 0 {
		return nil
	}
	if p.instead == nil {
		return context.Canceled
	}
	if p.asks == -1 {
		p.instead()
	}
	return nil
}

// At whatever moment the archive goes, there is an error unless the files are there, and none if another
// Download has put them there.
func TestDownloadArchiveGoes(t *testing.T) {
	archive := tarOf(t, wholesome()...)
	set := packedSet(".tar.gz", archive)
	d := testDownloader(t)
	for _, unpacked := range []bool{false, true} {
		vain := 0
		for asks, more := 0, true; more; asks++ {
			dir := t.TempDir()
			put(t, archive, dir, set.Archive.Name)
			more = false
			err := d.set(&patience{context.Background(), asks, func() {
				more = true
				if unpacked {
					put(t, inside["one.bin"], dir, "one.bin")
					put(t, inside["two.txt"], dir, "two.txt")
				}
				remove(t, dir, set.Archive.Name)
			}}, dir, set, nil)
			switch {
			case err != nil && unpacked:
				t.Errorf("at look %d: %v", asks, err)
			case err != nil:
				vain++
				wantOnly(t, dir, nil)
			case more:
				wantOnly(t, dir, inside, "one.bin", "two.txt")
			}
		}
		if vain == 0 && !unpacked {
			t.Error("the archive was never missed")
		}
	}
}

// Whenever it is cancelled, Download stops: while it hashes what lies there, too, and while it skips what
// an archive holds besides.
func TestDownloadCancelledAnywhere(t *testing.T) {
	zeros := make([]byte, 1<<19)
	archive := tarOf(t, append([]entry{{"other.bin", zeros}}, wholesome()...)...)
	packed := packedSet(".tar.gz", archive)
	hashed := FileSet{Name: "hashed", Files: []File{{Name: "one.bin", SHA256: fmt.Sprintf("%x", sha256.Sum256(zeros))}}}
	d := testDownloader(t)
	for _, c := range []struct {
		set     FileSet
		name    string
		content []byte
	}{{hashed, "one.bin", zeros}, {packed, packed.Archive.Name, archive}} {
		dir := t.TempDir()
		put(t, c.content, dir, c.name)
		asks := 0
		for ; ; asks++ {
			err := d.set(&patience{context.Background(), asks, nil}, dir, c.set, nil)
			if err == nil {
				break
			}
			wantFileError(t, err, c.name, "cancelled")
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%v is not context.Canceled", err)
			}
			wantOnly(t, dir, map[string][]byte{c.name: c.content}, c.name)
		}
		if least := len(zeros) >> 15; asks < least {
			t.Errorf("%s: cancelled at %d moments, want at least %d", c.set.Name, asks, least)
		}
	}
}

// A download whose size nobody states is checked by its sum alone, and bounded.
func TestDownloadWithoutSize(t *testing.T) {
	archive := zipOf(t, wholesome()...)
	set := packedSet(".zip", archive)
	address, _ := mirror(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush() // no length
		w.Write(archive)
	})
	set.Mirrors = []string{address}
	dir := t.TempDir()
	if err := testDownloader(t).set(t.Context(), dir, set, nil); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, dir, inside, "one.bin", "two.txt")
	huge, _ := mirror(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1073741825")
		w.WriteHeader(http.StatusOK)
	})
	set.Mirrors = []string{huge}
	wantFileError(t, testDownloader(t).set(t.Context(), t.TempDir(), set, nil), set.Archive.Name, "1073741825 bytes offered, at most 1073741824 expected")
	set.Mirrors = []string{address}
	set.Archive.MD5 = strings.Repeat("0", 32)
	wantFileError(t, testDownloader(t).set(t.Context(), t.TempDir(), set, nil), set.Archive.Name, "wrong checksum: MD5 ")
}

// The sets that are published in archives say where these are, and how to tell
// them.
func TestArchivesOfSets(t *testing.T) {
	for _, set := range []FileSet{CIFAR10Files(), CIFAR100Files(), STL10Files(), RotMNISTFiles()} {
		a := set.Archive
		if a == nil || len(set.Mirrors) == 0 || !strings.Contains(set.Source, a.Name) {
			t.Errorf("%s: %+v", set.Name, set)
			continue
		}
		if len(a.SHA256) != 64 && len(a.MD5) != 32 || !strings.HasSuffix(a.Name, ".tar.gz") && !strings.HasSuffix(a.Name, ".zip") {
			t.Errorf("%s: %+v", set.Name, *a)
		}
	}
}

func fuzzUnpack(f *testing.F, suffix string, pack func(testing.TB, ...entry) []byte) {
	f.Add(pack(f, wholesome()...))
	f.Add(pack(f, entry{"../one.bin", inside["one.bin"]}, entry{"one.bin", nil}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, archive []byte) {
		set := packedSet(suffix, archive)
		root := t.TempDir()
		dir := filepath.Join(root, "in")
		put(t, archive, dir, set.Archive.Name)
		err := set.unpack(t.Context(), dir)
		if err != nil {
			wantFileError(t, err, dir)
		} else if !set.Unpacked(dir) {
			t.Fatal("no error, and not all files")
		}
		want := 1
		if err == nil {
			want = 3
		}
		if list, e := os.ReadDir(dir); e != nil || len(list) != want {
			t.Fatalf("%v: the directory holds %v, %v", err, list, e)
		}
		if list, e := os.ReadDir(root); e != nil || len(list) != 1 {
			t.Fatalf("outside the directory: %v, %v", list, e)
		}
	})
}

func FuzzUnpackTar(f *testing.F) { fuzzUnpack(f, ".tar.gz", tarOf) }

func FuzzUnpackZip(f *testing.F) { fuzzUnpack(f, ".zip", zipOf) }
