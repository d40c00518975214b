package rtf

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"ragagent/ingest/parse/doc"
)

// Bounds of a file.
const (
	maxDepth = 2000      // groups; deeper ones share one state
	maxText  = 1 << 20   // bytes of one paragraph, which is ended then
	maxFonts = 64 << 10  // fonts and styles that are known
	maxInfo  = 16 << 10  // bytes of one property
	maxAside = 100 << 10 // bytes of one note
)

// reader turns tokens into blocks.
type reader struct {
	out    doc.Sink
	groups []group
	depth  int // of braces

	codePage    int // of the document
	defaultFont int
	fonts       map[int]int // code pages; 0 for the document's
	font        int         // whose code page the font table is telling
	sheet       stylesheet

	raw     []byte // text not yet decoded
	literal bool   // no byte of raw is written as \'xx
	high    rune   // first half of a surrogate pair
	skip    int    // bytes still to be left out behind a \u

	page   page
	detail string // the property being read
	value  strings.Builder
	date   date
	upr    int // depth of the \upr group that is being read, 0 for none
}

func newReader(out doc.Sink) *reader {
	return &reader{
		out: out, codePage: 1252, fonts: map[int]int{}, sheet: stylesheet{levels: map[int]int{}},
		groups: []group{{uc: 1, font: -1, paragraph: plainParagraph}},
		page:   page{out: out},
	}
}

func (r *reader) top() *group { return &r.groups[len(r.groups)-1] }

func (r *reader) token(t token) {
	switch t.kind {
	case opening:
		r.flush()
		r.skip = 0
		r.open()
	case closing:
		r.flush()
		r.skip = 0
		r.close()
	case text:
		if r.skip > 0 {
			r.skip--
			return
		}
		r.top().begins = false
		r.char(t.char, t.escaped)
	case word:
		if r.skip > 0 && t.word != "u" && t.word != "*" {
			r.skip--
			return
		}
		r.flush()
		r.word(t)
	}
}

func (r *reader) open() {
	r.depth++
	if len(r.groups) >= maxDepth {
		return
	}
	g := *r.top()
	g.begins, g.star = true, false
	r.groups = append(r.groups, g)
}

func (r *reader) close() {
	if r.depth == 0 {
		return
	}
	r.depth--
	if len(r.groups) <= r.depth+1 {
		return
	}
	g := *r.top()
	r.groups = r.groups[:len(r.groups)-1]
	above := r.top()
	if g.dest == above.dest {
		return
	}
	switch g.dest {
	case aside:
		r.page.endAside()
	case detail:
		r.tell()
	case styles:
		r.sheet.end()
	}
}

// char takes a byte of text.
func (r *reader) char(c byte, escaped bool) {
	if r.top().dest == skipped || r.top().hidden {
		return
	}
	if len(r.raw) == 0 {
		r.literal = true
	}
	r.literal = r.literal && !escaped
	r.raw = append(r.raw, c)
	if len(r.raw) >= 64<<10 && c < 0x80 {
		r.flush()
	}
}

// flush decodes the bytes collected.
func (r *reader) flush() {
	if len(r.raw) == 0 {
		return
	}
	s := decode(r.raw, r.codePageNow(), r.literal)
	r.raw = r.raw[:0]
	r.write(s)
}

func (r *reader) codePageNow() int {
	font := r.top().font
	if font < 0 {
		font = r.defaultFont
	}
	if page := r.fonts[font]; page != 0 {
		return page
	}
	return r.codePage
}

// write puts decoded text to where the group's belongs.
func (r *reader) write(s string) {
	if r.high != 0 { // the second half of a pair did not come
		r.high = 0
		s = "\uFFFD" + s
	}
	switch g := r.top(); {
	case g.hidden:
	case g.dest == body, g.dest == aside:
		r.page.write(s)
	case g.dest == marker:
		r.page.mark(s)
	case g.dest == styles:
		r.sheet.name(s)
	case g.dest == detail && r.value.Len()+len(s) <= maxInfo:
		r.value.WriteString(s)
	}
}

// unicode takes a \u, whose number is a UTF-16 unit with a sign.
func (r *reader) unicode(number int) {
	r.skip = r.top().uc
	unit := rune(uint16(number))
	if r.top().dest == skipped {
		return
	}
	high := r.high
	switch {
	case high != 0 && utf16.IsSurrogate(unit):
		r.high = 0
		r.write(string(utf16.DecodeRune(high, unit)))
	case utf16.IsSurrogate(unit):
		r.high = unit
	case unit >= 0xf000 && unit <= 0xf0ff: // a character of a symbol font
		r.write(symbol(unit - 0xf000))
	default:
		r.write(string(unit))
	}
}

// symbol returns what stands for a character of a symbol font: bullets, mostly.
func symbol(c rune) string {
	if c > ' ' && c < 0x7f {
		return string(c)
	}
	return "•"
}

// tell hands over the property that has been read.
func (r *reader) tell() {
	value := strings.TrimSpace(r.value.String())
	r.value.Reset()
	switch r.detail {
	case "":
	case "title":
		r.out.Title(value)
	case "keywords":
		r.out.Property("keywords", splitKeywords(value))
	case "created", "modified":
		r.out.Property(r.detail, r.date.String())
		r.date = date{}
	default:
		r.out.Property(r.detail, value)
	}
	r.detail = ""
}

func splitKeywords(s string) []string {
	var out []string
	for _, k := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' }) {
		if k = strings.TrimSpace(k); k != "" {
			out = append(out, k)
		}
	}
	return out
}

// date is a time of the info group. Its zone is not told.
type date struct{ year, month, day, hour, minute, second int }

func (d date) String() string {
	if d.year < 1 || d.year > 9999 || d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 ||
		uint(d.hour) > 23 || uint(d.minute) > 59 || uint(d.second) > 59 {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", d.year, d.month, d.day, d.hour, d.minute, d.second)
}

func (r *reader) finish() {
	r.flush()
	if r.depth > 0 {
		r.out.Warn("the file breaks off: its end may be missing")
	}
	for r.page.inAside() {
		r.page.endAside()
	}
	r.page.endParagraph(r.top().paragraph, &r.sheet)
	r.page.endTable()
	r.page.endList()
}
