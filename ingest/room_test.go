package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ragagent/ingest"
	"ragagent/store"
	"ragagent/store/sqlite"
)

// fullDisk are records on a disk that can be full.
type fullDisk struct {
	*sqlite.DB
	mu      sync.Mutex
	full    bool
	reserve int // writes that the released reserve allows
}

func (d *fullDisk) set(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *fullDisk) write() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full && d.reserve == 0 {
		return fmt.Errorf("write: %w", store.ErrFull)
	}
	if d.full {
		d.reserve--
	}
	return nil
}

func (d *fullDisk) Publish(ctx context.Context, job string, doc store.Document, chunks []store.Chunk) error {
	if err := d.write(); err != nil {
		return err
	}
	return d.DB.Publish(ctx, job, doc, chunks)
}

func (d *fullDisk) Lease(ctx context.Context, now time.Time, lease time.Duration, except ...string) (job store.Job, err error) {
	if err := d.write(); err != nil {
		return job, err
	}
	return d.DB.Lease(ctx, now, lease, except...)
}

func (d *fullDisk) Requeue(ctx context.Context, id string) error {
	if err := d.write(); err != nil {
		return err
	}
	return d.DB.Requeue(ctx, id)
}

func (d *fullDisk) DeleteDocument(ctx context.Context, kb, id string) (store.Document, error) {
	if err := d.write(); err != nil {
		return store.Document{}, err
	}
	return d.DB.DeleteDocument(ctx, kb, id)
}

// Release and Refill implement ingest.Reserve: room for one write.
func (d *fullDisk) Release() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reserve = 1
	return nil
}

func (d *fullDisk) Refill() error { return nil }

// TestFullDiskPausesJobs: a job that meets a full disk goes on when there is
// room, no attempt is counted, and deleting works meanwhile.
func TestFullDiskPausesJobs(t *testing.T) {
	var disk *fullDisk
	h := build(t, t.TempDir(), func(c *ingest.Config) {
		disk = &fullDisk{DB: c.Records.(*sqlite.DB)}
		c.Records, c.Reserve, c.Workers = disk, disk, 1
	})
	h.parser.hold = make(chan struct{})
	h.start(t)
	ready := h.submit(t, "a.txt", "Ready before.")
	h.end(t, ready.Job.ID)
	held := h.submit(t, "hold.txt", "hold this")
	waitFor(t, func() bool {
		job, err := h.records.Job(t.Context(), held.Job.ID)
		return err == nil && job.Status == store.StatusRunning
	})
	disk.set(true)
	close(h.parser.hold)
	waitFor(t, func() bool { return strings.HasPrefix(h.Stalled(), "waits for room on the disk") })
	if err := h.DeleteDocument(t.Context(), "kb", ready.Document.ID); err != nil {
		t.Errorf("delete on a full disk: %v", err)
	}
	disk.set(false)
	if job := h.end(t, held.Job.ID); job.Status != store.StatusReady || job.Attempts != 0 { // publishing forgets them
		t.Errorf("job: %+v", job)
	}
	waitFor(t, func() bool { return h.Stalled() == "" })
	h.verify(t)
}

// TestMemoryCeiling: what would pass it is refused, before or after it was
// accepted, with the figures.
func TestMemoryCeiling(t *testing.T) {
	h := build(t, t.TempDir(), func(c *ingest.Config) { c.MaxIndexBytes = 10_000 })
	h.start(t)
	small := h.submit(t, "small.txt", "A small text.")
	if job := h.end(t, small.Job.ID); job.Status != store.StatusReady {
		t.Errorf("small: %+v", job)
	}
	large := h.submit(t, "large.txt", long(20))
	if job := h.end(t, large.Job.ID); job.Status != store.StatusFailed || !strings.Contains(job.Error, "the ceiling is 10000") {
		t.Errorf("large: %+v", job)
	}
	h.index.mu.Lock()
	h.index.bytes = 10_000
	h.index.mu.Unlock()
	_, err := h.Submit(t.Context(), "kb", ingest.Upload{Name: "b.txt", Body: strings.NewReader("Another text.")})
	if !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("submit at the ceiling: %v", err)
	}
	h.verify(t)
}

// smallReserve is a reserve on a disk that another program may fill.
type smallReserve struct {
	mu    sync.Mutex
	whole bool
	room  bool // to refill it
}

func (r *smallReserve) Release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole = false
	return nil
}

func (r *smallReserve) Refill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.whole = r.whole || r.room; !r.whole {
		return store.ErrFull
	}
	return nil
}

func (r *smallReserve) setRoom() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.room = true
}

// TestReserveComesFirst: while it is not whole, also from the start on, no upload
// is accepted and no job is taken up; a deletion that makes room ends that.
func TestReserveComesFirst(t *testing.T) {
	reserve := &smallReserve{room: true}
	h := build(t, t.TempDir(), func(c *ingest.Config) { c.Reserve = reserve })
	if _, err := h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: "kb"}); err != nil {
		t.Fatal(err)
	}
	there := h.submit(t, "there.txt", "There before.")
	waiting := h.submit(t, "waiting.txt", "Waits for room.")
	if err := reserve.Release(); err != nil {
		t.Fatal(err)
	}
	reserve.room = false
	h.start(t)
	waitFor(t, func() bool { return strings.Contains(h.Stalled(), "what is free is kept for deleting") })
	upload := ingest.Upload{Name: "b.txt", Body: strings.NewReader("Another text.")}
	if _, err := h.Submit(t.Context(), "kb", upload); !errors.Is(err, store.ErrFull) {
		t.Errorf("submit without a reserve: %v", err)
	}
	if job, err := h.records.Job(t.Context(), waiting.Job.ID); err != nil || job.Status != store.StatusQueued {
		t.Errorf("a job without a reserve: %+v, %v", job, err)
	}
	reserve.setRoom()
	if err := h.DeleteDocument(t.Context(), "kb", there.Document.ID); err != nil {
		t.Fatal(err)
	}
	if job := h.end(t, waiting.Job.ID); job.Status != store.StatusReady {
		t.Errorf("job: %+v", job)
	}
	if _, err := h.Submit(t.Context(), "kb", upload); err != nil {
		t.Errorf("submit with a reserve: %v", err)
	}
	h.verify(t)
}

// narrow are records that can write down so many deletions at once.
type narrow struct {
	*sqlite.DB
	most int
}

func (n narrow) DeleteDocuments(ctx context.Context, kb string, ids []string) ([]store.Document, error) {
	if len(ids) > n.most {
		return nil, store.ErrFull
	}
	return n.DB.DeleteDocuments(ctx, kb, ids)
}

func (n narrow) DeleteKnowledgeBase(ctx context.Context, id string) error {
	kb, err := n.KnowledgeBase(ctx, id)
	if err == nil && kb.DocumentCount > n.most {
		err = store.ErrFull
	}
	if err != nil {
		return err
	}
	return n.DB.DeleteKnowledgeBase(ctx, id)
}

// TestDeletingInSteps: what is too much for the reserve at once goes bit by bit.
func TestDeletingInSteps(t *testing.T) {
	h := build(t, t.TempDir(), func(c *ingest.Config) { c.Records = narrow{c.Records.(*sqlite.DB), 1} })
	h.start(t)
	var ids []string
	for i := range 25 {
		s := h.submit(t, fmt.Sprintf("%d.txt", i), fmt.Sprintf("Text %d.", i))
		h.end(t, s.Job.ID)
		ids = append(ids, s.Document.ID)
	}
	deleted, err := h.DeleteDocuments(t.Context(), "kb", ids[:5])
	if err != nil || deleted.Documents != 5 || len(deleted.Missing) != 0 {
		t.Errorf("%+v, %v", deleted, err)
	}
	h.verify(t)
	if err := h.DeleteKnowledgeBase(t.Context(), "kb"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.records.KnowledgeBase(t.Context(), "kb"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the knowledge base: %v", err)
	}
	h.verify(t)
}
