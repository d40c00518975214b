package retrieval_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/store"
	"ragagent/store/chromem"
)

// files are side files in memory.
type files struct {
	mu     sync.Mutex
	bodies map[string][]byte
	writes int
	fail   error // of the next reads and writes
	during func()
}

func (f *files) Write(_ context.Context, kind, key, stamp string, write func(io.Writer) error) error {
	var body bytes.Buffer
	if err := write(&body); err != nil {
		return err
	}
	if f.during != nil {
		f.during()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return f.fail
	}
	f.writes++
	f.bodies[kind+key+stamp] = body.Bytes()
	return nil
}

func (f *files) Read(_ context.Context, kind, key, stamp string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	if body, ok := f.bodies[kind+key+stamp]; ok {
		return slices.Clone(body), nil
	}
	return nil, store.ErrNotFound
}

func (f *files) Remove(kind, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.bodies {
		if strings.HasPrefix(name, kind+key) {
			delete(f.bodies, name)
		}
	}
	return nil
}

// truth is the visible chunks of one knowledge base, by document and ordinal.
type truth struct {
	chunks []store.Chunk
	fail   error // of reading vectors
	read   []string
}

func (u *truth) put(doc string, revision, chunks int) {
	u.chunks = slices.DeleteFunc(u.chunks, func(c store.Chunk) bool { return c.DocumentID == doc })
	for i := range chunks {
		text := fmt.Sprintf("%s says number %d of edition%d about ships", doc, i, revision)
		vector := []float32{1, 0}
		if i%2 == 1 {
			vector = []float32{0, 1}
		}
		u.chunks = append(u.chunks, store.Chunk{
			ID: store.ChunkID(doc, revision, i, text), KnowledgeBaseID: "kb_1", DocumentID: doc, Revision: revision, Ordinal: i,
			Title: doc, Text: text, Vector: vector,
		})
	}
	slices.SortStableFunc(u.chunks, func(a, b store.Chunk) int { return strings.Compare(a.DocumentID, b.DocumentID) })
}

func (u *truth) VisibleChunks(_ context.Context, _, doc string) iter.Seq2[store.Chunk, error] {
	return func(yield func(store.Chunk, error) bool) {
		u.read = append(u.read, doc)
		for _, c := range u.chunks {
			if (doc == "" || c.DocumentID == doc) && !yield(c, nil) {
				return
			}
		}
	}
}

func (u *truth) VisibleDocuments(context.Context, string) iter.Seq2[store.IndexedDocument, error] {
	return func(yield func(store.IndexedDocument, error) bool) {
		for i := 0; i < len(u.chunks); {
			d := store.IndexedDocument{ID: u.chunks[i].DocumentID, Revision: u.chunks[i].Revision}
			for ; i < len(u.chunks) && u.chunks[i].DocumentID == d.ID; i++ {
				d.Chunks++
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (u *truth) VisibleVectors(context.Context, string) iter.Seq2[store.VectorEntry, error] {
	return func(yield func(store.VectorEntry, error) bool) {
		if u.fail != nil {
			yield(store.VectorEntry{}, u.fail)
			return
		}
		for _, c := range u.chunks {
			if !yield(store.VectorEntry{ID: c.ID, Vector: c.Vector}, nil) {
				return
			}
		}
	}
}

// shelf is an index over side files that outlive it.
func shelf(t *testing.T, f retrieval.SideFiles) *retrieval.Index {
	t.Helper()
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	if err != nil {
		t.Fatal(err)
	}
	index, err := retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Vectors: chromem.New(chromem.Config{}), Files: f})
	if err != nil {
		t.Fatal(err)
	}
	return index
}

var kbOne = store.KnowledgeBase{ID: "kb_1"}

// saved returns the side files of an index of ten documents of four chunks, and
// the truth it was made from.
func saved(t *testing.T) (*files, *truth) {
	t.Helper()
	u := &truth{}
	for i := range 10 {
		u.put(fmt.Sprintf("doc_%d", i), 1, 4)
	}
	f := &files{bodies: map[string][]byte{}}
	index := shelf(t, f)
	if err := index.Load(t.Context(), kbOne, u.VisibleChunks(t.Context(), "", "")); err != nil {
		t.Fatal(err)
	}
	if err := index.Save(t.Context(), "kb_1"); err != nil {
		t.Fatal(err)
	}
	u.read = nil
	return f, u
}

// holds compares an index with the truth.
func holds(t *testing.T, index *retrieval.Index, u *truth) {
	t.Helper()
	words, vectors, err := index.Contents(t.Context(), "kb_1")
	var want []string
	for _, c := range u.chunks {
		want = append(want, c.ID)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, words) + cmp.Diff(want, vectors); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestRestore: what is in the side file and not in the truth goes, what is in
// the truth and not in the file comes, and no other text is read.
func TestRestore(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(u *truth)
		read   []string
	}{
		{"nothing has changed", func(*truth) {}, nil},
		{"deleted", func(u *truth) { u.put("doc_3", 0, 0) }, nil},
		{"the first and the last deleted", func(u *truth) { u.put("doc_0", 0, 0); u.put("doc_9", 0, 0) }, nil},
		{"added", func(u *truth) { u.put("doc_33", 1, 2); u.put("doc_99", 1, 2) }, []string{"doc_33", "doc_99"}},
		{"replaced", func(u *truth) { u.put("doc_5", 2, 4) }, []string{"doc_5"}},
		{"all at once", func(u *truth) { u.put("doc_1", 0, 0); u.put("doc_22", 1, 2); u.put("doc_9", 1, 4) }, []string{"doc_22"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, u := saved(t)
			c.change(u)
			index := shelf(t, f)
			if ok, err := index.Restore(t.Context(), kbOne, u); !ok || err != nil {
				t.Fatalf("restored: %t, %v", ok, err)
			}
			if diff := cmp.Diff(c.read, u.read); diff != "" {
				t.Errorf("texts read: %s", diff)
			}
			holds(t, index, u)
		})
	}
}

// TestNotRestored: what cannot be relied on is built, and what is wrong is said.
func TestNotRestored(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		do   func(f *files, u *truth)
		want error
	}{
		{"no file", func(f *files, _ *truth) { clear(f.bodies) }, nil},
		{"unreadable", func(f *files, _ *truth) { f.fail = store.ErrDamaged }, store.ErrDamaged},
		{"no index", func(f *files, _ *truth) {
			for name := range f.bodies {
				f.bodies[name] = []byte("something else")
			}
		}, store.ErrDamaged},
		{"vectors unreadable", func(_ *files, u *truth) { u.fail = broken }, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, u := saved(t)
			c.do(f, u)
			index := shelf(t, f)
			if ok, err := index.Restore(t.Context(), kbOne, u); ok || !errors.Is(err, c.want) {
				t.Fatalf("restored: %t, %v", ok, err)
			}
			if err := index.Load(t.Context(), kbOne, u.VisibleChunks(t.Context(), "", "")); err != nil {
				t.Fatal(err)
			}
			holds(t, index, u)
		})
	}
	t.Run("too old", func(t *testing.T) {
		f, u := saved(t)
		for i := range 3 {
			u.put(fmt.Sprintf("doc_%d", i), 2, 4)
		}
		if ok, err := shelf(t, f).Restore(t.Context(), kbOne, u); ok || err == nil || len(u.read) > 0 {
			t.Errorf("restored: %t, %v, and read %v", ok, err, u.read)
		}
	})
}

// TestDropRemovesTheSideFile, also one that is being written.
func TestDropRemovesTheSideFile(t *testing.T) {
	f, u := saved(t)
	index := shelf(t, f)
	if ok, err := index.Restore(t.Context(), kbOne, u); !ok || err != nil {
		t.Fatal(ok, err)
	}
	f.during = func() {
		if err := index.Drop(context.Background(), "kb_1"); err != nil {
			t.Error(err)
		}
	}
	if err := index.Save(t.Context(), "kb_1"); err != nil {
		t.Error(err)
	}
	if len(f.bodies) > 0 {
		t.Errorf("%d files are left", len(f.bodies))
	}
	if err := index.Save(t.Context(), "kb_1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("save what is gone: %v", err)
	}
}

// TestLoadFailsAsAWhole: whichever side fails, Load ends with its reason.
func TestLoadFailsAsAWhole(t *testing.T) {
	_, u := saved(t)
	broken := errors.New("broken")
	index := shelf(t, nil)
	many := func(last store.Chunk, err error) iter.Seq2[store.Chunk, error] {
		return func(yield func(store.Chunk, error) bool) {
			for i := range 5000 { // more than is handed over at a time
				c := u.chunks[0]
				c.ID, c.DocumentID = fmt.Sprintf("chk_%d", i), fmt.Sprintf("doc_%d", i)
				if !yield(c, nil) {
					return
				}
			}
			yield(last, err)
		}
	}
	if err := index.Load(t.Context(), kbOne, many(store.Chunk{}, broken)); !errors.Is(err, broken) {
		t.Errorf("the chunks fail: %v", err)
	}
	odd := store.Chunk{ID: "chk_odd", DocumentID: "doc_odd", Text: "odd", Vector: []float32{1, 0, 0}}
	var dimension *store.DimensionError
	if err := index.Load(t.Context(), kbOne, many(odd, nil)); !errors.As(err, &dimension) {
		t.Errorf("a vector does not fit: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := index.Load(ctx, kbOne, many(store.Chunk{}, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := index.Load(t.Context(), kbOne, u.VisibleChunks(t.Context(), "", "")); err != nil {
		t.Error(err)
	}
	holds(t, index, u)
}
