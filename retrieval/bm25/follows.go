package bm25

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// follows says of every occurrence of a term with a dense list which term with
// one stands behind it. Pairs of frequent words, whose lists have most chunks in
// common, are found in it without a look at positions.
type follows struct {
	code   uint8    // of the term itself; 0 if it has none
	next   []uint8  // per occurrence, by doc and position: the code of the term behind it, or 0
	starts []uint32 // occurrences before each word of the bitmap of docs
}

// maxCode is how many terms of a field have a code: those in the most docs.
const maxCode = 255

func (f *follows) bytes() int { return len(f.next) + 4*len(f.starts) }

// setFollows gives codes to the dense lists of a field with positions, over docs
// that have so many tokens, and finds what follows their occurrences.
func (f *field) setFollows(docs int, tokens int64) {
	var terms []uint32
	for term, d := range f.dense {
		if d.offsets != nil {
			terms = append(terms, term)
		}
	}
	slices.SortFunc(terms, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(len(f.dense[b].tfs), len(f.dense[a].tfs)), cmp.Compare(a, b))
	})
	terms = terms[:min(len(terms), maxCode)]
	at := newPlaces(f, terms, docs, tokens)
	if at == nil {
		return
	}
	for i, term := range terms {
		f.dense[term].follows.code = uint8(i + 1)
		at.mark(f, term, uint8(i+1))
	}
	for _, term := range terms {
		f.dense[term].follows.find(f.dense[term], at)
	}
}

// places has the code of the term at every position of every doc.
type places struct {
	starts []uint32 // of each doc in codes
	codes  []uint8
	marked []uint32 // indexes in codes, in the order they were marked
}

// Positions are not much more than tokens, and few on average; only a file that
// was not what was written has others.
const (
	sparePlaces = 64 // per doc
	maxPlaces   = 4096
)

// newPlaces makes room for the positions of terms, and for one behind; nil if
// that would be too much.
func newPlaces(f *field, terms []uint32, docs int, tokens int64) *places {
	p := &places{starts: make([]uint32, docs+1)}
	occurrences := 0
	for _, term := range terms {
		f.eachPosition(term, func(doc, position uint32) {
			occurrences++
			p.starts[doc+1] = max(p.starts[doc+1], min(position, math.MaxUint32-2)+2)
		})
	}
	total := uint64(0)
	for doc := range docs {
		total += uint64(p.starts[doc+1])
		p.starts[doc+1] = uint32(total)
	}
	if total > min(2*uint64(tokens)+sparePlaces*uint64(docs), maxPlaces*uint64(docs), math.MaxUint32) {
		return nil
	}
	p.codes = make([]uint8, total)
	p.marked = make([]uint32, 0, occurrences)
	return p
}

func (p *places) mark(f *field, term uint32, code uint8) {
	f.eachPosition(term, func(doc, position uint32) {
		i := p.starts[doc] + position
		p.codes[i] = code
		p.marked = append(p.marked, i)
	})
}

// find looks up what stands behind each occurrence of a term. Terms are asked for
// in the order they were marked.
func (f *follows) find(d *dense, at *places) {
	f.starts = make([]uint32, len(d.docs))
	n, rank := uint32(0), uint32(0)
	for i, word := range d.docs {
		f.starts[i] = n
		for range bits.OnesCount64(word) {
			n += d.tfAt(rank)
			rank++
		}
	}
	f.next = make([]uint8, n)
	for i, place := range at.marked[:n] {
		f.next[i] = at.codes[place+1]
	}
	at.marked = at.marked[n:]
}

// eachPosition calls visit for every occurrence of a term with a dense list.
func (f *field) eachPosition(term uint32, visit func(doc, position uint32)) {
	d := f.dense[term]
	r := positionReader{data: f.positionList(int(term))}
	rank := uint32(0)
	for i, word := range d.docs {
		for ; word != 0; word &= word - 1 {
			doc := uint32(i*64 + bits.TrailingZeros64(word))
			position := uint32(0)
			for range d.tfAt(rank) {
				position += r.number()
				visit(doc, position)
			}
			rank++
		}
	}
}

// followedBy appends the docs in which a term with a code follows, with the
// number of times.
func (d *dense) followedBy(dst []posting, code uint8) []posting {
	f := &d.follows
	for i, word := range d.docs {
		end := len(f.next)
		if i+1 < len(f.starts) {
			end = int(f.starts[i+1])
		}
		next := f.next[f.starts[i]:end]
		found := bytes.IndexByte(next, code)
		for rank, at := d.ranks[i], 0; found >= 0; word &= word - 1 {
			tf := int(d.tfAt(rank))
			rank++
			if at += tf; found >= at {
				continue
			}
			n := bytes.Count(next[found:at], []byte{code})
			dst = append(dst, posting{uint32(i*64 + bits.TrailingZeros64(word)), uint32(n)})
			if found = bytes.IndexByte(next[at:], code); found >= 0 {
				found += at
			}
		}
	}
	return dst
}
