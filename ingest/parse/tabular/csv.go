package tabular

import (
	"bytes"
	"fmt"
	"io"

	"ragagent/ingest/parse/doc"
)

// Bounds of a record.
const (
	maxRecord  = 1 << 20 // bytes; a quote that is open for longer was none
	maxColumns = 16 << 10
	maxStrays  = 100 // quotes never closed, before quotes end with their line
)

// ReadCSV reads a table of values in UTF-8: separated by commas, semicolons,
// tabs or bars, which is found out, as is whether the first row names the
// columns. Each row comes with the names of its columns. It is lenient: rows
// may be of any length, and quotes that are never closed are text.
func ReadCSV(r io.ReaderAt, size int64, out doc.Sink) error {
	src := newSource(r, size)
	begin := src.offset()
	d := sniff(src)
	src.seek(begin)
	c := csvReader{source: src, separator: d.separator}
	w := newTable(out)
	for i := 0; !out.Full(); i++ {
		cells, ok := c.record()
		if !ok {
			break
		}
		switch {
		case i == 0 && d.declared:
		case i < d.preamble:
			out.Add(doc.Block{Kind: doc.Paragraph, Text: doc.RecordRow(nil, cells)})
		case i == d.preamble && d.header:
			w.names = cells
		default:
			w.row(cells)
		}
	}
	w.flush()
	c.report(out)
	w.properties()
	return src.err
}

// csvReader cuts a file into records.
type csvReader struct {
	*source
	separator byte
	strays    int  // quotes that are never closed
	wide      int  // records with more than maxColumns
	long      int  // rows of more than maxRecord
	rest      bool // what comes is the rest of such a row
}

// record returns the values of the next record that is not blank; false at the
// end of the file.
func (c *csvReader) record() ([]string, bool) {
	for {
		if _, ok := c.peek(); !ok {
			return nil, false
		}
		begin, continued := c.offset(), c.rest
		cells, ok := c.parse(true)
		if !ok {
			c.strays++
			c.seek(begin)
			cells, _ = c.parse(false)
		}
		if blank(cells) {
			continue
		}
		if len(cells) > maxColumns {
			if !continued {
				c.wide++
			}
			cells = cells[:maxColumns]
		}
		return cells, true
	}
}

// parse reads one record. With quotes, a value in quotes may hold separators
// and line ends; it fails if one of them is not closed.
func (c *csvReader) parse(quotes bool) (cells []string, ok bool) {
	begin := c.offset()
	var cell []byte
	for {
		b, more := c.next()
		switch {
		case !more, b == '\n':
			c.rest = false
			return append(cells, string(cell)), true
		case b == '\r':
			if next, _ := c.peek(); next == '\n' {
				continue
			}
			c.rest = false
			return append(cells, string(cell)), true
		case b == c.separator:
			cells = append(cells, string(cell))
			cell = cell[:0]
		case b == '"' && quotes && len(bytes.TrimLeft(cell, " ")) == 0:
			cell = cell[:0]
			if cell, ok = c.quoted(cell, begin); !ok {
				return nil, false
			}
		default:
			cell = append(cell, b)
		}
		// A "record" without end is cut: it is no table then.
		if c.offset()-begin > maxRecord {
			if !c.rest {
				c.long++
			}
			c.rest = true
			return append(cells, string(cell)), true
		}
	}
}

// quoted reads a value up to its closing quote. A quote that neither a
// separator nor a line end follows is a part of the value.
func (c *csvReader) quoted(cell []byte, begin int64) ([]byte, bool) {
	for {
		b, more := c.next()
		switch {
		case !more, c.offset()-begin > maxRecord, b == '\n' && c.strays >= maxStrays:
			return nil, false
		case b != '"':
			cell = append(cell, b)
			continue
		}
		switch next, more := c.peek(); {
		case !more, next == c.separator, next == '\n', next == '\r':
			return cell, true
		case next == '"':
			c.at++
			cell = append(cell, '"')
		default:
			cell = append(cell, '"')
		}
	}
}

func (c *csvReader) report(out doc.Sink) {
	if c.strays > 0 {
		out.Warn(rowsHave(c.strays) + " a quote that is never closed; it was read as text")
	}
	if c.long > 0 {
		out.Warn(fmt.Sprintf("%s more than %d kB; each was read as several", rowsHave(c.long), maxRecord>>10))
	}
	if c.wide > 0 {
		out.Warn(fmt.Sprintf("%s more than %d columns; the others were left out", rowsHave(c.wide), maxColumns))
	}
}

func rowsHave(n int) string {
	if n == 1 {
		return "1 row has"
	}
	return fmt.Sprintf("%d rows have", n)
}

func blank(cells []string) bool {
	for _, cell := range cells {
		for i := range len(cell) {
			if c := cell[i]; c != ' ' && c != '\t' {
				return false
			}
		}
	}
	return true
}
