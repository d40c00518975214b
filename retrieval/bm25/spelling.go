package bm25

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// Bounds of repairing words.
const (
	minRepaired = 4 // letters
	// sameLetter is how much more often a word must fit than one that begins
	// with the letter that was written.
	sameLetter = 3
	// strayFit is what a chunk counts that has none of the other words.
	strayFit = .05
	// maxTried bounds the different words of a query that are looked at: one
	// with more that no chunk has is not misspelt but of another language.
	maxTried = 16
)

// repairWords replaces, in m.words and in the text, the words that no chunk
// has by similar ones that some have. What is most like a stop word is one,
// and left out.
func (m *match) repairWords(text string, tokens []analysis.Token) string {
	spelling := respelling{text: text}
	tried := make(map[string]string)
	kept := m.words[:0]
	var sums [][]float64
	for i, w := range m.words {
		near, known := tried[w.word]
		if !known && len(tried) < maxTried && m.repairable(w) {
			if sums == nil {
				sums = m.sumStems()
			}
			near = m.repair(w.word, sums)
			tried[w.word] = near
		}
		if near != "" {
			spelling.replace(tokens[i], near)
			if analysis.IsStopWord(near) {
				continue
			}
			term := m.stemOfSurface(near)
			w = queryWord{term: term, word: near, stem: m.stem(term)}
		}
		kept = append(kept, w)
	}
	m.words = kept
	return spelling.String()
}

// sumStems returns, for every chunk of every part, the sum of the text's BM25L
// of the words as they are written.
func (m *match) sumStems() [][]float64 {
	sums := m.scratch.sums(m.parts)
	for _, term := range m.stems {
		for i := range term.in {
			p := &m.parts[i]
			for q := range term.in[i].all() {
				sums[i][q.doc] += float64(term.idf * bm25L(q.tf, m.scratch.norms.of(p.length[q.doc])))
			}
		}
	}
	return sums
}

// repairable says whether a word may be misspelt.
func (m *match) repairable(w queryWord) bool {
	return m.stems[w.stem].df == 0 && !w.cjk && isAlphabetic(w.word) && utf8.RuneCountInString(w.word) >= minRepaired
}

// repair returns what stands for a word that no chunk has: of the words that
// differ from it by one letter, added, left out, changed, or swapped with the
// next, a stop word, else the one that fits best. "" leaves the word.
func (m *match) repair(word string, sums [][]float64) string {
	best, most := "", int64(0)
	first, _ := utf8.DecodeRuneInString(word)
	for near := range nearWords(word) {
		if len(near) >= minRepaired && analysis.IsStopWord(near) {
			return near
		}
		fit := m.fit(near, sums)
		if r, _ := utf8.DecodeRuneInString(near); r == first {
			fit *= sameLetter
		}
		if fit > most || fit == most && fit > 0 && near < best {
			best, most = near, fit
		}
	}
	return best
}

// fit tells how well a word goes with the rest of the query: it sums over the
// chunks that have it the cube of what they have of the other words, which
// sums tells. So a rarer word in the right company beats
// a frequent one, and without company the more frequent one wins. The sum is
// of whole billionths, since that of fractions depends on their order.
func (m *match) fit(word string, sums [][]float64) int64 {
	sum := int64(0)
	for i := range m.parts {
		p := &m.parts[i]
		term := p.surface.find(word)
		if term < 0 {
			continue
		}
		for _, q := range m.scratch.decode(p.surfacePostings(term)) {
			if p.alive(q.doc) {
				share := strayFit + sums[i][q.doc]/m.most
				sum += int64(share * share * share * 1e9)
			}
		}
	}
	return sum
}

func isAlphabetic(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return true
}

// respelling replaces words of a text, from left to right.
type respelling struct {
	text string
	b    strings.Builder
	done int // bytes of text that b has
}

// replace puts word, in lower case, in the place of a token; a capital stays
// one.
func (r *respelling) replace(t analysis.Token, word string) {
	if t.Start < r.done {
		return
	}
	first, size := utf8.DecodeRuneInString(word)
	if written, _ := utf8.DecodeRuneInString(r.text[t.Start:]); unicode.IsUpper(written) {
		first = unicode.ToUpper(first)
	}
	r.b.WriteString(r.text[r.done:t.Start])
	r.b.WriteRune(first)
	r.b.WriteString(word[size:])
	r.done = t.End
}

func (r *respelling) String() string {
	if r.done == 0 {
		return r.text
	}
	return r.b.String() + r.text[r.done:]
}

// nearWords yields every word that differs from w by one letter added, left
// out, changed, or swapped with the next; some of them more than once.
func nearWords(w string) iter.Seq[string] {
	letters := []rune(w)
	alphabet := alphabetOf(letters[0])
	return func(yield func(string) bool) {
		buf := make([]rune, 0, len(letters)+1)
		for i := range len(letters) + 1 {
			for _, r := range alphabet {
				buf = append(append(append(buf[:0], letters[:i]...), r), letters[i:]...)
				if !yield(string(buf)) {
					return
				}
			}
		}
		for i := range letters {
			buf = append(append(buf[:0], letters[:i]...), letters[i+1:]...)
			if !yield(string(buf)) {
				return
			}
			buf = append(buf[:0], letters...)
			for _, r := range alphabet {
				if buf[i] = r; r != letters[i] && !yield(string(buf)) {
					return
				}
			}
			if i+1 < len(letters) && letters[i] != letters[i+1] {
				buf = append(buf[:0], letters...)
				buf[i], buf[i+1] = buf[i+1], buf[i]
				if !yield(string(buf)) {
					return
				}
			}
		}
	}
}

// alphabetOf returns the letters of normalised words in the script of r.
func alphabetOf(r rune) []rune {
	switch {
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.Is(unicode.Hebrew, r):
		return hebrew
	}
	return latin
}

var (
	latin    = []rune("abcdefghijklmnopqrstuvwxyz")
	cyrillic = []rune("абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ")
	greek    = []rune("αβγδεζηθικλμνξοπρστυφχψω")
	arabic   = []rune("ءابتثجحخدذرزسشصضطظعغفقكلمنهوي")
	hebrew   = []rune("אבגדהוזחטיכלמנסעפצקרשתךםןףץ")
)
