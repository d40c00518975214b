package rtf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/ingest/parse/doc"
)

// page puts paragraphs together to blocks.
type page struct {
	out    doc.Sink
	text   strings.Builder // of the paragraph or cell
	marker strings.Builder // of the list item
	cells  []string
	rows   []string
	bytes  int // of rows
	items  []string
	asides []string // to follow the paragraph
	outer  []string // texts that an aside interrupts
}

// Bounds of what is held of a table or list; a longer one goes on in another
// block.
const (
	maxCells = 4096
	maxRows  = 1 << 20 // bytes
	maxItems = 200
	maxNotes = 1000
)

func (p *page) write(s string) {
	if p.inAside() && p.text.Len() > maxAside {
		return
	}
	p.text.WriteString(s)
	if p.text.Len() > maxText && !p.inAside() {
		p.endTable()
		p.out.Add(doc.Block{Kind: doc.Paragraph, Text: p.take()})
	}
}

// mark takes the bullet or number of a list item.
func (p *page) mark(s string) {
	if p.marker.Len() < 100 {
		p.marker.WriteString(s)
	}
}

func (p *page) take() string {
	text := strings.TrimSpace(p.text.String())
	p.text.Reset()
	return text
}

// endParagraph makes of the text what its format says.
func (p *page) endParagraph(f format, sheet *stylesheet) {
	mark := strings.TrimSpace(p.marker.String())
	if f.table || len(p.cells) > 0 { // a paragraph within a cell
		if mark != "" {
			p.marker.Reset()
		}
		p.text.WriteByte('\n')
		return
	}
	p.marker.Reset()
	text := p.take()
	if text == "" {
		p.endTable()
		p.endAsides()
		return
	}
	p.endTable()
	switch level := sheet.level(f); {
	case level > 0:
		p.endList()
		if mark != "" && letterOrDigit(mark) {
			text = mark + " " + text
		}
		p.out.Add(doc.Block{Kind: doc.Heading, Level: level, Text: strings.Join(strings.Fields(text), " ")})
	case mark != "" || f.item:
		p.item(f.level, mark, text)
	default:
		p.endList()
		p.out.Add(doc.Block{Kind: doc.Paragraph, Text: text})
	}
	p.endAsides()
}

// item adds an item to the list.
func (p *page) item(level int, mark, text string) {
	if !letterOrDigit(mark) {
		mark = "-"
	}
	p.items = append(p.items, strings.Repeat("  ", level)+mark+" "+strings.ReplaceAll(text, "\n", " "))
	if len(p.items) >= maxItems {
		p.endList()
	}
}

func letterOrDigit(mark string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(mark, "("))
	return unicode.IsLetter(r) && len(mark) > 1 || unicode.IsDigit(r)
}

func (p *page) endList() {
	if len(p.items) > 0 {
		p.out.Add(doc.Block{Kind: doc.List, Text: strings.Join(p.items, "\n")})
	}
	p.items = p.items[:0]
}

func (p *page) endCell() {
	if p.inAside() {
		p.text.WriteByte(' ')
		return
	}
	p.marker.Reset()
	if len(p.cells) < maxCells {
		p.cells = append(p.cells, p.take())
	}
}

func (p *page) endRow() {
	if p.inAside() {
		p.text.WriteByte('\n')
		return
	}
	if text := p.take(); text != "" {
		p.cells = append(p.cells, text)
	}
	if row := doc.Row(p.cells); row != "" {
		p.endList()
		p.rows = append(p.rows, row)
		p.bytes += len(row)
	}
	p.cells = p.cells[:0]
	if p.bytes > maxRows {
		p.endTable()
	}
}

// endTable ends the table whose rows have been read, if any.
func (p *page) endTable() {
	if len(p.cells) > 0 { // the row was not ended
		cells := p.cells
		p.cells = nil
		if row := doc.Row(cells); row != "" {
			p.rows = append(p.rows, row)
		}
	}
	if len(p.rows) > 0 {
		p.out.Add(doc.Block{Kind: doc.Table, Text: strings.Join(p.rows, "\n")})
		p.rows, p.bytes = p.rows[:0], 0
		p.endAsides()
	}
}

func (p *page) inAside() bool { return len(p.outer) > 0 }

// beginAside sets the paragraph aside that a note interrupts.
func (p *page) beginAside() {
	p.outer = append(p.outer, p.text.String())
	p.text.Reset()
}

func (p *page) endAside() {
	note := p.take()
	last := len(p.outer) - 1
	if last < 0 {
		return
	}
	outer := p.outer[last]
	p.outer = p.outer[:last]
	p.text.WriteString(outer)
	if note != "" && len(p.asides) < maxNotes {
		p.asides = append(p.asides, note)
	}
}

func (p *page) endAsides() {
	if len(p.asides) == 0 {
		return
	}
	p.endList()
	for _, note := range p.asides {
		p.out.Add(doc.Block{Kind: doc.Paragraph, Text: note})
	}
	p.asides = p.asides[:0]
}
