package data

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/noether-go/noether/internal/stream"
)

// The parts of RotMNIST, as Larochelle et al. (ICML 2007) published it and as the
// literature divides it.
const (
	rotMNISTSide       = 28
	rotMNISTTrain      = 12000 // to train on and to validate by
	rotMNISTTest       = 50000
	rotMNISTValidation = 6 // one image in so many
)

// RotMNISTFiles returns the two files of RotMNIST as they were published, and the
// archive that Download takes them from.
func RotMNISTFiles() FileSet {
	file := func(part string) File {
		name := "mnist_all_rotation_normalized_float_" + part + ".amat"
		return File{Name: name, Aliases: []string{name + ".gz"}}
	}
	return FileSet{
		Name:    "rotmnist",
		Folders: []string{"mnist_rotation_new"},
		Files:   []File{file("train_valid"), file("test")},
		Archive: &File{Name: "mnist_rotation_new.zip", MD5: "0f9a947ff3d30e95cd685462cbf3b847"},
		Mirrors: []string{"https://www.iro.umontreal.ca/~lisa/icml2007data/"},
		Source:  "mnist_rotation_new.zip (H. Larochelle et al., \"An empirical evaluation of deep architectures\", ICML 2007)",
	}
}

// ReadRotMNIST reads "rotmnist", the rotated digits of Larochelle et al. (2007),
// from the two files in dir, packed by gzip or not. Of the 12000 images to train
// on, 2000 are set aside for validation. The files' values in
// [0, 1] become bytes, rounded to the nearest 256th; what would be 256 is 255. How
// the digits look upright is not in the files, so Upright is empty. The error is a
// *FileError.
func ReadRotMNIST(dir string, by Division) (*Dataset, error) {
	set := RotMNISTFiles()
	paths, err := set.find(dir)
	if err != nil {
		return nil, err
	}
	var parts [2]Split
	for i, want := range []int{rotMNISTTrain, rotMNISTTest} {
		err := readFile(paths[i], func(r io.Reader) (err error) {
			parts[i], err = DecodeAMAT(r, paths[i], rotMNISTSide*rotMNISTSide, 10)
			return err
		})
		if err != nil {
			return nil, err
		}
		if n := parts[i].Len(); n != want {
			return nil, &FileError{Path: paths[i], Problem: fmt.Sprintf("%d images where %s has %d", n, set.Files[i].Name, want), Remedy: again}
		}
	}
	return rotMNIST("rotmnist", &parts[0], parts[1], rotMNISTSide, rotMNISTSide, by), nil
}

// rotMNIST divides the images to train on and joins them with those to test on.
func rotMNIST(name string, train *Split, test Split, height, width int, by Division) *Dataset {
	learn, validate := by.setAside(train.Len(), train.Len()/rotMNISTValidation)
	pixels := height * width
	return (&Dataset{
		Name: name, Channels: 1, Height: height, Width: width,
		Classes: 10, ClassNames: digitNames(), Turned: true,
		Train: gather(train, learn, pixels), Validation: gather(train, validate, pixels), Test: test,
	}).normalized()
}

func digitNames() []string {
	names := make([]string, 10)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// maxAMATRows bounds the images of an .amat file, and so the memory it takes.
const maxAMATRows = 1 << 18

// DecodeAMAT reads images of that many pixels from r, plain or packed by gzip, in
// the .amat format: a line of text per image, its pixels as decimal numbers in
// [0, 1] and then its class, 0 to classes-1. Pixels become bytes as ReadRotMNIST
// says. name is used in errors, which are *FileError. It panics with *Error unless
// pixels is at least 1 and classes, which become bytes, 1 to 256.
func DecodeAMAT(r io.Reader, name string, pixels, classes int) (Split, error) {
	if pixels < 1 || classes < 1 || classes > 256 {
		failf("DecodeAMAT", "images of %d pixels in %d classes; at least 1 pixel and 1 to 256 classes are possible", pixels, classes)
	}
	u, err := unpack(r, name)
	if err != nil {
		return Split{}, err
	}
	const format = "give the .amat file as it was published"
	lines := bufio.NewScanner(u.in)
	lines.Buffer(make([]byte, 1<<16), 64*(pixels+1)) // numbers of 25 characters at most, and a space
	var s Split
	var p amatParser
	for row := 1; lines.Scan() && lines.Err() == nil; row++ { // with an error come the last lines, one of them in part
		if row > maxAMATRows {
			return Split{}, u.bad(nil, format, "more than %d lines", maxAMATRows)
		}
		fields := 0
		for rest := lines.Bytes(); ; fields++ {
			var field []byte
			if field, rest = nextField(rest); len(field) == 0 {
				break
			}
			v, err := p.number(field)
			switch {
			case err != nil:
				return Split{}, u.bad(nil, format, "line %d, number %d: %q is no number", row, fields+1, abbreviate(field))
			case fields < pixels && v >= 0 && v <= 1:
				s.Images = append(s.Images, uint8(min(255, math.Round(256*v))))
			case fields < pixels:
				return Split{}, u.bad(nil, format, "line %d, number %d is %v, pixels lie between 0 and 1", row, fields+1, v)
			case fields == pixels && v >= 0 && v < float64(classes) && v == math.Floor(v):
				s.Labels = append(s.Labels, uint8(v))
			case fields == pixels:
				return Split{}, u.bad(nil, format, "line %d: the class is %v, the classes are 0 to %d", row, v, classes-1)
			default:
				return Split{}, u.bad(nil, format, "line %d has more than %d numbers", row, pixels+1)
			}
		}
		if fields <= pixels {
			return Split{}, u.bad(io.ErrUnexpectedEOF, again, "line %d has %d numbers, an image takes %d", row, fields, pixels+1)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Split{}, u.bad(nil, format, "line %d is longer than any line of %d numbers", s.Len()+1, pixels+1)
	case err != nil:
		return Split{}, u.broken(err)
	case s.Len() == 0:
		return Split{}, u.bad(io.ErrUnexpectedEOF, again, "no image in it")
	}
	return s, u.end("the last line")
}

// nextField returns the first run of b that is no blank, and what follows it.
func nextField(b []byte) (field, rest []byte) {
	blank := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
	from := 0
	for from < len(b) && blank(b[from]) {
		from++
	}
	to := from
	for to < len(b) && !blank(b[to]) {
		to++
	}
	return b[from:to], b[to:]
}

// abbreviate shortens what an error is to quote.
func abbreviate(b []byte) string {
	if len(b) > 32 {
		return string(b[:32]) + "..."
	}
	return string(b)
}

// amatParser turns text into numbers. Most of an image is background, so it
// remembers the last number.
type amatParser struct {
	text  []byte
	value float64
}

func (p *amatParser) number(text []byte) (float64, error) {
	if len(text) > 0 && bytes.Equal(text, p.text) {
		return p.value, nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, err
	}
	p.text, p.value = append(p.text[:0], text...), v
	return v, nil
}

// SyntheticRotMNIST returns "rotmnist-synthetic", a stand-in for RotMNIST made of
// the digits of m: each is turned about its centre by an angle that is uniform
// over the circle, with bilinear interpolation. The parts have the sizes of
// RotMNIST where m has enough digits, and else its proportions. No digit is in two
// parts: those to train on and to validate by are chosen from m's training part by
// seed, and the test part takes the digits of m's test part and then the rest of
// the training part. Upright holds the latter before they are turned.
//
// Everything is a function of (m, seed) alone, with the same bytes on every
// architecture.
func SyntheticRotMNIST(m *MNIST, seed uint64) *Dataset {
	m.requireSizes("SyntheticRotMNIST")
	total := m.Train.Len() + m.Test.Len()
	train := min(rotMNISTTrain, m.Train.Len(), total*rotMNISTTrain/(rotMNISTTrain+rotMNISTTest))
	pixels := m.Height * m.Width
	order := make([]int, m.Train.Len())
	Order(order, seed, 0)
	chosen := gather(&m.Train, order[:train], pixels)
	rest := gather(&m.Train, order[train:], pixels)
	test := gather(&m.Test, upTo(min(rotMNISTTest, m.Test.Len())), pixels)
	left := min(rotMNISTTest-test.Len(), rest.Len())
	test.Images = append(test.Images, rest.Images[:left*pixels]...)
	test.Labels = append(test.Labels, rest.Labels[:left]...)

	upright := Split{Images: slices.Clone(test.Images), Labels: slices.Clone(test.Labels)}
	turnAtRandom(&chosen, m.Height, m.Width, seed, "rotmnist train")
	turnAtRandom(&test, m.Height, m.Width, seed, "rotmnist test")
	d := rotMNIST("rotmnist-synthetic", &chosen, test, m.Height, m.Width, Division{Seed: seed})
	d.Synthetic, d.Upright = true, upright
	return d
}

// turnAtRandom turns every image of s by an angle of its own, uniform over the
// circle. Image i's angle is a function of (seed, name, i).
func turnAtRandom(s *Split, height, width int, seed uint64, name string) {
	turnEach(s, height, width, seed, name, func(_ int, src *stream.Stream) (sin, cos float64) { return direction(src) })
}

// turnEach turns image i of s by the angle whose sine and cosine angle draws from the
// stream (seed, name, i).
func turnEach(s *Split, height, width int, seed uint64, name string, angle func(i int, src *stream.Stream) (sin, cos float64)) {
	pixels := height * width
	turned := make([]uint8, pixels)
	var src stream.Stream
	for i := range s.Len() {
		src.Seed(seed, name, uint64(i))
		sin, cos := angle(i, &src)
		image := s.Images[i*pixels:][:pixels]
		turn(turned, image, height, width, sin, cos)
		copy(image, turned)
	}
}

// direction returns sine and cosine of an angle that is uniform over the circle:
// those of a point that is uniform over the disc (von Neumann 1951). Unlike the
// functions of package math it has the same bits on every architecture.
func direction(src *stream.Stream) (sin, cos float64) {
	for {
		x, y := 2*src.Float64()-1, 2*src.Float64()-1
		if r := float64(x*x) + float64(y*y); r <= 1 && r > 1e-4 {
			r = math.Sqrt(r)
			return y / r, x / r
		}
	}
}
