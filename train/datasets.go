package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/config"
)

// openData returns the configured data set: generated, or read from the files
// that -data, $NOETHER_DATA or the user cache directory holds, which are fetched
// first when asked. An interrupt does not wait for what is being read: nothing is lost with it.
func openData(ctx context.Context, c *config.Config, m *means, log *slog.Logger) (*data.Dataset, error) {
	dir, err := locateSet(ctx, c.Data.Set, m, log)
	if err != nil {
		return nil, err
	}
	type outcome struct {
		set *data.Dataset
		err error
	}
	read := make(chan outcome, 1)
	go func() {
		set, err := readSet(dir, c)
		read <- outcome{set, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-read:
		return o.set, o.err
	}
}

// readSet reads the configured set from a directory, or generates it.
func readSet(dir string, c *config.Config) (*data.Dataset, error) {
	switch c.Data.Set {
	case "strokes6-180":
		strokes := data.StrokesConfig{Seed: c.Seed, Train: c.Data.Size}
		if n := c.Data.Size; n > 0 { // the parts keep their proportions
			strokes.Validation, strokes.Test = (3*n+19)/20, (n+3)/4
		}
		return data.Strokes6180(strokes), nil
	case config.Images:
		return data.ReadImages(dir, data.ImagesConfig{Side: c.Data.Side, Classes: c.Data.Classes, Seed: c.Seed})
	case "mnist6-180", "mnist6-m", "mnist6-circle", "rotmnist-synthetic":
		mnist, err := data.ReadMNIST(dir)
		if err != nil {
			return nil, err
		}
		switch c.Data.Set {
		case "mnist6-180":
			return data.MNIST6180Turned(mnist, c.Seed, c.Data.RotInterval), nil
		case "mnist6-m":
			return data.MNIST6M(mnist, c.Seed), nil
		case "mnist6-circle":
			return data.MNIST6Circle(mnist, c.Seed), nil
		}
		return data.SyntheticRotMNIST(mnist, c.Seed), nil
	}
	return published[c.Data.Set].read(dir, data.Division{Seed: c.Seed, Published: c.Data.Split == "published"})
}

// locateSet returns the directory of the files of a set, after fetching what is
// missing when asked; "" of one that is generated.
func locateSet(ctx context.Context, name string, m *means, log *slog.Logger) (string, error) {
	switch name {
	case "strokes6-180":
		return "", nil
	case "mnist6-180", "mnist6-m", "mnist6-circle", "rotmnist-synthetic":
		whole := func(dir string) bool {
			_, err := data.ReadMNIST(dir)
			return err == nil
		}
		return locate(ctx, data.MNISTFiles(), whole, m, log)
	case config.Images:
		return data.Locate(m.data, data.ImagesFiles())
	}
	set, ok := published[name]
	if !ok {
		return "", fmt.Errorf("data.set %q is not readable", name)
	}
	files := set.files()
	whole := func(dir string) bool {
		if files.Archive != nil { // large: names and sizes have to do
			return files.Unpacked(dir)
		}
		_, err := set.read(dir, data.Division{})
		return err == nil
	}
	return locate(ctx, files, whole, m, log)
}

// published are the sets that are read from files of their own.
var published = map[string]struct {
	files func() data.FileSet
	read  func(dir string, by data.Division) (*data.Dataset, error)
}{
	"rotmnist":      {data.RotMNISTFiles, data.ReadRotMNIST},
	"cifar10":       {data.CIFAR10Files, data.ReadCIFAR10},
	"cifar10-part":  {data.CIFAR10PartFiles, data.ReadCIFAR10Part},
	"cifar10-jpeg":  {data.CIFAR10JPEGFiles, data.ReadCIFAR10JPEG},
	"cifar100":      {data.CIFAR100Files, data.ReadCIFAR100},
	"stl10":         {data.STL10Files, func(dir string, by data.Division) (*data.Dataset, error) { return data.ReadSTL10(dir, by.Seed) }},
	"pcam":          {data.PCamFiles, func(dir string, _ data.Division) (*data.Dataset, error) { return data.ReadPCam(dir) }},
	"fashion-mnist": {data.FashionMNISTFiles, func(dir string, by data.Division) (*data.Dataset, error) { return data.ReadFashionMNIST(dir, by.Seed) }},
}

// locate returns the directory of a set's files, after fetching what is missing, or
// not whole, when -download was given and somebody offers it.
func locate(ctx context.Context, files data.FileSet, whole func(dir string) bool, m *means, log *slog.Logger) (string, error) {
	if m.download && len(files.Mirrors) > 0 {
		if dir, err := data.Locate(m.data, files); err == nil && whole(dir) {
			return dir, nil
		}
		dir, err := data.DownloadDir(m.data, files)
		if err != nil {
			return "", err
		}
		last := ""
		err = data.Download(ctx, dir, files, func(file string, done, total int64) {
			if file != last {
				log.Info("fetching", "file", file, "bytes", total)
				last = file
			}
		})
		if err != nil {
			return "", err
		}
		return data.Locate(dir, files) // a damaged copy may lie in another place
	}
	return data.Locate(m.data, files)
}
