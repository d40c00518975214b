package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
	"ragagent/store/sqlite"
)

// sealed writes one row of every kind, each value of which can be found in the
// file by its text, and returns the path.
func sealed(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.db")
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, db)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	must(db.CreateKnowledgeBase(ctx, store.KnowledgeBase{ID: "kb_1", Name: "one", Description: "the-description"}))
	doc := store.Document{
		ID: "doc_1", KnowledgeBaseID: "kb_1", Name: "the-name", Title: "the-title", SHA256: "s", TextSHA256: "t", TextBytes: 1000,
		Metadata: store.Metadata{"key": "the-property"}, Sources: []store.Source{{Path: "the-path"}},
	}
	_, err = db.AddDocument(ctx, doc, store.Job{ID: "job_1", Kind: "the-kind", Revision: 1})
	must(err)
	_, err = db.Lease(ctx, time.Now(), time.Hour)
	must(err)
	must(db.Publish(ctx, "job_1", doc, []store.Chunk{{
		ID: "chk_1", KnowledgeBaseID: "kb_1", DocumentID: "doc_1", Revision: 1, Title: "the-chunk-title", Headings: []string{"the-heading"},
		Span: store.Span{Start: 0, End: 8}, Text: "the-text", Vector: []float32{0.6, 0, -0.8},
	}}))
	must(db.Finish(ctx, "job_1"))
	next := store.Document{ID: "doc_2", KnowledgeBaseID: "kb_1", Name: "the-next-name", SHA256: "s2", Sources: doc.Sources}
	_, err = db.AddDocument(ctx, next, store.Job{ID: "job_next", Kind: "ingest", Revision: 1})
	must(err)
	must(db.StartConversation(ctx, store.Conversation{ID: "conv_1", Title: "the-conversation"},
		store.Run{ID: "run_1", ConversationID: "conv_1", Answer: "the-answer", Steps: []store.Thought{{Position: 1, Thought: "the-thought"}}},
		[]store.Message{{ID: "msg_1", ConversationID: "conv_1", Role: "user", Content: "the-message"}}))
	return path
}

// TestChecksumsOfRows flips one bit in one value of one row, as the disk might,
// and removes the checksums of the file, as a kill does.
func TestChecksumsOfRows(t *testing.T) {
	path := sealed(t)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if problems := check(t, path); len(problems) > 0 {
		t.Fatalf("a sound file: %v", problems)
	}
	chunk, vector := "chunk chk_1 of document doc_1", string([]byte{0x9a, 0x99, 0x19, 0x3f, 0, 0, 0, 0, 0xcd, 0xcc, 0x4c, 0xbf})
	for _, c := range []struct {
		value, row string
		bit        byte
	}{
		{"the-description", "knowledge base kb_1", 1},
		{"the-name", "document doc_1", 1},
		{"the-property", "document doc_1", 1},
		{"the-path", "source uhe-path of document doc_1", 1},
		{"the-next-name", "pending revision of document doc_1", 1},
		{"the-kind", "job job_1", 1},
		{"the-chunk-title", chunk, 1},
		{"the-heading", chunk, 1},
		{"the-text", chunk, 1},
		{vector, chunk, 1}, // by 6e-8: still of norm 1
		{"the-conversation", "conversation conv_1", 1},
		{"the-message", "message msg_1", 1},
		{"the-answer", "run run_1", 1},
		{"the-thought", "step 1 of run run_1", 1},
	} {
		t.Run(c.row+" "+strings.ToValidUTF8(c.value, ""), func(t *testing.T) {
			broken := bytes.Clone(sound)
			found := 0
			for at := 0; ; {
				i := bytes.Index(broken[at:], []byte(c.value))
				if i < 0 {
					break
				}
				at += i
				broken[at] ^= c.bit
				found++
			}
			if found == 0 {
				t.Fatal("the value does not stand in the file")
			}
			bad := filepath.Join(t.TempDir(), "records.db")
			if err := os.WriteFile(bad, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			want := []string{c.row + " is not what was written: its checksum does not fit"}
			if diff := cmp.Diff(want, check(t, bad)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSealAfterAnUpgrade: a database without checksums, or with those of other
// columns, gets them; what has changed meanwhile is not sealed as if it were right.
func TestSealAfterAnUpgrade(t *testing.T) {
	const reverse = `DROP TRIGGER chunks_sealed_insert; DROP TRIGGER chunks_sealed_update; `
	wrong := []string{"chunk chk_1 of document doc_1 is not what was written: its checksum does not fit"}
	for _, c := range []struct {
		name, before string
		want         []string
	}{
		{"without sums", reverse + `DELETE FROM sealed; UPDATE chunks SET sum = NULL`, nil},
		{"half way", reverse + `DELETE FROM sealed`, nil},
		{"of fewer columns", reverse + `UPDATE sealed SET columns = 'id,text' WHERE name = 'chunks'; UPDATE chunks SET sum = row_sum(id, text)`, nil},
		{"of a column that is gone", reverse + `UPDATE sealed SET columns = 'id,was' WHERE name = 'chunks'; UPDATE chunks SET sum = 5`, wrong},
		{"changed before", reverse + `UPDATE sealed SET columns = 'id,text' WHERE name = 'chunks';
			UPDATE chunks SET sum = row_sum(id, text); UPDATE chunks SET text = 'the-TEXT'`, wrong},
		{"without triggers", reverse + `UPDATE chunks SET text = 'the-TEXT'`, wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sealed(t)
			damage(t, path, c.before)
			for range 2 { // and it stays so
				if diff := cmp.Diff(c.want, check(t, path)); diff != "" {
					t.Errorf("problems (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestSealOfManyRows goes over the bound of one transaction, with keys missing
// between.
func TestSealOfManyRows(t *testing.T) {
	path := sealed(t)
	damage(t, path, `DROP TRIGGER jobs_sealed_insert; DROP TRIGGER jobs_sealed_update; DELETE FROM sealed;
		WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
		INSERT INTO jobs (id, kind, document, revision, status, stage, done, total, error, attempts, created_at, updated_at, started_at, lease_until)
			SELECT 'job_' || i, '', 1, 1, 'failed', '', 0, 0, '', 0, 0, 0, 0, 0 FROM n;
		DELETE FROM jobs WHERE rowid BETWEEN 100 AND 5000`)
	if problems := check(t, path); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
}

// TestUpgradeFromTheFirstSchemas opens databases as earlier versions left them.
func TestUpgradeFromTheFirstSchemas(t *testing.T) {
	for _, version := range []int64{2, 9} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "records.db")
			if err := sqlite.MigrateTo(t.Context(), path, version); err != nil {
				t.Fatal(err)
			}
			raw, err := sqlite.OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			insert := func(query string, args ...any) {
				t.Helper()
				if _, err := raw.ExecContext(context.Background(), query, args...); err != nil {
					t.Fatal(err)
				}
			}
			insert(`INSERT INTO knowledge_bases (id, name, description, embedder, fingerprint, chunking, retrieval, created_at, updated_at)
				VALUES ('kb_1', 'one', '', '', '', '{}', '{}', 0, 0)`)
			insert(`INSERT INTO documents (key, id, kb_id, name, title, status, error, mime, bytes, sha256, text_sha256, text_bytes, pages, chunk_count, metadata, warnings, revision, created_at, updated_at)
				VALUES (7, 'doc_1', 'kb_1', 'n', 't', 'ready', '', '', 5, 's', 't', 1000000, 0, 0, '{}', '[]', 1, 1, 1)`)
			insert(`INSERT INTO jobs VALUES ('job_1', 'ingest', 7, 1, 'ready', '', 0, 0, '', 0, 0, 0, 0, 0)`)
			for i := range 5000 {
				text := fmt.Sprintf("text %d %d", i, r.Uint64())
				insert(`INSERT INTO chunks (id, document, revision, ordinal, title, headings, page_start, page_end, span_start, span_end, text)
					VALUES (?1, 7, 1, ?2, '', '[]', 0, 0, 0, length(?3), ?3)`, store.ChunkID("doc_1", 1, i, text), i, text)
			}
			insert(`UPDATE documents SET chunk_count = 5000`)
			closing(t, raw)
			if problems := check(t, path); len(problems) > 0 {
				t.Errorf("%v", problems)
			}
			db := open(t, path)
			if doc, err := db.DeleteDocument(t.Context(), "kb_1", "doc_1"); err != nil || doc.ChunkCount != 5000 {
				t.Errorf("%+v, %v", doc, err)
			}
		})
	}
}
