package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"ragagent/store"
)

// Submit accepts an upload: when it returns without an error, the bytes and the
// job are on the disk and the work will be done, whatever happens to the
// process. What it becomes, a new document, a new revision of one or a
// duplicate, store.Documents.AddDocument says. What is given as metadata of a
// duplicate is set of the document, as UpdateDocument does. store.ErrNotFound,
// store.ErrInvalid with the field, store.ErrTooLarge, store.ErrFull,
// *QuarantineError.
func (s *Service) Submit(ctx context.Context, idOrName string, up Upload) (Submitted, error) {
	return s.submitAs(ctx, idOrName, up, arrival{kind: store.JobIngest})
}

// arrival is how a content comes.
type arrival struct {
	kind  string // of its job
	again string // the URL that was fetched again; "" if it is none
}

// submitAs is Submit of what comes in another way. store.ErrNotFound if what a
// URL has brought again has no document any more.
func (s *Service) submitAs(ctx context.Context, idOrName string, up Upload, how arrival) (Submitted, error) {
	doc, err := s.draft(ctx, idOrName, up)
	if err != nil {
		return Submitted{}, err
	}
	staged, err := s.cfg.Blobs.Stage(ctx, up.Body, s.cfg.MaxFileBytes)
	if err != nil {
		return Submitted{}, fmt.Errorf("store %q: %w", doc.Name, err)
	}
	return s.keepAs(ctx, doc, staged, how)
}

// draft is the document of an upload without its content.
func (s *Service) draft(ctx context.Context, idOrName string, up Upload) (store.Document, error) {
	name, err := cleanName(up.Name)
	if err != nil {
		return store.Document{}, err
	}
	source, err := cleanSource(up)
	if err != nil {
		return store.Document{}, err
	}
	if err := validMetadata(up.Metadata); err != nil {
		return store.Document{}, err
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return store.Document{}, err
	}
	if err := cmp.Or(s.Quarantined(kb.ID), s.reserved(ctx)); err != nil {
		return store.Document{}, err
	}
	return store.Document{
		KnowledgeBaseID: kb.ID,
		Name:            name,
		Status:          store.StatusQueued,
		MIME:            up.MIME,
		GivenTitle:      up.Title,
		GivenMetadata:   up.Metadata,
		Sources:         []store.Source{source},
	}, nil
}

// keepAs commits a staged content and what is said of it.
func (s *Service) keepAs(ctx context.Context, doc store.Document, staged store.Staged, how arrival) (Submitted, error) {
	defer func() { _ = staged.Discard() }() // nothing to do once committed
	if staged.Size() == 0 {                 // a job would find that out, after taking the place of what was there
		return Submitted{}, store.Invalid("file", "%q is empty: there is nothing in it to search", doc.Name)
	}
	if err := cmp.Or(s.fits(nil, 0), s.reserved(ctx)); err != nil { // of an archive there may have been many before
		return Submitted{}, err
	}
	now := s.cfg.Now()
	doc.ID, doc.CreatedAt, doc.UpdatedAt = store.NewID("doc"), now, now
	doc.Bytes, doc.SHA256 = staged.Size(), staged.SHA256()
	// Held until indexes and blobs have followed what the records let go of, so
	// that whoever verifies can wait for it. Nobody else asks for this key.
	defer s.order.lock("upload " + doc.ID)()
	added, err := s.record(ctx, doc, staged, how)
	if err != nil {
		return Submitted{}, err
	}
	if err := s.after(ctx, doc.KnowledgeBaseID, added); err != nil {
		return Submitted{}, err
	}
	if !added.Duplicate {
		s.nudge()
		return Submitted{Document: added.Document, Source: doc.Sources[0], Job: added.Job}, nil
	}
	if err := s.takeOver(ctx, &added.Document, doc.GivenMetadata); err != nil {
		return Submitted{}, err
	}
	done, err := s.again(ctx, added)
	done.Source = doc.Sources[0]
	return done, err
}

// newJob is a job that makes a revision of a document; the store numbers it.
func (s *Service) newJob(kbID, documentID string) store.Job {
	now := s.cfg.Now()
	return store.Job{
		ID:              store.NewID("job"),
		Kind:            store.JobIngest,
		KnowledgeBaseID: kbID,
		DocumentID:      documentID,
		Revision:        1,
		Status:          store.StatusQueued,
		CreatedAt:       now,
		UpdatedAt:       now,
	}
}

func (s *Service) record(ctx context.Context, doc store.Document, staged store.Staged, how arrival) (store.Added, error) {
	defer s.blobs.lock(doc.SHA256)()
	if err := staged.Commit(); err != nil {
		return store.Added{}, fmt.Errorf("store %q: %w", doc.Name, err)
	}
	job := s.newJob(doc.KnowledgeBaseID, doc.ID)
	flow := flowOf(doc.KnowledgeBaseID, doc.Sources[0])
	job.Kind, job.Turn = how.kind, s.turns.take(flow, doc.Bytes)
	add := s.cfg.Records.AddDocument
	if how.again != "" {
		add = func(ctx context.Context, doc store.Document, job store.Job) (store.Added, error) {
			return s.cfg.Records.AddRefreshed(ctx, doc, job, how.again)
		}
	}
	added, err := add(ctx, doc, job)
	if err != nil || added.Duplicate {
		s.turns.giveBack(flow, doc.Bytes)
	}
	if err != nil {
		s.discardBlob(context.WithoutCancel(ctx), doc.SHA256)
		return store.Added{}, fmt.Errorf("add document %q: %w", doc.Name, err)
	}
	return added, nil
}

// after lets jobs, indexes and blobs follow what an upload changed beside the
// document itself.
func (s *Service) after(ctx context.Context, kbID string, added store.Added) error {
	ctx = context.WithoutCancel(ctx) // the truth has changed
	if added.Superseded != "" {
		s.interrupt(func(j store.Job) bool { return j.ID == added.Superseded }, errSuperseded)
		s.announce(ctx, added.Superseded)
	}
	for _, hash := range added.Dropped {
		s.dropBlob(ctx, hash)
	}
	if added.Duplicate { // it has one more source to be filtered by
		if err := s.followMetadata(ctx, kbID, added.Document.ID); err != nil {
			return err
		}
	}
	if added.Left != "" {
		if err := s.followMetadata(ctx, kbID, added.Left); err != nil {
			return err
		}
	}
	if added.Removed == nil {
		return nil
	}
	kb, err := s.cfg.Records.KnowledgeBase(ctx, kbID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted meanwhile, and all of it with it
	}
	if err != nil {
		return err
	}
	defer s.order.lock(added.Removed.ID)()
	return s.vanish(ctx, kb, *added.Removed)
}

// again answers an upload of bytes that are there, or on their way. Sending the
// file of a job that failed once more means: try again.
func (s *Service) again(ctx context.Context, added store.Added) (_ Submitted, err error) {
	out := Submitted{Document: added.Document, Job: added.Job, DuplicateOf: added.Document.ID}
	if status := added.Document.Status; status != store.StatusFailed && status != store.StatusCancelled {
		return out, nil
	}
	out.Job, err = s.Retry(ctx, added.Job.ID)
	if errors.Is(err, store.ErrConflict) { // somebody else was faster
		out.Job, err = s.cfg.Records.Job(ctx, added.Job.ID)
	}
	if err != nil {
		return Submitted{}, err
	}
	out.Document.Status, out.Document.Error = out.Job.Status, ""
	return out, nil
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
