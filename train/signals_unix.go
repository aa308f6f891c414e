//go:build unix || windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// interrupts returns the signals that interrupt: of the terminal, of whoever wants the
// program to end, and of a terminal that goes away, unless nohup said to bear that.
func interrupts() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// bearClosedPipes makes writing to a pipe that nobody reads any more an error, where it
// would end the program.
func bearClosedPipes() { signal.Ignore(syscall.SIGPIPE) }
