package data

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// records returns n records of CIFAR-10's binary version, of the classes in turn,
// image i all of byte i.
func records(n int) []byte {
	b := make([]byte, 0, n*cifarRecord)
	for i := range n {
		b = append(b, uint8(i%10))
		b = append(b, bytes.Repeat([]byte{uint8(i)}, cifarPixels)...)
	}
	return b
}

func TestDecodeCIFAR10(t *testing.T) {
	content := records(12)
	for _, c := range [][]byte{content, gzipped(t, content)} {
		s, err := DecodeCIFAR10(bytes.NewReader(c), "f")
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != 12 || len(s.Images) != 12*cifarPixels {
			t.Fatalf("%d images of %d values", s.Len(), len(s.Images))
		}
		for i := range 12 {
			if image := s.Images[i*cifarPixels:][:cifarPixels]; s.Labels[i] != uint8(i%10) || image[0] != uint8(i) || image[cifarPixels-1] != uint8(i) {
				t.Errorf("image %d has class %d and begins with %d", i, s.Labels[i], image[0])
			}
		}
	}
}

func TestDecodeCIFAR10Refuses(t *testing.T) {
	good := records(3)
	classless := slices.Clone(good)
	classless[cifarRecord] = 10
	packed := gzipped(t, good)
	for _, c := range []struct {
		name    string
		content []byte
		say     string
	}{
		{"empty", nil, "the file is empty"},
		{"short", good[:100], "truncated: image 0 has 100 bytes of 3073"},
		{"cut in the third", good[:len(good)-1], "truncated: image 2 has 3072 bytes of 3073"},
		{"class", classless, "class 10 of image 1"},
		{"web page", []byte("<html>" + strings.Repeat(" ", 5000)), "class 60 of image 0"},
		{"too long", records(cifarBatch + 1), "more than 10000 images"},
		{"cut gzip", packed[:len(packed)-9], "truncated gzip data"},
		{"garbage behind gzip", append(slices.Clone(packed), 1), "trailing garbage after the gzip data"},
	} {
		_, err := DecodeCIFAR10(bytes.NewReader(c.content), "some/file")
		wantFileError(t, err, "some/file", c.say)
	}
	_, err := DecodeCIFAR10(errReader{errors.New("disk on fire")}, "f")
	wantFileError(t, err, "f", "disk on fire")
}

// cifar10At writes the six files with the given contents, packed; the last is the
// test batch.
func cifar10At(t *testing.T, content ...[]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, f := range CIFAR10Files().Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name+".gz"), content[min(i, len(content)-1)], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadCIFAR10(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: reads 60000 images")
	}
	all := records(cifarBatch)
	batch := gzipped(t, all)
	d, err := ReadCIFAR10(cifar10At(t, batch), Division{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{45000, 5000, 10000} || d.Name != "cifar10" || d.Synthetic {
		t.Errorf("%s, synthetic %v, has parts of %v", d.Name, d.Synthetic, got)
	}
	other, err := ReadCIFAR10(cifar10At(t, batch), Division{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(d.Validation.Labels, other.Validation.Labels) {
		t.Error("another seed gives the same split")
	}

	published, err := ReadCIFAR10(cifar10At(t, batch), Division{Published: true})
	if err != nil {
		t.Fatal(err)
	}
	_, validate := Division{Published: true}.setAside(50000, 5000)
	for i, n := range validate {
		if published.Validation.Labels[i] != uint8(n%10) {
			t.Fatalf("image %d of the published validation part has class %d, image %d of the set has %d", i, published.Validation.Labels[i], n, n%10)
		}
	}

	all[0] = 1
	twisted := gzipped(t, all)
	dir := cifar10At(t, batch, twisted, batch)
	_, err = ReadCIFAR10(dir, Division{Seed: 1})
	wantFileError(t, err, dir, "the five data_batch files are not those of CIFAR-10", "4999 images of class 0, 5000 are needed")
	dir = cifar10At(t, batch, batch, batch, batch, batch, twisted)
	_, err = ReadCIFAR10(dir, Division{Seed: 1})
	wantFileError(t, err, dir, "test_batch", "999 images of class 0, 1000 are needed")
}

func TestReadCIFAR10Refuses(t *testing.T) {
	dir := cifar10At(t, gzipped(t, records(20)))
	_, err := ReadCIFAR10(dir, Division{Seed: 1})
	wantFileError(t, err, filepath.Join(dir, "data_batch_1.bin.gz"), "20 images where this file of CIFAR-10 has 10000")
	_, err = ReadCIFAR10(t.TempDir(), Division{Seed: 1})
	wantFileError(t, err, "data_batch_1.bin", "6 of the 6 files of cifar10 are missing", "cifar-10-binary.tar.gz", "-data")
	// The folder of the published archive is looked into.
	above := t.TempDir()
	if err := os.Rename(dir, filepath.Join(above, "cifar-10-batches-bin")); err != nil {
		t.Fatal(err)
	}
	if got, err := Locate(above, CIFAR10Files()); err != nil || got != filepath.Join(above, "cifar-10-batches-bin") {
		t.Errorf("found in %q, %v", got, err)
	}
}

// The first images of the real set: the classes are those of the official first
// batch.
func TestRealCIFAR10(t *testing.T) {
	path := filepath.Join("..", "..", "shared", "data", "cifar10-subset", "data_batch_1.first4000.bin.gz")
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("no part of CIFAR-10 here: %v", err)
	}
	defer f.Close()
	s, err := DecodeCIFAR10(f, path)
	if err != nil {
		t.Fatal(err)
	}
	if want := []uint8{6, 9, 9, 4, 1, 1, 2, 7, 8, 3}; s.Len() != 4000 || !bytes.Equal(s.Labels[:10], want) {
		t.Errorf("%d images, the first of classes %v, want %v", s.Len(), s.Labels[:10], want)
	}
}

func FuzzCIFAR10(f *testing.F) {
	f.Add(records(2))
	f.Add(records(2)[:cifarRecord+5])
	f.Add(gzipped(f, records(2)))
	f.Add([]byte{10})
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := DecodeCIFAR10(bytes.NewReader(content), "fuzz")
		if err != nil {
			wantFileError(t, err, "fuzz")
			return
		}
		if s.Len() == 0 || len(s.Images) != s.Len()*cifarPixels {
			t.Fatalf("%d values of %d images", len(s.Images), s.Len())
		}
	})
}
