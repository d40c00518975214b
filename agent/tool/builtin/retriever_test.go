package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/agent"
	"ragagent/agent/tool"
	"ragagent/agent/tool/builtin"
	"ragagent/retrieval"
	"ragagent/store"
)

type recorder struct {
	asked  []retrieval.Query
	result retrieval.Result
}

func (r *recorder) Retrieve(_ context.Context, q retrieval.Query) (retrieval.Result, error) {
	r.asked = append(r.asked, q)
	return r.result, nil
}

var kbs = []store.KnowledgeBase{{ID: "kb_1", Name: "coast", Description: "tides\nand dams"}, {ID: "kb_2", Name: "law"}}

func call(t *testing.T, r retrieval.Retriever, cfg builtin.RetrieverConfig, args string, lines ...tool.Line) (tool.Result, error) {
	t.Helper()
	cfg.Retriever, cfg.KnowledgeBases = r, kbs
	d, err := builtin.NewDatasetRetriever(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var tl tool.Tool = d
	if lines != nil {
		tl = d.WithConversation(lines)
	}
	reg, err := tool.NewRegistry(tl)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := reg.Lookup("dataset_retriever")
	if !ok {
		t.Fatal("not under its name")
	}
	in, err := e.Schema.Cast(json.RawMessage(args))
	if err != nil {
		return tool.Result{}, err
	}
	return e.Tool.Call(t.Context(), in)
}

func TestQueryReachesTheRetriever(t *testing.T) {
	both, turn := []string{"kb_1", "kb_2"}, []retrieval.Turn{{Role: "user", Text: "hi"}}
	for args, want := range map[string]retrieval.Query{
		`{"query":"tide"}`:                        {Text: "tide", KnowledgeBases: both, TopK: 7, History: turn},
		`{"query":"tide","knowledge_base":"law"}`: {Text: "tide", KnowledgeBases: []string{"kb_2"}, TopK: 7, History: turn},
		`{"query":"tide","top_k":"3"}`:            {Text: "tide", KnowledgeBases: both, TopK: 3, History: turn},
		`tide`:                                    {Text: "tide", KnowledgeBases: both, TopK: 7, History: turn},
	} {
		r := &recorder{}
		if _, err := call(t, r, builtin.RetrieverConfig{TopK: 7}, args, tool.Line{Role: "user", Text: "hi"}); err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if diff := cmp.Diff([]retrieval.Query{want}, r.asked); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

func TestCannotReachOtherKnowledgeBases(t *testing.T) {
	r := &recorder{}
	_, err := call(t, r, builtin.RetrieverConfig{}, `{"query":"tide","knowledge_base":"secrets"}`)
	if err == nil || len(r.asked) != 0 {
		t.Errorf("%v after %d searches", err, len(r.asked))
	}
	if want := `"knowledge_base" has to be one of "coast", "law", not "secrets"`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestResult(t *testing.T) {
	hit := retrieval.Hit{
		Chunk: store.Chunk{ID: "chk_1", DocumentID: "doc_1", Title: "T", Headings: []string{"A"}, PageStart: 2, PageEnd: 3,
			Span: store.Span{Start: 5, End: 9}, Text: "text"},
		KnowledgeBaseName: "coast", DocumentName: "d.pdf", Score: .5,
	}
	r := &recorder{result: retrieval.Result{
		Query: "q", Rewritten: "better\nq", Hits: []retrieval.Hit{hit}, Degraded: []string{"rerank: down"},
		Terms: []retrieval.TermWeight{{Term: "q", IDF: 1.5, DF: 2}},
	}}
	got, err := call(t, r, builtin.RetrieverConfig{}, `{"query":"q"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := tool.Result{
		Text: "[Query rewritten to: better q]",
		Passages: []tool.Passage{{ChunkID: "chk_1", DocumentID: "doc_1", DocumentName: "d.pdf", KnowledgeBase: "coast", Title: "T",
			Headings: []string{"A"}, PageStart: 2, PageEnd: 3, Span: store.Span{Start: 5, End: 9}, Text: "text", Score: .5}},
		Data:     json.RawMessage(`{"query":"q","rewritten_query":"better\nq","terms":[{"term":"q","idf":1.5,"df":2}]}`),
		Degraded: []string{"rerank: down"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type broken struct{}

func (broken) Retrieve(context.Context, retrieval.Query) (retrieval.Result, error) {
	return retrieval.Result{}, errors.New("disk on fire")
}

func TestErrorsDoNotRepeatTheArguments(t *testing.T) {
	long := strings.Repeat("where is it ", 1000)
	for _, args := range []string{
		`{"query":"` + long + `"}`,
		`{"query":"x","knowledge_base":"` + long + `"}`,
		`{"query":"x","top_k":"` + long + `"}`,
	} {
		if _, err := call(t, broken{}, builtin.RetrieverConfig{}, args); err == nil || len(err.Error()) > 200 {
			t.Errorf("%d bytes: %v", len(err.Error()), err)
		}
	}
}

// TestEveryQuestionCanBeSearchedFor: a model may search for the question as it
// stands.
func TestEveryQuestionCanBeSearchedFor(t *testing.T) {
	if agent.MaxQuestionBytes > retrieval.MaxQueryBytes {
		t.Errorf("a question may have %d bytes and a query %d", agent.MaxQuestionBytes, retrieval.MaxQueryBytes)
	}
}

func TestConfigIsChecked(t *testing.T) {
	if _, err := builtin.NewDatasetRetriever(builtin.RetrieverConfig{KnowledgeBases: kbs}); err == nil {
		t.Error("no retriever is accepted")
	}
	for _, list := range [][]store.KnowledgeBase{nil, {kbs[0], kbs[0]}} {
		if _, err := builtin.NewDatasetRetriever(builtin.RetrieverConfig{Retriever: &recorder{}, KnowledgeBases: list}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%v: %v", list, err)
		}
	}
}

func TestASectionIsShownInThePlaceOfItsChunk(t *testing.T) {
	chunk := store.Chunk{
		ID: "chk_1", DocumentID: "doc_1", PageStart: 2, PageEnd: 2, Span: store.Span{Start: 14, End: 18}, Text: "tide",
		Context: "Range | 2022", Parent: store.Section{Span: store.Span{Start: 10, End: 20}, PageStart: 1, PageEnd: 3},
	}
	whole := chunk
	whole.Parent.Start = 0
	r := &recorder{result: retrieval.Result{Hits: []retrieval.Hit{
		{Chunk: chunk, ParentText: "the tide r"}, {Chunk: chunk}, {Chunk: whole, ParentText: "Range |  2022\ntide r"},
	}}}
	got, err := call(t, r, builtin.RetrieverConfig{}, `{"query":"q"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []tool.Passage{
		{
			ChunkID: "chk_1", DocumentID: "doc_1", PageStart: 1, PageEnd: 3, Span: store.Span{Start: 10, End: 20}, Text: "the tide r",
			Context: "Range | 2022", Found: store.Section{Span: store.Span{Start: 14, End: 18}, PageStart: 2, PageEnd: 2},
		},
		{
			ChunkID: "chk_1", DocumentID: "doc_1", PageStart: 2, PageEnd: 2, Span: store.Span{Start: 14, End: 18}, Text: "tide",
			Context: "Range | 2022",
		},
		{
			ChunkID: "chk_1", DocumentID: "doc_1", PageStart: 1, PageEnd: 3, Span: store.Span{Start: 0, End: 20}, Text: "Range |  2022\ntide r",
			Found: store.Section{Span: store.Span{Start: 14, End: 18}, PageStart: 2, PageEnd: 2}, // its context is in the section
		},
	}
	if diff := cmp.Diff(want, got.Passages); diff != "" {
		t.Error(diff)
	}
}
