package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/config"
)

// writeRotMNIST writes files in the format and of the sizes of RotMNIST, packed: each class
// has one image, of a bar in a row of its own. The first lines have numbers as long as the
// published files have.
func writeRotMNIST(t *testing.T) (dir string) {
	t.Helper()
	const pixels = 28 * 28
	line := func(class int, zero, one, label string) string {
		bar := 28 * (4 + 2*class)
		return strings.Repeat(zero+" ", bar+6) + strings.Repeat(one+" ", 16) + strings.Repeat(zero+" ", pixels-bar-22) + label + "\n"
	}
	dir = t.TempDir()
	for i, images := range []int{12000, 50000} {
		file, err := os.Create(filepath.Join(dir, data.RotMNISTFiles().Files[i].Name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(z, 1<<16)
		for k := range images {
			if class := k % 10; k < 10 {
				io.WriteString(w, line(class, fmt.Sprintf("%.18e", 0.), fmt.Sprintf("%.18e", 0.5), fmt.Sprintf("%.18e", float64(class))))
			} else {
				io.WriteString(w, line(class, "0", ".5", fmt.Sprint(class)))
			}
		}
		for _, end := range []func() error{w.Flush, z.Close, file.Close} { // Flush has the errors of writing
			if err := end(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// The preset runs on the files of RotMNIST as it stands: its first steps, until it is
// interrupted, and, with a small network and two steps, the whole course.
func TestRotMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: reads 62000 images twice")
	}
	const preset = "rotmnist-se2-8-partial"
	files := writeRotMNIST(t)
	dir := filepath.Join(t.TempDir(), "run")
	cmd, stderr, ended := start(t, "-preset", "rotmnist", "-data", files, "-out", dir, "-threads", "1", "-set", "train.save_every=1")
	if !untilSaved(t, dir, 1, ended) {
		t.Fatal(stderr)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(<-ended); code != exitInterrupted {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"preset=" + preset, "set=rotmnist", "images=10000", "parameters=467791", "steps=46800"} {
		if !strings.Contains(stderr.String(), want+" ") {
			t.Errorf("no %q in %s", want, stderr)
		}
	}
	want, err := config.Lookup(preset)
	if err != nil {
		t.Fatal(err)
	}
	got := want
	if err := got.MergeFile(filepath.Join(dir, configFile)); err != nil {
		t.Fatal(err)
	}
	for _, key := range config.Keys() {
		if key != "train.save_every" && got.Value(key) != want.Value(key) {
			t.Errorf("%s was %s, the preset has %s", key, got.Value(key), want.Value(key))
		}
	}

	dir = filepath.Join(t.TempDir(), "run")
	code, _, log := here("-quiet", "-preset", "rotmnist", "-data", files, "-out", dir, "-threads", "1", "-epochs", "1", "-set", "train.steps_per_epoch=2",
		"-set", "train.warmup_epochs=0", "-set", "train.eval_draws=1", "-set", "net.width=1", "-set", "group.elements=2",
		"-set", "kernel.side=3", "-set", "kernel.hidden=2", "-set", "kernel.layers=2")
	if code != exitOK || log != "" {
		t.Fatalf("exit code %d: %s", code, log)
	}
	var r result
	if err := json.Unmarshal(read(t, dir, resultFile), &r); err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, row := range r.Confusion {
		for _, n := range row {
			tested += n
		}
	}
	if r.Dataset != "rotmnist" || r.Synthetic || r.Steps != 2 || tested != 50000 {
		t.Errorf("%d steps on %s, synthetic %v, tested on %d images", r.Steps, r.Dataset, r.Synthetic, tested)
	}
}
