package bm25

import (
	"slices"
	"strings"
)

// field is an inverted index over the docs of a segment: its chunks, or its
// titles. It is immutable.
type field struct {
	dictionary
	df        []uint32 // docs per term, dead ones included
	most      []uint8  // bound.go; of fields over chunks
	ends      []uint32 // end of each term's posting list in data
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

// fieldBuilder collects the occurrences of terms, doc by doc in ascending
// order and with ascending positions within a doc.
type fieldBuilder struct {
	numbers     map[string]uint32
	terms       []string
	occurrences []occurrence
}

type occurrence struct {
	term, doc uint32
	position  uint32 // or noPosition
}

const noPosition = ^uint32(0)

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
func (b *fieldBuilder) add(number, doc, position uint32) {
	b.occurrences = append(b.occurrences, occurrence{number, doc, position})
}

// build returns the field, and the final number of each provisional one. Terms
// for which omit is true get an empty list (but keep their df).
func (b *fieldBuilder) build(positions bool, omit func(provisional uint32) bool) (field, []uint32) {
	order := make([]uint32, len(b.terms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(b.terms[x], b.terms[y]) })
	final := make([]uint32, len(order))
	sorted := make([]string, len(order))
	for i, provisional := range order {
		final[provisional] = uint32(i)
		sorted[i] = b.terms[provisional]
	}
	byTerm, starts := b.group(order, final)
	w := fieldWriter{positional: positions}
	for i, provisional := range order {
		run := byTerm[starts[i]:starts[i+1]]
		w.occurrences(run, omit != nil && omit(provisional))
	}
	return w.field(sorted), final
}

// group sorts the occurrences by final term number, keeping their order within
// a term; those of term i are [starts[i], starts[i+1]).
func (b *fieldBuilder) group(order, final []uint32) (byTerm []occurrence, starts []int) {
	starts = make([]int, len(order)+1)
	for _, o := range b.occurrences {
		starts[final[o.term]+1]++
	}
	for i := range order {
		starts[i+1] += starts[i]
	}
	byTerm = make([]occurrence, len(b.occurrences))
	next := slices.Clone(starts)
	for _, o := range b.occurrences {
		i := final[o.term]
		byTerm[next[i]] = o
		next[i]++
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
func (w *fieldWriter) occurrences(run []occurrence, omit bool) {
	list := postingWriter{data: w.f.data}
	df := uint32(0)
	for len(run) > 0 {
		n := 1
		for n < len(run) && run[n].doc == run[0].doc {
			n++
		}
		df++
		if !omit {
			list.add(run[0].doc, uint32(n))
			w.writePositions(run[:n])
		}
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

// field returns what was written, clipped to its size.
func (w *fieldWriter) field(sorted []string) field {
	f := w.f
	f.dictionary = newDictionary(sorted)
	f.data = slices.Clip(f.data)
	f.positions = slices.Clip(f.positions)
	return f
}
