package data

import (
	"fmt"
	"io"
)

const (
	cifarSide   = 32
	cifarPixels = 3 * cifarSide * cifarSide
	cifarRecord = 1 + cifarPixels
	cifarBatch  = 10000 // records of one file of CIFAR-10
)

// cifarFormat is the binary version of a CIFAR set: files of records, each of
// them bytes that hold classes and then the planes of red, green and blue.
type cifarFormat struct {
	set     string
	classes []int // how many each of the bytes in front may hold; the last one is used
	most    int   // records of the largest file
}

var cifar10 = cifarFormat{"CIFAR-10", []int{10}, cifarBatch}

// cifar10Classes are the classes of CIFAR-10, in their order.
var cifar10Classes = []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}

// cifarMirrors hold the archives of both sets; the SHA-256 are those that
// TensorFlow Datasets lists.
var cifarMirrors = []string{"https://www.cs.toronto.edu/~kriz/", "https://cave.cs.toronto.edu/kriz/"}

// CIFAR10Files returns the six files of CIFAR-10 in its binary version, and the
// archive that Download takes them from.
func CIFAR10Files() FileSet {
	set := FileSet{
		Name:    "cifar10",
		Folders: []string{"cifar-10-batches-bin"},
		Archive: &File{Name: "cifar-10-binary.tar.gz", Size: 170052171, SHA256: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"},
		Mirrors: cifarMirrors,
		Source:  "cifar-10-binary.tar.gz at https://www.cs.toronto.edu/~kriz/cifar.html",
	}
	for _, part := range []string{"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"} {
		set.Files = append(set.Files, File{Name: part + ".bin", Aliases: []string{part + ".bin.gz"}, Size: cifarBatch * cifarRecord})
	}
	return set
}

// ReadCIFAR10 reads "cifar10", the photographs of ten classes of Krizhevsky
// (2009), from the six files of the binary version in dir, packed by gzip or not.
// Of the 50000 images to train on, 5000 are set aside for
// validation. It checks that there are as many images of every class as there
// must be. The error is a *FileError.
func ReadCIFAR10(dir string, by Division) (*Dataset, error) {
	paths, err := CIFAR10Files().find(dir)
	if err != nil {
		return nil, err
	}
	var train, test Split
	for i, path := range paths {
		s, err := cifar10.read(path, cifarBatch)
		if err != nil {
			return nil, err
		}
		if i == len(paths)-1 {
			test = s
		} else {
			train.Images, train.Labels = append(train.Images, s.Images...), append(train.Labels, s.Labels...)
		}
	}
	for _, part := range []struct {
		files string
		*Split
	}{{"the five data_batch files", &train}, {"test_batch", &test}} {
		if err := balanced(part.Split, 10); err != nil {
			return nil, &FileError{Path: dir, Problem: part.files + " are not those of CIFAR-10: " + err.Error(), Remedy: "give the six files of one set as it was published"}
		}
	}
	return newCIFAR10("cifar10", dir, [2]Split{train, test}, by)
}

// newCIFAR10 makes a set of that name of images to train and to test on.
func newCIFAR10(name, dir string, parts [2]Split, by Division) (*Dataset, error) {
	learn, validate, err := setAsideTenth(dir, &parts[0], by)
	if err != nil {
		return nil, err
	}
	return (&Dataset{
		Name: name, Channels: 3, Height: cifarSide, Width: cifarSide,
		Classes: 10, ClassNames: cifar10Classes,
		Train: gather(&parts[0], learn, cifarPixels), Validation: gather(&parts[0], validate, cifarPixels), Test: parts[1],
	}).normalized(), nil
}

// balanced returns an error unless all classes have equally many images.
func balanced(s *Split, classes int) error {
	count := make([]int, classes)
	for _, l := range s.Labels {
		count[l]++
	}
	for class, n := range count {
		if n != s.Len()/classes {
			return fmt.Errorf("%d images of class %d, %d are needed", n, class, s.Len()/classes)
		}
	}
	return nil
}

// DecodeCIFAR10 reads the images [N, 3, 32, 32] of one file of CIFAR-10's binary
// version from r, plain or packed by gzip: records of a byte that holds the class
// and 3072 that hold red, green and blue. name is used in errors, which are
// *FileError. A file holds 10000 images; fewer are read too, more are an error.
func DecodeCIFAR10(r io.Reader, name string) (Split, error) { return cifar10.decode(r, name) }

// read reads the file at path, which must hold that many images.
func (f cifarFormat) read(path string, images int) (Split, error) {
	var s Split
	err := readFile(path, func(r io.Reader) (err error) {
		s, err = f.decode(r, path)
		return err
	})
	if err == nil && s.Len() != images {
		err = &FileError{Path: path, Problem: fmt.Sprintf("%d images where this file of %s has %d", s.Len(), f.set, images), Remedy: "give the whole file as it was published"}
	}
	return s, err
}

func (f cifarFormat) decode(r io.Reader, name string) (Split, error) {
	const format = "give the file of the binary version as it was published"
	head := len(f.classes)
	var s Split
	err := eachRecord(r, name, head+cifarPixels, f.most, func(u *unpacker, record []byte) error {
		for i, classes := range f.classes {
			if int(record[i]) >= classes {
				return u.bad(nil, format, "class %d of image %d, only 0 to %d are classes: not a file of %s's binary version", record[i], s.Len(), classes-1, f.set)
			}
		}
		s.Labels = append(s.Labels, record[head-1])
		s.Images = append(s.Images, record[head:]...)
		return nil
	})
	if err != nil {
		return Split{}, err
	}
	return s, nil
}
