package ingest

import (
	"context"
	"fmt"

	"ragagent/store"
)

// embedder returns one by its name; "" is the one of new knowledge bases.
func (s *Service) embedder(ctx context.Context, name string) (Embedder, error) {
	if s.cfg.OpenEmbedder != nil {
		if name == "" {
			name = s.cfg.DefaultEmbedder
		}
		return s.cfg.OpenEmbedder(ctx, name)
	}
	if name != "" && name != s.cfg.Embedder.Name() {
		return nil, store.Invalid("embedder", "%q is not served here: leave it out or use %q", name, s.cfg.Embedder.Name())
	}
	return s.cfg.Embedder, nil
}

// embedderOf returns the embedder of a knowledge base. One that answers to its
// name and is another now than the one that made the vectors is
// store.ErrConflict: vectors of two spaces are never mixed.
func (s *Service) embedderOf(ctx context.Context, kb store.KnowledgeBase) (Embedder, error) {
	e, err := s.embedder(ctx, kb.Embedder)
	if err != nil {
		return nil, err
	}
	if e.Fingerprint() != kb.Fingerprint {
		return nil, fmt.Errorf("%w: the embedder %s is %s now, and the vectors of %q are of %s: change the embedder of the knowledge base "+
			"(POST /api/v1/knowledge-bases/%s/embedder)", store.ErrConflict, e.Name(), e.Fingerprint(), kb.Name, kb.Fingerprint, kb.ID)
	}
	return e, nil
}
