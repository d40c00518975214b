package bm25

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of matching a title word by its beginning.
const (
	minPrefix     = 3   // letters of the query word
	minCompletion = 5   // letters of the title word
	minShare      = .34 // of the title word's letters that the query has
)

// scoreTitles finds what the title field gives under each title, how much of the
// query each title names and how much of the title the query names, which is
// given to every chunk under it. A word of a title counts fully if the query has
// its stem, or two or three adjacent words of the query make it when written
// together; in part if a word of the query is its beginning. Words weigh by idf
// over distinct titles.
func (m *match) scoreTitles() {
	written := m.writtenForms()
	m.weights = newTitleWeights(m)
	for i := range m.parts {
		m.creditTitles(&m.parts[i], written)
	}
}

// writtenForms are the words of the query, and two and three adjacent ones
// joined, in order.
type writtenForms struct {
	joined []string
	words  []string // that may begin a title word
}

func (m *match) writtenForms() writtenForms {
	var f writtenForms
	seen := make(map[string]bool)
	for i, w := range m.words {
		if w.cjk {
			continue
		}
		if !seen[w.word] && utf8.RuneCountInString(w.word) >= minPrefix {
			seen[w.word] = true
			f.words = append(f.words, w.word)
		}
		joined := w.word
		for _, next := range m.words[i+1 : min(i+3, len(m.words))] {
			if next.cjk {
				break
			}
			joined += next.word
			f.joined = append(f.joined, joined)
		}
	}
	return f
}

// creditTitles sums the title field, and idf times credit, of the titles.
func (m *match) creditTitles(p *part, f writtenForms) {
	avg := average(m.live.titleTokens, m.live.chunks)
	var credited []uint32 // stems with full credit everywhere
	for i := range m.stems {
		term := &m.stems[i]
		stem := p.titles.stems.find(term.term)
		if stem < 0 {
			continue
		}
		credited = append(credited, uint32(stem))
		weight := m.weights.of(p, stem)
		for _, q := range m.scratch.decode(p.titles.stems.list(stem)) {
			t := p.scoreOf(q.doc)
			if term.df > 0 {
				t.field += float64(term.idf * bm25(q.tf, p.titles.length[q.doc], avg, titleFieldB))
			}
			t.name(weight, weight)
		}
	}
	partial := make(map[titleStem]float64)
	var order []titleStem
	credit := func(word int, amount float64) {
		stem := p.titles.stemOf[word]
		if slices.Contains(credited, stem) {
			return
		}
		for _, q := range m.scratch.decode(p.titles.words.list(word)) {
			key := titleStem{q.doc, stem}
			if partial[key] == 0 {
				order = append(order, key)
			}
			partial[key] = max(partial[key], amount)
		}
	}
	for _, joined := range f.joined {
		if word := p.titles.words.find(joined); word >= 0 {
			credit(word, 1)
		}
	}
	for _, begin := range f.words {
		from, to := p.titles.words.withPrefix(begin)
		for word := from; word < to; word++ {
			if share := prefixShare(begin, p.titles.words.term(word)); share > 0 {
				credit(word, share)
			}
		}
	}
	for _, key := range order {
		weight := m.weights.of(p, int(key.stem))
		p.scoreOf(key.title).name(float64(weight*partial[key]), weight)
	}
}

type titleStem struct{ title, stem uint32 }

// name says that the query names a stem of the title.
func (t *titleScore) name(credit, weight float64) {
	t.named += credit
	t.known += weight
	t.stems++
}

// prefixShare returns the credit of a query word for a title word that begins
// with it.
func prefixShare(begin, word string) float64 {
	letters := utf8.RuneCountInString(word)
	if letters < minCompletion || !strings.HasPrefix(word, begin) {
		return 0
	}
	share := float64(utf8.RuneCountInString(begin)) / float64(letters)
	if share < minShare {
		return 0
	}
	return share
}

// titleWeights knows the idf of title stems over distinct titles.
type titleWeights struct {
	m   *match
	idf map[string]float64
	// least is what no stem weighs less than.
	least float64
	low   *titleIDFs
}

// titleIDFs are those of small df for a number of titles; 0 if not computed yet.
type titleIDFs struct {
	titles int
	idf    [2048]float64
}

func newTitleWeights(m *match) *titleWeights {
	w := &titleWeights{m: m, idf: make(map[string]float64), low: &m.scratch.titleIDFs}
	if w.low.titles != m.titles {
		*w.low = titleIDFs{titles: m.titles}
	}
	most := uint32(0)
	for _, s := range m.snaps {
		most += s.mostTitleDF
	}
	w.least = w.weigh(int(most))
	return w
}

// of returns the weight of a part's title stem.
func (w *titleWeights) of(p *part, stem int) float64 {
	if len(w.m.snaps) == 1 { // every view knows the df of its whole collection
		return w.weigh(int(p.titleDF[stem]))
	}
	term := p.titles.stems.term(stem)
	if v, ok := w.idf[term]; ok {
		return v
	}
	v := w.weigh(w.df(term))
	w.idf[term] = v
	return v
}

// df counts the distinct titles, per collection, that have a stem.
func (w *titleWeights) df(stem string) int {
	df, counted := 0, -1
	for i := range w.m.parts {
		p := &w.m.parts[i]
		if p.snap == counted {
			continue
		}
		if number := p.titles.stems.find(stem); number >= 0 {
			df += int(p.titleDF[number])
			counted = p.snap
		}
	}
	return df
}

func (w *titleWeights) weigh(df int) float64 {
	if df >= len(w.low.idf) {
		return idf(w.m.titles, df)
	}
	if w.low.idf[df] == 0 {
		w.low.idf[df] = idf(w.m.titles, df)
	}
	return w.low.idf[df]
}

// mostCover is what cover is at most: the stems that the query does not name have
// the least weight of all.
func (m *match) mostCover(p *part, t *titleScore) float64 {
	if t.named == 0 {
		return 0
	}
	others := p.titles.distinct[t.title] - t.stems
	return min((1+rounding)*t.named/(t.known+float64(others)*m.weights.least), 1)
}

// cover returns the share of a title's idf that the query names, 0..1.
func (m *match) cover(p *part, t *titleScore) float64 {
	if !t.covered {
		t.covered = true
		if t.named > 0 {
			sum := 0.
			for _, stem := range p.titles.stemsOf(t.title) {
				sum += m.weights.of(p, int(stem))
			}
			t.cover = min(t.named/sum, 1)
		}
	}
	return t.cover
}
