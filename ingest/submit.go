package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"ragagent/store"
)

// Submit accepts an upload: when it returns without an error, the bytes and the
// job are on the disk and the work will be done, whatever happens to the
// process. The same bytes twice in one knowledge base are one document.
// store.ErrNotFound, store.ErrInvalid with the field, store.ErrTooLarge,
// store.ErrFull, *QuarantineError.
func (s *Service) Submit(ctx context.Context, idOrName string, up Upload) (Submitted, error) {
	name, err := cleanName(up.Name)
	if err != nil {
		return Submitted{}, err
	}
	if err := validMetadata(up.Metadata); err != nil {
		return Submitted{}, err
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return Submitted{}, err
	}
	if err := s.Quarantined(kb.ID); err != nil {
		return Submitted{}, err
	}
	staged, err := s.cfg.Blobs.Stage(ctx, up.Body, s.cfg.MaxFileBytes)
	if err != nil {
		return Submitted{}, fmt.Errorf("store %q: %w", name, err)
	}
	defer func() { _ = staged.Discard() }() // nothing to do once committed
	if err := s.fits(nil, 0); err != nil {
		return Submitted{}, err
	}
	now := s.cfg.Now()
	doc := store.Document{
		ID:              store.NewID("doc"),
		KnowledgeBaseID: kb.ID,
		Name:            name,
		Title:           up.Title,
		Status:          store.StatusQueued,
		MIME:            up.MIME,
		Bytes:           staged.Size(),
		SHA256:          staged.SHA256(),
		Metadata:        up.Metadata,
		CreatedAt:       now,
		UpdatedAt:       now,
	}
	job := store.Job{
		ID:              store.NewID("job"),
		Kind:            store.JobIngest,
		KnowledgeBaseID: kb.ID,
		DocumentID:      doc.ID,
		Revision:        1,
		Status:          store.StatusQueued,
		CreatedAt:       now,
		UpdatedAt:       now,
	}
	defer s.blobs.lock(doc.SHA256)()
	if err := staged.Commit(); err != nil {
		return Submitted{}, fmt.Errorf("store %q: %w", name, err)
	}
	stored, storedJob, duplicate, err := s.cfg.Records.AddDocument(ctx, doc, job)
	if err != nil {
		s.discardBlob(context.WithoutCancel(ctx), doc.SHA256)
		return Submitted{}, fmt.Errorf("add document %q: %w", name, err)
	}
	if !duplicate {
		s.nudge()
		return Submitted{Document: stored, Job: storedJob}, nil
	}
	out := Submitted{Document: stored, Job: storedJob, DuplicateOf: stored.ID}
	if stored.Status == store.StatusFailed || stored.Status == store.StatusCancelled {
		// Sending the same file again means: try again.
		out.Job, err = s.Retry(ctx, storedJob.ID)
		if errors.Is(err, store.ErrConflict) { // somebody else was faster
			out.Job, err = s.cfg.Records.Job(ctx, storedJob.ID)
		}
		if err != nil {
			return Submitted{}, err
		}
		out.Document.Status, out.Document.Error = out.Job.Status, ""
	}
	return out, nil
}

// DeleteDocument removes a document. When it returns, no search finds it.
// store.ErrNotFound.
func (s *Service) DeleteDocument(ctx context.Context, idOrName, id string) error {
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return err
	}
	defer s.order.lock(id)()
	doc, err := s.forget(ctx, kb.ID, id)
	if err != nil {
		return err
	}
	s.interrupt(func(j store.Job) bool { return j.DocumentID == id }, errDeleted)
	// The truth has changed: the index follows even if the caller goes away.
	err = s.replace(context.WithoutCancel(ctx), kb, id, noChunks)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("remove %q from the index: %w", doc.Name, err)
	}
	s.reload(context.WithoutCancel(ctx), kb)
	return nil
}

// forget removes a document's records, and its blobs if nothing else has them.
func (s *Service) forget(ctx context.Context, kb, id string) (store.Document, error) {
	var doc store.Document
	err := s.deleting(func() (err error) {
		doc, err = s.cfg.Records.DeleteDocument(ctx, kb, id)
		return err
	})
	if err != nil {
		return doc, fmt.Errorf("delete document: %w", err)
	}
	ctx = context.WithoutCancel(ctx)
	s.dropBlob(ctx, doc.SHA256)
	s.dropBlob(ctx, doc.TextSHA256)
	s.resumeJobs(false) // there may be room now
	return doc, nil
}

// withText stores a document's normalised text and then calls record, which
// refers to it; the text that was there before is dropped.
func (s *Service) withText(ctx context.Context, doc *store.Document, body string, record func() error) error {
	staged, err := s.cfg.Blobs.Stage(ctx, strings.NewReader(body), int64(len(body)))
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

// cleanName takes the last element of whatever path a client sent: a name is
// shown to people, it never leads anywhere.
func cleanName(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", store.Invalid("name", "is not valid UTF-8: rename the file")
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	base = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, base))
	switch {
	case base == "" || base == "." || base == ".." || base == "/":
		return "", store.Invalid("name", "is missing: give the document a file name")
	case len(base) > store.MaxName:
		return "", store.Invalid("name", "has %d bytes, at most %d are allowed: rename the file", len(base), store.MaxName)
	}
	return base, nil
}

// Bounds of a document's metadata.
const (
	maxMetadataKeys  = 64
	maxMetadataBytes = 16 << 10
)

func validMetadata(m store.Metadata) error {
	if len(m) > maxMetadataKeys {
		return store.Invalid("metadata", "has %d keys, at most %d are allowed", len(m), maxMetadataKeys)
	}
	total := 0
	for k, v := range m {
		if k == "" {
			return store.Invalid("metadata", "has an empty key")
		}
		total += len(k)
		switch v := v.(type) {
		case string:
			total += len(v)
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return store.Invalid("metadata."+k, "must be a finite number")
			}
			total += 8
		case bool:
			total += 8
		case []string:
			for _, s := range v {
				total += len(s) + 3 // as in JSON: an empty one takes room too
			}
		default:
			return store.Invalid("metadata."+k, "must be a string, a number, true or false, or a list of strings")
		}
	}
	if total > maxMetadataBytes {
		return store.Invalid("metadata", "has %d bytes, at most %d are allowed", total, maxMetadataBytes)
	}
	return nil
}
