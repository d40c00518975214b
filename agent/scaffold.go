package agent

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What only the server writes, as it stands in folded text: the tags around a
// passage and what was found in it, and lines that begin like the head of a source.
var (
	fence   = regexp.MustCompile(`<\s*/?\s*(?:content|found)(?:[\s/][^<>]*)?>`)
	opening = regexp.MustCompile(`(?m)^ *(?:source *0+ *\(|citation *:|\(0+ more sources)`)
)

// disarm keeps quoted text from posing as the server's: "<content>" becomes
// "‹content›", and a line that looks like the head of a source is marked as
// quoted. What counts is what a reader sees: no character that is blank,
// invisible or of full width gets round it. All other text stays as it is.
func disarm(text string) string {
	f := fold(text)
	return f.edit(append(f.fences(), f.openings()...))
}

// inName makes a name safe to stand in a line of the server's: one line,
// without the tags.
func inName(s string) string {
	f := fold(oneLine(s))
	return f.edit(f.fences())
}

// oneLine makes a name safe to stand in a line of its own: no line breaks, no
// control characters, at most 200 characters.
func oneLine(s string) string {
	const most = 200
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			b.WriteString("...")
			break
		}
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// folded is a text as a reader takes it, with where each byte comes from.
type folded struct {
	text   string
	seen   string // small letters, digits as 0, blanks as one kind
	origin []int  // offset in text of each byte of seen, and at last its length
}

func fold(text string) folded {
	f := folded{text: text, origin: make([]int, 0, len(text)+1)}
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range text {
		r, visible := foldRune(r)
		if !visible {
			continue
		}
		b.WriteRune(r)
		for len(f.origin) < b.Len() {
			f.origin = append(f.origin, i)
		}
	}
	f.seen, f.origin = b.String(), append(f.origin, len(text))
	return f
}

// foldRune says what a reader takes a character for, and whether it shows.
func foldRune(r rune) (rune, bool) {
	if '\uff01' <= r && r <= '\uff5e' { // ASCII at full width
		r -= '\uff01' - '!'
	}
	switch {
	case 'a' <= r && r <= 'z':
		return r, true
	case strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r):
		return '\n', true
	case unicode.In(r, unicode.Z, unicode.Cc) || strings.ContainsRune("\u115f\u1160\u2800\u3164\uffa0", r):
		return ' ', true // the last are letters and a symbol without ink
	case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me):
		return 0, false
	case unicode.Is(unicode.Nd, r):
		return '0', true
	case r == 'ſ':
		return 's', true
	}
	return unicode.ToLower(r), true
}

// edit replaces text[from:to], which holds one character or none.
type edit struct {
	from, to int
	by       string
}

func (f *folded) fences() (edits []edit) {
	for _, m := range fence.FindAllStringIndex(f.seen, -1) {
		edits = append(edits, f.replace(m[0], "‹"), f.replace(m[1]-1, "›"))
	}
	return edits
}

func (f *folded) openings() (edits []edit) {
	for _, m := range opening.FindAllStringIndex(f.seen, -1) {
		at := f.origin[m[0]]
		edits = append(edits, edit{at, at, "| "})
	}
	return edits
}

// replace is the edit of the character that byte i of seen stands for.
func (f *folded) replace(i int, by string) edit {
	at := f.origin[i]
	_, size := utf8.DecodeRuneInString(f.text[at:])
	return edit{at, at + size, by}
}

func (f *folded) edit(edits []edit) string {
	if len(edits) == 0 {
		return f.text
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	done := 0
	for _, e := range edits {
		b.WriteString(f.text[done:e.from])
		b.WriteString(e.by)
		done = e.to
	}
	b.WriteString(f.text[done:])
	return b.String()
}
