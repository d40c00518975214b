package lexical

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// textView is a passage's text as far as it was needed: most passages are
// never analysed, because their letters show that they do not name what is
// looked for.
type textView struct {
	letters  trigrams
	analysed bool
	terms    []string
}

// names says whether p's text names other's title: whether the words of the
// title follow one another in it.
func (r *Reranker) names(q *question, p, other *passage) bool {
	if !p.mayHold(other.title[other.rarest]) {
		return false // most often
	}
	for _, term := range other.title {
		if !p.mayHold(term) {
			return false
		}
	}
	if !p.text.analysed {
		q.tokens = r.analyzer.Append(q.tokens[:0], p.hit.Text)
		p.text.terms = make([]string, len(q.tokens))
		for i := range q.tokens {
			p.text.terms[i] = q.tokens[i].Term
		}
		p.text.analysed = true
	}
	return sideBySide(p.text.terms, other.title)
}

// sideBySide says whether the terms of a title follow one another in a text.
func sideBySide(text, title []string) bool {
	for i := 0; i+len(title) <= len(text); i++ {
		if slices.Equal(text[i:i+len(title)], title) {
			return true
		}
	}
	return false
}

// mayHold is false only if the text certainly lacks a term.
func (p *passage) mayHold(term string) bool {
	if p.text == nil {
		p.text = new(textView)
		p.text.letters.skim(p.hit.Text)
	}
	begin := term
	switch r, _ := utf8.DecodeRuneInString(term); {
	case analysis.IsCJK(r):
	case isLetters(term):
		// A stem and its words differ in the last two letters at most.
		begin = term[:max(len(term)-2, 0)]
	default:
		return true
	}
	return p.text.letters.mayHold(begin)
}

// trigrams is a set of three bytes in a row, as a Bloom filter with one hash.
type trigrams struct {
	bits   [64]uint64
	unsure bool // it may hold anything
}

// skim adds the trigrams of a text in lower case without diacritics and
// without the signs that analysis takes out of words.
func (t *trigrams) skim(text string) {
	window := uint32(0)
	add := func(c byte) {
		window = window<<8 | uint32(c)
		t.set(window)
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case 'A' <= c && c <= 'Z':
				add(c + 'a' - 'A')
			case c != '\'' && c != '.' && c != ',':
				add(c)
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		written := text[i : i+size]
		switch {
		case r >= 0xc0 && r <= 0x24f:
			written = analysis.Fold(written)
		case r == '’':
			written = ""
		case r >= 0x4e00 && r < 0xf900: // Han and Hangul
		case unicode.IsMark(r), (r < 0x2400 || r >= 0xf900) && r >= 0x2100 && isWord(r):
			t.unsure = true // a letter that compatibility forms make another of
		}
		for j := range len(written) {
			add(written[j])
		}
		i += size
	}
}

func (t *trigrams) set(window uint32) {
	h := hashTrigram(window)
	t.bits[h>>6] |= 1 << (h & 63)
}

// mayHold is false only if the text certainly lacks s.
func (t *trigrams) mayHold(s string) bool {
	if t.unsure {
		return true
	}
	for i := 0; i+2 < len(s); i++ {
		h := hashTrigram(uint32(s[i])<<16 | uint32(s[i+1])<<8 | uint32(s[i+2]))
		if t.bits[h>>6]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return true
}

// hashTrigram spreads the lower three bytes over 4096 bits.
func hashTrigram(window uint32) uint32 {
	return (window & 0xffffff) * 0x9e3779b1 >> 20
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func isLetters(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}
