package bm25

import (
	"cmp"
	"slices"

	"ragagent/retrieval"
)

// part is one view of a snapshot with what a query found in it.
type part struct {
	*view
	snap  int
	views int                // index of the snapshot's first part
	first retrieval.ChunkRef // of chunk 0
	// chosen are the chunks that Top may return, all of them alive; nil for all
	// that are.
	chosen bitmap

	// slot is, while candidates are collected, the candidate of each chunk + 1;
	// 0 everywhere before and after.
	slot []uint32
	// value is the index in values of each chunk + 1, 0 if not evaluated yet.
	value  []uint32
	values []value

	// title is the index in titled of each title + 1, 0 if it got no score.
	title  []uint32
	titled []titleScore
}

// value is what the words of a query give a chunk.
type value struct {
	chunk uint32
	words float64 // weighted sum of all fields but the unstemmed words
	exact float64 // sum of the unstemmed words
}

// titleScore is what a title gives every chunk under it.
type titleScore struct {
	title uint32
	field float64 // BM25 of the title field
	named float64 // what of the query the title names
	// known is what the stems of the title weigh that the query names in full or
	// in part, stems how many they are.
	known float64
	stems uint32
	// cover is the share of the title that the query names, once it is known: it
	// takes longer to find than the rest, and most titles do without.
	covered bool
	cover   float64
}

// scoreOf returns the score of a title, a new one if it had none.
func (p *part) scoreOf(title uint32) *titleScore {
	if p.title[title] == 0 {
		p.titled = append(p.titled, titleScore{title: title})
		p.title[title] = uint32(len(p.titled))
	}
	return &p.titled[p.title[title]-1]
}

// titleScore returns the score of a chunk's title, nil if it has none.
func (p *part) titleScore(chunk uint32) *titleScore {
	title := p.titles.of[chunk]
	if title == noTitle || p.title[title] == 0 {
		return nil
	}
	return &p.titled[p.title[title]-1]
}

// valueOf returns the value of a chunk that is evaluated.
func (p *part) valueOf(chunk uint32) *value { return &p.values[p.value[chunk]-1] }

// eligible says whether Top may return a chunk.
func (p *part) eligible(chunk uint32) bool {
	if p.chosen != nil {
		return p.chosen.has(chunk)
	}
	return p.alive(chunk)
}

// release sets to zero what is zero before and after.
func (p *part) release() {
	for i := range p.values {
		p.value[p.values[i].chunk] = 0
	}
	for i := range p.titled {
		p.title[p.titled[i].title] = 0
	}
}

// at returns the index of the part that holds a chunk, and its number there.
func (m *match) at(ref retrieval.ChunkRef) (index int, chunk uint32) {
	i, found := slices.BinarySearchFunc(m.parts, ref, func(p part, ref retrieval.ChunkRef) int {
		return cmp.Compare(p.first, ref)
	})
	if !found {
		i--
	}
	return i, uint32(ref - m.parts[i].first)
}

func (p *part) ref(chunk uint32) retrieval.ChunkRef { return p.first + retrieval.ChunkRef(chunk) }
