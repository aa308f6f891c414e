package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// trainAll carries out the runs that are not complete, s.jobs at a time, until ctx
// ends. A run that fails does not keep the others from being tried; the error names
// all that failed.
func (s *sweep) trainAll(ctx context.Context, c *console, program string, runs []*plannedRun) error {
	waiting := 0
	for _, r := range runs {
		if r.result == nil {
			waiting++
		} else {
			c.log.Info("complete already", "run", r.name())
		}
	}
	queue := make(chan *plannedRun)
	failures := make([]error, min(s.jobs, waiting))
	threads := max(1, s.threads/max(1, len(failures)))
	var workers sync.WaitGroup
	for i := range failures {
		workers.Go(func() {
			for r := range queue {
				if err := s.train(ctx, c, program, r, threads); err != nil && ctx.Err() == nil {
					c.log.Warn("failed", "run", r.name(), "problem", err)
					failures[i] = errors.Join(failures[i], fmt.Errorf("%s %w", r.name(), err))
				}
			}
		})
	}
	for _, r := range runs {
		if r.result == nil {
			queue <- r // quickly taken once ctx has ended
		}
	}
	close(queue)
	workers.Wait()
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("sweep: not all runs were completed: %s; the same command with -out %s tries them again", strings.ReplaceAll(err.Error(), "\n", ", "), s.out)
	}
	return nil
}

// train carries out a run in a process of its own.
func (s *sweep) train(ctx context.Context, c *console, program string, r *plannedRun, threads int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := r.await(ctx, c); err != nil {
		return fmt.Errorf("was not started: %w", err)
	}
	if r.result != nil { // of the process that was waited for
		c.log.Info("complete already", "run", r.name())
		return nil
	}
	args := s.arguments(r, threads)
	c.log.Info("starting", "run", r.name(), "resumed", r.started)
	output := c.stderr
	where := "; what it said stands above"
	if s.jobs > 1 {
		path := r.dir + ".log"
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return fmt.Errorf("has no log: %w", err)
		}
		defer file.Close() // what the run itself writes is not lost by that
		output, where = file, "; see "+path
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, output
	cmd.Env = append(os.Environ(), sweptVariable+"=1")
	// Its end tells the run to save and end, and comes with the end of this process, however that ends.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("has no pipe: %w", err)
	}
	cmd.Cancel = stdin.Close
	// An interrupt at the terminal reaches all processes of a group. The run heeds the
	// end of its input, whoever interrupted; a second interrupt would end it without saving.
	ownGroup(cmd)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ended with %w%s", err, where)
	}
	if err := r.read(); err != nil {
		return err
	}
	c.log.Info("complete", "run", r.name(), "test_accuracy", round(r.result.TestAccuracy))
	return nil
}

// patience is how long a sweep waits for another process to leave the directory of a run:
// that of a sweep that was killed is saving.
var patience = time.Minute

// await waits until no other process works in the directory of the run, and looks anew at
// what is there of it.
func (r *plannedRun) await(ctx context.Context, c *console) error {
	if _, err := os.Stat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	deadline := time.Now().Add(patience)
	for waiting := false; ; waiting = true {
		held, err := openRunDir(r.dir)
		if err == nil {
			held.close()
			return r.look()
		}
		if !errors.Is(err, errInUse) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w; wait until that ends", err)
		}
		if !waiting {
			c.log.Warn("waiting for another process to leave the directory", "run", r.name(), "at_most", patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// arguments returns the flags of the run, which is new or goes on.
func (s *sweep) arguments(r *plannedRun, threads int) []string {
	args := s.newRun(r)
	if r.started {
		args = []string{"-resume", r.dir}
	}
	return append(append(args, s.eachRun()...), "-threads", strconv.Itoa(threads))
}

// newRun returns the flags that only a new run takes.
func (s *sweep) newRun(r *plannedRun) []string {
	args := []string{"-preset", r.cfg.Preset, "-seed", strconv.FormatUint(r.cfg.Seed, 10), "-out", r.dir}
	if s.given("epochs") {
		args = append(args, "-epochs", strconv.Itoa(s.epochs))
	}
	for _, v := range r.set {
		args = append(args, "-set", v)
	}
	return args
}

// eachRun returns the flags that every run takes, besides -threads.
func (s *sweep) eachRun() []string {
	args := []string{"-device", s.device}
	if s.data != "" {
		args = append(args, "-data", s.data)
	}
	if s.quiet() {
		args = append(args, "-quiet")
	}
	return args
}
