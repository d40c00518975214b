package bm25

import (
	"unicode"
	"unicode/utf8"

	"ragagent/retrieval/analysis"
)

// queryWord is one word of the query, in the order they were written.
type queryWord struct {
	term string // analysed
	word string // before stemming
	cjk  bool
	stem int // index into match.stems
}

// analyse cuts the query into words, repairs their spelling and finds the
// posting lists of its distinct terms.
func (m *match) analyse(a *analysis.Analyzer, text string) {
	index := make(map[string]int)
	spelling := respelling{text: text}
	for _, token := range a.Analyze(text) {
		w := queryWord{term: token.Term, word: token.Word, cjk: token.CJK}
		at, known := index[w.term]
		if !known {
			list := m.stemList(w.term)
			if list.df == 0 && m.repair(&w) {
				spelling.replace(token, w.word)
				if at, known = index[w.term]; !known {
					list = m.stemList(w.term)
				}
			}
			if !known {
				at = len(m.stems)
				index[w.term] = at
				m.stems = append(m.stems, list)
			}
		}
		w.stem = at
		m.words = append(m.words, w)
	}
	m.text = spelling.String()
	for _, s := range m.stems {
		if s.df > 0 {
			m.most += mostOfIDF * s.idf
		}
	}
	if m.most == 0 {
		m.most = 1 // no term is known, so every sum stays 0
	}
}

// stemList finds a term in title, headings and text.
func (m *match) stemList(term string) termList {
	return m.list(term, func(p *part) []byte {
		if i := p.stems.find(term); i >= 0 {
			return p.stems.list(i)
		}
		return nil
	})
}

// surfaceList finds an unstemmed word in title, headings and text.
func (m *match) surfaceList(word string) termList {
	return m.list(word, func(p *part) []byte {
		if i := p.surface.find(word); i >= 0 {
			return p.surfacePostings(i)
		}
		return nil
	})
}

func (m *match) list(term string, find func(*part) []byte) termList {
	l := termList{term: term, postings: make([][]posting, len(m.parts))}
	for i := range m.parts {
		p := &m.parts[i]
		list := find(p)
		if list == nil {
			continue
		}
		l.postings[i] = m.scratch.decode(list)
		l.df += p.count(l.postings[i])
	}
	l.idf = idf(m.live.chunks, l.df)
	return l
}

// count counts the postings of live chunks.
func (p *part) count(postings []posting) int {
	if p.dead == nil {
		return len(postings)
	}
	n := 0
	for _, q := range postings {
		if !p.dead.has(q.doc) {
			n++
		}
	}
	return n
}

// repair replaces a word that no chunk has by the most frequent one that
// differs from it by one letter, added, left out, changed, or swapped with the
// next. A word that begins with another letter must be three times as
// frequent. It tells whether there is one.
func (m *match) repair(w *queryWord) bool {
	if w.cjk || !isAlphabetic(w.word) || utf8.RuneCountInString(w.word) < minRepaired {
		return false
	}
	best, weight := "", 0
	first, _ := utf8.DecodeRuneInString(w.word)
	seen := make(map[string]bool)
	for near := range nearWords(w.word) {
		if seen[near] {
			continue
		}
		seen[near] = true
		n := m.surfaceDF(near)
		if r, _ := utf8.DecodeRuneInString(near); r == first {
			n *= 3
		}
		if n > weight || n == weight && n > 0 && near < best {
			best, weight = near, n
		}
	}
	if weight == 0 {
		return false
	}
	w.word, w.term = best, m.stemOfSurface(best)
	return true
}

// minRepaired is the number of letters from which on words are repaired.
const minRepaired = 4

func isAlphabetic(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return true
}

// surfaceDF counts the chunks that have an unstemmed word.
func (m *match) surfaceDF(word string) int {
	df := 0
	for i := range m.parts {
		p := &m.parts[i]
		if term := p.surface.find(word); term >= 0 {
			if p.dead == nil {
				df += int(p.surface.df[term])
			} else {
				df += p.count(m.scratch.decode(p.surfacePostings(term)))
			}
		}
	}
	return df
}

func (m *match) stemOfSurface(word string) string {
	for i := range m.parts {
		p := &m.parts[i]
		if term := p.surface.find(word); term >= 0 {
			return p.stems.term(int(p.stemOf[term]))
		}
	}
	return word
}
