//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// startPiped starts the command with stdout and stderr on one pipe, as `2>&1 | tee`
// does, and returns its process with the reading end.
func startPiped(t *testing.T, args ...string) (process *os.Process, log *os.File, ended <-chan error) {
	t.Helper()
	return startPipedAs(t, "1", args...)
}

// startPipedAs starts what that value of mainVariable stands for.
func startPipedAs(t *testing.T, what string, args ...string) (process *os.Process, log *os.File, ended <-chan error) {
	t.Helper()
	log, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	t.Cleanup(func() { log.Close() })
	cmd, _ := there(t, args...)
	cmd.Stdout, cmd.Stderr = w, w
	cmd.Env = append(cmd.Env, mainVariable+"="+what)
	wait := begin(t, cmd)
	return cmd.Process, log, wait
}

// until reads a log up to the text, no further.
func until(t *testing.T, log *os.File, text string) {
	t.Helper()
	var seen []byte
	for b := make([]byte, 1); !bytes.HasSuffix(seen, []byte(text)); seen = append(seen, b...) {
		if _, err := log.Read(b); err != nil {
			t.Fatalf("the log ended without %q: %s", text, seen)
		}
	}
}

// A run goes on when the reader of its log has gone, and an interrupt still saves it.
func TestInterruptedWithoutAReader(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			if !slices.Contains(interrupts(), os.Signal(signal)) {
				t.Skip("these tests run under nohup, which the program heeds")
			}
			dir := filepath.Join(t.TempDir(), "run")
			args := tinyRun(dir, "-quiet=false", "-epochs", "10000")
			process, log, ended := startPiped(t, args...)
			until(t, log, "msg=epoch")
			log.Close()
			if !untilSaved(t, dir, 3, ended) { // each after a line that nobody reads
				t.Fatal("the run ended with the reader of its log")
			}
			if err := process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if code := exitCode(<-ended); code != exitInterrupted {
				t.Errorf("exit code %d, want %d", code, exitInterrupted)
			}
			there := contents(t, dir)
			if _, ok := there["/"+lockFile]; ok || there["/"+stateFile] == "" {
				t.Error("the run was not ended in order")
			}
		})
	}
}

// The interrupt of a sweep reaches its run though nobody reads what they say.
func TestSweepInterruptedWithoutAReader(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	args := tinySweep(t, dir, "-seeds", "1", "-epochs", "10000", "-quiet=false", "strokes6-180")
	process, log, ended := startPiped(t, args...)
	until(t, log, "msg=epoch")
	log.Close()
	run := filepath.Join(dir, partialPreset+"-seed-1")
	if !untilSaved(t, run, 3, ended) {
		t.Fatal("the sweep ended with the reader of its log")
	}
	if err := process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(<-ended); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	held, err := openRunDir(run)
	if err != nil {
		t.Fatal("the run goes on without its sweep: ", err)
	}
	held.close()
}

// A result that cannot be printed is a failure, and stands in the run directory.
func TestResultThatCannotBePrinted(t *testing.T) {
	dir := copyOf(t, finished(t))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd, stderr := there(t, "-quiet", "-resume", dir)
	cmd.Stdout = w
	code := exitCode(cmd.Run())
	refused(t, exitFailure, code, "", stderr.String(), "could not be printed", "broken pipe", filepath.Join(dir, resultFile))
	if !bytes.Contains(read(t, dir, resultFile), []byte(`"test_accuracy"`)) {
		t.Error("there is no result")
	}
}

// What nohup started bears the end of its terminal.
func TestHangUpUnderNohup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd, _ := there(t, tinyRun(dir, "-epochs", "10000")...)
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, cmd.Args...)
	cmd.Path = "/bin/sh"
	ended := begin(t, cmd)
	if !untilSaved(t, dir, 1, ended) {
		t.Fatal("the run did not begin")
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if !untilSaved(t, dir, 3, ended) {
		t.Error("the hang-up ended the run")
	}
}

// withPipeFor returns a copy of a directory in which a named pipe stands for a file:
// who reads it waits until the test writes.
func withPipeFor(t *testing.T, dir, file string) (copied, pipe string) {
	t.Helper()
	copied = copyOf(t, dir)
	pipe = filepath.Join(copied, file)
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip("needs a named pipe: ", err)
	}
	return copied, pipe
}

// An interrupt before export or import write anything leaves nothing behind.
func TestExportAndImportInterrupted(t *testing.T) {
	from := finished(t)
	state := filepath.Join(t.TempDir(), "state.safetensors")
	exportTo(t, from, state)
	for _, args := range []string{"export RUN OUT.onnx", "export RUN OUT.safetensors", "import -config PIPE -out OUT " + state} {
		t.Run(args, func(t *testing.T) {
			run, pipe := withPipeFor(t, from, configFile)
			out := t.TempDir()
			words := strings.NewReplacer("RUN", run, "OUT", filepath.Join(out, "net"), "PIPE", pipe).Replace(args)
			process, log, ended := startPiped(t, strings.Fields(words)...)
			// Opening waits for the command to read its configuration.
			config, err := os.OpenFile(pipe, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			until(t, log, "stopping")
			if _, err := config.Write(read(t, from, configFile)); err != nil {
				t.Error(err)
			}
			config.Close()
			until(t, log, "noether: interrupted")
			if code := exitCode(<-ended); code != exitInterrupted {
				t.Errorf("exit code %d, want %d", code, exitInterrupted)
			}
			if list, err := os.ReadDir(out); err != nil || len(list) > 0 {
				t.Errorf("left behind: %v, %v", list, err)
			}
		})
	}
}

// The second interrupt removes what is half-written.
func TestInterruptedTwiceInAFile(t *testing.T) {
	dir := t.TempDir()
	process, log, ended := startPipedAs(t, "write", filepath.Join(dir, "file"))
	until(t, log, "writing")
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Fatalf("nothing is being written: %v, %v", list, err)
	}
	process.Signal(os.Interrupt)
	until(t, log, "stopping")
	process.Signal(os.Interrupt)
	if code := exitCode(<-ended); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// A run whose files the second interrupt took away ends as interrupted, also where it comes to its end
// before the interrupt ends it: nothing is wrong with the disk.
func TestAbandonedRun(t *testing.T) {
	cmd, stderr := there(t, tinyRun(filepath.Join(t.TempDir(), "run"))...)
	cmd.Env = append(cmd.Env, mainVariable+"=abandoned")
	code := exitCode(cmd.Run())
	refused(t, exitInterrupted, code, "", stderr.String(), "noether: interrupted\n")
}
