package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/config"
)

// publishedOptions are the options of the published program, as docs/options.md lists
// them.
var publishedOptions = []string{
	"net.type", "net.no_hidden", "net.no_blocks", "net.dropout", "net.norm", "net.bottleneck_factor_skip_connection",
	"net.block_width_factors", "net.pool_blocks", "net.dropout_blocks", "net.last_conv_T2", "net.learnable_final_pooling",
	"net.final_spatial_dim",
	"conv.padding", "conv.partial_equiv", "conv.bias",
	"kernel.type", "kernel.no_hidden", "kernel.no_layers", "kernel.size", "kernel.omega0", "kernel.learn_omega0",
	"kernel.weight_norm", "kernel.norm", "kernel.activation",
	"base_group.name", "base_group.no_samples", "base_group.sample_per_batch_element", "base_group.sample_per_layer",
	"base_group.sampling_method", "base_group.gumbel_init_temp", "base_group.gumbel_end_temp",
	"train.do", "train.batch_size", "train.epochs", "train.lr", "train.lr_probs", "train.lr_omega0", "train.gradient_clip",
	"train.weight_decay", "train.optimizer", "train.optimizer_params.momentum", "train.optimizer_params.nesterov",
	"train.scheduler", "train.scheduler_params.decay_steps", "train.scheduler_params.decay_factor",
	"train.scheduler_params.patience", "train.scheduler_params.warmup_epochs", "train.warm_decay", "train.monotonic_decay_loss",
	"dataset", "dataset_params.rot_interval", "augment", "wandb.project", "device", "debug", "pretrained", "seed",
	"cuda_visible_devices", "comment", "no_workers",
}

// docs/options.md has every option of the published program and every key of the
// configuration, with the values of the preset that it names and tests that exist.
func TestOptionsAreDocumented(t *testing.T) {
	const preset = "rotmnist-se2-8-partial"
	cfg, err := config.Lookup(preset)
	if err != nil {
		t.Fatal(err)
	}
	text := string(read(t, "..", "docs", "options.md"))
	if !strings.Contains(text, "`"+preset+"`") {
		t.Errorf("the page does not say that its values are those of %s", preset)
	}
	_, help, _ := here("-help")
	tests, keys := testNames(t), config.Keys()
	for _, name := range quoted(text) {
		if regexp.MustCompile(`^\w+\.Test`).MatchString(name) && !tests[name] {
			t.Errorf("there is no test %s", name)
		}
	}
	var options, counterparts, others []string
	effect := map[string]bool{}
	for _, row := range tableRows(t, text) {
		name := row["option"] + row["key"]
		if !strings.Contains(row["tests"], ".Test") && row["Noether"] != "none" {
			t.Errorf("%s has no test", name)
		}
		var named []string
		switch {
		case row["option"] != "":
			options = append(options, quoted(row["option"])...)
			named = quoted(row["Noether"])
			if (len(named) == 0) != (row["Noether"] == "none") {
				t.Errorf("%s: its counterpart is %q", name, row["Noether"])
			}
		default:
			named = quoted(row["key"])
		}
		values, i := quoted(row["value"]), 0
		for _, key := range named {
			if flag, ok := strings.CutPrefix(key, "-"); ok {
				if !regexp.MustCompile(`(?m)^  -` + flag + `\b`).MatchString(help) {
					t.Errorf("%s: there is no flag %s", name, key)
				}
				continue
			}
			if !slices.Contains(keys, key) {
				t.Errorf("%s: there is no key %s", name, key)
				continue
			}
			if _, ok := row["has an effect"]; ok {
				effect[key] = true
				continue
			}
			if row["option"] != "" {
				counterparts = append(counterparts, key)
			} else {
				others = append(others, key)
			}
			if i >= len(values) || values[i] != cfg.Value(key) {
				t.Errorf("%s: the value of %s is %s in %s, the page says %q", name, key, cfg.Value(key), preset, values)
			}
			i++
		}
		if i != len(values) {
			t.Errorf("%s: %d values of %d keys", name, len(values), i)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(options)), slices.Sorted(slices.Values(publishedOptions))) {
		t.Errorf("options %q\nwant %q", options, publishedOptions)
	}
	for _, key := range keys {
		if !slices.Contains(counterparts, key) && !slices.Contains(others, key) {
			t.Errorf("%s stands in no table", key)
		}
	}
	for _, key := range config.IdleKeys() {
		if !effect[key] {
			t.Errorf("the page does not say when %s has an effect", key)
		}
		delete(effect, key)
	}
	for key := range effect {
		t.Errorf("%s always has an effect, and the page says when", key)
	}
}

// docs/quirks.md has the peculiarities D1 to D25 in order, with keys and presets of the
// configuration and tests that exist.
func TestQuirksAreDocumented(t *testing.T) {
	text := string(read(t, "..", "docs", "quirks.md"))
	tests, keys := testNames(t), config.Keys()
	last := 0
	for _, row := range tableRows(t, text) {
		name, tested := row[""], quoted(row["tests"])
		switch name {
		case fmt.Sprintf("D%d", last): // in several parts
		case fmt.Sprintf("D%d", last+1):
			last++
		default:
			t.Errorf("%s stands behind D%d", name, last)
		}
		nothing := strings.HasPrefix(row["brought back by"], "nothing")
		if len(tested) == 0 && !nothing {
			t.Errorf("%s has no test", name)
		}
		for _, test := range tested {
			if !tests[test] {
				t.Errorf("%s: there is no test %s", name, test)
			}
		}
		by := quoted(row["brought back by"])
		if len(by) == 0 != nothing {
			t.Errorf("%s is brought back by %q", name, row["brought back by"])
		}
		for _, key := range by {
			if key != "default" && !slices.Contains(keys, key) {
				t.Errorf("%s: there is no key %s", name, key)
			}
		}
	}
	if last != 25 {
		t.Errorf("the last one is D%d, want D25", last)
	}
	for _, name := range quoted(text) {
		key, _, _ := strings.Cut(name, "=")
		if regexp.MustCompile(`^[a-z]+\.[a-z]`).MatchString(key) && !slices.Contains(keys, key) {
			t.Errorf("there is no key %s", name)
		}
		if regexp.MustCompile(`^(mnist6|rotmnist|cifar|pcam)`).MatchString(name) {
			if _, err := config.Lookup(name); err != nil {
				t.Error(err)
			}
		}
	}
}

// tableRows returns the rows of all tables of a Markdown text, by the heads of their
// columns.
func tableRows(t *testing.T, text string) (rows []map[string]string) {
	t.Helper()
	var heads []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			heads = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(c)
		}
		switch {
		case heads == nil:
			heads = cells
		case len(cells) != len(heads):
			t.Errorf("%d cells below %d heads: %s", len(cells), len(heads), line)
		case !strings.HasPrefix(cells[0], "---"):
			row := map[string]string{}
			for i, c := range cells {
				row[heads[i]] = c
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// quoted returns what stands between backquotes.
func quoted(s string) (list []string) {
	for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(s, -1) {
		list = append(list, m[1])
	}
	return list
}

// testNames returns the tests of the module as package.TestName, the package by the
// last part of its path.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isTest(f) {
				names[filepath.Base(filepath.Dir(path))+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// isTest reports whether go test runs a function: TestX(*testing.T), not TestMain.
func isTest(f *ast.FuncDecl) bool {
	if f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || f.Type.Params.NumFields() != 1 {
		return false
	}
	pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	of, ok := pointer.X.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "T"
}
