package bm25

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Pairs of terms with codes are those that their positions say.
func TestFollowsArePositions(t *testing.T) {
	x := newIndex(t)
	x.shop.batchBytes = 100_000 // so that segments are merged
	p := newProse(4)
	if err := x.Load(t.Context(), "kb", chunksOf(p, 1500)); err != nil {
		t.Fatal(err)
	}
	for d := 0; d < 150; d += 3 {
		replace(t, x, "kb", fmt.Sprintf("doc_%d", d), p.chunk(d, 0))
	}
	pairs := 0
	for _, v := range x.collection("kb").snapshot.Load().views {
		f := &v.stems
		for a, first := range f.dense {
			for b, second := range f.dense {
				if first.follows.code == 0 || second.follows.code == 0 {
					continue
				}
				want := byPositions(f, a, b)
				if diff := cmp.Diff(want, first.followedBy(nil, second.follows.code), cmp.AllowUnexported(posting{})); diff != "" {
					t.Fatalf("%s %s: %s", f.term(int(a)), f.term(int(b)), diff)
				}
				pairs += len(want)
			}
		}
	}
	if pairs < 1000 {
		t.Errorf("only %d", pairs)
	}
}

func byPositions(f *field, a, b uint32) []posting {
	of := func(term uint32) map[uint32]map[uint32]bool {
		positions := make(map[uint32]map[uint32]bool)
		f.eachPosition(term, func(doc, position uint32) {
			if positions[doc] == nil {
				positions[doc] = make(map[uint32]bool)
			}
			positions[doc][position] = true
		})
		return positions
	}
	first, second := of(a), of(b)
	var pairs []posting
	for _, q := range appendPostings(nil, f.list(int(a))) {
		n := uint32(0)
		for position := range first[q.doc] {
			if second[q.doc][position+1] {
				n++
			}
		}
		if n > 0 {
			pairs = append(pairs, posting{q.doc, n})
		}
	}
	return pairs
}

// Positions of a damaged file may be anything.
func TestFollowsOfFarPositions(t *testing.T) {
	var postings []posting
	w := fieldWriter{positional: true}
	list := postingWriter{}
	for doc := range uint32(minDense) {
		postings = append(postings, posting{doc, 1})
		list.add(doc, 1)
		w.f.positions = appendPositions(w.f.positions, []uint32{^uint32(0) - doc})
	}
	w.f.data = list.data
	w.endTerm(uint32(len(postings)))
	f := w.field([]string{"far"})
	f.setDense(minDense)
	f.setFollows(minDense, minDense)
	if d := f.dense[0]; d == nil || d.follows.code != 0 {
		t.Errorf("%+v", d)
	}
}
