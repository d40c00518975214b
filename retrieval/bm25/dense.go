package bm25

import "math/bits"

// A posting list that has one in denseShare docs or more is also kept so that
// the entry of a doc is found at once: most searches ask a long list for a few
// docs only.
const (
	denseShare = 16
	minDense   = 64 // postings
)

// dense is a posting list as a bitmap of docs with the frequencies in order. It
// takes about a fifth of a byte a doc and a byte a posting; with positions a
// sixteenth more, and a byte an occurrence.
type dense struct {
	docs  bitmap
	ranks []uint32          // postings before each word of docs
	tfs   []uint8           // per posting; manyTimes if more has it
	more  map[uint32]uint32 // by posting
	// offsets are those of the positions of every offsetBlock-th posting; nil
	// without positions.
	offsets []uint32
	follows follows
}

const (
	offsetBlock = 16
	manyTimes   = 255
)

// setDense makes the dense lists of a field over so many docs.
func (f *field) setDense(docs int) {
	f.dense = make(map[uint32]*dense)
	var buf []posting
	for term, df := range f.df {
		if df < minDense || int(df)*denseShare < docs || len(f.list(term)) == 0 {
			continue
		}
		buf = appendPostings(buf[:0], f.list(term))
		d := newDense(buf, docs)
		if positions := f.positionList(term); len(positions) > 0 {
			d.setOffsets(positions)
		}
		f.dense[uint32(term)] = d
	}
}

func newDense(postings []posting, docs int) *dense {
	d := &dense{docs: newBitmap(docs), tfs: make([]uint8, len(postings))}
	d.ranks = make([]uint32, len(d.docs))
	for i, q := range postings {
		d.docs.set(q.doc)
		d.tfs[i] = uint8(min(q.tf, manyTimes))
		if q.tf >= manyTimes {
			if d.more == nil {
				d.more = make(map[uint32]uint32)
			}
			d.more[uint32(i)] = q.tf
		}
	}
	n := uint32(0)
	for i, word := range d.docs {
		d.ranks[i] = n
		n += uint32(bits.OnesCount64(word))
	}
	return d
}

func (d *dense) setOffsets(positions []byte) {
	r := positionReader{data: positions}
	for i := range d.tfs {
		if i%offsetBlock == 0 {
			d.offsets = append(d.offsets, uint32(r.at))
		}
		r.skip(d.tfAt(uint32(i)))
	}
}

// tf returns how often a doc has the term.
func (d *dense) tf(doc uint32) uint32 {
	if !d.docs.has(doc) {
		return 0
	}
	return d.tfAt(d.rank(doc))
}

// rank returns how many postings are of docs before the given one.
func (d *dense) rank(doc uint32) uint32 {
	return d.ranks[doc/64] + uint32(bits.OnesCount64(d.docs[doc/64]&(1<<(doc%64)-1)))
}

// tfAt returns the frequency in the i-th posting.
func (d *dense) tfAt(i uint32) uint32 {
	if tf := d.tfs[i]; tf < manyTimes {
		return uint32(tf)
	}
	return d.more[i]
}

// countWithout counts the docs that are not in another set.
func (d *dense) countWithout(other bitmap) int {
	n := 0
	for i, word := range d.docs {
		if i < len(other) {
			word &^= other[i]
		}
		n += bits.OnesCount64(word)
	}
	return n
}

func (d *dense) bytes() int {
	return 8*len(d.docs) + 4*len(d.ranks) + len(d.tfs) + 4*len(d.offsets) + 16*len(d.more) + d.follows.bytes()
}
