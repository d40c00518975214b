package attributes

import (
	"slices"

	"ragagent/store"
)

// Set is the documents that a filter chose, as of one moment.
type Set struct {
	Numbering *Numbering
	Documents Bits // by number
	Count     int
	Total     int // documents there are
}

// Resolve finds the documents that a filter chooses, exactly those that
// store.Filter.Match does.
func (t *Table) Resolve(f *store.Filter) Set {
	t.mu.RLock()
	defer t.mu.RUnlock()
	set := t.resolve(f)
	return Set{Numbering: t.numbering, Documents: set, Count: set.Count(), Total: t.live.Count()}
}

// resolve returns a set that is the caller's to change.
func (t *Table) resolve(f *store.Filter) Bits {
	switch {
	case f == nil:
		return slices.Clone(t.live)
	case f.Op == store.FilterAnd:
		set := t.resolve(f.Args[0])
		for _, arg := range f.Args[1:] {
			set.and(t.resolve(arg))
		}
		return set
	case f.Op == store.FilterOr:
		set := t.resolve(f.Args[0])
		for _, arg := range f.Args[1:] {
			set.or(t.resolve(arg))
		}
		return set
	case f.Op == store.FilterNot:
		return t.others(t.resolve(f.Args[0]))
	}
	set := make(Bits, len(t.live))
	c := t.columns[f.Field]
	switch {
	case f.Op == store.FilterExists:
		if c != nil {
			c.markAll(set)
		}
		if !f.Wants() {
			return t.others(set)
		}
		return set
	case c != nil:
		c.mark(set, f)
	}
	if f.Op == store.FilterNe {
		return t.others(set)
	}
	return set
}

// others returns the documents that are not in a set.
func (t *Table) others(set Bits) Bits {
	out := slices.Clone(t.live)
	out.andNot(set)
	return out
}

// Has says whether any document has a field.
func (t *Table) Has(field string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.columns[field] != nil
}
