package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/noether-go/noether/internal/atomicfile"
)

// slurmMark is the line by which a script of sweep is known.
const slurmMark = "# Written by the sweep command of noether, which may replace this file."

// checkSlurm refuses to replace a file that is no script of sweep.
func (s *sweep) checkSlurm() error {
	info, err := os.Lstat(s.slurm)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("-slurm: %w; give another file", err)
	}
	if !info.Mode().IsRegular() || !marked(s.slurm) {
		return usageError{fmt.Errorf("-slurm: %s exists, and is no script that sweep wrote; give another file, or remove it", s.slurm)}
	}
	return nil
}

// marked reports whether a file has slurmMark among its first lines.
func marked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // read only: nothing to lose
	head, err := io.ReadAll(io.LimitReader(f, 4096))
	return err == nil && strings.Contains(string(head), "\n"+slurmMark+"\n")
}

// writeSlurm writes an array job with a task for each run that is not complete.
func (s *sweep) writeSlurm(c *console, program string, runs []*plannedRun) error {
	folder, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("-slurm: the working directory is not known: %w", err)
	}
	script := s.slurmScript(program, folder, runs)
	if script == "" {
		return usageError{fmt.Errorf("-slurm: every run in %s is complete; print the table with %s", s.out, s.tableCommand(program, runs))}
	}
	if err := atomicfile.WriteFile(s.slurm, func(w io.Writer) error {
		_, err := io.WriteString(w, script)
		return err
	}); err != nil {
		s.made.remove()
		return fmt.Errorf("-slurm: %w; give another file", err)
	}
	_, err = fmt.Fprintf(c.stdout, "array job  %s\nsubmit it with  sbatch %s\nwhen it is done, print the table with  %s\n", s.slurm, shellQuote(s.slurm), s.tableCommand(program, runs))
	return err
}

// tableCommand returns the command that prints the table of the runs and trains nothing.
func (s *sweep) tableCommand(program string, runs []*plannedRun) string {
	words := []string{program, "sweep", "-table", "-out", s.out, "-seeds", s.seeds}
	if s.given("epochs") {
		words = append(words, "-epochs", strconv.Itoa(s.epochs))
	}
	for _, v := range s.set {
		words = append(words, "-set", v)
	}
	var presets []string
	for _, r := range runs {
		if !slices.Contains(presets, r.cfg.Preset) {
			presets = append(presets, r.cfg.Preset)
		}
	}
	return shellWords(append(words, presets...))
}

// slurmScript returns the array job, "" where nothing is to be done. A task decides
// when it starts whether its run is new, so the job may be submitted again.
func (s *sweep) slurmScript(program, folder string, runs []*plannedRun) string {
	var tasks strings.Builder
	n := 0
	for _, r := range runs {
		if r.result != nil {
			continue
		}
		fmt.Fprintf(&tasks, "%d) run %s %s ;;\n", n, shellQuote(r.dir), shellWords(s.newRun(r)))
		n++
	}
	if n == 0 {
		return ""
	}
	array := fmt.Sprintf("0-%d", n-1)
	if s.given("jobs") {
		array += "%" + strconv.Itoa(s.jobs)
	}
	return fmt.Sprintf(`#!/bin/sh
%s
#SBATCH --job-name=noether
#SBATCH --array=%s
#SBATCH --cpus-per-task=%d
#SBATCH --signal=B:TERM@60
# A minute before the time limit a run saves and ends; the same job submitted again goes on with it.

# run DIRECTORY FLAGS... trains into the directory, with the flags where it holds no run yet.
run() {
	dir=$1
	shift
	if [ -e "$dir"/%s ]; then exit 0; fi
	if [ -e "$dir"/%s ]; then set -- -resume "$dir"; fi
	exec %s "$@" %s -threads %d >>"$dir.log" 2>&1
}

cd %s || exit 1
case $SLURM_ARRAY_TASK_ID in
%s*)
	echo "noether: SLURM_ARRAY_TASK_ID is '$SLURM_ARRAY_TASK_ID'; allowed: 0 to %d; submit the job with sbatch, which sets it" >&2
	exit %d ;;
esac
`, slurmMark, array, s.threads, resultFile, configFile, shellQuote(program), shellWords(s.eachRun()), s.threads, shellQuote(folder), tasks.String(), n-1, exitUsage)
}

// shellWords returns words as a POSIX shell reads them.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellQuote(w)
	}
	return strings.Join(quoted, " ")
}

// temporary reports whether a program is one that go run built, and removes when
// it ends.
func temporary(program string) bool {
	for dir := filepath.Dir(program); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if strings.HasPrefix(filepath.Base(dir), "go-build") {
			return true
		}
	}
	return false
}
