package pdf

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hyphens joins lines to running text. Whether a hyphen at a line's end
// belongs to the word is told by how the document writes it elsewhere.
type hyphens struct {
	words map[string]int // lower case, with inner hyphens
}

// maxVocabulary bounds the words that are remembered.
const maxVocabulary = 200_000

func newHyphens(pages []Page) hyphens {
	h := hyphens{words: map[string]int{}}
	broken := false
	for _, p := range pages {
		for _, l := range p.Lines {
			broken = broken || endsHyphen(l.Text)
		}
	}
	if !broken {
		return h
	}
	for _, p := range pages {
		for _, l := range p.Lines {
			for w := range strings.FieldsSeq(l.Text) {
				if w = trimWord(w); len(w) > 3 && len(h.words) < maxVocabulary {
					h.words[w]++
				}
			}
		}
	}
	return h
}

func trimWord(w string) string {
	return strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// join makes one line of lines.
func (h hyphens) join(lines []Line) string {
	var out bytes.Buffer
	last := ""
	for i, l := range lines {
		if i > 0 {
			last = h.glue(&out, last, l.Text)
		} else {
			last = itemText(l)
		}
		out.WriteString(last)
	}
	return out.String()
}

// itemText returns a line with one blank behind the mark of a list item.
func itemText(l Line) string {
	if mark, rest, ok := strings.Cut(l.Text, "  "); ok && marker.MatchString(l.Text) && utf8.RuneCountInString(mark) <= maxMarker {
		return mark + " " + rest
	}
	return l.Text
}

// joinItems makes one line of each item of a list.
func (h hyphens) joinItems(lines []Line) string {
	var out strings.Builder
	start := 0
	for i := 1; i <= len(lines); i++ {
		if i < len(lines) && !marker.MatchString(lines[i].Text) {
			continue
		}
		if start > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(h.join(lines[start:i]))
		start = i
	}
	return out.String()
}

// glue writes what stands between two lines, the first of which is written
// already, and returns what is left to write of the second.
func (h hyphens) glue(out *bytes.Buffer, a, b string) string {
	if unspacedEnds(a, b) {
		return b
	}
	if !endsHyphen(a) {
		out.WriteByte(' ')
		return b
	}
	first, _ := utf8.DecodeRuneInString(b)
	if !unicode.IsLower(first) {
		return b // "non-" + "US": one word with its hyphen
	}
	if !h.keeps(a, b) {
		out.Truncate(out.Len() - len("-"))
	}
	return b
}

// keeps says that the hyphen between a and b belongs to the word.
func (h hyphens) keeps(a, b string) bool {
	left := trimWord(a[strings.LastIndexByte(a, ' ')+1:])
	right, _, _ := strings.Cut(b, " ")
	right = trimWord(right)
	whole, parted := h.words[left+right], h.words[left+"-"+right]
	if whole != parted {
		return parted > whole
	}
	// Unknown either way: both halves being words of their own speaks for a
	// compound.
	return strings.Contains(left, "-") || h.words[left] > 0 && h.words[right] > 1
}

// endsHyphen says that text ends with a letter and a hyphen.
func endsHyphen(text string) bool {
	head, ok := strings.CutSuffix(text, "-")
	r, _ := utf8.DecodeLastRuneInString(head)
	return ok && unicode.IsLetter(r)
}

// unspacedEnds says that both sides are of scripts without blanks.
func unspacedEnds(a, b string) bool {
	x, _ := utf8.DecodeLastRuneInString(a)
	y, _ := utf8.DecodeRuneInString(b)
	return unspaced(x) && unspaced(y)
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60
}
