package bm25

// segment is an immutable index of some chunks. Whole documents only: the
// chunks of a document stand side by side, by ordinal. What was deleted since
// it was built is in the view that a snapshot has of it.
type segment struct {
	ids       []string   // of chunks
	idSlots   []uint32   // open addressing: chunk + 1
	documents []document // in order of their chunks
	docOf     []uint32   // per chunk: index into documents
	length    []uint32   // per chunk: tokens in title, headings and text

	stems   field // title, headings and text; with positions
	surface field // the same words unstemmed; an empty list equals that of the stem
	stemOf  []uint32

	singles      field    // CJK characters
	singleLength []uint32 // per chunk; nil if the segment has none

	titles titles
}

// document is the range of chunks [first, first+count).
type document struct {
	id    string
	first uint32
	count uint32
}

func (s *segment) chunks() int { return len(s.ids) }

// surfacePostings returns the posting list of an unstemmed word.
func (s *segment) surfacePostings(word int) []byte {
	if list := s.surface.list(word); len(list) > 0 {
		return list
	}
	return s.stems.list(int(s.stemOf[word]))
}

// find returns the chunk of the given id, or -1.
func (s *segment) find(id string) int {
	if len(s.idSlots) == 0 {
		return -1
	}
	mask := uint64(len(s.idSlots) - 1)
	for slot := hashTerm(id) & mask; s.idSlots[slot] != 0; slot = (slot + 1) & mask {
		if i := s.idSlots[slot] - 1; s.ids[i] == id {
			return int(i)
		}
	}
	return -1
}

func newIDSlots(ids []string) []uint32 {
	capacity := 4
	for capacity*2 < len(ids)*3 {
		capacity *= 2
	}
	slots := make([]uint32, capacity)
	for i, id := range ids {
		slot := hashTerm(id) & uint64(capacity-1)
		for slots[slot] != 0 {
			slot = (slot + 1) & uint64(capacity-1)
		}
		slots[slot] = uint32(i + 1)
	}
	return slots
}

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
