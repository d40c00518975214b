package bm25

import (
	"iter"
	"math/bits"
)

// list is the postings of a term in a part: decoded, or dense; neither if the
// part does not have the term. Dead chunks are among them.
type list struct {
	postings []posting
	dense    *dense
}

func (l *list) len() int {
	if l.dense != nil {
		return len(l.dense.tfs)
	}
	return len(l.postings)
}

// same says whether two lists that are not empty are one.
func (l *list) same(other *list) bool {
	if l.dense != nil || other.dense != nil {
		return l.dense == other.dense
	}
	return &l.postings[0] == &other.postings[0]
}

// tf returns how often a doc has the term.
func (l *list) tf(doc uint32) uint32 {
	if l.dense != nil {
		return l.dense.tf(doc)
	}
	if i := seek(l.postings, doc); i < len(l.postings) && l.postings[i].doc == doc {
		return l.postings[i].tf
	}
	return 0
}

// all yields the postings in order.
func (l *list) all() iter.Seq[posting] {
	return func(yield func(posting) bool) {
		if l.dense == nil {
			for _, q := range l.postings {
				if !yield(q) {
					return
				}
			}
			return
		}
		rank := uint32(0)
		for i, word := range l.dense.docs {
			for ; word != 0; word &= word - 1 {
				doc := uint32(i*64 + bits.TrailingZeros64(word))
				if !yield(posting{doc, l.dense.tfAt(rank)}) {
					return
				}
				rank++
			}
		}
	}
}

// seek returns how many postings are of docs before the given one.
func seek(postings []posting, doc uint32) int {
	from, n := 0, len(postings)
	for n > 1 {
		half := n / 2
		if postings[from+half-1].doc < doc {
			from += half
		}
		n -= half
	}
	if n == 1 && postings[from].doc < doc {
		from++
	}
	return from
}
