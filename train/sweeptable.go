package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/internal/config"
)

// Files of the directory of a sweep, besides the directories of its runs.
const (
	tableFile     = "table.json"
	tableTextFile = "table.md"
)

// table is table.json. Its keys are documented in docs/command-line.md.
type table struct {
	Seeds []uint64   `json:"seeds"`
	Rows  []tableRow `json:"rows"`
}

// tableRow is what the runs of one preset came to.
type tableRow struct {
	Preset      string        `json:"preset"`
	Changed     []string      `json:"changed"` // settings that are not the preset's, as -set takes them
	Dataset     string        `json:"dataset"`
	Synthetic   bool          `json:"synthetic"`
	Runs        int           `json:"runs"` // complete
	Accuracies  []seedResult  `json:"test_accuracies"`
	Accuracy    *float64      `json:"test_accuracy,omitempty"`     // mean over the runs; of one or more, as those below
	AccuracyStd *float64      `json:"test_accuracy_std,omitempty"` // between the runs; of two or more
	DrawsStd    *float64      `json:"draws_std,omitempty"`         // mean
	Seconds     *float64      `json:"seconds,omitempty"`           // mean
	Paper       *config.Paper `json:"paper,omitempty"`             // only where nothing was changed

	accuracy, drawsStd, seconds float64 // sums over the runs
}

// seedResult is the accuracy of one completed run.
type seedResult struct {
	Seed     uint64  `json:"seed"`
	Accuracy float64 `json:"accuracy"`
}

// newTable gathers the completed runs, preset by preset.
func newTable(runs []*plannedRun, seeds []uint64) *table {
	t := &table{Seeds: seeds, Rows: []tableRow{}}
	rows := map[string]int{}
	for _, r := range runs {
		i, ok := rows[r.cfg.Preset]
		if !ok {
			i = len(t.Rows)
			rows[r.cfg.Preset] = i
			t.Rows = append(t.Rows, newRow(r.cfg))
		}
		if r.result != nil {
			t.Rows[i].add(r.result)
		}
	}
	for i := range t.Rows {
		t.Rows[i].finish()
	}
	return t
}

// newRow returns the row of a configuration, without a run.
func newRow(c *config.Config) tableRow {
	row := tableRow{Preset: c.Preset, Changed: []string{}, Accuracies: []seedResult{}}
	if preset, err := config.Lookup(c.Preset); err == nil { // else nothing says what was changed
		row.Changed = c.Changes(&preset, incidental...)
	}
	if len(row.Changed) == 0 {
		row.Paper = paperOf(c.Preset)
	}
	return row
}

// incidental are the keys whose values make a run no other training than its preset's.
var incidental = []string{"preset", "seed", "train.eval_draws", "train.save_every"}

// add takes in a completed run.
func (row *tableRow) add(r *result) {
	row.Dataset, row.Synthetic = r.Dataset, r.Synthetic
	row.Runs++
	row.Accuracies = append(row.Accuracies, seedResult{r.Seed, r.TestAccuracy})
	row.accuracy += r.TestAccuracy
	row.drawsStd += r.TestAccuracyStd
	row.seconds += r.SecondsPerStep * float64(r.Steps)
}

// finish makes means of the sums.
func (row *tableRow) finish() {
	if row.Runs == 0 {
		return
	}
	n := float64(row.Runs)
	accuracy, drawsStd, seconds := row.accuracy/n, row.drawsStd/n, row.seconds/n
	row.Accuracy, row.DrawsStd, row.Seconds = &accuracy, &drawsStd, &seconds
	if row.Runs > 1 {
		sum := 0.
		for _, a := range row.Accuracies {
			sum += (a.Accuracy - accuracy) * (a.Accuracy - accuracy)
		}
		std := math.Sqrt(sum / (n - 1))
		row.AccuracyStd = &std
	}
}

// paperOf returns the row of the paper that a preset stands for, or nil.
func paperOf(preset string) *config.Paper {
	for _, p := range config.Presets() {
		if row, ok := p.Paper(); ok && p.Name == preset {
			return &row
		}
	}
	return nil
}

var tableHead = []string{"preset", "data", "runs", "test accuracy", "± runs", "± draws", "training time", "paper", "changed"}

// cells returns the row as texts, in the order of tableHead.
func (row *tableRow) cells(seeds int) []string {
	runs := fmt.Sprint(row.Runs)
	if row.Runs < seeds {
		runs = fmt.Sprintf("%d of %d", row.Runs, seeds)
	}
	c := []string{row.Preset, cmp.Or(row.Dataset, "-"), runs, "-", "-", "-", "-", "-", cmp.Or(strings.Join(row.Changed, ", "), "-")}
	if row.Synthetic {
		c[1] += " (synthetic)"
	}
	if row.Runs > 0 {
		c[3], c[5] = round(*row.Accuracy), round(*row.DrawsStd)
		c[6] = time.Duration(*row.Seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
	}
	if row.AccuracyStd != nil {
		c[4] = round(*row.AccuracyStd)
	}
	if row.Paper != nil {
		c[7] = row.Paper.String()
	}
	return c
}

// print writes the table for people.
func (t *table) print(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, strings.Join(tableHead, "\t")) // errors come with Flush
	for _, row := range t.Rows {
		fmt.Fprintln(out, strings.Join(row.cells(len(t.Seeds)), "\t"))
	}
	return out.Flush()
}

// writeMarkdown writes the table as Markdown.
func (t *table) writeMarkdown(path string) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		line := func(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
		text := line(tableHead) + strings.Repeat("|---", len(tableHead)) + "|\n"
		for _, row := range t.Rows {
			text += line(row.cells(len(t.Seeds)))
		}
		_, err := io.WriteString(w, text)
		return err
	})
}
