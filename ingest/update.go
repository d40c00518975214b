package ingest

import (
	"context"
	"maps"
	"reflect"
	"strings"
	"unicode"

	"ragagent/store"
)

// maxTitle bounds a title, in bytes.
const maxTitle = 1000

// DocumentChange is what may be changed of a document without uploading it
// again.
type DocumentChange struct {
	// Title, if not nil, is another title. It is part of what is searched: a
	// job makes a new revision of the same content.
	Title *string
	// Metadata are set, at once, and those named by Remove taken away. What the
	// file says of itself comes back with its next revision, unless it is set.
	Metadata store.Metadata
	Remove   []string
}

// UpdateDocument changes a document. The job is the one that makes its latest
// revision; changed says that it is new. store.ErrNotFound, store.ErrInvalid
// with the field.
func (s *Service) UpdateDocument(ctx context.Context, idOrName, id string, change DocumentChange) (Submitted, error) {
	if t := change.Title; t != nil && (strings.TrimSpace(*t) == "" || len(*t) > maxTitle || strings.ContainsFunc(*t, unicode.IsControl)) {
		return Submitted{}, store.Invalid("title", "must be one line of 1 to %d bytes", maxTitle)
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return Submitted{}, err
	}
	if err := s.Quarantined(kb.ID); err != nil {
		return Submitted{}, err
	}
	var out Submitted
	if out.Document, err = s.setMetadata(ctx, kb, id, change); err != nil || change.Title == nil {
		return out, err
	}
	if up := out.Document.Upcoming(); *change.Title == up.GivenTitle {
		return out, nil
	}
	next := out.Document.Upcoming()
	next.GivenTitle = *change.Title
	return s.revise(ctx, kb.ID, id, next, flowOf(kb.ID, store.Source{}))
}

func (s *Service) setMetadata(ctx context.Context, kb store.KnowledgeBase, id string, change DocumentChange) (store.Document, error) {
	if change.Metadata == nil && change.Remove == nil {
		return s.cfg.Records.Document(ctx, kb.ID, id)
	}
	defer s.order.lock(id)()
	doc, err := s.cfg.Records.UpdateDocument(ctx, kb.ID, id, func(doc *store.Document) error {
		doc.Metadata = change.apply(doc.Metadata)
		doc.GivenMetadata = change.apply(doc.GivenMetadata)
		if doc.Pending != nil {
			doc.Pending.GivenMetadata = change.apply(doc.Pending.GivenMetadata)
		}
		return validMetadata(doc.Metadata)
	})
	if err != nil {
		return doc, err
	}
	return doc, s.followMetadata(context.WithoutCancel(ctx), kb.ID, id)
}

// takeOver sets what is given as metadata of bytes that a document has already,
// and what it has of it, if anything is new.
func (s *Service) takeOver(ctx context.Context, doc *store.Document, given store.Metadata) error {
	known := func(has store.Metadata) bool {
		for key, value := range given {
			if was, ok := has[key]; !ok || !reflect.DeepEqual(was, value) {
				return false
			}
		}
		return true
	}
	if known(doc.Metadata) && known(doc.GivenMetadata) && known(doc.Upcoming().GivenMetadata) {
		return nil
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, doc.KnowledgeBaseID)
	if err != nil {
		return err
	}
	changed, err := s.setMetadata(ctx, kb, doc.ID, DocumentChange{Metadata: given})
	if err == nil {
		*doc = changed
	}
	return err
}

// MetadataFollower is implemented by indexers that filter by metadata.
type MetadataFollower interface {
	// MetadataChanged says that the records have other metadata for a document,
	// or other sources, while its text is the same.
	MetadataChanged(ctx context.Context, kbID, documentID string) error
}

// followMetadata lets filters go by what the records say of a document now.
func (s *Service) followMetadata(ctx context.Context, kb, id string) error {
	follower, follows := s.cfg.Indexer.(MetadataFollower)
	if loaded := s.Quarantined(kb) == nil; follows && loaded {
		return follower.MetadataChanged(ctx, kb, id)
	}
	return nil
}

// apply returns m with the change; m stays as it is.
func (c DocumentChange) apply(m store.Metadata) store.Metadata {
	out := maps.Clone(m)
	if out == nil {
		out = store.Metadata{}
	}
	maps.Copy(out, c.Metadata)
	for _, key := range c.Remove {
		delete(out, key)
	}
	return out
}
