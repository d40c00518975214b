package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/ingest/parse"
	"ragagent/store"
)

// longestRun bounds what is looked at together, in sizes: a text without
// sections and pages is one run otherwise, however long it is.
const longestRun = 64

// runs groups atoms that may share a piece: a run ends before a section of
// substance and at the end of a page. do must not keep the slice.
func (s *splitter) runs(f *feed, do func([]atom)) {
	var cur []atom
	weight := 0
	content := false // cur holds more than headings
	end := func() {
		if len(cur) > 0 {
			do(cur)
			cur, weight, content = cur[:0], 0, false
		}
	}
	for a, ok := f.pop(); ok; a, ok = f.pop() {
		switch {
		case !content:
		case a.page != cur[len(cur)-1].page && !s.acrossPages:
			rest, runs := s.runsOn(cur[len(cur)-1], a)
			if runs {
				cur = append(cur, rest[0])
			}
			end()
			if runs && len(rest) == 1 {
				continue
			}
			a = rest[len(rest)-1]
		case a.kind == parse.Heading && s.parts(cur, weight, a, f):
			end()
		case weight >= longestRun*s.size && cur[len(cur)-1].kind != parse.Heading:
			end()
		}
		cur = append(cur, a)
		weight += a.weight
		content = content || a.kind != parse.Heading
	}
	end()
}

// parts says that a run of some weight ends before a heading, which the atoms
// of f follow. A run that is small takes the next section in, unless that
// begins another top section; a section that is small joins the run before.
func (s *splitter) parts(run []atom, weight int, heading atom, f *feed) bool {
	substance := s.size / 4
	if weight < substance {
		anotherTop := common(run[0].headings, heading.headings) == 0 && len(run[0].headings) > 0
		return anotherTop && 3*weight >= substance
	}
	section := s.sectionWeight(heading, f)
	sibling := common(run[len(run)-1].headings, heading.headings) > 0
	return !sibling || 2*section >= substance || weight+section > s.size
}

// sectionWeight adds up from a heading to the next, until it passes the size.
func (s *splitter) sectionWeight(heading atom, f *feed) int {
	n := heading.weight
	for i := 0; n <= s.size; i++ {
		a, ok := f.peek(i)
		if !ok || a.kind == parse.Heading {
			break
		}
		n += a.weight
	}
	return n
}

// runsOn says that b, on the next page, goes on with the sentence that a ends
// in. It then returns the rest of that sentence and, if there is more, what
// follows it; else b alone.
func (s *splitter) runsOn(a, b atom) ([]atom, bool) {
	const maxRest = 80 * one // of a sentence's rest
	if a.kind != parse.Paragraph || b.kind != parse.Paragraph || !s.open(a.span) || !s.goesOn(b.span) {
		return []atom{b}, false
	}
	end := b.span.End
	first := true
	eachSentence(s.text.Body, b.span, func(span store.Span) {
		if first {
			end, first = span.End, false
		}
	})
	rest := s.inner(b, store.Span{Start: b.span.Start, End: end})
	if rest.weight > maxRest {
		return []atom{b}, false
	}
	more := s.inner(b, store.Span{Start: end, End: b.span.End})
	if more.span.Len() == 0 {
		return []atom{rest}, true
	}
	return []atom{rest, more}, true
}

// open says that a text ends within a sentence.
func (s *splitter) open(span store.Span) bool {
	text := strings.TrimRight(s.text.Body[span.Start:span.End], `"'”’)]`)
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == ',' || r == '-' || r == '、' || r == '，'
}

// goesOn says that a text begins within a sentence.
func (s *splitter) goesOn(span store.Span) bool {
	r, _ := utf8.DecodeRuneInString(s.text.Body[span.Start:span.End])
	return unicode.IsLower(r)
}
