package main

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/noether-go/noether/internal/config"
)

// Every key can be set to the value that it has, and config.toml keeps it.
func TestSetEveryKey(t *testing.T) {
	want, err := config.Lookup("mnist6-180")
	if err != nil {
		t.Fatal(err)
	}
	c := want
	for _, k := range config.Keys() {
		if k == "preset" {
			continue
		}
		if err := c.Set(k + "=" + want.Value(k)); err != nil {
			t.Error(err)
		}
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v\nwant %+v", c, want)
	}
	d := &runDir{path: t.TempDir()}
	if err := d.writeConfig(&want); err != nil {
		t.Fatal(err)
	}
	got, err := d.readConfig()
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	doc, err := os.ReadFile(filepath.Join("..", "docs", "command-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range config.Keys() {
		if !strings.Contains(string(doc), "`"+k+"`") {
			t.Errorf("docs/command-line.md does not explain %s", k)
		}
	}
}

// The more a source is the user's own hand, the more it counts: preset, file,
// -set, and flags of their own.
func TestPrecedence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	write(t, []byte("preset = \"mnist6-m-se2-8-partial\"\nseed = 5\n[train]\nlr = 0.25\nbatch = 16\nepochs = 7\n"), path)
	o, err := parse([]string{"-config", path, "-set", "train.batch=8", "-set", "train.epochs=3", "-epochs", "4", "-seed", "6", "-set", "conv.compat=false", "-compat"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.configuration()
	if err != nil {
		t.Fatal(err)
	}
	want, err := config.Lookup("mnist6-m-se2-8-partial")
	if err != nil {
		t.Fatal(err)
	}
	want.Seed, want.Train.LR, want.Train.Batch, want.Train.Epochs, want.Conv.Compat = 6, .25, 8, 4, true
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("%+v\nwant %+v", *c, want)
	}
}

// The command that a report shows gives the configuration of its run.
func TestCommand(t *testing.T) {
	for _, flags := range [][]string{
		nil,
		{"-preset", "mnist6-180-se2-8-full"},
		{"-preset", "mnist6-m-se2-8-full", "-seed", "9", "-epochs", "4", "-set", "net.pools=[0, 2]", "-set", "train.lr=0.003", "-set", "group.name=se2"},
		{"-set", "conv.partial=false", "-set", "group.name=T(2)", "-set", "group.elements=1", "-set", "net.pools=[]"},
	} {
		o, err := parse(flags, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.configuration()
		if err != nil {
			t.Fatal(err)
		}
		line := command(c)
		rest, ok := strings.CutPrefix(line, "go run ./train")
		if !ok {
			t.Fatal(line)
		}
		again, err := parse(words(rest), io.Discard)
		if err != nil {
			t.Fatal(line, err)
		}
		if d, err := again.configuration(); err != nil || !reflect.DeepEqual(c, d) {
			t.Errorf("%s\ngives %+v, %v\nwant  %+v", line, d, err, c)
		}
	}
}

// words splits a line as a shell does, as far as single quotes go.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 0 {
			list = append(list, strings.Fields(part)...)
		} else {
			list = append(list, part)
		}
	}
	return list
}
