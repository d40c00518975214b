package retrieval

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ragagent/retrieval/attributes"
	"ragagent/store"
)

// Documents is the part of the record store that filters are answered from.
type Documents interface {
	// Document returns one. store.ErrNotFound.
	Document(ctx context.Context, kb, id string) (store.Document, error)
	// Documents lists those of a knowledge base by id.
	Documents(ctx context.Context, kb string, page store.Page) ([]store.Document, error)
}

// DocumentSet is the documents of one knowledge base that a filter chose.
type DocumentSet = attributes.Set

// Numbering is what the numbers in a DocumentSet mean.
type Numbering = attributes.Numbering

// Field describes what the documents of a knowledge base have under one name.
type Field = attributes.Field

// FieldCount is one value of a Field, with the number of documents that have it.
type FieldCount = attributes.Count

// tables are the metadata of the documents that can be found, by knowledge base.
type tables struct {
	records Documents // nil: there are none

	mu     sync.RWMutex
	byBase map[string]*attributes.Table
}

// of returns the table of a knowledge base, nil if there is none.
func (t *tables) of(kb string) *attributes.Table {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byBase[kb]
}

// ensure returns the table of a knowledge base, an empty one if there is none.
func (t *tables) ensure(kb string) *attributes.Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byBase == nil {
		t.byBase = make(map[string]*attributes.Table)
	}
	if t.byBase[kb] == nil {
		t.byBase[kb] = attributes.New()
	}
	return t.byBase[kb]
}

func (t *tables) drop(kb string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byBase, kb)
}

// load reads the metadata of a knowledge base in the background. wait returns
// when that is done and puts it in the place of what was there.
func (t *tables) load(ctx context.Context, kb string) (wait func() error) {
	if t.records == nil {
		return func() error { return nil }
	}
	fresh, done := attributes.New(), make(chan error, 1)
	go func() { done <- t.read(ctx, kb, fresh) }()
	return func() error {
		if err := <-done; err != nil {
			return fmt.Errorf("read the metadata of %s: %w", kb, err)
		}
		t.ensure(kb).Replace(fresh)
		return nil
	}
}

func (t *tables) read(ctx context.Context, kb string, into *attributes.Table) error {
	page := store.Page{Limit: store.MaxPage}
	for {
		docs, err := t.records.Documents(ctx, kb, page)
		if err != nil {
			return err
		}
		for i := range docs {
			if docs[i].Revision > 0 {
				into.Put(&docs[i])
			}
		}
		if len(docs) < page.Limit {
			return nil
		}
		page.After = docs[len(docs)-1].ID
	}
}

// follow makes the table have a document as the records have it now.
func (t *tables) follow(ctx context.Context, kb, id string) error {
	if t.records == nil {
		return nil
	}
	doc, err := t.records.Document(ctx, kb, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		t.remove(kb, id)
		return nil
	case err != nil:
		return fmt.Errorf("read the metadata of %s: %w", id, err)
	}
	t.ensure(kb).Put(&doc)
	return nil
}

func (t *tables) remove(kb, id string) {
	if table := t.of(kb); table != nil {
		table.Remove(id)
	}
}

// bytes is the memory that the tables take.
func (t *tables) bytes() (n int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, table := range t.byBase {
		n += table.Bytes()
	}
	return n
}

// MetadataChanged tells the index that the records have other metadata for a
// document than before, or another name or title. Filters of queries that start
// after it returned go by what the records say. Replace does the same.
func (x *Index) MetadataChanged(ctx context.Context, kbID, documentID string) error {
	_, unlock := x.lock(kbID)
	defer unlock()
	if len(x.lexical.DocumentChunks(kbID, documentID)) == 0 {
		return nil // it cannot be found, so it is in no table
	}
	return x.tables.follow(ctx, kbID, documentID)
}

// Fields describes the fields of the documents of a knowledge base by name, with
// the most frequent values of each, at most so many. None if it is not loaded.
func (x *Index) Fields(kbID string, values int) []Field {
	if table := x.tables.of(kbID); table != nil {
		return table.Fields(values)
	}
	return []Field{}
}
