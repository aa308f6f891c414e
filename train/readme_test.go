package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeFigures holds the accuracies and subsets in the README against the
// results of the runs they come from.
func TestReadmeFigures(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, preset := range []string{"strokes6-180-se2-8-partial", "strokes6-180-se2-8-full", "mnist6-180-se2-8-partial", "mnist6-180-se2-8-full"} {
		path := filepath.Join("..", "bench", "results", "runs", preset+"-seed-1", "result.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		figures := []string{fmt.Sprintf("| %.4f |", r.TestAccuracy)}
		if r.Partial {
			figures = append(figures,
				fmt.Sprintf("| %s |", strings.Trim(fmt.Sprintf("%.2f", r.Learned), "[]")),
				fmt.Sprintf("%.4f", *r.WholeGroupAccuracy))
		}
		for _, f := range figures {
			if !strings.Contains(string(readme), f) {
				t.Errorf("README.md does not show %q of %s", f, path)
			}
		}
	}
}
