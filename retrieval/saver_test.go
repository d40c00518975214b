package retrieval_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/store"
)

// kept is an index with a Saver, a clock that a test turns, and a log.
type kept struct {
	*retrieval.Index
	*files
	saver *retrieval.Saver
	truth truth
	log   bytes.Buffer

	clock sync.Mutex
	now   time.Time
}

func keep(t *testing.T) *kept {
	t.Helper()
	k := &kept{files: &files{bodies: map[string][]byte{}}, now: time.Unix(1_700_000_000, 0)}
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	if err != nil {
		t.Fatal(err)
	}
	k.Index, err = retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Files: k.files, Now: func() time.Time {
		k.clock.Lock()
		defer k.clock.Unlock()
		return k.now
	}})
	if err != nil {
		t.Fatal(err)
	}
	k.saver, err = retrieval.NewSaver(retrieval.SaverConfig{
		Index: k.Index, Every: time.Minute, Quiet: time.Second, Log: slog.New(slog.NewTextHandler(&k.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Load(t.Context(), kbOne, k.truth.VisibleChunks(t.Context(), "", "")); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *kept) pass(d time.Duration) {
	k.clock.Lock()
	defer k.clock.Unlock()
	k.now = k.now.Add(d)
}

func (k *kept) put(t *testing.T, doc string, revision, chunks int) {
	t.Helper()
	k.truth.put(doc, revision, chunks)
	if err := k.Replace(t.Context(), kbOne, doc, k.truth.VisibleChunks(t.Context(), "", doc)); err != nil {
		t.Fatal(err)
	}
}

// TestSaverWaits: a file is written when enough has changed, nothing changes
// any more, and the last one is some time ago; or that is very long ago.
func TestSaverWaits(t *testing.T) {
	k := keep(t)
	want := func(after string, writes int) {
		t.Helper()
		k.saver.Round(t.Context())
		if k.writes != writes {
			t.Fatalf("after %s: %d files written, want %d", after, k.writes, writes)
		}
	}
	k.pass(time.Hour)
	want("an hour of nothing", 0)
	for i := range 10 {
		k.put(t, fmt.Sprintf("doc_%d", i), 1, 10)
	}
	want("changes", 1) // nothing was written for an hour: no rest is waited for
	k.put(t, "doc_3", 2, 10)
	k.pass(2 * time.Second)
	want("too early", 1)
	k.pass(time.Minute)
	want("a rest", 2)
	k.pass(time.Hour)
	want("an hour without changes", 2)
	k.put(t, "doc_4", 2, 1)
	k.put(t, "doc_4", 3, 10)
	k.pass(time.Hour)
	want("twenty-two changed chunks of a hundred", 3)
	k.put(t, "doc_20", 1, 6)
	k.pass(time.Minute - time.Second)
	for i := range 9 {
		k.put(t, fmt.Sprintf("doc_3%d", i), 1, 2)
		want("no rest", 3)
		k.pass(time.Minute)
	}
	k.put(t, "doc_40", 1, 2)
	k.pass(time.Second / 2)
	want("a long time without rest", 3)
	k.pass(time.Second / 2)
	want("ten minutes", 4)
	k.put(t, "doc_30", 1, 0) // it is deleted
	k.pass(time.Minute - time.Second)
	want("a deletion, too early", 4)
	k.pass(time.Second)
	want("a deletion and a rest", 5)
	k.put(t, "doc_31", 1, 0)
	k.pass(time.Minute)
	k.put(t, "doc_20", 2, 6)
	want("a deletion without rest", 5)
	k.pass(time.Minute)
	k.put(t, "doc_20", 3, 6)
	want("two minutes", 6)
	data, err := k.Read(t.Context(), retrieval.WordsKind, kbOne.ID, retrieval.WordsStamp)
	if err != nil {
		t.Fatal(err)
	}
	for doc, there := range map[string]bool{"doc_30": false, "doc_31": false, "doc_32": true} {
		if bytes.Contains(data, []byte(doc)) != there {
			t.Errorf("the file has %s: %t, want %t", doc, !there, there)
		}
	}
	if k.log.Len() > 0 {
		t.Error(k.log.String())
	}
}

// TestSaverFullDisk says so once, and once more after there was room.
func TestSaverFullDisk(t *testing.T) {
	k := keep(t)
	round := func(revision int) {
		k.put(t, "doc_1", revision, 10)
		k.pass(time.Hour)
		k.saver.Round(t.Context())
	}
	k.fail = store.ErrFull
	round(1)
	round(2)
	k.fail = nil
	round(3)
	k.fail = store.ErrFull
	round(4)
	if n := strings.Count(k.log.String(), "no room for the side files"); n != 2 || k.writes != 1 {
		t.Errorf("said %d times, %d files written:\n%s", n, k.writes, k.log.String())
	}
	k.fail = errors.New("broken")
	round(5)
	if !strings.Contains(k.log.String(), "side file not written") {
		t.Error(k.log.String())
	}
}

// TestSaverCloses writes what has changed since, in the end.
func TestSaverCloses(t *testing.T) {
	defer goleak.VerifyNone(t)
	k := keep(t)
	k.put(t, "doc_1", 1, 10)
	if err := k.saver.Close(); err != nil || k.writes != 0 {
		t.Errorf("closed before it was started: %d files, %v", k.writes, err)
	}
	k.saver.Start()
	for range 2 {
		if err := k.saver.Close(); err != nil || k.writes != 1 {
			t.Errorf("closed: %d files, %v", k.writes, err)
		}
	}
	again := shelf(t, k.files)
	if ok, err := again.Restore(t.Context(), kbOne, &k.truth); !ok || err != nil {
		t.Errorf("restored: %t, %v", ok, err)
	}
}
