package ingest

import (
	"context"
	"fmt"
	"io"

	"ragagent/store"
)

// ReadText returns the bytes of span in a document's normalised text as it is
// stored now: what citations are checked against. store.ErrNotFound if the
// document or its text is gone, or the text is shorter.
func (s *Service) ReadText(ctx context.Context, documentID string, span store.Span) (string, error) {
	if span.Start < 0 || span.End < span.Start {
		return "", store.Invalid("span", "%d..%d is no range", span.Start, span.End)
	}
	doc, err := s.cfg.Records.Document(ctx, "", documentID)
	if err != nil {
		return "", err
	}
	if doc.TextSHA256 == "" {
		return "", fmt.Errorf("text of document %s: %w", documentID, store.ErrNotFound)
	}
	blob, err := s.cfg.Blobs.Open(ctx, doc.TextSHA256)
	if err != nil {
		return "", fmt.Errorf("text of document %s: %w", documentID, err)
	}
	defer blob.Close()
	if int64(span.End) > blob.Size() {
		return "", fmt.Errorf("bytes %d..%d of the text of document %s: %w", span.Start, span.End, documentID, store.ErrNotFound)
	}
	raw, err := io.ReadAll(io.NewSectionReader(blob, int64(span.Start), int64(span.Len())))
	if err != nil {
		return "", fmt.Errorf("read the text of document %s: %w", documentID, err)
	}
	return string(raw), nil
}

// withText stores a document's normalised text and then calls record, which
// refers to it; the text that was there before is dropped.
func (s *Service) withText(ctx context.Context, doc *store.Document, text *textReader, record func() error) error {
	staged, err := s.cfg.Blobs.Stage(ctx, text, text.Size())
	if err != nil {
		return fmt.Errorf("store the text: %w", err)
	}
	defer func() { _ = staged.Discard() }()
	old := doc.TextSHA256
	doc.TextSHA256, doc.TextBytes = staged.SHA256(), staged.Size()
	if err := s.referTo(ctx, staged, doc.SHA256, record); err != nil {
		doc.TextSHA256 = old
		return err
	}
	if old != doc.TextSHA256 {
		s.dropBlob(context.WithoutCancel(ctx), old)
	}
	return nil
}

// referTo commits a text and calls record under the lock of its hash. A text
// that is its original, byte for byte, is there already.
func (s *Service) referTo(ctx context.Context, staged store.Staged, original string, record func() error) error {
	if staged.SHA256() == original {
		return record()
	}
	defer s.blobs.lock(staged.SHA256())()
	if err := staged.Commit(); err != nil {
		return fmt.Errorf("store the text: %w", err)
	}
	err := record()
	if err != nil {
		s.discardBlob(context.WithoutCancel(ctx), staged.SHA256())
	}
	return err
}
