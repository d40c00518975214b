package bm25

import (
	"slices"

	"ragagent/retrieval/analysis"
)

// titles are the distinct titles of a segment's chunks, and what they consist
// of. Chunks without a title have noTitle.
type titles struct {
	hash   []uint64 // of each title as written
	length []uint32 // tokens of each title
	of     []uint32 // per chunk: its title

	// chunks[chunkEnds[t-1]:chunkEnds[t]] are the chunks under title t.
	chunkEnds []uint32
	chunks    []uint32

	stems field // over titles
	// terms[termEnds[t-1]:termEnds[t]] are the distinct stems of title t,
	// distinct[t] of them.
	termEnds []uint32
	terms    []uint32
	distinct []uint32

	words  field    // unstemmed, over titles
	stemOf []uint32 // per unstemmed word: its stem
}

const noTitle = ^uint32(0)

func (t *titles) count() int { return len(t.hash) }

// under returns the chunks that have the title.
func (t *titles) under(title uint32) []uint32 {
	return numbers(t.chunks, t.chunkEnds, title)
}

// stemsOf returns the distinct stems of a title.
func (t *titles) stemsOf(title uint32) []uint32 {
	return numbers(t.terms, t.termEnds, title)
}

func numbers(all, ends []uint32, i uint32) []uint32 {
	start := uint32(0)
	if i > 0 {
		start = ends[i-1]
	}
	return all[start:ends[i]]
}

// titleBuilder collects the titles of chunks.
type titleBuilder struct {
	lexicon *analysis.Lexicon
	numbers map[uint64]uint32 // by hash
	t       titles
	stems   *fieldBuilder
	words   *fieldBuilder
	stemOf  []uint32 // provisional word number to provisional stem number
}

func newTitleBuilder(lexicon *analysis.Lexicon) *titleBuilder {
	return &titleBuilder{
		lexicon: lexicon,
		numbers: make(map[uint64]uint32),
		stems:   newFieldBuilder(),
		words:   newFieldBuilder(),
	}
}

// add gives the next chunk its title. tokens are those of text.
func (b *titleBuilder) add(text string, tokens []analysis.Occurrence) {
	if len(tokens) == 0 {
		b.t.of = append(b.t.of, noTitle)
		return
	}
	hash := hashTerm(text)
	number, known := b.numbers[hash]
	if !known {
		number = uint32(len(b.t.hash))
		b.numbers[hash] = number
		b.t.hash = append(b.t.hash, hash)
		b.t.length = append(b.t.length, uint32(len(tokens)))
		for _, token := range tokens {
			w := b.lexicon.Word(token.Word)
			word := b.words.number(w.Word)
			if int(word) == len(b.stemOf) {
				b.stemOf = append(b.stemOf, b.stems.number(b.lexicon.Term(w.Term)))
			}
			b.words.add(word, number)
			b.stems.add(b.stemOf[word], number)
		}
	}
	b.t.of = append(b.t.of, number)
}

func (b *titleBuilder) build() titles {
	t := b.t
	var stems, words []uint32
	t.stems, stems = b.stems.buildNumbered()
	t.words, words = b.words.buildNumbered()
	t.stemOf = make([]uint32, len(b.stemOf))
	for word, stem := range b.stemOf {
		t.stemOf[words[word]] = stems[stem]
	}
	t.setChunks()
	t.setTerms()
	return t
}

// setChunks inverts of.
func (t *titles) setChunks() {
	t.chunkEnds = make([]uint32, t.count())
	n := uint32(0)
	for _, title := range t.of {
		if title != noTitle {
			t.chunkEnds[title]++
			n++
		}
	}
	next := make([]uint32, t.count())
	sum := uint32(0)
	for i, c := range t.chunkEnds {
		next[i] = sum
		sum += c
		t.chunkEnds[i] = sum
	}
	t.chunks = make([]uint32, n)
	for chunk, title := range t.of {
		if title != noTitle {
			t.chunks[next[title]] = uint32(chunk)
			next[title]++
		}
	}
}

// setTerms inverts the posting lists of stems.
func (t *titles) setTerms() {
	t.termEnds = make([]uint32, t.count())
	var list []posting
	n := uint32(0)
	for term := range t.stems.len() {
		list = appendPostings(list[:0], t.stems.list(term))
		for _, p := range list {
			t.termEnds[p.doc]++
			n++
		}
	}
	t.distinct = slices.Clone(t.termEnds)
	next := make([]uint32, t.count())
	sum := uint32(0)
	for i, c := range t.termEnds {
		next[i] = sum
		sum += c
		t.termEnds[i] = sum
	}
	t.terms = make([]uint32, n)
	for term := range t.stems.len() {
		list = appendPostings(list[:0], t.stems.list(term))
		for _, p := range list {
			t.terms[next[p.doc]] = uint32(term)
			next[p.doc]++
		}
	}
}
