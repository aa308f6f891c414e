package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
)

var evalCommand = subcommand{
	name:     "eval",
	operands: "RUN",
	summary:  "Measures the accuracy of a trained network on the test images",
	about: `RUN is the directory of a run. Nothing in it is changed, and training may go on in
it meanwhile. With the run's own draws and seed, the accuracy is the one that the
run printed at its end.`,
	declare: declareEval,
}

// evaluation is one call of eval.
type evaluation struct {
	means
	weights string
	draws   int
	seed    uint64
	json    bool
	given   func(name string) bool
}

func declareEval(f *flag.FlagSet) func(ctx context.Context, c *console, operands []string) error {
	e := &evaluation{given: func(name string) bool { return given(f, name) }}
	e.means.declare(f)
	f.StringVar(&e.weights, "weights", "best", "`best or last`: those of the best epoch by validation, or of the last")
	f.IntVar(&e.draws, "draws", 0, "independent `draws` of the group elements (default the run's train.eval_draws)")
	f.Uint64Var(&e.seed, "seed", 0, "seed of the draws (default the run's)")
	f.BoolVar(&e.json, "json", false, "print a JSON object")
	return func(ctx context.Context, c *console, operands []string) error { return e.run(ctx, c, operands[0]) }
}

// evalJSON is what eval -json prints. docs/command-line.md documents the keys.
type evalJSON struct {
	Run         string    `json:"run"`
	Weights     string    `json:"weights"`
	Dataset     string    `json:"dataset"`
	Synthetic   bool      `json:"synthetic"`
	Images      int       `json:"images"`
	Accuracy    float64   `json:"accuracy"`
	AccuracyStd float64   `json:"accuracy_std"`
	Loss        float64   `json:"loss"`
	Draws       int       `json:"draws"`
	Seed        uint64    `json:"seed"`
	Learned     []float64 `json:"learned"`
	Level       string    `json:"level"`
	Device      string    `json:"device"`
}

func (e *evaluation) run(ctx context.Context, c *console, path string) error {
	if err := e.check(); err != nil {
		return err
	}
	cfg, net, err := loadRun(path, e.weights)
	if err != nil {
		return err
	}
	if !e.given("draws") {
		e.draws = cfg.Train.EvalDraws
	}
	if !e.given("seed") {
		e.seed = cfg.Seed
	}
	dev, err := openDevice(&e.means)
	if err != nil {
		return err
	}
	defer dev.Close()
	set, err := openData(ctx, cfg, &e.means, c.log)
	if err != nil {
		return err
	}
	if err := fits(net, set); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := net.Bind(dev, cfg.Train.Batch, true); err != nil {
		return err
	}
	defer net.Release()
	score, err := net.Evaluate(ctx, set, &set.Test, e.draws, e.seed)
	if err != nil {
		return err
	}
	if err := dev.Sync(); err != nil {
		return err
	}
	return e.print(c, evalJSON{
		Run: path, Weights: e.weights, Dataset: set.Name, Synthetic: set.Synthetic, Images: set.Test.Len(),
		Accuracy: score.Accuracy, AccuracyStd: score.Std, Loss: score.Loss, Draws: score.Draws, Seed: e.seed,
		Learned: net.Subsets(), Level: asm.Active().String(), Device: dev.Name(),
	}, cfg.Learns())
}

func (e *evaluation) check() error {
	if e.given("draws") && (e.draws < 1 || e.draws > 1e4) {
		return usageError{fmt.Errorf("-draws is %d; allowed: 1 to 10000", e.draws)}
	}
	return e.means.check()
}

func (e *evaluation) print(c *console, r evalJSON, partial bool) error {
	if e.json {
		out := json.NewEncoder(c.stdout)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	out := accuracyLine(r.Accuracy, r.AccuracyStd, r.Draws, r.Synthetic) + fmt.Sprintf("test loss  %.4f nats\n", r.Loss)
	if partial {
		out += fmt.Sprintf("learned subsets  %.2f\n", r.Learned)
	}
	_, err := io.WriteString(c.stdout, out)
	return err
}

// loadRun reads the configuration and the network of a run, with the weights "best"
// or "last". It takes no lock and changes nothing: files of a run are replaced as
// a whole.
func loadRun(path, weights string) (*config.Config, *model.Network, error) {
	file, ok := map[string]string{"best": bestFile, "last": lastFile}[weights]
	if !ok {
		return nil, nil, usageError{fmt.Errorf("-weights is %q; allowed: best, last", weights)}
	}
	d := &runDir{path: path}
	cfg, err := d.readConfig()
	if err != nil {
		return nil, nil, err
	}
	if !d.has(file) {
		return nil, nil, fmt.Errorf("%s has no %s: no epoch of this run is complete; go on with -resume %s", path, file, path)
	}
	net, err := model.Load(d.file(file))
	return cfg, net, err
}

// fits reports a network that does not take the images of the set.
func fits(net *model.Network, set *data.Dataset) error {
	channels, height, width := net.ImageShape()
	if channels == set.Channels && height == set.Height && width == set.Width && net.Classes() == set.Classes {
		return nil
	}
	return fmt.Errorf("the network takes %d channels of %d x %d pixels in %d classes, the set %s of its %s has %d of %d x %d in %d; the files belong to different runs",
		channels, height, width, net.Classes(), set.Name, configFile, set.Channels, set.Height, set.Width, set.Classes)
}
