package bm25

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// Restore implements retrieval.LexicalIndex. data is copied where it is kept.
func (x *Index) Restore(ctx context.Context, collection string, data []byte) error {
	segments, err := decodeSegments(ctx, data)
	if err != nil {
		return fmt.Errorf("restore words of %s: %w", collection, err)
	}
	fresh := newCollection(collection, x.shop)
	if !fresh.adopt(segments) {
		return fmt.Errorf("restore words of %s: a document is there twice or in part: %w", collection, store.ErrDamaged)
	}
	x.ensure(collection).become(fresh)
	return nil
}

// decodeSegments reads what Save wrote.
func decodeSegments(ctx context.Context, data []byte) ([]*segment, error) {
	data, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(data) < 12 {
		return nil, store.ErrDamaged
	}
	format, words := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	if format != formatVersion || words != analysis.Version {
		return nil, fmt.Errorf("format %d.%d: %w", format, words, retrieval.ErrOtherFormat)
	}
	n := binary.LittleEndian.Uint32(data[8:])
	d := decoder{data: data[12:]}
	var segments []*segment
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := d.segment()
		if d.broken {
			return nil, fmt.Errorf("segment %d: %w", len(segments), store.ErrDamaged)
		}
		segments = append(segments, s)
	}
	if len(d.data) > 0 {
		return nil, fmt.Errorf("%d bytes too many: %w", len(d.data), store.ErrDamaged)
	}
	return segments, nil
}

// decoder reads sections. It checks everything that searching and merging rely
// on; once it is broken, what it returns means nothing.
type decoder struct {
	data   []byte
	broken bool
}

// require breaks the decoder unless something holds.
func (d *decoder) require(holds bool) bool {
	d.broken = d.broken || !holds
	return !d.broken
}

func (d *decoder) segment() *segment {
	s := new(segment)
	s.ids = d.names()
	d.documents(s)
	s.length = d.uint32s()
	s.singleLength = d.uint32s()
	d.require(len(s.length) == s.chunks() && (len(s.singleLength) == 0 || len(s.singleLength) == s.chunks()))
	s.stems = d.field(s.chunks(), nil)
	d.require(len(s.stems.posEnds) == s.stems.len())
	s.surface = d.field(s.chunks(), &s.stems)
	s.stemOf = d.stems(&s.surface, &s.stems)
	s.singles = d.field(s.chunks(), nil)
	d.require(s.singles.len() == 0 || s.singleLength != nil)
	d.titles(s)
	if d.require(s.chunks() > 0) {
		s.idSlots = newSlots(&s.ids)
		s.setBounds()
	}
	return s
}

// documents reads the documents, which divide the chunks among them.
func (d *decoder) documents(s *segment) {
	ids := d.names()
	revisions, counts, offsets := d.uint64s(), d.uint32s(), d.uint32s()
	if !d.require(len(revisions) == ids.len() && len(counts) == ids.len() && len(offsets) == ids.len()) {
		return
	}
	s.documents = make([]document, ids.len())
	s.docOf = make([]uint32, 0, s.chunks())
	for i, count := range counts {
		if !d.require(count > 0 && int(count) <= s.chunks()-len(s.docOf)) {
			return
		}
		s.documents[i] = document{ids.at(i), int(revisions[i]), uint32(len(s.docOf)), count, offsets[i]}
		for range count {
			s.docOf = append(s.docOf, uint32(i))
		}
	}
	d.require(len(s.docOf) == s.chunks())
}

func (d *decoder) titles(s *segment) {
	t := &s.titles
	t.hash = d.uint64s()
	t.length = d.uint32s()
	t.of = d.uint32s()
	d.require(len(t.length) == t.count() && len(t.of) == s.chunks())
	for _, title := range t.of {
		d.require(title == noTitle || int(title) < t.count())
	}
	t.stems = d.field(t.count(), nil)
	t.words = d.field(t.count(), nil)
	t.stemOf = d.stems(&t.words, &t.stems)
	if !d.broken {
		t.setChunks()
		t.setTerms()
	}
}

// field reads a field over so many docs. A list that is empty stands for that
// of the term's stem among omitted; without omitted none may be.
func (d *decoder) field(docs int, omitted *field) field {
	var f field
	f.names = d.names()
	f.ends = d.uint32s()
	f.data = bytes.Clone(d.section())
	f.posEnds = d.uint32s()
	f.positions = bytes.Clone(d.section())
	d.require(ascending(&f.names) && dividesInto(f.ends, len(f.data), f.len()))
	if f.posEnds == nil {
		d.require(len(f.positions) == 0)
	} else {
		d.require(dividesInto(f.posEnds, len(f.positions), f.len()))
	}
	if d.broken {
		return f
	}
	f.slots = newSlots(&f.names)
	f.df = make([]uint32, f.len())
	for term := range f.df {
		list := f.list(term)
		if len(list) == 0 && omitted != nil {
			continue // stems sets the df
		}
		df, occurrences, ok := checkPostings(list, docs)
		if positions := f.positionList(term); len(positions) > 0 {
			ok = ok && checkPositions(positions, occurrences)
		}
		if !d.require(ok) {
			return f
		}
		f.df[term] = df
	}
	return f
}

// stems reads the number of the stem of each word. Wherever a word is, its stem
// is at least as often.
func (d *decoder) stems(words, stems *field) []uint32 {
	of := d.uint32s()
	if !d.require(len(of) == words.len()) {
		return nil
	}
	for word, stem := range of {
		if !d.require(int(stem) < stems.len()) {
			return nil
		}
		if list := words.list(word); len(list) == 0 {
			words.df[word] = stems.df[stem]
		} else {
			d.require(within(list, stems.list(int(stem))))
		}
	}
	return of
}

func (d *decoder) names() names {
	n := names{blob: string(d.section()), ends: d.uint32s()}
	if !d.require(dividesInto(n.ends, len(n.blob), n.len())) {
		return names{}
	}
	return n
}

func (d *decoder) uint32s() []uint32 {
	b := d.section()
	if !d.require(len(b)%4 == 0) || len(b) == 0 {
		return nil
	}
	values := make([]uint32, len(b)/4)
	for i := range values {
		values[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return values
}

func (d *decoder) uint64s() []uint64 {
	b := d.section()
	if !d.require(len(b)%8 == 0) || len(b) == 0 {
		return nil
	}
	values := make([]uint64, len(b)/8)
	for i := range values {
		values[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return values
}

// section returns the bytes of the next section, which alias the data.
func (d *decoder) section() []byte {
	if !d.require(len(d.data) >= 8) {
		return nil
	}
	n := binary.LittleEndian.Uint64(d.data)
	d.data = d.data[8:]
	if !d.require(n <= uint64(len(d.data))) {
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}
