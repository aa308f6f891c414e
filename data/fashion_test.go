package data

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
)

func TestFashionMNIST(t *testing.T) {
	s := newSmall(90, 20)
	m, err := readMNIST(writeFiles(t, withGz(plainNames), s.files()), FashionMNISTFiles(), [4]string{}, "")
	if err != nil {
		t.Fatal(err)
	}
	d := fashionMNIST(m, 1)
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{81, 9, 20} || d.Name != "fashion-mnist" || d.Synthetic {
		t.Errorf("%s, synthetic %v, has parts of %v", d.Name, d.Synthetic, got)
	}
	if !slices.Equal(d.Test.Labels, s.labels[1]) || !bytes.Equal(d.Image(&d.Test, 3), s.image(1, 3)) {
		t.Error("the test part is not that of the files")
	}
}

func TestReadFashionMNISTRefuses(t *testing.T) {
	dir := writeFiles(t, plainNames, newSmall(30, 20).files())
	_, err := ReadFashionMNIST(dir, 1)
	wantFileError(t, err, filepath.Join(dir, plainNames[trainLabels]), "wrong checksum", fashionContent[trainLabels], "the files of MNIST have the same names")
	_, err = ReadFashionMNIST(t.TempDir(), 1)
	wantFileError(t, err, plainNames[trainImages], "4 of the 4 files of fashion-mnist are missing", "-download")
}

// The files have the sizes that are shown while they come from the mirror of tf.keras.
func TestFashionMNISTFiles(t *testing.T) {
	sizes := map[string]int64{
		"train-images-idx3-ubyte.gz": 26421880, "train-labels-idx1-ubyte.gz": 29515,
		"t10k-images-idx3-ubyte.gz": 4422102, "t10k-labels-idx1-ubyte.gz": 5148,
	}
	for _, f := range FashionMNISTFiles().Files {
		if f.Size != sizes[f.Name] || len(f.SHA256) != 64 {
			t.Errorf("%+v has %d bytes as published", f, sizes[f.Name])
		}
	}
}

// MNIST's own files fit in every size.
func TestMNISTIsNotFashionMNIST(t *testing.T) {
	dir := realDir(t)
	_, err := ReadFashionMNIST(dir, 1)
	wantFileError(t, err, dir, "wrong checksum", fashionContent[trainLabels])
}

func FuzzDigits(f *testing.F) {
	files := newSmall(3, 2).files()
	f.Add(files[0], files[1])
	f.Add(files[1], files[0])
	f.Add(files[0], files[3])
	f.Fuzz(func(t *testing.T, images, labels []byte) {
		x, err := DecodeIDX(bytes.NewReader(images), "fuzz")
		if err != nil {
			return
		}
		y, err := DecodeIDX(bytes.NewReader(labels), "fuzz")
		if err != nil {
			return
		}
		s, err := digits(x, y, "fuzz", "fuzz")
		if err != nil {
			wantFileError(t, err, "fuzz")
			return
		}
		if len(s.Images) != s.Len()*x.Dims[1]*x.Dims[2] {
			t.Fatalf("%d values of %d images of %s", len(s.Images), s.Len(), x.shape())
		}
	})
}
