// Package doc is the contract between the readers of structured formats, each a
// package below ingest/parse, and parse, which tells formats apart, runs their
// readers in a child process and keeps what they find.
package doc

import (
	"errors"
	"io"
	"strings"
)

// Kind says what a block is.
type Kind string

// Kinds of blocks.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	List      Kind = "list"
	Table     Kind = "table"
	Code      Kind = "code"
	Quote     Kind = "quote"
)

// Block is one structural piece of a text, as a reader finds it.
type Block struct {
	Kind  Kind
	Level int // 1..6 for headings, else 0
	Page  int // one-based page, slide or sheet it is on; 0 where there is none
	// Text is UTF-8 and need not be tidy: the sink normalises it. The lines of
	// a table are its rows, made by Row; those of a list its items.
	Text string
}

// Sink takes what a reader finds, in reading order.
type Sink interface {
	// Add appends a block; one that is blank is left out.
	Add(b Block)
	// Full says that a limit has been passed: what is added from here on is
	// dropped, and the reader had better return.
	Full() bool
	// Title tells what the file calls itself; blank is ignored.
	Title(title string)
	// Property tells a property of the file: a string, float64, bool or
	// []string under one of the common names: author, created, modified (RFC
	// 3339), subject, keywords, language, or one of the file's own. Blank
	// values and names are ignored.
	Property(name string, value any)
	// Warn tells the user, in words, what could not be read well. The sink
	// keeps a bounded number of them.
	Warn(text string)
	// Embedded reads a file inside the file, of whatever format its content
	// has, into this sink; the reader adds a heading before it. Page numbers,
	// titles and properties inside are not taken over. Nesting, number and
	// total size are bounded; an error is about the embedded file alone and
	// written for users.
	Embedded(name string, r io.ReaderAt, size int64) error
}

// Reader reads a file of one format. Errors wrap those below where the file is
// to blame, and are otherwise of r. It need not guard against panics, endless
// work or memory: it runs in a child whose limits are hard. But a file that
// can be read within them is read.
type Reader func(r io.ReaderAt, size int64, out Sink) error

// Errors a file can end with. Their texts are written for users.
var (
	// ErrNoText says that the file holds nothing to search.
	ErrNoText = errors.New("no text found")
	// ErrUnsupported says that the format is not one we read.
	ErrUnsupported = errors.New("unsupported format")
	// ErrEncrypted says that the file needs a password.
	ErrEncrypted = errors.New("the file is protected by a password: remove the password and upload it again")
	// ErrDamaged says that the file could not be read as what it claims to be.
	ErrDamaged = errors.New("the file is damaged")
	// ErrLimit says that parsing passed a limit of time, memory or size.
	ErrLimit = errors.New("parsing passed its limits")
)

// Row makes one line of a table's row, " | " between its cells; empty cells at
// its end are left out, and a row of empty cells is "". Cells are brought to
// one line each.
func Row(cells []string) string {
	n := len(cells)
	for n > 0 && strings.TrimSpace(cells[n-1]) == "" {
		n--
	}
	var b strings.Builder
	for i, cell := range cells[:n] {
		if i > 0 {
			b.WriteString(" | ")
		}
		cell = strings.Join(strings.Fields(cell), " ")
		b.WriteString(strings.ReplaceAll(cell, "|", "/"))
	}
	return b.String()
}

// RecordRow makes one line of a row that has to be understood without the rows
// above it, as those of spreadsheets and databases: "name: value | name:
// value", empty values left out. Columns without a name show the value alone.
func RecordRow(names, values []string) string {
	var parts []string
	for i, v := range values {
		v = strings.ReplaceAll(strings.Join(strings.Fields(v), " "), "|", "/")
		if v == "" {
			continue
		}
		if i < len(names) {
			if name := strings.Join(strings.Fields(names[i]), " "); name != "" {
				v = strings.ReplaceAll(name, "|", "/") + ": " + v
			}
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, " | ")
}
