package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"ragagent/store"
)

// document checks one document and adds its visible chunks to ids. Its error
// is that of ctx only.
func (v *verifier) document(ctx context.Context, kb store.KnowledgeBase, doc store.Document, ids *contents) error {
	v.report.Documents++
	where := fmt.Sprintf("document %s (%s in %s)", doc.ID, doc.Name, kb.Name)
	for _, hash := range doc.Blobs() {
		v.used[hash] = where
	}
	var text []byte
	if doc.TextSHA256 != "" {
		text = v.text(ctx, doc) // what is wrong with the blob is said where blobs are checked
	}
	count := 0
	for c, err := range v.cfg.Records.VisibleChunks(ctx, kb.ID, doc.ID) {
		if err != nil {
			v.problem(where, actOriginal, "its chunks cannot be read behind the first %d: %v", count, err)
			return ctx.Err()
		}
		v.report.Chunks++
		v.chunk(ctx, where, c, count, text)
		count++
		ids.words = append(ids.words, c.ID)
		if c.Vector != nil {
			v.report.Vectors++
			ids.vectors = append(ids.vectors, c.ID)
		}
	}
	if doc.Status == store.StatusReady && (count != doc.ChunkCount || count == 0) {
		v.problem(where, actOriginal, "has %d chunks, its record says %d", count, doc.ChunkCount)
	}
	return ctx.Err()
}

// text is a document's normalised text, nil if it is missing or damaged.
func (v *verifier) text(ctx context.Context, doc store.Document) []byte {
	blob, err := v.cfg.Blobs.Open(ctx, doc.TextSHA256)
	if err != nil {
		return nil
	}
	defer blob.Close()
	if blob.Size() != doc.TextBytes {
		return nil
	}
	raw, err := io.ReadAll(blob)
	if err != nil {
		return nil
	}
	return raw
}

func (v *verifier) chunk(ctx context.Context, where string, c store.Chunk, ordinal int, text []byte) {
	report := func(format string, args ...any) {
		v.problem(where, actOriginal, "chunk %d (%s): %s", ordinal, c.ID, fmt.Sprintf(format, args...))
	}
	err := soundChunk(c)
	switch {
	case c.Ordinal != ordinal:
		report("it says to be number %d", c.Ordinal)
	case err != nil:
		report("%v", err)
	case text == nil:
	case c.Span.End > len(text):
		report("its span %d..%d is outside of the text of %d bytes", c.Span.Start, c.Span.End, len(text))
	case c.Parent.End > len(text):
		report("its section %d..%d is outside of the text of %d bytes", c.Parent.Start, c.Parent.End, len(text))
	case string(text[c.Span.Start:c.Span.End]) != c.Text:
		report("it is not what stands at its span in the document's text")
	}
	if c.Vector != nil {
		if err := v.vector(ctx, c); err != nil {
			report("%v", err)
		}
	}
}

// soundChunk checks a chunk by itself: its id is made from its place and text.
func soundChunk(c store.Chunk) error {
	switch {
	case c.Span.Start < 0 || c.Span.Len() != len(c.Text) || c.Text == "":
		return fmt.Errorf("its span %d..%d does not hold its text of %d bytes", c.Span.Start, c.Span.End, len(c.Text))
	case c.Parent != (store.Section{}) && !c.Parent.Holds(c.Span):
		return fmt.Errorf("its section %d..%d does not hold its span %d..%d", c.Parent.Start, c.Parent.End, c.Span.Start, c.Span.End)
	case c.ID != store.ChunkID(c.DocumentID, c.Revision, c.Ordinal, c.Text):
		return errors.New("its text is not the one it was stored with")
	}
	return nil
}

// Tolerances of stored vectors.
const (
	normTolerance   = 1e-4 // of the L2 norm, from 1
	cosineTolerance = 1e-4 // of the cosine with the same vector in the index, from 1
)

// apart says that nothing of a knowledge base is in the indexes.
func (v *verifier) apart(kbID string) bool { return v.Quarantined(kbID) != nil }

func (v *verifier) vector(ctx context.Context, c store.Chunk) error {
	if dim := v.dims[c.KnowledgeBaseID]; dim == 0 {
		v.dims[c.KnowledgeBaseID] = len(c.Vector) // records of before it was written down
	} else if len(c.Vector) != dim {
		return fmt.Errorf("its vector has %d dimensions, those of its knowledge base have %d", len(c.Vector), dim)
	}
	var sum float64
	for _, x := range c.Vector {
		sum += float64(x) * float64(x)
	}
	if norm := math.Sqrt(sum); !(math.Abs(norm-1) <= normTolerance) { // also true for NaN
		return fmt.Errorf("its vector has norm %g instead of 1", norm)
	}
	inspector, ok := v.cfg.Indexer.(Inspector)
	if !ok || v.apart(c.KnowledgeBaseID) {
		return nil
	}
	cosine, err := inspector.Cosine(ctx, c.KnowledgeBaseID, c)
	if err != nil {
		return err
	}
	if cosine != 0 && math.Abs(cosine-1) > cosineTolerance { // 0: compare says that it is missing
		return fmt.Errorf("the vector index has another vector for it: their cosine is %g", cosine)
	}
	return nil
}
