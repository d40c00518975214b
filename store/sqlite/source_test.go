package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
	"ragagent/store/sqlite"
)

// TestUpgradeGivesSources opens a database from before documents had sources:
// each gets the one of an upload by hand, the latest of a name the name.
func TestUpgradeGivesSources(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	if err := sqlite.MigrateTo(t.Context(), path, 11); err != nil {
		t.Fatal(err)
	}
	damage(t, path, `INSERT INTO knowledge_bases (id, name, description, embedder, fingerprint, chunking, retrieval, created_at, updated_at)
		VALUES ('kb_1', 'one', '', '', '', '{}', '{}', 0, 0)`)
	for _, id := range []string{"1", "2", "3"} {
		name := map[string]string{"1": "a.md", "2": "b.md", "3": "a.md"}[id]
		damage(t, path, `INSERT INTO documents (key, id, kb_id, name, title, status, error, mime, bytes, sha256, text_sha256, text_bytes,
			pages, chunk_count, metadata, warnings, revision, created_at, updated_at)
			VALUES (`+id+`, 'doc_`+id+`', 'kb_1', '`+name+`', '', 'queued', '', '', 5, 's`+id+`', '', 0, 0, 0, '{}', '[]', 0, 1, 1);
			INSERT INTO jobs (id, kind, document, revision, status, stage, done, total, error, attempts, created_at, updated_at, started_at, lease_until)
			VALUES ('job_`+id+`', 'ingest', `+id+`, 1, 'queued', '', 0, 0, '', 0, 0, 0, 0, 0)`)
	}
	if problems := check(t, path); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
	db := open(t, path)
	got := map[string][]store.Source{}
	docs, err := db.Documents(t.Context(), "kb_1", store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		got[d.ID] = d.Sources
	}
	want := map[string][]store.Source{"doc_1": {{Path: "doc_1/a.md"}}, "doc_2": {{Path: "b.md"}}, "doc_3": {{Path: "a.md"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	added, err := db.AddDocument(t.Context(), store.Document{ID: "doc_4", KnowledgeBaseID: "kb_1", Name: "a.md", SHA256: "s4"},
		store.Job{ID: "job_4", Kind: "ingest", Revision: 1})
	if err != nil || added.Document.ID != "doc_3" || added.Job.Revision != 2 || added.Superseded != "job_3" {
		t.Errorf("a new a.md: %+v, %v", added, err)
	}
}
