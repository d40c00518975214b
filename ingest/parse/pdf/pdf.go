// Package pdf reads the text of PDF files. github.com/ledongthuc/pdf reads the
// file structure; fonts, content streams and the layout of pages are read
// here, because words, lines and columns can only be told from the places of
// the glyphs.
//
// Open and Document belong into a process with hard limits: the library may
// use any amount of memory and time on a hostile file. Structure works on what
// they found and is safe.
package pdf

import "errors"

// Errors that Open returns, wrapped.
var (
	// ErrEncrypted says that the file cannot be read without a password.
	ErrEncrypted = errors.New("encrypted")
	// ErrDamaged says that the file's structure cannot be read.
	ErrDamaged = errors.New("damaged")
)

// Info is what a file says about itself.
type Info struct {
	Pages    int      `json:"pages"`
	Title    string   `json:"title,omitempty"`
	Author   string   `json:"author,omitempty"`
	Subject  string   `json:"subject,omitempty"`
	Keywords string   `json:"keywords,omitempty"`
	Created  string   `json:"created,omitempty"` // RFC 3339, or a date
	Warnings []string `json:"warnings,omitempty"`
}

// Page is the text of one page as lines in reading order.
type Page struct {
	Number   int     `json:"number"` // from 1
	Width    float64 `json:"width"`  // in points, as read upright
	Height   float64 `json:"height"`
	Lines    []Line  `json:"lines"`
	Images   int     `json:"images,omitempty"`
	Unmapped int     `json:"unmapped,omitempty"` // glyphs without a known character
	Glyphs   int     `json:"glyphs,omitempty"`
	// Problem says what could not be read of the page; what could is there.
	Problem string `json:"problem,omitempty"`
}

// Line is one line of text. Coordinates are points from the top left corner.
type Line struct {
	Text   string  `json:"t"` // words parted by one blank, cells by two
	X0     float64 `json:"x0"`
	X1     float64 `json:"x1"`
	Y      float64 `json:"y"` // of the baseline
	Size   float64 `json:"s"` // of most of its glyphs, in points
	Bold   bool    `json:"b,omitempty"`
	Mono   bool    `json:"m,omitempty"` // all characters have one width
	Cells  int     `json:"c"`           // pieces parted by wide gaps, at least 1
	Column int     `json:"k,omitempty"` // lines of one column of a page share a number
}
