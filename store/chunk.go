package store

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// Span is a half-open range of bytes in a document's normalised text.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Len returns the number of bytes.
func (s Span) Len() int { return s.End - s.Start }

// Holds says that all of other is in s.
func (s Span) Holds(other Span) bool { return s.Start <= other.Start && other.End <= s.End }

// Section is a part of a document's normalised text, with the pages it is on.
type Section struct {
	Span
	PageStart int // one-based; 0 where the format has no pages
	PageEnd   int
}

// Chunk is the unit that is indexed and found. Text equals the document's
// normalised text at Span, byte for byte.
type Chunk struct {
	ID              string
	KnowledgeBaseID string
	DocumentID      string
	Revision        int
	Ordinal         int // position in the document, from 0, without gaps
	Title           string
	Headings        []string // path from the outermost heading inwards
	PageStart       int      // one-based; 0 where the format has no pages
	PageEnd         int
	Span            Span
	Text            string
	// Context is what has to be known to understand Text and stands elsewhere:
	// for a chunk inside a table, the table's caption and header row, a line
	// each. It is indexed, embedded and shown with the text, and never quoted:
	// Span does not cover it. "" for most chunks.
	Context string
	// Parent is the section that is shown in the place of the chunk; it holds
	// Span. Zero: the chunk stands for itself.
	Parent Section
	// Vector has L2 norm 1 within 1e-6 and the dimension of the knowledge
	// base's embedder; nil where the embedder has nothing to say about the
	// text, which is then ranked by its words alone.
	Vector []float32
	// Fingerprint is, of chunks that are stored, that of the embedder that made
	// Vector; it has to be the knowledge base's. "" on reading, and where there
	// is nothing to compare.
	Fingerprint string
}

// ChunkID returns the id of a chunk: the same document, revision, place and
// text always give the same id, so that work which is done again after a crash
// meets what it left behind. The ids of a revision share their beginning and
// sort by ordinal: an index over them grows in one place, where wholly random
// ones would dirty a page for every chunk.
func ChunkID(documentID string, revision, ordinal int, text string) string {
	content := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s%06x%x", ChunkIDPrefix(documentID, revision), ordinal, content[:5])
}

// ChunkIDPrefix is how the ids of a revision's chunks begin, and no others: by
// it what is left of a document can be found when nothing else is known.
func ChunkIDPrefix(documentID string, revision int) string {
	owner := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", documentID, revision))
	return fmt.Sprintf("chk_%x", owner[:8])
}

// Chunks keeps chunks. All methods may be called concurrently.
type Chunks interface {
	// PutChunks stores the next chunks of a revision that is not visible yet,
	// and the job's progress, in one durable transaction. Chunks that are
	// there already are left as they are. ErrNotFound if the document is gone;
	// ErrConflict if the job is no longer running, the revision is visible, or
	// a chunk is there with another id (ClearJournal, then begin again);
	// ErrOtherEmbedder if the vectors are not of the knowledge base's embedder;
	// ErrInvalid if they leave a gap or do not belong to the job.
	PutChunks(ctx context.Context, jobID string, chunks []Chunk, progress Progress) error
	// ChunkJournal returns how many chunks of a revision are stored, counted
	// from ordinal 0 without gaps, and the id of the last of them.
	ChunkJournal(ctx context.Context, documentID string, revision int) (n int, lastID string, err error)
	// ClearJournal removes the stored chunks of a revision that is not visible.
	// ErrNotFound; ErrConflict if the revision is visible.
	ClearJournal(ctx context.Context, documentID string, revision int) error
	// Publish makes a revision visible in one durable transaction: the
	// document shows this revision and is what doc says, as which it was uploaded
	// is taken from Document.Pending, the job goes on in StageIndex. Chunks of
	// the revision before can be fetched by their ids until Finish, because an
	// index may still name them. chunks are stored first, as by PutChunks, and
	// what parsing found is recorded, as by SetParsed: a small document needs
	// one transaction only. Once more does no harm. Neither the document nor the
	// job is ready yet: Jobs.Finish says so once the search indexes have
	// followed, so that whoever sees "ready" also finds the text. ErrNotFound
	// if the document is gone, ErrConflict if the job is no longer running.
	Publish(ctx context.Context, jobID string, doc Document, chunks []Chunk) error
	// DocumentChunks lists the visible chunks of a document by ordinal, from
	// ordinal from on, at most limit. Vectors are not read.
	DocumentChunks(ctx context.Context, documentID string, from, limit int) ([]Chunk, error)
	// ChunksByID returns the chunks among ids that are visible, or were until
	// the revision now visible took their place and has not been finished, in the
	// order of ids;
	// those that do not exist are left out. Vectors are not read.
	ChunksByID(ctx context.Context, ids []string) ([]Chunk, error)
	Visible
}
