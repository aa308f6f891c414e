package data_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"

	"github.com/noether-go/noether/data"
)

// An epoch: a fresh order, cut into batches.
func ExampleDataset_Batch() {
	d := data.Strokes6180(data.StrokesConfig{Train: 100, Validation: 10, Test: 10})
	const batch = 64
	images := make([]float32, batch*d.Pixels()) // [B, C, H, W]
	labels := make([]float32, batch)
	order := make([]int, d.Train.Len())
	for epoch := range uint64(2) {
		data.Order(order, 1, epoch)
		for at := 0; at+batch <= len(order); at += batch {
			d.Batch(images, labels, &d.Train, order[at:at+batch])
			fmt.Println("epoch", epoch, "from", at)
		}
	}
	// Output:
	// epoch 0 from 0
	// epoch 0 from 64
	// epoch 0 from 128
	// epoch 1 from 0
	// epoch 1 from 64
	// epoch 1 from 128
}

func ExampleStrokes6180() {
	d := data.Strokes6180(data.StrokesConfig{})
	fmt.Println(d.Name, "synthetic:", d.Synthetic)
	fmt.Println(d.Train.Len(), d.Validation.Len(), d.Test.Len(), "images of", d.Channels, d.Height, d.Width)
	fmt.Println(d.ClassNames)
	img := d.Image(&d.Test, 4)
	for r := 4; r < 25; r++ {
		line := make([]byte, d.Width)
		for c := range line {
			line[c] = " .+#"[img[r*d.Width+c]/64]
		}
		fmt.Printf("|%s|\n", line)
	}
	// Output:
	// strokes6-180 synthetic: true
	// 4000 600 1000 images of 1 28 28
	// [6 6 turned by 180 degrees]
	// |                            |
	// |                  .+++      |
	// |              .+######+     |
	// |            .#########+     |
	// |           +########+.      |
	// |          ######+.          |
	// |         #####.             |
	// |        +####               |
	// |        ####  ....          |
	// |       +###+#######+        |
	// |       #############.       |
	// |      .#########+###+       |
	// |      +#####+    ###+       |
	// |      ####.      ###.       |
	// |      ####      ####        |
	// |      +###   .+####+        |
	// |      +############         |
	// |       ###########          |
	// |       +########+           |
	// |        .####+.             |
	// |                            |
}

// MNIST from wherever it lies, fetched if it is nowhere.
func ExampleMNIST6180() {
	set := data.MNISTFiles()
	dir, err := data.Locate("", set)
	if errors.Is(err, fs.ErrNotExist) {
		if dir, err = data.DownloadDir("", set); err == nil {
			err = data.Download(context.Background(), dir, set, nil)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	mnist, err := data.ReadMNIST(dir)
	if err != nil {
		log.Fatal(err)
	}
	d := data.MNIST6180(mnist, 1)
	fmt.Println(d.Train.Len(), d.Validation.Len(), d.Test.Len())
}

func ExampleRotate() {
	img := []uint8{
		1, 2, 3,
		4, 5, 6,
		7, 8, 9,
	}
	turned := make([]uint8, 9)
	data.Rotate(turned, img, 3, 3, math.Pi/2) // counter-clockwise
	fmt.Println(turned[:3])
	fmt.Println(turned[3:6])
	fmt.Println(turned[6:])
	// Output:
	// [3 6 9]
	// [2 5 8]
	// [1 4 7]
}

func ExampleDecodeIDX() {
	file := []byte{0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6}
	x, err := data.DecodeIDX(bytes.NewReader(file), "numbers")
	fmt.Println(x.Dims, x.Data, err)
	_, err = data.DecodeIDX(bytes.NewReader(file[:14]), "numbers")
	fmt.Println(err)
	// Output:
	// [2 3] [1 2 3 4 5 6] <nil>
	// data: numbers: truncated: 2 data bytes of the 6 (2 x 3) that the header says; the file is damaged or incomplete: remove it and fetch it again
}
