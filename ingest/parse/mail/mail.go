// Package mail reads messages in the Internet Message Format (RFC 5322) with
// MIME parts (RFC 2045 to 2049), and mbox files of them. Programs that write
// mail are many, and few do it well: what can be read is read.
package mail

import (
	"errors"
	"fmt"
	"io"

	"ragagent/ingest/parse/doc"
)

// Bounds of a file.
const (
	maxDepth    = 12       // parts within parts
	maxParts    = 5000     // of one file
	maxMessages = 200_000  // of one mbox file
	maxHeader   = 1 << 20  // bytes of one header
	maxBody     = 32 << 20 // bytes of a text; its rest is left out
	maxAttached = 128 << 20
)

// Read reads a message, or each message of an mbox file, under its subject:
// who wrote it to whom and when, its text, and its attachments. Of a text that
// comes in several forms, plain text is preferred. ErrDamaged for what has no
// header of a message.
func Read(r io.ReaderAt, size int64, out doc.Sink) error {
	file := section{r, 0, size}
	rd := reader{out: out}
	if !isMbox(file) {
		return rd.single(file)
	}
	messages := 0
	err := eachMessage(file, func(message section) bool {
		messages++
		if messages > maxMessages {
			out.Warn(fmt.Sprintf("the file has more than %d messages; the others were left out", maxMessages))
			return false
		}
		rd.message(message, 1, 0)
		return rd.err == nil && !out.Full()
	})
	rd.report()
	return errors.Join(rd.err, err)
}

// single reads a file that is one message.
func (rd *reader) single(file section) error {
	h, _, err := readHeader(file)
	if err != nil {
		return err
	}
	if !h.isMessage() {
		return fmt.Errorf("%w: it has no header of a message", doc.ErrDamaged)
	}
	h.describe(rd.out)
	rd.message(file, 1, 0)
	rd.report()
	return rd.err
}

// report tells what was left out.
func (rd *reader) report() {
	if rd.parts > maxParts {
		rd.out.Warn(fmt.Sprintf("the file has more than %d parts; the others were left out", maxParts))
	}
	if rd.locked > 0 {
		rd.out.Warn(fmt.Sprintf("%d messages are encrypted and cannot be read", rd.locked))
	}
}
