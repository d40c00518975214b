package parse

import "strings"

// Bounds of what is read in this process. What people write mostly stays
// below; the rest takes a child, which costs some 10 ms.
const (
	maxHTMLHere     = 256 << 10 // the HTML reader's time and memory are linear
	maxMarkdownHere = 64 << 10  // goldmark's are not; the following bounds hold them down
	maxNesting      = 16        // containers begun in one line
	maxIndent       = 64        // blanks before a line, which nest as well
	maxMarks        = 1000      // marks of links and emphasis in one paragraph
	maxFootnotes    = 200       // marks of footnotes
	maxCells        = 20_000    // of tables: each row is as wide as the widest
	maxFrontHere    = 8 << 10   // bytes of front matter
)

// harmless says that reading the text takes little time and memory, so that it
// need not be done in a child. goldmark's time is quadratic in the depth of
// nested containers, in the footnotes and, within one paragraph, in the open
// brackets and marks of emphasis; its memory in the rows of a table times its
// columns. YAML's time and memory are quadratic in comments.
func (f textFile) harmless() bool {
	switch f.format {
	case formatMarkdown:
		return len(f.text) <= maxMarkdownHere && harmlessMarkdown(f.text)
	case formatHTML:
		return len(f.text) <= maxHTMLHere
	}
	return traits[f.format].here
}

func harmlessMarkdown(text string) bool {
	front, _, _ := cutFrontMatter(text)
	if len(front) > maxFrontHere || strings.Count(text, "[^") > maxFootnotes {
		return false
	}
	cells := 0
	var p paragraph
	for line := range strings.SplitSeq(text, "\n") {
		rest := strings.TrimLeft(line, " \t")
		if rest == "" {
			cells += p.cells()
			p = paragraph{}
			continue
		}
		if len(line)-len(rest) > maxIndent || nesting(rest) > maxNesting {
			return false
		}
		p.add(line)
		if p.marks > maxMarks || cells+p.cells() > maxCells {
			return false
		}
	}
	return true
}

// paragraph counts what stands between two blank lines.
type paragraph struct {
	lines   int
	columns int // most of any line
	marks   int
}

func (p *paragraph) add(line string) {
	p.lines++
	columns := 0
	for i := range len(line) {
		switch line[i] {
		case '[', '*', '_', '`', '~', '<', '!', '&', '\\':
			p.marks++
		case '|':
			columns++
		}
	}
	p.columns = max(p.columns, columns)
}

// cells is how many a table has at most that stands in the paragraph.
func (p *paragraph) cells() int {
	if p.columns == 0 {
		return 0
	}
	return p.lines * (p.columns + 1)
}

// nesting counts the container marks a line begins with, such as "> - 1. ".
func nesting(line string) int {
	n := 0
	for len(line) >= 2 && n <= maxNesting {
		switch c := line[0]; {
		case c == '>':
			n++
		case (c == '-' || c == '+' || c == '*' || c == '.' || c == ')') && (line[1] == ' ' || line[1] == '\t'):
			n++
		case c == ' ' || c == '\t' || c >= '0' && c <= '9':
		default:
			return n
		}
		line = line[1:]
	}
	return n
}
