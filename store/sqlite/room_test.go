package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ragagent/store"
	"ragagent/store/sqlite"
)

// TestLogIsShortWhereRoomIsLow: with room the log grows up to its ordinary
// length; with little it never has more than a write behind 1 MB, and what it
// held is in the database.
func TestLogIsShortWhereRoomIsLow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	var room atomic.Int64
	room.Store(1 << 40)
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Room: room.Load})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	logged := func() int64 {
		t.Helper()
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	write := func(n int) {
		t.Helper()
		err := db.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{
			ID: fmt.Sprintf("kb_%d", n), Name: fmt.Sprintf("n%d", n), Description: strings.Repeat("text ", 40_000),
			Fingerprint: "f", Embedder: "e", CreatedAt: time.Unix(1, 0), UpdatedAt: time.Unix(1, 0),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 20 {
		write(n)
	}
	if logged() < 3<<20 {
		t.Fatalf("with room the log has %d bytes", logged())
	}
	room.Store(10 << 20)
	for n := range 20 {
		write(20 + n)
		if logged() > 3<<19 {
			t.Fatalf("with little room the log has %d bytes", logged())
		}
	}
	if err := db.EmptyLog(t.Context()); err != nil || logged() != 0 {
		t.Errorf("an empty log has %d bytes, %v", logged(), err)
	}
	if kbs, err := db.KnowledgeBases(t.Context(), store.Page{Limit: 100}); err != nil || len(kbs) != 40 {
		t.Errorf("%d knowledge bases, %v", len(kbs), err)
	}
}
