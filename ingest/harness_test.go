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
func build(t testing.TB, dir string, change func(*ingest.Config)) *house {
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

func (h *house) close(t testing.TB) {
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
	report, err := h.Verify(t.Context(), ingest.Verification{})
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
	// failAfter is how many texts are embedded before fail.
	failAfter int
	calls     int
}

// set lets every further call fail, or none for nil.
func (e *embedder) set(fail error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail, e.failAfter = fail, 0
}

// asked is how often it was called.
func (e *embedder) asked() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls
}

func (e *embedder) Dim() int            { return 2 }
func (e *embedder) Name() string        { return "test/length" }
func (e *embedder) Fingerprint() string { return "test-length-2" }

func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.mu.Lock()
	e.texts += len(texts)
	e.calls++
	block, fail := e.stop > 0 && e.texts > e.stop, e.fail
	if e.texts <= e.failAfter {
		fail = nil
	}
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
	told   map[string]int    // how often it heard of other metadata of a document
	bytes  int64             // what it says to take
	before func()            // called before a document with chunks is put in; may be nil
	fail   error             // of putting a document in; may be nil
}

func newIndex() *index {
	return &index{docs: map[string][]string{}, kbs: map[string]string{}, told: map[string]int{}}
}

func (x *index) MetadataChanged(_ context.Context, _, doc string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.told[doc]++
	return nil
}

func (x *index) timesTold(doc string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.told[doc]
}

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
	if x.fail != nil {
		return x.fail
	}
	if delete(x.docs, doc); len(ids) > 0 {
		x.docs[doc], x.kbs[doc] = ids, kb.ID
	}
	return nil
}

func (x *index) Remove(_ context.Context, _ string, docs []string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, doc := range docs {
		delete(x.docs, doc)
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

func second[T any](_ T, err error) error { return err }

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
