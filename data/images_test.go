package data

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const ownSide = 5

// writeImages puts count images into the folder of each class in dir. Those of class k are of shade 40*k+i, in
// folder order.
func writeImages(t *testing.T, dir string, count int, classes ...string) {
	t.Helper()
	for k, class := range classes {
		for i := range count {
			img := image.NewGray(image.Rect(0, 0, ownSide, ownSide))
			for p := range img.Pix {
				img.Pix[p] = uint8(40*k + i)
			}
			put(t, encodePNG(t, img), dir, class, fmt.Sprintf("%03d.png", i))
		}
	}
}

// shades returns the shades of a part's images, all of whose pixels must be of one.
func shades(t *testing.T, d *Dataset, s *Split) []uint8 {
	t.Helper()
	list := make([]uint8, s.Len())
	for i := range list {
		list[i] = d.Image(s, i)[0]
		for _, v := range d.Image(s, i) {
			if v != list[i] {
				t.Fatalf("image %d has pixels of %d and %d", i, list[i], v)
			}
		}
	}
	return list
}

func TestImages(t *testing.T) {
	dir := t.TempDir()
	classes := []string{"cat", "dog", "eel"}
	writeImages(t, filepath.Join(dir, "train"), 7, classes...)
	writeImages(t, filepath.Join(dir, "test"), 2, classes...)
	put(t, []byte("left alone"), dir, "train", "README")
	put(t, []byte("left alone"), dir, "train", ".hidden", "x.png")
	put(t, []byte("left alone"), dir, "train", "cat", "notes.txt")
	put(t, []byte("no folder"), dir, "val")
	if err := os.Symlink("nowhere", filepath.Join(dir, "train", "broken")); err != nil {
		t.Log(err)
	}
	cfg := ImagesConfig{Side: ownSide, Classes: 3, Seed: 4}
	d, err := ReadImages(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if d.Name != "images" || d.Synthetic || d.Channels != 3 || d.Height != ownSide || d.Width != ownSide || !slices.Equal(d.ClassNames, classes) {
		t.Errorf("%+v", d)
	}
	if got, want := shades(t, d, &d.Test), []uint8{0, 1, 40, 41, 80, 81}; !slices.Equal(got, want) || !slices.Equal(d.Test.Labels, []uint8{0, 0, 1, 1, 2, 2}) {
		t.Errorf("to test on: %v of classes %v", got, d.Test.Labels)
	}
	// A tenth of 21 is set aside, by the seed.
	if d.Train.Len() != 19 || d.Validation.Len() != 2 {
		t.Fatalf("%d images to train on, %d to validate by", d.Train.Len(), d.Validation.Len())
	}
	if pixels := d.Pixels(); cap(d.Train.Images) != 21*pixels || cap(d.Validation.Images) != 2*pixels {
		t.Errorf("memory for %d and %d bytes: of the images to train on there was a copy", cap(d.Train.Images), cap(d.Validation.Images))
	}
	all := append(shades(t, d, &d.Train), shades(t, d, &d.Validation)...)
	labels := append(slices.Clone(d.Train.Labels), d.Validation.Labels...)
	seen := map[uint8]bool{}
	for i, v := range all {
		seen[v] = true
		if labels[i] != v/40 {
			t.Errorf("the image of shade %d has class %d", v, labels[i])
		}
	}
	if len(seen) != 21 {
		t.Errorf("%d of 21 images are there", len(seen))
	}
	others := 0
	for seed := range uint64(8) {
		o, err := ReadImages(dir, ImagesConfig{Side: ownSide, Classes: 3, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(o.Validation.Images, d.Validation.Images) {
			others++
		}
	}
	if others < 5 || others == 8 {
		t.Errorf("%d of 8 seeds set other images aside than seed %d, which is one of them", others, cfg.Seed)
	}

	// With a folder of its own.
	remove(t, dir, "val")
	for _, name := range []string{"val", "valid"} { // the second goes before the first
		writeImages(t, filepath.Join(dir, name), len(name), classes...)
		d, err := ReadImages(dir, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if d.Train.Len() != 21 || d.Validation.Len() != 3*len(name) || d.Test.Len() != 6 || d.Validate() != nil {
			t.Errorf("with %s: parts of %d, %d and %d images, %v", name, d.Train.Len(), d.Validation.Len(), d.Test.Len(), d.Validate())
		}
	}

	at, err := Locate(dir, ImagesFiles())
	if err != nil || at != dir {
		t.Errorf("found in %q, %v", at, err)
	}
}

// Colours keep their places.
func TestImagesInColour(t *testing.T) {
	dir := t.TempDir()
	img := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	img.SetNRGBA(0, 0, color.NRGBA{10, 20, 30, 255})
	for _, part := range []string{"train", "valid", "test"} {
		for _, class := range []string{"a", "b"} {
			put(t, encodePNG(t, img), dir, part, class, "x.png")
		}
	}
	d, err := ReadImages(dir, ImagesConfig{Side: 1, Classes: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := d.Image(&d.Validation, 1); !slices.Equal(got, []uint8{10, 20, 30}) {
		t.Errorf("%v", got)
	}
}

func TestImagesRefused(t *testing.T) {
	cfg := ImagesConfig{Side: ownSide, Classes: 2}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		path   string // below dir
		say    []string
	}{
		"no folder to test on": {func(t *testing.T, dir string) { remove(t, dir, "test") }, "", []string{"1 of the 2 folders of images are missing (test)", "-data"}},
		"a file to test on": {func(t *testing.T, dir string) {
			remove(t, dir, "test")
			put(t, nil, dir, "test")
		}, "", []string{"1 of the 2 folders of images are missing (test)"}},
		"one class more": {func(t *testing.T, dir string) { writeImages(t, filepath.Join(dir, "train"), 1, "c") }, "train",
			[]string{"3 folders (a, b, c) in it, one for each class, where 2 classes are expected"}},
		"many classes": {func(t *testing.T, dir string) {
			writeImages(t, filepath.Join(dir, "train"), 1, "c", "d", "e", "f")
		}, "train", []string{"6 folders (a, b, c, d, e, ...) in it"}},
		"no classes":             {func(t *testing.T, dir string) { remove(t, dir, "train", "a"); remove(t, dir, "train", "b") }, "train", []string{"0 folders in it"}},
		"a class to test alone":  {func(t *testing.T, dir string) { writeImages(t, filepath.Join(dir, "test"), 1, "c\nd") }, "test", []string{`1 folder (c\nd) of no class; those of train are 2 folders (a, b)`}},
		"a class to train alone": {func(t *testing.T, dir string) { remove(t, dir, "test", "b") }, filepath.Join("test", "b"), []string{"cannot be read"}},
		"another to validate by": {func(t *testing.T, dir string) { writeImages(t, filepath.Join(dir, "val"), 1, "a", "c") }, "val", []string{"1 folder (c) of no class"}},
		"a class without images": {func(t *testing.T, dir string) {
			remove(t, dir, "train", "a")
			put(t, nil, dir, "train", "a", "none.txt")
		}, filepath.Join("train", "a"), []string{"no image in it"}},
		"another size": {func(t *testing.T, dir string) { put(t, encodePNG(t, pcamPicture(0, 9)), dir, "test", "b", "9.png") }, filepath.Join("test", "b", "9.png"),
			[]string{"9 x 9 pixels where 5 x 5 are needed"}},
		"another height": {func(t *testing.T, dir string) {
			put(t, encodePNG(t, image.NewGray(image.Rect(0, 0, 5, 6))), dir, "test", "a", "9.png")
		}, filepath.Join("test", "a", "9.png"), []string{"5 x 6 pixels where 5 x 5 are needed"}},
		"another width": {func(t *testing.T, dir string) {
			put(t, encodePNG(t, image.NewGray(image.Rect(0, 0, 4, 5))), dir, "test", "a", "9.png")
		}, filepath.Join("test", "a", "9.png"), []string{"4 x 5 pixels where 5 x 5 are needed"}},
		"no image": {func(t *testing.T, dir string) { put(t, []byte("GIF89a"), dir, "train", "b", "x.jpg") }, filepath.Join("train", "b", "x.jpg"), []string{"not a PNG or JPEG image"}},
		"too few": {func(t *testing.T, dir string) {
			for i := 2; i < 7; i++ {
				remove(t, dir, "train", "a", fmt.Sprintf("%03d.png", i))
			}
		}, "", []string{"8 images to train on", "give at least 10"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeImages(t, filepath.Join(dir, "train"), 6, "a", "b")
			writeImages(t, filepath.Join(dir, "test"), 1, "a", "b")
			put(t, encodePNG(t, image.NewGray(image.Rect(0, 0, ownSide, ownSide))), dir, "train", "a", "006.png")
			if _, err := ReadImages(dir, cfg); err != nil {
				t.Fatal(err)
			}
			c.change(t, dir)
			_, err := ReadImages(dir, cfg)
			wantFileError(t, err, filepath.Join(dir, c.path), c.say...)
		})
	}
	for _, cfg := range []ImagesConfig{{0, 2, 0}, {1<<14 + 1, 2, 0}, {5, 1, 0}, {5, 257, 0}} {
		if _, err := ReadImages(t.TempDir(), cfg); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d x %d pixels in %d classes", cfg.Side, cfg.Side, cfg.Classes)) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, cfg := range []ImagesConfig{{1, 2, 0}, {1 << 14, 256, 0}} { // nothing is wrong with these
		_, err := ReadImages(t.TempDir(), cfg)
		wantFileError(t, err, "", "2 of the 2 folders of images are missing")
	}
}

func remove(t *testing.T, path ...string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(path...)); err != nil {
		t.Fatal(err)
	}
}
