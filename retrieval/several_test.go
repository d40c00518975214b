package retrieval_test

import (
	gocmp "cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/store"
)

// expander expands every question to the same, whatever the kind.
type expander struct {
	to   retrieval.Rewritten
	err  error
	kind *store.RewriteKind
}

func (e expander) Expand(_ context.Context, kind store.RewriteKind, _ string, _ []retrieval.Turn) (retrieval.Rewritten, error) {
	if e.kind != nil {
		*e.kind = kind
	}
	return e.to, e.err
}

func scoresOf(r retrieval.Result) map[string]float64 {
	out := make(map[string]float64)
	for _, h := range r.Hits {
		out[h.DocumentID] = h.Score
	}
	return out
}

func skyWorld(t *testing.T, change func(*retrieval.PipelineConfig)) *world {
	t.Helper()
	w := newWorld(t, change)
	w.put(t, "kb_1", "a", "harvest at night")
	w.put(t, "kb_1", "b", "tides of spring")
	w.put(t, "kb_1", "c", "harvest of spring")
	return w
}

// The question weighs half: against the mean of its variants, or the best of its parts.
func TestSeveralQueries(t *testing.T) {
	alone := func(text string) map[string]float64 {
		return scoresOf(skyWorld(t, nil).retrieve(t, retrieval.Query{Text: text, NoRewrite: true}))
	}
	night, tides, spring := alone("night harvest"), alone("tides"), alone("spring harvest")
	evidence := func(of map[string]float64, document string) float64 { return retrieval.Evidence(of[document]) }
	for name, test := range map[string]struct {
		to   retrieval.Rewritten
		want func(document string) float64
	}{
		"variants": {retrieval.Rewritten{Question: "night harvest", Variants: []string{"tides", "spring harvest"}}, func(d string) float64 {
			return (evidence(night, d) + (evidence(tides, d)+evidence(spring, d))/2) / 2
		}},
		"parts": {retrieval.Rewritten{Question: "night harvest", Parts: []string{"tides", "spring harvest"}}, func(d string) float64 {
			return (evidence(night, d) + max(evidence(night, d), evidence(tides, d), evidence(spring, d))) / 2
		}},
	} {
		w := skyWorld(t, func(c *retrieval.PipelineConfig) { c.Expander = expander{to: test.to} })
		got := w.retrieve(t, retrieval.Query{Text: "night harvest", Rewrite: store.RewriteAuto, Explain: true})
		if len(got.Hits) != 3 || !slices.IsSortedFunc(got.Hits, func(a, b retrieval.Hit) int { return gocmp.Compare(b.Score, a.Score) }) {
			t.Errorf("%s: %v", name, scoresOf(got))
		}
		for _, h := range got.Hits {
			if want := test.want(h.DocumentID); math.Abs(retrieval.Evidence(h.Score)-want) > 1e-9 || math.Abs(h.Explain.Value-want) > 1e-9 {
				t.Errorf("%s, %s: evidence %v, explained %v, want %v", name, h.DocumentID, retrieval.Evidence(h.Score), h.Explain.Value, want)
			}
		}
		if diff := cmp.Diff([]string{"night harvest", "tides", "spring harvest"}, got.Queries); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got.Rewritten != "night harvest | tides | spring harvest" || got.Degraded != nil || len(got.Terms) != 2 {
			t.Errorf("%s: %q, %q, %v", name, got.Rewritten, got.Degraded, got.Terms)
		}
	}
}

// Several searches end as one does: cut, with names, without what has gone.
func TestSeveralAreFinished(t *testing.T) {
	w := skyWorld(t, func(c *retrieval.PipelineConfig) {
		c.Expander = expander{to: retrieval.Rewritten{Question: "harvest", Parts: []string{"tides", "harvest", "", strings.Repeat("x", retrieval.MaxQueryBytes+1)}}}
		c.Rerankers = []retrieval.Reranker{reverse{}}
	})
	q := retrieval.Query{Text: "harvest", Rewrite: store.RewriteDecompose, TopK: 2}
	got := w.retrieve(t, q)
	if diff := cmp.Diff([]string{"harvest", "tides"}, got.Queries); diff != "" || len(got.Hits) != 2 || got.Hits[0].DocumentName == "" {
		t.Error(diff, documents(got))
	}
	q.ScoreThreshold = 1
	if got := w.retrieve(t, q); len(got.Hits) != 0 {
		t.Error(documents(got))
	}
	w.remove("b")
	q.ScoreThreshold = 0
	if got := documents(w.retrieve(t, q)); slices.Contains(got, "b") || len(got) != 2 {
		t.Error(got)
	}
}

// What cannot be rewritten so is rewritten by rules, and the result says why.
func TestRewriteKinds(t *testing.T) {
	rules := rewriter(func(text string, _ []retrieval.Turn) (string, error) { return "by rules " + text, nil })
	var kind store.RewriteKind
	for name, test := range map[string]struct {
		expander  retrieval.Expander
		query     retrieval.Query
		settings  store.RewriteKind
		otherwise store.RewriteKind
		want      string
		degraded  []string
	}{
		"nothing said":      {nil, retrieval.Query{}, "", "", "by rules sun", nil},
		"false":             {nil, retrieval.Query{NoRewrite: true}, store.RewriteHyDE, "", "", nil},
		"none":              {nil, retrieval.Query{Rewrite: store.RewriteNone}, store.RewriteHyDE, "", "", nil},
		"not set up":        {nil, retrieval.Query{Rewrite: store.RewriteHyDE}, "", "", "by rules sun", []string{"rewrite: hyde is not set up"}},
		"fails":             {expander{err: errors.New("no model")}, retrieval.Query{Rewrite: store.RewriteHyDE}, "", "", "by rules sun", []string{"rewrite: no model"}},
		"of the query":      {expander{to: retrieval.Rewritten{Question: "moon"}, kind: &kind}, retrieval.Query{Rewrite: store.RewriteHyDE}, store.RewriteAuto, "", "moon", nil},
		"of the base":       {expander{to: retrieval.Rewritten{Question: "moon"}, kind: &kind}, retrieval.Query{}, store.RewriteHyDE, store.RewriteAuto, "moon", nil},
		"of the server":     {expander{to: retrieval.Rewritten{Question: "moon"}, kind: &kind}, retrieval.Query{}, "", store.RewriteHyDE, "moon", nil},
		"half of it":        {expander{to: retrieval.Rewritten{Question: "moon", Degraded: []string{"hyde: x"}}, kind: &kind}, retrieval.Query{Rewrite: store.RewriteHyDE}, "", "", "moon", []string{"rewrite: hyde: x"}},
		"nothing to search": {expander{to: retrieval.Rewritten{}, kind: &kind}, retrieval.Query{Rewrite: store.RewriteHyDE}, "", "", "", nil},
	} {
		kind = store.RewriteHyDE
		w := newWorld(t, func(c *retrieval.PipelineConfig) {
			c.Rewriter, c.Expander, c.DefaultRewrite = rules, test.expander, test.otherwise
		})
		w.put(t, "kb_1", "a", "sun and moon")
		kb := w.bases["kb_1"]
		kb.Retrieval.Rewrite = test.settings
		w.bases["kb_1"] = kb
		test.query.Text = "sun"
		got := w.retrieve(t, test.query)
		if got.Rewritten != test.want || kind != store.RewriteHyDE || len(got.Hits) != 1 {
			t.Errorf("%s: %q, %s, %v", name, got.Rewritten, kind, documents(got))
		}
		if diff := cmp.Diff(test.degraded, got.Degraded); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The vector of a made-up answer finds what the question does not name.
func TestMadeUpAnswer(t *testing.T) {
	w := newWorld(t, func(c *retrieval.PipelineConfig) {
		c.Expander = expander{to: retrieval.Rewritten{Question: "what shines at sun down", Passage: "the moon"}}
	})
	w.put(t, "kb_1", "sun", "sun")
	w.put(t, "kb_1", "moon", "moonlight")
	w.put(t, "kb_1", "star", "starlight")
	got := w.retrieve(t, retrieval.Query{Text: "what shines at sun down", Rewrite: store.RewriteHyDE, Mode: retrieval.Dense})
	if diff := cmp.Diff("the moon", got.Passage); diff != "" {
		t.Error(diff)
	}
	scores := scoresOf(got)
	want := retrieval.Calibrate(math.Sqrt(.5)) // half way between sun and moon
	if math.Abs(scores["sun"]-want) > 1e-6 || math.Abs(scores["moon"]-want) > 1e-6 || scores["star"] != 0 {
		t.Errorf("%v, want %v", scores, want)
	}
}

// asked remembers what a final reranker was asked.
type asked struct {
	question *string
	next     retrieval.Reranker
}

func (a asked) Rerank(ctx context.Context, question string, hits []retrieval.Hit) ([]retrieval.Hit, error) {
	*a.question = question
	return a.next.Rerank(ctx, question, hits)
}

func TestRerankKinds(t *testing.T) {
	var question string
	var lambda float64
	set := func(c *retrieval.PipelineConfig) {
		c.FinalRerankers = map[store.RerankKind]retrieval.Reranker{store.RerankCrossEncoder: asked{&question, reverse{}}}
		c.Diversify = func(l float64) retrieval.Reranker { lambda = l; return reverse{} }
		c.Rewriter = rewriter(func(text string, _ []retrieval.Turn) (string, error) { return strings.TrimPrefix(text, "please "), nil })
	}
	for name, test := range map[string]struct {
		query    retrieval.Query
		settings store.RetrievalSettings
		want     []string
		degraded []string
	}{
		"nothing said": {retrieval.Query{}, store.RetrievalSettings{}, []string{"b", "a"}, nil},
		"of the query": {retrieval.Query{Rerank: store.RerankCrossEncoder}, store.RetrievalSettings{}, []string{"a", "b"}, nil},
		"of the base":  {retrieval.Query{}, store.RetrievalSettings{Rerank: store.RerankCrossEncoder}, []string{"a", "b"}, nil},
		"false":        {retrieval.Query{NoRerank: true}, store.RetrievalSettings{Rerank: store.RerankCrossEncoder}, []string{"b", "a"}, nil},
		"by vectors":   {retrieval.Query{Mode: retrieval.Dense, Rerank: store.RerankCrossEncoder}, store.RetrievalSettings{}, []string{"a", "b"}, nil},
		"mmr":          {retrieval.Query{Rerank: store.RerankMMR, MMRLambda: .3}, store.RetrievalSettings{MMRLambda: .9}, []string{"a", "b"}, nil},
		"not set up":   {retrieval.Query{Rerank: store.RerankListwise}, store.RetrievalSettings{}, []string{"b", "a"}, []string{"rerank: listwise is not set up"}},
	} {
		w := newWorld(t, set)
		w.put(t, "kb_1", "a", "sun one")
		w.put(t, "kb_1", "b", "sun and moon")
		kb := w.bases["kb_1"]
		kb.Retrieval = test.settings
		w.bases["kb_1"] = kb
		test.query.Text = "please moon sun"
		if test.query.Mode == retrieval.Dense {
			test.query.Text = "please moon"
		}
		question = test.query.Text
		got := w.retrieve(t, test.query)
		order := documents(got)
		if test.query.Mode == retrieval.Dense {
			slices.Sort(order) // which of two equals leads is for their ids to say
		}
		if diff := cmp.Diff(test.want, order); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(test.degraded, got.Degraded); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if question != test.query.Text {
			t.Errorf("%s: a model was asked %q", name, question)
		}
	}
	if lambda != .3 {
		t.Errorf("lambda %v", lambda)
	}
	for field, q := range map[string]retrieval.Query{"rewrite": {Rewrite: "guess"}, "rerank": {Rerank: "guess"}, "mmr_lambda": {MMRLambda: math.NaN()}} {
		q.Text, q.KnowledgeBases = "sun", []string{"kb_1"}
		_, err := newWorld(t, nil).pipeline.Retrieve(t.Context(), q)
		var invalid *store.FieldError
		if !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestReorder(t *testing.T) {
	hits := []retrieval.Hit{
		{Chunk: store.Chunk{ID: "a"}, Score: .9, Explain: &retrieval.Explanation{Label: "x", Value: 1}},
		{Chunk: store.Chunk{ID: "b"}, Score: .8}, {Chunk: store.Chunk{ID: "c"}, Score: .7},
	}
	got := retrieval.Reorder(hits, []int{2, 2, 7, -1, 0}, "test")
	want := []retrieval.Hit{
		{Chunk: store.Chunk{ID: "c"}, Score: .9},
		{Chunk: store.Chunk{ID: "a"}, Score: .8, Explain: &retrieval.Explanation{
			Label: "test", Value: retrieval.Evidence(.8), Details: []retrieval.Explanation{{Label: "x", Value: 1}},
		}},
		{Chunk: store.Chunk{ID: "b"}, Score: .7},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
