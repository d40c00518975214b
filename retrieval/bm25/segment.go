package bm25

import "sync/atomic"

// segment is an immutable index of some chunks: of whole documents, and of
// pieces of documents that are too long for one segment. The chunks of each
// stand side by side, by ordinal. What was deleted since it was built is in the
// view that a snapshot has of it.
type segment struct {
	ids       names // of chunks
	idSlots   slots
	documents []document // in order of their chunks
	docOf     []uint32   // per chunk: index into documents
	length    []uint32   // per chunk: tokens in title, headings and text

	stems   field // title, headings and text; with positions
	surface field // the same words unstemmed; an empty list equals that of the stem
	stemOf  []uint32

	singles      field    // CJK characters
	singleLength []uint32 // per chunk; nil if the segment has none

	titles titles

	// What the fields' bounds were set for: the average length and singleLength.
	average, singleAverage float64

	numbered atomic.Value // *numbered; see numbersIn
}

// document is the range of chunks [first, first+count), all that a document has
// or a piece of it.
type document struct {
	id       string
	revision int
	first    uint32
	count    uint32
	offset   uint32 // chunks of the document that come before this piece
}

// follows says whether a piece continues another.
func (d *document) follows(before *document) bool {
	return d.id == before.id && d.revision == before.revision && d.offset == before.offset+before.count
}

func (s *segment) chunks() int { return s.ids.len() }

// surfacePostings returns the posting list of an unstemmed word.
func (s *segment) surfacePostings(word int) []byte {
	if list := s.surface.list(word); len(list) > 0 {
		return list
	}
	return s.stems.list(int(s.stemOf[word]))
}

// find returns the chunk of the given id, or -1.
func (s *segment) find(id string) int { return s.idSlots.find(&s.ids, id) }

// sizes are the sums over chunks that averages are made of.
type sizes struct {
	chunks      int
	tokens      int64 // in title, headings and text
	titleTokens int64 // title tokens, counted for every chunk under it
	singles     int64 // CJK characters
}

func (a sizes) plus(b sizes) sizes {
	return sizes{a.chunks + b.chunks, a.tokens + b.tokens, a.titleTokens + b.titleTokens, a.singles + b.singles}
}

func (a sizes) minus(b sizes) sizes {
	return sizes{a.chunks - b.chunks, a.tokens - b.tokens, a.titleTokens - b.titleTokens, a.singles - b.singles}
}

// sizesOf sums over the chunks [from, to).
func (s *segment) sizesOf(from, to uint32) sizes {
	var sum sizes
	for i := from; i < to; i++ {
		sum.chunks++
		sum.tokens += int64(s.length[i])
		if s.singleLength != nil {
			sum.singles += int64(s.singleLength[i])
		}
		if t := s.titles.of[i]; t != noTitle {
			sum.titleTokens += int64(s.titles.length[t])
		}
	}
	return sum
}
