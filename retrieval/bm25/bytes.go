package bm25

// Bytes is the memory of all collections: what their segments hold, dead chunks
// included, and the tables beside them, without the few words of overhead of
// each object; and about what segments take that are being built.
func (x *Index) Bytes() (n int64) {
	n = x.shop.building.Load()
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, c := range x.collections {
		s := c.snapshot.Load()
		n += int64(s.titles)*titleBytes + int64(s.titleStems)*titleStemBytes
		for _, v := range s.views {
			n += v.bytes()
		}
	}
	return n
}

// documentBytes is what a document takes beside the characters of its id: its
// entry in the segment, and its share of the collection's table of documents.
const documentBytes = 40 + 56

// titleBytes and titleStemBytes are what a distinct title and a stem of titles
// take in the collection's tables.
const (
	titleBytes     = 24
	titleStemBytes = 36
)

func (v *view) bytes() int64 {
	return v.segment.bytes() + int64(8*len(v.dead)+4*len(v.titleDF))
}

func (s *segment) bytes() int64 {
	n := s.ids.bytes()
	n += 4 * (len(s.idSlots) + len(s.docOf) + len(s.length) + len(s.stemOf) + len(s.singleLength))
	for i := range s.documents {
		n += len(s.documents[i].id) + documentBytes
	}
	t := &s.titles
	n += 8*len(t.hash) + 4*(len(t.length)+len(t.of)+len(t.chunkEnds)+len(t.chunks)+len(t.termEnds)+len(t.terms)+len(t.distinct)+len(t.stemOf))
	for _, f := range []*field{&s.stems, &s.surface, &s.singles, &t.stems, &t.words} {
		for _, d := range f.dense {
			n += d.bytes()
		}
		n += f.bytes() + len(f.data) + len(f.positions) + len(f.most) + 4*(len(f.df)+len(f.ends)+len(f.posEnds))
	}
	return int64(n)
}
