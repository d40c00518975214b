package tabular

import (
	"strings"

	"ragagent/ingest/parse/doc"
)

// Bounds of what is written as one block. A chunk is cut between blocks before
// it is cut within one, where it would begin with another row's values.
const (
	maxTableBytes = 600
	maxTableRows  = 20
	// proseBytes is the length from which a value is a text of its own.
	proseBytes = 400
	// maxNames bounds the names of columns that are told as a property.
	maxNames = 100
)

// table writes records as rows that name their columns, some in a block.
type table struct {
	out   doc.Sink
	names []string // of the columns; nil where there are none
	count int      // records so far

	rows  []string
	bytes int
}

func newTable(out doc.Sink) *table { return &table{out: out} }

// row writes a record of the columns.
func (t *table) row(cells []string) {
	t.count++
	var prose []int
	for i, cell := range cells {
		if isProse(cell) {
			prose = append(prose, i)
		}
	}
	if len(prose) == 0 {
		t.line(t.format(cells))
		return
	}
	t.flush()
	short := append([]string(nil), cells...)
	for _, i := range prose {
		short[i] = ""
	}
	t.line(t.format(short))
	t.flush()
	for _, i := range prose {
		name := ""
		if i < len(t.names) {
			name = t.names[i]
		}
		addProse(t.out, name, cells[i])
	}
}

// format makes a line of a record. Without names, the place of a value is all
// that tells what it is.
func (t *table) format(cells []string) string {
	if t.names == nil {
		return doc.Row(cells)
	}
	return doc.RecordRow(t.names, cells)
}

// line adds a row.
func (t *table) line(row string) {
	if row == "" {
		return
	}
	if len(t.rows) >= maxTableRows || t.bytes+len(row) > maxTableBytes {
		t.flush()
	}
	t.rows = append(t.rows, row)
	t.bytes += len(row)
}

// flush ends the block being written.
func (t *table) flush() {
	if len(t.rows) > 0 {
		t.out.Add(doc.Block{Kind: doc.Table, Text: strings.Join(t.rows, "\n")})
	}
	t.rows, t.bytes = t.rows[:0], 0
}

// properties tells the names of the columns and the number of rows.
func (t *table) properties() {
	t.out.Property("rows", float64(t.count))
	if names := t.names; len(names) > 0 {
		t.out.Property("columns", names[:min(len(names), maxNames)])
	}
}

// isProse says that a value is a text rather than a fact.
func isProse(v string) bool {
	return len(v) >= proseBytes && strings.Count(v, " ") >= len(v)/20 || strings.Contains(v, "\n\n")
}

// addProse adds a text as paragraphs, with the name of its field before it.
func addProse(out doc.Sink, name, text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if name = strings.Join(strings.Fields(name), " "); name != "" {
		text = name + ": " + strings.TrimSpace(text)
	}
	for part := range strings.SplitSeq(text, "\n\n") {
		out.Add(doc.Block{Kind: doc.Paragraph, Text: part})
	}
}
