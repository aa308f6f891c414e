package data

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
)

// Error is what this package panics with on programmer error: a length, size or
// index that the caller could have checked. Op names the function.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "data: " + e.Op + ": " + e.Problem }

func failf(op, format string, args ...any) {
	panic(&Error{op, fmt.Sprintf(format, args...)})
}

// FileError says what is wrong with a file, a directory or a download, always in
// one line: where, what was found, and what to do about it.
type FileError struct {
	Path    string // file, directory or address
	Problem string
	Remedy  string // in the words of the command line, whose -data is a directory to read and -download is Download
	Err     error  // the cause, when there is one
}

func (e *FileError) Error() string {
	s := "data: " + oneLine(e.Path) + ": " + oneLine(e.Problem)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

func (e *FileError) Unwrap() error { return e.Err }

// oneLine quotes s where it holds anything that would break a line of output.
func oneLine(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// cause is err without the path that a FileError names already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
