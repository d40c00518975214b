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
		s.singles = mergeFields(fieldsOf(views, func(v *view) *field { return &v.singles }), renumbered, false)
		s.mergeTitles(views)
	})
	s.stems = mergeFields(fieldsOf(views, func(v *view) *field { return &v.stems }), renumbered, true)
	s.mergeSurface(views, renumbered)
	group.Wait()
	if s.singles.len() == 0 {
		s.singleLength = nil
	}
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
		first := uint32(ids.len())
		for c := d.first; c < d.first+d.count; c++ {
			renumbered[c] = uint32(ids.len())
			ids.add(v.ids.at(int(c)))
			s.docOf = append(s.docOf, uint32(len(s.documents)))
			s.length = append(s.length, v.length[c])
			singles := uint32(0)
			if v.singleLength != nil {
				singles = v.singleLength[c]
			}
			s.singleLength = append(s.singleLength, singles)
		}
		s.documents = append(s.documents, document{d.id, d.revision, first, d.count})
	}
	return renumbered
}

// mergeSurface merges the unstemmed words, and leaves out the lists that equal
// that of their stem.
func (s *segment) mergeSurface(views []*view, renumbered [][]uint32) {
	sources := fieldsOf(views, func(v *view) *field { return &v.surface })
	for i, v := range views {
		sources[i].list = v.surfacePostings
	}
	full := mergeFields(sources, renumbered, false)
	s.stemOf = make([]uint32, full.len())
	words := make([]uint32, s.stems.len()) // per stem
	for word := range s.stemOf {
		s.stemOf[word] = s.stemOfWord(views, full.term(word))
		words[s.stemOf[word]]++
	}
	w := fieldWriter{}
	for word, stem := range s.stemOf {
		if words[stem] > 1 {
			w.f.data = append(w.f.data, full.list(word)...)
		}
		w.endTerm(full.df[word])
	}
	s.surface = w.f
	s.surface.dictionary = full.dictionary
	s.surface.data = slices.Clip(s.surface.data)
}

// stemOfWord returns the number that the stem of a word has in s; one of the
// views knows the word.
func (s *segment) stemOfWord(views []*view, word string) uint32 {
	for _, v := range views {
		if i := v.surface.find(word); i >= 0 {
			return uint32(s.stems.find(v.stems.term(int(v.stemOf[i]))))
		}
	}
	panic("bm25: a merged word that no segment has")
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
	t.stems = mergeFields(fieldsOf(views, func(v *view) *field { return &v.titles.stems }), renumbered, false)
	t.words = mergeFields(fieldsOf(views, func(v *view) *field { return &v.titles.words }), renumbered, false)
	t.stemOf = make([]uint32, t.words.len())
	for word := range t.stemOf {
		t.stemOf[word] = t.stemOfWord(views, t.words.term(word))
	}
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

func (t *titles) stemOfWord(views []*view, word string) uint32 {
	for _, v := range views {
		if i := v.titles.words.find(word); i >= 0 {
			return uint32(t.stems.find(v.titles.stems.term(int(v.titles.stemOf[i]))))
		}
	}
	panic("bm25: a merged title word that no segment has")
}

// source is one of the fields that are merged.
type source struct {
	*field
	list func(term int) []byte
	at   int // the next term
}

func fieldsOf(views []*view, get func(*view) *field) []source {
	sources := make([]source, len(views))
	for i, v := range views {
		f := get(v)
		sources[i] = source{field: f, list: f.list}
	}
	return sources
}

// mergeFields merges fields term by term. Within a source the numbering must
// be ascending, and all of a source's new numbers must be above those of the
// sources before it.
func mergeFields(sources []source, renumbered [][]uint32, positional bool) field {
	var terms []string
	w := fieldWriter{positional: positional}
	var postings []posting
	for {
		term, any := nextTerm(sources)
		if !any {
			return w.field(terms)
		}
		list := postingWriter{data: w.f.data}
		for i := range sources {
			src := &sources[i]
			if src.at == src.len() || src.term(src.at) != term {
				continue
			}
			postings = appendPostings(postings[:0], src.list(src.at))
			positions := positionReader{data: src.positionList(src.at)}
			for _, p := range postings {
				kept := renumbered[i][p.doc] != gone
				if kept {
					list.add(renumbered[i][p.doc], p.tf)
				}
				if len(positions.data) > 0 {
					w.copyPositions(&positions, p.tf, kept)
				}
			}
			src.at++
		}
		w.f.data = list.data
		if list.n > 0 {
			terms = append(terms, term)
			w.endTerm(list.n)
		}
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
func nextTerm(sources []source) (term string, any bool) {
	for i := range sources {
		src := &sources[i]
		if src.at == src.len() {
			continue
		}
		if t := src.term(src.at); !any || t < term {
			term, any = t, true
		}
	}
	return term, any
}
