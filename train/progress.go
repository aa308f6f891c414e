package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/noether-go/noether/model"
)

// progressBar shows the steps of a run, on a terminal only.
type progressBar struct {
	w    io.Writer // nil where no bar is wanted
	bar  *progressbar.ProgressBar
	loss float64 // running mean
}

func newProgressBar(w io.Writer, quiet bool) *progressBar {
	f, ok := w.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return &progressBar{}
	}
	return &progressBar{w: w}
}

func (b *progressBar) step(p model.Progress) {
	if b.w == nil {
		return
	}
	if b.bar == nil {
		b.loss = p.Loss
		b.bar = progressbar.NewOptions(p.Steps,
			progressbar.OptionSetWriter(b.w),
			progressbar.OptionEnableColorCodes(os.Getenv("NO_COLOR") == ""),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("steps"),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	b.loss += 0.1 * (p.Loss - b.loss)
	b.bar.Describe(fmt.Sprintf("epoch %d/%d  loss %.4f", p.Epoch, p.Epochs, b.loss))
	b.bar.Set(p.Step) // its error is that of a terminal that went away
}

// pause takes the bar off the screen so that a line of the log can be written;
// the next step shows it again.
func (b *progressBar) pause() {
	if b.bar != nil {
		b.bar.Clear()
	}
}

func (b *progressBar) close() {
	b.pause()
	b.w, b.bar = nil, nil
}
