package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/internal/config"
)

// command is what a word behind the program's name does instead of training. A
// new one is a file of its own with a variable of this type, a line in commands,
// and a section of docs/command-line.md.
type subcommand struct {
	name     string
	operands string // as the usage line shows them: "RUN", "RUN FILE", "RUN..." for one or more
	summary  string // one line for the list of commands
	about    string // the rest of the help, or ""
	// declare declares the flags and returns what carries the command out, given
	// as many operands as the usage line says. Flags may stand in front of,
	// between and behind operands. Results go to the console's stdout, all else to
	// its log; mistakes of the user are usageErrors.
	declare func(f *flag.FlagSet) func(ctx context.Context, c *console, operands []string) error
}

// console is where a command writes.
type console struct {
	stdout, stderr io.Writer
	log            *slog.Logger // to stderr
}

// commands returns all commands, in the order of the help.
func commands() []subcommand {
	return []subcommand{evalCommand, inspectCommand, exportCommand, importCommand, sweepCommand}
}

// runCommand carries out the command that args begin with.
func runCommand(args []string, stdout, stderr io.Writer) error {
	i := slices.IndexFunc(commands(), func(c subcommand) bool { return c.name == args[0] })
	if i < 0 {
		return unknownCommand(args[0])
	}
	c := commands()[i]
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	do := c.declare(f)
	quiet := f.Bool("quiet", false, "only warnings in the log")
	operands, err := parseMixed(f, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c.help(f, stdout)
	case err != nil:
		return usageError{fmt.Errorf("%s: %s; %s -help shows the flags", c.name, explainFlag(err, f), c.name)}
	}
	if err := checkGiven(f); err != nil {
		return err
	}
	if err := c.checkOperands(operands); err != nil {
		return err
	}
	if err := checkLevel(); err != nil {
		return err
	}
	log := newLog(stderr, *quiet)
	ctx, stop := interruptible(log, "stopping; interrupt again to leave at once")
	defer stop()
	defer atomicfile.Until(ctx)() // a command that is interrupted writes nothing more
	return do(ctx, &console{stdout, stderr, log}, operands)
}

// unknownCommand reports a word that is no command, with the nearest that is one.
func unknownCommand(name string) error {
	if _, err := config.Lookup(name); err == nil {
		return usageError{fmt.Errorf("unknown command %q; did you mean -preset %s?", name, name)}
	}
	var known []string
	for _, c := range commands() {
		known = append(known, c.name)
	}
	return usageError{fmt.Errorf("unknown command %q; did you mean %q? (%s; without a command the program trains; -help shows the flags)",
		name, config.Nearest(name, known), strings.Join(known, ", "))}
}

// parseMixed parses flags that stand in front of, between and behind operands, and
// returns the latter. All that stands behind "--" is an operand.
func parseMixed(f *flag.FlagSet, args []string) (operands []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		rest := f.Args()
		if read := len(args) - len(rest); len(rest) == 0 || read > 0 && args[read-1] == "--" {
			return append(operands, rest...), nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
}

// checkOperands reports operands that are missing or too many.
func (c *subcommand) checkOperands(operands []string) error {
	want := strings.Fields(c.operands)
	switch n := len(want); {
	case len(operands) < n:
		return usageError{fmt.Errorf("%s: %s is missing; usage: %s", c.name, strings.TrimSuffix(want[len(operands)], "..."), c.usage())}
	case len(operands) > n && !strings.HasSuffix(c.operands, "..."):
		return usageError{fmt.Errorf("%s: unexpected argument %q; usage: %s", c.name, operands[n], c.usage())}
	}
	if i := slices.Index(operands, ""); i >= 0 {
		return usageError{fmt.Errorf("%s: %s is empty%s; usage: %s", c.name, strings.TrimSuffix(want[min(i, len(want)-1)], "..."), unset, c.usage())}
	}
	return nil
}

// unset is what most often makes a value empty.
const unset = " (is a variable of the shell not set?)"

// checkGiven reports a flag that was given an empty text: what is done where it is
// left out is not what was asked for.
func checkGiven(f *flag.FlagSet) (err error) {
	f.Visit(func(g *flag.Flag) {
		value, ok := g.Value.(flag.Getter)
		if ok && value.Get() == "" && err == nil {
			err = usageError{fmt.Errorf("-%s is empty%s; give it a value, or leave it out", g.Name, unset)}
		}
	})
	return err
}

func (c *subcommand) usage() string {
	return strings.TrimSpace("go run ./train " + c.name + " [flags] " + c.operands)
}

// help shows what the command does and its flags. It is collected first because package flag
// drops the errors of writing.
func (c *subcommand) help(f *flag.FlagSet, stdout io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Usage: %s\n\n%s.\n\n", c.usage(), c.summary)
	if c.about != "" {
		fmt.Fprintf(&text, "%s\n\n", c.about)
	}
	f.SetOutput(&text)
	f.PrintDefaults()
	_, err := io.WriteString(stdout, text.String())
	return err
}

// listCommands shows the commands in the help of the program.
func listCommands(stdout io.Writer) {
	fmt.Fprint(stdout, "Commands, each with flags of its own (go run ./train COMMAND -help):\n\n")
	for _, c := range commands() {
		fmt.Fprintf(stdout, "  %-16s %s\n", c.name+" "+c.operands, c.summary)
	}
	fmt.Fprintln(stdout)
}

// given reports whether a flag was written.
func given(f *flag.FlagSet, name string) (yes bool) {
	f.Visit(func(g *flag.Flag) { yes = yes || g.Name == name })
	return yes
}
