package ingest_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// memory is a file in memory.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func fileOf(text string) store.Blob { return memory{bytes.NewReader([]byte(text))} }

func TestPreviewShowsTheChunksAJobWouldMake(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	text := strings.Repeat("One two three four five six seven eight nine. ", 40) + "\n\nThe end of it."
	for _, chunking := range []store.Chunking{{}, {Size: 64, Overlap: 12}, {Strategy: store.ChunkingFixed, Size: 50, Parent: store.ParentChunking{Size: 200}}} {
		draft := ingest.Draft{Name: "folder/the_report.txt", File: fileOf(text), Chunking: &chunking, Limit: 100}
		all, err := h.Preview(t.Context(), "kb", draft)
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.UpdateKnowledgeBase(t.Context(), "kb", ingest.KnowledgeBaseChange{Chunking: &chunking})
		if err != nil {
			t.Fatal(err)
		}
		done := h.submit(t, "the_report.txt", text)
		h.end(t, done.Job.ID)
		stored, err := h.records.DocumentChunks(t.Context(), done.Document.ID, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var shown []store.Chunk
		for i, c := range all.Chunks {
			if c.Tokens == 0 || (c.ParentTokens > 0) != (c.Parent != store.Section{}) {
				t.Errorf("chunk %d has %d tokens, its parent %d", i, c.Tokens, c.ParentTokens)
			}
			shown = append(shown, c.Chunk)
			stored[i].ID, stored[i].DocumentID, stored[i].KnowledgeBaseID, stored[i].Revision = "", "", "", 0
		}
		if diff := cmp.Diff(stored, shown); diff != "" {
			t.Errorf("%+v (-stored +shown):\n%s", chunking, diff)
		}
		if all.Total != len(stored) || all.Title != "the report" || all.Name != "the_report.txt" || all.TextBytes != int64(len(text)) {
			t.Errorf("preview %+v", all)
		}
		draft.From, draft.Limit = 1, 2
		some, err := h.Preview(t.Context(), "kb", draft)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all.Chunks[min(1, len(stored)):min(3, len(stored))], some.Chunks); diff != "" && len(stored) > 1 || some.Total != all.Total {
			t.Errorf("total %d, window (-want +got):\n%s", some.Total, diff)
		}
		if err := h.DeleteDocument(t.Context(), "kb", done.Document.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPreviewKeepsNothing(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	if _, err := h.Preview(t.Context(), "kb", ingest.Draft{Name: "a.txt", File: fileOf("some text"), Limit: 1}); err != nil {
		t.Fatal(err)
	}
	docs, err := h.records.Documents(t.Context(), h.kb.ID, store.Page{})
	if err != nil || len(docs) > 0 {
		t.Errorf("documents %v, %v", docs, err)
	}
	for hash, err := range h.blobs.List(t.Context()) {
		t.Errorf("blob %s, %v", hash, err)
	}
}

func TestPreviewRefusals(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	preview := func(kb, name, text string, chunking *store.Chunking) error {
		_, err := h.Preview(t.Context(), kb, ingest.Draft{Name: name, File: fileOf(text), Chunking: chunking, Limit: 1})
		return err
	}
	for want, err := range map[string]error{
		"file: the file is damaged":                                                preview("kb", "a", "damaged", nil),
		"file: no text found":                                                      preview("kb", "a", "\n", nil),
		"name: is missing: give the document a file name":                          preview("kb", "/", "x", nil),
		`chunking.strategy: is "x", allowed are structure, sentence and fixed`:     preview("kb", "a", "damaged", &store.Chunking{Strategy: "x"}),
		"chunking.size: is 5, allowed are 32 to 4096 tokens, or 0 for the default": preview("kb", "a", "damaged", &store.Chunking{Size: 5}),
	} {
		if !errors.Is(err, store.ErrInvalid) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := preview("no", "a", "x", nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want %v", err, store.ErrNotFound)
	}
}
