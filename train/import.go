package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
)

var importCommand = subcommand{
	name:     "import",
	operands: "FILE",
	summary:  "Makes a run of a PyTorch state dictionary",
	about: `FILE holds the state dictionary of a network of the published program, in the
safetensors format. What network it is, -preset, -config and -set say, as they do in
training. The run that comes out has weights and a configuration, so that eval and
export take it.`,
	declare: declareImport,
}

func declareImport(f *flag.FlagSet) func(ctx context.Context, c *console, operands []string) error {
	o := &options{}
	o.declareConfiguration(f)
	f.StringVar(&o.out, "out", "", "`directory` for the run (default runs/PRESET-TIME)")
	return func(ctx context.Context, c *console, operands []string) error {
		cfg, err := o.configuration()
		if err != nil {
			return err
		}
		return importStateDict(ctx, c, cfg, operands[0], o.out)
	}
}

// importStateDict writes the run of a state dictionary.
func importStateDict(ctx context.Context, c *console, cfg *config.Config, from, out string) error {
	net, err := cfg.NewNetwork()
	if err != nil {
		return err
	}
	if err := net.LoadStateDict(from); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := newRunDir(out, cfg)
	if err != nil {
		return err
	}
	defer dir.close()
	if err := saveWeights(net, dir); err != nil {
		for _, name := range []string{bestFile, lastFile, configFile, lockFile} {
			os.Remove(dir.file(name))
		}
		dir.made.remove()
		return fmt.Errorf("-out: %w; make room or give another directory", err)
	}
	_, err = fmt.Fprintf(c.stdout, "parameters  %d\nrun directory  %s\n", net.Parameters().Count(), dir.path)
	return err
}

func saveWeights(net *model.Network, dir *runDir) error {
	if err := net.Save(dir.file(bestFile)); err != nil {
		return err
	}
	return net.Save(dir.file(lastFile))
}
