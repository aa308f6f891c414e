package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"github.com/noether-go/noether/internal/atomicfile"
)

// interruptible returns a context that the first interrupt ends, with a notice of
// what happens now; the second one ends the program at once, without the files that
// it is writing. From now on a pipe that nobody reads any more does not end it: what is
// being done outlives the reader of its log. (-list and -help end with theirs.)
func interruptible(log *slog.Logger, notice string) (context.Context, func()) {
	bearClosedPipes()
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, interrupts()...)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		cancel() // first: whoever reads the log may have gone, or have stopped
		log.Warn(notice)
		if _, ok := <-signals; ok {
			atomicfile.Abandon()
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}

// sweptVariable tells a run that a sweep started it, which holds the other end of its input.
const sweptVariable = "NOETHER_SWEPT"

// withSweep returns a context that ends with ctx and, where a sweep started this process,
// when that lets go of its input, or has ended without a word.
func withSweep(ctx context.Context, log *slog.Logger) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if os.Getenv(sweptVariable) != "" {
		go func() {
			io.Copy(io.Discard, os.Stdin) // whatever ends it: nobody is there any more
			cancel()                      // first: so is whoever reads the log
			log.Warn("the sweep has ended; finishing the step and saving")
		}()
	}
	return ctx, cancel
}
