package lexical

import (
	"hash/maphash"
	"sync/atomic"

	"ragagent/retrieval/analysis"
)

const (
	// titleSlots is how many titles are remembered: those of the chunks of a
	// hundred searches are few, since a document's chunks share one.
	titleSlots = 1 << 13
	// maxTitle is the longest title, in bytes, that is remembered.
	maxTitle = 256
)

// titles remembers the terms of titles. It is a fixed table in which a newer
// title replaces an older one in its slot, so it needs neither a lock nor a bound
// to enforce.
type titles struct {
	analyzer *analysis.Analyzer
	seed     maphash.Seed
	slots    [titleSlots]atomic.Pointer[titleTerms]
}

type titleTerms struct {
	title string
	terms []string
}

func newTitles(a *analysis.Analyzer) *titles {
	return &titles{analyzer: a, seed: maphash.MakeSeed()}
}

// terms returns the terms of a title, which are shared: nobody changes them.
func (t *titles) terms(title string) []string {
	if title == "" || len(title) > maxTitle {
		return t.analyzer.Terms(title)
	}
	slot := &t.slots[maphash.String(t.seed, title)%titleSlots]
	if known := slot.Load(); known != nil && known.title == title {
		return known.terms
	}
	terms := t.analyzer.Terms(title)
	slot.Store(&titleTerms{title, terms})
	return terms
}
