package store

import (
	"context"
	"slices"
	"time"
)

// Status is where a document or a job stands.
type Status string

// The life of a document and of its job.
const (
	StatusQueued    Status = "queued"
	StatusRunning   Status = "running"
	StatusReady     Status = "ready"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Ended says that nothing more will happen by itself.
func (s Status) Ended() bool {
	return s == StatusReady || s == StatusFailed || s == StatusCancelled
}

// Document is one uploaded file or text. Its original and its normalised text
// are blobs, named by their SHA-256 in lower-case hex.
//
// Sources with the same latest content share one document, and a document has
// one content that it shows, or, while Pending, is about to show. What is said
// here is about the revision that is visible, and only Status, Error, Sources
// and Pending about the latest one.
type Document struct {
	ID              string // "doc_..."
	KnowledgeBaseID string
	Name            string // as uploaded, without any folder; 1..MaxName bytes
	Title           string // from the upload or the text itself; may be empty
	Status          Status
	// Error is why the latest revision failed, and what to do; or that it was
	// cancelled while an older one is still found. "" otherwise.
	Error      string
	MIME       string // told from the content
	Bytes      int64  // length of the original
	SHA256     string // of the original
	TextSHA256 string // of the normalised text; "" until it was parsed
	TextBytes  int64
	Pages      int // 0 where the format has none
	ChunkCount int
	Metadata   Metadata
	// GivenTitle and GivenMetadata are what the uploader said: they stand in
	// Title and Metadata before what the file says of itself, and hold for the
	// revisions to come until something else is said.
	GivenTitle    string
	GivenMetadata Metadata
	Warnings      []string // what the parser could not read well
	// Revision is the one whose chunks are visible, counted from 1; 0 while
	// none is. It changes with Publish, before Status becomes Ready.
	Revision int
	// Sources are where it comes from, by origin and path, the first
	// MaxShownSources of them; never none.
	Sources []Source
	// Pending is what the document is to become; nil if there is nothing new.
	// It stays when its job fails or is cancelled, for a retry. A document of
	// which nothing was ever visible has none: it is itself what is coming.
	Pending   *Pending
	CreatedAt time.Time
	UpdatedAt time.Time
}

// MaxShownSources bounds Document.Sources; Documents.Sources lists all.
const MaxShownSources = 100

// Source is where a document comes from. In a knowledge base each stands for
// one document.
type Source struct {
	// Origin says who keeps it: "" whoever uploads by hand, otherwise the name
	// of what follows changes, such as "sync:/home/ada/papers".
	Origin string
	Path   string // relative, slash-separated; 1..MaxPath bytes
}

// Bounds of a source, in bytes.
const (
	MaxOrigin = 512
	MaxPath   = 1024
)

// Pending is a revision that a job makes, or that failed or was cancelled.
type Pending struct {
	Revision      int
	Name          string
	MIME          string // as the uploader said
	Bytes         int64
	SHA256        string
	TextSHA256    string // "" until it was parsed and is large
	TextBytes     int64
	GivenTitle    string
	GivenMetadata Metadata
	CreatedAt     time.Time
}

// Upcoming is the document as its pending revision has it, before parsing; the
// document itself if there is none.
func (d Document) Upcoming() Document {
	p := d.Pending
	if p == nil {
		return d
	}
	d.Name, d.MIME, d.Bytes, d.SHA256 = p.Name, p.MIME, p.Bytes, p.SHA256
	d.TextSHA256, d.TextBytes = p.TextSHA256, p.TextBytes
	d.GivenTitle, d.GivenMetadata = p.GivenTitle, p.GivenMetadata
	d.Title, d.Metadata = p.GivenTitle, p.GivenMetadata
	d.Pages, d.Warnings = 0, nil
	return d
}

// Blobs are the hashes of all that the document refers to, each once.
func (d Document) Blobs() []string {
	var all []string
	add := func(hash string) {
		if hash != "" && !slices.Contains(all, hash) {
			all = append(all, hash)
		}
	}
	add(d.SHA256)
	add(d.TextSHA256)
	if d.Pending != nil {
		add(d.Pending.SHA256)
		add(d.Pending.TextSHA256)
	}
	return all
}

// Added is what became of a document that was to be added.
type Added struct {
	Document Document
	Job      Job // that makes its latest revision, or has made it
	// Duplicate says that Document has, or is about to have, these bytes
	// already: nothing but the source was stored.
	Duplicate bool
	// Superseded is the id of a job of Document that was cancelled because this
	// upload takes its place; "" for none.
	Superseded string
	// Removed is a document that had no other source than this one, which now
	// stands for Document; nil for none. It is deleted.
	Removed *Document
	// Left is the id of a document that this source stood for before, and that
	// has others; "" for none.
	Left string
	// Dropped are hashes that Document has ceased to refer to.
	Dropped []string
}

// SourceState is a source and what it stands for.
type SourceState struct {
	Source
	DocumentID string
	SHA256     string // of its latest content, visible or not
	Status     Status // of the document
}

// Metadata are a document's properties: string, float64, bool or []string
// values under non-empty keys.
type Metadata map[string]any

// Documents keeps documents. All methods may be called concurrently.
type Documents interface {
	// AddDocument brings the content of a source, doc.Sources[0], into a
	// knowledge base, in one durable transaction; no source means one that was
	// uploaded by hand under its name. ErrNotFound if there is no such
	// knowledge base.
	//
	// If a document has, or is about to have, the same bytes, whatever its
	// status, the source is added to it and nothing else is stored. Otherwise
	// the document whose only source this is gets a new revision, made by the
	// job; a job that was making another one is cancelled. If that revision is
	// the one that is visible, nothing is made and the document is ready. In
	// all other cases doc is stored as a new document, to which the source
	// moves. A document that loses its last source is deleted.
	//
	// The store numbers revisions: job.Revision is the least it gives.
	// GivenTitle "" and GivenMetadata nil leave what was given before.
	AddDocument(ctx context.Context, doc Document, job Job) (Added, error)
	// UpdateDocument reads a document, lets change modify its Metadata and
	// GivenMetadata, also those of Pending, and writes them in one
	// transaction. Whatever else is changed is ignored. An error of change is
	// returned as it is and changes nothing; change may be called more than
	// once. ErrNotFound.
	UpdateDocument(ctx context.Context, kb, id string, change func(*Document) error) (Document, error)
	// Revise gives a document a new revision of the content it has, or is about
	// to have, with another GivenTitle. ErrNotFound.
	Revise(ctx context.Context, kb, id, title string, job Job) (Added, error)
	// Document returns one. ErrNotFound, also when it is in another
	// knowledge base; kb "" means any.
	Document(ctx context.Context, kb, id string) (Document, error)
	// DocumentsByID returns the documents among ids, of any knowledge base, in
	// the order of ids; those that do not exist are left out.
	DocumentsByID(ctx context.Context, ids []string) ([]Document, error)
	// Documents lists those of a knowledge base.
	Documents(ctx context.Context, kb string, page Page) ([]Document, error)
	// DeleteDocument removes it with its sources, pending revision, chunks and
	// jobs in one transaction and returns what it was. ErrNotFound.
	DeleteDocument(ctx context.Context, kb, id string) (Document, error)
	// DeleteDocuments removes those that are in the knowledge base as
	// DeleteDocument does, all in one transaction, and returns what they were,
	// each once, in any order. Ids of no document are passed over.
	DeleteDocuments(ctx context.Context, kb string, ids []string) ([]Document, error)
	// RemoveSource removes one source of a document, and the document if it has
	// no other: gone says so. It returns what the document was. ErrNotFound,
	// also if it is a source of another document.
	RemoveSource(ctx context.Context, kb, id string, source Source) (was Document, gone bool, err error)
	// Sources lists those of one origin in ascending order of their paths;
	// page.After is a path.
	Sources(ctx context.Context, kb, origin string, page Page) ([]SourceState, error)
	// SetParsed records what parsing found for the revision that a running job
	// makes: title, text, pages, MIME, warnings and metadata are taken from
	// doc; of a revision that waits to take the place of another one, the text
	// only. ErrNotFound; ErrConflict if the job is no longer running.
	SetParsed(ctx context.Context, jobID string, doc Document) error
	// BlobInUse says whether any document refers to the blob.
	BlobInUse(ctx context.Context, sha256 string) (bool, error)
	// UnusedBlobs returns those of the hashes, which are distinct, that no
	// document refers to, in any order.
	UnusedBlobs(ctx context.Context, sha256s []string) ([]string, error)
}
