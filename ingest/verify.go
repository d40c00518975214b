package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"ragagent/store"
)

// Report is what Verify looked at and found.
type Report struct {
	KnowledgeBases int       `json:"knowledge_bases"`
	Documents      int       `json:"documents"`
	Chunks         int       `json:"chunks"`
	Vectors        int       `json:"vectors"`
	Blobs          int       `json:"blobs"`
	Problems       []Problem `json:"problems"`
}

// Problem is one thing that is not as it should be.
type Problem struct {
	Where  string `json:"where"` // what it concerns, for example "document doc_..."
	Detail string `json:"detail"`
}

// maxProblems ends a report that would only repeat itself.
const maxProblems = 1000

// Checker is implemented by record stores that can check themselves.
type Checker interface {
	Check(ctx context.Context) (problems []string, err error)
}

// Inspector is implemented by indexers that can say what they hold.
type Inspector interface {
	// Contents returns the ids of the chunks that can be found by words and by
	// vector, each ascending. store.ErrNotFound if the knowledge base is not loaded.
	Contents(ctx context.Context, kbID string) (words, vectors []string, err error)
}

// Verify compares everything with everything: the records with themselves,
// chunks with the texts they were cut from, vectors with their space, the
// search indexes with the records, blobs with their names and with who refers
// to them. It changes nothing. Load has been called before.
func (s *Service) Verify(ctx context.Context) (Report, error) {
	v := &verifier{Service: s, used: map[string]string{}, report: Report{Problems: []Problem{}}}
	if c, ok := s.cfg.Records.(Checker); ok {
		problems, err := c.Check(ctx)
		if err != nil {
			return v.report, fmt.Errorf("check the records: %w", err)
		}
		for _, p := range problems {
			v.problem("records", "%s", p)
		}
	}
	if err := s.eachKnowledgeBase(ctx, func(kb store.KnowledgeBase) error { return v.knowledgeBase(ctx, kb) }); err != nil {
		return v.report, err
	}
	return v.report, v.blobs(ctx)
}

type verifier struct {
	*Service
	report Report
	used   map[string]string // blob -> who refers to it
}

func (v *verifier) problem(where, format string, args ...any) {
	if len(v.report.Problems) < maxProblems {
		v.report.Problems = append(v.report.Problems, Problem{Where: where, Detail: fmt.Sprintf(format, args...)})
	}
}

func (v *verifier) knowledgeBase(ctx context.Context, kb store.KnowledgeBase) error {
	v.report.KnowledgeBases++
	var words, vectors []string
	page := store.Page{Limit: store.MaxPage}
	for {
		docs, err := v.cfg.Records.Documents(ctx, kb.ID, page)
		if err != nil {
			return fmt.Errorf("list documents of %q: %w", kb.Name, err)
		}
		for _, d := range docs {
			w, vec, err := v.document(ctx, kb, d)
			if err != nil {
				return err
			}
			words, vectors = append(words, w...), append(vectors, vec...)
		}
		if len(docs) < page.Size() {
			break
		}
		page.After = docs[len(docs)-1].ID
	}
	return v.index(ctx, kb, words, vectors)
}

// document checks one document and returns the ids of its visible chunks and of
// those that have a vector.
func (v *verifier) document(ctx context.Context, kb store.KnowledgeBase, doc store.Document) (words, vectors []string, err error) {
	v.report.Documents++
	where := "document " + doc.ID
	v.used[doc.SHA256] = where
	var text []byte
	if doc.TextSHA256 != "" {
		v.used[doc.TextSHA256] = where
		if text, err = v.text(ctx, doc); err != nil {
			v.problem(where, "its text cannot be read: %v", err)
		}
	}
	next := 0
	for c, err := range v.cfg.Records.VisibleChunks(ctx, kb.ID, doc.ID) {
		if err != nil {
			return nil, nil, fmt.Errorf("read the chunks of %s: %w", doc.ID, err)
		}
		v.report.Chunks++
		v.chunk(c, next, text)
		next++
		words = append(words, c.ID)
		if c.Vector != nil {
			v.report.Vectors++
			vectors = append(vectors, c.ID)
			v.vector(c)
		}
	}
	if doc.Status == store.StatusReady && next != doc.ChunkCount {
		v.problem(where, "has %d chunks, its record says %d", next, doc.ChunkCount)
	}
	if doc.Status == store.StatusReady && next == 0 {
		v.problem(where, "is ready without a chunk")
	}
	return words, vectors, nil
}

func (v *verifier) text(ctx context.Context, doc store.Document) ([]byte, error) {
	blob, err := v.cfg.Blobs.Open(ctx, doc.TextSHA256)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	return io.ReadAll(blob)
}

func (v *verifier) chunk(c store.Chunk, ordinal int, text []byte) {
	where := "chunk " + c.ID
	switch {
	case c.Ordinal != ordinal:
		v.problem(where, "has ordinal %d where %d is due", c.Ordinal, ordinal)
	case c.ID != store.ChunkID(c.DocumentID, c.Revision, c.Ordinal, c.Text):
		v.problem(where, "its id does not belong to its content")
	case text == nil:
	case c.Span.Start < 0 || c.Span.End > len(text) || c.Span.Start >= c.Span.End:
		v.problem(where, "its span %d..%d is outside of the text of %d bytes", c.Span.Start, c.Span.End, len(text))
	case string(text[c.Span.Start:c.Span.End]) != c.Text:
		v.problem(where, "it is not what stands at its span in the document's text")
	}
}

// normTolerance is how far a stored vector's L2 norm may be from 1.
const normTolerance = 1e-4

func (v *verifier) vector(c store.Chunk) {
	where := "chunk " + c.ID
	if len(c.Vector) != v.cfg.Embedder.Dim() {
		v.problem(where, "its vector has %d dimensions, the embedder has %d", len(c.Vector), v.cfg.Embedder.Dim())
		return
	}
	var sum float64
	for _, x := range c.Vector {
		sum += float64(x) * float64(x)
	}
	if norm := math.Sqrt(sum); !(math.Abs(norm-1) <= normTolerance) { // also true for NaN
		v.problem(where, "its vector has norm %g instead of 1", norm)
	}
}

// index compares what can be found with what should be.
func (v *verifier) index(ctx context.Context, kb store.KnowledgeBase, words, vectors []string) error {
	inspector, ok := v.cfg.Indexer.(Inspector)
	if !ok {
		return nil
	}
	haveWords, haveVectors, err := inspector.Contents(ctx, kb.ID)
	if err != nil {
		return fmt.Errorf("inspect the index of %q: %w", kb.Name, err)
	}
	v.compare(kb, "lexical index", words, haveWords)
	v.compare(kb, "vector index", vectors, haveVectors)
	return nil
}

func (v *verifier) compare(kb store.KnowledgeBase, index string, want, have []string) {
	slices.Sort(want)
	slices.Sort(have)
	for len(want) > 0 || len(have) > 0 {
		switch {
		case len(have) == 0 || len(want) > 0 && want[0] < have[0]:
			v.problem("knowledge base "+kb.Name, "the %s lacks chunk %s", index, want[0])
			want = want[1:]
		case len(want) == 0 || have[0] < want[0]:
			v.problem("knowledge base "+kb.Name, "the %s holds chunk %s, which is gone", index, have[0])
			have = have[1:]
		default:
			want, have = want[1:], have[1:]
		}
	}
}

// blobs checks every blob against its name, and that each is wanted and there.
func (v *verifier) blobs(ctx context.Context) error {
	for hash, err := range v.cfg.Blobs.List(ctx) {
		if err != nil {
			return fmt.Errorf("list blobs: %w", err)
		}
		v.report.Blobs++
		if _, ok := v.used[hash]; !ok {
			v.problem("blob "+hash, "nothing refers to it")
		}
		delete(v.used, hash)
		got, err := v.hash(ctx, hash)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			v.problem("blob "+hash, "cannot be read: %v", err)
		case got != hash:
			v.problem("blob "+hash, "its content has changed: it now hashes to %s", got)
		}
	}
	for _, hash := range slices.Sorted(maps.Keys(v.used)) {
		v.problem(v.used[hash], "its blob %s is missing", hash)
	}
	return nil
}

func (v *verifier) hash(ctx context.Context, name string) (string, error) {
	blob, err := v.cfg.Blobs.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer blob.Close()
	h := sha256.New()
	if _, err := io.Copy(h, blob); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
