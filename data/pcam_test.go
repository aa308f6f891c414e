package data

import (
	"archive/tar"
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pcamPixel is pixel (r, c) of channel k of image i of a part.
func pcamPixel(i, k, r, c int) uint8 { return uint8(31*i + 80*k + 2*r + c) }

func pcamPicture(i, side int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for r := range side {
		for c := range side {
			img.SetNRGBA(c, r, color.NRGBA{pcamPixel(i, 0, r, c), pcamPixel(i, 1, r, c), pcamPixel(i, 2, r, c), 255})
		}
	}
	return img
}

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func put(t testing.TB, content []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantPCam checks images 0 to n-1 of a part, image i being of class labels[i].
func wantPCam(t *testing.T, d *Dataset, s *Split, labels []uint8) {
	t.Helper()
	if !bytes.Equal(s.Labels, labels) {
		t.Fatalf("classes %v, want %v", s.Labels, labels)
	}
	for i := range labels {
		img := d.Image(s, i)
		for k := range 3 {
			for r := range pcamSide {
				for c := range pcamSide {
					if got := img[(k*pcamSide+r)*pcamSide+c]; got != pcamPixel(i, k, r, c) {
						t.Fatalf("image %d, channel %d, row %d, column %d is %d, want %d", i, k, r, c, got, pcamPixel(i, k, r, c))
					}
				}
			}
		}
	}
}

// pcamFolders makes image folders, of two images of class 0 and one of class 1 in
// each part.
func pcamFolders(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, part := range pcamParts {
		put(t, encodePNG(t, pcamPicture(0, pcamSide)), dir, part, "0", "a.png")
		put(t, encodePNG(t, pcamPicture(1, pcamSide)), dir, part, "0", "b.PNG")
		put(t, encodePNG(t, pcamPicture(2, pcamSide)), dir, part, "1", "a.png")
		put(t, []byte("not an image"), dir, part, "1", "Thumbs.db")
		put(t, []byte("not an image"), dir, part, "1", "._a.png")
	}
	return dir
}

func TestReadPCamFolders(t *testing.T) {
	dir := pcamFolders(t)
	d, err := readPCam(dir, [3]int{3, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	for _, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
		wantPCam(t, d, s, []uint8{0, 0, 1})
	}
	if part, err := ReadPCam(dir); err != nil || d.Name != "pcam" || part.Name != "pcam-part" {
		t.Errorf("all of it is called %s, a part %s (%v)", d.Name, part.Name, err)
	}
	if got, err := Locate(dir, PCamFiles()); err != nil || got != dir {
		t.Errorf("found in %q, %v", got, err)
	}
	above := t.TempDir()
	if err := os.Rename(dir, filepath.Join(above, "PCam")); err != nil {
		t.Fatal(err)
	}
	if got, err := Locate(above, PCamFiles()); err != nil || got != filepath.Join(above, "PCam") && got != filepath.Join(above, "pcam") {
		t.Errorf("found in %q, %v", got, err)
	}
}

// JPEG images come out as they went in, up to the loss of the format.
func TestReadPCamJPEG(t *testing.T) {
	dir := pcamFolders(t)
	img := image.NewNRGBA(image.Rect(0, 0, pcamSide, pcamSide))
	for i := range pcamSide * pcamSide {
		img.SetNRGBA(i%pcamSide, i/pcamSide, color.NRGBA{200, 40, uint8(100 + i%pcamSide), 255})
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	put(t, b.Bytes(), dir, "test", "1", "a.jpeg")
	d, err := ReadPCam(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := d.Image(&d.Test, 2)
	for i := range pcamSide * pcamSide {
		for k, want := range []int{200, 40, 100 + i%pcamSide} {
			if v := int(got[k*pcamSide*pcamSide+i]); v < want-4 || v > want+4 {
				t.Fatalf("channel %d of pixel %d is %d, want about %d", k, i, v, want)
			}
		}
	}
}

func TestReadPCamFoldersRefuses(t *testing.T) {
	good := encodePNG(t, pcamPicture(0, pcamSide))
	for _, c := range []struct {
		name    string
		content []byte
		say     string
	}{
		{"empty", nil, "not a PNG or JPEG image"},
		{"text", []byte("<html>"), "not a PNG or JPEG image"},
		{"another size", encodePNG(t, pcamPicture(0, 95)), "95 x 95 pixels where 96 x 96 are needed"},
		{"truncated", good[:len(good)-20], "damaged image"},
		{"huge", append(bytes.Clone(good), make([]byte, maxImageFile)...), "more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := pcamFolders(t)
			put(t, c.content, dir, "valid", "1", "z.png")
			_, err := ReadPCam(dir)
			wantFileError(t, err, filepath.Join(dir, "valid", "1", "z.png"), c.say)
		})
	}
	dir := pcamFolders(t)
	put(t, append(bytes.Clone(good), make([]byte, maxImageFile-len(good))...), dir, "valid", "1", "z.png") // as much as is allowed
	if _, err := ReadPCam(dir); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "test", "1", "a.png")); err != nil {
		t.Fatal(err)
	}
	_, err := ReadPCam(dir)
	wantFileError(t, err, filepath.Join(dir, "test", "1"), "no image in it")
	if err := os.RemoveAll(filepath.Join(dir, "test", "1")); err != nil {
		t.Fatal(err)
	}
	_, err = ReadPCam(dir)
	wantFileError(t, err, dir, "6 of the 6 files of pcam are missing", "docs/command-line.md", "-data")
}

// pcamDump returns the two files of n images of the classes 0 and 1 in turn.
func pcamDump(n int) (x, y []byte) {
	for i := range n {
		for r := range pcamSide {
			for c := range pcamSide {
				x = append(x, pcamPixel(i, 0, r, c), pcamPixel(i, 1, r, c), pcamPixel(i, 2, r, c))
			}
		}
		y = append(y, uint8(i%2))
	}
	return x, y
}

func TestReadPCamDump(t *testing.T) {
	dir := t.TempDir()
	for i, part := range pcamParts {
		x, y := pcamDump(4 - i)
		name := "camelyonpatch_level_2_split_" + part
		if i == 1 {
			put(t, gzipped(t, x), dir, name+"_x.bin.gz")
			put(t, gzipped(t, y), dir, name+"_y.bin.gz")
		} else {
			put(t, x, dir, name+"_x.bin")
			put(t, y, dir, name+"_y.bin")
		}
	}
	d, err := readPCam(dir, [3]int{4, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil || d.Name != "pcam" {
		t.Error(d.Name, err)
	}
	for i, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
		wantPCam(t, d, s, []uint8{0, 1, 0, 1}[:4-i])
		if cap(s.Images) != len(s.Images) || cap(s.Labels) != len(s.Labels) {
			t.Errorf("memory for %d and %d bytes, of which %d and %d are used: it was not reserved at once", cap(s.Images), cap(s.Labels), len(s.Images), len(s.Labels))
		}
	}

	x, y := pcamDump(2)
	for _, c := range []struct{ name, file, say string }{
		{"_x.bin", string(x[:pcamPixels]), "1 images where this file of PCam has 2"},
		{"_x.bin", string(x) + "!", "truncated: image 2 has 1 bytes of 27648"},
		{"_x.bin", "", "the file is empty"},
		{"_y.bin", "\x00\x02", "image 1: the class is 2, only 0 and 1 are classes"},
		{"_y.bin", string(y) + "\x00", "more than 2 images"},
	} {
		path := filepath.Join(dir, "camelyonpatch_level_2_split_test"+c.name)
		put(t, x, strings.Replace(path, "_y", "_x", 1))
		put(t, []byte(c.file), path)
		_, err := readPCam(dir, [3]int{4, 3, 2})
		wantFileError(t, err, path, c.say)
	}
}

// One byte of the two that gzip data begin with does not make a file packed.
func TestPCamPlain(t *testing.T) {
	for _, first := range []string{"\x1f\x00", "\x00\x8b"} {
		x := append([]byte(first), make([]byte, pcamPixels-2)...)
		if out, err := decodePCam(bytes.NewReader(x), "file", nil, 1, pcamPixels, pcamImage); err != nil || out[0] != first[0] || out[pcamSide*pcamSide] != first[1] {
			t.Errorf("a file that begins with % x: %v", first, err)
		}
	}
}

// A packed file whose first image is none reserves no memory: there is not enough for this many.
func TestPCamReservesForGoodFiles(t *testing.T) {
	for say, content := range map[string][]byte{
		"image 0: the class is 2": gzipped(t, []byte{2, 0}),
		"no image in it":          gzipped(t, nil),
	} {
		_, err := decodePCam(bytes.NewReader(content), "file", nil, math.MaxInt, 1, pcamClass)
		wantFileError(t, err, "file", say)
	}
}

// Real patches, if JPEG copies.
func TestRealPCam(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: decodes 3000 images")
	}
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", "pcam-jpeg-sample", "pcam_jpeg_sample.tar"))
	if err != nil {
		t.Skipf("no part of PCam here: %v", err)
	}
	defer f.Close()
	dir := t.TempDir()
	for files := tar.NewReader(f); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		put(t, content, dir, h.Name)
	}
	dir, err = Locate(dir, PCamFiles())
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadPCam(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{2000, 500, 500} || d.Name != "pcam-part" {
		t.Errorf("%s has parts of %v", d.Name, got)
	}
	// The normalisation is that of such images: their means come out near zero.
	for k := range 3 {
		var sum float64
		for i := range d.Train.Len() {
			for _, v := range d.Image(&d.Train, i)[k*pcamSide*pcamSide:][:pcamSide*pcamSide] {
				sum += float64(v)
			}
		}
		if mean := sum/255/float64(d.Train.Len()*pcamSide*pcamSide) - float64(d.Mean[k]); mean < -.1 || mean > .1 {
			t.Errorf("the mean of channel %d lies %.3f off", k, mean)
		}
	}
}

func FuzzImage(f *testing.F) {
	f.Add(encodePNG(f, pcamPicture(0, 8)))
	f.Add(encodePNG(f, pcamPicture(0, 9)))
	var b bytes.Buffer
	if err := jpeg.Encode(&b, pcamPicture(0, 8), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()/2])
	f.Fuzz(func(t *testing.T, content []byte) {
		canvas := image.NewRGBA(image.Rect(0, 0, 8, 8))
		if err := drawImage(canvas, bytes.NewReader(content), "fuzz"); err != nil {
			wantFileError(t, err, "fuzz")
		} else if n := len(appendPlanes(nil, canvas)); n != 3*8*8 {
			t.Fatalf("%d values of an image", n)
		}
	})
}

func FuzzPCam(f *testing.F) {
	x, y := pcamDump(1)
	f.Add(x)
	f.Add(x[:9])
	f.Add(gzipped(f, x))
	f.Add(y)
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, content []byte) {
		for size, convert := range map[int]func(_, _ []byte) error{pcamPixels: pcamImage, 1: pcamClass} {
			out, err := decodePCam(bytes.NewReader(content), "fuzz", nil, 1, size, convert)
			if err != nil {
				wantFileError(t, err, "fuzz")
			} else if len(out) != size {
				t.Fatalf("%d bytes of a record of %d", len(out), size)
			}
		}
	})
}
