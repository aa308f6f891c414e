package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/onnx/onnxtest"
	"github.com/noether-go/noether/model"
)

// exportTo runs export and returns what it printed.
func exportTo(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := here(append([]string{"export"}, args...)...)
	if code != exitOK || stderr != "" {
		t.Fatal(code, stderr)
	}
	return stdout
}

// onImages returns the logits of an ONNX file for two images of the test set, as
// pixels or normalised, and those of the frozen network.
func onImages(t *testing.T, path string, net *model.Network, pixels bool) (got []float64, want []float32) {
	t.Helper()
	set := data.Strokes6180(data.StrokesConfig{Train: 2, Test: 2})
	images, raw := make([]float32, 2*set.Pixels()), make([]float32, 2*set.Pixels())
	set.Batch(images, make([]float32, 2), &set.Test, []int{0, 1})
	for i := range raw {
		raw[i] = float32(set.Test.Images[i]) / 255
	}
	frozen, err := net.Freeze(model.FreezeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	if want, err = frozen.Predict(images); err != nil {
		t.Fatal(err)
	}
	graph, err := onnxtest.Read(read(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if pixels {
		images = raw
	}
	if got, _, err = graph.Run(images, 2, 1, 28, 28); err != nil {
		t.Fatal(err)
	}
	return got, want
}

func TestExportONNX(t *testing.T) {
	dir := finished(t)
	before := contents(t, dir)
	net, err := model.Load(filepath.Join(dir, bestFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from  string
		flags []string
		says  string
	}{
		{dir, nil, "pixels from 0 to 1, minus 0.1307, over 0.3081"},
		{dir, []string{"-weights=best", "-threads", "1"}, "pixels from 0 to 1, minus 0.1307, over 0.3081"},
		{dir, []string{"-normalize"}, "pixels from 0 to 1"},
		{filepath.Join(dir, bestFile), nil, "normalised as the images it was trained on"},
	} {
		to := filepath.Join(t.TempDir(), "net.onnx")
		says := exportTo(t, append(c.flags, c.from, to)...)
		if want := fmt.Sprintf("ONNX file  %s\ninput  images [batch, 1, 28, 28] float32: %s\noutput  logits [batch, 2]\n", to, c.says); says != want {
			t.Errorf("%v: %q, want %q", c.flags, says, want)
		}
		got, want := onImages(t, to, net, slices.Contains(c.flags, "-normalize"))
		for i := range want {
			if d := got[i] - float64(want[i]); !(d < 1e-4 && d > -1e-4) {
				t.Errorf("%v: logits %v, want %v", c.flags, got, want)
				break
			}
		}
	}
	if !maps.Equal(before, contents(t, dir)) {
		t.Error("the run was changed")
	}
}

// What is exported for PyTorch and imported again is the same network in a run of
// its own.
func TestExportAndImport(t *testing.T) {
	from := finished(t)
	for _, weights := range []string{"best", "last"} {
		file, dir := filepath.Join(t.TempDir(), "state.safetensors"), filepath.Join(t.TempDir(), "run")
		if says := exportTo(t, from, file, "-weights", weights); says != "state dictionary  "+file+"\n" {
			t.Error(says)
		}
		code, stdout, stderr := here("import", "-config", filepath.Join(from, configFile), "-out", dir, file)
		if code != exitOK || stderr != "" || !regexp.MustCompile(`^parameters  \d+\nrun directory  `+regexp.QuoteMeta(dir)+"\n$").MatchString(stdout) {
			t.Fatal(code, stdout, stderr)
		}
		want := read(t, from, weights+".safetensors")
		if !bytes.Equal(read(t, dir, bestFile), want) || !bytes.Equal(read(t, dir, lastFile), want) || !bytes.Equal(read(t, dir, configFile), read(t, from, configFile)) {
			t.Error("the run differs")
		}
		if files := slices.Sorted(maps.Keys(contents(t, dir))); len(files) != 3 {
			t.Errorf("files in the directory: %v", files)
		}
		if got, want := evaluate(t, dir), evaluate(t, from, "-weights", weights); got.Loss != want.Loss || got.Accuracy != want.Accuracy {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// Files of a run are not replaced where its configuration is gone.
func TestOutWithFilesOfARun(t *testing.T) {
	run := finished(t)
	for _, name := range []string{bestFile, stateFile, resultFile} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, read(t, run, name), dir, name)
		before := contents(t, dir)
		for _, args := range [][]string{
			tinyRun(dir),
			{"import", "-config", filepath.Join(run, configFile), "-out", dir, filepath.Join(run, bestFile)},
		} {
			code, stdout, stderr := here(args...)
			refused(t, exitUsage, code, stdout, stderr, dir+" holds "+name, configFile, "give another directory")
			if !maps.Equal(before, contents(t, dir)) {
				t.Errorf("%s was changed", dir)
			}
		}
	}
}

func TestBadExports(t *testing.T) {
	run := finished(t)
	there := filepath.Join(t.TempDir(), "there.onnx")
	write(t, []byte("mine"), there)
	weights := filepath.Join(run, bestFile)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"export RUN", exitUsage, "export: FILE is missing"},
		{"export RUN net.pt", exitUsage, "net.pt|.safetensors|.onnx"},
		{"export RUN net", exitUsage, "FILE is net"},
		{"export RUN " + there, exitUsage, there + " exists"},
		{"export RUN net.safetensors -normalize", exitUsage, "-normalize is for files that end in .onnx"},
		{"export RUN net.onnx -weights first", exitUsage, `-weights is "first"`},
		{"export RUN net.onnx -threads 0", exitUsage, "-threads is 0"},
		{"export " + weights + " net.onnx -weights last", exitUsage, "-weights chooses among the files of a run"},
		{"export " + weights + " net.onnx -normalize", exitUsage, "does not say which images"},
		{"export /nothing net.onnx", exitUsage, "/nothing holds no run"},
		{"export " + filepath.Join(run, stateFile) + " net.onnx", exitFailure, stateFile + "|the state of a training"},
		{"export RUN nowhere/net.onnx", exitFailure, "there is no folder nowhere; make it"},
		{"import", exitUsage, "import: FILE is missing"},
		{"import net.safetensors -preset mnist7", exitUsage, `unknown preset "mnist7"`},
		{"import net.safetensors -set net.width=0", exitUsage, "net.width is 0"},
		{"import nothing.safetensors", exitFailure, "nothing.safetensors"},
		{"import " + there, exitFailure, there + "|truncated"},
		{"import " + weights + " -preset rotmnist", exitFailure, weights + "|is a checkpoint of another network"},
		{"import " + weights + " -config " + filepath.Join(run, configFile) + " -out " + run, exitUsage, run + " already holds a run"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			before := contents(t, run)
			code, stdout, stderr := here(strings.Fields(strings.ReplaceAll(c.args, "RUN", run))...)
			refused(t, c.code, code, stdout, stderr, strings.Split(c.want, "|")...)
			if left := contents(t, "."); len(left) > 0 {
				t.Errorf("left behind: %v", slices.Collect(maps.Keys(left)))
			}
			if !maps.Equal(before, contents(t, run)) {
				t.Error("the run was changed")
			}
			if string(read(t, there)) != "mine" {
				t.Error("a file was replaced")
			}
		})
	}
}
