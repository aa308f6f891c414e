package bench

import (
	"fmt"
	"testing"

	"github.com/noether-go/noether/bench/cases"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
)

// noise is a data set of as many random images as a batch has, of the shape that
// the preset's have.
func noise(c *config.Config, batch int) *data.Dataset {
	im := c.Image()
	pixels := im.Channels * im.Side * im.Side
	split := data.Split{Images: make([]uint8, batch*pixels), Labels: make([]uint8, batch)}
	for i := range split.Images {
		split.Images[i] = uint8(uint32(i) * 2654435761 >> 13)
	}
	d := &data.Dataset{
		Name: "noise", Synthetic: true, Channels: im.Channels, Height: im.Side, Width: im.Side, Classes: im.Classes,
		ClassNames: make([]string, im.Classes), Train: split, Validation: split, Test: split,
	}
	for i := range split.Labels {
		split.Labels[i] = uint8(i % im.Classes)
	}
	for range im.Channels {
		d.Mean, d.Std = append(d.Mean, 0.5), append(d.Std, 0.3)
	}
	return d
}

// BenchmarkTrainStep measures the whole step: drawing elements, forward, loss,
// backward, optimiser. peak-MiB is the highest resident memory of the process,
// from before the network was built, and meet-ns what it takes the workers to meet.
func BenchmarkTrainStep(b *testing.B) {
	for _, s := range append(cases.Steps, cases.Partial()...) {
		for _, threads := range threadCounts {
			run(b, s.TrainBench(threads), func(b *testing.B) { benchmarkTrainStep(b, s, threads) })
		}
	}
}

func benchmarkTrainStep(b *testing.B, s cases.Step, threads int) {
	c, err := config.Lookup(s.Preset)
	if err != nil {
		b.Fatal(err)
	}
	resident := resetPeak(b)
	net, err := c.NewNetwork()
	if err != nil {
		b.Fatal(err)
	}
	cfg := c.Training()
	cfg.Batch, cfg.Threads, cfg.StepsPerEpoch = s.Batch, threads, 1e6 // more than are taken
	cfg.Penalties = model.Penalties{}                                 // the rivals add none to the loss
	cfg.Optimizer.SubsetLR, cfg.Optimizer.KeepLR = 1e-30, 1e-30       // the subsets stay as large as they are: what is measured must not drift
	trainer, err := model.NewTrainer(net, noise(&c, s.Batch), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer trainer.Close()
	if s.Theta != 0 {
		net.SetSubsets(s.Theta)
	}
	step := func() {
		if _, err := trainer.Step(); err != nil {
			b.Fatal(err)
		}
	}
	step()
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(s.Batch)*float64(b.N)/b.Elapsed().Seconds(), "images/s")
	resident.report(b)
	if threads > 1 {
		b.ReportMetric(meetNs(b, threads), "meet-ns")
	}
}

// BenchmarkInfer predicts with a frozen network, whose kernels are rendered.
func BenchmarkInfer(b *testing.B) {
	for _, s := range cases.Inferences {
		for _, threads := range threadCounts {
			run(b, s.InferBench(threads), func(b *testing.B) { benchmarkInfer(b, s, threads) })
		}
	}
}

// BenchmarkKeptSpectra predicts with spectra that are made anew for each batch, and with
// kept ones.
func BenchmarkKeptSpectra(b *testing.B) {
	for _, preset := range []string{"rotmnist-se2-8-partial", "mnist6-180-se2-8-partial"} {
		for _, batch := range []int{16, 64} {
			for _, keep := range []bool{false, true} {
				s := cases.Step{Preset: preset, Batch: batch}
				b.Run(fmt.Sprintf("preset=%s/batch=%d/keep=%v", preset, batch, keep), func(b *testing.B) {
					benchmarkFrozen(b, s, model.FreezeConfig{Batch: batch, Threads: 2, KeepSpectra: keep})
				})
			}
		}
	}
}

func benchmarkInfer(b *testing.B, s cases.Step, threads int) {
	benchmarkFrozen(b, s, model.FreezeConfig{Batch: s.Batch, Threads: threads})
}

func benchmarkFrozen(b *testing.B, s cases.Step, cfg model.FreezeConfig) {
	c, err := config.Lookup(s.Preset)
	if err != nil {
		b.Fatal(err)
	}
	net, err := c.NewNetwork()
	if err != nil {
		b.Fatal(err)
	}
	frozen, err := net.Freeze(cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer frozen.Close()
	im := c.Image()
	images := values(s.Batch * im.Channels * im.Side * im.Side)
	predict := func() {
		if _, err := frozen.Predict(images); err != nil {
			b.Fatal(err)
		}
	}
	predict()
	for b.Loop() {
		predict()
	}
	b.ReportMetric(float64(s.Batch)*float64(b.N)/b.Elapsed().Seconds(), "images/s")
}
