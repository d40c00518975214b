package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk is a file system of its own with room for mb megabytes.
func smallDisk(t *testing.T, mb int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mb)); err != nil {
		t.Skipf("a small disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all room but a few KB of a disk, more each time, and returns how to
// give it back.
func fill(t *testing.T, disk string) (release func()) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// TestFullDisk: uploads are refused with 507, accepted jobs wait and say why,
// searches and deletions work, and with room everything goes on.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; not with -short")
	}
	disk := smallDisk(t, 96)
	data := filepath.Join(disk, "data")
	srv := startServer(t, data)
	api := srv.client()
	if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
		t.Fatal(err)
	}
	upload := func(name, text string) (submitted, error) {
		return api.upload(t.Context(), "kb", name, strings.NewReader(text))
	}
	first, err := upload("first.md", killText(1))
	if err != nil {
		t.Fatal(err)
	}
	waitReady(t, api)
	// Jobs are accepted until there is no room: some of them are then half way.
	release := func() {}
	for i := range 40 {
		if _, err = upload(fmt.Sprintf("large-%02d.md", i), largeText(i)); err != nil {
			break
		}
		if i == 5 {
			release = fill(t, disk)
		}
	}
	if !isStatus(err, http.StatusInsufficientStorage) {
		t.Fatalf("uploads to a full disk: %v", err)
	}
	eventually(t, func() bool {
		var jobs struct {
			Data []struct{ Status, Waiting, Error string } `json:"data"`
		}
		if err := api.get(t.Context(), "/api/v1/jobs?limit=100", &jobs); err != nil {
			t.Fatal(err)
		}
		waiting := false
		for _, j := range jobs.Data {
			if j.Status == "failed" {
				t.Fatalf("a job failed: %s", j.Error)
			}
			waiting = waiting || strings.Contains(j.Waiting, "waits for room on the disk")
		}
		return waiting
	})
	if got := firstHit(t, api, "code1x"); got != "first.md" {
		t.Errorf("search on a full disk: %q", got)
	}
	if err := api.do(t.Context(), http.MethodDelete, "/api/v1/knowledge-bases/kb/documents/"+first.ID, nil, "", nil); err != nil {
		t.Errorf("delete on a full disk: %v", err)
	}
	if got := firstHit(t, api, "code1x"); got == "first.md" {
		t.Error("the deleted document is found")
	}
	srv.kill() // and on a full disk it starts again
	srv = startServer(t, data)
	api = srv.client()
	release()
	docs := waitReady(t, api)
	if len(docs) < 5 || docs["first.md"] != "" {
		t.Errorf("documents: %v", docs)
	}
	eventually(t, func() bool { _, err := upload("again.md", killText(2)); return err == nil })
	waitReady(t, api)
	stop(t, srv)
	if err := os.RemoveAll(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	runs(t, "verify", "--data", data)
}

// TestDeletingOnAFullDisk fills a disk with uploads, which are never more than
// the disk takes beside the reserve. Then every deletion goes through, with jobs
// waiting for the room and with another program that takes what is free, after
// a restart, and of the knowledge base as a whole.
func TestDeletingOnAFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; not with -short")
	}
	disk := smallDisk(t, 40)
	data := filepath.Join(disk, "data")
	srv := startServer(t, data)
	api := srv.client()
	if err := api.ensureKnowledgeBase(t.Context(), "kb"); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for {
		s, err := api.upload(t.Context(), "kb", fmt.Sprintf("%03d.md", len(ids)), strings.NewReader(largeText(len(ids))))
		if err != nil {
			if !isStatus(err, http.StatusInsufficientStorage) {
				t.Fatal(err)
			}
			break
		}
		ids = append(ids, s.ID)
	}
	remove := func(n int) {
		t.Helper()
		for _, id := range ids[:n] {
			if err := api.do(t.Context(), http.MethodDelete, "/api/v1/knowledge-bases/kb/documents/"+id, nil, "", nil); err != nil {
				t.Fatalf("delete on a full disk: %v", err)
			}
		}
		ids = ids[n:]
	}
	if len(ids) < 30 {
		t.Fatalf("full after %d uploads", len(ids))
	}
	remove(5)
	for range 5 {
		fill(t, disk)
		remove(1)
	}
	stop(t, srv)
	fill(t, disk)
	srv = startServer(t, data)
	api = srv.client()
	for range 5 {
		fill(t, disk)
		remove(1)
	}
	if err := api.do(t.Context(), http.MethodDelete, "/api/v1/knowledge-bases/kb", nil, "", nil); err != nil {
		t.Errorf("delete the knowledge base on a full disk: %v", err)
	}
	stop(t, srv)
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	runs(t, "verify", "--data", data)
}

// largeText has some hundred chunks.
func largeText(i int) string {
	var b strings.Builder
	for p := range 300 {
		fmt.Fprintf(&b, "Paragraph %d of file %d. %s\n\n", p, i, strings.Repeat("It tells of bolts, nuts and washers in their boxes. ", 14))
	}
	return b.String()
}

func firstHit(t *testing.T, api *client, query string) string {
	t.Helper()
	var r retrieved
	if err := api.post(t.Context(), "/api/v1/retrieve", map[string]any{"query": query, "knowledge_bases": []string{"kb"}}, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) == 0 {
		return ""
	}
	return r.Hits[0].DocumentName
}

// stop ends a server as a user does.
func stop(t *testing.T, s *server) {
	t.Helper()
	s.once.Do(func() {
		if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		context.AfterFunc(ctx, func() { _ = s.cmd.Process.Kill() }) // it is gone already, if all is well
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
}
