package pdf

import (
	"math"
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Block is one structural piece of the text of a document.
type Block struct {
	Kind  Kind
	Level int // 1..6 for headings
	Page  int // from 1
	Text  string
}

// Kind says what a block is.
type Kind int

// Kinds of blocks.
const (
	Paragraph Kind = iota
	Heading
	List
	Table
	Code
)

// Structure makes blocks of pages: running headers and footers are dropped,
// lines become paragraphs, headings, lists and tables. No block crosses a
// page.
func Structure(pages []Page) []Block {
	pages = withoutFurniture(pages)
	s := newStyle(pages)
	hyphens := newHyphens(pages)
	var groups []group
	for _, p := range pages {
		groups = append(groups, s.groups(p)...)
	}
	s.rankHeadings(groups)
	blocks := make([]Block, 0, len(groups))
	for _, g := range groups {
		blocks = append(blocks, s.block(g, hyphens))
	}
	return blocks
}

// group is the lines of one block.
type group struct {
	page  int
	kind  Kind
	lines []Line
	look  look // of headings
}

// style is what is usual in a document.
type style struct {
	size    float64 // of most of the text
	leading float64 // distance of baselines in em
	mono    bool    // most of it has characters of one width
	levels  map[look]int
}

// look is how a heading is set apart.
type look struct {
	size float64 // rounded to half points
	rank int     // of numbered headings: 0 for parts, 1 for items, 2 for others
	bold bool
	caps bool
}

func newStyle(pages []Page) *style {
	sizes, leadings := map[float64]int{}, map[float64]int{}
	mono := 0
	for _, p := range pages {
		for i, l := range p.Lines {
			sizes[l.Size] += len(l.Text)
			if l.Mono {
				mono += len(l.Text)
			} else {
				mono -= len(l.Text)
			}
			if i == 0 || p.Lines[i-1].Column != l.Column || p.Lines[i-1].Size != l.Size {
				continue
			}
			if d := (l.Y - p.Lines[i-1].Y) / math.Max(l.Size, 1); d > 0.8 && d < 2.5 {
				leadings[math.Round(d*20)/20] += len(l.Text)
			}
		}
	}
	s := &style{size: most(sizes), leading: most(leadings), mono: mono > 0, levels: map[look]int{}}
	if s.leading == 0 {
		s.leading = 1.2
	}
	return s
}

// groups cuts the lines of a page into blocks.
func (s *style) groups(p Page) []group {
	var out []group
	right := rightEdges(p.Lines)
	for i := 0; i < len(p.Lines); {
		if n := s.codeLength(p.Lines[i:]); n > 0 {
			out = append(out, group{page: p.Number, kind: Code, lines: p.Lines[i : i+n]})
			i += n
			continue
		}
		if n := s.tableLength(p, p.Lines[i:]); n > 0 {
			out = append(out, group{page: p.Number, kind: Table, lines: p.Lines[i : i+n]})
			i += n
			continue
		}
		n := 1
		for i+n < len(p.Lines) && !s.breaks(p.Lines[i+n-1], p.Lines[i+n], right) && !s.isCode(p.Lines[i+n]) && s.tableLength(p, p.Lines[i+n:]) == 0 {
			n++
		}
		out = append(out, s.classify(p.Number, p.Lines[i:i+n]))
		i += n
	}
	return mergeLists(out)
}

// rightEdges returns the right margin of each column of a page.
func rightEdges(lines []Line) map[int]float64 {
	edges := map[int]float64{}
	for _, l := range lines {
		edges[l.Column] = math.Max(edges[l.Column], l.X1)
	}
	return edges
}

// breaks says that a paragraph ends between two lines.
func (s *style) breaks(a, b Line, right map[int]float64) bool {
	em := math.Max(a.Size, 1)
	gap := (b.Y - a.Y) / em
	room := (right[a.Column] - a.X1) / em // left free at the end of a
	if a.Column != b.Column {
		return !runsOn(a, b)
	}
	switch {
	case math.Abs(a.Size-b.Size) > 0.12*math.Max(a.Size, b.Size),
		a.Bold != b.Bold,
		gap > 1.3*s.leading || gap < 0.3,
		marker.MatchString(b.Text),
		isRow(a) || isRow(b):
		return true
	case b.X0 > a.X0+1.2*em && !marker.MatchString(a.Text) && endsSentence(a.Text):
		return true // an indented first line
	case room > 12 && startsUpper(b.Text):
		return true
	}
	return room > 5 && endsSentence(a.Text)
}

// runsOn says that a sentence goes on from the foot of a column to the head of
// the next.
func runsOn(a, b Line) bool {
	first, _ := utf8.DecodeRuneInString(b.Text)
	return b.Y < a.Y && a.Size == b.Size && a.Bold == b.Bold && !isRow(a) && !isRow(b) &&
		!endsSentence(a.Text) && unicode.IsLower(first)
}

// marker is what an item of a list begins with.
var marker = regexp.MustCompile(`^(?:[•●○◦▪■□➢►✓–—*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])\s*\S`)

// maxMarker is the length of the longest mark, in characters.
const maxMarker = 6

// bulletOnly is a marker that no sentence begins with.
var bulletOnly = regexp.MustCompile(`^[•●○◦▪■□➢►✓·]`)

// classify says what a group of lines that is no table is.
func (s *style) classify(page int, lines []Line) group {
	g := group{page: page, lines: lines}
	text := lines[0].Text
	switch {
	case s.isHeading(lines):
		g.kind = Heading
		g.look = look{size: math.Round(lines[0].Size*2) / 2, rank: rank(text), bold: lines[0].Bold, caps: isCaps(text)}
	case marker.MatchString(text):
		g.kind = List
	}
	return g
}

// numbered is how the headings of reports and laws begin.
var numbered = regexp.MustCompile(`^(?i:(part|chapter|book|title)|item|section|appendix|article|annex|schedule)\s+(?:\d+[A-Za-z]?|[IVXLC]+)\b`)

func rank(text string) int {
	switch m := numbered.FindStringSubmatch(text); {
	case m == nil:
		return 2
	case m[1] != "":
		return 0
	}
	return 1
}

func (s *style) isHeading(lines []Line) bool {
	first := lines[0]
	length := 0
	for _, l := range lines {
		length += utf8.RuneCountInString(l.Text)
	}
	large := first.Size > 1.12*s.size
	switch {
	case len(lines) > 3, length > 160, strings.HasPrefix(first.Text, "("), isRow(first), letters(first.Text) < 3, bulletOnly.MatchString(first.Text):
		return false
	case numbered.MatchString(first.Text) && length < 100:
		return true
	case endsSentence(lines[len(lines)-1].Text) && !large:
		return false
	case large:
		return true
	case first.Size < 0.9*s.size:
		return false
	}
	return len(lines) <= 2 && length <= 120 && (first.Bold || isCaps(first.Text))
}

// rankHeadings gives each look of headings its level: larger before smaller,
// numbered before others, bold before plain, capitals before the rest.
func (s *style) rankHeadings(groups []group) {
	var looks []look
	for _, g := range groups {
		if _, ok := s.levels[g.look]; g.kind == Heading && !ok {
			s.levels[g.look] = 0
			looks = append(looks, g.look)
		}
	}
	sort.Slice(looks, func(i, j int) bool {
		a, b := looks[i], looks[j]
		switch {
		case a.size != b.size:
			return a.size > b.size
		case a.rank != b.rank:
			return a.rank < b.rank
		case a.bold != b.bold:
			return a.bold
		}
		return a.caps && !b.caps
	})
	for i, l := range looks {
		s.levels[l] = min(i+1, 6)
	}
}

// block writes a group.
func (s *style) block(g group, hyphens hyphens) Block {
	b := Block{Kind: g.kind, Page: g.page}
	switch g.kind {
	case Code:
		b.Text = codeText(g.lines)
	case Table:
		b.Text = joinLines(g.lines)
	case Heading:
		b.Level = s.levels[g.look]
		b.Text = hyphens.join(g.lines)
	case List:
		b.Text = hyphens.joinItems(g.lines)
	default:
		b.Text = hyphens.join(g.lines)
	}
	return b
}

func joinLines(lines []Line) string {
	var out strings.Builder
	for i, l := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(l.Text)
	}
	return out.String()
}

// mergeLists makes one list of items that follow each other. The groups are
// of one page, and parts of its lines without gaps: nothing has to be copied,
// which would take for ever where every line is an item.
func mergeLists(groups []group) []group {
	out := groups[:0]
	for _, g := range groups {
		if n := len(out); n > 0 && g.kind == List && out[n-1].kind == List {
			last := &out[n-1]
			last.lines = last.lines[:len(last.lines)+len(g.lines)]
			continue
		}
		out = append(out, g)
	}
	return out
}

func endsSentence(text string) bool {
	text = strings.TrimRight(text, ` "'”’)]*`)
	r, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!?:;。！？：；", r)
}

func startsUpper(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '$' || r == '('
}

func letters(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// isCaps says that text is written in capitals; scripts without case have none.
func isCaps(text string) bool {
	upper, lower := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		}
	}
	return upper >= 4 && lower*10 <= upper
}
