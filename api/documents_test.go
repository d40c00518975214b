package api

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

const documentsPath = "/api/v1/knowledge-bases/Filings/documents"

// uploads sends a multipart body.
func (h *harness) upload(parts ...[3]string) response {
	h.Helper()
	body, contentType := multipartBody(parts...)
	return h.post(documentsPath, body, "Content-Type", contentType)
}

func TestUploadOfFiles(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	long := strings.Repeat("a long line\n", spoolMemory/6) // waits in a file
	r := h.upload(
		[3]string{"file", "../../etc/a.txt", "text one"},
		[3]string{"file", "b.txt", long},
		[3]string{"metadata", "", `{"year":2022,"tags":["x","y"],"draft":false}`},
		[3]string{"file", "c.txt", "text one"},
	)
	if r.status != http.StatusAccepted {
		t.Fatalf("%d %s", r.status, r.body)
	}
	metadata := store.Metadata{"year": 2022.0, "tags": []string{"x", "y"}, "draft": false}
	want := []ingest.Upload{{Name: "../../etc/a.txt", Metadata: metadata}, {Name: "b.txt", Metadata: metadata}, {Name: "c.txt", Metadata: metadata}}
	if diff := cmp.Diff(want, h.ingest.got, uploadFields); diff != "" {
		t.Errorf("submitted (-want +got):\n%s", diff)
	}
	docs, err := h.db.Documents(t.Context(), "kb_1", store.Page{})
	if err != nil || len(docs) != 2 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	if docs[1].Bytes != int64(len(long)) {
		t.Errorf("%d bytes stored, want %d", docs[1].Bytes, len(long))
	}
	jobs, err := h.db.Jobs(t.Context(), store.JobFilter{}, store.Page{})
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	h.want(r, http.StatusAccepted, `{"documents":[
		{"id":"`+docs[0].ID+`","name":"a.txt","path":"a.txt","revision":1,"status":"queued","job_id":"`+jobs[0].ID+`"},
		{"id":"`+docs[1].ID+`","name":"b.txt","path":"b.txt","revision":1,"status":"queued","job_id":"`+jobs[1].ID+`"},
		{"id":"`+docs[0].ID+`","name":"a.txt","path":"c.txt","revision":1,"status":"queued","job_id":"`+jobs[0].ID+`","duplicate_of":"`+docs[0].ID+`"}]}`)
}

func TestUploadOfText(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	r := h.post(documentsPath, `{"name":"note.md","title":"Note","text":"# Hi","mime":"text/markdown","metadata":{"a":"b"}}`)
	if r.status != http.StatusAccepted {
		t.Fatalf("%d %s", r.status, r.body)
	}
	want := []ingest.Upload{{Name: "note.md", Title: "Note", MIME: "text/markdown", Metadata: store.Metadata{"a": "b"}}}
	if diff := cmp.Diff(want, h.ingest.got, uploadFields); diff != "" {
		t.Errorf("submitted (-want +got):\n%s", diff)
	}
}

func TestFilesThatAreRefusedDoNotHideTheOthers(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.ingest.limit = 5
	r := h.upload([3]string{"file", "long.txt", "too long"}, [3]string{"file", "ok.txt", "ok"})
	docs, err := h.db.Documents(t.Context(), "kb_1", store.Page{})
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v: %s", len(docs), err, r.body)
	}
	jobs, err := h.db.Jobs(t.Context(), store.JobFilter{}, store.Page{})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	h.want(r, http.StatusAccepted, `{"documents":[
		{"name":"long.txt","status":"failed","error":"\"long.txt\" is larger than 536870912 bytes"},
		{"id":"`+docs[0].ID+`","name":"ok.txt","path":"ok.txt","revision":1,"status":"queued","job_id":"`+jobs[0].ID+`"}]}`)
}

func TestBadUploads(t *testing.T) {
	small := func(c *Config) { c.MaxFileBytes, c.MaxFiles, c.MaxUploadBytes = 100, 2, 150 }
	file := func(name, content string) [3]string { return [3]string{"file", name, content} }
	field := func(name, detail string) Problem {
		return Problem{Status: 400, Code: CodeInvalid, Detail: name + ": " + detail, Errors: []ProblemField{{name, detail}}}
	}
	tooLarge := func(detail string) Problem {
		return Problem{Status: 413, Code: CodeTooLarge, Detail: detail, Errors: []ProblemField{{"file", detail}}}
	}
	for name, test := range map[string]struct {
		parts []([3]string)
		want  Problem
	}{
		"no file":            {[][3]string{{"metadata", "", "{}"}}, field("file", "is missing: send at least one part named file")},
		"another part":       {[][3]string{{"files", "a", "x"}}, field("files", "is not a part of an upload: the parts are file, path, origin and metadata")},
		"no file name":       {[][3]string{{"file", "", "x"}}, field("file", "has no file name: give filename in its Content-Disposition")},
		"bad metadata":       {[][3]string{file("a", "x"), {"metadata", "", "[1]"}}, field("metadata", "must be a JSON object")},
		"null metadata":      {[][3]string{file("a", "x"), {"metadata", "", "null"}}, field("metadata", "must be a JSON object")},
		"metadata twice":     {[][3]string{{"metadata", "", "{}"}, {"metadata", "", "{}"}}, field("metadata", "stands here twice")},
		"key twice":          {[][3]string{file("a", "x"), {"metadata", "", `{"dup":1,"dup":2}`}}, field("metadata.dup", "stands here twice")},
		"rounded":            {[][3]string{file("a", "x"), {"metadata", "", `{"id":-9007199254740993}`}}, field("metadata.id", "is a whole number that cannot be kept exactly: send it as a string")},
		"one file too large": {[][3]string{file("a", strings.Repeat("x", 101))}, tooLarge(`"a" is larger than 100 bytes`)},
		"too many files":     {[][3]string{file("a", "x"), file("b", "y"), file("c", "z")}, tooLarge("more than 2 files in one request: send the others in another")},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, small)
			h.knowledgeBase("kb_1", "Filings")
			h.wantProblem(h.upload(test.parts...), test.want)
			if h.ingest.calls != 0 {
				t.Errorf("%d files were added", h.ingest.calls)
			}
		})
	}
	t.Run("numbers that are kept exactly", func(t *testing.T) {
		h := newHarness(t, small)
		h.knowledgeBase("kb_1", "Filings")
		if r := h.upload(file("a", "x"), [3]string{"metadata", "", `{"a":9007199254740992,"b":9007199254740994,"c":0.1,"d":1e300,"e":["x","x"]}`}); r.status != http.StatusAccepted {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
	t.Run("exactly the limit", func(t *testing.T) {
		h := newHarness(t, small)
		h.knowledgeBase("kb_1", "Filings")
		if r := h.upload(file("a", strings.Repeat("x", 100))); r.status != http.StatusAccepted {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
	t.Run("whole request too large", func(t *testing.T) {
		h := newHarness(t, small)
		h.knowledgeBase("kb_1", "Filings")
		h.wantProblem(h.upload(file("a", strings.Repeat("x", maxFormOverhead+150))), Problem{
			Status: 413, Code: CodeTooLarge, Detail: "the request's body is larger than 1048726 bytes",
		})
	})
	t.Run("broken off", func(t *testing.T) {
		h := newHarness(t)
		h.knowledgeBase("kb_1", "Filings")
		body, contentType := multipartBody(file("a", "x"))
		r := h.post(documentsPath, strings.TrimSuffix(body, "--frontier--\r\n"), "Content-Type", contentType)
		h.wantProblem(r, Problem{
			Status: 400, Code: CodeInvalid,
			Detail: "the request's body is broken or ended before its time: unexpected EOF",
		})
		if h.ingest.calls != 0 {
			t.Errorf("%d files were added", h.ingest.calls)
		}
	})
}

func TestBadTexts(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxTextBytes = 200 })
	h.knowledgeBase("kb_1", "Filings")
	for body, want := range map[string]Problem{
		`{"url":"https://example.org"}`: {
			Status: 400, Code: CodeNotSupported, Detail: "url: this server does not fetch",
			Errors: []ProblemField{{"url", "this server does not fetch"}},
		},
		`{"name":"a"}`: {
			Status: 400, Code: CodeInvalid, Detail: "text: is missing: send the document's text",
			Errors: []ProblemField{{"text", "is missing: send the document's text"}},
		},
		`{"text":"a"}`: {
			Status: 400, Code: CodeInvalid, Detail: "name: is missing: give the document a file name",
			Errors: []ProblemField{{"name", "is missing: give the document a file name"}},
		},
		`{"name":"a","text":"` + strings.Repeat("x", 200) + `"}`: {
			Status: 413, Code: CodeTooLarge, Detail: "the request's body is larger than 200 bytes",
		},
	} {
		h.wantProblem(h.post(documentsPath, body), want)
	}
	h.wantProblem(h.post(documentsPath, `{"name":"a","text":"b"}`, "Content-Type", "application/x-www-form-urlencoded"), Problem{
		Status: 415, Code: CodeMediaType,
		Detail: `send files as multipart/form-data or a text as application/json, not "application/x-www-form-urlencoded"`,
	})
	h.wantProblem(h.post("/api/v1/knowledge-bases/nope/documents", `{}`), Problem{
		Status: 404, Code: CodeNotFound, Detail: `there is no knowledge base "nope"`,
	})
	h.ingest.err = store.ErrTooLarge // before the text was read to its end
	h.wantProblem(h.post(documentsPath, `{"name":"a","text":"b"}`), Problem{
		Status: 413, Code: CodeTooLarge, Detail: `"a" is larger than 536870912 bytes`,
		Errors: []ProblemField{{"file", `"a" is larger than 536870912 bytes`}},
	})
	h.ingest.err = store.Invalid("metadata.k", "must be a string")
	h.wantProblem(h.post(documentsPath, `{"name":"a","text":"b","metadata":{"k":{}}}`), Problem{
		Status: 400, Code: CodeInvalid, Detail: "metadata.k: must be a string", Errors: []ProblemField{{"metadata.k", "must be a string"}},
	})
}

func TestDocumentAndItsChunks(t *testing.T) {
	h := newHarness(t)
	kb := h.knowledgeBase("kb_1", "Filings")
	doc := h.document(kb, "report.html", "text/html", "<script>alert(1)</script>", "first\nsecond\nthird")
	path := documentsPath + "/" + doc.ID
	stored, err := h.db.Document(t.Context(), "kb_1", doc.ID)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := h.db.LatestJobs(t.Context(), []string{doc.ID})
	if err != nil {
		t.Fatal(err)
	}
	one := h.get(path)
	h.want(one, 200, `{"id":"`+doc.ID+`","knowledge_base_id":"kb_1","name":"report.html","path":"report.html","origin":"","sources":[{"origin":"","path":"report.html"}],"title":"","status":"ready",
		"mime":"text/html","bytes":25,"sha256":"`+doc.SHA256+`","text_bytes":18,"pages":2,"chunk_count":3,"revision":1,
		"metadata":{},"warnings":[],"job_id":"`+jobs[doc.ID].ID+`","job":null,"created_at":"2026-03-04T05:06:07Z","updated_at":"`+stored.UpdatedAt.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")+`"}`)
	h.want(h.get(documentsPath), 200, `{"data":[`+one.body+`],"next_cursor":null}`)

	first := h.get(path + "/chunks?limit=2")
	if got := cursorOf(t, first); got != "2" {
		t.Fatalf("next_cursor %q, want 2", got)
	}
	h.want(h.get(path+"/chunks?cursor=2"), 200, `{"data":[{"id":"`+store.ChunkID(doc.ID, 1, 2, "third")+`","document_id":"`+doc.ID+`",
		"ordinal":2,"title":"","headings":[],"page_start":1,"page_end":2,"char_start":13,"char_end":18,"text":"third"}],"next_cursor":null}`)

	if r := h.do(http.MethodDelete, path, ""); r.status != 204 {
		t.Fatalf("delete: %d %s", r.status, r.body)
	}
	gone := Problem{Status: 404, Code: CodeNotFound, Detail: `there is no document "` + doc.ID + `"`}
	for _, r := range []response{h.get(path), h.get(path + "/chunks"), h.get(path + "/content"), h.get(path + "/text"), h.do(http.MethodDelete, path, "")} {
		h.wantProblem(r, gone)
	}
}

func TestOriginalsNeverRunInOurOrigin(t *testing.T) {
	h := newHarness(t)
	kb := h.knowledgeBase("kb_1", "Filings")
	const sandboxed = "default-src 'none'; sandbox"
	for name, test := range map[string]struct{ mime, query, disposition, policy string }{
		"a.html":  {"text/html", "?disposition=inline", `attachment; filename=a.html`, sandboxed},
		"b.svg":   {"image/svg+xml", "?disposition=inline", `attachment; filename=b.svg`, sandboxed},
		"c.txt":   {"text/plain; charset=utf-8", "?disposition=inline", `inline; filename=c.txt`, sandboxed},
		"d.pdf":   {"application/pdf", "?disposition=inline", `inline; filename=d.pdf`, inlineTypes["application/pdf"]},
		"e.pdf":   {"application/pdf", "", `attachment; filename=e.pdf`, sandboxed},
		"f ü.bin": {"nonsense;;", "", `attachment; filename*=utf-8''f%20%C3%BC.bin`, sandboxed},
	} {
		doc := h.document(kb, name, test.mime, "content of "+name, "text of "+name)
		r := h.get(documentsPath + "/" + doc.ID + "/content" + test.query)
		got := []string{r.header.Get("Content-Disposition"), r.header.Get("Content-Security-Policy"), r.header.Get("X-Content-Type-Options"), r.body}
		if diff := cmp.Diff([]string{test.disposition, test.policy, "nosniff", "content of " + name}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTextIsReadByRange(t *testing.T) {
	h := newHarness(t)
	kb := h.knowledgeBase("kb_1", "Filings")
	doc := h.document(kb, "a.txt", "text/plain", "first\nsécond", "first\nsécond")
	path := documentsPath + "/" + doc.ID + "/text"
	whole := h.get(path)
	if whole.body != "first\nsécond" || whole.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%v %q", whole.header, whole.body)
	}
	if r := h.get(path, "Range", "bytes=6-12"); r.status != 206 || r.body != "sécond" || r.header.Get("Content-Range") != "bytes 6-12/13" {
		t.Errorf("%d %v %q", r.status, r.header, r.body)
	}
	if r := h.get(path, "If-None-Match", whole.header.Get("Etag")); r.status != 304 || r.body != "" {
		t.Errorf("%d %q", r.status, r.body)
	}
	h.wantProblem(h.get(path, "Range", "bytes=13-20"), Problem{
		Status: 416, Code: CodeInvalid, Detail: "the range asked for is not in these 13 bytes",
	})
	if r := h.do(http.MethodHead, path, ""); r.status != 200 || r.header.Get("Content-Length") != "13" {
		t.Errorf("HEAD: %d %v", r.status, r.header)
	}
}

func TestTextThatIsNotThereYet(t *testing.T) {
	h := newHarness(t)
	kb := h.knowledgeBase("kb_1", "Filings")
	done, err := h.ingest.Submit(t.Context(), kb.ID, ingest.Upload{Name: "a", Body: strings.NewReader("x")})
	if err != nil {
		t.Fatal(err)
	}
	h.wantProblem(h.get(documentsPath+"/"+done.Document.ID+"/text"), Problem{
		Status: 404, Code: CodeNotFound, Detail: `document "` + done.Document.ID + `" has no text: it is queued`,
	})
}

func TestSpoolKeepsContent(t *testing.T) {
	for _, size := range []int{0, 1, spoolMemory - 1, spoolMemory, spoolMemory + 1, 3 * spoolMemory} {
		want := strings.Repeat("x", size)
		s, err := spool(t.TempDir(), strings.NewReader(want), int64(size))
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		f, err := s.open()
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if _, err := io.Copy(&got, f); err != nil || got.String() != want || s.size != int64(size) {
			t.Errorf("%d bytes: %d read, size %d, %v", size, got.Len(), s.size, err)
		}
		f.Close()
		s.remove()
		if size == 0 {
			continue
		}
		if _, err := spool(t.TempDir(), strings.NewReader(want), int64(size-1)); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("%d bytes over the limit of %d: %v", size, size-1, err)
		}
	}
}

func TestDeleteManyDocuments(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	if r := h.upload([3]string{"file", "a.txt", "one"}, [3]string{"file", "b.txt", "two"}, [3]string{"file", "c.txt", "three"}); r.status != http.StatusAccepted {
		t.Fatalf("%d %s", r.status, r.body)
	}
	docs, err := h.db.Documents(t.Context(), "kb_1", store.Page{})
	if err != nil || len(docs) != 3 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	send := func(body string) response {
		return h.post(documentsPath+"/delete", body, "Content-Type", "application/json")
	}
	h.want(send(`{"ids":["`+docs[0].ID+`","doc_none","`+docs[1].ID+`"]}`), http.StatusOK, `{"deleted":2,"missing":["doc_none"]}`)
	h.want(send(`{"ids":[]}`), http.StatusOK, `{"deleted":0,"missing":[]}`)
	if r := send(`{"ids":"all"}`); r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", r.status, r.body)
	}
	left, err := h.db.Documents(t.Context(), "kb_1", store.Page{})
	if err != nil || len(left) != 1 || left[0].ID != docs[2].ID {
		t.Errorf("left %v, %v", left, err)
	}
}
