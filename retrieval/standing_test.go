package retrieval_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

// outcome is the part of a Standing that most tests are about.
type outcome struct {
	Document string
	Outcome  retrieval.Outcome
	Hit      int
}

func (w *world) stands(t *testing.T, q retrieval.Query, id string) *retrieval.Standing {
	t.Helper()
	q.ExplainChunk = id
	r := w.retrieve(t, q)
	if r.Standing == nil {
		t.Fatalf("%s: no standing", id)
	}
	return r.Standing
}

func TestOutcomes(t *testing.T) {
	w := newWorld(t, nil)
	w.put(t, "kb_1", "best", "comet and sun over the hill")
	w.put(t, "kb_1", "same", "Comet and SUN over the hill!")
	w.put(t, "kb_1", "weak", "a comet in the long night over fields and rivers")
	w.put(t, "kb_1", "none", "nothing to see")
	w.put(t, "kb_2", "other", "comet and sun")
	q := retrieval.Query{Text: "comet sun"}
	tests := map[string]struct {
		q    retrieval.Query
		want outcome
	}{
		"best":    {q, outcome{"best", retrieval.Found, 0}},
		"same":    {q, outcome{"same", retrieval.Duplicate, 0}},
		"weak":    {retrieval.Query{Text: "comet sun", TopK: 1}, outcome{"weak", retrieval.BelowCut, -1}},
		"none":    {q, outcome{"none", retrieval.NoCandidate, -1}},
		"other":   {q, outcome{"", retrieval.NotSearched, -1}},
		"unknown": {q, outcome{"", retrieval.NotSearched, -1}},
	}
	for id, test := range tests {
		t.Run(id, func(t *testing.T) {
			// best and same are equal but for their ids, which decide.
			if id == "same" || id == "best" {
				first := w.retrieve(t, q).Hits[0].DocumentID
				if id == first {
					test.want = outcome{id, retrieval.Found, 0}
				} else {
					test.want = outcome{id, retrieval.Duplicate, 0}
				}
			}
			s := w.stands(t, test.q, id)
			if diff := cmp.Diff(test.want, outcome{s.DocumentID, s.Outcome, s.Hit}); diff != "" {
				t.Error(diff)
			}
		})
	}
	high := q
	high.ScoreThreshold = .99
	if s := w.stands(t, high, "weak"); s.Outcome != retrieval.BelowThreshold || s.Steps[len(s.Steps)-1].Needed != .99 {
		t.Errorf("%+v", s)
	}
	if s := w.stands(t, q, "weak"); len(s.Missing) != 1 || s.Missing[0].Term != "sun" {
		t.Errorf("missing %+v", s.Missing)
	}
}

// The numbers of a standing are those that ranked: for a hit the hit's, for a
// chunk just below the cut those it has as a hit of a search that goes deeper.
func TestStandingHasTheNumbersThatRanked(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 30 {
		w.put(t, "kb_1", fmt.Sprintf("d%02d", i), "comet "+strings.Repeat("moon ", i%3)+strings.Repeat(fmt.Sprintf("word%d ", i), i))
	}
	for _, mode := range []retrieval.Mode{retrieval.Hybrid, retrieval.Lexical, retrieval.Dense} {
		q := retrieval.Query{Text: "comet moon", Mode: mode, TopK: 30, Explain: true}
		all := w.retrieve(t, q).Hits
		q.TopK, q.Explain = 3, false
		for rank, hit := range all {
			s := w.stands(t, q, hit.ID)
			last := s.Steps[len(s.Steps)-1]
			if last.Rank != rank+1 || last.Value != hit.Score {
				t.Errorf("%s: %s stands %+v, was hit %d with %v", mode, hit.DocumentID, last, rank+1, hit.Score)
			}
			if diff := cmp.Diff(hit.Explain, s.Explain); diff != "" {
				t.Error(diff)
			}
			want, needed := retrieval.Found, all[2].Score
			switch {
			case rank >= 13:
				want, needed = retrieval.FirstStage, all[12].Score // ten more than asked for go on
			case rank >= 3:
				want = retrieval.BelowCut
			}
			if s.Outcome != want || last.Needed != needed {
				t.Errorf("%s: %s at %d is %s and needed %v; want %s, %v", mode, hit.DocumentID, rank+1, s.Outcome, last.Needed, want, needed)
			}
		}
	}
}

// One that no search brought in is evaluated as if it had been: it has the
// score that it gets in a search that reaches it.
func TestStandingOfNoCandidate(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 230 {
		w.put(t, "kb_1", fmt.Sprintf("d%03d", i), "comet tail "+strings.Repeat(fmt.Sprintf("x%d ", i), i))
	}
	deep := w.retrieve(t, retrieval.Query{Text: "comet tail", TopK: 230, Mode: retrieval.Lexical})
	if len(deep.Hits) != 230 {
		t.Fatalf("%d hits", len(deep.Hits))
	}
	last := deep.Hits[229]
	s := w.stands(t, retrieval.Query{Text: "comet tail", Mode: retrieval.Lexical}, last.ID)
	words, fused := s.Steps[0], s.Steps[1]
	if s.Outcome != retrieval.NoCandidate || words.Rank != 0 || words.Of != 200 || words.Needed <= words.Value || fused.Rank != 0 {
		t.Errorf("%+v", s)
	}
	if math.Abs(fused.Value-last.Score) > 1e-9 {
		t.Errorf("value %v, as a hit %v", fused.Value, last.Score)
	}
}

func TestStandingWithFilter(t *testing.T) {
	w := newTagged(t)
	w.put(t, "kb_1", "old", store.Metadata{"year": 2010.}, "a comet")
	w.put(t, "kb_1", "new", store.Metadata{"year": 2021.}, "a comet")
	filter, err := store.ParseFilter([]byte(`{"year": {"ge": 2020}}`))
	check(t, err)
	s := w.stands(t, retrieval.Query{Text: "comet", Filter: filter}, "old")
	if diff := cmp.Diff(outcome{"old", retrieval.Filtered, -1}, outcome{s.DocumentID, s.Outcome, s.Hit}); diff != "" {
		t.Error(diff)
	}
}
