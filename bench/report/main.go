// Command report makes BENCHMARKS.md and its plots of the raw files that package
// compare wrote. Run it at the root of the repository:
//
//	go run ./bench/report
//
// A test compares what is committed with what it makes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// Places, relative to the root of the repository.
var (
	rawDir   = filepath.Join("bench", "results", "speed")
	document = "BENCHMARKS.md"
	plotDir  = filepath.Join("docs", "images", "benchmarks")
)

func main() {
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// generate returns the files that the raw files below root are to be shown by.
func generate(root string) (map[string][]byte, error) {
	r, err := read(filepath.Join(root, rawDir))
	if err != nil {
		return nil, err
	}
	plots, err := drawAll(r)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, data := range plots {
		files[filepath.Join(plotDir, name)] = data
	}
	files[document] = []byte(markdown(r, plots))
	return files, nil
}

func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	// A plot whose data are gone must not stay behind.
	old, err := filepath.Glob(filepath.Join(root, plotDir, "*.png"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(root, plotDir), 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(root, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
