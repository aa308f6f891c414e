package data

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
)

// The images and the parts of STL-10.
const (
	stl10Side   = 96
	stl10Pixels = 3 * stl10Side * stl10Side
	stl10Train  = 5000
	stl10Test   = 8000
)

// stl10Content holds the MD5 of the unpacked files, in the order of STL10Files, as
// torchvision lists them.
var stl10Content = [4]string{
	trainImages: "918c2871b30a85fa023e0c44e0bee87f",
	trainLabels: "5a34089d4802c674881badbb80307741",
	testImages:  "7f263ba9f9e0b06b93213547f721ac82",
	testLabels:  "36f9794fa4beb8a2c72628de14fa638e",
}

// STL10Files returns the four files of STL-10 in its binary version that hold
// images with classes, and the archive that Download takes them from.
func STL10Files() FileSet {
	file := func(name string, size int64) File {
		return File{Name: name, Aliases: []string{name + ".gz"}, Size: size}
	}
	return FileSet{
		Name:    "stl10",
		Folders: []string{"stl10_binary"},
		Files: []File{
			trainImages: file("train_X.bin", stl10Train*stl10Pixels),
			trainLabels: file("train_y.bin", stl10Train),
			testImages:  file("test_X.bin", stl10Test*stl10Pixels),
			testLabels:  file("test_y.bin", stl10Test),
		},
		// The SHA-256 is the one that TensorFlow Datasets lists.
		Archive: &File{Name: "stl10_binary.tar.gz", Size: 2640397119, SHA256: "f31fd99273a1acb8609c8db427cebb1de3f71de77758cdc0e22956e1289b9866"},
		Mirrors: []string{"https://cs.stanford.edu/~acoates/stl10/", "https://ai.stanford.edu/~acoates/stl10/"},
		Source:  "stl10_binary.tar.gz (MD5 91f7769df0f17e558f3565bffb0c7dfb) at https://cs.stanford.edu/~acoates/stl10/",
	}
}

// ReadSTL10 reads "stl10", the photographs of ten classes of Coates, Lee and Ng
// (2011), from the four files of the binary version in dir, packed by gzip or not;
// the images without classes and the ten folds are not used. It checks the MD5 of
// the content of each file. Of the 5000 images to train on, 500 chosen by seed are
// set aside for validation; 8000 are to test on. The error is a *FileError.
func ReadSTL10(dir string, seed uint64) (*Dataset, error) {
	return readSTL10(dir, seed, stl10Content, [2]int{stl10Train, stl10Test})
}

// readSTL10 is ReadSTL10 for files with that content ("" is any) and that many
// images.
func readSTL10(dir string, seed uint64, content [4]string, sizes [2]int) (*Dataset, error) {
	paths, err := STL10Files().find(dir)
	if err != nil {
		return nil, err
	}
	var parts [2]Split
	for i, path := range paths {
		part := &parts[i/2]
		sum := md5.New()
		err := readFile(path, func(r io.Reader) (err error) {
			if i%2 == 0 {
				part.Images, err = decodeSTL10Images(r, path, sizes[i/2], sum)
			} else {
				part.Labels, err = decodeSTL10Labels(r, path, sizes[i/2], sum)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if got := hex.EncodeToString(sum.Sum(nil)); content[i] != "" && got != content[i] {
			return nil, &FileError{Path: path, Problem: fmt.Sprintf("wrong checksum: MD5 of the unpacked content is %s, that of STL-10 is %s", got, content[i]), Remedy: again}
		}
	}
	learn, validate := setAside(upTo(sizes[0]), sizes[0]/10, seed)
	return (&Dataset{
		Name: "stl10", Channels: 3, Height: stl10Side, Width: stl10Side,
		Classes:    10,
		ClassNames: []string{"airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck"},
		Train:      gather(&parts[0], learn, stl10Pixels), Validation: gather(&parts[0], validate, stl10Pixels), Test: parts[1],
	}).normalized(), nil
}

const wholeSTL10 = "give the files of the binary version as they were published"

// decodeSTL10Images reads that many images [images, 3, 96, 96] from r, plain or
// packed by gzip: planes of red, green and blue, which the file holds column by
// column. sum is given what the file holds.
func decodeSTL10Images(r io.Reader, name string, images int, sum io.Writer) ([]uint8, error) {
	var out []uint8
	err := eachRecord(r, name, stl10Pixels, images, func(_ *unpacker, record []byte) error {
		sum.Write(record) // a hash never fails
		from := len(out)
		out = append(out, record...)
		for plane := 0; plane < stl10Pixels; plane += stl10Side * stl10Side {
			transpose(out[from+plane:][:stl10Side*stl10Side], stl10Side)
		}
		return nil
	})
	if n := len(out) / stl10Pixels; err == nil && n < images {
		err = &FileError{Path: name, Problem: fmt.Sprintf("%d images where this file of STL-10 has %d", n, images), Remedy: wholeSTL10}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// decodeSTL10Labels reads that many classes from r, which count from 1 there and
// from 0 in what it returns.
func decodeSTL10Labels(r io.Reader, name string, images int, sum io.Writer) ([]uint8, error) {
	var labels []uint8
	err := eachRecord(r, name, 1, images, func(u *unpacker, record []byte) error {
		if record[0] < 1 || record[0] > 10 {
			return u.bad(nil, wholeSTL10, "class %d of image %d, only 1 to 10 are classes", record[0], len(labels))
		}
		sum.Write(record) // a hash never fails
		labels = append(labels, record[0]-1)
		return nil
	})
	if n := len(labels); err == nil && n < images {
		err = &FileError{Path: name, Problem: fmt.Sprintf("classes of %d images where this file of STL-10 has %d", n, images), Remedy: wholeSTL10}
	}
	if err != nil {
		return nil, err
	}
	return labels, nil
}

// transpose exchanges rows and columns of a square plane.
func transpose(plane []uint8, side int) {
	for r := range side {
		for c := range r {
			plane[r*side+c], plane[c*side+r] = plane[c*side+r], plane[r*side+c]
		}
	}
}
