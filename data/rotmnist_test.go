package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/stream"
)

// amat returns .amat text of rows of numbers.
func amat(rows ...[]string) []byte {
	var b bytes.Buffer
	for _, r := range rows {
		b.WriteString(strings.Join(r, " ") + "\n")
	}
	return b.Bytes()
}

func TestDecodeAMAT(t *testing.T) {
	text := amat(
		[]string{"0.000000000000000000e+00", "5.000000000000000000e-01", "1", "3.000000000000000000e+00"},
		[]string{".00195312", ".0019532", "9.960938000000000000e-01", "0"},
	)
	want := Split{Images: []uint8{0, 128, 255, 0, 1, 255}, Labels: []uint8{3, 0}}
	for what, content := range map[string][]byte{
		"as published":     text,
		"packed":           gzipped(t, text),
		"no last newline":  text[:len(text)-1],
		"more blanks":      bytes.ReplaceAll(text, []byte(" "), []byte(" \t ")),
		"lines of Windows": bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")),
		"blanks at ends":   bytes.ReplaceAll(text, []byte("\n"), []byte("  \n")),
	} {
		got, err := DecodeAMAT(bytes.NewReader(content), "f", 3, 4)
		if err != nil || !bytes.Equal(got.Images, want.Images) || !bytes.Equal(got.Labels, want.Labels) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
}

// Lines of as many numbers as are asked for are read, however long they are.
func TestDecodeAMATLongLines(t *testing.T) {
	const pixels = 4000
	text := strings.Repeat("1.000000000000000000e+00 ", pixels) + "3.000000000000000000e+00\n"
	got, err := DecodeAMAT(strings.NewReader(text+text), "f", pixels, 4)
	if err != nil || !bytes.Equal(got.Images, slices.Repeat([]uint8{255}, 2*pixels)) || !bytes.Equal(got.Labels, []uint8{3, 3}) {
		t.Errorf("%d pixels of classes %v, %v", len(got.Images), got.Labels, err)
	}
}

// As many lines are read as the error says, and no more.
func TestDecodeAMATManyLines(t *testing.T) {
	text := bytes.Repeat([]byte("0 0\n"), maxAMATRows+1)
	if s, err := DecodeAMAT(bytes.NewReader(text[4:]), "f", 1, 2); err != nil || s.Len() != maxAMATRows {
		t.Errorf("%d lines, %v", s.Len(), err)
	}
	_, err := DecodeAMAT(bytes.NewReader(text), "f", 1, 2)
	wantFileError(t, err, "f", "more than 262144 lines")
}

func TestDecodeAMATRefuses(t *testing.T) {
	good := amat([]string{"0", "1", "0.5", "2"}, []string{"0", "0", "0", "1"})
	for _, c := range []struct{ name, content, say string }{
		{"empty", "", "the file is empty"},
		{"blank lines", "\n\n", "line 1 has 0 numbers, an image takes 4"},
		{"web page", "<html>\n", `line 1, number 1: "<html>" is no number`},
		{"a long word", strings.Repeat("x", 100), "xxx...\" is no number"},
		{"too few", "0 1 0.5\n", "line 1 has 3 numbers, an image takes 4"},
		{"cut off", string(good[:len(good)-3]), "line 2 has 3 numbers"},
		{"too many", "0 1 0.5 2 2\n", "line 1 has more than 4 numbers"},
		{"negative", "0 -0.1 0 2\n", "line 1, number 2 is -0.1, pixels lie between 0 and 1"},
		{"bright", "0 0 1.01 2\n", "line 1, number 3 is 1.01"},
		{"not a number", "0 0 nan 2\n", "line 1, number 3 is NaN"},
		{"class too large", "0 0 0 4\n", "line 1: the class is 4, the classes are 0 to 3"},
		{"negative class", "0 0 0 -1\n", "the class is -1"},
		{"half a class", "0 0 0 0.5\n", "the class is 0.5"},
		{"class that is no number", "0 0 0 nan\n", "the class is NaN"},
		{"long line", strings.Repeat("0", 1<<17), "line 1 is longer than any line of 4 numbers"},
		{"long second line", string(good) + strings.Repeat("0 ", 1<<17), "line 3"},
	} {
		_, err := DecodeAMAT(strings.NewReader(c.content), "some/file", 3, 4)
		wantFileError(t, err, "some/file", c.say)
		_, err = DecodeAMAT(bytes.NewReader(gzipped(t, []byte(c.content+"\n"))), "some/file", 3, 4)
		wantFileError(t, err, "some/file")
	}
	packed := gzipped(t, good)
	_, err := DecodeAMAT(bytes.NewReader(append(slices.Clone(packed), 'x')), "longer", 3, 4)
	wantFileError(t, err, "longer", "trailing garbage after the gzip data")
	_, err = DecodeAMAT(bytes.NewReader(gzipped(t, nil)), "none", 3, 4)
	wantFileError(t, err, "none", "no image in it")
	for n := range packed {
		_, err := DecodeAMAT(bytes.NewReader(packed[:n]), "cut", 3, 4)
		wantFileError(t, err, "cut")
	}
	for _, before := range []string{"", "0 ", "0 0 0 1\n", "0 0 0 1\n0 1", "0 x"} { // what was read of a line says nothing then
		r := io.MultiReader(strings.NewReader(before), errReader{errors.New("disk on fire")})
		_, err = DecodeAMAT(r, "f", 3, 4)
		wantFileError(t, err, "f", "disk on fire")
	}
	_, err = DecodeAMAT(bytes.NewReader(packed[:len(packed)-9]), "cut", 3, 4)
	wantFileError(t, err, "cut", "truncated gzip data")
}

// Classes that no byte holds are not taken for others.
func TestDecodeAMATMisuse(t *testing.T) {
	for _, c := range [][2]int{{1, 257}, {1, 0}, {0, 10}, {-1, 10}} {
		wantPanic(t, fmt.Sprintf("images of %d pixels in %d classes", c[0], c[1]), func() {
			DecodeAMAT(strings.NewReader("0 256\n"), "some/file", c[0], c[1])
		})
	}
	s, err := DecodeAMAT(strings.NewReader("0 255\n"), "some/file", 1, 256)
	if err != nil || !slices.Equal(s.Labels, []uint8{255}) {
		t.Errorf("the last of 256 classes: %v, %v", s.Labels, err)
	}
	if _, err := DecodeAMAT(strings.NewReader("0 0\n"), "some/file", 1, 1); err != nil {
		t.Error(err)
	}
}

// rotMNISTAt writes the two files of RotMNIST with that many lines of black
// images, of the classes in turn.
func rotMNISTAt(t *testing.T, train, test int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	blank := strings.Repeat("0 ", 784)
	for i, n := range []int{train, test} {
		var b bytes.Buffer
		for k := range n {
			fmt.Fprintf(&b, "%s%d\n", blank, k%10)
		}
		if err := os.WriteFile(filepath.Join(dir, RotMNISTFiles().Files[i].Name+".gz"), gzipped(t, b.Bytes()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadRotMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: reads 62000 images")
	}
	d, err := ReadRotMNIST(rotMNISTAt(t, 12000, 50000), Division{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != [3]int{10000, 2000, 50000} || d.Synthetic || !d.Turned || d.Upright.Len() != 0 || d.Name != "rotmnist" {
		t.Errorf("%s, synthetic %v, has parts of %v", d.Name, d.Synthetic, got)
	}
}

func TestReadRotMNISTRefuses(t *testing.T) {
	dir := rotMNISTAt(t, 10, 10)
	_, err := ReadRotMNIST(dir, Division{Seed: 1})
	wantFileError(t, err, dir, "10 images where mnist_all_rotation_normalized_float_train_valid.amat has 12000")
	train := filepath.Join(dir, RotMNISTFiles().Files[0].Name+".gz")
	if err := os.WriteFile(train, []byte("0 x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = ReadRotMNIST(dir, Division{Seed: 1})
	wantFileError(t, err, train, `line 1, number 2: "x" is no number`)
	if err := os.WriteFile(train, []byte(strings.Repeat("0 ", 784)+"10\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = ReadRotMNIST(dir, Division{Seed: 1})
	wantFileError(t, err, train, "line 1: the class is 10, the classes are 0 to 9")
	_, err = ReadRotMNIST(t.TempDir(), Division{Seed: 1})
	wantFileError(t, err, "train_valid.amat", "2 of the 2 files of rotmnist are missing", "mnist_rotation_new.zip", "-data")
}

// digitsOf returns a set in MNIST's format whose first 120 images of each part
// name themselves by the pixel in their centre, which turning leaves alone.
func digitsOf(train, test int) *MNIST {
	m := &MNIST{Height: 5, Width: 5}
	for part, s := range []*Split{&m.Train, &m.Test} {
		for i := range []int{train, test}[part] {
			image := make([]uint8, 25)
			image[12] = uint8(i%120 + 120*part) // the centre pixel stays where it is
			image[2] = 200                      // one that does not
			s.Images, s.Labels = append(s.Images, image...), append(s.Labels, uint8(i%10))
		}
	}
	return m
}

func TestSyntheticRotMNIST(t *testing.T) {
	for _, c := range []struct {
		train, test int
		want        [3]int // to train on, to validate by, to test on
	}{
		{120, 20, [3]int{23, 4, 113}},              // in proportion
		{60000, 10000, [3]int{10000, 2000, 50000}}, // MNIST
		{13000, 49000, [3]int{10000, 2000, 50000}}, // just enough
		{100, 60000, [3]int{84, 16, 50000}},        // few to train on
	} {
		if c.train+c.test > 1000 && testing.Short() {
			continue
		}
		d := SyntheticRotMNIST(digitsOf(c.train, c.test), 3)
		if err := d.Validate(); err != nil {
			t.Error(err)
		}
		if got := [3]int{d.Train.Len(), d.Validation.Len(), d.Test.Len()}; got != c.want {
			t.Errorf("%d and %d digits give parts of %v, want %v", c.train, c.test, got, c.want)
		}
		if !d.Synthetic || d.Name != "rotmnist-synthetic" || strings.Join(d.ClassNames, "") != "0123456789" {
			t.Errorf("%s, synthetic %v, classes %v", d.Name, d.Synthetic, d.ClassNames)
		}
	}
	m := digitsOf(120, 20)
	before := slices.Clone(m.Train.Images)
	a, b, other := SyntheticRotMNIST(m, 3), SyntheticRotMNIST(m, 3), SyntheticRotMNIST(m, 4)
	if !bytes.Equal(a.Train.Images, b.Train.Images) || !bytes.Equal(a.Test.Images, b.Test.Images) {
		t.Error("the same seed gives other images")
	}
	if bytes.Equal(a.Test.Images, other.Test.Images) {
		t.Error("another seed gives the same images")
	}
	if !bytes.Equal(before, m.Train.Images) {
		t.Error("the digits that were given are turned")
	}
	// Every digit is there once, by its centre, with its own class.
	seen := map[uint8]bool{}
	for _, s := range []*Split{&a.Train, &a.Validation, &a.Test} {
		if upright := slices.ContainsFunc(upTo(s.Len()), func(i int) bool { return a.Image(s, i)[2] == 200 }); upright {
			t.Error("a digit is not turned")
		}
		for i := range s.Len() {
			id := a.Image(s, i)[12]
			if seen[id] || s.Labels[i] != id%120%10 {
				t.Fatalf("image %d is there twice, or with another class", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != 140 {
		t.Errorf("%d of 140 digits", len(seen))
	}
	// The upright digits are those of the test part, in its order, before they are turned.
	if !a.Turned || !slices.Equal(a.Upright.Labels, a.Test.Labels) || len(a.Upright.Images) != len(a.Test.Images) {
		t.Fatalf("turned %v; %d upright digits, %d to test on", a.Turned, a.Upright.Len(), a.Test.Len())
	}
	for i := range a.Upright.Len() {
		upright := make([]uint8, 25)
		upright[12], upright[2] = a.Image(&a.Test, i)[12], 200
		if !bytes.Equal(a.Image(&a.Upright, i), upright) {
			t.Errorf("upright digit %d is %v", i, a.Image(&a.Upright, i))
		}
	}
}

// Angles are uniform over the circle: their first moments vanish, and every
// eighth of the circle has its share.
func TestDirection(t *testing.T) {
	const n = 80000
	src := stream.New(1, "directions", 0)
	var octant [8]int
	var moment [4]float64
	for range n {
		sin, cos := direction(src)
		if !(math.Abs(sin*sin+cos*cos-1) <= 1e-15) {
			t.Fatalf("%v, %v is not on the circle", sin, cos)
		}
		angle := math.Atan2(sin, cos) + math.Pi
		octant[min(7, int(angle/(math.Pi/4)))]++
		for k := range moment {
			moment[k] += math.Cos(float64(k+1)*angle) / n
		}
	}
	for k, v := range octant { // five standard deviations
		if !(math.Abs(float64(v)-n/8) <= 5*math.Sqrt(n*7/64.)) {
			t.Errorf("eighth %d of the circle has %d of %d angles", k, v, n)
		}
	}
	for k, v := range moment {
		if !(math.Abs(v) <= 5/math.Sqrt(2*n)) {
			t.Errorf("moment %d is %v", k+1, v)
		}
	}
}

// A digit of MNIST that is turned keeps nearly all its ink: it lies within the
// disc.
func TestSyntheticRotMNISTOfMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: turns 62000 digits")
	}
	m, err := ReadMNIST(realDir(t))
	if err != nil {
		t.Fatal(err)
	}
	d := SyntheticRotMNIST(m, 1)
	ink := func(images []uint8) float64 {
		sum := 0.0
		for _, v := range images {
			sum += float64(v)
		}
		return sum / float64(len(images))
	}
	before, after := ink(m.Train.Images), ink(d.Train.Images)
	if !(math.Abs(after/before-1) <= 0.02) {
		t.Errorf("mean ink %v, of MNIST %v", after, before)
	}
}

func FuzzAMAT(f *testing.F) {
	good := amat([]string{"0", "1", "0.5", "2"}, []string{"0", "0", "1e-3", "1"})
	f.Add(good)
	f.Add(gzipped(f, good))
	f.Add(good[:len(good)-3])
	f.Add([]byte("0 0 0 1e400\n"))
	f.Add([]byte("\xff\xfe 0x1p-2 inf nan"))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := DecodeAMAT(bytes.NewReader(content), "fuzz", 3, 4)
		if err != nil {
			wantFileError(t, err, "fuzz")
			return
		}
		if len(s.Images) != 3*s.Len() || s.Len() == 0 {
			t.Fatalf("%d pixels of %d images", len(s.Images), s.Len())
		}
		for _, l := range s.Labels {
			if l > 3 {
				t.Fatalf("class %d", l)
			}
		}
	})
}
