package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ragagent/ingest"
	"ragagent/store"
)

const sourcesPath = "/api/v1/knowledge-bases/Filings/sources"

func TestUploadsWithPaths(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	r := h.upload(
		[3]string{"path", "", "docs/a.md"}, [3]string{"file", "a.md", "one"},
		[3]string{"file", "b.md", "two"}, [3]string{"path", "", "docs/b.md"},
		[3]string{"origin", "", "sync:/home/ada"},
	)
	if r.status != http.StatusAccepted {
		t.Fatalf("%d %s", r.status, r.body)
	}
	want := []ingest.Upload{{Name: "a.md", Path: "docs/a.md", Origin: "sync:/home/ada"}, {Name: "b.md", Path: "docs/b.md", Origin: "sync:/home/ada"}}
	if diff := cmp.Diff(want, h.ingest.got, uploadFields); diff != "" {
		t.Errorf("submitted (-want +got):\n%s", diff)
	}
	h.ingest.got = nil
	r = h.upload([3]string{"file", "folder/sub/c.md", "three"})
	if diff := cmp.Diff([]ingest.Upload{{Name: "folder/sub/c.md"}}, h.ingest.got, uploadFields); diff != "" || r.status != http.StatusAccepted {
		t.Errorf("%d: a folder in the file name (-want +got):\n%s", r.status, diff)
	}
	h.ingest.got = nil
	h.post(documentsPath, `{"name":"n.md","path":"x/n.md","origin":"sync:y","text":"four"}`)
	if diff := cmp.Diff([]ingest.Upload{{Name: "n.md", Path: "x/n.md", Origin: "sync:y"}}, h.ingest.got, uploadFields); diff != "" {
		t.Errorf("a text (-want +got):\n%s", diff)
	}
	for detail, parts := range map[string][][3]string{
		"path: stands here 1 times for 2 files: send one for each, in their order, or none": {{"path", "", "a"}, {"file", "a", "1"}, {"file", "b", "2"}},
		`origin: must be "sync:" and a label`:                                               {{"origin", "", "url"}, {"file", "a", "1"}},
		"origin: stands here twice":                                                         {{"origin", "", "sync:a"}, {"origin", "", "sync:a"}},
		"path: is empty":                                                                    {{"path", "", ""}},
		"path: has more than 1024 bytes":                                                    {{"path", "", string(make([]byte, 1025))}},
	} {
		if r := h.upload(parts...); r.status != http.StatusBadRequest || detailOf(r) != detail {
			t.Errorf("%d %s, want %s", r.status, r.body, detail)
		}
	}
}

func TestUploadsOfArchives(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.ingest.unpacked = []ingest.Unpacked{
		{Path: "z.zip/a.md", Name: "a.md", DocumentID: "doc_1", JobID: "job_1", Revision: 2, Status: store.StatusQueued},
		{Path: "z.zip/b.md", Name: "b.md", Status: store.StatusFailed, Err: store.Invalid("path", "is bad")},
	}
	h.want(h.upload([3]string{"file", "z.zip", "PK"}), http.StatusAccepted, `{"documents":[
		{"id":"doc_1","name":"a.md","path":"z.zip/a.md","revision":2,"status":"queued","job_id":"job_1"},
		{"name":"b.md","path":"z.zip/b.md","status":"failed","error":"path: is bad"}]}`)
	h.ingest.unpacked = h.ingest.unpacked[1:]
	if r := h.upload([3]string{"file", "z.zip", "PK"}); r.status != 400 || detailOf(r) != "file: nothing in it was taken, z.zip/b.md: path: is bad" {
		t.Errorf("%d %s", r.status, r.body)
	}
	h.ingest.unpacked = []ingest.Unpacked{}
	if r := h.upload([3]string{"file", "z.zip", "PK"}); r.status != 400 || detailOf(r) != "file: there is no file in it" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestSources(t *testing.T) {
	h := newHarness(t)
	h.knowledgeBase("kb_1", "Filings")
	h.upload([3]string{"file", "a", "one"}, [3]string{"file", "b", "one"}, [3]string{"file", "c", "two"})
	docs, err := h.db.Documents(t.Context(), "kb_1", store.Page{})
	if err != nil || len(docs) != 2 {
		t.Fatal(docs, err)
	}
	row := func(path string, d store.Document) string {
		return `{"origin":"","path":"` + path + `","document_id":"` + d.ID + `","sha256":"` + d.SHA256 + `","status":"queued"}`
	}
	h.want(h.get(sourcesPath+"?limit=2"), 200, `{"data":[`+row("a", docs[0])+`,`+row("b", docs[0])+`],"next_cursor":"Yg"}`)
	h.want(h.get(sourcesPath+"?limit=2&cursor=Yg"), 200, `{"data":[`+row("c", docs[1])+`],"next_cursor":null}`)
	h.want(h.get(sourcesPath+"?origin=sync:x"), 200, `{"data":[],"next_cursor":null}`)
	if r := h.get(sourcesPath + "?cursor=%25"); r.status != 400 {
		t.Errorf("a bad cursor: %d", r.status)
	}

	remove := func(id, path string) int {
		return h.do(http.MethodDelete, documentsPath+"/"+id+"?"+url.Values{"origin": {""}, "path": {path}}.Encode(), "").status
	}
	if got := []int{remove(docs[0].ID, "c"), remove(docs[0].ID, "a"), remove(docs[0].ID, "a"), remove(docs[0].ID, "")}; !cmp.Equal(got, []int{404, 204, 404, 400}) {
		t.Errorf("removing sources: %v", got)
	}
	if r := h.get(documentsPath + "/" + docs[0].ID); r.status != 200 {
		t.Errorf("the document went with the first of its sources: %d", r.status)
	}
	if got := []int{remove(docs[0].ID, "b"), h.get(documentsPath + "/" + docs[0].ID).status}; !cmp.Equal(got, []int{204, 404}) {
		t.Errorf("removing the last source: %v", got)
	}
}

func TestPatchOfADocument(t *testing.T) {
	h := newHarness(t)
	kb := h.knowledgeBase("kb_1", "Filings")
	doc := h.document(kb, "report.html", "text/html", "x", "first")
	path := documentsPath + "/" + doc.ID
	if r := h.do(http.MethodPatch, path, `{"metadata":{"year":2024,"tags":["a"],"old":null}}`); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
	want := ingest.DocumentChange{Metadata: store.Metadata{"year": 2024.0, "tags": []string{"a"}}, Remove: []string{"old"}}
	if diff := cmp.Diff(want, h.ingest.change); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
	if r := h.do(http.MethodPatch, path, `{"title":"Better"}`); r.status != http.StatusAccepted || *h.ingest.change.Title != "Better" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := h.do(http.MethodPatch, documentsPath+"/doc_none", `{}`); r.status != http.StatusNotFound {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := h.do(http.MethodPatch, path, `{"name":"x"}`); r.status != http.StatusBadRequest {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func detailOf(r response) string {
	var p Problem
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		return r.body
	}
	return p.Detail
}

// uploadFields leaves out of an upload what only ingest knows.
var uploadFields = cmpopts.IgnoreUnexported(ingest.Upload{})
