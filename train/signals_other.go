//go:build !(unix || windows)

package main

import (
	"os"
	"syscall"
)

// interrupts returns the signals that interrupt.
func interrupts() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// bearClosedPipes does nothing where closed pipes end no program.
func bearClosedPipes() {}
