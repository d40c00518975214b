package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"ragagent/agent"
	"ragagent/agent/tool"
	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/store"
	"ragagent/store/blob"
	"ragagent/store/sqlite"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is the time of everything in these tests.
var clock = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// harness is a server over the real record store and blob folder, with
// scripted ingestion, retrieval and agent.
type harness struct {
	testing.TB
	url       string
	server    *Server
	db        *sqlite.DB
	blobs     *blob.Dir
	ingest    *scriptedIngest
	retriever *scriptedRetriever
	agent     *scriptedAgent
	scope     Scope // of the latest question
}

func newHarness(t testing.TB, configure ...func(*Config)) *harness {
	t.Helper()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "records.db")})
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.New(blob.Config{Dir: filepath.Join(dir, "blobs")})
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{TB: t, db: db, blobs: blobs, retriever: &scriptedRetriever{}, agent: &scriptedAgent{}}
	h.ingest = &scriptedIngest{db: db, blobs: blobs}
	cfg := Config{
		Records:   db,
		Blobs:     blobs,
		Ingest:    h.ingest,
		Retriever: h.retriever,
		Agent:     h.agent,
		Tools: func(s Scope) ([]tool.Tool, error) {
			h.scope = s
			return []tool.Tool{namedTool("dataset_retriever")}, nil
		},
		SpoolDir: filepath.Join(dir, "uploads"),
		Now:      func() time.Time { return clock },
	}
	for _, c := range configure {
		c(&cfg)
	}
	if h.server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h.server)
	h.url = web.URL
	t.Cleanup(func() {
		web.Close()
		web.Client().CloseIdleConnections()
		if left, _ := os.ReadDir(cfg.SpoolDir); len(left) > 0 {
			t.Errorf("%d uploads left in the spool", len(left))
		}
		if err := errors.Join(db.Close(), blobs.Close()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// response is an answer that was read to its end.
type response struct {
	status int
	header http.Header
	body   string
}

func (h *harness) do(method, path, body string, headers ...string) response {
	h.Helper()
	req, err := http.NewRequestWithContext(h.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer res.Body.Close()
	read, err := io.ReadAll(res.Body)
	if err != nil {
		h.Fatal(err)
	}
	answer := response{res.StatusCode, res.Header, string(read)}
	checkContract(h.TB, method, path, body, answer)
	return answer
}

func (h *harness) get(path string, headers ...string) response {
	h.Helper()
	return h.do(http.MethodGet, path, "", headers...)
}

func (h *harness) post(path, body string, headers ...string) response {
	h.Helper()
	return h.do(http.MethodPost, path, body, headers...)
}

// want checks status and body, which is compared as JSON.
func (h *harness) want(r response, status int, body string) {
	h.Helper()
	if r.status != status {
		h.Fatalf("status %d, want %d; body: %s", r.status, status, r.body)
	}
	if diff := cmp.Diff(compact(h.TB, body), compact(h.TB, r.body)); diff != "" {
		h.Errorf("body (-want +got):\n%s", diff)
	}
}

// wantProblem checks a problem document whole.
func (h *harness) wantProblem(r response, want Problem) {
	h.Helper()
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		h.Errorf("content type %q", got)
	}
	want.Type, want.Title = "about:blank", http.StatusText(want.Status)
	body, err := json.Marshal(want)
	if err != nil {
		h.Fatal(err)
	}
	h.want(r, want.Status, string(body))
}

func compact(t testing.TB, body string) string {
	t.Helper()
	if body == "" {
		return ""
	}
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("not JSON: %v: %q", err, body)
	}
	out, err := json.MarshalIndent(v, "", " ") // sorts the keys
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// knowledgeBase makes one with a fixed id.
func (h *harness) knowledgeBase(id, name string) store.KnowledgeBase {
	h.Helper()
	kb := store.KnowledgeBase{ID: id, Name: name, Embedder: "test/embedder", Fingerprint: "f", CreatedAt: clock, UpdatedAt: clock}
	if err := h.db.CreateKnowledgeBase(h.Context(), kb); err != nil {
		h.Fatal(err)
	}
	return kb
}

// document makes a ready one with its original and text, and one chunk a line.
func (h *harness) document(kb store.KnowledgeBase, name, mime, original, text string) store.Document {
	h.Helper()
	done, err := h.ingest.Submit(h.Context(), kb.ID, ingest.Upload{Name: name, MIME: mime, Body: strings.NewReader(original)})
	if err != nil {
		h.Fatal(err)
	}
	doc := done.Document
	staged, err := h.blobs.Stage(h.Context(), strings.NewReader(text), 1<<20)
	if err != nil {
		h.Fatal(err)
	}
	if err := staged.Commit(); err != nil {
		h.Fatal(err)
	}
	doc.TextSHA256, doc.TextBytes, doc.Pages = staged.SHA256(), staged.Size(), 2
	if _, err := h.db.Lease(h.Context(), clock, time.Hour); err != nil {
		h.Fatal(err)
	}
	var chunks []store.Chunk
	at := 0
	for i, line := range strings.SplitAfter(text, "\n") {
		chunks = append(chunks, store.Chunk{
			ID: store.ChunkID(doc.ID, 1, i, line), KnowledgeBaseID: kb.ID, DocumentID: doc.ID, Revision: 1, Ordinal: i,
			PageStart: 1, PageEnd: 2, Span: store.Span{Start: at, End: at + len(line)}, Text: line,
		})
		at += len(line)
	}
	doc.Revision, doc.ChunkCount = 1, len(chunks)
	if err := h.db.Publish(h.Context(), done.Job.ID, doc, chunks); err != nil {
		h.Fatal(err)
	}
	if err := h.db.Finish(h.Context(), done.Job.ID); err != nil {
		h.Fatal(err)
	}
	doc.Status = store.StatusReady
	return doc
}

// namedTool is a tool that is never called.
type namedTool string

func (n namedTool) Spec() tool.Spec { return tool.Spec{Name: string(n)} }

func (n namedTool) Call(context.Context, json.RawMessage) (tool.Result, error) {
	return tool.Result{}, errors.New("not for calling")
}

// scriptedRetriever answers with result or err and remembers the query.
type scriptedRetriever struct {
	query  retrieval.Query
	result retrieval.Result
	err    error
	wait   chan struct{} // if not nil, an answer waits for it
	calls  int
	mu     sync.Mutex
}

func (r *scriptedRetriever) Retrieve(ctx context.Context, q retrieval.Query) (retrieval.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.query = q
	r.calls++
	if r.wait != nil {
		select {
		case <-r.wait:
		case <-ctx.Done():
			return retrieval.Result{}, ctx.Err()
		}
	}
	return r.result, r.err
}

// scriptedAgent plays events and then err.
type scriptedAgent struct {
	input  agent.Input
	events []agent.Event
	err    error
	panics bool
	// hang, if not nil, is closed when the run waits for its context to end.
	hang  chan struct{}
	calls int

	resumed agent.Resume
}

// Resume says what Run does.
func (a *scriptedAgent) Resume(ctx context.Context, in agent.Resume) iter.Seq2[agent.Event, error] {
	a.resumed = in
	return a.Run(ctx, agent.Input{Tools: in.Tools})
}

func (a *scriptedAgent) Run(ctx context.Context, in agent.Input) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		a.input = in
		a.calls++
		for _, e := range a.events {
			if !yield(e, nil) {
				return
			}
		}
		if a.panics {
			panic("out of cheese")
		}
		if a.hang != nil {
			close(a.hang)
			<-ctx.Done()
			yield(agent.Event{}, ctx.Err())
			return
		}
		if a.err != nil {
			yield(agent.Event{}, a.err)
		}
	}
}

// scriptedIngest writes to the real stores and starts no work.
type scriptedIngest struct {
	Ingest // what is not scripted
	db     *sqlite.DB
	blobs  *blob.Dir
	limit  int64 // of one file; 0: 1 GiB
	err    error // of the next Submit
	watch  func(ctx context.Context, yield func(store.Job, error) bool)
	got    []ingest.Upload
	calls  int

	unpacked []ingest.Unpacked // what every upload is an archive of, if not nil
	change   ingest.DocumentChange

	waits string // what every job that has not ended waits for

	draft   ingest.Draft // of the latest Preview
	content string       // of its file
	preview ingest.Preview
}

func (s *scriptedIngest) CreateKnowledgeBase(ctx context.Context, kb store.KnowledgeBase) (store.KnowledgeBase, error) {
	s.calls++
	if kb.Name == "" {
		return kb, store.Invalid("name", "is missing")
	}
	kb.ID, kb.CreatedAt, kb.UpdatedAt, kb.Fingerprint, kb.Embedder = "kb_1", clock, clock, "f", "test/embedder"
	return kb, s.db.CreateKnowledgeBase(ctx, kb)
}

func (s *scriptedIngest) UpdateKnowledgeBase(ctx context.Context, idOrName string, change ingest.KnowledgeBaseChange) (store.KnowledgeBase, error) {
	return s.db.UpdateKnowledgeBase(ctx, idOrName, func(kb *store.KnowledgeBase) error {
		if change.Name != nil {
			kb.Name = *change.Name
		}
		if change.Description != nil {
			kb.Description = *change.Description
		}
		if change.Chunking != nil {
			kb.Chunking = *change.Chunking
		}
		if change.Retrieval != nil {
			kb.Retrieval = *change.Retrieval
		}
		return nil
	})
}

func (s *scriptedIngest) DeleteKnowledgeBase(ctx context.Context, idOrName string) error {
	kb, err := s.db.KnowledgeBase(ctx, idOrName)
	if err != nil {
		return err
	}
	return s.db.DeleteKnowledgeBase(ctx, kb.ID)
}

func (s *scriptedIngest) Submit(ctx context.Context, kb string, up ingest.Upload) (ingest.Submitted, error) {
	s.calls++
	if s.err != nil {
		return ingest.Submitted{}, s.err
	}
	limit := s.limit
	if limit == 0 {
		limit = 1 << 30
	}
	staged, err := s.blobs.Stage(ctx, up.Body, limit)
	if err != nil {
		return ingest.Submitted{}, err
	}
	if err := staged.Commit(); err != nil {
		return ingest.Submitted{}, err
	}
	up.Body = nil
	s.got = append(s.got, up)
	source := store.Source{Origin: up.Origin, Path: up.Path}
	if up.Path == "" {
		source.Path = path.Base(up.Name)
		up.Name = source.Path
	}
	added, err := s.db.AddDocument(ctx,
		store.Document{
			Sources: []store.Source{source},
			ID:      store.NewID("doc"), KnowledgeBaseID: kb, Name: up.Name, Status: store.StatusQueued, MIME: up.MIME,
			Bytes: staged.Size(), SHA256: staged.SHA256(), GivenMetadata: up.Metadata, CreatedAt: clock, UpdatedAt: clock,
		},
		store.Job{ID: store.NewID("job"), Kind: store.JobIngest, KnowledgeBaseID: kb, Revision: 1, Status: store.StatusQueued, CreatedAt: clock, UpdatedAt: clock})
	out := ingest.Submitted{Document: added.Document, Source: source, Job: added.Job}
	if added.Duplicate {
		out.DuplicateOf = added.Document.ID
	}
	return out, err
}

func (s *scriptedIngest) Preview(_ context.Context, _ string, d ingest.Draft) (ingest.Preview, error) {
	raw := make([]byte, d.File.Size())
	if _, err := d.File.ReadAt(raw, 0); err != nil && !errors.Is(err, io.EOF) {
		return ingest.Preview{}, err
	}
	s.draft, s.content = d, string(raw)
	s.draft.File = nil
	return s.preview, s.err
}

// ReindexKnowledgeBase revises every document that was read.
func (s *scriptedIngest) ReindexKnowledgeBase(ctx context.Context, kb string) (out ingest.Reindexed, err error) {
	docs, err := s.db.Documents(ctx, kb, store.Page{})
	for i, doc := range docs {
		if doc.Revision == 0 {
			out.Skipped++
			continue
		}
		added, err := s.db.Revise(ctx, kb, doc.ID, doc.GivenTitle, store.Job{
			ID: fmt.Sprintf("job_%d", i+100), Kind: store.JobIngest, Revision: 1, CreatedAt: clock, UpdatedAt: clock,
		})
		if err != nil {
			return out, err
		}
		out.Queued = append(out.Queued, ingest.Submitted{Document: added.Document, Job: added.Job})
	}
	return out, err
}

func (s *scriptedIngest) DeleteDocuments(ctx context.Context, kb string, ids []string) (ingest.Deleted, error) {
	gone, err := s.db.DeleteDocuments(ctx, kb, ids)
	out := ingest.Deleted{Documents: len(gone)}
	for _, id := range ids {
		if !slices.ContainsFunc(gone, func(d store.Document) bool { return d.ID == id }) {
			out.Missing = append(out.Missing, id)
		}
	}
	return out, err
}

func (s *scriptedIngest) Unpack(_ context.Context, _ string, up ingest.Upload, _ io.ReaderAt, _ int64) ([]ingest.Unpacked, bool, error) {
	if s.unpacked == nil {
		return nil, false, nil
	}
	s.got = append(s.got, up)
	return s.unpacked, true, s.err
}

func (s *scriptedIngest) UpdateDocument(ctx context.Context, kb, id string, change ingest.DocumentChange) (out ingest.Submitted, err error) {
	s.change = change
	out.Document, err = s.db.Document(ctx, kb, id)
	if change.Title != nil {
		out.Job.ID = "job_1"
	}
	return out, err
}

func (s *scriptedIngest) RemoveSource(ctx context.Context, kb, id string, source store.Source) (bool, error) {
	_, gone, err := s.db.RemoveSource(ctx, kb, id, source)
	return gone, err
}

func (s *scriptedIngest) DeleteDocument(ctx context.Context, kb, id string) error {
	_, err := s.db.DeleteDocument(ctx, kb, id)
	return err
}

func (s *scriptedIngest) Cancel(ctx context.Context, id string) (store.Job, error) {
	return s.db.CancelJob(ctx, id)
}

func (s *scriptedIngest) Retry(ctx context.Context, id string) (store.Job, error) {
	return s.db.RetryJob(ctx, id)
}

func (s *scriptedIngest) RetryFailed(ctx context.Context, kb string) (int, error) {
	if kb != "" {
		found, err := s.db.KnowledgeBase(ctx, kb)
		if err != nil {
			return 0, err
		}
		kb = found.ID
	}
	return s.db.RetryFailed(ctx, kb)
}

func (s *scriptedIngest) Live(job store.Job) store.Job { return job }

func (s *scriptedIngest) Waiting(job store.Job) string {
	if job.Status.Ended() {
		return ""
	}
	return s.waits
}

func (s *scriptedIngest) Watch(ctx context.Context, id string) iter.Seq2[store.Job, error] {
	return func(yield func(store.Job, error) bool) {
		if s.watch != nil {
			s.watch(ctx, yield)
			return
		}
		yield(s.db.Job(ctx, id))
	}
}

// multipartBody writes parts given as name, file name ("" for none), content.
func multipartBody(parts ...[3]string) (body, contentType string) {
	const boundary = "frontier"
	var b bytes.Buffer
	for _, p := range parts {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + p[0] + "\"")
		if p[1] != "" {
			b.WriteString("; filename=\"" + p[1] + "\"")
		}
		b.WriteString("\r\n\r\n" + p[2] + "\r\n")
	}
	b.WriteString("--" + boundary + "--\r\n")
	return b.String(), "multipart/form-data; boundary=" + boundary
}
