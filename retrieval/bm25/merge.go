package bm25

import (
	"slices"
	"sync"
)

// gone marks in a renumbering what the merged segment does not have.
const gone = ^uint32(0)

// mergeSegments makes one segment of the live chunks of several, in order. The
// result is the same as building it from the chunks' texts.
func mergeSegments(views []*view) *segment {
	var s segment
	var ids namesBuilder
	renumbered := make([][]uint32, len(views)) // per view: new number of each chunk
	for i, v := range views {
		renumbered[i] = s.takeChunks(v, &ids)
	}
	s.ids = ids.build()
	s.idSlots = newSlots(&s.ids)
	var group sync.WaitGroup
	group.Go(func() {
		s.singles, _ = mergeFields(fieldsOf(views, func(v *view) *field { return &v.singles }), renumbered, false)
		s.mergeTitles(views)
	})
	var words field
	var wordNumber, stemNumber [][]uint32
	group.Go(func() {
		sources := fieldsOf(views, func(v *view) *field { return &v.surface })
		for i, v := range views {
			sources[i].list = v.surfacePostings
		}
		words, wordNumber = mergeFields(sources, renumbered, false)
	})
	s.stems, stemNumber = mergeFields(fieldsOf(views, func(v *view) *field { return &v.stems }), renumbered, true)
	group.Wait()
	s.mergeSurface(words, wordNumber, stemNumber, views)
	if s.singles.len() == 0 {
		s.singleLength = nil
	}
	s.clip()
	s.setBounds()
	return &s
}

// takeChunks appends the live chunks of a view and returns their new numbers.
func (s *segment) takeChunks(v *view, ids *namesBuilder) []uint32 {
	renumbered := make([]uint32, v.chunks())
	for _, d := range v.documents {
		if !v.alive(d.first) {
			for c := d.first; c < d.first+d.count; c++ {
				renumbered[c] = gone
			}
			continue
		}
		number := s.takeDocument(&d, uint32(ids.len()))
		for c := d.first; c < d.first+d.count; c++ {
			renumbered[c] = uint32(ids.len())
			ids.add(v.ids.at(int(c)))
			s.docOf = append(s.docOf, uint32(number))
			s.length = append(s.length, v.length[c])
			singles := uint32(0)
			if v.singleLength != nil {
				singles = v.singleLength[c]
			}
			s.singleLength = append(s.singleLength, singles)
		}
	}
	return renumbered
}

// takeDocument appends a document and returns its number; if it is the rest of
// the last one, that has more chunks now.
func (s *segment) takeDocument(d *document, first uint32) int {
	if last := len(s.documents) - 1; last >= 0 && d.follows(&s.documents[last]) {
		s.documents[last].count += d.count
		return last
	}
	s.documents = append(s.documents, document{d.id, d.revision, first, d.count, d.offset})
	return len(s.documents) - 1
}

// mergeSurface merges the unstemmed words, and leaves out the lists that equal
// that of their stem. stemNumber is, per view, the new number of each stem.
func (s *segment) mergeSurface(full field, wordNumber, stemNumber [][]uint32, views []*view) {
	s.stemOf = mergeStemOf(full.len(), wordNumber, stemNumber, views, func(v *view) []uint32 { return v.stemOf })
	words := make([]uint32, s.stems.len()) // per stem
	for _, stem := range s.stemOf {
		words[stem]++
	}
	own := full
	own.data, own.ends = nil, make([]uint32, 0, full.len())
	for word, stem := range s.stemOf {
		if words[stem] > 1 {
			own.data = append(own.data, full.list(word)...)
		}
		own.ends = append(own.ends, uint32(len(own.data)))
	}
	own.data = clipped(own.data)
	s.surface = own
}

// mergeStemOf returns the stem of each of so many merged words. Where a word
// is, its stem is, so one that was kept has a stem that was.
func mergeStemOf(words int, wordNumber, stemNumber [][]uint32, views []*view, stemOf func(*view) []uint32) []uint32 {
	merged := make([]uint32, words)
	for i, v := range views {
		for word, stem := range stemOf(v) {
			// A file that was not what was written may name any stem.
			if number := wordNumber[i][word]; number != gone && int(stem) < len(stemNumber[i]) {
				merged[number] = stemNumber[i][stem]
			}
		}
	}
	return merged
}

// mergeTitles merges the titles; equal ones of several segments become one.
func (s *segment) mergeTitles(views []*view) {
	t := &s.titles
	numbers := make(map[uint64]uint32)         // by hash
	renumbered := make([][]uint32, len(views)) // gone for those another view brings
	for i, v := range views {
		renumbered[i] = t.takeTitles(v, numbers)
		for chunk, old := range v.titles.of {
			switch {
			case !v.alive(uint32(chunk)):
			case old == noTitle:
				t.of = append(t.of, noTitle)
			default:
				t.of = append(t.of, numbers[v.titles.hash[old]])
			}
		}
	}
	var wordNumber, stemNumber [][]uint32
	t.stems, stemNumber = mergeFields(fieldsOf(views, func(v *view) *field { return &v.titles.stems }), renumbered, false)
	t.words, wordNumber = mergeFields(fieldsOf(views, func(v *view) *field { return &v.titles.words }), renumbered, false)
	t.stemOf = mergeStemOf(t.words.len(), wordNumber, stemNumber, views, func(v *view) []uint32 { return v.titles.stemOf })
	t.setChunks()
	t.setTerms()
}

// takeTitles appends those titles of a view that live chunks have and that are
// not among numbers yet. It returns their new numbers, gone for the others.
func (t *titles) takeTitles(v *view, numbers map[uint64]uint32) []uint32 {
	renumbered := make([]uint32, v.titles.count())
	for old := range renumbered {
		renumbered[old] = gone
		hash := v.titles.hash[old]
		if _, known := numbers[hash]; known || !slices.ContainsFunc(v.titles.under(uint32(old)), v.alive) {
			continue
		}
		number := uint32(t.count())
		numbers[hash] = number
		renumbered[old] = number
		t.hash = append(t.hash, hash)
		t.length = append(t.length, v.titles.length[old])
	}
	return renumbered
}

// source is one of the fields that are merged.
type source struct {
	*field
	list   func(term int) []byte
	at     int      // the next term
	number []uint32 // new number of each term; gone if no doc that is kept has it
	term   sortKey  // the one at
}

// step makes the i-th term the next one.
func (s *source) step(i int) {
	s.at = i
	if i < s.len() {
		s.term = keyOf(s.dictionary.term(i))
	}
}

func fieldsOf(views []*view, get func(*view) *field) []source {
	sources := make([]source, len(views))
	for i, v := range views {
		f := get(v)
		sources[i] = source{field: f, list: f.list, number: make([]uint32, f.len())}
		sources[i].step(0)
	}
	return sources
}

// mergeFields merges fields term by term. Within a source the numbering must
// be ascending, and all of a source's new numbers must be above those of the
// sources before it. It also returns, per source, the new number of each term.
func mergeFields(sources []source, renumbered [][]uint32, positional bool) (merged field, number [][]uint32) {
	var terms []string
	w := fieldWriter{positional: positional}
	w.reserve(sources)
	var postings []posting
	for {
		term, any := nextTerm(sources)
		if !any {
			for i := range sources {
				number = append(number, sources[i].number)
			}
			return w.field(terms), number
		}
		list := postingWriter{data: w.f.data}
		for i := range sources {
			src := &sources[i]
			if src.at == src.len() || src.term != term {
				continue
			}
			postings = appendPostings(postings[:0], src.list(src.at))
			positions := positionReader{data: src.positionList(src.at)}
			kept := 0
			for _, p := range postings {
				keep := renumbered[i][p.doc] != gone
				if keep {
					list.add(renumbered[i][p.doc], p.tf)
					kept++
				}
				if len(positions.data) > 0 {
					w.copyPositions(&positions, p.tf, keep)
				}
			}
			src.number[src.at] = gone
			if kept > 0 {
				src.number[src.at] = uint32(len(terms))
			}
			src.step(src.at + 1)
		}
		w.f.data = list.data
		if list.n > 0 {
			terms = append(terms, term.term)
			w.endTerm(list.n)
		}
	}
}

// reserve makes room for the lists of sources, if it is known how long they are.
func (w *fieldWriter) reserve(sources []source) {
	data, positions := 0, 0
	for i := range sources {
		data += len(sources[i].data)
		positions += len(sources[i].positions)
	}
	w.f.data = make([]byte, 0, data+data/64)
	if w.positional {
		w.f.positions = make([]byte, 0, positions)
	}
}

// copyPositions passes over the positions of a posting, and takes them along
// if it is kept.
func (w *fieldWriter) copyPositions(r *positionReader, tf uint32, keep bool) {
	from := r.at
	r.skip(tf)
	if keep {
		w.f.positions = append(w.f.positions, r.data[from:r.at]...)
	}
}

// nextTerm returns the smallest of the sources' next terms.
func nextTerm(sources []source) (term sortKey, any bool) {
	for i := range sources {
		src := &sources[i]
		if src.at == src.len() {
			continue
		}
		if !any || src.term.compare(term) < 0 {
			term, any = src.term, true
		}
	}
	return term, any
}
