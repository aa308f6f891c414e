package data

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
)

// MNIST is the set of handwritten digits of LeCun, Cortes and Burges (1998). Functions that
// make other sets of it panic with *Error where a part has not Height x Width pixels for each
// label.
type MNIST struct {
	Height, Width int   // 28 x 28
	Train, Test   Split // 60000 and 10000 digits, labels 0 to 9
}

// requireSizes panics with *Error, on behalf of op, when the sizes of m do not fit the images.
func (m *MNIST) requireSizes(op string) {
	if m.Height < 1 || m.Width < 1 || m.Height > math.MaxInt/m.Width {
		failf(op, "images of %d x %d pixels (height, width)", m.Height, m.Width)
	}
	d := Dataset{Channels: 1, Height: m.Height, Width: m.Width}
	d.requireImages(op, &m.Train)
	d.requireImages(op, &m.Test)
}

// The positions of the four files in the tables below.
const (
	trainImages = iota
	trainLabels
	testImages
	testLabels
)

// mnistContent holds the SHA-256 of the unpacked files.
var mnistContent = [4]string{
	trainImages: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
	trainLabels: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
	testImages:  "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
	testLabels:  "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}

// MNISTFiles returns the four files of MNIST as they were published, and where
// Download may get them.
func MNISTFiles() FileSet {
	file := func(name, dotted string, size int64, sum string) File {
		// A packed file comes first: it is what Download writes, so that a
		// download mends a directory that holds a damaged unpacked copy.
		return File{Name: name + ".gz", Aliases: []string{name, dotted + ".gz", dotted}, Size: size, SHA256: sum}
	}
	return FileSet{
		Name: "mnist",
		Files: []File{
			trainImages: file("train-images-idx3-ubyte", "train-images.idx3-ubyte", 9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
			trainLabels: file("train-labels-idx1-ubyte", "train-labels.idx1-ubyte", 28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
			testImages:  file("t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte", 1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
			testLabels:  file("t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte", 4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
		},
		Mirrors: []string{
			"https://ossci-datasets.s3.amazonaws.com/mnist/",
			"https://storage.googleapis.com/cvdf-datasets/mnist/",
		},
	}
}

// ReadMNISTOptions changes how ReadMNISTWith reads. The zero value is what
// ReadMNIST does.
type ReadMNISTOptions struct {
	// AnyContent accepts files that are not MNIST itself: a part of it, or
	// another set in its format. They must still fit together, with labels 0 to 9.
	AnyContent bool
}

// ReadMNIST reads MNIST from the four files in dir, each under its published
// name (train-images-idx3-ubyte and so on, or train-images.idx3-ubyte), packed
// (.gz) or not. It checks the SHA-256 of the content of each, so nothing but the
// original passes. The error is a *FileError.
func ReadMNIST(dir string) (*MNIST, error) { return ReadMNISTWith(dir, ReadMNISTOptions{}) }

// ReadMNISTWith is ReadMNIST with options.
func ReadMNISTWith(dir string, opts ReadMNISTOptions) (*MNIST, error) {
	if opts.AnyContent {
		return readMNIST(dir, MNISTFiles(), [4]string{}, "")
	}
	return readMNIST(dir, MNISTFiles(), mnistContent, "remove the file and fetch it again with -download")
}

// readMNIST reads a set in MNIST's format. content holds the SHA-256 of the
// unpacked files, "" where anything will do; otherwise is what to do about a file
// with another one.
func readMNIST(dir string, set FileSet, content [4]string, otherwise string) (*MNIST, error) {
	paths, err := set.find(dir)
	if err != nil {
		return nil, err
	}
	var x [4]*IDX
	for i, path := range paths {
		if x[i], err = ReadIDX(path); err != nil {
			return nil, err
		}
		if content[i] == "" {
			continue
		}
		sum := sha256.New()
		sum.Write(x[i].header()) // a hash never fails
		sum.Write(x[i].Data)
		if got := hex.EncodeToString(sum.Sum(nil)); got != content[i] {
			return nil, &FileError{
				Path:    path,
				Problem: fmt.Sprintf("wrong checksum: SHA-256 of the unpacked content is %s, that of %s is %s", got, set.Name, content[i]),
				Remedy:  otherwise,
			}
		}
	}
	m := new(MNIST)
	if m.Train, err = digits(x[trainImages], x[trainLabels], paths[trainImages], paths[trainLabels]); err != nil {
		return nil, err
	}
	if m.Test, err = digits(x[testImages], x[testLabels], paths[testImages], paths[testLabels]); err != nil {
		return nil, err
	}
	m.Height, m.Width = x[trainImages].Dims[1], x[trainImages].Dims[2]
	if h, w := x[testImages].Dims[1], x[testImages].Dims[2]; h != m.Height || w != m.Width {
		return nil, &FileError{
			Path:    paths[testImages],
			Problem: fmt.Sprintf("images of %d x %d pixels, but %s holds %d x %d", h, w, filepath.Base(paths[trainImages]), m.Height, m.Width),
			Remedy:  "give the four files of one set",
		}
	}
	return m, nil
}

// digits joins images and labels after checking that they belong together.
func digits(images, labels *IDX, imagePath, labelPath string) (Split, error) {
	bad := func(path, format string, args ...any) (Split, error) {
		return Split{}, &FileError{Path: path, Problem: fmt.Sprintf(format, args...), Remedy: "give the four files of one set"}
	}
	switch {
	case len(images.Dims) != 3:
		return bad(imagePath, "%d dimensions (%s) where images have 3", len(images.Dims), images.shape())
	case len(labels.Dims) != 1:
		return bad(labelPath, "%d dimensions (%s) where labels have 1", len(labels.Dims), labels.shape())
	case images.Dims[0] != labels.Dims[0]:
		return bad(labelPath, "%d labels for the %d images of %s", labels.Dims[0], images.Dims[0], filepath.Base(imagePath))
	}
	for i, l := range labels.Data {
		if l > 9 {
			return bad(labelPath, "label %d at position %d, only 0 to 9 are classes", l, i)
		}
	}
	return Split{Images: images.Data, Labels: labels.Data}, nil
}
