package store

import (
	"context"
	"time"
)

// KnowledgeBase is a named set of documents with its own settings.
type KnowledgeBase struct {
	ID          string // "kb_..."
	Name        string // 1..MaxName bytes, unique, compared as written
	Description string
	Embedder    string // "provider/name"; its vectors carry Fingerprint
	// Fingerprint identifies the space the vectors live in (model, dimension,
	// prefixes). Vectors of another fingerprint are never mixed in.
	Fingerprint string
	Dimension   int // of the vectors; 0 in records of versions that did not keep it
	Chunking    Chunking
	Retrieval   RetrievalSettings
	CreatedAt   time.Time
	UpdatedAt   time.Time

	// Counted by the store on reading, ignored on writing.
	DocumentCount int // documents of any status
	ChunkCount    int // chunks that are visible to search
}

// MaxName is the length limit of names, in bytes.
const MaxName = 255

// Chunking says how texts are cut. Sizes are tokens as ingest/chunk counts them.
type Chunking struct {
	Strategy ChunkingStrategy `json:"strategy,omitempty"` // "" means ChunkingStructure
	Size     int              `json:"size"`               // 0 means the default; else 32..4096
	// Overlap is how many tokens are repeated, 0..Size/2: by ChunkingStructure
	// where a block had to be cut, by the others at every cut.
	Overlap int            `json:"overlap"`
	Parent  ParentChunking `json:"parent,omitzero"`
}

// ParentChunking asks for small chunks that are searched and larger sections
// that are shown in their place.
type ParentChunking struct {
	Size int `json:"size"` // of a section; 0 means none, else Chunking.Size+1..8192
}

// ChunkingStrategy is what a text is cut by.
type ChunkingStrategy string

// Strategies of chunking.
const (
	// ChunkingStructure goes by sections, pages, blocks and then sentences.
	ChunkingStructure ChunkingStrategy = "structure"
	// ChunkingSentence fills chunks with whole sentences and rows.
	ChunkingSentence ChunkingStrategy = "sentence"
	// ChunkingFixed fills chunks with words up to the size.
	ChunkingFixed ChunkingStrategy = "fixed"
)

// RetrievalSettings are a knowledge base's defaults for questions that do not say.
type RetrievalSettings struct {
	TopK           int     `json:"top_k"`           // 0 means the default; else 1..MaxTopK
	ScoreThreshold float64 `json:"score_threshold"` // 0..1; hits below are dropped
	// Rewrite and Rerank are kinds; "" means the server's.
	Rewrite RewriteKind `json:"rewrite,omitempty"`
	Rerank  RerankKind  `json:"rerank,omitempty"`
	// MMRLambda is what relevance weighs in RerankMMR, 0..1; 0 means the default.
	MMRLambda float64 `json:"mmr_lambda,omitempty"`
}

// MaxTopK bounds the hits of one retrieval.
const MaxTopK = 1000

// KnowledgeBases keeps knowledge bases. All methods may be called concurrently.
type KnowledgeBases interface {
	// CreateKnowledgeBase stores kb, whose ID and times the caller has set.
	// ErrConflict if the name is taken.
	CreateKnowledgeBase(ctx context.Context, kb KnowledgeBase) error
	// KnowledgeBase finds one by id, else by name. ErrNotFound.
	KnowledgeBase(ctx context.Context, idOrName string) (KnowledgeBase, error)
	// KnowledgeBases lists them.
	KnowledgeBases(ctx context.Context, page Page) ([]KnowledgeBase, error)
	// UpdateKnowledgeBase lets change edit what is stored under an id, else a
	// name, and returns what is stored now. Reading and writing are one
	// transaction: of two updates at once the second sees what the first did.
	// Name, description, settings and UpdatedAt can be changed; the embedder
	// and its fingerprint stay those of the vectors, all else is ignored.
	// change must not call the store and may be called again; its error is
	// returned wrapped, and nothing has changed then. ErrNotFound, ErrConflict
	// if the new name is taken.
	UpdateKnowledgeBase(ctx context.Context, idOrName string, change func(*KnowledgeBase) error) (KnowledgeBase, error)
	// DeleteKnowledgeBase removes it with its documents, chunks and jobs in one
	// transaction. ErrNotFound. Blobs are removed by whoever keeps them.
	DeleteKnowledgeBase(ctx context.Context, id string) error
}
