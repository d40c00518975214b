// Package ingest brings documents from upload to search and out again: it owns
// knowledge bases, documents and jobs. It knows nothing of searching or chat;
// the search indexes are told of changes through Indexer.
package ingest

import (
	"context"
	"io"
	"iter"

	"ragagent/ingest/fetch"
	"ragagent/ingest/parse"
	"ragagent/store"
)

// Records is the part of the record store that ingestion uses.
type Records interface {
	store.KnowledgeBases
	store.Documents
	store.Chunks
	store.Jobs
	store.EmbedderChanges
	store.Addresses
	// ReferencedBlobs yields the hash of every blob that a document refers to,
	// each once, ascending.
	ReferencedBlobs(ctx context.Context) iter.Seq2[string, error]
	// DroppedBlobs lists the hashes that documents have ceased to refer to, by
	// the oldest deletions that ForgetDropped was not told of, limit at most;
	// upTo stands for the last of them, 0 for none. They may be in use again.
	DroppedBlobs(ctx context.Context, limit int) (hashes []string, upTo int64, err error)
	ForgetDropped(ctx context.Context, upTo int64) error
}

// Embedder turns texts into vectors: one per text, same order, L2 norm 1, nil
// for a text it has nothing to say about. It may be called concurrently.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Dim() int
	Name() string
	Fingerprint() string
}

// Indexer is told what became visible; retrieval.Index implements it.
type Indexer interface {
	Load(ctx context.Context, kb store.KnowledgeBase, chunks iter.Seq2[store.Chunk, error]) error
	Replace(ctx context.Context, kb store.KnowledgeBase, documentID string, chunks iter.Seq2[store.Chunk, error]) error
	Remove(ctx context.Context, kbID string, documentIDs []string) error
	Drop(ctx context.Context, kbID string) error
}

// Parser turns a file into structured text. name is a hint only.
type Parser interface {
	Parse(ctx context.Context, name string, file store.Blob) (parse.Text, error)
}

// TellingParser is implemented by parsers that tell how far they are, in
// whatever units: total is 0 while it is unknown.
type TellingParser interface {
	ParseTold(ctx context.Context, name string, file store.Blob, tell func(done, total int)) (parse.Text, error)
}

// Fetcher gets pages from URLs; *fetch.Fetcher implements it.
type Fetcher interface {
	Fetch(ctx context.Context, req fetch.Request) (*fetch.Response, error)
	Crawl(ctx context.Context, req fetch.CrawlRequest) iter.Seq2[fetch.Page, error]
}

// Upload is one file or text to be added.
type Upload struct {
	Name string // shown to users; any folder in it is cut off
	// Path is where it comes from, relative and slash-separated; "" stands for
	// Name with its folders. What comes from the same path of the same origin
	// again is the next revision of its document.
	Path     string
	Origin   string         // who keeps the path, see store.Source; "" by hand
	Title    string         // "" lets the parser find one
	MIME     string         // a hint; the content decides
	Body     io.Reader      // read to its end, at most Config.MaxFileBytes
	Metadata store.Metadata // nil leaves what was given with an earlier revision
}

// Submitted says what became of an upload.
type Submitted struct {
	Document store.Document
	Source   store.Source // that stands for Document now
	Job      store.Job
	// DuplicateOf is the id of the document that has the same bytes, or is about
	// to have them, which is also Document; "" for a new one or a new revision.
	DuplicateOf string
}
