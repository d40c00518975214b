package office

import (
	"slices"
	"strings"

	"ragagent/ingest/parse/doc"
)

// Sizes of what is written and looked at at once.
const (
	blockBytes = 600 // of a block of rows; chunks are cut between blocks
	blockRows  = 20
	probeRows  = 12 // that decide which of them names the columns
	proseBytes = 400
	nameBytes  = 120 // of a column's name, at most
)

// sheetRows takes the rows of a sheet and writes the tables they make up. Rows
// that are blank part tables.
type sheetRows struct {
	*pack
	page    int
	heading string // to be written before the first row

	last    int // number of the row before
	probe   [][]string
	decided bool
	names   []string // of the columns; nil where there are none
	lines   []string
	bytes   int
}

// add takes a row, which stays the caller's.
func (s *sheetRows) add(number int, cells []string) {
	if blank(cells) {
		return
	}
	if s.heading != "" {
		s.pack.add(doc.Block{Kind: doc.Heading, Level: 1, Page: s.page, Text: s.heading})
		s.heading = ""
	}
	if s.last > 0 && number > s.last+1 {
		s.gap()
	}
	s.last = number
	if s.decided {
		s.write(cells)
		return
	}
	s.probe = append(s.probe, slices.Clone(cells))
	if len(s.probe) == probeRows {
		s.decide()
	}
}

func blank(cells []string) bool {
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			return false
		}
	}
	return true
}

// gap ends a table, or what may be one part of it.
func (s *sheetRows) gap() {
	s.decide()
	s.flush()
	s.decided = false
}

// end writes what is left.
func (s *sheetRows) end() {
	s.decide()
	s.flush()
}

// decide finds the row that names the columns and writes the rows looked at.
// Where there is none behind a gap, the names above it still hold if the rows
// have the same columns.
func (s *sheetRows) decide() {
	if s.decided || len(s.probe) == 0 {
		return
	}
	s.decided = true
	rows := s.probe
	s.probe = nil
	header := headerRow(rows)
	if header < 0 {
		if !s.fits(rows) {
			s.names = nil
		}
		header = 0
	} else {
		s.names = nil
		for _, row := range rows[:header] {
			s.write(row)
		}
		s.flush()
		s.names = rows[header]
		header++
	}
	for _, row := range rows[header:] {
		s.write(row)
	}
}

// fits says that rows have values in the columns that have names and no others.
func (s *sheetRows) fits(rows [][]string) bool {
	if s.names == nil {
		return false
	}
	for _, row := range rows {
		for i, c := range row {
			if c != "" && (i >= len(s.names) || s.names[i] == "") {
				return false
			}
		}
		if filled(row) < 2 {
			return false
		}
	}
	return true
}

func filled(row []string) int {
	n := 0
	for _, c := range row {
		if strings.TrimSpace(c) != "" {
			n++
		}
	}
	return n
}

// headerRow returns the first of rows that names the columns of those below: at
// least two different short texts, no numbers, and rows below that fill no other
// columns and most of these. -1 if there is none.
func headerRow(rows [][]string) int {
	for i, row := range rows[:len(rows)-1] {
		if namesColumns(row) && below(row, rows[i+1:]) {
			return i
		}
	}
	return -1
}

func namesColumns(row []string) bool {
	seen := map[string]bool{}
	texts, years := 0, 0
	for _, c := range row {
		c = strings.TrimSpace(c)
		switch {
		case c == "":
			continue
		case len(c) > nameBytes || seen[c]:
			return false
		case isYear(c) || isDate(c):
			years++
		case isNumber(c):
			return false
		default:
			texts++
		}
		seen[c] = true
	}
	return years == 0 && texts >= 2 || years >= 2 && texts <= 2
}

// below says that rows are of the table whose columns names has.
func below(names []string, rows [][]string) bool {
	columns := filled(names)
	second := len(names) - 1 // of two
	for second > 0 && strings.TrimSpace(names[second]) == "" {
		second--
	}
	cells, others := 0, 0
	pairs := columns == 2
	numbers, texts := 0, 0 // in the second column of two
	for _, row := range rows {
		for i, c := range row {
			switch {
			case c == "":
			case i < len(names) && names[i] != "":
				cells++
			default:
				others++
			}
		}
		if pairs && len(row) > second && row[second] != "" {
			if isNumber(strings.TrimSpace(row[second])) {
				numbers++
			} else {
				texts++
			}
		}
	}
	if pairs && numbers > 0 && texts > 0 {
		return false // names and values side by side, of different kinds
	}
	return 10*others <= cells && 2*cells >= columns*len(rows)
}

// isYear says that a cell is a number that columns are called by.
func isYear(c string) bool {
	return len(c) == 4 && (strings.HasPrefix(c, "19") || strings.HasPrefix(c, "20")) && strings.Trim(c, "0123456789") == ""
}

func isDate(c string) bool { return len(c) == 10 && c[4] == '-' && c[7] == '-' }

// isNumber says that a cell shows a number or a date.
func isNumber(c string) bool {
	digits := 0
	for _, r := range c {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case strings.ContainsRune(" .,:-+/%()$€£¥E", r):
		default:
			return false
		}
	}
	return digits > 0
}

// write writes a row, long texts in it as paragraphs of their own.
func (s *sheetRows) write(cells []string) {
	var prose []int
	for i, c := range cells {
		if len(c) >= proseBytes {
			prose = append(prose, i)
		}
	}
	short := cells
	if len(prose) > 0 {
		short = slices.Clone(cells)
		for _, i := range prose {
			short[i] = ""
		}
	}
	s.line(s.format(short))
	if len(prose) > 0 {
		s.flush()
	}
	for _, i := range prose {
		text := cells[i]
		if i < len(s.names) && s.names[i] != "" {
			text = s.names[i] + ": " + text
		}
		s.pack.add(doc.Block{Kind: doc.Paragraph, Page: s.page, Text: text})
	}
}

// format makes a line of a row. Without names, cells before the first filled
// one say nothing.
func (s *sheetRows) format(cells []string) string {
	if s.names != nil {
		return doc.RecordRow(s.names, cells)
	}
	first := slices.IndexFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" })
	return doc.Row(cells[max(first, 0):])
}

func (s *sheetRows) line(line string) {
	if line == "" {
		return
	}
	if s.bytes+len(line) > blockBytes || len(s.lines) == blockRows {
		s.flush()
	}
	s.lines = append(s.lines, line)
	s.bytes += len(line)
}

// flush writes the block of rows. One row without columns is a text.
func (s *sheetRows) flush() {
	if len(s.lines) == 0 {
		return
	}
	kind := doc.Table
	if len(s.lines) == 1 && !strings.Contains(s.lines[0], " | ") && s.names == nil {
		kind = doc.Paragraph
	}
	s.pack.add(doc.Block{Kind: kind, Page: s.page, Text: strings.Join(s.lines, "\n")})
	s.lines, s.bytes = s.lines[:0], 0
}
