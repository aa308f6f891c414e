package data

import "strings"

// The parts of CIFAR-100.
const (
	cifar100Train = 50000
	cifar100Test  = 10000
)

// cifar100 has two classes per image: one of 20 superclasses and one of 100.
var cifar100 = cifarFormat{"CIFAR-100", []int{20, 100}, cifar100Train}

// CIFAR100Files returns the two files of CIFAR-100 in its binary version, and the
// archive that Download takes them from.
func CIFAR100Files() FileSet {
	file := func(name string, images int64) File {
		return File{Name: name, Aliases: []string{name + ".gz"}, Size: images * (2 + cifarPixels)}
	}
	return FileSet{
		Name:    "cifar100",
		Folders: []string{"cifar-100-binary"},
		Files:   []File{file("train.bin", cifar100Train), file("test.bin", cifar100Test)},
		Archive: &File{Name: "cifar-100-binary.tar.gz", Size: 168513733, SHA256: "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"},
		Mirrors: cifarMirrors,
		Source:  "cifar-100-binary.tar.gz (MD5 03b5dce01913d631647c71ecec9e9cb8) at https://www.cs.toronto.edu/~kriz/cifar.html",
	}
}

// ReadCIFAR100 reads "cifar100", the photographs of a hundred classes of
// Krizhevsky (2009), from the two files of the binary version in dir, packed by
// gzip or not. Classes are the fine ones; the superclasses are not used. Of the
// 50000 images to train on, 5000 are set aside for validation. It
// checks that there are as many images of every class as there must be. The error
// is a *FileError.
func ReadCIFAR100(dir string, by Division) (*Dataset, error) {
	paths, err := CIFAR100Files().find(dir)
	if err != nil {
		return nil, err
	}
	var parts [2]Split
	for i, images := range []int{cifar100Train, cifar100Test} {
		if parts[i], err = cifar100.read(paths[i], images); err != nil {
			return nil, err
		}
		if err := balanced(&parts[i], 100); err != nil {
			return nil, &FileError{Path: paths[i], Problem: "not the file of CIFAR-100: " + err.Error(), Remedy: "give both files as they were published"}
		}
	}
	learn, validate := by.setAside(cifar100Train, cifar100Train/10)
	return (&Dataset{
		Name: "cifar100", Channels: 3, Height: cifarSide, Width: cifarSide,
		Classes: 100, ClassNames: strings.Fields(cifar100Names),
		Train: gather(&parts[0], learn, cifarPixels), Validation: gather(&parts[0], validate, cifarPixels), Test: parts[1],
	}).normalized(), nil
}

const cifar100Names = `
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle caterpillar cattle
chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard
lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree
plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake spider
squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm
`
