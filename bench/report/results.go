package main

import (
	"bufio"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// results is what raw files say.
type results struct {
	files   map[string]map[string]string               // file -> key -> value of its head
	from    map[string]string                          // benchmark -> file
	samples map[string]map[string][]map[string]float64 // benchmark -> peer -> rounds -> unit -> value

	profiles []profile
}

// read takes in all raw files of a folder.
func read(dir string) (*results, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no raw files (*.txt) in %s", dir)
	}
	r := &results{files: map[string]map[string]string{}, from: map[string]string{}, samples: map[string]map[string][]map[string]float64{}}
	slices.Sort(files)
	for _, file := range files {
		if err := r.file(file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	r.profiles, err = readProfiles(filepath.Join(dir, profilesDir))
	return r, err
}

func (r *results) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := map[string]string{}
	for in, n := bufio.NewScanner(f), 1; ; n++ {
		if !in.Scan() {
			if in.Err() != nil {
				return in.Err()
			}
			break
		}
		line := in.Text()
		if !strings.HasPrefix(line, "Benchmark") {
			key, value, ok := strings.Cut(line, ": ")
			if !ok {
				return fmt.Errorf("line %d is neither a setting nor a measurement: %q", n, line)
			}
			head[key] = value
			continue
		}
		if err := r.measurement(path, head["peer"], line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if head["suite"] == "" {
		return fmt.Errorf("the file does not say of which suite it is")
	}
	r.files[strings.TrimSuffix(filepath.Base(path), ".txt")] = head
	return nil
}

// measurement takes in one line, "BenchmarkNAME-P N VALUE UNIT ...". Without a
// peer it is from no comparison.
func (r *results) measurement(path, peer, line string) error {
	if peer == "" {
		return fmt.Errorf("no line says whose measurement it is")
	}
	words := strings.Fields(line)
	if len(words) < 4 || len(words)%2 != 0 {
		return fmt.Errorf("not a measurement: %q", line)
	}
	name := strings.TrimPrefix(words[0], "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i >= 0 && peer == noether { // -P is GOMAXPROCS, where that is not 1
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i]
		}
	}
	if other, ok := r.from[name]; ok && other != path {
		return fmt.Errorf("%s is measured in %s too, and medians are of one run", name, other)
	}
	r.from[name] = path
	values := map[string]float64{}
	for i := 2; i < len(words); i += 2 {
		v, err := strconv.ParseFloat(words[i], 64)
		if err != nil {
			return err
		}
		values[words[i+1]] = v
	}
	if r.samples[name] == nil {
		r.samples[name] = map[string][]map[string]float64{}
	}
	r.samples[name][peer] = append(r.samples[name][peer], values)
	return nil
}

const (
	noether = "noether"
	ns      = "ns/op"
)

// values returns what a peer's rounds say about a unit.
func (r *results) values(bench, peer, unit string) []float64 {
	var list []float64
	for _, sample := range r.samples[bench][peer] {
		if v, ok := sample[unit]; ok && v > 0 {
			list = append(list, v)
		}
	}
	return list
}

// versions returns what rivals said about themselves, in some files perhaps otherwise than in others.
func (r *results) versions() map[string][]string {
	list := map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(r.files)) {
		for key, value := range r.files[file] {
			name, ok := strings.CutPrefix(key, "version-")
			if ok && !strings.HasSuffix(name, "-peak") && !slices.Contains(list[name], value) {
				list[name] = append(list[name], value)
			}
		}
	}
	return list
}

// median is NaN without values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func (r *results) median(bench, peer, unit string) float64 {
	return median(r.values(bench, peer, unit))
}

// ratio is how many times as long a rival took: of the medians, and the least
// and the largest of single rounds.
type ratio struct {
	value, low, high float64
	rounds           []float64
	rival            string
}

func (q ratio) known() bool { return !math.IsNaN(q.value) && q.value > 0 }

// ratio compares Noether with one rival.
func (r *results) ratio(bench, rival string) ratio {
	return between(r.values(bench, rival, ns), r.values(bench, noether, ns), rival)
}

// between divides a by b. A round that only one of them ran is compared with the median
// of the other.
func between(a, b []float64, rival string) ratio {
	q := ratio{value: median(a) / median(b), low: math.NaN(), high: math.NaN(), rival: rival}
	for i := range max(len(a), len(b)) {
		v := inRound(a, i) / inRound(b, i)
		if q.rounds = append(q.rounds, v); i == 0 {
			q.low, q.high = v, v
		} else {
			q.low, q.high = min(q.low, v), max(q.high, v)
		}
	}
	return q
}

func inRound(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return median(values)
}

// best compares Noether with the rival whose median is the least.
func (r *results) best(bench string) ratio {
	none := ratio{value: math.NaN()}
	for _, peer := range slices.Sorted(maps.Keys(r.samples[bench])) {
		if peer == noether || strings.HasSuffix(peer, "-peak") {
			continue
		}
		if q := r.ratio(bench, peer); q.known() && (!none.known() || q.value < none.value) {
			none = q
		}
	}
	return none
}

// gemmLevel returns the best level of which products were measured.
func (r *results) gemmLevel() string {
	return r.bestLevel(func(name, impl string) bool { return strings.HasPrefix(name, "Sgemm/impl="+impl+"/") })
}

// elementwiseLevel returns the best level of which elementwise operations were measured.
func (r *results) elementwiseLevel() string {
	return r.bestLevel(func(name, impl string) bool {
		return strings.HasPrefix(name, "Elementwise/") && strings.Contains(name, "/impl="+impl+"/")
	})
}

// bestLevel returns the best level of which a benchmark is, or AVX-512 without any.
func (r *results) bestLevel(of func(name, impl string) bool) string {
	for _, l := range levels {
		for name := range r.samples {
			if of(name, l.impl) {
				return l.impl
			}
		}
	}
	return "avx512"
}

// levels are the levels of products as people write them, the best first.
var levels = []struct{ impl, title string }{{"amx", "AMX"}, {"avx512", "AVX-512"}, {"avx2", "AVX2"}}

func levelTitle(impl string) string {
	for _, l := range levels {
		if l.impl == impl {
			return l.title
		}
	}
	return impl
}

// peak returns the FMA peak of one core in GFLOP/s, as the benchmarks of
// products measured it beside themselves.
func (r *results) peak(impl string) float64 {
	most := math.NaN()
	for name, peers := range r.samples {
		if !strings.HasPrefix(name, "Sgemm/impl="+impl+"/threads=1/") {
			continue
		}
		for _, s := range peers[noether] {
			if p := s["GFLOP/s"] / s["%peak"] * 100; math.IsNaN(most) || p > most {
				most = p
			}
		}
	}
	return most
}
