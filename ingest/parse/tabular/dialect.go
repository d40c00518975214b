package tabular

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// dialect is how a table of values is written.
type dialect struct {
	separator byte
	declared  bool // by the first record, which says nothing else
	preamble  int  // records before the table: a report's title, for example
	header    bool // the record after them names the columns
}

// Bounds of what a guess looks at.
const (
	sniffRecords = 100
	sniffBytes   = 256 << 10
)

// sniff finds out the dialect from the beginning of a file.
func sniff(src *source) dialect {
	begin := src.offset()
	if sep, ok := declared(src); ok {
		d := measure(sep, sample(src, sep)).dialect(1)
		d.declared = true
		return d
	}
	best := sampled{separator: ','}
	for _, sep := range []byte{',', ';', '\t', '|'} {
		src.seek(begin)
		if m := measure(sep, sample(src, sep)); m.better(best) {
			best = m
		}
	}
	return best.dialect(0)
}

// declared reads the line "sep=;" that spreadsheets write and understand.
func declared(src *source) (byte, bool) {
	begin := src.offset()
	var line []byte
	for len(line) < 8 {
		c, ok := src.next()
		if !ok || c == '\n' || c == '\r' {
			break
		}
		line = append(line, c)
	}
	src.seek(begin)
	if len(line) == 5 && strings.EqualFold(string(line[:4]), "sep=") {
		return line[4], true
	}
	return 0, false
}

func sample(src *source, separator byte) [][]string {
	begin := src.offset()
	c := csvReader{source: src, separator: separator}
	var records [][]string
	for len(records) < sniffRecords && src.offset()-begin < sniffBytes {
		cells, ok := c.record()
		if !ok {
			break
		}
		records = append(records, cells)
	}
	return records
}

// sampled says how well a separator explains the beginning of a file.
type sampled struct {
	separator byte
	records   [][]string
	columns   int     // the most frequent number of values
	share     float64 // of the records that have it
}

func measure(separator byte, records [][]string) sampled {
	counts := map[int]int{}
	for _, cells := range records {
		counts[len(cells)]++
	}
	m := sampled{separator: separator, records: records}
	most := 0
	for columns, n := range counts {
		if n > most || n == most && columns > m.columns {
			m.columns, most = columns, n
		}
	}
	if len(records) > 0 {
		m.share = float64(most) / float64(len(records))
	}
	return m
}

// better prefers the separator that gives records of one length; of two that
// do about as well, the one with more columns.
func (m sampled) better(than sampled) bool {
	switch {
	case m.columns < 2:
		return than.records == nil
	case than.columns < 2:
		return true
	}
	if diff := m.share - than.share; diff > .1 || diff < -.1 {
		return diff > 0
	}
	return m.columns > than.columns || m.columns == than.columns && m.share > than.share
}

// dialect tells the parts of a table. The first skip records are none of it.
func (m sampled) dialect(skip int) dialect {
	d := dialect{separator: m.separator, preamble: skip}
	const maxPreamble = 20
	for m.columns >= 2 && d.preamble < min(maxPreamble, len(m.records)-1) && 2*filled(m.records[d.preamble]) <= m.columns {
		d.preamble++
	}
	if d.preamble >= min(maxPreamble, len(m.records)-1) {
		d.preamble = skip
	}
	if d.preamble < len(m.records) {
		d.header = isHeader(m.records[d.preamble], m.records[d.preamble+1:])
	}
	return d
}

func filled(cells []string) int {
	n := 0
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			n++
		}
	}
	return n
}

// isHeader says that the first record names the columns: its values are short,
// mostly different and no figures, and are not among the values below them.
func isHeader(first []string, rows [][]string) bool {
	if len(rows) == 0 || 3*filled(first) < 2*len(first) {
		return false
	}
	seen := map[string]bool{}
	again, typed := 0, 0
	for i, cell := range first {
		name := strings.TrimSpace(cell)
		below := column(rows, i)
		switch {
		case name == "":
			continue
		case !nameLike(name) && (i == 0 || !year.MatchString(name) || allYears(below)):
			return false
		case below.has[name]:
			return false
		}
		if seen[name] {
			again++
		}
		seen[name] = true
		if below.figures > 0 && 2*below.figures >= below.filled {
			typed++
		}
	}
	return 2*again < len(first) && (typed > 0 || wordy(first))
}

// wordy says that no value is a sentence.
func wordy(cells []string) bool {
	for _, cell := range cells {
		if strings.HasSuffix(strings.TrimSpace(cell), ".") || len(strings.Fields(cell)) > 6 {
			return false
		}
	}
	return true
}

// columnSample is what is known of a column's values.
type columnSample struct {
	has     map[string]bool
	filled  int
	figures int
}

func column(rows [][]string, i int) columnSample {
	c := columnSample{has: map[string]bool{}}
	for _, row := range rows {
		if i >= len(row) {
			continue
		}
		v := strings.TrimSpace(row[i])
		if v == "" {
			continue
		}
		c.has[v] = true
		c.filled++
		if figure.MatchString(v) {
			c.figures++
		}
	}
	return c
}

func allYears(c columnSample) bool {
	for v := range c.has {
		if !year.MatchString(v) {
			return false
		}
	}
	return true
}

var (
	year = regexp.MustCompile(`^(19|20)[0-9]{2}$`)
	// figure matches numbers, amounts, percentages, dates and times.
	figure = regexp.MustCompile(`^[-+(]?\p{Sc}?\s?[0-9][0-9.,:/\-' \x{a0}]*\s?(%|\)|\p{Sc}|[TZ+][0-9:.+\-Z]*|[eE][-+]?[0-9]+|AM|PM|am|pm)?\)?$`)
)

// nameLike says that a value may name a column.
func nameLike(v string) bool {
	if utf8.RuneCountInString(v) > 80 || strings.Contains(v, "@") || strings.Contains(v, "://") {
		return false
	}
	if _, err := strconv.ParseFloat(v, 64); err == nil {
		return false
	}
	return !figure.MatchString(v)
}
