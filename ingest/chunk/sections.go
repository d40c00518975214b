package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/ingest/parse"
	"ragagent/store"
)

// runs groups atoms that may share a piece: a run ends before a section of
// substance and at the end of a page.
func (s *splitter) runs(atoms []atom) [][]atom {
	var out [][]atom
	var cur []atom
	weight := 0
	content := false // cur holds more than headings
	end := func() {
		if len(cur) > 0 {
			out = append(out, cur)
			cur, weight, content = nil, 0, false
		}
	}
	for i := 0; i < len(atoms); i++ {
		a := atoms[i]
		switch {
		case !content:
		case a.page != cur[len(cur)-1].page:
			rest, ok := s.runsOn(cur[len(cur)-1], a)
			if ok {
				cur = append(cur, rest[0])
			}
			end()
			if ok && len(rest) == 1 {
				continue
			}
			a = rest[len(rest)-1]
		case a.kind == parse.Heading && s.parts(cur, weight, atoms[i:]):
			end()
		}
		cur = append(cur, a)
		weight += a.weight
		content = content || a.kind != parse.Heading
	}
	end()
	return out
}

// parts says that a run of some weight ends before the heading that next
// begins with. A run that is small takes the next section in, unless that
// begins another top section; a section that is small joins the run before.
func (s *splitter) parts(run []atom, weight int, next []atom) bool {
	substance := s.size / 4
	if weight < substance {
		anotherTop := common(run[0].headings, next[0].headings) == 0 && len(run[0].headings) > 0
		return anotherTop && 3*weight >= substance
	}
	section := sectionWeight(next)
	sibling := common(run[len(run)-1].headings, next[0].headings) > 0
	return !sibling || 2*section >= substance || weight+section > s.size
}

// sectionWeight adds up from a heading to the next.
func sectionWeight(atoms []atom) int {
	n := atoms[0].weight
	for _, a := range atoms[1:] {
		if a.kind == parse.Heading {
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
