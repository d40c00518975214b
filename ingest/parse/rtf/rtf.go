// Package rtf reads the Rich Text Format, versions 1.0 to 1.9.1, as word
// processors and mail programs write it.
package rtf

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"ragagent/ingest/parse/doc"
)

// Read reads the paragraphs, headings, lists and tables of a file; pictures
// and other objects, headers, footers and hidden text are left out, notes
// follow the paragraph they stand in. ErrDamaged for what does not begin as
// such files do; one that breaks off is read as far as it goes.
func Read(r io.ReaderAt, size int64, out doc.Sink) error {
	lex := lexer{in: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10)}
	if !lex.begins() {
		return fmt.Errorf("%w: it does not begin as RTF files do", doc.ErrDamaged)
	}
	rd := newReader(out)
	for !out.Full() {
		t, err := lex.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if t.kind == binary {
			if err := lex.skip(t.number); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			continue
		}
		rd.token(t)
		if rd.depth == 0 && t.kind == closing { // what follows the last brace is none of it
			break
		}
	}
	rd.finish()
	return nil
}
