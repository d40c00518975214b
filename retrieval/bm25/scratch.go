package bm25

import "sync"

// scratch is the memory of one search, kept for the next.
type scratch struct {
	floats   []float64
	used     int
	postings []posting
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// reserve makes room for n floats.
func (s *scratch) reserve(n int) {
	if cap(s.floats) < n {
		s.floats = make([]float64, n)
	}
	s.floats = s.floats[:n]
	clear(s.floats)
	s.used = 0
	s.postings = s.postings[:0]
}

// zeros returns n zeros of what was reserved.
func (s *scratch) zeros(n int) []float64 {
	s.used += n
	return s.floats[s.used-n : s.used : s.used]
}

// decode returns the postings of a list.
func (s *scratch) decode(list []byte) []posting {
	from := len(s.postings)
	s.postings = appendPostings(s.postings, list)
	return s.postings[from:len(s.postings):len(s.postings)]
}
