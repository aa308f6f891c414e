package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/model"
)

var exportCommand = subcommand{
	name:     "export",
	operands: "RUN FILE",
	summary:  "Writes a trained network for PyTorch or as ONNX",
	about: `RUN is the directory of a run, or a file of weights that model.Save wrote. The name
of FILE says the format: with .safetensors it becomes the state dictionary of the
published PyTorch program, with .onnx the frozen network as ordinary convolutions.
FILE must not exist yet.`,
	declare: declareExport,
}

// export is one call of export.
type export struct {
	weights   string
	normalize bool
	threads   int
	given     func(name string) bool
}

func declareExport(f *flag.FlagSet) func(ctx context.Context, c *console, operands []string) error {
	e := &export{given: func(name string) bool { return given(f, name) }}
	f.StringVar(&e.weights, "weights", "best", "`best or last`: those of the best epoch by validation, or of the last")
	f.BoolVar(&e.normalize, "normalize", false, "ONNX: take pixels from 0 to 1 and normalise them in the file")
	f.IntVar(&e.threads, "threads", runtime.GOMAXPROCS(0), "CPU `threads` that render kernels")
	return func(ctx context.Context, c *console, operands []string) error {
		return e.run(ctx, c, operands[0], operands[1])
	}
}

func (e *export) run(ctx context.Context, c *console, from, to string) error {
	if err := e.check(to); err != nil {
		return err
	}
	net, set, err := e.load(from)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	text := ""
	if filepath.Ext(to) == ".onnx" {
		text, err = e.onnx(ctx, net, set, to)
	} else {
		text, err = "state dictionary  "+to+"\n", net.SaveStateDict(to)
	}
	if err != nil {
		return cannotExport(err)
	}
	_, err = io.WriteString(c.stdout, text)
	return err
}

func (e *export) check(to string) error {
	format := filepath.Ext(to)
	switch {
	case format != ".onnx" && format != ".safetensors":
		return usageError{fmt.Errorf("FILE is %s; its name must end in .safetensors, for PyTorch, or in .onnx", to)}
	case e.normalize && format != ".onnx":
		return usageError{fmt.Errorf("-normalize is for files that end in .onnx: a state dictionary holds weights alone")}
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return fmt.Errorf("FILE: %w; give another name", err)
		}
		return usageError{fmt.Errorf("%s exists; give another name or remove it", to)}
	}
	if folder := filepath.Dir(to); !isDir(folder) {
		return fmt.Errorf("FILE is %s, and there is no folder %s; make it, or give a file in another", to, folder)
	}
	return (&means{threads: e.threads}).check()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// cannotExport says what to do about a file that cannot be written.
func cannotExport(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return fmt.Errorf("FILE: %w; make room, or give a file in a folder that may be written to", err)
	}
	return err
}

// load reads the network and the name of the data set that it was trained on, "" for
// a file of weights, which does not say it.
func (e *export) load(from string) (net *model.Network, set string, err error) {
	if info, err := os.Stat(from); err != nil || info.IsDir() {
		cfg, net, err := loadRun(from, e.weights)
		if err != nil {
			return nil, "", err
		}
		return net, cfg.Data.Set, nil
	}
	if e.given("weights") {
		return nil, "", usageError{fmt.Errorf("-weights chooses among the files of a run, and %s is one already", from)}
	}
	net, err = model.Load(from)
	return net, "", err
}

// onnx writes an ONNX file and says what it takes and makes.
func (e *export) onnx(ctx context.Context, net *model.Network, set, to string) (string, error) {
	var cfg model.ONNXConfig
	input := "normalised as the images it was trained on"
	mean, std := data.Normalization(set)
	switch {
	case e.normalize && mean == nil:
		return "", usageError{fmt.Errorf("-normalize: a file of weights does not say which images it was trained on; name the run instead")}
	case e.normalize:
		cfg, input = model.ONNXConfig{Mean: mean, Std: std}, "pixels from 0 to 1"
	case mean != nil:
		input = fmt.Sprintf("pixels from 0 to 1, minus %v, over %v", list(mean), list(std))
	}
	frozen, err := net.Freeze(model.FreezeConfig{Batch: 1, Threads: e.threads})
	if err != nil {
		return "", err
	}
	defer frozen.Close()
	if err := ctx.Err(); err != nil { // rendering the kernels may have taken long
		return "", err
	}
	if err := frozen.SaveONNX(to, cfg); err != nil {
		return "", err
	}
	channels, height, width := net.ImageShape()
	return fmt.Sprintf("ONNX file  %s\ninput  images [batch, %d, %d, %d] float32: %s\noutput  logits [batch, %d]\n",
		to, channels, height, width, input, net.Classes()), nil
}

// list writes the values of channels.
func list(values []float32) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(values), "[]")), ", ")
}
