package data

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// small is a set in MNIST's format for tests: digits of 4 x 5 pixels, each of
// them different from all others.
type small struct {
	labels [2][]uint8 // of the training and the test part
}

func newSmall(nTrain, nTest int) *small {
	s := new(small)
	for part, n := range []int{nTrain, nTest} {
		for i := range n {
			s.labels[part] = append(s.labels[part], uint8((3*i+6)%10))
		}
	}
	return s
}

// image returns digit i of a part (0 training, 1 test).
func (s *small) image(part, i int) []uint8 {
	img := make([]uint8, 20)
	for p := range img {
		img[p] = uint8(p*11 + i)
	}
	img[0], img[1], img[2] = uint8(part), uint8(i>>8), uint8(i)
	return img
}

// files returns the contents of the four files, in the order of MNISTFiles.
func (s *small) files() [4][]byte {
	var f [4][]byte
	for part := range 2 {
		n := len(s.labels[part])
		var images []uint8
		for i := range n {
			images = append(images, s.image(part, i)...)
		}
		f[2*part] = encodeIDX(images, uint32(n), 4, 5)
		f[2*part+1] = encodeIDX(s.labels[part], uint32(n))
	}
	return f
}

func writeFiles(t *testing.T, names [4]string, files [4][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, name := range names {
		if files[i] == nil {
			continue
		}
		content := files[i]
		if strings.HasSuffix(name, ".gz") {
			content = gzipped(t, content)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var (
	plainNames  = [4]string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}
	dottedNames = [4]string{"train-images.idx3-ubyte", "train-labels.idx1-ubyte", "t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"}
)

func withGz(names [4]string) [4]string {
	for i := range names {
		names[i] += ".gz"
	}
	return names
}

var anyContent = ReadMNISTOptions{AnyContent: true}

func TestReadMNISTNames(t *testing.T) {
	s := newSmall(30, 20)
	mixed := plainNames
	mixed[1], mixed[2] = withGz(plainNames)[1], dottedNames[2]
	for _, names := range [][4]string{plainNames, dottedNames, withGz(plainNames), withGz(dottedNames), mixed} {
		m, err := ReadMNISTWith(writeFiles(t, names, s.files()), anyContent)
		if err != nil {
			t.Fatal(err)
		}
		if m.Height != 4 || m.Width != 5 || !slices.Equal(m.Train.Labels, s.labels[0]) || !slices.Equal(m.Test.Labels, s.labels[1]) {
			t.Fatalf("%v: wrong content", names)
		}
		if !slices.Equal(m.Train.Images[29*20:], s.image(0, 29)) || !slices.Equal(m.Test.Images[:20], s.image(1, 0)) {
			t.Fatalf("%v: wrong images", names)
		}
	}
}

func TestReadMNISTBad(t *testing.T) {
	good := newSmall(30, 20).files()
	change := func(i int, content []byte) [4][]byte {
		f := good
		f[i] = content
		return f
	}
	labels := slices.Repeat([]uint8{1}, 30)
	for _, c := range []struct {
		name  string
		files [4][]byte
		path  string // of the file at fault
		say   []string
	}{
		{"missing", change(trainLabels, nil), "", []string{"1 of the 4 files of mnist are missing (train-labels-idx1-ubyte.gz)", "-download"}},
		{"all missing", [4][]byte{}, "", []string{"4 of the 4 files"}},
		{"truncated", change(testImages, good[testImages][:100]), plainNames[testImages], []string{"truncated: 84 data bytes of the 400 (20 x 4 x 5)"}},
		{"fewer labels", change(trainLabels, encodeIDX(labels[:29], 29)), plainNames[trainLabels], []string{"29 labels for the 30 images of " + plainNames[trainImages]}},
		{"label 10", change(trainLabels, encodeIDX(append(labels[:29:29], 10), 30)), plainNames[trainLabels], []string{"label 10 at position 29"}},
		{"labels for images", change(trainImages, good[trainLabels]), plainNames[trainImages], []string{"1 dimensions (30) where images have 3"}},
		{"images for labels", change(testLabels, good[testImages]), plainNames[testLabels], []string{"3 dimensions (20 x 4 x 5) where labels have 1"}},
		{"labels for test images", change(testImages, good[testLabels]), plainNames[testImages], []string{"1 dimensions (20) where images have 3"}},
		{"two heights", change(testImages, encodeIDX(ramp(20*3*5), 20, 3, 5)), plainNames[testImages], []string{"3 x 5 pixels", "4 x 5"}},
		{"two widths", change(testImages, encodeIDX(ramp(20*4*6), 20, 4, 6)), plainNames[testImages], []string{"4 x 6 pixels", "4 x 5"}},
		{"two sizes", change(testImages, encodeIDX(ramp(20*5*4), 20, 5, 4)), plainNames[testImages], []string{"5 x 4 pixels", "4 x 5"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := writeFiles(t, plainNames, c.files)
			m, err := ReadMNISTWith(dir, anyContent)
			if m != nil {
				t.Error("data returned with an error")
			}
			wantFileError(t, err, filepath.Join(dir, c.path), c.say...)
		})
	}
}

func TestReadMNISTChecksum(t *testing.T) {
	dir := writeFiles(t, withGz(plainNames), newSmall(30, 20).files())
	_, err := ReadMNIST(dir)
	wantFileError(t, err, filepath.Join(dir, "train-images-idx3-ubyte.gz"), "wrong checksum", mnistContent[trainImages], "-download")
}

func TestReadMNISTNoDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	_, err := ReadMNIST(missing)
	wantFileError(t, err, missing, "no such directory", "-data")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = ReadMNIST(file)
	wantFileError(t, err, file, "not a directory")
}

// realDir returns the directory of the original files, or skips.
func realDir(t testing.TB) string {
	t.Helper()
	var tried []string
	for _, place := range []string{os.Getenv("NOETHER_DATA"), "../../shared/data"} {
		if place == "" {
			continue
		}
		dir, err := Locate(place, MNISTFiles())
		if err == nil {
			return dir
		}
		tried = append(tried, err.Error())
	}
	t.Skip("needs the original MNIST: ", strings.Join(tried, "; "))
	return ""
}

func TestRealMNIST(t *testing.T) {
	dir := realDir(t)
	m, err := ReadMNIST(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Height != 28 || m.Width != 28 || m.Train.Len() != 60000 || m.Test.Len() != 10000 {
		t.Fatalf("%d + %d images of %d x %d", m.Train.Len(), m.Test.Len(), m.Height, m.Width)
	}
	if !slices.Equal(m.Train.Labels[:10], []uint8{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}) || !slices.Equal(m.Test.Labels[:5], []uint8{7, 2, 1, 0, 4}) {
		t.Errorf("labels begin with %v and %v", m.Train.Labels[:10], m.Test.Labels[:5])
	}
	if got := len(where(m.Train.Labels, 6)); got != 5918 {
		t.Errorf("%d sixes in the training part", got)
	}
	// Where the files are the published packed ones, they are what Download asks for.
	for _, f := range MNISTFiles().Files {
		path := filepath.Join(dir, f.Name)
		if _, err := os.Stat(path); err != nil {
			t.Logf("%s not checked: %v", f.Name, err)
		} else if !f.holds(t.Context(), path) {
			t.Errorf("%s is not the file that MNISTFiles describes", path)
		}
	}

	for _, d := range []*Dataset{MNIST6180(m, 1), MNIST6M(m, 1)} {
		if err := d.Validate(); err != nil {
			t.Error(err)
		}
		if d.Train.Len() != 2*5327 || d.Validation.Len() != 2*591 || d.Test.Len() != 2*958 {
			t.Errorf("%s: %d, %d, %d images", d.Name, d.Train.Len(), d.Validation.Len(), d.Test.Len())
		}
	}
}

// One byte of one image differs: the checksum finds it.
func TestRealMNISTAltered(t *testing.T) {
	dir := realDir(t)
	paths, err := MNISTFiles().find(dir)
	if err != nil {
		t.Fatal(err)
	}
	altered := t.TempDir()
	for i, path := range paths {
		x, err := ReadIDX(path)
		if err != nil {
			t.Fatal(err)
		}
		content := append(x.header(), x.Data...)
		if i == testLabels {
			content[4000] ^= 1
		}
		if err := os.WriteFile(filepath.Join(altered, plainNames[i]), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err = ReadMNIST(altered)
	wantFileError(t, err, filepath.Join(altered, plainNames[testLabels]), "wrong checksum", mnistContent[testLabels])
	if _, err := ReadMNISTWith(altered, anyContent); err != nil {
		t.Error(err)
	}
}

func TestSixes(t *testing.T) {
	s := newSmall(1000, 300)
	m, err := ReadMNISTWith(writeFiles(t, plainNames, s.files()), anyContent)
	if err != nil {
		t.Fatal(err)
	}
	turn := func(img []uint8, r, c int) uint8 { return img[(3-r)*5+4-c] }
	mirror := func(img []uint8, r, c int) uint8 { return img[r*5+4-c] }
	for _, task := range []struct {
		name string
		make func(*MNIST, uint64) *Dataset
		copy func(img []uint8, r, c int) uint8
	}{{"mnist6-180", MNIST6180, turn}, {"mnist6-m", MNIST6M, mirror}} {
		d := task.make(m, 7)
		if d.Name != task.name || d.Synthetic || d.ClassNames[0] != "6" {
			t.Errorf("%q, synthetic %v, %v", d.Name, d.Synthetic, d.ClassNames)
		}
		if err := d.Validate(); err != nil {
			t.Error(err)
		}
		if d.Train.Len() != 180 || d.Validation.Len() != 20 || d.Test.Len() != 60 {
			t.Errorf("%s: %d, %d, %d images", d.Name, d.Train.Len(), d.Validation.Len(), d.Test.Len())
		}
		// Every six is in exactly one part, next to its copy.
		seen := map[[3]uint8]bool{}
		for part, split := range []*Split{&d.Train, &d.Validation, &d.Test} {
			for i := 0; i < split.Len(); i += 2 {
				img, copied := d.Image(split, i), d.Image(split, i+1)
				key := [3]uint8(img[:3])
				if seen[key] {
					t.Fatalf("%s: six %v is there twice", d.Name, key)
				}
				seen[key] = true
				fromTest := part == 2
				if n := int(key[1])<<8 + int(key[2]); (key[0] == 1) != fromTest || s.labels[key[0]][n] != 6 || !bytes.Equal(img, s.image(int(key[0]), n)) {
					t.Fatalf("%s: image %d of part %d is no six of the right part", d.Name, i, part)
				}
				if split.Labels[i] != 0 || split.Labels[i+1] != 1 {
					t.Fatalf("%s: labels %d, %d", d.Name, split.Labels[i], split.Labels[i+1])
				}
				for r := range 4 {
					for c := range 5 {
						if copied[r*5+c] != task.copy(img, r, c) {
							t.Fatalf("%s: the copy of image %d differs at (%d, %d)", d.Name, i, r, c)
						}
					}
				}
			}
		}
		if len(seen) != 130 {
			t.Errorf("%s: %d sixes of 130", d.Name, len(seen))
		}
		if again := task.make(m, 7); !bytes.Equal(again.Validation.Images, d.Validation.Images) {
			t.Error("the same seed gave another split")
		}
		other := task.make(m, 8)
		if bytes.Equal(other.Validation.Images, d.Validation.Images) {
			t.Error("another seed gave the same split")
		}
		if !bytes.Equal(other.Test.Images, d.Test.Images) {
			t.Error("the seed changed the test part")
		}
	}
}

func TestSixesWithoutSix(t *testing.T) {
	f := newSmall(30, 20).files()
	f[trainLabels] = encodeIDX(make([]uint8, 30), 30)
	m, err := ReadMNISTWith(writeFiles(t, plainNames, f), anyContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := MNIST6180(m, 0).Validate(); err == nil || !strings.Contains(err.Error(), "training part is empty") {
		t.Errorf("Validate says %v", err)
	}
}

// TestMNISTOfOtherSizes: sets made of digits whose numbers do not fit say so.
func TestMNISTOfOtherSizes(t *testing.T) {
	for name, spoil := range map[string]func(m *MNIST){
		"49 pixel values for 2 images of 25": func(m *MNIST) { m.Train.Images = m.Train.Images[:49] },
		"25 pixel values for 2 images of 25": func(m *MNIST) { m.Test.Images = m.Test.Images[:25] },
		"images of 0 x 5 pixels":             func(m *MNIST) { m.Height = 0 },
		"images of 5 x -5 pixels":            func(m *MNIST) { m.Width = -5 },
	} {
		for op, call := range map[string]func(m *MNIST){
			"MNIST6180":         func(m *MNIST) { MNIST6180(m, 1) },
			"MNIST6180Turned":   func(m *MNIST) { MNIST6180Turned(m, 1, 5) },
			"MNIST6M":           func(m *MNIST) { MNIST6M(m, 1) },
			"MNIST6Circle":      func(m *MNIST) { MNIST6Circle(m, 1) },
			"SyntheticRotMNIST": func(m *MNIST) { SyntheticRotMNIST(m, 1) },
		} {
			func() {
				defer func() {
					if e, ok := recover().(*Error); !ok || e.Op != op || !strings.Contains(e.Problem, name) {
						t.Errorf("%s of a set with %s: %v", op, name, e)
					}
				}()
				m := topped(2, 2)
				spoil(m)
				call(m)
			}()
		}
	}
}

// topped returns a set in MNIST's format of n sixes each, with ink at the top and a
// number of their own in the centre, which turning leaves alone.
func topped(train, test int) *MNIST {
	m := &MNIST{Height: 5, Width: 5}
	for part, s := range []*Split{&m.Train, &m.Test} {
		for i := range []int{train, test}[part] {
			image := make([]uint8, 25)
			image[2], image[7], image[12] = 250, 250, uint8(i)
			s.Images, s.Labels = append(s.Images, image...), append(s.Labels, 6)
		}
	}
	return m
}

// above returns how much further up than down the ink of an image lies.
func above(image []uint8) (ink int) {
	for k, v := range image {
		ink += int(v) * (2 - k/5)
	}
	return ink
}

// A tenth of the sixes validate, of few one, and of a single one none.
func TestFewSixes(t *testing.T) {
	for n, held := range map[int]int{1: 0, 2: 1, 9: 1, 19: 1, 20: 2} {
		d := MNIST6180(topped(n, 1), 3)
		if train, validation := d.Train.Len(), d.Validation.Len(); train != 2*(n-held) || validation != 2*held {
			t.Errorf("%d sixes and copies to train on and %d to validate by, of %d sixes", train, validation, n)
		}
	}
}

func TestMNIST6Circle(t *testing.T) {
	m := topped(200, 100)
	before := slices.Clone(m.Train.Images)
	d, same, other := MNIST6Circle(m, 3), MNIST6Circle(m, 3), MNIST6Circle(m, 4)
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	if d.Name != "mnist6-circle" || d.Train.Len() != 16*180 || d.Validation.Len() != 4*20 || d.Test.Len() != 4*100 {
		t.Errorf("%s has %d, %d and %d images", d.Name, d.Train.Len(), d.Validation.Len(), d.Test.Len())
	}
	if !bytes.Equal(before, m.Train.Images) {
		t.Error("the sixes that were given are turned")
	}
	if !bytes.Equal(d.Train.Images, same.Train.Images) || !bytes.Equal(d.Test.Images, same.Test.Images) || bytes.Equal(d.Test.Images, other.Test.Images) {
		t.Error("the angles are not a function of the seed")
	}
	if !bytes.Equal(d.Upright.Images, m.Test.Images) || slices.Max(d.Upright.Labels) != 0 {
		t.Error("the upright sixes are not those of the test part, in class 0")
	}
	turns := map[uint8]int{} // of a six to learn from
	var of [2]int
	for _, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
		for i := range s.Len() {
			image, label := d.Image(s, i), s.Labels[i]
			of[label]++
			if s != &d.Test {
				turns[image[12]]++
			}
			if up := above(image); label == 0 && up < -1 || label == 1 && up > 1 {
				t.Errorf("image %d has label %d, and %d more ink above than below", i, label, up)
			}
		}
	}
	if len(turns) != 200 || of[0] < 1600 || of[1] < 1600 {
		t.Errorf("%d of 200 sixes to learn from; %d and %d of the classes", len(turns), of[0], of[1])
	}
	for six, n := range turns {
		if n != 16 && n != 4 {
			t.Errorf("six %d is there %d times, in both parts", six, n)
		}
	}
}

func TestMNIST6180Turned(t *testing.T) {
	m := topped(60, 30)
	plain, d, wide := MNIST6180(m, 3), MNIST6180Turned(m, 3, 20), MNIST6180Turned(m, 3, 180)
	if !reflect.DeepEqual(MNIST6180Turned(m, 3, 0), plain) {
		t.Error("sixes that are turned by nothing are others than those of MNIST6180")
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if d.Name != "mnist6-180-rot20" || d.Test.Len() != 60 || !slices.Equal(d.Train.Labels, plain.Train.Labels) {
		t.Errorf("%s, %d test images", d.Name, d.Test.Len())
	}
	if !d.Turned || plain.Turned || !reflect.DeepEqual(d.Upright, plain.Test) || plain.Upright.Len() != 0 {
		t.Errorf("the %d upright images are not those of MNIST6180's test part", d.Upright.Len())
	}
	if !bytes.Equal(d.Train.Images, MNIST6180Turned(m, 3, 20).Train.Images) || bytes.Equal(d.Train.Images, MNIST6180Turned(m, 4, 20).Train.Images) {
		t.Error("the angles are not a function of the seed")
	}
	moved, below := 0, 0
	turned := make([]uint8, 25)
	for i := 0; i < d.Train.Len(); i += 2 {
		image, copied := d.Image(&d.Train, i), d.Image(&d.Train, i+1)
		if turnHalf(turned, image, 5); !bytes.Equal(turned, copied) {
			t.Errorf("the copy of image %d is not the image turned by 180 degrees", i)
		}
		if !bytes.Equal(image, plain.Image(&plain.Train, i)) {
			moved++
		}
		if above(image) < 700 { // a fifth of a right angle keeps most of 750
			t.Errorf("image %d is turned too far: %d more ink above than below", i, above(image))
		}
		if above(wide.Image(&wide.Train, i)) < 0 {
			below++
		}
	}
	if moved < d.Train.Len()/3 || below < d.Train.Len()/8 {
		t.Errorf("of %d sixes %d are turned by up to 20 degrees, and %d stand on their heads by up to 180", d.Train.Len()/2, moved, below)
	}
	for _, degrees := range []float64{-1, 181, math.NaN()} {
		func() {
			defer func() {
				if _, ok := recover().(*Error); !ok {
					t.Errorf("no *Error for %v degrees", degrees)
				}
			}()
			MNIST6180Turned(m, 3, degrees)
		}()
	}
}
