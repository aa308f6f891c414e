package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/noether-go/noether/bench/cases"
)

// kind is what functions in a profile do, by their names.
type kind struct {
	name  string
	match *regexp.Regexp
}

// kinds are in the order in which a function is looked up.
var kinds = []kind{
	{"matrix unit", regexp.MustCompile(`asm\.(gemmSplit|gemmSlices|linearSplit|linearGradSplit|outerSplit)\w*AMX$`)},
	{"FMA", regexp.MustCompile(`asm\.(sgemm|sfoldedWaves|sfoldedProducts|skernelWaves|sgauss|souter|linear)\w*(AVX|NEON)`)},
	{"splitting", regexp.MustCompile(`asm\.(split|slice)[A-Z]`)},
	{"moving", regexp.MustCompile(`asm\.(transpose|s?pack|pull|gather|prefetch|stream)|^runtime\.(memmove|memclr)|conv\.take$`)},
	{"sums and norms", regexp.MustCompile(`asm\.(col|affine|add|sub|mul|relu|normPool|sum|dot|combine|axpy|fill|fold|saddRows|scomplex(Panel|Strip)|sfoldColumns)`)},
	{"other", regexp.MustCompile(``)},
}

// profile is where the time of one preset's training step goes.
type profile struct {
	preset, level string
	shares        []float64 // of the whole, by kinds
}

// profileName is that of a file: PRESET@LEVEL.txt.
var profileName = regexp.MustCompile(`^(.+)@(\w+)\.txt$`)

// readProfiles reads the files in a folder that go tool pprof -top wrote, in the order of
// cases.Steps.
func readProfiles(dir string) ([]profile, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*@*.txt"))
	if err != nil {
		return nil, err
	}
	var list []profile
	for _, path := range paths {
		name := profileName.FindStringSubmatch(filepath.Base(path))
		if name == nil {
			return nil, fmt.Errorf("%s: not called PRESET@LEVEL.txt", path)
		}
		shares, err := readProfile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, profile{name[1], name[2], shares})
	}
	place := func(p profile) int {
		return slices.IndexFunc(cases.Steps, func(s cases.Step) bool { return s.Preset == p.preset })
	}
	slices.SortFunc(list, func(a, b profile) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a.level, b.level))
	})
	return list, nil
}

// profileLine is a function of a profile: its own time and its name.
var profileLine = regexp.MustCompile(`^\s*([\d.]+)(ms|s)\s+[\d.]+%\s+[\d.]+%\s+[\d.]+m?s\s+[\d.]+%\s+(\S+)`)

// readProfile returns the shares of a profile.
func readProfile(path string) ([]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	shares, whole := make([]float64, len(kinds)), 0.0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		m := profileLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, err
		}
		if m[2] == "ms" {
			v /= 1000
		}
		name := strings.TrimPrefix(m[3], "github.com/noether-go/noether/")
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.match.MatchString(name) })
		shares[i] += v
		whole += v
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if whole == 0 {
		return nil, fmt.Errorf("no lines of go tool pprof -top")
	}
	for i := range shares {
		shares[i] /= whole
	}
	return shares, nil
}

// profiles shows where the time of training steps goes.
func (p *page) profiles(list []profile) {
	if len(list) == 0 {
		return
	}
	dir := filepath.Join(p.site.rawDir, profilesDir)
	p.printf("\n### Where the time goes\n\nShares of a step in percent, one thread, by the profiles in [%s](%s) (`make bench-profiles`): products on the matrix unit and by FMA; splitting and slicing, which make the operands of the former; moving: transposing, packing, copying; sums and norms, with those sums before and after Fourier transforms that are not taken where products are made. [What limits the speed](%s) goes on from here.\n",
		filepath.ToSlash(dir), p.site.link(dir), p.site.link(filepath.Join("docs", "performance.md")))
	head := "preset,level"
	for _, k := range kinds {
		head += "," + k.name
	}
	var rows [][]string
	for _, of := range list {
		row := []string{of.preset, of.level}
		for _, v := range of.shares {
			row = append(row, fmt.Sprintf("%.0f", 100*v))
		}
		rows = append(rows, row)
	}
	p.table(head, rows)
}

// profilesDir is the folder of a site's profiles, in that of its raw files.
const profilesDir = "profiles"
