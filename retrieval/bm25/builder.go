package bm25

import (
	"slices"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// segmentBuilder makes a segment of chunks that come by document and ordinal.
type segmentBuilder struct {
	lexicon *analysis.Lexicon
	sorting *sorting
	offset  uint32 // chunks that the first document has in segments before
	s       segment
	ids     namesBuilder

	// Words and stems have provisional numbers, in the order they come.
	words       []string
	stemOf      []uint32 // of each word; CJK terms are words, too
	cjk         []bool   // of each word
	stems       []string
	occurrences []occurrence
	wordNumber  []uint32 // by number in the lexicon: provisional number + 1
	stemNumber  []uint32

	singles   *fieldBuilder
	titles    *titleBuilder
	tokens    []analysis.Occurrence
	singleBuf []string
}

// newSegmentBuilder returns a builder that is the bench's only user until it has
// built. offset is how many chunks the first document has in segments before
// this.
func newSegmentBuilder(b *bench, offset int) *segmentBuilder {
	return &segmentBuilder{
		lexicon: b.lexicon, sorting: &b.sorting, occurrences: b.occurrences[:0], offset: uint32(offset),
		singles: newFieldBuilder(), titles: newTitleBuilder(b.lexicon),
	}
}

// add adds the next chunk.
func (b *segmentBuilder) add(c *store.Chunk) {
	chunk := uint32(b.ids.len())
	b.ids.add(c.ID)
	b.document(c, chunk)
	b.s.length = append(b.s.length, 0)
	b.s.singleLength = append(b.s.singleLength, 0)

	b.tokens = b.lexicon.Append(b.tokens[:0], c.Title)
	b.titles.add(c.Title, b.tokens)
	next := b.index(chunk, 0, c.Title)
	for _, heading := range c.Headings {
		if heading == c.Title {
			continue
		}
		b.tokens = b.lexicon.Append(b.tokens[:0], heading)
		next = b.index(chunk, next, heading)
	}
	if c.Context != "" {
		b.tokens = b.lexicon.Append(b.tokens[:0], c.Context)
		next = b.index(chunk, next, c.Context)
	}
	b.tokens = b.lexicon.Append(b.tokens[:0], c.Text)
	b.index(chunk, next, c.Text)
}

// document counts the chunk to its document.
func (b *segmentBuilder) document(c *store.Chunk, chunk uint32) {
	if n := len(b.s.documents); n == 0 || b.s.documents[n-1].id != c.DocumentID {
		b.s.documents = append(b.s.documents, document{id: c.DocumentID, revision: c.Revision, first: chunk, offset: b.offset})
		b.offset = 0
	}
	last := len(b.s.documents) - 1
	b.s.documents[last].count++
	b.s.docOf = append(b.s.docOf, uint32(last))
}

// index adds the collected tokens of one part of a chunk, whose positions
// begin at position. It returns the first position of the next part, which
// leaves a gap, so that no pair reaches over the border.
func (b *segmentBuilder) index(chunk, position uint32, text string) uint32 {
	for _, t := range b.tokens {
		word := b.word(t.Word)
		at := noPosition
		if !b.cjk[word] {
			at = position + t.Position
		}
		b.occurrences = append(b.occurrences, occurrence{word, chunk, at})
	}
	b.s.length[chunk] += uint32(len(b.tokens))
	b.singleBuf = analysis.AppendSingles(b.singleBuf[:0], text)
	for _, c := range b.singleBuf {
		b.singles.add(b.singles.number(c), chunk)
	}
	b.s.singleLength[chunk] += uint32(len(b.singleBuf))
	return position + uint32(len(b.tokens)) + 1
}

// word returns the provisional number of a word by that in the lexicon.
func (b *segmentBuilder) word(number uint32) uint32 {
	if int(number) >= len(b.wordNumber) {
		b.wordNumber = append(b.wordNumber, make([]uint32, b.lexicon.Len()-len(b.wordNumber))...)
		b.stemNumber = append(b.stemNumber, make([]uint32, b.lexicon.Terms()-len(b.stemNumber))...)
	}
	if known := b.wordNumber[number]; known > 0 {
		return known - 1
	}
	w := b.lexicon.Word(number)
	if b.stemNumber[w.Term] == 0 {
		b.stems = append(b.stems, b.lexicon.Term(w.Term))
		b.stemNumber[w.Term] = uint32(len(b.stems))
	}
	b.words = append(b.words, w.Word)
	b.cjk = append(b.cjk, w.CJK)
	b.stemOf = append(b.stemOf, b.stemNumber[w.Term]-1)
	b.wordNumber[number] = uint32(len(b.words))
	return uint32(len(b.words) - 1)
}

// build returns the segment. The builder must not be used again.
func (b *segmentBuilder) build() *segment {
	s := b.s
	b.buildWords(&s)
	s.singles = b.singles.build()
	if s.singles.len() == 0 {
		s.singleLength = nil
	}
	s.titles = b.titles.build()
	s.ids = b.ids.build()
	s.idSlots = newSlots(&s.ids)
	s.clip()
	s.setBounds()
	return &s
}

// buildWords builds the fields of stems and of unstemmed words, which have an
// empty list where it would be that of the stem.
func (b *segmentBuilder) buildWords(s *segment) {
	stems, stemNumber := inOrder(b.stems)
	stemOf := make([]uint32, len(b.words)) // provisional word to final stem
	wordsOf := make([]uint32, len(stems))  // how many a stem has
	var plain []string                     // words that are not CJK
	for word, stem := range b.stemOf {
		stemOf[word] = stemNumber[stem]
		if !b.cjk[word] {
			plain = append(plain, b.words[word])
			wordsOf[stemOf[word]]++
		}
	}
	s.stems = writeField(stems, b.occurrences, stemOf, true, b.sorting)

	words, plainNumber := inOrder(plain)
	s.stemOf = make([]uint32, len(words))
	number := make([]uint32, len(b.words)) // provisional word to final one
	next := 0
	for word, stem := range stemOf {
		number[word] = gone
		if b.cjk[word] {
			continue
		}
		final := plainNumber[next]
		next++
		s.stemOf[final] = stem
		if wordsOf[stem] > 1 {
			number[word] = final
		}
	}
	s.surface = writeField(words, b.occurrences, number, false, b.sorting)
	for word, stem := range s.stemOf {
		if wordsOf[stem] == 1 {
			s.surface.df[word] = s.stems.df[stem]
		}
	}
}

// clip gives back what growing left over.
func (s *segment) clip() {
	s.documents = slices.Clone(s.documents)
	s.docOf = slices.Clone(s.docOf)
	s.length = slices.Clone(s.length)
	s.singleLength = slices.Clone(s.singleLength)
	t := &s.titles
	t.hash = slices.Clone(t.hash)
	t.length = slices.Clone(t.length)
	t.of = slices.Clone(t.of)
}
