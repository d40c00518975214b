package ingest

import (
	"context"
	"errors"
	"iter"
	"testing"

	"ragagent/store"
)

// oneDocument answers for one document only; every other call would panic.
type oneDocument struct {
	Records
	doc store.Document
	err error
}

func (r oneDocument) Document(context.Context, string, string) (store.Document, error) {
	return r.doc, r.err
}

func (r oneDocument) KnowledgeBase(context.Context, string) (store.KnowledgeBase, error) {
	return store.KnowledgeBase{ID: "kb_1"}, nil
}

// replaced counts the documents that are taken out of it.
type replaced struct {
	Indexer
	n int
}

func (x *replaced) Replace(context.Context, store.KnowledgeBase, string, iter.Seq2[store.Chunk, error]) error {
	x.n++
	return nil
}

// TestFollow: a document leaves the indexes if the truth says that it is not
// shown, and only then; a truth that does not answer says nothing.
func TestFollow(t *testing.T) {
	for name, c := range map[string]struct {
		records oneDocument
		want    int
	}{
		"shown":     {oneDocument{doc: store.Document{Revision: 1}}, 0},
		"withdrawn": {oneDocument{}, 1},
		"deleted":   {oneDocument{err: store.ErrNotFound}, 1},
		"no answer": {oneDocument{err: errors.New("the disk is gone")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			index := &replaced{}
			s, err := New(Config{Records: c.records, Blobs: struct{ store.Blobs }{}, Indexer: index, Parser: struct{ Parser }{}, Embedder: struct{ Embedder }{}})
			if err != nil {
				t.Fatal(err)
			}
			if s.follow(t.Context(), "kb_1", "doc_1"); index.n != c.want {
				t.Errorf("taken out %d times, want %d", index.n, c.want)
			}
		})
	}
}
