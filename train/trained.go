package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
	"github.com/noether-go/noether/tensor"
)

// trained is the network of a run, planned for inference, with the data of the run.
type trained struct {
	cfg *config.Config
	net *model.Network
	set *data.Dataset
	dev tensor.Device
}

// openTrained opens the network of a run with the weights "best" or "last", and its
// data. Close it when done.
func openTrained(ctx context.Context, c *console, m *means, path, weights string) (*trained, error) {
	cfg, net, err := loadRun(path, weights)
	if err != nil {
		return nil, err
	}
	t := &trained{cfg: cfg, net: net}
	if t.dev, err = openDevice(m); err != nil {
		return nil, err
	}
	if t.set, err = openData(ctx, cfg, m, c.log); err != nil {
		t.close()
		return nil, err
	}
	if err := net.Bind(t.dev, cfg.Train.Batch, true); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *trained) close() {
	t.net.Release()
	t.dev.Close()
}

// weightsFiles are the files of a run that -weights names.
var weightsFiles = map[string]string{"best": bestFile, "last": lastFile}

// ofWeights makes an error about what a network computes one about the file that its
// weights are from. Other errors, and nil, it returns as they are.
func ofWeights(path, weights string, err error) error {
	var e *model.LossError
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %w; take other weights, or train anew", filepath.Join(path, weightsFiles[weights]), err)
	}
	return err
}

// loadRun reads the configuration and the network of a run, with the weights "best"
// or "last". It takes no lock and changes nothing: files of a run are replaced as
// a whole.
func loadRun(path, weights string) (*config.Config, *model.Network, error) {
	file, ok := weightsFiles[weights]
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
	if err != nil {
		return nil, nil, err
	}
	configured, err := cfg.NewNetwork()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.file(configFile), err)
	}
	if what := net.Differs(configured); what != "" {
		return nil, nil, fmt.Errorf("%s is not of the network of %s: %s; the files belong to different runs", d.file(file), configFile, what)
	}
	return cfg, net, nil
}
