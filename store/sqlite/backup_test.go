package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ragagent/store"
)

func TestBackup(t *testing.T) {
	path := populate(t)
	db := open(t, path)
	dir := t.TempDir()
	// A conversation comes with its run: a copy that holds one of them only is
	// not of one moment.
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			conv := store.Conversation{ID: fmt.Sprintf("conv_b%d", n)}
			run := store.Run{ID: fmt.Sprintf("run_b%d", n), ConversationID: conv.ID}
			if err := db.StartConversation(t.Context(), conv, run, nil); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := range 5 {
		backup := filepath.Join(dir, fmt.Sprintf("backup %d'.db", n))
		if err := db.Backup(t.Context(), backup); err != nil {
			t.Fatal(err)
		}
		if problems := check(t, backup); len(problems) > 0 {
			t.Errorf("problems of the copy: %q", problems)
		}
		copied := open(t, backup)
		conversations, err := copied.Conversations(t.Context(), store.Page{Limit: store.MaxPage})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range conversations[1:] {
			if _, err := copied.Run(t.Context(), "run_"+c.ID[len("conv_"):]); err != nil {
				t.Errorf("of an exchange the copy holds half: %v", err)
			}
		}
		doc, err := copied.Document(t.Context(), "", crashDoc(4).ID)
		if err != nil || doc.ChunkCount != len(crashChunks(4)) {
			t.Errorf("document has %d chunks, %v", doc.ChunkCount, err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestBackupOverwritesNothing(t *testing.T) {
	db := open(t, populate(t))
	backup := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(backup, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), backup); !errors.Is(err, store.ErrConflict) {
		t.Errorf("error is %v, want %v", err, store.ErrConflict)
	}
	if got, err := os.ReadFile(backup); err != nil || string(got) != "content" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestBackupThatFailsLeavesNothing(t *testing.T) {
	db := open(t, populate(t))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Backup(ctx, filepath.Join(dir, "backup.db")); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	if err := db.Backup(t.Context(), filepath.Join(dir, "none", "backup.db")); err == nil {
		t.Error("a backup was made in a folder that is not there")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
