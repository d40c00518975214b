package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/retrieval/eval/queue"
	"ragagent/store"
	"ragagent/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted answers each query with hits of documents that are named after it.
type scripted struct {
	mu     sync.Mutex
	found  map[string][]retrieval.Hit
	hold   chan struct{} // what is asked waits until it is closed; nil: nothing
	asking chan string   // tells what is asked, if not nil
	err    error
}

func (s *scripted) Retrieve(ctx context.Context, q retrieval.Query) (retrieval.Result, error) {
	if s.asking != nil {
		s.asking <- q.Text
	}
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return retrieval.Result{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return retrieval.Result{Query: q.Text, Hits: s.found[q.Text]}, s.err
}

func hit(id, name string, metadata store.Metadata) retrieval.Hit {
	return retrieval.Hit{Chunk: store.Chunk{ID: "chk_" + id, DocumentID: id}, DocumentName: name, Metadata: metadata}
}

// fixture is a queue over real records and a scripted retriever.
type fixture struct {
	*testing.T
	db        *sqlite.DB
	queue     *queue.Queue
	traffic   *queue.Traffic
	retriever *scripted
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "records.db")})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, db: db, retriever: &scripted{found: map[string][]retrieval.Hit{
		"first?":  {hit("doc_1", "a.md", nil), hit("doc_2", "b.md", nil)},
		"second?": {hit("doc_1", "a.md", nil), hit("doc_3", "c.md", store.Metadata{"_id": "third"})},
	}}}
	f.queue = f.open()
	t.Cleanup(func() {
		if err := errors.Join(f.queue.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) open() *queue.Queue {
	f.Helper()
	f.traffic = queue.NewTraffic(f.retriever)
	q, err := queue.New(queue.Config{Records: f.db, Traffic: f.traffic, Patience: time.Hour})
	if err != nil {
		f.Fatal(err)
	}
	return q
}

// request judges by id, by name and by the id of the collection.
func request() eval.Request {
	return eval.Request{
		Name: "nightly", KnowledgeBases: []string{"kb_1"},
		Questions: []eval.Question{{ID: "q1", Text: "first?"}, {ID: "q2", Text: "second?"}, {ID: "unjudged", Text: "third?"}},
		Qrels:     eval.Qrels{"q1": {"b.md": 1}, "q2": {"doc_1": 1, "third": 2, "gone.md": 1}},
		Measures:  []eval.Measure{{Kind: eval.MRR}, {Kind: eval.Recall, Cut: 2}},
		Names:     []string{"rr", "recall@2"},
	}
}

func (f *fixture) submit() store.Evaluation {
	f.Helper()
	e, err := f.queue.Submit(f.Context(), request())
	if err != nil {
		f.Fatal(err)
	}
	return e
}

// ended waits for an evaluation's end.
func (f *fixture) ended(id string) store.Evaluation {
	f.Helper()
	for {
		e, err := f.db.Evaluation(f.Context(), id)
		if err != nil {
			f.Fatal(err)
		}
		if e.Status.Ended() {
			return e
		}
		select {
		case <-time.After(time.Millisecond):
		case <-f.Context().Done():
			f.Fatal("it has not ended")
		}
	}
}

func TestQueueMeasures(t *testing.T) {
	f := newFixture(t)
	e := f.submit()
	if e.Status != store.StatusQueued || e.Total != 2 || !strings.HasPrefix(e.ID, "eval_") {
		t.Errorf("submitted: %+v", e)
	}
	f.queue.Start()
	e = f.ended(e.ID)
	var figures map[string]any
	if err := json.Unmarshal(e.Figures, &figures); err != nil || e.Status != store.StatusReady {
		t.Fatalf("%+v, %v", e, err)
	}
	// q1 finds b.md second; q2 finds both of what exists of three.
	want := map[string]float64{"rr": .75, "recall@2": round((1 + 2.0/3) / 2), "queries": 2, "empty": 0}
	for name, v := range want {
		if figures[name] != v {
			t.Errorf("%s is %v, want %v", name, figures[name], v)
		}
	}
	if e.Done != 2 || e.Attempts != 1 || len(e.Warnings) != 1 || !strings.HasPrefix(e.Warnings[0], `4 judged documents are in none`) {
		t.Errorf("%+v", e)
	}
	rows := f.part(e.ID, store.EvaluationQueries)
	scores, err := eval.ReadScores(strings.NewReader(rows), "rows", eval.Measure{Kind: eval.MRR})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"q1", "q2"}, scores.Queries); diff != "" || scores.Values[0][0] != .5 || scores.Values[1][0] != 1 {
		t.Errorf("%s\n%s", diff, rows)
	}
	if report := f.part(e.ID, store.EvaluationReport); !strings.Contains(report, "<h1>nightly</h1>") || !strings.Contains(report, "<svg") {
		t.Errorf("report:\n%.300s", report)
	}
}

func round(v float64) float64 { return float64(int(v*1e6+.5)) / 1e6 }

func (f *fixture) part(id string, part store.EvaluationPart) string {
	f.Helper()
	body, err := f.db.EvaluationPart(f.Context(), id, part)
	if err != nil {
		f.Fatal(err)
	}
	return string(body)
}

// A question of the evaluation waits until nobody else is asking, and what is
// asked by others never waits for it.
func TestQueueWaitsForPeople(t *testing.T) {
	f := newFixture(t)
	f.retriever.asking, f.retriever.hold = make(chan string), make(chan struct{})
	people := make(chan error, 1)
	go func() {
		_, err := f.traffic.Retrieve(t.Context(), retrieval.Query{Text: "a person"})
		people <- err
	}()
	<-f.retriever.asking // a person is being answered
	e := f.submit()
	f.queue.Start()
	for { // until it waits for its first question
		live, err := f.db.Evaluation(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if live.Status == store.StatusRunning {
			break
		}
	}
	select {
	case text := <-f.retriever.asking:
		t.Fatalf("%q was asked beside a person's question", text)
	default:
	}
	close(f.retriever.hold)
	if err := <-people; err != nil {
		t.Fatal(err)
	}
	for range 2 {
		<-f.retriever.asking
	}
	if e = f.ended(e.ID); e.Status != store.StatusReady {
		t.Errorf("%+v", e)
	}
}

func TestQueueIsPatientForAWhile(t *testing.T) {
	asked := &scripted{hold: make(chan struct{}), asking: make(chan string)}
	traffic := queue.NewTraffic(asked)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = traffic.Retrieve(ctx, retrieval.Query{})
	}()
	<-asked.asking
	if err := traffic.Wait(ctx, time.Nanosecond); err != nil {
		t.Error(err)
	}
	stop()
	<-ended
	if err := traffic.Wait(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if err := traffic.Wait(t.Context(), time.Hour); err != nil {
		t.Errorf("nobody asks: %v", err)
	}
}

func TestQueueCancels(t *testing.T) {
	f := newFixture(t)
	f.retriever.asking, f.retriever.hold = make(chan string), make(chan struct{})
	running, waiting := f.submit(), f.submit()
	f.queue.Start()
	<-f.retriever.asking
	if live, _ := f.queue.Live(running); live.Status != store.StatusRunning || live.Done != 0 {
		t.Errorf("live: %+v", live)
	}
	for _, id := range []string{waiting.ID, running.ID} {
		e, err := f.queue.Cancel(t.Context(), id)
		if err != nil || e.Status != store.StatusCancelled {
			t.Errorf("%+v, %v", e, err)
		}
	}
	third := f.submit()
	<-f.retriever.asking // the worker has gone on
	if err := f.queue.Delete(t.Context(), third.ID); err != nil {
		t.Fatal(err)
	}
	close(f.retriever.hold)
	if _, err := f.queue.Cancel(t.Context(), "eval_none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
	if _, err := f.db.Evaluation(t.Context(), third.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	if e := f.ended(running.ID); e.Status != store.StatusCancelled || e.Figures != nil {
		t.Errorf("%+v", e)
	}
}

// What a process was doing when it ended is done by the next one.
func TestQueueGoesOn(t *testing.T) {
	f := newFixture(t)
	f.retriever.asking, f.retriever.hold = make(chan string), make(chan struct{})
	e := f.submit()
	f.queue.Start()
	<-f.retriever.asking
	if err := f.queue.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := f.db.Evaluation(t.Context(), e.ID)
	if err != nil || left.Status != store.StatusQueued || left.Attempts != 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
	f.retriever.asking, f.retriever.hold = nil, nil
	f.queue = f.open()
	f.queue.Start()
	if e = f.ended(e.ID); e.Status != store.StatusReady || e.Attempts != 1 {
		t.Errorf("%+v", e)
	}
}

// An evaluation that ends the process each time is given up.
func TestQueueGivesUp(t *testing.T) {
	f := newFixture(t)
	e := f.submit()
	if _, err := f.db.UpdateEvaluation(t.Context(), e.ID, func(e *store.Evaluation) error {
		e.Status, e.Attempts = store.StatusRunning, 5
		return nil
	}, nil); err != nil {
		t.Fatal(err)
	}
	f.queue.Start()
	if e = f.ended(e.ID); e.Status != store.StatusFailed || !strings.Contains(e.Error, "ended 5 times") {
		t.Errorf("%+v", e)
	}
}

func TestQueueFails(t *testing.T) {
	f := newFixture(t)
	f.retriever.err = errors.New("the index is broken")
	e := f.submit()
	f.queue.Start()
	if e = f.ended(e.ID); e.Status != store.StatusFailed || e.Error != `evaluate nightly: query "q1": the index is broken` || e.Figures != nil {
		t.Errorf("%+v", e)
	}
}

func TestSubmitRejects(t *testing.T) {
	f := newFixture(t)
	for name, spoil := range map[string]func(*eval.Request){
		"knowledge_bases": func(r *eval.Request) { r.KnowledgeBases = nil },
		"queries":         func(r *eval.Request) { r.Questions = nil },
		"queries[1]":      func(r *eval.Request) { r.Questions[1].ID = "q1" },
		"queries[0]":      func(r *eval.Request) { r.Questions[0].Text = strings.Repeat("x", retrieval.MaxQueryBytes+1) },
		"qrels":           func(r *eval.Request) { r.Qrels["other"] = map[string]int{"d": 1} },
		"top_k":           func(r *eval.Request) { r.Depth = store.MaxTopK + 1 },
		"metrics":         func(r *eval.Request) { r.Measures = make([]eval.Measure, eval.MaxRequestMeasures+1) },
	} {
		req := request()
		spoil(&req)
		_, err := f.queue.Submit(t.Context(), req)
		var field *store.FieldError
		if !errors.As(err, &field) || field.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	req := request()
	req.Qrels = eval.Qrels{"q1": {"a": 0}}
	if _, err := f.queue.Submit(t.Context(), req); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("nothing relevant: %v", err)
	}
}

func TestSubmitIsBounded(t *testing.T) {
	f := newFixture(t)
	for i := range 100 {
		e := store.Evaluation{ID: fmt.Sprintf("eval_%03d", i), Status: store.StatusQueued, KnowledgeBases: []string{"kb"}}
		if err := f.db.AddEvaluation(t.Context(), e, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.queue.Submit(t.Context(), request()); !errors.Is(err, store.ErrInUse) {
		t.Errorf("%v", err)
	}
}

// Pages are judged where every id reads FILE#pN.
func TestQueueByPage(t *testing.T) {
	f := newFixture(t)
	paged := hit("doc_1", "Report.pdf", nil)
	paged.PageStart, paged.PageEnd = 3, 4
	f.retriever.found["first?"] = []retrieval.Hit{paged}
	req := request()
	req.Qrels = eval.Qrels{"q1": {"Report#p4": 1}}
	e, err := f.queue.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	f.queue.Start()
	e = f.ended(e.ID)
	var figures map[string]any
	if err := json.Unmarshal(e.Figures, &figures); err != nil || figures["rr"] != .5 || figures["file_success@1"] != 1.0 {
		t.Errorf("%s %s, %v", e.Error, e.Figures, err)
	}
}
