package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

const previewPath = "/api/v1/knowledge-bases/kb_1/preview"

func TestPreviewOfAText(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.ingest.preview = ingest.Preview{
		Name: "a.md", MIME: "text/markdown", Title: "T", Pages: 2, TextBytes: 9, Total: 7,
		Chunking: store.Chunking{Size: 100},
		Chunks: []ingest.PreviewChunk{
			{Chunk: store.Chunk{Ordinal: 3, Span: store.Span{Start: 1, End: 3}, Text: "ab"}, Tokens: 1},
			{Chunk: store.Chunk{
				Ordinal: 4, Headings: []string{"A"}, Context: "C", PageStart: 1, PageEnd: 2, Span: store.Span{Start: 4, End: 5}, Text: "c",
				Parent: store.Section{Span: store.Span{Start: 1, End: 9}, PageStart: 1, PageEnd: 2},
			}, Tokens: 1, ParentTokens: 4},
		},
	}
	h.want(h.post(previewPath+"?limit=2&offset=3", `{"name":"a.md","title":"T","text":"# A","chunking":{"size":100}}`), 200, `{
		"name":"a.md","mime":"text/markdown","title":"T","pages":2,"text_bytes":9,"warnings":[],"chunking":{"size":100,"overlap":0},"chunks":[
		{"ordinal":3,"headings":[],"char_start":1,"char_end":3,"text":"ab","tokens":1},
		{"ordinal":4,"headings":["A"],"context":"C","page_start":1,"page_end":2,"char_start":4,"char_end":5,"text":"c","tokens":1,
		 "parent":{"page_start":1,"page_end":2,"char_start":1,"char_end":9,"tokens":4}}],"total_chunks":7}`)
	want := ingest.Draft{Name: "a.md", Title: "T", Chunking: &store.Chunking{Size: 100}, From: 3, Limit: 2}
	if diff := cmp.Diff(want, h.ingest.draft); diff != "" || h.ingest.content != "# A" {
		t.Errorf("content %q, draft (-want +got):\n%s", h.ingest.content, diff)
	}
}

func TestPreviewOfAFile(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	long := strings.Repeat("a long line\n", spoolMemory/6) // waits in a file
	for _, content := range []string{"short", long} {
		body, contentType := multipartBody([3]string{"file", "a.txt", content}, [3]string{"chunking", "", `{"parent":{"size":400}}`})
		r := h.post(previewPath, body, "Content-Type", contentType)
		want := ingest.Draft{Name: "a.txt", Chunking: &store.Chunking{Parent: store.ParentChunking{Size: 400}}, Limit: previewChunks}
		if diff := cmp.Diff(want, h.ingest.draft); diff != "" || h.ingest.content != content || r.status != 200 {
			t.Errorf("%d %s; %d bytes of content, draft (-want +got):\n%s", r.status, r.body, len(h.ingest.content), diff)
		}
	}
	if len(h.ingest.got) > 0 {
		t.Error("something was added")
	}
}

func TestBadPreviews(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxFileBytes = 20 })
	h.knowledgeBase("kb_1", "Filings")
	invalid := func(field, detail string) Problem {
		return Problem{Status: 400, Code: CodeInvalid, Detail: field + ": " + detail, Errors: []ProblemField{{field, detail}}}
	}
	form := func(parts ...[3]string) response {
		body, contentType := multipartBody(parts...)
		return h.post(previewPath, body, "Content-Type", contentType)
	}
	file := [3]string{"file", "a.txt", "text"}
	for name, c := range map[string]struct {
		got  response
		want Problem
	}{
		"two files":      {form(file, file), invalid("file", "stands here twice: one file is previewed at a time")},
		"no file":        {form([3]string{"chunking", "", "{}"}), invalid("file", "is missing: send one part named file")},
		"another part":   {form(file, [3]string{"metadata", "", "{}"}), invalid("metadata", "is not a part of a preview: the parts are file and chunking")},
		"chunking twice": {form([3]string{"chunking", "", "{}"}, [3]string{"chunking", "", "{}"}), invalid("chunking", "stands here twice")},
		"chunking":       {form(file, [3]string{"chunking", "", `{"parent":{"x":1}}`}), invalid("chunking.parent.x", "is not a known field")},
		"chunking's end": {form(file, [3]string{"chunking", "", `{}}, "x": {`}), invalid("chunking", "must be a JSON object")},
		"limit":          {h.post(previewPath+"?limit=201", `{"name":"a","text":"b"}`), invalid("limit", "must be a whole number from 1 to 200")},
		"offset":         {h.post(previewPath+"?offset=-1", `{"name":"a","text":"b"}`), invalid("offset", "must be a whole number from 0 on")},
		"no text":        {h.post(previewPath, `{"name":"a"}`), invalid("text", "is missing: send the document's text")},
		"unknown": {h.post("/api/v1/knowledge-bases/kb_2/preview", `{"name":"a","text":"b"}`), Problem{
			Status: 404, Code: CodeNotFound, Detail: `there is no knowledge base "kb_2"`,
		}},
		"large": {form([3]string{"file", "a.txt", strings.Repeat("x", 21)}), Problem{
			Status: 413, Code: CodeTooLarge, Detail: `"a.txt" is larger than 20 bytes`,
			Errors: []ProblemField{{"file", `"a.txt" is larger than 20 bytes`}},
		}},
		"media type": {h.post(previewPath, "x", "Content-Type", "text/plain"), Problem{
			Status: 415, Code: CodeMediaType, Detail: `send a file as multipart/form-data or a text as application/json, not "text/plain"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h.TB = t
			h.wantProblem(c.got, c.want)
		})
	}
	h.TB = t
	h.ingest.err = store.Invalid("file", "the file is damaged")
	h.wantProblem(form(file), invalid("file", "the file is damaged"))
}
