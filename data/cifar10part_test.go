package data

import (
	"bytes"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Any number of records in any number of files is a part, and called one.
func TestReadCIFAR10Part(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b") // no pattern
	put(t, gzipped(t, records(20)), dir, "data_batch_1.first20.bin.gz")
	put(t, gzipped(t, records(10)), dir, "data_batch_2.bin.gz")
	put(t, gzipped(t, records(7)), dir, "test_batch.first7.bin.gz")
	put(t, nil, dir, "data_batch_3.bin.part") // a download under way
	d, err := ReadCIFAR10Part(dir, Division{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{27, 3, 7} || d.Name != "cifar10-part" || d.Synthetic {
		t.Errorf("%s, synthetic %v, has parts of %v", d.Name, d.Synthetic, got)
	}
	if found, err := Locate(dir, CIFAR10PartFiles()); err != nil || found != dir {
		t.Errorf("found in %q, %v", found, err)
	}

	put(t, records(15), dir, "data_batch_2.bin") // in the place of the packed one
	put(t, records(4), dir, "test_batch.bin")
	d, err = ReadCIFAR10Part(dir, Division{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{32, 3, 11} {
		t.Errorf("packed and unpacked ones together have parts of %v", got)
	}
	put(t, gzipped(t, records(10))[:30], dir, "data_batch_3.bin.gz")
	_, err = ReadCIFAR10Part(dir, Division{Seed: 1})
	wantFileError(t, err, filepath.Join(dir, "data_batch_3.bin.gz"), "truncated gzip data")

	put(t, gzipped(t, records(10)), dir, "data_batch_3.bin.gz")
	put(t, records(3)[:5], dir, "test_batch.bin")
	_, err = ReadCIFAR10Part(dir, Division{Seed: 1})
	wantFileError(t, err, filepath.Join(dir, "test_batch.bin"), "truncated: image 0 has 5 bytes of 3073")
	few := t.TempDir()
	put(t, records(9), few, "data_batch_1.bin")
	put(t, records(9), few, "test_batch.bin")
	_, err = ReadCIFAR10Part(few, Division{Seed: 1})
	wantFileError(t, err, few, "9 images to train on")
	_, err = ReadCIFAR10Part(t.TempDir(), Division{Seed: 1})
	wantFileError(t, err, "2 of the 2 files of cifar10-part are missing (data_batch_*.bin, test_batch*.bin)", "-data")
}

// cifar10Folders writes so many images of one colour for each class of each part.
func cifar10Folders(t *testing.T, each int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, folder := range CIFAR10JPEGFiles().Instead {
		img := image.NewNRGBA(image.Rect(0, 0, cifarSide, cifarSide))
		for p := range cifarSide * cifarSide {
			img.SetNRGBA(p%cifarSide, p/cifarSide, color.NRGBA{uint8(i), 7, 9, 255})
		}
		for n := range each {
			put(t, encodePNG(t, img), dir, folder, string(rune('a'+n))+".png")
		}
	}
	return dir
}

// Images in folders have the classes that the folders are called by.
func TestReadCIFAR10JPEG(t *testing.T) {
	dir := cifar10Folders(t, 2)
	d, err := ReadCIFAR10JPEG(dir, Division{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{18, 2, 20} || d.Name != "cifar10-jpeg" {
		t.Errorf("%s has parts of %v", d.Name, got)
	}
	for i, label := range d.Test.Labels {
		if int(label) != i/2 || d.Image(&d.Test, i)[0] != uint8(10+i/2) {
			t.Errorf("test image %d is of class %d and begins with %d", i, label, d.Image(&d.Test, i)[0])
		}
	}
	above := t.TempDir()
	if err := os.Rename(dir, filepath.Join(above, "CIFAR-10-images")); err != nil {
		t.Fatal(err)
	}
	if found, err := Locate(above, CIFAR10JPEGFiles()); err != nil || found != filepath.Join(above, "CIFAR-10-images") {
		t.Errorf("found in %q, %v", found, err)
	}

	if err := os.RemoveAll(filepath.Join(above, "CIFAR-10-images", "test", "ship")); err != nil {
		t.Fatal(err)
	}
	_, err = ReadCIFAR10JPEG(filepath.Join(above, "CIFAR-10-images"), Division{Seed: 1})
	wantFileError(t, err, "1 of the 20 folders of cifar10-jpeg are missing ("+filepath.Join("test", "ship")+")", "-data")
	if _, err := Locate(t.TempDir(), CIFAR10JPEGFiles()); err == nil || !strings.Contains(err.Error(), "20 of the 20 folders") {
		t.Errorf("an empty directory: %v", err)
	}
}

// The real images: those of the first batch are the official ones.
func TestRealCIFAR10Part(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data", "cifar10-subset")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no part of CIFAR-10 here: %v", err)
	}
	d, err := ReadCIFAR10Part(dir, Division{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{3600, 400, 1000} || !bytes.Equal(d.Test.Labels[:5], []byte{3, 8, 8, 0, 6}) {
		t.Errorf("parts of %v, the first test images are of classes %v", got, d.Test.Labels[:5])
	}
}
