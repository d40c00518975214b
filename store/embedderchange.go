package store

import (
	"context"
	"iter"
	"time"
)

// EmbedderChange is a second set of vectors of a knowledge base, beside those
// that are searched: of the embedder it is to get, while it is filled and until
// it is switched to, and then of the embedder it had. Both directions of the
// switch exchange the two sets, and no vector moves.
type EmbedderChange struct {
	ID              string // of the job that fills the set, "job_..."
	KnowledgeBaseID string
	State           ChangeState
	// Embedder, Fingerprint and Dimension are those of the second set.
	Embedder    string
	Fingerprint string
	Dimension   int
	// Auto switches as soon as the set is complete.
	Auto bool
	// Compare asks for a comparison when the set is complete; Questions are what
	// is asked for it, none: questions drafted from the chunks.
	Compare    bool
	Questions  []JudgedQuestion
	Comparison *Comparison // nil until it was made
	Done       int         // chunks that have a vector of the second set, or none to get
	Total      int         // visible chunks
	Error      string      // why it failed, or why the switch could not be made
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// ChangeState is where a change of the embedder stands.
type ChangeState string

// The life of a change. The second set follows the documents in all of them
// but the last two.
const (
	ChangeFilling    ChangeState = "filling"
	ChangeReady      ChangeState = "ready_to_switch"
	ChangeSwitched   ChangeState = "switched"   // the second set is the old one now
	ChangeFailed     ChangeState = "failed"     // can be taken up again
	ChangeDiscarding ChangeState = "discarding" // the second set is being removed, the change after it
)

// JobReembed is the kind of the job that fills the second set of a change.
const JobReembed = "reembed"

// Job is a change as the list of jobs has it: it ends when the set is complete.
func (c EmbedderChange) Job() Job {
	j := Job{
		ID: c.ID, Kind: JobReembed, KnowledgeBaseID: c.KnowledgeBaseID, Error: c.Error, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		StartedAt: c.CreatedAt, Progress: Progress{Stage: StageEmbed, Done: c.Done, Total: c.Total},
	}
	switch c.State {
	case ChangeFilling:
		j.Status = StatusRunning
	case ChangeReady, ChangeSwitched:
		j.Status = StatusReady
	case ChangeFailed:
		j.Status = StatusFailed
	case ChangeDiscarding:
		j.Status = StatusCancelled
	}
	return j
}

// JudgedQuestion is a question with what is known of its answers.
type JudgedQuestion struct {
	Text string `json:"text"`
	// Relevant are grades of documents, by id, 1 or more; none: not judged.
	Relevant map[string]int `json:"relevant,omitempty"`
}

// Comparison says how the answers of two embedders differ. Overlaps are means
// over the questions of the share of the old ten best that is among the new.
type Comparison struct {
	Questions int     `json:"questions"`
	Overlap   float64 `json:"overlap_at_10"`       // of the ranking that users get
	Dense     float64 `json:"dense_overlap_at_10"` // of the nearest vectors alone
	SameFirst float64 `json:"same_first"`          // share of questions with the same best hit
	// Judged is how many questions have judgements; the nDCG at 10 over their
	// documents is with the old embedder and with the new one.
	Judged  int     `json:"judged"`
	OldNDCG float64 `json:"old_ndcg_at_10"`
	NewNDCG float64 `json:"new_ndcg_at_10"`
}

// Place is where a chunk stands in the order of a knowledge base: by document
// and ordinal. The zero place is before all.
type Place struct {
	DocumentID string
	Ordinal    int
}

// EmbedderChanges keeps the second sets of vectors. All methods may be called
// concurrently.
type EmbedderChanges interface {
	// BeginEmbedderChange stores a change, in ChangeFilling and without vectors.
	// A change of the same knowledge base that has been switched is discarded
	// for it; any other that is there is ErrConflict. ErrNotFound if there is no
	// such knowledge base.
	BeginEmbedderChange(ctx context.Context, c EmbedderChange) error
	// EmbedderChange returns the change of a knowledge base, by its id, that is
	// not being discarded. ErrNotFound.
	EmbedderChange(ctx context.Context, kb string) (EmbedderChange, error)
	// EmbedderChanges lists all, also those that are being discarded.
	EmbedderChanges(ctx context.Context) ([]EmbedderChange, error)
	// UpdateEmbedderChange lets edit change what is stored under an id: state,
	// progress, comparison and error. Its error is returned wrapped, and nothing
	// has changed then. ErrNotFound.
	UpdateEmbedderChange(ctx context.Context, id string, edit func(*EmbedderChange) error) (EmbedderChange, error)
	// MissingVectors lists visible chunks behind a place that the second set has
	// nothing of, in their order, at most limit; those of one document, unless
	// that is "". Vectors are not read.
	MissingVectors(ctx context.Context, id, document string, after Place, limit int) ([]Chunk, error)
	// CountMissing counts them, and all visible chunks: it looks at every one.
	CountMissing(ctx context.Context, id string) (missing, visible int, err error)
	// PutVectors stores vectors of the second set under their chunks' ids, in
	// one durable transaction, and the progress: a nil vector says that there is
	// none. Chunks that are gone are left out, what is there is left. ErrInvalid
	// for a bad vector, ErrConflict if the change is being discarded.
	PutVectors(ctx context.Context, id string, entries []VectorEntry, done, total int) error
	// ChangeVectors yields the vectors of the second set of visible chunks, as
	// VisibleVectors does those of the first.
	ChangeVectors(ctx context.Context, id string) iter.Seq2[VectorEntry, error]
	// SwitchEmbedder exchanges the two sets in one durable transaction: from a
	// change in ChangeReady to ChangeSwitched and back. Chunks that no job has
	// published yet are removed: they have no vectors of the other set.
	// ErrConflict in another state, or if the second set lacks a visible chunk.
	SwitchEmbedder(ctx context.Context, id string) (KnowledgeBase, error)
	// ClearVectors removes the vectors of a change in ChangeDiscarding, some
	// hundreds in a transaction, and then the change. One that has ended before
	// that goes on when it is called again. ErrNotFound; ErrConflict in another
	// state.
	ClearVectors(ctx context.Context, id string) error
	// SampleChunks returns at most n visible chunks from all over a knowledge base.
	SampleChunks(ctx context.Context, kb string, n int) ([]Chunk, error)
}
