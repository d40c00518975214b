package chunk

import (
	"regexp"
	"strings"

	"ragagent/ingest/parse"
)

// table is what its rows do not say themselves.
type table struct {
	at        int    // where the table begins, nowhere if on an earlier page
	caption   string // one line; "" where there is none
	captionAt int    // where it begins
	header    string // the rows that name the columns, a line each
	headerEnd int    // where they end, line break included
}

// What may be a caption: short paragraphs right before a table, on its page.
const (
	captionBlocks = 2
	maxCaption    = 40 * one // weight of each
)

// maxHeader is how many rows at the beginning of a table may name its columns:
// "Fiscal year ended" and, below it, the years.
const maxHeader = 3

// table describes a table that comes after r.before.
func (r *reader) table(a atom) *table {
	if before := r.before[len(r.before)-1]; before.table != nil && before.page+1 == a.page && r.goesOn(before, a) {
		return &table{at: nowhere, captionAt: a.span.Start, caption: before.table.caption, header: before.table.header}
	}
	t := &table{at: a.span.Start, captionAt: a.span.Start}
	var n int
	t.header, n = header(r.text.Body[a.span.Start:a.span.End])
	t.headerEnd = a.span.Start + n
	first := len(r.before)
	for first > 0 && captions(r.before[first-1], a) {
		first--
	}
	if first < len(r.before) {
		t.captionAt = r.before[first].span.Start
		t.caption = headingText(r.text.Body[r.before[first].span.Start:a.span.Start])
	}
	return t
}

// nowhere is where a table begins that is the rest of one on the page before.
const nowhere = -1

// goesOn says that table b, the first on its page, is the rest of table a, the
// last on the page before: their rows have as many cells, and b does not name
// its columns anew.
func (r *reader) goesOn(a, b atom) bool {
	first, _, _ := strings.Cut(r.text.Body[b.span.Start:b.span.End], "\n")
	last := r.text.Body[a.span.Start:a.span.End]
	last = last[strings.LastIndexByte(last, '\n')+1:]
	n := cells(first)
	return n > 1 && n == cells(last) && !namesColumns(first)
}

// cells counts those of a row.
func cells(row string) int {
	if strings.Contains(row, " | ") {
		return strings.Count(row, " | ") + 1
	}
	return len(gap.FindAllString(strings.TrimSpace(row), -1)) + 1
}

// captions says that an atom may belong to the caption of a table.
func captions(a, table atom) bool {
	return a.kind == parse.Paragraph && a.page == table.page && a.span.Len() > 0 && a.weight <= maxCaption
}

// context is what a piece that begins with the atom does not hold of the
// atom's table.
func (a atom) context() string {
	t := a.table
	switch {
	case t == nil:
		return ""
	case a.span.Start == t.at:
		return t.caption
	case t.caption == "" || t.header == "":
		return t.caption + t.header
	}
	return t.caption + "\n" + t.header
}

var (
	yearColumn = regexp.MustCompile(`\b(?:19|20)\d\d\b`)
	digits     = regexp.MustCompile(`\d+`)
	gap        = regexp.MustCompile(`\s{2,}|\t`)
)

// header returns the rows at the beginning of a table that name its columns,
// and their length: the first, and those below it that hold no figures but
// years or begin with an empty cell. Rows that name each of their values need
// none.
func header(text string) (rows string, length int) {
	lines := strings.SplitN(text, "\n", maxHeader+2)
	if len(lines) > 1 && isRecord(lines[0], lines[1]) {
		return "", 0
	}
	n := 1
	for n < maxHeader && n < len(lines)-1 && namesColumns(lines[n]) {
		n++
	}
	for i, line := range lines[:n] {
		length += len(line) + len("\n")
		lines[i] = headingText(line)
	}
	return strings.Join(lines[:n], "\n"), min(length, len(text))
}

// leads says that an atom belongs to what comes next: a heading, or the
// caption of a table that begins.
func (a atom) leads(next atom) bool {
	t := next.table
	return a.kind == parse.Heading || t != nil && !next.inside && t.captionAt <= a.span.Start && a.span.Start < t.at
}

// namesColumns says that a row below the first still belongs to the header.
func namesColumns(row string) bool {
	years := len(yearColumn.FindAllString(row, -1))
	figures := len(digits.FindAllString(row, -1))
	return years > 0 && years == figures || strings.HasPrefix(strings.TrimSpace(row), "|")
}

// isRecord says that two rows are records as "name: value | name: value".
func isRecord(first, second string) bool {
	name, _, ok := strings.Cut(first, ": ")
	return ok && !strings.Contains(name, " | ") && strings.HasPrefix(second, name+": ")
}
