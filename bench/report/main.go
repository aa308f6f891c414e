// Command report makes BENCHMARKS.md and its plots of the raw files that package
// compare wrote, and a page for each further machine. Run it at the root of the
// repository:
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

// site is what one machine's raw files are shown by. Places are relative to the root of
// the repository.
type site struct {
	rawDir   string
	document string
	plotDir  string
	about    string // in a link from the other pages
}

var sites = []site{
	{filepath.Join("bench", "results", "speed"), "BENCHMARKS.md", filepath.Join("docs", "images", "benchmarks"),
		"a processor with a matrix unit (AMX)"},
	{filepath.Join("bench", "results", "speed-avx512"), filepath.Join("docs", "benchmarks-avx512.md"), filepath.Join("docs", "images", "benchmarks-avx512"),
		"a processor with AVX-512 and no matrix unit"},
	{filepath.Join("bench", "results", "speed-avx512-256"), filepath.Join("docs", "benchmarks-avx512-256.md"), filepath.Join("docs", "images", "benchmarks-avx512-256"),
		"a processor with AVX-512 on units of 256 bits"},
	{filepath.Join("bench", "results", "speed-avx2"), filepath.Join("docs", "benchmarks-avx2.md"), filepath.Join("docs", "images", "benchmarks-avx2"),
		"a processor with AVX2 alone"},
	{filepath.Join("bench", "results", "speed-shared"), filepath.Join("docs", "benchmarks-shared.md"), filepath.Join("docs", "images", "benchmarks-shared"),
		"a processor with a matrix unit (AMX), on a host that others share"},
	{filepath.Join("bench", "results", "speed-avx512-shared"), filepath.Join("docs", "benchmarks-avx512-shared.md"), filepath.Join("docs", "images", "benchmarks-avx512-shared"),
		"a processor with AVX-512 and no matrix unit, on a host that others share"},
}

// link returns the place of a file or folder as the site's document names it.
func (s *site) link(to string) string {
	rel, err := filepath.Rel(filepath.Dir(s.document), to)
	if err != nil { // both are relative to the root
		panic(err)
	}
	return filepath.ToSlash(rel)
}

func main() {
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	for i := range sites {
		if err := sites[i].write(*root); err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
			os.Exit(1)
		}
	}
}

// generate returns the files that the raw files below root are to be shown by.
func (s *site) generate(root string) (map[string][]byte, error) {
	r, err := read(filepath.Join(root, s.rawDir))
	if err != nil {
		return nil, err
	}
	plots, err := drawAll(r)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, data := range plots {
		files[filepath.Join(s.plotDir, name)] = data
	}
	files[s.document] = []byte(markdown(s, r, plots))
	return files, nil
}

func (s *site) write(root string) error {
	files, err := s.generate(root)
	if err != nil {
		return err
	}
	// A plot whose data are gone must not stay behind.
	old, err := filepath.Glob(filepath.Join(root, s.plotDir, "*.png"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(root, s.plotDir), 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(root, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
