package retrieval_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

// backwards is a router that likes what comes last.
type backwards struct {
	asked [][]string
	err   error
}

func (b *backwards) Route(_ context.Context, _ string, bases []store.KnowledgeBase) ([]retrieval.Route, error) {
	var ids []string
	var routes []retrieval.Route
	for i, kb := range bases {
		ids = append(ids, kb.ID)
		routes = append(routes, retrieval.Route{KnowledgeBaseID: kb.ID, KnowledgeBaseName: kb.Name, Score: float64(i)})
	}
	b.asked = append(b.asked, ids)
	slices.Reverse(routes)
	return routes, b.err
}

func manyBases(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("kb_%02d", i))
	}
	return ids
}

func TestManyKnowledgeBasesAreRouted(t *testing.T) {
	router := &backwards{}
	w := newWorld(t, func(c *retrieval.PipelineConfig) { c.Router = router })
	ids := manyBases(10)
	for _, id := range ids {
		w.bases[id] = store.KnowledgeBase{ID: id, Name: id}
		w.put(t, id, "doc of "+id, "a comet seen from "+id)
	}
	r := w.retrieve(t, retrieval.Query{Text: "comet", KnowledgeBases: ids[:8], TopK: 20})
	if len(r.Hits) != 8 || r.Routes != nil || router.asked != nil {
		t.Errorf("eight: %d hits, routes %v", len(r.Hits), r.Routes)
	}
	r = w.retrieve(t, retrieval.Query{Text: "comet", KnowledgeBases: ids, TopK: 20})
	if len(r.Hits) != 8 || len(r.Routes) != 8 || r.Routes[0].KnowledgeBaseID != "kb_09" || r.Routes[7].KnowledgeBaseID != "kb_02" {
		t.Errorf("ten: %d hits, routes %+v", len(r.Hits), r.Routes)
	}
	if diff := cmp.Diff([][]string{ids}, router.asked); diff != "" {
		t.Error(diff)
	}
	s := w.stands(t, retrieval.Query{Text: "comet", KnowledgeBases: ids}, "doc of kb_00")
	if s.Outcome != retrieval.NotSearched {
		t.Errorf("%+v", s)
	}
	router.err = errors.New("lost")
	r = w.retrieve(t, retrieval.Query{Text: "comet", KnowledgeBases: ids, TopK: 20})
	if diff := cmp.Diff([]string{"route: lost"}, r.Degraded); diff != "" || len(r.Hits) != 10 {
		t.Error(diff, len(r.Hits))
	}
}

// What the filter leaves nothing of is not among those that are chosen from.
func TestFilterComesBeforeRouting(t *testing.T) {
	w := newTagged(t)
	router := &backwards{}
	var err error
	w.pipeline, err = retrieval.NewPipeline(retrieval.PipelineConfig{Index: w.index, Records: w, Router: router})
	check(t, err)
	ids := manyBases(12)
	for i, id := range ids {
		w.bases[id] = store.KnowledgeBase{ID: id, Name: id}
		w.put(t, id, "doc of "+id, store.Metadata{"year": 2000. + float64(i)}, "a comet seen from "+id)
	}
	r := w.find(t, retrieval.Query{Text: "comet", KnowledgeBases: ids, TopK: 20, Filter: parsed(t, `{"year":{"lt":2003}}`)})
	got := documents(r)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"doc of kb_00", "doc of kb_01", "doc of kb_02"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{ids[:3]}, router.asked); diff != "" {
		t.Error(diff)
	}
}
