package api

import (
	"strings"
	"testing"

	"ragagent/retrieval"
	"ragagent/store"
)

func TestExplainChunk(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "notes")
	h.retriever.result = retrieval.Result{
		Query: "q",
		Hits: []retrieval.Hit{{
			Chunk: store.Chunk{ID: "chk_1", DocumentID: "doc_1"}, DocumentName: "a.md", KnowledgeBaseName: "notes", Score: .9,
			AlsoIn: []retrieval.Place{{ChunkID: "chk_2", DocumentID: "doc_2", DocumentName: "b.md", KnowledgeBaseName: "notes", PageStart: 3, PageEnd: 4, Span: store.Span{Start: 5, End: 9}, Score: .8}},
		}},
		Standing: &retrieval.Standing{
			ChunkID: "chk_9", DocumentID: "doc_9", Outcome: retrieval.BelowCut, Hit: -1,
			Steps:   []retrieval.Step{{Name: "words", Of: 200, Value: .25, Needed: .75}, {Name: "reranked", Rank: 4, Of: 10, Value: .5, Needed: .5}},
			Missing: []retrieval.TermWeight{{Term: "sun", IDF: 1.5, DF: 2}},
		},
	}
	r := h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["notes"],"explain_chunk":"doc_9","fold":false}`)
	if r.status != 200 || !h.retriever.query.NoFold || h.retriever.query.ExplainChunk != "doc_9" {
		t.Fatalf("%d %s, asked %+v", r.status, r.body, h.retriever.query)
	}
	for _, want := range []string{
		`"also_in":[{"chunk_id":"chk_2","document_id":"doc_2","document_name":"b.md","knowledge_base":"notes","score":0.8,"page_start":3,"page_end":4,"char_start":5,"char_end":9}]`,
		`"explained_chunk":{"chunk_id":"chk_9","document_id":"doc_9","outcome":"top_k","reason":"others rank before it, and no more were asked for","steps":[{"step":"words","of":200,"value":0.25,"needed":0.75,"lacks":0.5},{"step":"reranked","rank":4,"of":10,"value":0.5,"needed":0.5,"lacks":0}],"missing_terms":[{"term":"sun","idf":1.5,"df":2}]}`,
	} {
		if !strings.Contains(r.body, want) {
			t.Errorf("%s is not in %s", want, r.body)
		}
	}
	if r := h.post("/api/v1/retrieve", `{"query":"q","knowledge_bases":["notes"],"explain_chunk":"`+strings.Repeat("x", 257)+`"}`); r.status != 400 {
		t.Errorf("%d %s", r.status, r.body)
	}
}
