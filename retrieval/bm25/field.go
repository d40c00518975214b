package bm25

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// field is an inverted index over the docs of a segment: its chunks, or its
// titles. It is immutable.
type field struct {
	dictionary
	df        []uint32          // docs per term, dead ones included
	most      []uint8           // bound.go; of fields over chunks
	dense     map[uint32]*dense // of long lists, by term; of fields over chunks
	ends      []uint32          // end of each term's posting list in data
	data      []byte
	positions []byte
	posEnds   []uint32 // end of each term's position list; nil without positions
}

func (f *field) list(term int) []byte {
	return section(f.data, f.ends, term)
}

// positionList is empty for a term without positions.
func (f *field) positionList(term int) []byte {
	if f.posEnds == nil {
		return nil
	}
	return section(f.positions, f.posEnds, term)
}

func section(data []byte, ends []uint32, i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = ends[i-1]
	}
	return data[start:ends[i]]
}

// occurrence of a term, by a provisional number, in a doc.
type occurrence struct {
	term, doc uint32
	position  uint32 // or noPosition
}

const noPosition = ^uint32(0)

// fieldBuilder collects the occurrences of terms, doc by doc in ascending
// order.
type fieldBuilder struct {
	numbers     map[string]uint32
	terms       []string
	occurrences []occurrence
}

func newFieldBuilder() *fieldBuilder {
	return &fieldBuilder{numbers: make(map[string]uint32)}
}

// number returns the provisional number of a term. A new one gets the number
// that len(terms) was.
func (b *fieldBuilder) number(term string) uint32 {
	number, ok := b.numbers[term]
	if !ok {
		term = strings.Clone(term) // the text it was cut from is not kept
		number = uint32(len(b.terms))
		b.numbers[term] = number
		b.terms = append(b.terms, term)
	}
	return number
}

// add counts one occurrence of a term by its provisional number.
func (b *fieldBuilder) add(number, doc uint32) {
	b.occurrences = append(b.occurrences, occurrence{number, doc, noPosition})
}

// build returns the field.
func (b *fieldBuilder) build() field {
	f, _ := b.buildNumbered()
	return f
}

// buildNumbered returns the field and the final number of each provisional one.
func (b *fieldBuilder) buildNumbered() (f field, final []uint32) {
	sorted, final := inOrder(b.terms)
	return writeField(sorted, b.occurrences, final, false, new(sorting)), final
}

// inOrder returns terms in ascending order, and the place of each.
func inOrder(terms []string) (sorted []string, place []uint32) {
	type key struct {
		sortKey
		number uint32
	}
	keys := make([]key, len(terms))
	for i, t := range terms {
		keys[i] = key{keyOf(t), uint32(i)}
	}
	slices.SortFunc(keys, func(a, b key) int { return a.compare(b.sortKey) })
	sorted, place = make([]string, len(terms)), make([]uint32, len(terms))
	for i, k := range keys {
		sorted[i] = k.term
		place[k.number] = uint32(i)
	}
	return sorted, place
}

// sortKey is a term with its first eight bytes, by which most are told apart.
type sortKey struct {
	prefix uint64
	term   string
}

func keyOf(term string) sortKey {
	var prefix [8]byte
	copy(prefix[:], term)
	return sortKey{binary.BigEndian.Uint64(prefix[:]), term}
}

func (a sortKey) compare(b sortKey) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return strings.Compare(a.term, b.term)
}

// writeField writes a field of sorted terms. Occurrences are by doc and
// position; those whose final number is gone are left out.
func writeField(sorted []string, occurrences []occurrence, final []uint32, positions bool, s *sorting) field {
	byTerm, starts := s.group(occurrences, final, len(sorted))
	w := fieldWriter{positional: positions}
	for i := range sorted {
		w.occurrences(byTerm[starts[i]:starts[i+1]])
	}
	return w.field(sorted)
}

// sorting is memory for sorting occurrences, kept for the next field.
type sorting struct{ byTerm []occurrence }

// group sorts the occurrences by final term number, keeping their order within
// a term; those of term i are [starts[i], starts[i+1]). byTerm is valid until the
// next call.
func (s *sorting) group(occurrences []occurrence, final []uint32, terms int) (byTerm []occurrence, starts []int) {
	starts = make([]int, terms+1)
	for _, o := range occurrences {
		if i := final[o.term]; i != gone {
			starts[i+1]++
		}
	}
	for i := range terms {
		starts[i+1] += starts[i]
	}
	if cap(s.byTerm) < starts[terms] {
		s.byTerm = make([]occurrence, starts[terms])
	}
	byTerm = s.byTerm[:starts[terms]]
	next := slices.Clone(starts)
	for _, o := range occurrences {
		if i := final[o.term]; i != gone {
			byTerm[next[i]] = o
			next[i]++
		}
	}
	return byTerm, starts
}

// fieldWriter writes the lists of a field, term by term in ascending order.
type fieldWriter struct {
	f          field
	positional bool
	scratch    []uint32
}

// occurrences writes the lists of the next term.
func (w *fieldWriter) occurrences(run []occurrence) {
	list := postingWriter{data: w.f.data}
	df := uint32(0)
	for len(run) > 0 {
		n := 1
		for n < len(run) && run[n].doc == run[0].doc {
			n++
		}
		df++
		list.add(run[0].doc, uint32(n))
		w.writePositions(run[:n])
		run = run[n:]
	}
	w.f.data = list.data
	w.endTerm(df)
}

func (w *fieldWriter) writePositions(run []occurrence) {
	if !w.positional || run[0].position == noPosition {
		return
	}
	w.scratch = w.scratch[:0]
	for _, o := range run {
		w.scratch = append(w.scratch, o.position)
	}
	w.f.positions = appendPositions(w.f.positions, w.scratch)
}

func (w *fieldWriter) endTerm(df uint32) {
	w.f.df = append(w.f.df, df)
	w.f.ends = append(w.f.ends, uint32(len(w.f.data)))
	if w.positional {
		w.f.posEnds = append(w.f.posEnds, uint32(len(w.f.positions)))
	}
}

// clipped returns a slice without the room left over, if that is much.
func clipped[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/16 {
		return s
	}
	return slices.Clone(s)
}

// field returns what was written, without what growing left over.
func (w *fieldWriter) field(sorted []string) field {
	f := w.f
	f.dictionary = newDictionary(sorted)
	f.data = clipped(f.data)
	f.positions = clipped(f.positions)
	f.df = clipped(f.df)
	f.ends = clipped(f.ends)
	f.posEnds = clipped(f.posEnds)
	return f
}
