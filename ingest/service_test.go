package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/ingest"
	"ragagent/ingest/parse"
	"ragagent/store"
	"ragagent/store/blob"
	"ragagent/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a Service over real stores, with a parser, an embedder and an
// indexer that a test can steer.
type house struct {
	*ingest.Service
	records *sqlite.DB
	blobs   *blob.Dir
	parser  *parser
	embed   *embedder
	index   *index
	kb      store.KnowledgeBase
}

// build opens the data folder dir; a second build of the same folder is what a
// restart is.
func build(t *testing.T, dir string, change func(*ingest.Config)) *house {
	t.Helper()
	records, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "records.db")})
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.New(blob.Config{Dir: filepath.Join(dir, "blobs")})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{records: records, blobs: blobs, parser: &parser{}, embed: &embedder{}, index: newIndex()}
	cfg := ingest.Config{Records: records, Blobs: blobs, Indexer: h.index, Parser: h.parser, Embedder: h.embed, Workers: 2, Batch: 4}
	if change != nil {
		change(&cfg)
	}
	if h.Service, err = ingest.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.close(t) })
	return h
}

func (h *house) close(t *testing.T) {
	t.Helper()
	if h.records == nil {
		return
	}
	if err := errors.Join(h.Close(), h.blobs.Close(), h.records.Close()); err != nil {
		t.Error(err)
	}
	h.records = nil
}

// start makes the knowledge base, if it is not there, and lets the workers run.
func (h *house) start(t *testing.T) {
	t.Helper()
	var err error
	if h.kb, err = h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "kb"}); errors.Is(err, store.ErrConflict) {
		h.kb, err = h.records.KnowledgeBase(t.Context(), "kb")
	}
	if err = errors.Join(err, h.Load(t.Context(), nil), h.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func (h *house) submit(t *testing.T, name, text string) ingest.Submitted {
	t.Helper()
	s, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: name, Body: strings.NewReader(text)})
	if err != nil {
		t.Fatalf("submit %s: %v", name, err)
	}
	return s
}

// end follows a job to its end.
func (h *house) end(t *testing.T, id string) store.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var last store.Job
	for job, err := range h.Watch(ctx, id) {
		if err != nil {
			t.Fatalf("watch: %v", err)
		}
		last = job
	}
	return last
}

func (h *house) verify(t *testing.T) {
	t.Helper()
	report, err := h.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) > 0 {
		t.Fatalf("verify: %+v", report.Problems)
	}
}

// parser splits at blank lines; a text can ask it to fail or to wait.
type parser struct {
	mu    sync.Mutex
	calls int
	hold  chan struct{} // if set, "hold" waits until it is closed
}

func (p *parser) Parse(ctx context.Context, _ string, file store.Blob) (parse.Text, error) {
	p.mu.Lock()
	p.calls++
	hold := p.hold
	p.mu.Unlock()
	raw := make([]byte, file.Size())
	if _, err := file.ReadAt(raw, 0); err != nil && len(raw) > 0 {
		return parse.Text{}, err
	}
	switch {
	case bytes.HasPrefix(raw, []byte("damaged")):
		return parse.Text{}, parse.ErrDamaged
	case bytes.HasPrefix(raw, []byte("panic")):
		panic("a parser's bug")
	case bytes.HasPrefix(raw, []byte("hold")) && hold != nil:
		select {
		case <-hold:
		case <-ctx.Done():
			return parse.Text{}, ctx.Err()
		}
	}
	text := parse.Text{Body: string(raw), MIME: "text/plain"}
	at := 0
	for _, p := range strings.SplitAfter(text.Body, "\n\n") {
		if trimmed := strings.TrimSpace(p); trimmed != "" {
			text.Blocks = append(text.Blocks, parse.Block{Kind: parse.Paragraph, Span: store.Span{Start: at, End: at + len(strings.TrimRight(p, "\n"))}})
		}
		at += len(p)
	}
	return text, nil
}

// embedder gives each text a unit vector of its length and counts what it was
// asked for. It can be told to block after a number of texts.
type embedder struct {
	mu    sync.Mutex
	texts int
	stop  int // block forever once this many texts were embedded; 0: never
	fail  error
}

func (e *embedder) Dim() int            { return 2 }
func (e *embedder) Name() string        { return "test/length" }
func (e *embedder) Fingerprint() string { return "test-length-2" }

func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.mu.Lock()
	e.texts += len(texts)
	block, fail := e.stop > 0 && e.texts > e.stop, e.fail
	e.mu.Unlock()
	if fail != nil {
		return nil, fail
	}
	if block {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{float32(len(t) % 2), float32((len(t) + 1) % 2)}
	}
	return out, nil
}

// index remembers the chunk ids of each document.
type index struct {
	mu     sync.Mutex
	docs   map[string][]string
	kbs    map[string]string // of each document
	bytes  int64             // what it says to take
	before func()            // called before a document with chunks is put in; may be nil
}

func newIndex() *index { return &index{docs: map[string][]string{}, kbs: map[string]string{}} }

func (x *index) Load(ctx context.Context, kb store.KnowledgeBase, chunks iter.Seq2[store.Chunk, error]) error {
	docs := map[string][]string{}
	for c, err := range chunks {
		if err != nil {
			return err
		}
		docs[c.DocumentID] = append(docs[c.DocumentID], c.ID)
	}
	if err := x.Drop(ctx, kb.ID); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for doc, ids := range docs {
		x.docs[doc], x.kbs[doc] = ids, kb.ID
	}
	return nil
}

func (x *index) Replace(_ context.Context, kb store.KnowledgeBase, doc string, chunks iter.Seq2[store.Chunk, error]) error {
	var ids []string
	for c, err := range chunks {
		if err != nil {
			return err
		}
		if len(c.Vector) != 2 {
			return fmt.Errorf("chunk %s came without its vector", c.ID)
		}
		ids = append(ids, c.ID)
	}
	if x.before != nil && len(ids) > 0 {
		x.before()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if delete(x.docs, doc); len(ids) > 0 {
		x.docs[doc], x.kbs[doc] = ids, kb.ID
	}
	return nil
}

func (x *index) Drop(_ context.Context, kb string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for doc, in := range x.kbs {
		if in == kb {
			delete(x.docs, doc)
		}
	}
	return nil
}

func (x *index) Contents(_ context.Context, kb string) (words, vectors []string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for doc, ids := range x.docs {
		if x.kbs[doc] == kb {
			words = append(words, ids...)
		}
	}
	slices.Sort(words)
	return words, slices.Clone(words), nil
}

func (x *index) Bytes() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.bytes
}

func (x *index) Cosine(context.Context, string, store.Chunk) (float64, error) { return 1, nil }

// long is a text of n paragraphs, each big enough to be a chunk of its own.
func long(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Paragraph %d. %s\n\n", i, strings.Repeat("Some words that fill a chunk up to its size. ", 40))
	}
	return b.String()
}

func TestDocumentBecomesReady(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	s := h.submit(t, `C:\docs\..\notes.txt`, "One paragraph.\n\nAnother one.")
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
		t.Fatalf("job: %+v", job)
	}
	doc, err := h.records.Document(t.Context(), h.kb.ID, s.Document.ID)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Name != "notes.txt" || doc.Status != store.StatusReady || doc.Revision != 1 || doc.ChunkCount != 1 {
		t.Errorf("document: %+v", doc)
	}
	chunks, err := h.records.DocumentChunks(t.Context(), doc.ID, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if want := "One paragraph.\n\nAnother one."; len(chunks) != 1 || chunks[0].Text != want {
		t.Errorf("chunks: %+v", chunks)
	}
	h.verify(t)
}

func TestSameBytesAreOneDocument(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	first := h.submit(t, "a.txt", "The same text.")
	second := h.submit(t, "b.txt", "The same text.")
	if second.DuplicateOf != first.Document.ID || second.Document.ID != first.Document.ID || second.Job.ID != first.Job.ID {
		t.Errorf("first %+v, second %+v", first, second)
	}
	h.end(t, first.Job.ID)
	h.verify(t)
}

func TestFailuresSayWhyAndCanBeRetried(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	for name, c := range map[string]struct{ text, want string }{
		"damaged": {"damaged goods", "the file is damaged"},
		"empty":   {" \n", "no text found"},
		"panic":   {"panic now", "internal error while reading this document; the log has the details"},
	} {
		t.Run(name, func(t *testing.T) {
			s := h.submit(t, name, c.text)
			job := h.end(t, s.Job.ID)
			if job.Status != store.StatusFailed || job.Error != c.want {
				t.Errorf("job: %+v", job)
			}
			again := h.submit(t, name, c.text) // the same file again means: try again
			if again.DuplicateOf != s.Document.ID || again.Document.Status != store.StatusQueued {
				t.Errorf("again: %+v", again)
			}
			if job := h.end(t, s.Job.ID); job.Status != store.StatusFailed {
				t.Errorf("second attempt: %+v", job)
			}
		})
	}
	h.verify(t)
}

func TestJobGoesOnWhereItWas(t *testing.T) {
	dir := t.TempDir()
	h := build(t, dir, nil)
	h.embed.stop = 10 // two batches of four are journalled, the third hangs
	h.start(t)
	s := h.submit(t, "long.txt", long(20))
	waitFor(t, func() bool {
		n, _, err := h.records.ChunkJournal(t.Context(), s.Document.ID, 1)
		return err == nil && n == 8
	})
	h.close(t)

	h = build(t, dir, nil)
	h.start(t)
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady || job.Attempts != 1 {
		t.Errorf("job: %+v", job)
	}
	doc, err := h.records.Document(t.Context(), "", s.Document.ID)
	if err != nil {
		t.Fatal(err)
	}
	if h.embed.texts != doc.ChunkCount-8 {
		t.Errorf("%d chunks embedded after the restart, want %d of %d", h.embed.texts, doc.ChunkCount-8, doc.ChunkCount)
	}
	h.verify(t)
}

func TestCancelRunningJob(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.parser.hold = make(chan struct{})
	h.start(t)
	s := h.submit(t, "hold.txt", "hold this")
	waitFor(t, func() bool {
		job, err := h.records.Job(t.Context(), s.Job.ID)
		return err == nil && job.Status == store.StatusRunning
	})
	if job, err := h.Cancel(t.Context(), s.Job.ID); err != nil || job.Status != store.StatusCancelled {
		t.Fatalf("cancel: %+v, %v", job, err)
	}
	if _, err := h.Cancel(t.Context(), s.Job.ID); !errors.Is(err, store.ErrConflict) {
		t.Errorf("second cancel: %v", err)
	}
	if job := h.end(t, s.Job.ID); job.Status != store.StatusCancelled {
		t.Errorf("job: %+v", job)
	}
	close(h.parser.hold)
	if job, err := h.Retry(t.Context(), s.Job.ID); err != nil || job.Status != store.StatusQueued {
		t.Fatalf("retry: %+v, %v", job, err)
	}
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
		t.Errorf("job: %+v", job)
	}
	h.verify(t)
}

// TestCancelBetweenPublishAndFinish: the truth takes the revision back, and the
// index, which was about to follow it, has to follow that too.
func TestCancelBetweenPublishAndFinish(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	var s ingest.Submitted
	submitted := make(chan struct{})
	var cancelled sync.WaitGroup
	h.index.before = func() {
		<-submitted
		// Cancel waits for the index, which waits here: only its transaction
		// comes in between.
		cancelled.Go(func() {
			if _, err := h.Cancel(context.WithoutCancel(t.Context()), s.Job.ID); err != nil {
				t.Error(err)
			}
		})
		waitFor(t, func() bool {
			job, err := h.records.Job(context.WithoutCancel(t.Context()), s.Job.ID)
			return err == nil && job.Status == store.StatusCancelled
		})
	}
	h.start(t)
	s = h.submit(t, "a.txt", "Visible for a moment.")
	close(submitted)
	if job := h.end(t, s.Job.ID); job.Status != store.StatusCancelled {
		t.Errorf("job: %+v", job)
	}
	cancelled.Wait()
	h.close(t) // the worker has ended, nothing comes back
	if len(h.index.docs) != 0 {
		t.Errorf("index: %v", h.index.docs)
	}
}

func TestDeleteWhileRunning(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.parser.hold = make(chan struct{})
	h.start(t)
	s := h.submit(t, "hold.txt", "hold this")
	waitFor(t, func() bool {
		h.parser.mu.Lock()
		defer h.parser.mu.Unlock()
		return h.parser.calls == 1
	})
	if err := h.DeleteDocument(t.Context(), "kb", s.Document.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.records.Document(t.Context(), "", s.Document.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("document: %v", err)
	}
	h.verify(t)
	if len(h.index.docs) != 0 {
		t.Errorf("index: %v", h.index.docs)
	}
}

func TestDeleteKeepsSharedBlob(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	if _, err := h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	a := h.submit(t, "a.txt", "Shared by two knowledge bases.")
	b, err := h.Submit(t.Context(), "other", ingest.Upload{Name: "b.txt", Body: strings.NewReader("Shared by two knowledge bases.")})
	if err != nil || b.DuplicateOf != "" {
		t.Fatalf("%+v, %v", b, err)
	}
	h.end(t, a.Job.ID)
	h.end(t, b.Job.ID)
	if err := h.DeleteDocument(t.Context(), "kb", a.Document.ID); err != nil {
		t.Fatal(err)
	}
	if f, err := h.blobs.Open(t.Context(), b.Document.SHA256); err != nil {
		t.Errorf("the blob went with the first document: %v", err)
	} else {
		f.Close()
	}
	if err := h.DeleteKnowledgeBase(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	for hash, err := range h.blobs.List(t.Context()) {
		t.Errorf("left behind: %s %v", hash, err)
	}
}

func TestInvalidInput(t *testing.T) {
	h := build(t, t.TempDir(), func(c *ingest.Config) { c.MaxFileBytes = 10 })
	h.start(t)
	submit := func(up ingest.Upload) error {
		if up.Body == nil {
			up.Body = strings.NewReader("x")
		}
		_, err := h.Submit(t.Context(), "kb", up)
		return err
	}
	many := store.Metadata{}
	for i := range 65 {
		many[fmt.Sprint(i)] = "x"
	}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no name":     {submit(ingest.Upload{Name: ".."}), "name: is missing: give the document a file name"},
		"long name":   {submit(ingest.Upload{Name: strings.Repeat("../", 10) + strings.Repeat("n", 300)}), "name: has 300 bytes, at most 255 are allowed: rename the file"},
		"not UTF-8":   {submit(ingest.Upload{Name: "\xff"}), "name: is not valid UTF-8: rename the file"},
		"metadata":    {submit(ingest.Upload{Name: "a", Metadata: store.Metadata{"x": map[string]any{}}}), "metadata.x: must be a string, a number, true or false, or a list of strings"},
		"many keys":   {submit(ingest.Upload{Name: "a", Metadata: many}), "metadata: has 65 keys, at most 64 are allowed"},
		"kb name":     {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: " "})), "name: is missing: give the knowledge base a name"},
		"kb slash":    {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "a/b"})), `name: must not hold / \ ? or #, because it is used in addresses`},
		"kb embedder": {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "n", Embedder: "x/y"})), `embedder: "x/y" is not served here: leave it out or use "test/length"`},
		"kb chunking": {second(h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "n", Chunking: store.Chunking{Size: 5}})), "chunking.size: is 5, allowed are 32 to 4096 tokens, or 0 for the default"},
	} {
		t.Run(name, func(t *testing.T) {
			var field *store.FieldError
			if !errors.As(c.err, &field) || !errors.Is(c.err, store.ErrInvalid) {
				t.Fatalf("got %v", c.err)
			}
			if diff := cmp.Diff(c.want, field.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	if err := submit(ingest.Upload{Name: "big", Body: strings.NewReader("eleven byte")}); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := h.Submit(t.Context(), "nowhere", ingest.Upload{Name: "a", Body: strings.NewReader("x")}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown knowledge base: %v", err)
	}
	h.verify(t)
}

func second[T any](_ T, err error) error { return err }

// TestSubmitAndDeleteAtOnce hammers one content: whatever the order, a blob is
// there if and only if a document refers to it.
func TestSubmitAndDeleteAtOnce(t *testing.T) {
	h := build(t, t.TempDir(), nil)
	h.start(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				s, err := h.Submit(context.WithoutCancel(t.Context()), "kb", ingest.Upload{Name: "x", Body: strings.NewReader("contended")})
				if err != nil {
					t.Error(err)
					return
				}
				err = h.DeleteDocument(context.WithoutCancel(t.Context()), "kb", s.Document.ID)
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := h.submit(t, "last", "contended")
	if job := h.end(t, s.Job.ID); job.Status != store.StatusReady {
		t.Errorf("job: %+v", job)
	}
	h.verify(t)
}

// waitFor polls a condition that another goroutine brings about.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatal("waited for 20 seconds")
		}
		time.Sleep(time.Millisecond)
	}
}
