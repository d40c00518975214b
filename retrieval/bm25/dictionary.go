package bm25

import "sort"

// dictionary numbers terms from 0 in ascending order. It is immutable and
// holds no pointers but three, however many terms there are: about 20 bytes a
// term beside its own.
type dictionary struct {
	names
	slots slots
}

// newDictionary takes distinct terms in ascending order.
func newDictionary(terms []string) dictionary {
	var b namesBuilder
	for _, t := range terms {
		b.add(t)
	}
	n := b.build()
	return dictionary{names: n, slots: newSlots(&n)}
}

func (d *dictionary) term(i int) string { return d.at(i) }

// find returns the number of a term, or -1.
func (d *dictionary) find(term string) int { return d.slots.find(&d.names, term) }

func (d *dictionary) bytes() int { return d.names.bytes() + 4*len(d.slots) }

// withPrefix returns the half-open range of the terms that begin with prefix.
func (d *dictionary) withPrefix(prefix string) (from, to int) {
	from = sort.Search(d.len(), func(i int) bool { return d.term(i) >= prefix })
	to = from + sort.Search(d.len()-from, func(i int) bool {
		t := d.term(from + i)
		return len(t) < len(prefix) || t[:len(prefix)] != prefix
	})
	return from, to
}

// slots finds names by open addressing: each holds the number of a name + 1, or
// 0; a power of two of them.
type slots []uint32

func newSlots(n *names) slots {
	capacity := 4
	for capacity*2 < n.len()*3 {
		capacity *= 2
	}
	s := make(slots, capacity)
	mask := uint64(capacity - 1)
	for i := range n.len() {
		slot := hashTerm(n.at(i)) & mask
		for s[slot] != 0 {
			slot = (slot + 1) & mask
		}
		s[slot] = uint32(i + 1)
	}
	return s
}

// find returns the number of a name, or -1.
func (s slots) find(n *names, name string) int {
	if len(s) == 0 {
		return -1
	}
	mask := uint64(len(s) - 1)
	for slot := hashTerm(name) & mask; s[slot] != 0; slot = (slot + 1) & mask {
		if i := int(s[slot] - 1); n.at(i) == name {
			return i
		}
	}
	return -1
}

// hashTerm is FNV-1a with a final mix, since only low bits are used.
func hashTerm(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>32
}
