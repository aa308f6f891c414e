package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/tensor"
)

// session is one run of the program: from a configuration to a run directory.
type session struct {
	cfg    *config.Config
	o      *options
	stdout io.Writer
	log    *slog.Logger
	bar    *progressBar

	dir     *runDir
	set     *data.Dataset
	dev     tensor.Device
	net     *model.Network
	begin   []float64 // sizes of the subsets before training
	trainer *model.Trainer

	saving error // the first failure to write, which ends the run
	cancel context.CancelFunc
}

// newSession opens all that a run needs. Mistakes show before anything is written, and
// those in the configuration before data are read or downloaded.
func newSession(ctx context.Context, o *options, stdout, stderr io.Writer, log *slog.Logger) (*session, error) {
	s := &session{o: o, stdout: stdout, log: log, bar: newProgressBar(stderr, o.quiet)}
	if err := s.open(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) open(ctx context.Context) (err error) {
	if s.o.resume != "" {
		if s.dir, err = openExisting(s.o.resume); err != nil {
			return err
		}
		if s.cfg, err = s.dir.readConfig(); err != nil {
			return fmt.Errorf("-resume: %w", err)
		}
	} else {
		s.cfg, err = s.o.configuration()
	}
	if err != nil {
		return err
	}
	if s.dev, err = openDevice(&s.o.means); err != nil {
		return err
	}
	if s.net, err = newNetwork(s.cfg); err != nil {
		return err
	}
	s.begin = s.net.Subsets()
	if s.set, err = openData(ctx, s.cfg, &s.o.means, s.log); err != nil {
		return err
	}
	return s.prepare()
}

// newNetwork builds the network of a configuration by which it can be trained.
func newNetwork(cfg *config.Config) (*model.Network, error) {
	net, err := cfg.NewNetwork()
	if err != nil {
		return nil, err
	}
	return net, cfg.CheckTraining(net)
}

// prepare builds the network's trainer, and the run directory of a new run, or
// restores the one to go on with.
func (s *session) prepare() (err error) {
	tc := s.cfg.Training()
	tc.Device = s.dev
	tc.OnStep, tc.OnEpoch = s.onStep, s.onEpoch
	if s.trainer, err = model.NewTrainer(s.net, s.set, tc); err != nil {
		return s.cfg.Explain(err)
	}
	if s.dir == nil {
		s.dir, err = newRunDir(s.o.out, s.cfg)
		return err
	}
	return s.restore()
}

// restore goes on from the saved state. A run that was killed before it saved one
// begins anew; where there are weights or a result without a state, that would
// replace them.
func (s *session) restore() error {
	if s.dir.has(stateFile) {
		if err := s.trainer.LoadState(s.dir.file(stateFile)); err != nil {
			return fmt.Errorf("-resume: %w; restore the files of %s, or %s", err, s.dir.path, s.startAnew())
		}
		s.warnOfLevel()
		return s.bringBack()
	}
	for _, name := range []string{bestFile, lastFile, resultFile} {
		if s.dir.has(name) {
			return fmt.Errorf("-resume: %s has %s but no %s to go on from, and training anew would replace it; restore %s, or %s",
				s.dir.path, name, stateFile, stateFile, s.startAnew())
		}
	}
	s.log.Info("no saved state yet, starting from the beginning", "directory", s.dir.path)
	return nil
}

// bringBack writes what the last epoch wrote, once that has ended: nothing else will, and
// the files may be damaged or gone.
func (s *session) bringBack() error {
	if len(s.trainer.Epochs()) < s.cfg.Train.Epochs {
		return nil
	}
	if err := inTurn(
		func() error { return s.net.Save(s.dir.file(lastFile)) },
		func() error { return s.dir.writeMetrics(s.trainer.Epochs()) },
	); err != nil {
		return s.cannotWrite(err)
	}
	return nil
}

// warnOfLevel says where the steps so far were taken at another level of the kernels.
func (s *session) warnOfLevel() {
	levels, here := s.trainer.Levels(), asm.Active().String()
	if total, done := s.trainer.Steps(); done == total || len(levels) == 0 || slices.Equal(levels, []string{here}) {
		return
	}
	s.log.Warn("the steps so far were taken at another level of the kernels, so the run will have the bits of no run at one level",
		"levels", strings.Join(levels, ","), "here", here)
}

// startAnew is the advice to train with the same configuration in another directory.
func (s *session) startAnew() string {
	return "start anew with -config " + s.dir.file(configFile) + " -out NEW"
}

// openExisting opens the directory of a run that is to be resumed.
func openExisting(path string) (*runDir, error) {
	if d := (&runDir{path: path}); !d.has(configFile) { // before a lock file is made there
		return nil, fmt.Errorf("-resume: %w", d.holdsNoRun())
	}
	d, err := openRunDir(path)
	switch {
	case errors.Is(err, errInUse):
		return nil, fmt.Errorf("-resume: %w; wait until that ends", err)
	case err != nil:
		return nil, fmt.Errorf("-resume: %w; see that files can be written there, or resume a copy of it", err)
	}
	return d, nil
}

func (s *session) close() {
	s.bar.close()
	if s.trainer != nil {
		s.trainer.Close()
	}
	if s.dev != nil {
		s.dev.Close()
	}
	if s.dir != nil {
		s.dir.close()
	}
}

// run trains, tests and reports. Interrupted, it saves the state first.
func (s *session) run(ctx context.Context) error {
	ctx, s.cancel = context.WithCancel(ctx)
	defer s.cancel()
	if !s.dir.has(stateFile) { // before there are weights: they are never without a state
		if err := s.trainer.SaveState(s.dir.file(stateFile)); err != nil {
			return s.cannotWrite(err)
		}
	}
	total, done := s.trainer.Steps()
	s.log.Info("training", "preset", s.cfg.Preset, "set", describe(s.set), "images", s.set.Train.Len(),
		"parameters", s.net.Parameters().Count(), "steps", total, "done", done,
		"device", s.dev.Name(), "level", asm.Active().String(), "threads", s.o.threads, "directory", s.dir.path)
	run, err := s.trainer.Run(ctx)
	s.bar.close()
	switch {
	case s.saving != nil:
		return s.saving
	case errors.Is(err, context.Canceled):
		return s.interrupted(err)
	case err != nil:
		return fmt.Errorf("%s: %w", s.dir.path, err)
	}
	if err := s.finish(ctx, run); errors.Is(err, context.Canceled) {
		return s.interrupted(err)
	} else {
		return err
	}
}

// interrupted saves the state of a run that is to end early. After the last
// epoch it is saved already, and the network may hold other weights by now.
func (s *session) interrupted(cause error) error {
	total, done := s.trainer.Steps()
	if len(s.trainer.Epochs()) < s.cfg.Train.Epochs {
		if err := s.trainer.SaveState(s.dir.file(stateFile)); err != nil {
			return s.cannotWrite(err)
		}
	}
	return interruptedError{cause, fmt.Sprintf("interrupted and saved after step %d of %d; go on with -resume %s", done, total, s.dir.path)}
}

// interruptedError is a run that the user ended early.
type interruptedError struct {
	error
	advice string
}

func (e interruptedError) Unwrap() error { return e.error }

// cannotWrite reports a file that could not be written, and what to do.
func (s *session) cannotWrite(err error) error {
	var diverged *model.ValueError
	if errors.As(err, &diverged) {
		return fmt.Errorf("%w; a smaller learning rate or train.clip_norm may help", err)
	}
	return fmt.Errorf("%w; make room or check the directory, then go on with -resume %s", err, s.dir.path)
}

// onStep shows progress and saves the state now and then.
func (s *session) onStep(p model.Progress) {
	s.bar.step(p)
	if p.Step%s.cfg.Train.SaveEvery == 0 {
		s.save(s.trainer.SaveState(s.dir.file(stateFile)))
	}
}

// onEpoch saves weights, metrics and state. The state comes last: it says that
// the rest is there.
func (s *session) onEpoch(m model.EpochMetrics) {
	s.bar.pause()
	s.log.Info("epoch", "number", m.Epoch, "train_loss", round(m.TrainLoss), "train_accuracy", round(m.TrainAccuracy),
		"validation_accuracy", round(m.ValidationAccuracy), "std", round(m.ValidationStd), "learned", fmt.Sprintf("%.2f", m.Learned), "best", m.Best)
	s.save(s.saveEpoch(m.Best))
}

// saveEpoch is onEpoch up to the first file that cannot be written: a state that follows would say that it was.
func (s *session) saveEpoch(best bool) error {
	if err := s.net.Save(s.dir.file(lastFile)); err != nil {
		return err
	}
	if best {
		if err := s.net.Save(s.dir.file(bestFile)); err != nil {
			return err
		}
	}
	if err := s.dir.writeMetrics(s.trainer.Epochs()); err != nil {
		return err
	}
	return s.trainer.SaveState(s.dir.file(stateFile))
}

// save ends the run at the first file that cannot be written: going on would
// lose what it computes.
func (s *session) save(err error) {
	if err != nil && s.saving == nil {
		s.saving = s.cannotWrite(err)
		s.cancel()
	}
}

// finish writes the result and the report of a completed run and prints what
// came out.
func (s *session) finish(ctx context.Context, run *model.Run) error {
	// The network holds the best weights now. They stand there already, unless
	// a resumed run found the file damaged or gone.
	if err := s.net.Save(s.dir.file(bestFile)); err != nil {
		return s.cannotWrite(err)
	}
	r := newResult(s.cfg, s.set, s.net, run, s.o.threads, s.dev.Name(), s.trainer.Levels())
	figures, err := measure(ctx, s.net, s.set, s.cfg, s.o.threads, reportDepth(s.set))
	if err != nil {
		return err
	}
	figures.confusion, figures.begin = run.Confusion, s.begin
	r.add(figures)
	if err := inTurn(
		func() error { return writeRotation(s.dir.file(rotationFile), &r, figures) },
		func() error { return writeReport(s.dir.file(reportFile), s.cfg, &r, run.Epochs, figures) },
		func() error { return s.dir.writeJSON(resultFile, &r) }, // last: who finds it finds the rest
	); err != nil {
		return s.cannotWrite(err)
	}
	if err := printResult(s.stdout, &r, s.dir); err != nil {
		return fmt.Errorf("the run is complete, but its result could not be printed: %w; it stands in %s", err, s.dir.file(resultFile))
	}
	return nil
}

func printResult(w io.Writer, r *result, dir *runDir) error {
	out := accuracyLine(r.TestAccuracy, r.TestAccuracyStd, r.EvalDraws, r.Synthetic)
	if r.Partial {
		out += fmt.Sprintf("learned subsets  %.2f\n", r.Learned)
	}
	if r.WholeGroupAccuracy != nil {
		out += fmt.Sprintf("with every subset reset to the whole group  %.4f\n", *r.WholeGroupAccuracy)
	}
	out += fmt.Sprintf("run directory  %s\nreport  %s\n", dir.path, dir.file(reportFile))
	_, err := io.WriteString(w, out)
	return err
}

// accuracyLine is what a run and eval print about the test images.
func accuracyLine(accuracy, std float64, draws int, synthetic bool) string {
	kind := ""
	if synthetic {
		kind = " (synthetic data)"
	}
	return fmt.Sprintf("test accuracy  %.4f ± %.4f over %s%s\n", accuracy, std, count(draws, "draw"), kind)
}

// count writes a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// describe names a data set, and says so when it is synthetic.
func describe(set *data.Dataset) string {
	if set.Synthetic {
		return set.Name + " (synthetic)"
	}
	return set.Name
}

func round(v float64) string { return fmt.Sprintf("%.4f", v) }
