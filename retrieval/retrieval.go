// Package retrieval finds the chunks that answer a question. There is one path
// for chat, API, command line and test page: Pipeline, which rewrites the
// query, searches lexically and by vectors, fuses the scores, reranks and cuts.
//
// It knows neither models' vendors nor HTTP nor any concrete index: indexes,
// embedders, rewriters and rerankers come in through the interfaces here.
package retrieval

import (
	"context"
	"iter"
	"time"

	"ragagent/store"
)

// Mode says which rankings take part.
type Mode string

// Modes of retrieval. The zero value means Hybrid.
const (
	Hybrid  Mode = "hybrid"  // lexical and dense, fused by score
	Lexical Mode = "lexical" // words alone
	Dense   Mode = "dense"   // vectors alone
)

// Query is one question to the knowledge bases.
type Query struct {
	Text string // 1..MaxQueryBytes bytes
	// History are the earlier lines of the conversation, oldest first; a
	// rewriter may complete a follow-up question from them.
	History []Turn
	// KnowledgeBases are the ids to search, at least one.
	KnowledgeBases []string
	TopK           int     // 0 means the knowledge base's default, else DefaultTopK; at most store.MaxTopK
	ScoreThreshold float64 // hits with a lower score are dropped; 0..1
	// Filter chooses the documents that may be found; nil for all. Hits are those
	// that a search without it would give if it looked far enough, at the same
	// scores of the first stage, less those of other documents: words weigh as
	// in all of the knowledge bases. A field that no document has is told in
	// Result.Degraded.
	Filter    *store.Filter
	Mode      Mode
	NoRewrite bool // search the text as it is
	NoRerank  bool // leave the second stage out
	// Rewrite and Rerank are how; "" leaves it to the knowledge bases, of which
	// the first that says decides, and then to the pipeline.
	Rewrite store.RewriteKind
	Rerank  store.RerankKind
	// MMRLambda is what relevance weighs in store.RerankMMR, above 0 and 1 at
	// most; 0 leaves it to the knowledge bases, and then means DefaultLambda.
	MMRLambda float64
	NoFold    bool // show each of several passages that say the same
	Explain   bool // fill Hit.Explain
	// ExplainChunk is the id of a chunk or a document: Result.Standing tells what
	// became of it.
	ExplainChunk string
}

// Bounds of a query.
const (
	DefaultTopK   = 5
	MaxQueryBytes = 16 << 10
)

// Turn is one line of a conversation.
type Turn struct {
	Role string // "user" or "assistant"
	Text string
}

// Hit is one found chunk.
type Hit struct {
	store.Chunk       // without its vector
	KnowledgeBaseName string
	DocumentName      string
	Metadata          store.Metadata // of the document
	// Score is calibrated to 0..1: comparable between queries and knowledge
	// bases, about 1 for a chunk that holds everything that was asked for.
	Score float64
	// Terms are the analysed words of the query that the chunk, its title or
	// its headings hold; never nil in what Pipeline returns or reranks.
	Terms   []string
	Explain *Explanation // nil unless asked for
	// ParentText is the text of Parent, in which Text stands at the difference
	// of their spans; "" where the chunk stands for itself.
	ParentText string
	// Siblings are the other found chunks of Parent, best first: of a section
	// only the best chunk is a hit.
	Siblings []Sibling
	// AlsoIn are worse hits that say the same, best first: they are not shown
	// by themselves.
	AlsoIn []Place
}

// Result is what a query found.
type Result struct {
	Query string
	// Rewritten is the query that was searched, "" if it is Query itself.
	Rewritten string
	// Queries are all that were searched, where there were several; Rewritten
	// has them in one line.
	Queries []string
	// Passage is the made-up answer whose vector counted, "" for none.
	Passage string
	// Hits come best first; equal scores are ordered by chunk id.
	Hits []Hit
	// Terms are the analysed words of the query with their weight in the
	// searched knowledge bases: answerers weigh sentences with them.
	Terms []TermWeight
	// Routes are the knowledge bases that were searched, the likeliest first,
	// where a Router chose them of many; nil otherwise.
	Routes []Route
	// Standing is that of Query.ExplainChunk, nil if none was asked about.
	Standing *Standing
	// Degraded names the stages that failed and were left out, with the reason.
	Degraded []string
	Elapsed  time.Duration
	Timings  Timings // of the stages
}

// TermWeight is one word of a query after analysis.
type TermWeight struct {
	Term string  `json:"term"`
	IDF  float64 `json:"idf"` // ln(1 + (N - df + .5)/(df + .5))
	DF   int     `json:"df"`  // chunks that hold it; 0 for an unknown word
}

// Explanation is a score as a tree: a node's value follows from its details.
type Explanation struct {
	Label   string        `json:"label"`
	Value   float64       `json:"value"`
	Details []Explanation `json:"details,omitempty"`
}

// Retriever is implemented by Pipeline and by everything that wraps it.
// Retrieve may be called concurrently. Bad input is store.ErrInvalid with the
// field named, an unknown knowledge base store.ErrNotFound.
type Retriever interface {
	Retrieve(ctx context.Context, q Query) (Result, error)
}

// Rewriter turns a question into the query that is searched. It returns the
// text unchanged where it has nothing better; an error leaves the query as it
// was and is reported as degraded.
type Rewriter interface {
	Rewrite(ctx context.Context, text string, history []Turn) (string, error)
}

// Reranker orders the candidates anew. query is what was searched, with its
// spelling repaired. It may change scores (kept in 0..1) and
// order, and owns the slice it is given; it adds no hit. An error leaves the
// order as it was and is reported as degraded.
type Reranker interface {
	Rerank(ctx context.Context, query string, hits []Hit) ([]Hit, error)
}

// Embedder turns texts into vectors. Both methods may be called concurrently.
type Embedder interface {
	// Embed returns one vector per text, same order, length Dim(), L2 norm 1;
	// nil for a text the embedder has nothing to say about.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery is Embed for a question, which some models prefix differently.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
	Dim() int
	// Name is "provider/name", as in the settings.
	Name() string
	// Fingerprint identifies the vector space: model, dimension, prefixes.
	Fingerprint() string
}

// Indexer keeps the search indexes in step with the truth. Index implements it
// and ingest calls it. A change is visible to every query that starts after
// the method returned, wholly or not at all.
type Indexer interface {
	// Load replaces everything known of a knowledge base, at start or to rebuild.
	Load(ctx context.Context, kb store.KnowledgeBase, chunks iter.Seq2[store.Chunk, error]) error
	// Replace puts the chunks of a document, with vectors, in the place of
	// those the index has of it. No chunks removes the document.
	Replace(ctx context.Context, kb store.KnowledgeBase, documentID string, chunks iter.Seq2[store.Chunk, error]) error
	// Remove takes documents out: what Replace without chunks does to each, in
	// one step for all of them.
	Remove(ctx context.Context, kbID string, documentIDs []string) error
	// Drop forgets a knowledge base.
	Drop(ctx context.Context, kbID string) error
}
