package bm25

// dividesInto says whether ends are the ends of count sections that n bytes
// consist of.
func dividesInto(ends []uint32, n, count int) bool {
	if len(ends) != count {
		return false
	}
	before := uint32(0)
	for _, end := range ends {
		if end < before {
			return false
		}
		before = end
	}
	return int(before) == n
}

// ascending says whether names are distinct and in order.
func ascending(n *names) bool {
	for i := 1; i < n.len(); i++ {
		if n.at(i-1) >= n.at(i) {
			return false
		}
	}
	return true
}

// checkPostings says whether a list has postings and all are of docs below
// limit, and counts them and their occurrences.
func checkPostings(list []byte, limit int) (docs uint32, occurrences int, ok bool) {
	r := postingReader{list: list}
	for r.next() {
		if r.doc >= uint64(limit) {
			return 0, 0, false
		}
		docs++
		occurrences += int(r.tf)
	}
	return docs, occurrences, docs > 0 && !r.broken
}

// within says whether every doc of a list is in another, at least as often.
func within(list, other []byte) bool {
	a, b := postingReader{list: list}, postingReader{list: other}
	for a.next() {
		for b.doc < a.doc || b.at == 0 {
			if !b.next() {
				return false
			}
		}
		if b.doc != a.doc || b.tf < a.tf {
			return false
		}
	}
	return true
}

// postingReader reads a posting list that may be anything.
type postingReader struct {
	list    []byte
	at      int
	doc     uint64
	tf      uint32
	started bool
	broken  bool
}

func (r *postingReader) next() bool {
	if r.at == len(r.list) {
		return false
	}
	v := r.number()
	if r.started {
		r.doc++
	}
	r.started = true
	r.doc += v >> 2
	r.tf = uint32(v&3) + 1
	if r.tf == 4 {
		r.tf += uint32(r.number())
		r.broken = r.broken || r.tf > maxFrequency
	}
	return !r.broken
}

// maxFrequency is more than a term can occur in a chunk.
const maxFrequency = 1 << 30

// number reads a number of at most five bytes.
func (r *postingReader) number() uint64 {
	v := uint64(0)
	for shift := 0; shift < 35; shift += 7 {
		if r.at == len(r.list) {
			break
		}
		c := r.list[r.at]
		r.at++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.broken = true
	return 0
}

// checkPositions says whether a list is as many numbers of at most five bytes.
func checkPositions(list []byte, count int) bool {
	n, length := 0, 0
	for _, c := range list {
		length++
		if c < 0x80 {
			n++
			length = 0
		} else if length == 5 {
			return false
		}
	}
	return length == 0 && n == count
}
