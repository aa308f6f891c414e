package data

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// stl10Images returns the file of n images, whose pixel (r, c) of channel k of
// image i is stl10Pixel(i, k, r, c).
func stl10Images(n int) []byte {
	var b []byte
	for i := range n {
		for k := range 3 {
			for c := range stl10Side {
				for r := range stl10Side {
					b = append(b, stl10Pixel(i, k, r, c))
				}
			}
		}
	}
	return b
}

func stl10Pixel(i, k, r, c int) uint8 { return uint8(101*i + 50*k + 3*r + c) }

// stl10Labels returns the file of the classes of n images, 1 to 10 in turn.
func stl10Labels(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = uint8(1 + i%10)
	}
	return b
}

func stl10At(t *testing.T, files [4][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, name := range []string{"train_X.bin", "train_y.bin.gz", "test_X.bin.gz", "test_y.bin"} {
		content := files[i]
		if filepath.Ext(name) == ".gz" {
			content = gzipped(t, content)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadSTL10(t *testing.T) {
	files := [4][]byte{stl10Images(90), stl10Labels(90), stl10Images(13), stl10Labels(13)}
	var sums [4]string
	for i, f := range files {
		sum := md5.Sum(f)
		sums[i] = hex.EncodeToString(sum[:])
	}
	dir := stl10At(t, files)
	d, err := readSTL10(dir, 1, sums, [2]int{90, 13})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{81, 9, 13} || d.Name != "stl10" || d.Synthetic {
		t.Errorf("%s, synthetic %v, has parts of %v", d.Name, d.Synthetic, got)
	}
	for i := range 13 {
		if d.Test.Labels[i] != uint8(i%10) {
			t.Fatalf("image %d has class %d", i, d.Test.Labels[i])
		}
		for k := range 3 {
			for r := range stl10Side {
				for c := range stl10Side {
					if got := d.Image(&d.Test, i)[(k*stl10Side+r)*stl10Side+c]; got != stl10Pixel(i, k, r, c) {
						t.Fatalf("image %d, channel %d, row %d, column %d is %d, want %d", i, k, r, c, got, stl10Pixel(i, k, r, c))
					}
				}
			}
		}
	}

	sums[testLabels] = sums[trainLabels]
	_, err = readSTL10(dir, 1, sums, [2]int{90, 13})
	wantFileError(t, err, filepath.Join(dir, "test_y.bin"), "wrong checksum", sums[trainLabels])
}

func TestReadSTL10Refuses(t *testing.T) {
	good := [4][]byte{stl10Images(2), stl10Labels(2), stl10Images(2), stl10Labels(2)}
	for _, c := range []struct {
		name    string
		i       int // of the file at fault
		content []byte
		path    string
		say     string
	}{
		{"few images", trainImages, good[0][:stl10Pixels], "train_X.bin", "1 images where this file of STL-10 has 2"},
		{"many images", trainImages, stl10Images(3), "train_X.bin", "more than 2 images"},
		{"truncated", trainImages, good[0][:stl10Pixels+7], "train_X.bin", "truncated: image 1 has 7 bytes of 27648"},
		{"no images", testImages, nil, "test_X.bin.gz", "no image in it"},
		{"few classes", trainLabels, []byte{1}, "train_y.bin.gz", "classes of 1 images where this file of STL-10 has 2"},
		{"class 0", testLabels, []byte{1, 0}, "test_y.bin", "class 0 of image 1, only 1 to 10 are classes"},
		{"class 11", testLabels, []byte{11, 1}, "test_y.bin", "class 11 of image 0, only 1 to 10 are classes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := good
			files[c.i] = c.content
			dir := stl10At(t, files)
			_, err := readSTL10(dir, 1, [4]string{}, [2]int{2, 2})
			wantFileError(t, err, filepath.Join(dir, c.path), c.say)
		})
	}
	dir := stl10At(t, good)
	_, err := ReadSTL10(dir, 1)
	wantFileError(t, err, filepath.Join(dir, "train_X.bin"), "2 images where this file of STL-10 has 5000")
	_, err = ReadSTL10(t.TempDir(), 1)
	wantFileError(t, err, "train_X.bin", "4 of the 4 files of stl10 are missing", "stl10_binary.tar.gz", "-data")
}

func FuzzSTL10(f *testing.F) {
	f.Add(stl10Images(1))
	f.Add(stl10Images(1)[:9])
	f.Add(gzipped(f, stl10Images(1)))
	f.Add(stl10Labels(12))
	f.Add(gzipped(f, stl10Labels(12)))
	f.Add([]byte{11})
	f.Fuzz(func(t *testing.T, content []byte) {
		if images, err := decodeSTL10Images(bytes.NewReader(content), "fuzz", 1, io.Discard); err != nil {
			wantFileError(t, err, "fuzz")
		} else if len(images) != stl10Pixels {
			t.Fatalf("%d values of an image", len(images))
		}
		labels, err := decodeSTL10Labels(bytes.NewReader(content), "fuzz", 12, io.Discard)
		if err != nil {
			wantFileError(t, err, "fuzz")
			return
		}
		for i, l := range labels {
			if l > 9 || len(labels) != 12 {
				t.Fatalf("class %d of image %d of %d", l, i, len(labels))
			}
		}
	})
}
