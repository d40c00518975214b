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
	if job := h.end(t, held.Job.ID); job.Status != store.StatusReady || job.Attempts != 1 {
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
