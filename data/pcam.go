package data

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The images of PatchCamelyon.
const (
	pcamSide   = 96
	pcamPixels = 3 * pcamSide * pcamSide
)

// The parts of PatchCamelyon, as they are called and how many images they have.
var (
	pcamParts = [3]string{"train", "valid", "test"}
	pcamSizes = [3]int{262144, 32768, 32768}
)

// PCamFiles returns what PatchCamelyon is read from: for each of its parts two
// files that h5dump writes from those published, one of images and one of classes;
// or instead a folder of images for each class.
func PCamFiles() FileSet {
	set := FileSet{
		Name:    "pcam",
		Folders: []string{"PCam"},
		Source:  "https://github.com/basveeling/pcam, write them as docs/command-line.md says,",
	}
	for i, part := range pcamParts {
		name := "camelyonpatch_level_2_split_" + part
		set.Files = append(set.Files,
			File{Name: name + "_x.bin", Aliases: []string{name + "_x.bin.gz"}, Size: int64(pcamSizes[i]) * pcamPixels},
			File{Name: name + "_y.bin", Aliases: []string{name + "_y.bin.gz"}, Size: int64(pcamSizes[i])},
		)
		set.Instead = append(set.Instead, filepath.Join(part, "0"), filepath.Join(part, "1"))
	}
	return set
}

// ReadPCam reads "pcam", the histological patches with (class 1) or without (0)
// tumour tissue at their centre of Veeling et al. (2018), in the parts that its
// authors made: 262144 images to train on, 32768 to validate by and 32768 to test
// on. They take 9 GB of memory.
//
// dir holds either the folders train, valid and test with a folder for each class,
// 0 and 1, in them, full of PNG or JPEG images of 96 x 96 pixels, of which other
// files are left alone; or the six files that
//
//	h5dump -d /x -b LE -o camelyonpatch_level_2_split_train_x.bin camelyonpatch_level_2_split_train_x.h5
//
// and the like (/y for the classes, a byte each) write, packed by gzip or not.
// Folders may hold fewer or more images; the Dataset is then called "pcam-part",
// since accuracies on it are not those of PatchCamelyon. The error is a
// *FileError.
func ReadPCam(dir string) (*Dataset, error) { return readPCam(dir, pcamSizes) }

// readPCam is ReadPCam for parts of those sizes.
func readPCam(dir string, sizes [3]int) (*Dataset, error) {
	d := (&Dataset{
		Name: "pcam", Channels: 3, Height: pcamSide, Width: pcamSide,
		Classes: 2, ClassNames: []string{"normal", "tumour"},
	}).normalized()
	parts := [3]*Split{&d.Train, &d.Validation, &d.Test}
	set := PCamFiles()
	if set.hasInstead(dir) {
		for i, name := range pcamParts {
			var err error
			if *parts[i], err = readImageFolders(filepath.Join(dir, name), []string{"0", "1"}, pcamSide); err != nil {
				return nil, err
			}
			if parts[i].Len() != sizes[i] {
				d.Name = "pcam-part"
			}
		}
		return d, nil
	}
	paths, err := set.find(dir)
	if err != nil {
		return nil, err
	}
	for i, part := range parts {
		if part.Images, err = readPCamFile(paths[2*i], sizes[i], pcamPixels, pcamImage); err != nil {
			return nil, err
		}
		if part.Labels, err = readPCamFile(paths[2*i+1], sizes[i], 1, pcamClass); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// readPCamFile reads that many records of size bytes, each through convert.
func readPCamFile(path string, images, size int, convert func(dst, src []byte) error) ([]uint8, error) {
	var out []uint8
	// Growing would take twice the memory, which here is gigabytes.
	if info, err := os.Stat(path); err == nil && info.Size() == int64(images)*int64(size) {
		out = make([]uint8, 0, info.Size())
	}
	err := readFile(path, func(r io.Reader) (err error) {
		out, err = decodePCam(r, path, out, images, size, convert)
		return err
	})
	return out, err
}

// decodePCam appends to out that many records of size bytes that r, plain or
// packed by gzip, holds, each through convert. Where r is packed, its length does not
// tell what it holds, and memory for all is reserved once the first record is good.
func decodePCam(r io.Reader, name string, out []uint8, images, size int, convert func(dst, src []byte) error) ([]uint8, error) {
	const whole = "write it again as docs/command-line.md says"
	n := 0
	err := eachRecord(r, name, size, images, func(u *unpacker, record []byte) error {
		out = append(out, record...)
		if err := convert(out[n*size:], record); err != nil {
			return u.bad(nil, whole, "image %d: %v", n, err)
		}
		if n == 0 && u.packed {
			out = append(make([]uint8, 0, images*size), out...)
		}
		n++
		return nil
	})
	if err == nil && n < images {
		err = &FileError{Path: name, Problem: fmt.Sprintf("%d images where this file of PCam has %d", n, images), Remedy: whole}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// pcamImage writes to dst [3, 96, 96] the image src [96, 96, 3].
func pcamImage(dst, src []byte) error {
	const plane = pcamSide * pcamSide
	for i := range plane {
		dst[i], dst[plane+i], dst[2*plane+i] = src[3*i], src[3*i+1], src[3*i+2]
	}
	return nil
}

// pcamClass checks that src [1] is a class; dst [1] holds it already.
func pcamClass(_, src []byte) error {
	if src[0] > 1 {
		return fmt.Errorf("the class is %d, only 0 and 1 are classes", src[0])
	}
	return nil
}
