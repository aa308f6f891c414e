package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/config"
)

// idx returns an IDX file of bytes.
func idx(magic uint32, dims ...uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, magic)
	n := 1
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
		n *= int(d)
	}
	return append(b, make([]byte, n)...)
}

// fakeMNIST writes well-formed files that are not MNIST, without the first, which
// is read first.
func fakeMNIST(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, idx(0x801, 60000), dir, "train-labels-idx1-ubyte")
	write(t, idx(0x803, 10000, 28, 28), dir, "t10k-images-idx3-ubyte")
	write(t, idx(0x801, 10000), dir, "t10k-labels-idx1-ubyte")
	return dir
}

func packed(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBadData(t *testing.T) {
	t.Setenv("NOETHER_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const images = "train-images-idx3-ubyte"
	good := idx(0x803, 60000, 28, 28)
	small := good[:5000]
	dir := fakeMNIST(t)
	for _, c := range []struct {
		name    string
		content []byte // of the file; nil: it is missing
		gz      bool
		want    string
	}{
		{"missing", nil, false, images + "|-download"},
		{"empty", []byte{}, false, images + "|empty|fetch it again"},
		{"truncated", small, false, images + "|truncated|fetch it again"},
		{"another magic number", append([]byte{0, 0, 0x0d}, good[3:5000]...), false, images + "|IDX file"},
		{"text", []byte("<html>not found</html>"), false, images + "|not an IDX file|give the IDX file"},
		{"truncated gzip", packed(t, small)[:20], true, images + ".gz|truncated|fetch it again"},
		{"damaged gzip", []byte("\x1f\x8b no gzip at all"), true, images + ".gz|corrupt gzip|fetch it again"},
		{"wrong checksum", good, false, images + "|checksum|SHA-256|-download"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(dir, images)
			os.Remove(name)
			os.Remove(name + ".gz")
			if c.gz {
				name += ".gz"
			}
			if c.content != nil {
				write(t, c.content, name)
			}
			out := filepath.Join(t.TempDir(), "run")
			code, stdout, stderr := here("-quiet", "-preset", "mnist6-180", "-data", dir, "-out", out)
			refused(t, exitFailure, code, stdout, stderr, append(strings.Split(c.want, "|"), dir)...)
			if _, err := os.Stat(out); err == nil {
				t.Error("a run directory was made")
			}
		})
	}
}

// Mistakes in the configuration show before data are looked for.
func TestConfigurationBeforeData(t *testing.T) {
	t.Chdir(t.TempDir())
	for set, want := range map[string]string{
		"net.pools=[9]":            "net.pools",
		"train.monotonic=0.1":      "train.monotonic is 0.1",
		"train.augerino_width=0.1": "train.augerino_width is 0.1",
		"train.decay_epochs=[1]":   "train.decay_epochs",
	} {
		code, stdout, stderr := here("-preset", "cifar10-t2-1", "-set", set, "-data", t.TempDir())
		refused(t, exitUsage, code, stdout, stderr, want)
	}
}

func TestDataThatIsNowhere(t *testing.T) {
	t.Setenv("NOETHER_DATA", "/nothing/env")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	code, stdout, stderr := here("-preset", "mnist6-180")
	refused(t, exitFailure, code, stdout, stderr, "mnist", "/nothing/env", "-download", "-data")
	code, stdout, stderr = here("-preset", "mnist6-m", "-data", "/nothing/flag")
	refused(t, exitFailure, code, stdout, stderr, "/nothing/flag", "-download")
	code, stdout, stderr = here("-preset", "rotmnist", "-set", "data.set=pcam", "-download")
	refused(t, exitFailure, code, stdout, stderr, "/nothing/env", "github.com/basveeling/pcam")
	for set, say := range map[string]string{"rotmnist": "mnist_rotation_new.zip", "cifar10": "cifar-10-binary.tar.gz", "cifar100": "cifar-100-binary.tar.gz", "stl10": "stl10_binary.tar.gz", "pcam": "github.com/basveeling/pcam", "fashion-mnist": "-download"} {
		code, stdout, stderr = here("-preset", "rotmnist", "-set", "data.set="+set, "-data", "/nothing/flag")
		refused(t, exitFailure, code, stdout, stderr, "/nothing/flag", "files of "+set, say)
	}
}

// Nobody listens at the proxy, so every mirror fails at once.
func TestDownloadWithoutNetwork(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd, stderr := there(t, "-quiet", "-preset", "mnist6-180", "-download", "-data", dir, "-out", filepath.Join(t.TempDir(), "run"))
	cmd.Env = append(cmd.Env, "HTTPS_PROXY=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1", "NO_PROXY=", "no_proxy=")
	out, err := cmd.Output()
	refused(t, exitFailure, exitCode(err), string(out), stderr.String(), data.MNISTFiles().Files[0].Name)
	if left := contents(t, dir); len(left) > 0 {
		t.Errorf("left behind: %d files", len(left))
	}
}

// -download sees the files that are found without it: packed or not, by any of their
// names, in a folder below. Those that are damaged it fetches, which the context forbids.
func TestDownloadOfWhatIsThere(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("NOETHER_DATA", "")
	from, err := data.Locate(filepath.Join("..", "..", "shared", "data"), data.MNISTFiles())
	if err != nil {
		t.Skip("needs the original MNIST: ", err)
	}
	dir := t.TempDir()
	mnist := mkdir(t, dir, "mnist")
	for _, f := range data.MNISTFiles().Files {
		packed, err := gzip.NewReader(bytes.NewReader(read(t, from, f.Name)))
		if err != nil {
			t.Skip("needs packed files: ", err)
		}
		content, err := io.ReadAll(packed)
		if err != nil {
			t.Fatal(err)
		}
		write(t, content, mnist, strings.Replace(strings.TrimSuffix(f.Name, ".gz"), "-idx", ".idx", 1))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, place := range []means{{data: dir}, {data: mnist}, {}} {
		if place.data == "" {
			t.Setenv("NOETHER_DATA", dir)
		}
		place.download = true
		if found, err := locateSet(ctx, "mnist6-180", &place, slog.New(slog.DiscardHandler)); err != nil || found != mnist {
			t.Errorf("in %+v: %q, %v", place, found, err)
		}
	}
	labels := filepath.Join(mnist, "t10k-labels.idx1-ubyte")
	damaged := read(t, labels)
	damaged[5000] ^= 1
	write(t, damaged, labels)
	if found, err := locateSet(ctx, "mnist6-180", &means{data: dir, download: true}, slog.New(slog.DiscardHandler)); !errors.Is(err, context.Canceled) {
		t.Errorf("damaged files are not fetched: %q, %v", found, err)
	}
}

// Of sets that come in an archive, files that are too short are fetched as well.
func TestDownloadOfPartsThatAreThere(t *testing.T) {
	dir := t.TempDir()
	files := data.CIFAR10Files()
	for _, f := range files.Files {
		write(t, nil, dir, f.Name)
		if err := os.Truncate(filepath.Join(dir, f.Name), f.Size); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	place := &means{data: dir, download: true}
	if found, err := locateSet(ctx, "cifar10", place, slog.New(slog.DiscardHandler)); err != nil || found != dir {
		t.Errorf("%q, %v", found, err)
	}
	if err := os.Truncate(filepath.Join(dir, files.Files[2].Name), files.Files[2].Size-1); err != nil {
		t.Fatal(err)
	}
	if found, err := locateSet(ctx, "cifar10", place, slog.New(slog.DiscardHandler)); !errors.Is(err, context.Canceled) {
		t.Errorf("a file that was cut off is not fetched: %q, %v", found, err)
	}
}

func TestSizeOfGeneratedData(t *testing.T) {
	c, err := config.Lookup("strokes6-180")
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int][3]int{0: {2000, 300, 500}, 1: {1, 1, 1}, 16: {16, 3, 4}, 200: {200, 30, 50}} {
		c.Data.Size = size
		set, err := openData(t.Context(), &c, &means{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{set.Train.Len() / 2, set.Validation.Len() / 2, set.Test.Len() / 2}; got != want {
			t.Errorf("size %d gives %v sixes, want %v", size, got, want)
		}
	}
}

// What a configuration says about the images of its data set is true.
func TestImages(t *testing.T) {
	for set, synthetic := range map[string]bool{"strokes6-180": true, "mnist6-180": false, "mnist6-m": false, "mnist6-circle": false, "rotmnist-synthetic": true} {
		t.Run(set, func(t *testing.T) {
			if testing.Short() && set != "strokes6-180" && set != "mnist6-m" {
				t.Skip("not in short mode: turns thousands of digits")
			}
			c := config.Config{Data: config.Data{Set: set}}
			m := &means{data: os.Getenv("NOETHER_DATA")}
			if m.data == "" {
				m.data = filepath.Join("..", "..", "shared", "data")
			}
			d, err := openData(t.Context(), &c, m, slog.New(slog.DiscardHandler))
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("needs the original MNIST: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := (config.Image{Channels: d.Channels, Side: d.Height, Classes: d.Classes}); got != c.Image() || d.Height != d.Width {
				t.Errorf("images are %+v (%d wide), the configuration says %+v", got, d.Width, c.Image())
			}
			if d.Name != set || d.Synthetic != synthetic {
				t.Errorf("the set is called %s, synthetic %v", d.Name, d.Synthetic)
			}
		})
	}
}

// Images of one's own are trained on, and what was trained is measured again and exported.
func TestOwnImages(t *testing.T) {
	dir := t.TempDir()
	const side = 16
	for part, count := range map[string]int{"train": 12, "test": 3} {
		for class, name := range []string{"hollow", "solid"} {
			for i := range count {
				img := image.NewGray(image.Rect(0, 0, side, side))
				for p := range img.Pix {
					row, col := p/side-side/2, p%side-side/2
					if r := row*row + col*col; r < 20+i && (class == 1 || r > 4) {
						img.Pix[p] = 255
					}
				}
				folder := filepath.Join(dir, part, name)
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				file, err := os.Create(filepath.Join(folder, fmt.Sprint(i, ".png")))
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(png.Encode(file, img), file.Close()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	out := filepath.Join(t.TempDir(), "run")
	flags := []string{
		"-out", out, "-data", dir, "-epochs", "2", "-set", "data.set=images", "-set", "data.size=0", "-set", "train.batch=4", "-set", "net.width=2",
		"-set", "group.elements=2", "-set", "kernel.hidden=4", "-set", "kernel.side=3", "-set", "train.eval_draws=1", "-set", "data.augment=flip-crop",
	}
	code, stdout, stderr := here(flags...)
	refused(t, exitUsage, code, stdout, stderr, "data.side is 0; allowed: 4 to 512")
	code, stdout, stderr = here(append(slices.Clone(flags), "-set", "data.side=16", "-set", "data.classes=3")...)
	refused(t, exitFailure, code, stdout, stderr, filepath.Join(dir, "train"), "2 folders (hollow, solid) in it", "3 classes are expected")
	code, stdout, stderr = here(append(slices.Clone(flags), "-set", "data.side=20", "-set", "data.classes=2")...)
	refused(t, exitFailure, code, stdout, stderr, "0.png", "16 x 16 pixels where 20 x 20 are needed")
	code, stdout, stderr = here(append(slices.Clone(flags), "-set", "data.side=16", "-set", "data.classes=2")...)
	if code != exitOK || !strings.Contains(stdout, "test accuracy") || strings.Contains(stdout, "synthetic") {
		t.Fatalf("exit code %d, %s%s", code, stdout, stderr)
	}
	if report := string(read(t, out, reportFile)); !strings.Contains(report, "hollow") || !strings.Contains(report, "solid") {
		t.Error("the report does not name the classes")
	}
	if code, _, stderr := here("eval", out, "-data", dir); code != exitOK {
		t.Errorf("eval: exit code %d, %s", code, stderr)
	}
	code, stdout, stderr = here("export", out, filepath.Join(t.TempDir(), "net.onnx"))
	if code != exitOK || !strings.Contains(stdout, "images [batch, 3, 16, 16] float32: pixels from 0 to 1, minus 0.485, 0.456, 0.406") {
		t.Errorf("export: exit code %d, %s%s", code, stdout, stderr)
	}
}
