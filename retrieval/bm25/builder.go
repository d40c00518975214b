package bm25

import (
	"slices"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// segmentBuilder makes a segment of chunks that come by document and ordinal.
type segmentBuilder struct {
	analyzer *analysis.Analyzer
	s        segment
	ids      namesBuilder

	stems     *fieldBuilder
	surface   *fieldBuilder
	stemOf    []uint32 // provisional surface number to provisional stem number
	surfaces  []uint32 // per provisional stem: how many surface words it has
	singles   *fieldBuilder
	titles    *titleBuilder
	tokens    []analysis.Token
	singleBuf []string
}

func newSegmentBuilder(a *analysis.Analyzer) *segmentBuilder {
	return &segmentBuilder{
		analyzer: a,
		stems:    newFieldBuilder(),
		surface:  newFieldBuilder(),
		singles:  newFieldBuilder(),
		titles:   newTitleBuilder(),
	}
}

// add adds the next chunk.
func (b *segmentBuilder) add(c *store.Chunk) {
	chunk := uint32(b.ids.len())
	b.ids.add(c.ID)
	b.document(c, chunk)
	b.s.length = append(b.s.length, 0)
	b.s.singleLength = append(b.s.singleLength, 0)

	b.tokens = b.analyzer.Append(b.tokens[:0], c.Title)
	b.titles.add(c.Title, b.tokens)
	next := b.index(chunk, 0, c.Title)
	for _, heading := range c.Headings {
		if heading == c.Title {
			continue
		}
		b.tokens = b.analyzer.Append(b.tokens[:0], heading)
		next = b.index(chunk, next, heading)
	}
	if c.Context != "" {
		b.tokens = b.analyzer.Append(b.tokens[:0], c.Context)
		next = b.index(chunk, next, c.Context)
	}
	b.tokens = b.analyzer.Append(b.tokens[:0], c.Text)
	b.index(chunk, next, c.Text)
}

// document counts the chunk to its document.
func (b *segmentBuilder) document(c *store.Chunk, chunk uint32) {
	if n := len(b.s.documents); n == 0 || b.s.documents[n-1].id != c.DocumentID {
		b.s.documents = append(b.s.documents, document{id: c.DocumentID, revision: c.Revision, first: chunk})
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
		if t.CJK {
			b.stems.add(b.stems.number(t.Term), chunk, noPosition)
			continue
		}
		word := b.word(t)
		b.surface.add(word, chunk, noPosition)
		b.stems.add(b.stemOf[word], chunk, position+uint32(t.Position))
	}
	b.s.length[chunk] += uint32(len(b.tokens))
	b.singleBuf = analysis.AppendSingles(b.singleBuf[:0], text)
	for _, c := range b.singleBuf {
		b.singles.add(b.singles.number(c), chunk, noPosition)
	}
	b.s.singleLength[chunk] += uint32(len(b.singleBuf))
	return position + uint32(len(b.tokens)) + 1
}

// word returns the provisional number of an unstemmed word.
func (b *segmentBuilder) word(t analysis.Token) uint32 {
	word := b.surface.number(t.Word)
	if int(word) < len(b.stemOf) {
		return word
	}
	stem := b.stems.number(t.Term)
	b.stemOf = append(b.stemOf, stem)
	for len(b.surfaces) <= int(stem) {
		b.surfaces = append(b.surfaces, 0)
	}
	b.surfaces[stem]++
	return word
}

// build returns the segment. The builder must not be used again.
func (b *segmentBuilder) build() *segment {
	s := b.s
	var stems, surfaces []uint32
	s.stems, stems = b.stems.build(true, nil)
	s.surface, surfaces = b.surface.build(false, func(word uint32) bool {
		return b.surfaces[b.stemOf[word]] == 1
	})
	s.stemOf = make([]uint32, len(b.stemOf))
	for word, stem := range b.stemOf {
		s.stemOf[surfaces[word]] = stems[stem]
	}
	s.singles, _ = b.singles.build(false, nil)
	if len(b.singles.occurrences) == 0 {
		s.singleLength = nil
	}
	s.titles = b.titles.build()
	s.ids = b.ids.build()
	s.idSlots = newSlots(&s.ids)
	s.clip()
	s.setBounds()
	return &s
}

// clip gives back what growing left over.
func (s *segment) clip() {
	s.documents = slices.Clip(s.documents)
	s.docOf = slices.Clip(s.docOf)
	s.length = slices.Clip(s.length)
}
