package bm25

import "encoding/binary"

// posting says that a term occurs tf times in a chunk (or title) of a segment.
type posting struct {
	doc uint32
	tf  uint32
}

// A posting list is, for each posting in ascending order of doc, the varint
// gap<<2 | min(tf,4)-1, where gap is the distance to the doc before (the first
// counts from -1, less one, so that 0 is used), followed by the varint tf-4 if
// tf is 4 or more. Most postings take one or two bytes.
//
// A position list is, for each posting, tf varints: the distance of each
// position to the one before, the first from 0.

func appendPosting(data []byte, gap, tf uint32) []byte {
	if tf < 4 {
		return binary.AppendUvarint(data, uint64(gap)<<2|uint64(tf-1))
	}
	data = binary.AppendUvarint(data, uint64(gap)<<2|3)
	return binary.AppendUvarint(data, uint64(tf-4))
}

// appendPostings decodes a posting list.
func appendPostings(dst []posting, data []byte) []posting {
	doc := uint32(0)
	for i := 0; i < len(data); {
		v := uint64(data[i])
		i++
		if v >= 0x80 {
			v &= 0x7f
			for shift := 7; ; shift += 7 {
				c := data[i]
				i++
				v |= uint64(c&0x7f) << shift
				if c < 0x80 {
					break
				}
			}
		}
		tf := uint32(v&3) + 1
		if tf == 4 {
			more, n := binary.Uvarint(data[i:])
			i += n
			tf += uint32(more)
		}
		doc += uint32(v >> 2)
		dst = append(dst, posting{doc, tf})
		doc++
	}
	return dst
}

// postingWriter appends the postings of one list in ascending order.
type postingWriter struct {
	data []byte
	next uint32 // the smallest doc that may come
	n    uint32
}

func (w *postingWriter) add(doc, tf uint32) {
	w.data = appendPosting(w.data, doc-w.next, tf)
	w.next = doc + 1
	w.n++
}

// positionReader walks through a position list together with its postings.
type positionReader struct {
	data []byte
	at   int
}

// skip passes over n positions.
func (r *positionReader) skip(n uint32) {
	for n > 0 {
		if r.data[r.at] < 0x80 {
			n--
		}
		r.at++
	}
}

// number reads one number.
func (r *positionReader) number() uint32 {
	if v := r.data[r.at]; v < 0x80 {
		r.at++
		return uint32(v)
	}
	v, size := binary.Uvarint(r.data[r.at:])
	r.at += size
	return uint32(v)
}

// read appends the next n positions, which belong to one posting.
func (r *positionReader) read(dst []uint32, n uint32) []uint32 {
	position := uint32(0)
	for range n {
		position += r.number()
		dst = append(dst, position)
	}
	return dst
}

func appendPositions(data []byte, positions []uint32) []byte {
	before := uint32(0)
	for _, p := range positions {
		data = binary.AppendUvarint(data, uint64(p-before))
		before = p
	}
	return data
}
