package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestBadCommands(t *testing.T) {
	for args, want := range map[string]string{
		"evil":                       `unknown command "evil"|"eval"`,
		"evil RUN -draws 3":          `unknown command "evil"`,
		"mnist6-180":                 `unknown command "mnist6-180"|-preset mnist6-180`,
		"eval":                       "eval: RUN is missing|go run ./train eval [flags] RUN",
		"eval a b":                   `eval: unexpected argument "b"`,
		"eval -- -draws":             "-draws holds no run",
		"eval a -draw 3":             "eval: unknown flag -draw|-draws",
		"eval -draws three a":        `invalid value "three" for flag -draws`,
		"eval /nothing":              "/nothing holds no run|config.toml",
		"eval commands_test.go":      "commands_test.go holds no run",
		"eval /nothing -draws 0":     "-draws is 0|1 to 10000",
		"eval /nothing -threads 0":   "-threads is 0",
		"eval /nothing -weights all": `-weights is "all"|best, last`,
		"eval EMPTY":                 "eval: RUN is empty|variable",
		"export /nothing EMPTY":      "export: FILE is empty",
		"sweep strokes6-180 EMPTY":   "sweep: PRESET is empty",
		"eval -data EMPTY /nothing":  "-data is empty|leave it out",
		"import -preset= FILE":       "-preset is empty",
		"sweep -slurm= strokes6-180": "-slurm is empty",
	} {
		t.Run(args, func(t *testing.T) {
			words := strings.Fields(args)
			for i, word := range words {
				words[i] = strings.TrimSuffix(word, "EMPTY")
			}
			code, stdout, stderr := here(words...)
			refused(t, exitUsage, code, stdout, stderr, strings.Split(want, "|")...)
		})
	}
}

// fullAfter is a file on a disk that holds so many bytes.
func fullAfter(room int) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		if room -= len(b); room < 0 {
			return brokenWriter{}.Write(b)
		}
		return len(b), nil
	})
}

// Every command is in the help and in the documentation, with each of its flags.
func TestHelpOfCommands(t *testing.T) {
	_, all, _ := here("-help")
	doc := string(read(t, "..", "docs", "command-line.md"))
	for _, c := range commands() {
		code, stdout, stderr := here(c.name, "-help")
		if code != exitOK || stderr != "" {
			t.Errorf("%s: exit code %d, stderr %q", c.name, code, stderr)
		}
		if !strings.HasPrefix(stdout, "Usage: "+c.usage()+"\n\n"+c.summary+".\n\n"+c.about+"\n\n  -") {
			t.Errorf("%s: its help is %q", c.name, stdout)
		}
		for _, room := range []int{0, len(c.summary), 300, len(stdout) - 1} {
			var stderr bytes.Buffer
			code := run([]string{c.name, "-help"}, fullAfter(room), &stderr)
			refused(t, exitFailure, code, "", stderr.String(), "no space")
		}
		if !strings.Contains(all, "  "+c.name+" "+c.operands) || !strings.Contains(all, c.summary) {
			t.Errorf("-help does not show %s", c.name)
		}
		heading := "\n## " + c.name + "\n"
		_, section, ok := strings.Cut(doc, heading)
		if !ok {
			t.Errorf("docs/command-line.md has no section%s", heading)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		f := flag.NewFlagSet("", flag.ContinueOnError)
		c.declare(f)
		f.VisitAll(func(g *flag.Flag) {
			if !strings.Contains(stdout, "\n  -"+g.Name) {
				t.Errorf("%s -help does not show -%s", c.name, g.Name)
			}
			if !strings.Contains(section, "`-"+g.Name) {
				t.Errorf("docs/command-line.md does not explain -%s of %s", g.Name, c.name)
			}
		})
	}
}

// Flags may stand anywhere.
func TestParseMixed(t *testing.T) {
	for args, want := range map[string]string{
		"":               "[] 0 false",
		"a":              "[a] 0 false",
		"-n 1 a -b c":    "[a c] 1 true",
		"a b -n=2":       "[a b] 2 false",
		"a -b -- -n 3":   "[a -n 3] 0 true",
		"-- a -- -b":     "[a -- -b] 0 false",
		"a -n 4 -- -- b": "[a -- b] 4 false",
	} {
		f := flag.NewFlagSet("", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		n, b := f.Int("n", 0, ""), f.Bool("b", false, "")
		operands, err := parseMixed(f, strings.Fields(args))
		if got := fmt.Sprint(operands, *n, *b); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", args, got, err, want)
		}
	}
}

func TestOperands(t *testing.T) {
	for _, c := range []struct {
		operands string
		given    int
		want     string // "" where it is accepted
	}{
		{"", 0, ""}, {"", 1, "unexpected"}, {"RUN FILE", 1, "FILE is missing"}, {"RUN FILE", 2, ""}, {"RUN FILE", 3, "unexpected"},
		{"RUN...", 0, "RUN is missing"}, {"RUN...", 1, ""}, {"RUN...", 3, ""},
	} {
		err := (&subcommand{name: "do", operands: c.operands}).checkOperands(slices.Repeat([]string{"x"}, c.given))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d for %q: %v", c.given, c.operands, err)
		}
	}
}

// An interrupt ends a command with 130, as it does training.
func TestInterruptedCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := flag.NewFlagSet("", flag.ContinueOnError)
	do := declareEval(f)
	var stderr strings.Builder
	err := do(ctx, &console{io.Discard, &stderr, newLog(&stderr, true)}, []string{finished(t)})
	if code := report(err, &stderr); code != exitInterrupted || stderr.String() != "noether: interrupted\n" {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}
