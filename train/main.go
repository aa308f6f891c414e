package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/internal/config"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options are the command line.
type options struct {
	preset, config string
	set            []string
	means
	out, resume string
	seed        uint64
	epochs      int
	compat      bool
	quiet, list bool
	given       map[string]bool // flags that were written
}

// run is the program: it returns the exit code. Results go to stdout, all else
// to stderr.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] != "" && !strings.HasPrefix(args[0], "-") {
		return report(runCommand(args, stdout, stderr), stderr)
	}
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil {
		err = dispatch(o, stdout, stderr)
	}
	return report(err, stderr)
}

// report prints an error as one line and returns the exit code.
func report(err error, stderr io.Writer) int {
	var (
		usage       usageError
		mistake     *config.Error
		interrupted interruptedError
	)
	switch {
	case err == nil:
		return exitOK
	case atomicfile.Abandoned(): // the second interrupt, which is about to end the program, took its files away
		fmt.Fprintln(stderr, "noether: interrupted")
		return exitInterrupted
	case errors.As(err, &interrupted):
		fmt.Fprintln(stderr, "noether: "+interrupted.advice)
		return exitInterrupted
	case errors.Is(err, context.Canceled): // before there was anything to save
		fmt.Fprintln(stderr, "noether: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(stderr, "noether: "+oneLine(err.Error()))
	if errors.As(err, &usage) || errors.As(err, &mistake) {
		return exitUsage
	}
	return exitFailure
}

// usageError is a mistake in the flags: exit code 2, as mistakes in the
// configuration are.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

const usageText = `Usage: go run ./train [flags]
       go run ./train COMMAND [flags] ...

Trains a network that learns its own symmetries. Without flags it trains a small
network on generated (synthetic) digits in a quarter of a minute on two cores.

`

// parse reads the flags. The help that was asked for goes to stdout.
func parse(args []string, stdout io.Writer) (*options, error) {
	o := &options{given: map[string]bool{}}
	f := flag.NewFlagSet("train", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	o.declareConfiguration(f)
	f.StringVar(&o.out, "out", "", "`directory` for the run (default runs/PRESET-TIME)")
	f.StringVar(&o.resume, "resume", "", "`directory` of a run to go on with; its configuration is used")
	o.means.declare(f)
	f.Uint64Var(&o.seed, "seed", 0, "seed of weights, data order and drawn elements (default the preset's)")
	f.BoolVar(&o.compat, "compat", false, "the published program's sampler and gradients: short for -set conv.compat=true")
	f.IntVar(&o.epochs, "epochs", 0, "epochs (default the preset's)")
	f.BoolVar(&o.quiet, "quiet", false, "no progress bar, only warnings in the log")
	f.BoolVar(&o.list, "list", false, "show the presets")
	err := f.Parse(args)
	f.Visit(func(g *flag.Flag) { o.given[g.Name] = true })
	switch {
	case errors.Is(err, flag.ErrHelp):
		if _, failed := io.WriteString(stdout, help(f)); failed != nil {
			return nil, failed
		}
		return nil, err
	case err != nil:
		return nil, usageError{fmt.Errorf("%s; -help shows the flags", explainFlag(err, f))}
	case f.NArg() > 0:
		return nil, usageError{fmt.Errorf("unexpected argument %q; -help shows the flags", f.Arg(0))}
	}
	if err := checkGiven(f); err != nil {
		return nil, err
	}
	return o, o.check()
}

// help is the help of the program, whose flags of training are f. It is collected first
// because package flag drops the errors of writing.
func help(f *flag.FlagSet) string {
	var text strings.Builder
	text.WriteString(usageText)
	listCommands(&text)
	text.WriteString("Flags of training:\n\n")
	f.SetOutput(&text)
	f.PrintDefaults()
	return text.String()
}

// declareConfiguration declares the flags that say what network is trained, and how.
func (o *options) declareConfiguration(f *flag.FlagSet) {
	f.StringVar(&o.preset, "preset", "", "named configuration; -list shows them (default "+config.Default+")")
	f.StringVar(&o.config, "config", "", "TOML `file` whose values replace the preset's")
	f.Func("set", "`key=value` that replaces a value of the configuration, such as conv.partial=false; repeatable", func(s string) error {
		o.set = append(o.set, s)
		return nil
	})
}

// explainFlag adds the nearest flag to the error about an unknown one.
func explainFlag(err error, f *flag.FlagSet) string {
	const prefix = "flag provided but not defined: -"
	name, ok := strings.CutPrefix(err.Error(), prefix)
	if !ok {
		return err.Error()
	}
	var names []string
	f.VisitAll(func(g *flag.Flag) { names = append(names, g.Name) })
	return fmt.Sprintf("unknown flag -%s; did you mean -%s?", name, config.Nearest(name, names))
}

func (o *options) check() error {
	if err := o.means.check(); err != nil {
		return err
	}
	if o.given["epochs"] && o.epochs < 1 {
		return usageError{fmt.Errorf("-epochs is %d; allowed: 1 or more", o.epochs)}
	}
	if o.resume != "" {
		for _, name := range []string{"preset", "config", "set", "out", "seed", "epochs", "compat"} {
			if o.given[name] {
				return usageError{fmt.Errorf("-%s cannot be given with -resume, which goes on with the configuration of %s", name, o.resume)}
			}
		}
	}
	return checkLevel()
}

// checkLevel reports a level of the kernels that this machine does not have.
func checkLevel() error {
	if asm.EnvError() != nil {
		return usageError{fmt.Errorf("%s is %q; allowed on this machine: %s", asm.EnvVariable, os.Getenv(asm.EnvVariable), levelNames())}
	}
	return nil
}

func levelNames() string {
	var names []string
	for _, l := range asm.Available() {
		names = append(names, l.String())
	}
	return strings.Join(names, ", ")
}

// configuration returns the configuration that the flags describe. What was changed in
// it makes a difference.
func (o *options) configuration() (*config.Config, error) {
	c, err := o.read()
	if err != nil {
		return nil, err
	}
	for _, idle := range c.Idle() {
		return nil, idle.Err
	}
	return c, nil
}

// read is configuration for values of which some may be meant for other runs.
func (o *options) read() (*config.Config, error) {
	name := o.preset
	if name == "" {
		name = config.Default
	}
	c, err := config.Lookup(name)
	if err != nil {
		return nil, err
	}
	if o.config != "" {
		if err := c.MergeFile(o.config); err != nil {
			return nil, err
		}
		if preset, _ := config.Lookup(name); o.preset != "" && c.Preset != preset.Preset {
			return nil, usageError{fmt.Errorf("-preset %s and -config %s name different presets (the file: %s); leave one out", o.preset, o.config, c.Preset)}
		}
	}
	for _, s := range o.set {
		if err := c.Set(s); err != nil {
			return nil, err
		}
	}
	if o.given["seed"] {
		c.Seed = o.seed
	}
	if o.given["compat"] {
		c.Conv.Compat = o.compat
	}
	if o.given["epochs"] {
		c.Train.Epochs = o.epochs
	}
	return &c, c.Check()
}

func dispatch(o *options, stdout, stderr io.Writer) error {
	if o.list {
		return listPresets(stdout)
	}
	log := newLog(stderr, o.quiet)
	ctx, stop := interruptible(log, "finishing the step and saving; interrupt again to leave at once")
	defer stop()
	ctx, leave := withSweep(ctx, log)
	defer leave()
	s, err := newSession(ctx, o, stdout, stderr, log)
	if err != nil {
		return err
	}
	defer s.close()
	return s.run(ctx)
}

func newLog(stderr io.Writer, quiet bool) *slog.Logger {
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
}

func listPresets(stdout io.Writer) error {
	for _, p := range config.Presets() {
		name := p.Name
		if p.Short != "" {
			name += " (" + p.Short + ")"
		}
		about := p.About
		if row, ok := p.Paper(); ok {
			about += " [paper: " + row.String() + "]"
		}
		if _, err := fmt.Fprintf(stdout, "%-48s %s\n", name, about); err != nil {
			return err
		}
	}
	return nil
}
