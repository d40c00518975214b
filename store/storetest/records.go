package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// Records is everything a record store keeps.
type Records interface {
	store.KnowledgeBases
	store.Documents
	store.Chunks
	store.Jobs
	store.Addresses
	store.EmbedderChanges
	store.Conversations
	store.Runs
	store.Checkpoints
	store.Evaluations
}

// TestRecords runs the suite of every record contract. open returns an empty
// store that is closed by a cleanup of t.
func TestRecords(t *testing.T, open func(t *testing.T) Records) {
	t.Run("KnowledgeBases", func(t *testing.T) { testKnowledgeBases(t, open) })
	t.Run("Documents", func(t *testing.T) { testDocuments(t, open) })
	t.Run("Chunks", func(t *testing.T) { testChunks(t, open) })
	t.Run("Revisions", func(t *testing.T) { testRevisions(t, open) })
	t.Run("Sources", func(t *testing.T) { testSources(t, open) })
	t.Run("Publish", func(t *testing.T) { testPublish(t, open) })
	t.Run("Lease", func(t *testing.T) { testLease(t, open) })
	t.Run("Jobs", func(t *testing.T) { testJobs(t, open) })
	t.Run("Addresses", func(t *testing.T) { testAddresses(t, open) })
	t.Run("EmbedderChanges", func(t *testing.T) { testEmbedderChanges(t, open) })
	t.Run("Conversations", func(t *testing.T) { testConversations(t, open) })
	t.Run("Checkpoints", func(t *testing.T) { testCheckpoints(t, open) })
	t.Run("Evaluations", func(t *testing.T) { testEvaluations(t, open) })
	t.Run("Pages", func(t *testing.T) { testPages(t, open) })
}

// fixture is a store and what a test puts into it.
type fixture struct {
	Records
	t   *testing.T
	ctx context.Context
}

func newFixture(t *testing.T, open func(t *testing.T) Records) fixture {
	t.Helper()
	return fixture{Records: open(t), t: t, ctx: t.Context()}
}

// at is a point in time, to the nanosecond as a clock would give it.
func at(minutes int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC).Add(time.Duration(minutes) * time.Minute)
}

func (f fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f fixture) wantErr(err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Errorf("error is %v, want %v", err, want)
	}
}

func (f fixture) equal(what string, want, got any) {
	f.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func sampleKnowledgeBase(id, name string) store.KnowledgeBase {
	return store.KnowledgeBase{
		ID: id, Name: name, Description: "what is in it", Embedder: "builtin/static", Fingerprint: "static-256-v1",
		Chunking:  store.Chunking{Size: 400, Overlap: 40},
		Retrieval: store.RetrievalSettings{TopK: 7, ScoreThreshold: 0.25},
		CreatedAt: at(0), UpdatedAt: at(1),
	}
}

func (f fixture) addKnowledgeBase(id string) store.KnowledgeBase {
	f.t.Helper()
	kb := sampleKnowledgeBase(id, "name of "+id)
	f.must(f.CreateKnowledgeBase(f.ctx, kb))
	return kb
}

// hash is a stand-in for the SHA-256 of the n-th content.
func hash(n int) string { return fmt.Sprintf("%064x", n) }

func sampleDocument(kb string, n int) store.Document {
	return store.Document{
		ID: fmt.Sprintf("doc_%04d", n), KnowledgeBaseID: kb, Name: fmt.Sprintf("file %d.pdf", n), Title: "given",
		Status: store.StatusQueued, MIME: "application/pdf", Bytes: int64(1000 + n), SHA256: hash(n),
		Metadata: store.Metadata{
			"author": "Ada", "year": 1843.0, "draft": false, "tags": []string{"notes", "engine"}, "none": []string{},
		},
		Sources:   []store.Source{{Path: fmt.Sprintf("file %d.pdf", n)}},
		CreatedAt: at(2), UpdatedAt: at(3),
	}
}

func sampleJob(doc store.Document, n int) store.Job {
	return store.Job{
		ID: fmt.Sprintf("job_%04d", n), Kind: store.JobIngest, KnowledgeBaseID: doc.KnowledgeBaseID, DocumentID: doc.ID,
		Revision: 1, Status: store.StatusQueued, CreatedAt: at(4), UpdatedAt: at(5),
	}
}

func (f fixture) add(doc store.Document, job store.Job) store.Added {
	f.t.Helper()
	added, err := f.AddDocument(f.ctx, doc, job)
	f.must(err)
	return added
}

// queue adds the n-th document with its job.
func (f fixture) queue(kb string, n int) (store.Document, store.Job) {
	f.t.Helper()
	added := f.add(sampleDocument(kb, n), sampleJob(sampleDocument(kb, n), n))
	if added.Duplicate {
		f.t.Fatalf("document %d is a duplicate of %s", n, added.Document.ID)
	}
	return added.Document, added.Job
}

// start queues the n-th document and leases its job.
func (f fixture) start(kb string, n int) (store.Document, store.Job) {
	f.t.Helper()
	doc, queued := f.queue(kb, n)
	job, err := f.Lease(f.ctx, at(10), time.Minute)
	f.must(err)
	if job.ID != queued.ID {
		f.t.Fatalf("leased %s, want %s", job.ID, queued.ID)
	}
	return doc, job
}

// parsed is the document as a worker knows it after parsing.
func parsed(doc store.Document) store.Document {
	doc.Title, doc.MIME = "found", "text/markdown"
	doc.TextSHA256, doc.TextBytes, doc.Pages = hash(1_000_000+len(doc.ID)), 1<<20, 3
	doc.Warnings = []string{"page 2 has no text"}
	return doc
}

// finish brings the n-th document to ready with the given number of chunks.
func (f fixture) finish(kb string, n, chunks int) (store.Document, store.Job) {
	f.t.Helper()
	doc, job := f.start(kb, n)
	f.must(f.Publish(f.ctx, job.ID, parsed(doc), sampleChunks(doc, 1, 0, chunks)))
	f.must(f.Finish(f.ctx, job.ID))
	return f.document(doc.ID), f.job(job.ID)
}

func (f fixture) document(id string) store.Document {
	f.t.Helper()
	doc, err := f.Document(f.ctx, "", id)
	f.must(err)
	return doc
}

func (f fixture) job(id string) store.Job {
	f.t.Helper()
	job, err := f.Job(f.ctx, id)
	f.must(err)
	return job
}

func (f fixture) knowledgeBase(id string) store.KnowledgeBase {
	f.t.Helper()
	kb, err := f.KnowledgeBase(f.ctx, id)
	f.must(err)
	return kb
}

// sampleChunks returns n chunks from an ordinal on; every third has no vector.
func sampleChunks(doc store.Document, revision, from, n int) []store.Chunk {
	chunks := make([]store.Chunk, n)
	for i := range chunks {
		ordinal := from + i
		text := fmt.Sprintf("text %d of %s, revision %d: größer als 0\x00.", ordinal, doc.ID, revision)
		c := store.Chunk{
			ID: store.ChunkID(doc.ID, revision, ordinal, text), KnowledgeBaseID: doc.KnowledgeBaseID, DocumentID: doc.ID,
			Revision: revision, Ordinal: ordinal, Title: "found", PageStart: 1 + ordinal/2, PageEnd: 1 + ordinal/2,
			Span: store.Span{Start: 100 * ordinal, End: 100*ordinal + len(text)}, Text: text,
		}
		if ordinal%2 == 1 {
			c.Headings = []string{"One", fmt.Sprintf("Two <%d> & \"more\"", ordinal)}
		}
		if ordinal%4 == 3 {
			c.Context = "Großer Absatz\nName | Zahl"
			c.Parent = store.Section{
				Span:      store.Span{Start: c.Span.Start - 10, End: c.Span.End + ordinal},
				PageStart: c.PageStart, PageEnd: c.PageEnd + 1,
			}
		}
		if ordinal%3 != 2 {
			c.Vector = make([]float32, 8)
			c.Vector[ordinal%8] = 0.6
			c.Vector[(ordinal+1)%8] = -0.8
		}
		chunks[i] = c
	}
	return chunks
}

// withoutVectors is how the listings give chunks.
func withoutVectors(chunks []store.Chunk) []store.Chunk {
	all := make([]store.Chunk, len(chunks))
	for i, c := range chunks {
		c.Vector = nil
		all[i] = c
	}
	return all
}

// visible collects VisibleChunks.
func (f fixture) visible(kb, document string) []store.Chunk {
	f.t.Helper()
	var all []store.Chunk
	for c, err := range f.VisibleChunks(f.ctx, kb, document) {
		f.must(err)
		all = append(all, c)
	}
	return all
}

func ids[T any](all []T, id func(T) string) []string {
	var out []string
	for _, one := range all {
		out = append(out, id(one))
	}
	return out
}
