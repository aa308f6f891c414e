package data

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// records100 returns n records of CIFAR-100's binary version, of the classes in
// turn, image i all of byte i.
func records100(n int) []byte {
	b := make([]byte, 0, n*(2+cifarPixels))
	for i := range n {
		b = append(b, uint8(i%20), uint8(i%100))
		b = append(b, bytes.Repeat([]byte{uint8(i)}, cifarPixels)...)
	}
	return b
}

func cifar100At(t *testing.T, train, test []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string][]byte{"train.bin": train, "test.bin.gz": test} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadCIFAR100(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: reads 60000 images")
	}
	train, test := records100(cifar100Train), gzipped(t, records100(cifar100Test))
	d, err := ReadCIFAR100(cifar100At(t, train, test), Division{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{45000, 5000, 10000} || d.Name != "cifar100" || d.Synthetic {
		t.Errorf("%s, synthetic %v, has parts of %v", d.Name, d.Synthetic, got)
	}
	if d.ClassNames[0] != "apple" || d.ClassNames[99] != "worm" {
		t.Errorf("the classes go from %s to %s", d.ClassNames[0], d.ClassNames[99])
	}
	// The fine class, not the superclass, and the pixels that belong to it.
	if image := d.Image(&d.Test, 157); d.Test.Labels[157] != 57 || image[0] != 157 || image[cifarPixels-1] != 157 {
		t.Errorf("image 157 has class %d and begins with %d", d.Test.Labels[157], image[0])
	}

	train[1] = 1
	dir := cifar100At(t, train, test)
	_, err = ReadCIFAR100(dir, Division{Seed: 1})
	wantFileError(t, err, filepath.Join(dir, "train.bin"), "not the file of CIFAR-100", "499 images of class 0, 500 are needed")
}

func TestReadCIFAR100Refuses(t *testing.T) {
	good, two := records100(20), records100(2)
	coarse, fine := bytes.Clone(two), bytes.Clone(two)
	coarse[0], fine[1] = 20, 100
	for _, c := range []struct {
		name    string
		content []byte
		say     string
	}{
		{"few", good, "20 images where this file of CIFAR-100 has 50000"},
		{"truncated", good[:len(good)-1], "truncated: image 19 has 3073 bytes of 3074"},
		{"empty", nil, "empty"},
		{"nothing in it", gzipped(t, nil), "no image in it"},
		{"superclass", coarse, "class 20 of image 0, only 0 to 19 are classes"},
		{"class", fine, "class 100 of image 0, only 0 to 99 are classes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := cifar100At(t, c.content, good)
			_, err := ReadCIFAR100(dir, Division{Seed: 1})
			wantFileError(t, err, filepath.Join(dir, "train.bin"), c.say)
		})
	}
	_, err := ReadCIFAR100(t.TempDir(), Division{Seed: 1})
	wantFileError(t, err, "train.bin, test.bin", "2 of the 2 files of cifar100 are missing", "cifar-100-binary.tar.gz", "-data")
}

func FuzzCIFAR100(f *testing.F) {
	f.Add(records100(2))
	f.Add(records100(2)[:cifarRecord+5])
	f.Add(gzipped(f, records100(2)))
	f.Add(gzipped(f, nil))
	f.Add([]byte{20})
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := cifar100.decode(bytes.NewReader(content), "fuzz")
		if err != nil {
			wantFileError(t, err, "fuzz")
			return
		}
		if s.Len() == 0 || len(s.Images) != s.Len()*cifarPixels {
			t.Fatalf("%d values of %d images", len(s.Images), s.Len())
		}
		for i, l := range s.Labels {
			if l > 99 {
				t.Fatalf("class %d of image %d", l, i)
			}
		}
	})
}
