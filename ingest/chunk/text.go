package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"ragagent/store"
)

// maxHeading bounds one heading of a path, in bytes.
const maxHeading = 300

// headingText makes one short line of a heading.
func headingText(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxHeading {
		return text
	}
	return strings.TrimSpace(text[:runeStart(text, maxHeading)])
}

// trim narrows a span to what is not white space.
func trim(text string, span store.Span) store.Span {
	part := text[span.Start:span.End]
	left := len(part) - len(strings.TrimLeftFunc(part, unicode.IsSpace))
	right := len(strings.TrimRightFunc(part, unicode.IsSpace))
	if right <= left {
		return store.Span{Start: span.Start, End: span.Start}
	}
	return store.Span{Start: span.Start + left, End: span.Start + right}
}

// runeStart moves i back to where a rune begins.
func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// eachSentence calls do with the span of every sentence, by Unicode's rules
// with two additions: an abbreviation or a number before the full stop does
// not end a sentence, and a line break inside does.
func eachSentence(text string, span store.Span, do func(store.Span)) {
	start, at := span.Start, span.Start
	it := sentences.FromString(text[span.Start:span.End])
	for it.Next() {
		at += len(it.Value())
		if at < span.End && abbreviated(text[start:at]) {
			continue
		}
		do(store.Span{Start: start, End: at})
		start = at
	}
	if start < span.End {
		do(store.Span{Start: start, End: span.End})
	}
}

// eachLine calls do with the span of every line.
func eachLine(text string, span store.Span, do func(store.Span)) {
	start := span.Start
	for start < span.End {
		end := span.End
		if i := strings.IndexByte(text[start:span.End], '\n'); i >= 0 {
			end = start + i + 1
		}
		do(store.Span{Start: start, End: end})
		start = end
	}
}

// eachWord calls do with the span of every word, with the marks and blanks at
// its end. CJK characters are words of their own.
func eachWord(text string, span store.Span, do func(store.Span)) {
	start, ends := span.Start, false
	for at := span.Start; at < span.End; {
		r, n := utf8.DecodeRuneInString(text[at:span.End])
		c := classOf(r)
		if at > start && c != blank && (ends || c == cjk) {
			do(store.Span{Start: start, End: at})
			start = at
		}
		ends = c == blank || c == cjk
		at += n
	}
	if start < span.End {
		do(store.Span{Start: start, End: span.End})
	}
}

// abbreviated says that a sentence so far ends with an abbreviation, an
// initial or the number of a list item.
func abbreviated(sentence string) bool {
	head, ok := strings.CutSuffix(strings.TrimRightFunc(sentence, unicode.IsSpace), ".")
	if !ok || strings.HasSuffix(sentence, "\n") {
		return false
	}
	last := head
	if i := strings.LastIndexFunc(head, unicode.IsSpace); i >= 0 {
		last = head[i+1:]
	} else if len(head) <= 3 {
		return true // "1." or "a." is the mark of an item
	}
	last = strings.TrimLeft(last, `("'“‘[`)
	if r, n := utf8.DecodeRuneInString(last); n == len(last) && unicode.IsUpper(r) {
		return true
	}
	return abbreviations[strings.ToLower(last)] || strings.Contains(last, ".") && len(last) <= 5
}

// abbreviations that a capital letter often follows.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "jr": true, "sr": true,
	"inc": true, "corp": true, "co": true, "ltd": true, "no": true, "nos": true, "vs": true, "etc": true,
	"fig": true, "figs": true, "eq": true, "sec": true, "ch": true, "vol": true, "pp": true, "al": true,
	"approx": true, "dept": true, "gen": true, "gov": true, "sen": true, "rep": true, "rev": true,
	"jan": true, "feb": true, "mar": true, "apr": true, "aug": true, "sept": true, "oct": true, "nov": true, "dec": true,
	"z.b": true, "bzw": true, "ca": true, "nr": true, "art": true, "abs": true,
}
