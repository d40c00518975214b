package eval

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"ragagent/store"
)

// LineError says what is wrong in which line of a file. It is a store.ErrInvalid.
type LineError struct {
	File   string // as it was opened
	Line   int    // from 1
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Unwrap makes errors.Is(err, store.ErrInvalid) true.
func (e *LineError) Unwrap() error { return store.ErrInvalid }

// line is one line of a file, without its end. text is only valid until the
// next line is read.
type line struct {
	file string
	n    int // from 1
	text []byte
}

// invalid returns a LineError about l.
func (l line) invalid(format string, args ...any) error {
	return &LineError{File: l.file, Line: l.n, Reason: fmt.Sprintf(format, args...)}
}

// MaxLineBytes is the longest line any reader here accepts: a whole document
// of a corpus stands in one line.
const MaxLineBytes = 16 << 20

const byteOrderMark = "\ufeff"

// lines yields the lines of r that hold more than white space, without a byte
// order mark. file names r in errors. It stops after the first error.
func lines(r io.Reader, file string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		scanner := bufio.NewScanner(r)
		scanner.Buffer(make([]byte, 0, 64<<10), MaxLineBytes)
		l := line{file: file}
		for scanner.Scan() {
			l.n++
			l.text = scanner.Bytes()
			if l.n == 1 {
				l.text = bytes.TrimPrefix(l.text, []byte(byteOrderMark))
			}
			if len(bytes.TrimSpace(l.text)) == 0 {
				continue
			}
			if !yield(l, nil) {
				return
			}
		}
		switch err := scanner.Err(); {
		case err == nil:
		case errors.Is(err, bufio.ErrTooLong):
			l.n++
			yield(line{}, l.invalid("the line is longer than %d bytes", MaxLineBytes))
		default:
			yield(line{}, fmt.Errorf("read %s after line %d: %w", file, l.n, err))
		}
	}
}
