package store

import (
	"context"
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
type Document struct {
	ID              string // "doc_..."
	KnowledgeBaseID string
	Name            string // as uploaded, without any folder; 1..MaxName bytes
	Title           string // from the upload or the text itself; may be empty
	Status          Status
	Error           string // why it failed, and what to do; "" unless StatusFailed
	MIME            string // told from the content
	Bytes           int64  // length of the original
	SHA256          string // of the original
	TextSHA256      string // of the normalised text; "" until it was parsed
	TextBytes       int64
	Pages           int // 0 where the format has none
	ChunkCount      int
	Metadata        Metadata
	Warnings        []string // what the parser could not read well
	// Revision is the one whose chunks are visible, counted from 1; 0 while
	// none is. It changes with Publish, before Status becomes Ready.
	Revision  int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Metadata are a document's properties: string, float64, bool or []string
// values under non-empty keys.
type Metadata map[string]any

// Documents keeps documents. All methods may be called concurrently.
type Documents interface {
	// AddDocument stores doc and its job in one durable transaction. If the
	// knowledge base has a document with the same SHA256, whatever its
	// status, nothing is stored and that document and its latest job are
	// returned with duplicate true. ErrNotFound if there is no such knowledge
	// base.
	AddDocument(ctx context.Context, doc Document, job Job) (stored Document, storedJob Job, duplicate bool, err error)
	// Document returns one. ErrNotFound, also when it is in another
	// knowledge base; kb "" means any.
	Document(ctx context.Context, kb, id string) (Document, error)
	// Documents lists those of a knowledge base.
	Documents(ctx context.Context, kb string, page Page) ([]Document, error)
	// DeleteDocument removes it with its chunks and jobs in one transaction and
	// returns what it was. ErrNotFound.
	DeleteDocument(ctx context.Context, kb, id string) (Document, error)
	// SetParsed records what parsing found: title, text, pages, MIME, warnings
	// and metadata are taken from doc. ErrNotFound.
	SetParsed(ctx context.Context, doc Document) error
	// BlobInUse says whether any document refers to the blob.
	BlobInUse(ctx context.Context, sha256 string) (bool, error)
}
