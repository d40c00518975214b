// Package parse turns a file into structured text. It tells formats apart by
// content, never by name alone, and treats every file as hostile: formats with
// dangerous parsers are read in a child process with hard limits (sandbox.go).
package parse

import (
	"ragagent/ingest/parse/doc"
	"ragagent/store"
)

// Text is a file as structured text. Body is normalised once (UTF-8, NFC, LF
// line ends, no control characters but tab and LF, no trailing blanks) and
// never changes afterwards: every span of the system counts bytes of it.
type Text struct {
	Title string // from the file itself; may be empty
	MIME  string
	Body  string
	// Blocks lie in Body in ascending order without overlap. What is between
	// them is white space.
	Blocks     []Block
	Pages      int // 0 where the format has none
	Properties store.Metadata
	Warnings   []string // what could not be read well, in words for the user
}

// Kind says what a block is.
type Kind = doc.Kind

// Kinds of blocks.
const (
	Heading   = doc.Heading
	Paragraph = doc.Paragraph
	List      = doc.List
	Table     = doc.Table
	Code      = doc.Code
	Quote     = doc.Quote
)

// Block is one structural piece of a text.
type Block struct {
	Kind  Kind       `json:"kind"`
	Level int        `json:"level,omitempty"` // 1..6 for headings, else 0
	Span  store.Span `json:"span"`
	Page  int        `json:"page,omitempty"` // one-based page it starts on, 0 for none
}

// Errors a file can end with. Their texts are written for users.
var (
	// ErrNoText says that the file holds nothing to search.
	ErrNoText = doc.ErrNoText
	// ErrUnsupported says that the format is not one we read.
	ErrUnsupported = doc.ErrUnsupported
	// ErrEncrypted says that the file needs a password.
	ErrEncrypted = doc.ErrEncrypted
	// ErrDamaged says that the file could not be read as what it claims to be.
	ErrDamaged = doc.ErrDamaged
	// ErrLimit says that parsing passed a limit of time, memory or size.
	ErrLimit = doc.ErrLimit
)
