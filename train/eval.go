package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"github.com/noether-go/noether/asm"
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
	t, err := openTrained(ctx, c, &e.means, path, e.weights)
	if err != nil {
		return err
	}
	defer t.close()
	if !e.given("draws") {
		e.draws = t.cfg.Train.EvalDraws
	}
	if !e.given("seed") {
		e.seed = t.cfg.Seed
	}
	score, err := t.net.Evaluate(ctx, t.set, &t.set.Test, e.draws, e.seed)
	if err != nil {
		return ofWeights(path, e.weights, err)
	}
	if err := t.dev.Sync(); err != nil {
		return err
	}
	return e.print(c, evalJSON{
		Run: path, Weights: e.weights, Dataset: t.set.Name, Synthetic: t.set.Synthetic, Images: t.set.Test.Len(),
		Accuracy: score.Accuracy, AccuracyStd: score.Std, Loss: score.Loss, Draws: score.Draws, Seed: e.seed,
		Learned: t.net.Subsets(), Level: asm.Active().String(), Device: t.dev.Name(),
	}, t.cfg.Learns())
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
