package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/noether-go/noether/model"
)

func TestProgressBar(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var out bytes.Buffer
	b := &progressBar{w: &out}
	loss := 0.7 // running mean of 0.7 and zeros
	for i := 1; i <= 20; i++ {
		p := model.Progress{Epoch: 1 + i/11, Epochs: 2, Step: i, Steps: 20}
		if i == 1 {
			p.Loss = loss
		} else {
			loss *= 0.9
		}
		b.step(p)
		if at := b.bar.State().CurrentNum; at != int64(i) || !(math.Abs(b.loss-loss) <= 1e-12) {
			t.Errorf("after step %d the bar is at %d, with the loss %v, want %v", i, at, b.loss, loss)
		}
		if i == 10 {
			shown := out.Len()
			b.pause()
			if cleared := out.String()[shown:]; len(cleared) < 10 || strings.Trim(cleared, "\r ") != "" {
				t.Errorf("a pause writes %q over the bar", cleared)
			}
		}
	}
	b.close()
	b.step(model.Progress{Epoch: 2, Epochs: 2, Step: 20, Steps: 20}) // closed: nothing
	text := out.String()
	if !strings.Contains(text, "epoch 1/2  loss 0.7000") {
		t.Errorf("the bar shows %q", text)
	}
	if strings.Contains(text, "\x1b[3") || strings.Contains(text, "\x1b[0m") {
		t.Errorf("colours in spite of NO_COLOR: %q", text)
	}
	if strings.Contains(text, "\n") {
		t.Errorf("the bar takes more than its line: %q", text)
	}
}

// What is no terminal gets no bar, and neither does -quiet.
func TestNoProgressBar(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, b := range []*progressBar{newProgressBar(f, false), newProgressBar(new(bytes.Buffer), false), newProgressBar(os.Stderr, true)} {
		b.step(model.Progress{Epoch: 1, Epochs: 1, Step: 1, Steps: 2})
		if b.w != nil || b.bar != nil {
			t.Error("a bar is shown")
		}
	}
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Error("something was written", err)
	}
}
