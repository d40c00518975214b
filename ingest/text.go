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
