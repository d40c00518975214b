package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

// fakeRetriever answers from a table: query text -> hits, best first.
type fakeRetriever struct {
	hits     map[string][]retrieval.Hit
	degraded []string
	fail     error

	mu    sync.Mutex
	asked []retrieval.Query
}

func (f *fakeRetriever) Retrieve(ctx context.Context, q retrieval.Query) (retrieval.Result, error) {
	f.mu.Lock()
	f.asked = append(f.asked, q)
	f.mu.Unlock()
	if f.fail != nil {
		return retrieval.Result{}, f.fail
	}
	hits := f.hits[q.Text]
	if len(hits) > q.TopK {
		hits = hits[:q.TopK]
	}
	return retrieval.Result{Query: q.Text, Rewritten: "re " + q.Text, Hits: hits, Degraded: f.degraded}, ctx.Err()
}

// hit is a chunk of the document with that id in the collection.
func hit(id string, score float64) retrieval.Hit {
	return retrieval.Hit{Metadata: store.Metadata{eval.MetadataID: id}, Score: score}
}

func pageHit(name string, from, to int) retrieval.Hit {
	return retrieval.Hit{DocumentName: name, Chunk: store.Chunk{PageStart: from, PageEnd: to}, Score: .5}
}

// ticker is a clock that goes on by one step with every look at it.
func ticker(step time.Duration) func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func collection() *eval.Dataset {
	return &eval.Dataset{
		Name:    "small",
		Queries: []eval.Question{{ID: "q2", Text: "two"}, {ID: "q1", Text: "one"}, {ID: "q3", Text: "three"}},
		Qrels:   eval.Qrels{"q1": {"a": 1}, "q2": {"b": 1, "c": 1}, "q3": {"d": 1}},
	}
}

func TestRunFoldsChunksIntoDocuments(t *testing.T) {
	defer goleak.VerifyNone(t)
	f := &fakeRetriever{
		hits: map[string][]retrieval.Hit{
			"one": {hit("x", .9), hit("x", .8), {DocumentName: "stranger"}, hit("a", .7), hit("x", .6)},
			"two": {hit("c", .5), hit("b", .5)},
		},
		degraded: []string{"rerank: timeout"},
	}
	r, err := eval.NewRunner(eval.Config{
		Retriever: f, KnowledgeBases: []string{"kb_1"}, Workers: 1, Depth: 10,
		Mode: retrieval.Lexical, NoRerank: true, Now: ticker(3 * time.Millisecond),
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(context.Background(), collection())
	if err != nil {
		t.Fatal(err)
	}
	wantRun := eval.Run{
		"q1": {{ID: "x", Score: .9}, {ID: "a", Score: .7}},
		"q2": {{ID: "c", Score: .5}, {ID: "b", Score: .5}},
		"q3": {},
	}
	if diff := cmp.Diff(wantRun, res.Run()); diff != "" {
		t.Error(diff)
	}
	got, err := json.Marshal(res.Summary())
	if err != nil {
		t.Fatal(err)
	}
	// q1 finds its document at rank 2, q2 both, q3 nothing; (1 + 1/log2 3)/3 = 1.63093/3.
	want := `{"dataset":"small","queries":3,"ndcg@10":0.543643,"recall@10":0.666667,"mrr@10":0.5,"map":0.5,` +
		`"success@1":0.333333,"success@10":0.666667,"complete@10":0.666667,"p50_ms":3,"p95_ms":3,"empty":1,"degraded":3,"unlocated":1}`
	if string(got) != want {
		t.Errorf("summary\n got %s\nwant %s", got, want)
	}
	wantAsked := eval.Asked{
		Question: eval.Question{ID: "q1", Text: "one"}, Ranking: wantRun["q1"], Rewritten: "re one",
		Degraded: f.degraded, Hits: 5, Unlocated: 1, Elapsed: 3 * time.Millisecond,
	}
	if diff := cmp.Diff(wantAsked, res.Asked[0]); diff != "" {
		t.Error(diff)
	}
	wantQuery := retrieval.Query{Text: "two", KnowledgeBases: []string{"kb_1"}, TopK: 10, Mode: retrieval.Lexical, NoRerank: true}
	if diff := cmp.Diff(wantQuery, f.asked[0]); diff != "" {
		t.Errorf("first query asked: %s", diff)
	}
}

func TestRunAsksForMoreUntilDepthIsFilled(t *testing.T) {
	var hits []retrieval.Hit
	for i := range 40 { // ten chunks of every document
		hits = append(hits, hit(fmt.Sprintf("d%d", i/10), 1))
	}
	d := &eval.Dataset{Name: "small", Queries: []eval.Question{{ID: "q", Text: "q"}}, Qrels: eval.Qrels{"q": {"d2": 1}}}
	for depth, want := range map[int]struct {
		topK  []int
		found int
	}{
		1: {[]int{1}, 1},
		3: {[]int{3, 6, 12, 24}, 3},
		9: {[]int{9, 18, 36, 72}, 4}, // 40 chunks are all there are
	} {
		f := &fakeRetriever{hits: map[string][]retrieval.Hit{"q": hits}}
		r, err := eval.NewRunner(eval.Config{
			Retriever: f, KnowledgeBases: []string{"kb"}, Depth: depth, Now: ticker(time.Second),
			Measures: []eval.Measure{{Kind: eval.MRR}},
		})
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Run(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		var topK []int
		for _, q := range f.asked {
			topK = append(topK, q.TopK)
		}
		if diff := cmp.Diff(want.topK, topK); diff != "" {
			t.Errorf("depth %d: top_k %s", depth, diff)
		}
		if got := len(res.Asked[0].Ranking); got != want.found {
			t.Errorf("depth %d: %d documents, want %d", depth, got, want.found)
		}
		if got := res.Latency(.5); got != time.Second {
			t.Errorf("depth %d: latency %v is not that of the first call", depth, got)
		}
	}
}

func TestRunByPage(t *testing.T) {
	d := &eval.Dataset{
		Name: "pages", ByPage: true,
		Queries: []eval.Question{{ID: "q1", Text: "one"}, {ID: "q2", Text: "two"}},
		Qrels:   eval.Qrels{"q1": {"A#p4": 1}, "q2": {"B#p2": 1}},
	}
	f := &fakeRetriever{hits: map[string][]retrieval.Hit{
		"one": {pageHit("A.pdf", 1, 1), pageHit("A.pdf", 1, 4), pageHit("B.pdf", 0, 0)},
		"two": {pageHit("A.pdf", 9, 9), pageHit("B.pdf", 2, 0), pageHit("C.pdf", 5, 1_000_000)},
	}}
	r, err := eval.NewRunner(eval.Config{Retriever: f, KnowledgeBases: []string{"kb"}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	found := ids(res.Run())
	if got := strings.Join(found["q1"], " "); got != "A#p1 A#p2 A#p3 A#p4" {
		t.Errorf("q1: %s", got)
	}
	if got := strings.Join(found["q2"], " "); !strings.HasPrefix(got, "A#p9 B#p2 C#p5 C#p6 ") || !strings.HasSuffix(got, " C#p68") {
		t.Errorf("q2: %s", got)
	}
	s := res.Summary()
	for name, want := range map[string]float64{"mrr@10": (1.0/4 + 1.0/2) / 2, "file_success@1": .5, "file_success@10": 1} {
		if got, ok := s.Means.Figure(name); !ok || got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if s.Unlocated != 1 {
		t.Errorf("unlocated %d, want the hit without a page", s.Unlocated)
	}
}

func TestRunDoesNotDependOnWorkers(t *testing.T) {
	defer goleak.VerifyNone(t)
	d, f := &eval.Dataset{Name: "many", Qrels: eval.Qrels{}}, &fakeRetriever{hits: map[string][]retrieval.Hit{}}
	for i := range 200 {
		q := fmt.Sprintf("q%03d", i)
		d.Queries = append(d.Queries, eval.Question{ID: q, Text: q})
		d.Qrels[q] = map[string]int{"a": 1}
		f.hits[q] = []retrieval.Hit{hit(fmt.Sprintf("d%d", i%7), 1), hit("a", .5)}
	}
	var runs []eval.Run
	for _, workers := range []int{1, 8} {
		var done []int
		r, err := eval.NewRunner(eval.Config{
			Retriever: f, KnowledgeBases: []string{"kb"}, Workers: workers,
			Progress: func(n, total int) { done = append(done, n*1000+total) },
		})
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Run(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, res.Run())
		if len(done) != 200 || done[0] != 1200 || done[199] != 200_200 {
			t.Errorf("%d workers: progress %v", workers, done)
		}
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
		t.Error(diff)
	}
}

func TestRunFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	broken := errors.New("the model is gone")
	for name, tc := range map[string]struct {
		retriever *fakeRetriever
		want      error
		text      string
	}{
		"a failing query":    {&fakeRetriever{fail: broken}, broken, "evaluate small: query \"q"},
		"another collection": {&fakeRetriever{hits: map[string][]retrieval.Hit{"one": {{DocumentName: "x"}}}}, store.ErrInvalid, "none of the 1 chunks found belongs to small"},
	} {
		r, err := eval.NewRunner(eval.Config{Retriever: tc.retriever, KnowledgeBases: []string{"kb"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(context.Background(), collection()); !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := &fakeRetriever{}
	r, err := eval.NewRunner(eval.Config{Retriever: f, KnowledgeBases: []string{"kb"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(ctx, collection()); !errors.Is(err, context.Canceled) || len(f.asked) > 0 {
		t.Errorf("cancelled: %v after %d queries", err, len(f.asked))
	}
}

func TestNewRunnerRejects(t *testing.T) {
	f, kbs := &fakeRetriever{}, []string{"kb"}
	for name, cfg := range map[string]eval.Config{
		"zero":               {},
		"no knowledge base":  {Retriever: f},
		"negative depth":     {Retriever: f, KnowledgeBases: kbs, Depth: -1},
		"too deep":           {Retriever: f, KnowledgeBases: kbs, Depth: store.MaxTopK + 1},
		"negative workers":   {Retriever: f, KnowledgeBases: kbs, Workers: -1},
		"cut deeper than it": {Retriever: f, KnowledgeBases: kbs, Depth: 5, Measures: []eval.Measure{{Kind: eval.NDCG, Cut: 10}}},
	} {
		if _, err := eval.NewRunner(cfg); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func TestQuantileIsNearestRank(t *testing.T) {
	values := []time.Duration{50, 10, 40, 20, 30}
	for p, want := range map[float64]time.Duration{0: 10, .2: 10, .21: 20, .5: 30, .95: 50, 1: 50} {
		if got := eval.Quantile(values, p); got != want {
			t.Errorf("p%v = %v, want %v", p, got, want)
		}
	}
	if eval.Quantile[int](nil, .5) != 0 {
		t.Error("no values have a quantile")
	}
}

func TestBars(t *testing.T) {
	s := eval.Summary{Means: []eval.Figure{{Name: "ndcg@10", Value: .41}, {Name: "map", Value: .3}}}
	var bars []eval.Bar
	for _, text := range []string{"ndcg@10=0.41", "map=.31", "mrr@10=0"} {
		b, err := eval.ParseBar(text)
		if err != nil {
			t.Fatal(err)
		}
		bars = append(bars, b)
	}
	if diff := cmp.Diff([]eval.Bar{{Name: "map", Min: .31}, {Name: "mrr@10"}}, s.Means.Under(bars)); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "ndcg@10", "=1", "map=x", "map=NaN"} {
		if _, err := eval.ParseBar(text); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("ParseBar(%q): %v, want ErrInvalid", text, err)
		}
	}
}
