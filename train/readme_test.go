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
	paths, err := filepath.Glob("../bench/results/*/result.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no results: %v", err)
	}
	for _, path := range paths {
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
