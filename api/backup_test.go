package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"ragagent/store"
)

func TestBackupIsStreamed(t *testing.T) {
	var write func(w io.Writer) error
	h := newHarness(t, func(c *Config) {
		c.Backup = func(_ context.Context, w io.Writer) error { return write(w) }
	})
	write = func(w io.Writer) error {
		_, err := io.WriteString(w, "all of it")
		return err
	}
	r := h.post("/api/v1/backup", "")
	if r.status != 200 || r.body != "all of it" || r.header.Get("Content-Type") != "application/x-tar" ||
		r.header.Get("Content-Disposition") != "attachment; filename=ragagent-20260304-050607.backup" {
		t.Errorf("%d %q %v", r.status, r.body, r.header)
	}
	write = func(io.Writer) error { return fmt.Errorf("copy the records: %w", store.ErrFull) }
	h.wantProblem(h.post("/api/v1/backup", ""), Problem{
		Status: http.StatusInsufficientStorage, Code: CodeStorageFull,
		Detail: "no room left for it: delete something first (copy the records: the disk is full)",
	})
	// Behind the first byte only a broken connection can say that it failed.
	write = func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("half", 1<<16))
		return errors.Join(err, errors.New("the disk is gone"))
	}
	resp, err := http.Post(h.url+"/api/v1/backup", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, then %v", n, err)
	}
}

func TestBackupIsOptional(t *testing.T) {
	h := newHarness(t)
	h.wantProblem(h.post("/api/v1/backup", ""), Problem{Status: 404, Code: CodeNotFound, Detail: "this server writes no backups"})
}
