package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/noether-go/noether/model"
)

func TestProgressBar(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var out bytes.Buffer
	b := &progressBar{w: &out}
	for i := 1; i <= 20; i++ {
		b.step(model.Progress{Epoch: 1 + i/11, Epochs: 2, Step: i, Steps: 20, Loss: 0.7})
	}
	b.pause()
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
