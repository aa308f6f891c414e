package data

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ImagesConfig says what the images that ReadImages reads are like.
type ImagesConfig struct {
	Side    int    // height and width of each in pixels
	Classes int    // 2 to 256
	Seed    uint64 // chooses those to validate by, where no folder holds any
}

// The folders of images of one's own. Those to validate by may be called either way.
const (
	imagesTrain = "train"
	imagesTest  = "test"
)

var imagesValidation = []string{"valid", "val"}

// ImagesFiles returns what images of one's own are read from.
func ImagesFiles() FileSet {
	return FileSet{Name: "images", Instead: []string{imagesTrain, imagesTest}}
}

// ReadImages reads "images", which may be of anything: the folders train and test in dir, with one for
// each class in each of them, full of PNG or JPEG images of Side x Side pixels, of which other files are left
// alone. Classes are called as their folders in train, and numbered in the order of these names. A
// folder valid, or val, that is like the others holds the images to validate by; without it a tenth of
// those to train on is set aside. All images are taken for colour, shades of grey too, and normalised as
// those of ImageNet. The error is a *FileError, or says what of cfg is out of range.
func ReadImages(dir string, cfg ImagesConfig) (*Dataset, error) {
	if cfg.Side < 1 || cfg.Side > 1<<14 || cfg.Classes < 2 || cfg.Classes > 256 {
		return nil, fmt.Errorf("data: images of %d x %d pixels in %d classes; 1 to %d pixels and 2 to 256 classes are possible", cfg.Side, cfg.Side, cfg.Classes, 1<<14)
	}
	set := ImagesFiles()
	if _, err := set.find(dir); err != nil {
		return nil, err
	}
	classes, err := subfolders(filepath.Join(dir, imagesTrain))
	if err != nil {
		return nil, err
	}
	if len(classes) != cfg.Classes {
		return nil, &FileError{
			Path:    filepath.Join(dir, imagesTrain),
			Problem: fmt.Sprintf("%s in it, one for each class, where %d classes are expected", several(classes, "folder"), cfg.Classes),
			Remedy:  "make a folder for each class, or expect as many classes as there are folders",
		}
	}
	d := (&Dataset{Name: set.Name, Channels: 3, Height: cfg.Side, Width: cfg.Side, Classes: cfg.Classes, ClassNames: classes}).normalized()
	if d.Train, err = readClasses(filepath.Join(dir, imagesTrain), classes, cfg.Side); err != nil {
		return nil, err
	}
	if d.Test, err = readClasses(filepath.Join(dir, imagesTest), classes, cfg.Side); err != nil {
		return nil, err
	}
	for _, name := range imagesValidation {
		folder := filepath.Join(dir, name)
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		if d.Validation, err = readClasses(folder, classes, cfg.Side); err != nil {
			return nil, err
		}
		return d, nil
	}
	learn, validate, err := setAsideTenth(dir, &d.Train, Division{Seed: cfg.Seed})
	if err != nil {
		return nil, err
	}
	d.Validation = gather(&d.Train, validate, d.Pixels())
	d.Train.keep(learn, d.Pixels())
	return d, nil
}

// readClasses is readImageFolders for folders that must be those of the classes alone.
func readClasses(dir string, classes []string, side int) (Split, error) {
	names, err := subfolders(dir)
	if err != nil {
		return Split{}, err
	}
	others := slices.DeleteFunc(names, func(name string) bool { return slices.Contains(classes, name) })
	if len(others) > 0 {
		return Split{}, &FileError{
			Path:    dir,
			Problem: fmt.Sprintf("%s of no class; those of train are %s", several(others, "folder"), several(classes, "folder")),
			Remedy:  "call the folders as those of train",
		}
	}
	return readImageFolders(dir, classes, side)
}

// subfolders returns the names of the folders in dir that are not hidden, in order.
func subfolders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &FileError{Path: dir, Problem: "cannot be read: " + cause(err).Error(), Remedy: "check the folder and its permissions", Err: err}
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() { // a link to one, too
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// several counts things and names the first of them.
func several(names []string, thing string) string {
	const most = 5
	text := fmt.Sprintf("%d %ss", len(names), thing)
	if len(names) == 1 {
		text = "1 " + thing
	}
	switch {
	case len(names) == 0:
		return text
	case len(names) > most:
		return text + " (" + strings.Join(names[:most], ", ") + ", ...)"
	}
	return text + " (" + strings.Join(names, ", ") + ")"
}
