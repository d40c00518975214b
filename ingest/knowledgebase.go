package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/ingest/chunk"
	"ragagent/store"
)

// maxDescription bounds a knowledge base's description, in bytes.
const maxDescription = 4 << 10

// CreateKnowledgeBase makes an empty knowledge base from the name, description
// and settings of kb; everything else of it is ignored. store.ErrInvalid names
// the field, store.ErrConflict says that the name is taken.
func (s *Service) CreateKnowledgeBase(ctx context.Context, kb store.KnowledgeBase) (store.KnowledgeBase, error) {
	embedder, err := s.embedder(ctx, kb.Embedder)
	if err != nil {
		return kb, err
	}
	now := s.cfg.Now()
	kb = store.KnowledgeBase{
		ID:          store.NewID("kb"),
		Name:        strings.TrimSpace(kb.Name),
		Description: kb.Description,
		Embedder:    embedder.Name(),
		Fingerprint: embedder.Fingerprint(),
		Dimension:   embedder.Dim(),
		Chunking:    kb.Chunking,
		Retrieval:   kb.Retrieval,
		CreatedAt:   now,
		UpdatedAt:   now,
	}
	if err := validKnowledgeBase(kb); err != nil {
		return kb, err
	}
	// The empty index comes first: as soon as the records show the knowledge
	// base, somebody may add to it.
	if err := s.cfg.Indexer.Load(ctx, kb, noChunks); err != nil {
		return kb, fmt.Errorf("index knowledge base %q: %w", kb.Name, err)
	}
	if err := s.cfg.Records.CreateKnowledgeBase(ctx, kb); err != nil {
		err = fmt.Errorf("create knowledge base %q: %w", kb.Name, err)
		return kb, errors.Join(err, s.cfg.Indexer.Drop(context.WithoutCancel(ctx), kb.ID))
	}
	return kb, nil
}

// KnowledgeBaseChange is what an update may change; nil leaves a field as it is.
type KnowledgeBaseChange struct {
	Name        *string
	Description *string
	Chunking    *store.Chunking // holds for what is read from now on; see ReindexKnowledgeBase
	Retrieval   *store.RetrievalSettings
}

// UpdateKnowledgeBase changes settings. Errors as CreateKnowledgeBase, and
// store.ErrNotFound.
func (s *Service) UpdateKnowledgeBase(ctx context.Context, idOrName string, change KnowledgeBaseChange) (store.KnowledgeBase, error) {
	return s.cfg.Records.UpdateKnowledgeBase(ctx, idOrName, func(kb *store.KnowledgeBase) error {
		change.apply(kb)
		kb.UpdatedAt = s.cfg.Now()
		return validKnowledgeBase(*kb)
	})
}

func (c KnowledgeBaseChange) apply(kb *store.KnowledgeBase) {
	if c.Name != nil {
		kb.Name = strings.TrimSpace(*c.Name)
	}
	if c.Description != nil {
		kb.Description = *c.Description
	}
	if c.Chunking != nil {
		kb.Chunking = *c.Chunking
	}
	if c.Retrieval != nil {
		kb.Retrieval = *c.Retrieval
	}
}

// DeleteKnowledgeBase removes a knowledge base with everything in it. When it
// returns, no search finds anything of it. store.ErrNotFound. On a full disk it
// may have to go document by document, and an error then leaves the rest.
func (s *Service) DeleteKnowledgeBase(ctx context.Context, idOrName string) error {
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return err
	}
	err = s.deleteWhole(ctx, kb)
	if !store.IsFull(err) {
		return err
	}
	if err := s.deleteAll(ctx, kb); err != nil {
		return fmt.Errorf("delete knowledge base %q: %w", kb.Name, err)
	}
	return s.deleteWhole(ctx, kb)
}

// deleteAll removes the documents of a knowledge base in as many steps as the
// room takes.
func (s *Service) deleteAll(ctx context.Context, kb store.KnowledgeBase) error {
	for {
		docs, err := s.cfg.Records.Documents(ctx, kb.ID, store.Page{Limit: deletesOfAll})
		if err != nil || len(docs) == 0 {
			return err
		}
		ids := make([]string, len(docs))
		for i := range docs {
			ids[i] = docs[i].ID
		}
		if _, err := s.DeleteDocuments(ctx, kb.ID, ids); err != nil {
			return err
		}
	}
}

// deletesOfAll is how many documents deleteAll begins with: there was no room for
// many.
const deletesOfAll = 16

// deleteWhole removes a knowledge base in one step.
func (s *Service) deleteWhole(ctx context.Context, kb store.KnowledgeBase) error {
	// Until its index has gone, nobody takes what is there of it for something
	// that was left.
	defer s.order.lock(kb.ID)()
	if err := s.forgetAll(ctx, kb); err != nil {
		return err
	}
	s.interrupt(func(j store.Job) bool { return j.KnowledgeBaseID == kb.ID }, errDeleted)
	s.release(kb.ID)
	// The truth has changed: the index follows even if the caller goes away.
	if err := s.cfg.Indexer.Drop(context.WithoutCancel(ctx), kb.ID); err != nil {
		return fmt.Errorf("drop the index of %q: %w", kb.Name, err)
	}
	return nil
}

// forgetAll removes a knowledge base's records and the blobs that nothing else has.
func (s *Service) forgetAll(ctx context.Context, kb store.KnowledgeBase) error {
	hashes, err := s.blobsOf(ctx, kb.ID)
	if err != nil {
		return err
	}
	if err := s.deleting(func() error { return s.cfg.Records.DeleteKnowledgeBase(ctx, kb.ID) }); err != nil {
		return fmt.Errorf("delete knowledge base %q: %w", kb.Name, err)
	}
	ctx = context.WithoutCancel(ctx)
	for group := range slices.Chunk(slices.Collect(maps.Keys(hashes)), 2*deleteGroup) {
		s.dropBlobs(ctx, group)
	}
	s.resumeJobs(false) // there may be room now
	return nil
}

// blobsOf collects the hashes that a knowledge base's documents refer to.
func (s *Service) blobsOf(ctx context.Context, kb string) (map[string]bool, error) {
	hashes := map[string]bool{}
	page := store.Page{Limit: store.MaxPage}
	for {
		docs, err := s.cfg.Records.Documents(ctx, kb, page)
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		for _, d := range docs {
			for _, hash := range d.Blobs() {
				hashes[hash] = true
			}
		}
		if len(docs) < page.Size() {
			return hashes, nil
		}
		page.After = docs[len(docs)-1].ID
	}
}

func validKnowledgeBase(kb store.KnowledgeBase) error {
	switch {
	case kb.Name == "":
		return store.Invalid("name", "is missing: give the knowledge base a name")
	case kb.Name == "." || kb.Name == "..":
		return store.Invalid("name", "must not be %q, because it is used in addresses", kb.Name)
	case len(kb.Name) > store.MaxName:
		return store.Invalid("name", "has %d bytes, at most %d are allowed", len(kb.Name), store.MaxName)
	case !utf8.ValidString(kb.Name) || strings.ContainsFunc(kb.Name, unicode.IsControl):
		return store.Invalid("name", "holds control characters or is not UTF-8")
	case strings.ContainsAny(kb.Name, "/\\?#"):
		return store.Invalid("name", `must not hold / \ ? or #, because it is used in addresses`)
	case len(kb.Description) > maxDescription:
		return store.Invalid("description", "has %d bytes, at most %d are allowed", len(kb.Description), maxDescription)
	}
	if err := chunk.Check(kb.Chunking); err != nil {
		return err
	}
	r := kb.Retrieval
	switch {
	case r.TopK < 0 || r.TopK > store.MaxTopK:
		return store.Invalid("retrieval.top_k", "is %d, allowed are 1 to %d, or 0 for the default", r.TopK, store.MaxTopK)
	case r.ScoreThreshold < 0 || r.ScoreThreshold > 1:
		return store.Invalid("retrieval.score_threshold", "is %g, allowed are 0 to 1", r.ScoreThreshold)
	case !r.Rewrite.Known():
		return store.Invalid("retrieval.rewrite", "is %q, allowed are none, rules, condense, multi_query, hyde, decompose and auto", string(r.Rewrite))
	case !r.Rerank.Known():
		return store.Invalid("retrieval.rerank", "is %q, allowed are none, lexical, mmr, crossencoder and listwise", string(r.Rerank))
	case r.MMRLambda < 0 || r.MMRLambda > 1:
		return store.Invalid("retrieval.mmr_lambda", "is %g, allowed are 0 to 1, 0 for the default", r.MMRLambda)
	}
	return nil
}

// noChunks is the content of an empty knowledge base.
func noChunks(func(store.Chunk, error) bool) {}
