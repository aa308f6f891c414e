package data

import "fmt"

// fashionContent holds the SHA-256 of the unpacked files that hold classes. It
// tells this set from MNIST, whose files have the same names and sizes.
var fashionContent = [4]string{
	trainLabels: "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
	testLabels:  "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}

// FashionMNISTFiles returns the four files of Fashion-MNIST as they were
// published, and where Download may get them. They are called as those of MNIST.
func FashionMNISTFiles() FileSet {
	file := func(name string, size int64, sum string) File {
		return File{Name: name + ".gz", Aliases: []string{name}, Size: size, SHA256: sum}
	}
	return FileSet{
		Name: "fashion-mnist",
		Files: []File{
			trainImages: file("train-images-idx3-ubyte", 26421880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
			trainLabels: file("train-labels-idx1-ubyte", 29515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
			testImages:  file("t10k-images-idx3-ubyte", 4422102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
			testLabels:  file("t10k-labels-idx1-ubyte", 5148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
		},
		Mirrors: []string{
			"https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
			"https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
		},
	}
}

// ReadFashionMNIST reads "fashion-mnist", the articles of clothing of Xiao, Rasul
// and Vollgraf (2017), from the four files in dir, packed (.gz) or not. It checks
// the SHA-256 of the classes, and of the images that there are as many, of 28 x 28
// pixels. A tenth of the 60000 images to train on, chosen by seed, is set aside
// for validation. The error is a *FileError.
func ReadFashionMNIST(dir string, seed uint64) (*Dataset, error) {
	m, err := readMNIST(dir, FashionMNISTFiles(), fashionContent, "give the directory of Fashion-MNIST with -data (the files of MNIST have the same names), or fetch it with -download")
	if err != nil {
		return nil, err
	}
	if m.Height != 28 || m.Width != 28 {
		return nil, &FileError{Path: dir, Problem: fmt.Sprintf("images of %d x %d pixels where Fashion-MNIST has 28 x 28", m.Height, m.Width), Remedy: "give the four files as they were published"}
	}
	return fashionMNIST(m, seed), nil
}

func fashionMNIST(m *MNIST, seed uint64) *Dataset {
	learn, validate := setAside(upTo(m.Train.Len()), m.Train.Len()/10, seed)
	pixels := m.Height * m.Width
	return (&Dataset{
		Name: "fashion-mnist", Channels: 1, Height: m.Height, Width: m.Width,
		Classes:    10,
		ClassNames: []string{"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"},
		Train:      gather(&m.Train, learn, pixels), Validation: gather(&m.Train, validate, pixels), Test: m.Test,
	}).normalized()
}
