package main

import (
	"bufio"
	"cmp"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/data"
	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
)

// result is result.json. Its keys are stable; docs/command-line.md documents
// them with their units.
type result struct {
	Preset             string    `json:"preset"`
	Dataset            string    `json:"dataset"`
	Synthetic          bool      `json:"synthetic"`
	Group              string    `json:"group"`
	Elements           int       `json:"elements"`
	Partial            bool      `json:"partial"`
	Kernel             string    `json:"kernel"`
	Seed               uint64    `json:"seed"`
	Epochs             int       `json:"epochs"`
	Steps              int       `json:"steps"`
	Parameters         int       `json:"parameters"`
	TestAccuracy       float64   `json:"test_accuracy"`
	TestAccuracyStd    float64   `json:"test_accuracy_std"`
	EvalDraws          int       `json:"eval_draws"`
	WholeGroupAccuracy *float64  `json:"whole_group_accuracy,omitempty"` // every learned subset reset to the whole group
	Crossings          []float64 `json:"crossings_degrees"`              // rotations where the mean probability of the first class crosses 1/2
	BestEpoch          int       `json:"best_epoch"`
	ValidationAccuracy float64   `json:"validation_accuracy"` // of the best epoch
	SecondsPerStep     float64   `json:"seconds_per_step"`
	ImagesPerSecond    float64   `json:"images_per_second"`
	PeakRSSBytes       int64     `json:"peak_rss_bytes"`
	Threads            int       `json:"threads"`
	Level              string    `json:"level"`
	Device             string    `json:"device"`
	Learned            []float64 `json:"learned"` // subset size of each group convolution
	Version            string    `json:"version"`

	Subsets               [][]gumbel.Learned  `json:"subsets,omitempty"`                  // of each group convolution, axis by axis of the group
	Equivariance          []equivarianceEntry `json:"equivariance"`                       // behind the pooling over plane and group
	Confusion             [][]int             `json:"confusion,omitempty"`                // of the test images, over all draws
	SecondsPerPass        float64             `json:"seconds_per_pass,omitempty"`         // of a batch, on the learned subsets
	WholeGroupPassSeconds float64             `json:"whole_group_pass_seconds,omitempty"` // the same on the whole group
	PassRatios            []float64           `json:"pass_ratio_quartiles,omitempty"`     // of the ratios of the two, turn by turn: the first and the third
	PassTurns             int                 `json:"pass_turns,omitempty"`               // behind those
	StepBytes             int64               `json:"step_bytes,omitempty"`               // of a training step, planned for the learned subsets
	WholeGroupStepBytes   int64               `json:"whole_group_step_bytes,omitempty"`   // the same for the whole group
}

// equivarianceEntry is how equivariant the network is to one transformation.
type equivarianceEntry struct {
	Degrees float64 `json:"degrees"` // of the rotation, counter-clockwise
	Flip    bool    `json:"flip"`    // from left to right, before it
	Scale   float64 `json:"scale"`   // the factor that images are scaled by
	InGroup bool    `json:"in_group"`
	model.Parts
	Changed float64            `json:"changed"` // fraction of images that change their class
	Layers  []model.LayerParts `json:"layers,omitempty"`
}

func equivarianceEntries(list []model.Equivariance, layers bool) []equivarianceEntry {
	entries := []equivarianceEntry{}
	for _, e := range list {
		entry := equivarianceEntry{Degrees: e.Angle * 180 / math.Pi, Flip: e.Flip, Scale: cmp.Or(e.Scale, 1), InGroup: e.Element, Parts: e.Pooled, Changed: e.Changed}
		if layers {
			entry.Layers = e.Layers
		}
		entries = append(entries, entry)
	}
	return entries
}

// mostListed is the largest number of classes whose confusion is listed.
const mostListed = 20

// add adds what the figures show.
func (r *result) add(f *figures) {
	r.WholeGroupAccuracy, r.Crossings = f.wholeGroup, f.crossings
	r.Equivariance = equivarianceEntries(f.equivariance, false)
	r.SecondsPerPass, r.WholeGroupPassSeconds = f.pass, f.wholePass
	r.PassRatios, r.PassTurns = f.ratios, f.turns
	r.StepBytes, r.WholeGroupStepBytes = f.memory.Learned, f.memory.Whole
	if r.Partial {
		r.Subsets = f.subsets
	}
	if len(f.confusion) <= mostListed {
		r.Confusion = f.confusion
	}
}

func newResult(c *config.Config, set *data.Dataset, net *model.Network, run *model.Run, threads int, device string, levels []string) result {
	r := result{
		Preset: c.Preset, Dataset: set.Name, Synthetic: set.Synthetic,
		Group: c.Group.Name, Elements: c.Group.Elements, Partial: c.Learns(), Kernel: c.Kernel.Type,
		Seed: c.Seed, Epochs: len(run.Epochs), Steps: run.Steps, Parameters: net.Parameters().Count(),
		TestAccuracy: run.Test.Accuracy, TestAccuracyStd: run.Test.Std, EvalDraws: run.Test.Draws,
		SecondsPerStep: run.Seconds / float64(run.Steps), ImagesPerSecond: float64(run.Steps*c.Train.Batch) / run.Seconds,
		PeakRSSBytes: peakRSS(), Threads: threads, Level: cmp.Or(strings.Join(levels, ","), asm.Active().String()), Device: device,
		Learned: net.Subsets(), Version: version(),
	}
	for _, m := range run.Epochs {
		if m.Best {
			r.BestEpoch, r.ValidationAccuracy = m.Epoch, m.ValidationAccuracy
		}
	}
	return r
}

// peakRSS returns the largest resident set of this process so far in bytes, or,
// where the system does not say, the memory the Go runtime has from it.
func peakRSS() int64 {
	if f, err := os.Open("/proc/self/status"); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if kb, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
				if n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(kb, " kB")), 10, 64); err == nil {
					return n << 10
				}
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
