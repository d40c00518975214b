package bm25

import "sync"

// scratch is the memory of one search, kept for the next.
type scratch struct {
	postings   []posting
	zeroed     []uint32 // all 0 between searches
	used       int      // of zeroed
	floats     []float64
	clauses    []clause
	candidates []candidate
	chunks     []uint32
	counts     [histogram]int32
	planes     planes
	// Of the text and of single CJK characters.
	norms, singleNorms norms
	titleIDFs          titleIDFs
	ranked             []ranked
	found              []found // per part
	neighbours         []uint32
}

// found is memory for what a query finds in a part.
type found struct {
	values []value
	titled []titleScore
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// reserve makes room for n zeros.
func (s *scratch) reserve(n int) {
	if len(s.zeroed) < n {
		s.zeroed = make([]uint32, n)
	}
	s.used = 0
	s.postings = s.postings[:0]
}

// zeros returns n zeros of what was reserved, which must be zeros again when
// the search ends.
func (s *scratch) zeros(n int) []uint32 {
	s.used += n
	return s.zeroed[s.used-n : s.used : s.used]
}

// sums returns a zero for every chunk of the parts.
func (s *scratch) sums(parts []part) [][]float64 {
	n := 0
	for i := range parts {
		n += parts[i].chunks()
	}
	if cap(s.floats) < n {
		s.floats = make([]float64, n)
	}
	rest := s.floats[:n]
	clear(rest)
	sums := make([][]float64, len(parts))
	for i := range parts {
		sums[i], rest = rest[:parts[i].chunks()], rest[parts[i].chunks():]
	}
	return sums
}

// decode returns the postings of a list.
func (s *scratch) decode(list []byte) []posting {
	from := len(s.postings)
	s.postings = appendPostings(s.postings, list)
	return s.postings[from:len(s.postings):len(s.postings)]
}

// list returns that of a term of a field.
func (s *scratch) list(f *field, term int) list {
	if d := f.dense[uint32(term)]; d != nil {
		return list{dense: d}
	}
	return list{postings: s.decode(f.list(term))}
}

// topK returns an empty one; what it holds is valid until the next call.
func (s *scratch) topK(k int) topK { return topK{k: k, heap: s.ranked[:0]} }
