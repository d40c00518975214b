package eval

import (
	"context"
	"crypto/sha256"
	"iter"
	"maps"
	"path/filepath"
	"slices"
)

// Document is one document of a corpus.
type Document struct {
	ID    string
	Title string // may be empty
	Text  string // may be empty: some collections have such documents
}

// MaxDocuments bounds a corpus: of every document 16 bytes stay in memory
// until the pass is over, to find ids that come twice.
const MaxDocuments = 10_000_000

// Corpus streams the documents of a collection. It is not for concurrent use.
type Corpus struct {
	path    string
	qrels   Qrels
	missing []string
	count   int
}

// Corpus returns the documents of d, which must not be ByPage.
func (d *Dataset) Corpus() *Corpus {
	return &Corpus{path: filepath.Join(d.Dir, corpusFile), qrels: d.Qrels}
}

// Documents yields the documents in the order of the file, one in memory at a
// time. It may be called again. It stops after the first error: a LineError
// for a line that is no document or an id that was there before, ctx's error
// once ctx is done.
func (c *Corpus) Documents(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		missing := c.relevant()
		seen := map[[16]byte]struct{}{}
		for rec, err := range records(c.path) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = firstSight(seen, rec)
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			delete(missing, rec.ID)
			if !yield(Document{ID: rec.ID, Title: rec.Title, Text: rec.Text}, nil) {
				return
			}
		}
		c.missing = slices.Sorted(maps.Keys(missing))
		c.count = len(seen)
	}
}

// firstSight notes the id of rec in seen; one that is in it already is an error.
func firstSight(seen map[[16]byte]struct{}, rec record) error {
	sum := sha256.Sum256([]byte(rec.ID))
	key := [16]byte(sum[:16])
	if _, ok := seen[key]; ok {
		return rec.at.invalid("document %q is in the corpus already", rec.ID)
	}
	if len(seen) == MaxDocuments {
		return rec.at.invalid("more than %d documents", MaxDocuments)
	}
	seen[key] = struct{}{}
	return nil
}

// relevant returns the ids of all documents that are relevant to any query.
func (c *Corpus) relevant() map[string]struct{} {
	ids := map[string]struct{}{}
	for _, judged := range c.qrels {
		for id, grade := range judged {
			if grade > 0 {
				ids[id] = struct{}{}
			}
		}
	}
	return ids
}

// Count returns the number of documents met in the last complete pass.
func (c *Corpus) Count() int { return c.count }

// Missing returns the ids of relevant documents that the last complete pass
// did not meet, in ascending order. No system can find them, so they lower
// every figure alike.
func (c *Corpus) Missing() []string { return c.missing }
