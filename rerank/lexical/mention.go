package lexical

import (
	"bytes"
	"sort"

	"ragagent/retrieval/analysis"
)

// textView is a passage's text as far as it was needed: of most passages the
// letters show that they do not name what is looked for, and of most others the
// few words where it may stand.
type textView struct {
	letters  letters
	analysed bool
	terms    []string
}

// mayName is false only if p's text certainly does not name other's title; most
// often it is.
func (p *passage) mayName(other *passage) bool {
	if p.text == nil {
		p.text = new(textView)
		p.text.letters.skim(p.hit.Text)
	}
	l := &p.text.letters
	if !l.mayHold(other.title[other.rarest]) {
		return false
	}
	for _, term := range other.title {
		if !l.mayHold(term) {
			return false
		}
	}
	return true
}

// names says whether p's text names other's title: whether the words of the
// title follow one another in it.
func (r *Reranker) names(q *question, p, other *passage) bool {
	if !p.mayName(other) {
		return false
	}
	t := p.text
	if !t.analysed {
		if named, certain := r.namesHere(q, p, other); certain {
			return named
		}
		q.tokens = r.analyzer.Append(q.tokens[:0], p.hit.Text)
		t.terms = make([]string, len(q.tokens))
		for i := range q.tokens {
			t.terms[i] = q.tokens[i].Term
		}
		t.analysed = true
	}
	return sideBySide(t.terms, other.title, func(term string) string { return term })
}

const (
	// maxPlaces is how many places in a text are looked at before all of it is
	// analysed.
	maxPlaces = 16
	// piecesAround is how many pieces of the text are analysed on each side of a
	// place, for each word of the title: one in two is a stop word.
	piecesAround = 6
)

// namesHere is names, found at the places where the title's rarest word may
// stand. certain is false if that does not tell.
//
// Analysis looks at one piece between white space after the other, so that what
// it finds in a part of a text is what it finds there in all of it.
func (r *Reranker) namesHere(q *question, p, other *passage) (named, certain bool) {
	title, l := other.title, &p.text.letters
	begin, ok := beginning(title[other.rarest])
	if !ok || begin == "" || l.unsure {
		return false, false
	}
	text, before, after := p.hit.Text, other.rarest, len(title)-other.rarest-1
	at, start := 0, 0 // in letters and in text, after the same white space
	for range maxPlaces {
		next := bytes.Index(l.text[at:], []byte(begin))
		if next < 0 {
			return false, true
		}
		start = afterSpaces(text, start, countSpaces(l.text[at:at+next]))
		end := endOfPiece(text, start)
		// Most places are in another word.
		q.tokens = r.analyzer.Append(q.tokens[:0], text[start:end])
		if !sideBySide(q.tokens, title[other.rarest:other.rarest+1], termOf) {
			at, start = endOfPiece(l.text, at+next), end
			continue
		}
		from, to := back(text, start, piecesAround*before), ahead(text, end, piecesAround*after)
		q.tokens = r.analyzer.Append(q.tokens[:0], text[from:to])
		if sideBySide(q.tokens, title, termOf) {
			return true, true
		}
		reachesBack := from == 0 || tokensBefore(q.tokens, start-from) >= before
		reachesOn := to == len(text) || len(q.tokens)-tokensBefore(q.tokens, end-from) >= after
		if !reachesBack || !reachesOn {
			return false, false
		}
		at, start = endOfPiece(l.text, at+next), end
	}
	return false, false
}

func termOf(t analysis.Token) string { return t.Term }

// tokensBefore counts the tokens that begin before a byte of their text.
func tokensBefore(tokens []analysis.Token, at int) int {
	return sort.Search(len(tokens), func(i int) bool { return tokens[i].Start >= at })
}

// sideBySide says whether the terms of a title follow one another among tokens.
func sideBySide[T any](tokens []T, title []string, term func(T) string) bool {
	for i := 0; i+len(title) <= len(tokens); i++ {
		n := 0
		for n < len(title) && term(tokens[i+n]) == title[n] {
			n++
		}
		if n == len(title) {
			return true
		}
	}
	return false
}

func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

func countSpaces(text []byte) (n int) {
	for _, c := range text {
		if isSpace(c) {
			n++
		}
	}
	return n
}

// afterSpaces returns where n more spaces have passed.
func afterSpaces(text string, at, n int) int {
	for ; n > 0; at++ {
		if isSpace(text[at]) {
			n--
		}
	}
	return at
}

// endOfPiece returns where the piece ends that at is in.
func endOfPiece[T string | []byte](text T, at int) int {
	for at < len(text) && !isSpace(text[at]) {
		at++
	}
	return at
}

// back returns the beginning of the n-th piece before the one that begins at.
func back(text string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		at--
		for at > 0 && !isSpace(text[at-1]) {
			at--
		}
	}
	return at
}

// ahead returns the end of the n-th piece after the one that ends at.
func ahead(text string, at, n int) int {
	for ; n > 0 && at < len(text); n-- {
		at = endOfPiece(text, at+1)
	}
	return at
}
