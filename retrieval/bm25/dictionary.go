package bm25

import "sort"

// dictionary numbers terms from 0 in ascending order. It is immutable and
// holds no pointers but three, however many terms there are: about 20 bytes a
// term beside its own.
type dictionary struct {
	blob  string
	ends  []uint32 // end of each term in blob
	slots []uint32 // open addressing: term number + 1; a power of two of them
}

// newDictionary takes distinct terms in ascending order.
func newDictionary(terms []string) dictionary {
	size := 0
	for _, t := range terms {
		size += len(t)
	}
	blob := make([]byte, 0, size)
	ends := make([]uint32, len(terms))
	for i, t := range terms {
		blob = append(blob, t...)
		ends[i] = uint32(len(blob))
	}
	d := dictionary{blob: string(blob), ends: ends}
	capacity := 4
	for capacity*2 < len(terms)*3 {
		capacity *= 2
	}
	d.slots = make([]uint32, capacity)
	for i := range terms {
		slot := hashTerm(d.term(i)) & uint64(capacity-1)
		for d.slots[slot] != 0 {
			slot = (slot + 1) & uint64(capacity-1)
		}
		d.slots[slot] = uint32(i + 1)
	}
	return d
}

func (d *dictionary) len() int { return len(d.ends) }

func (d *dictionary) term(i int) string {
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.blob[start:d.ends[i]]
}

// find returns the number of a term, or -1.
func (d *dictionary) find(term string) int {
	if len(d.slots) == 0 {
		return -1
	}
	mask := uint64(len(d.slots) - 1)
	for slot := hashTerm(term) & mask; d.slots[slot] != 0; slot = (slot + 1) & mask {
		if i := int(d.slots[slot] - 1); d.term(i) == term {
			return i
		}
	}
	return -1
}

// withPrefix returns the half-open range of the terms that begin with prefix.
func (d *dictionary) withPrefix(prefix string) (from, to int) {
	from = sort.Search(d.len(), func(i int) bool { return d.term(i) >= prefix })
	to = from + sort.Search(d.len()-from, func(i int) bool {
		t := d.term(from + i)
		return len(t) < len(prefix) || t[:len(prefix)] != prefix
	})
	return from, to
}

// hashTerm is FNV-1a with a final mix, since only low bits are used.
func hashTerm(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>32
}
