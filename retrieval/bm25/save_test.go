package bm25

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ragagent/retrieval"
	"ragagent/store"
)

func save(t testing.TB, x *Index, collection string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := x.Save(t.Context(), collection, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func documents(x *Index, collection string) []store.IndexedDocument {
	return slices.Collect(x.Documents(collection))
}

func TestRestoredEqualsSaved(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb", chunk("b", 0, "Red foxes", "A red fox runs"), chunk("b", 1, "", "running foxes"), chunk("a", 0, "東京", "東京大学の歴史"))
	revised := chunk("c", 0, "", "a fox of another revision")
	revised.Revision = 7
	replace(t, x, "kb", "c", revised)
	replace(t, x, "kb", "a")
	saved := save(t, x, "kb")

	y := newIndex(t)
	load(t, y, "kb", chunk("z", 0, "", "fox"))
	if err := y.Restore(t.Context(), "kb", saved); err != nil {
		t.Fatal(err)
	}
	want := []store.IndexedDocument{{ID: "b", Revision: 0, Chunks: 2}, {ID: "c", Revision: 7, Chunks: 1}}
	if diff := cmp.Diff(want, documents(y, "kb")); diff != "" {
		t.Error(diff)
	}
	for _, query := range []string{"red fox", "running", "東京", "revison"} {
		if diff := cmp.Diff(search(t, x, query, "kb"), search(t, y, query, "kb")); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	if !bytes.Equal(saved, save(t, y, "kb")) {
		t.Error("saved again it is something else")
	}
}

func TestSaveOfNothing(t *testing.T) {
	x := newIndex(t)
	if err := x.Save(t.Context(), "nowhere", new(bytes.Buffer)); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	load(t, x, "empty")
	if err := x.Restore(t.Context(), "kb", save(t, x, "empty")); err != nil {
		t.Error(err)
	}
	if got, ok := x.IDs("kb"); !ok || len(got) != 0 {
		t.Error(got, ok)
	}
	if got := documents(x, "nowhere"); got != nil {
		t.Error(got)
	}
}

func TestRestoreOfAnotherFormat(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb", chunk("a", 0, "", "cat"))
	for place := range 2 { // format, analysis
		other := save(t, x, "kb")
		binary.LittleEndian.PutUint32(other[len(magic)+4*place:], 99)
		if err := x.Restore(t.Context(), "kb", other); !errors.Is(err, retrieval.ErrOtherFormat) {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"a#0"}, ids(search(t, x, "cat", "kb"))); diff != "" {
		t.Error(diff)
	}
}

// A document that two segments have alive.
func TestRestoreOfOneDocumentTwice(t *testing.T) {
	x := newIndex(t)
	load(t, x, "kb", chunk("a", 0, "", "cat"))
	saved := save(t, x, "kb")
	segment := saved[len(magic)+12:]
	binary.LittleEndian.PutUint32(saved[len(magic)+8:], 2)
	if err := x.Restore(t.Context(), "kb", append(saved, segment...)); !errors.Is(err, store.ErrDamaged) {
		t.Error(err)
	}
}

// use does everything with a restored collection that could trip over damage.
func use(t testing.TB, x *Index) {
	search(t, x, "red fox cat stars 東京大 flox", "kb")
	documents(x, "kb")
	x.IDs("kb")
	x.DocumentChunks("kb", "a")
	x.TermWeights([]string{"kb"}, []string{"fox"})
	replace(t, x, "kb", "a")
	for i := range 5 {
		id := fmt.Sprint("new", i)
		replace(t, x, "kb", id, chunk(id, 0, "Red stars", "a red fox"))
	}
	search(t, x, "red fox cat stars 東京大 flox", "kb")
	save(t, x, "kb")
}

// sample is a saved collection with all fields, several segments and dead chunks.
func sample(t testing.TB) []byte {
	x := newIndex(t)
	load(t, x, "kb", chunk("a", 0, "Cat stars", "Foxes and a fox, red, red red red red cats"), chunk("a", 1, "", "東京大学"), chunk("b", 0, "", "star cat"))
	replace(t, x, "kb", "c", chunk("c", 0, "Red fox", "red foxes of 東京"))
	replace(t, x, "kb", "b")
	return save(t, x, "kb")
}

// Whatever byte is changed, and wherever the data is cut off: an error, or a
// collection that works.
func TestRestoreOfDamaged(t *testing.T) {
	good := sample(t)
	use(t, restored(t, good))
	for i := range good {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			if x := restored(t, bad); x != nil {
				func() {
					defer func() {
						if r := recover(); r != nil {
							t.Fatalf("byte %d ^ %#x: %v", i, flip, r)
						}
					}()
					useQuietly(x)
				}()
			}
		}
		if restored(t, good[:i]) != nil {
			t.Errorf("%d of %d bytes are enough", i, len(good))
		}
	}
}

// restored returns nil if the data is refused.
func restored(t testing.TB, data []byte) *Index {
	x := newIndex(t)
	err := x.Restore(t.Context(), "kb", data)
	switch {
	case err == nil:
		return x
	case !errors.Is(err, store.ErrDamaged) && !errors.Is(err, retrieval.ErrOtherFormat):
		t.Fatal(err)
	}
	if _, ok := x.IDs("kb"); ok {
		t.Fatal("a collection was made nevertheless")
	}
	return nil
}

// useQuietly is use without a look at what it finds, which damage may change.
func useQuietly(x *Index) {
	ctx := context.Background()
	for range 2 {
		if m, err := x.Search(ctx, []string{"kb"}, "red fox cat stars 東京大 flox"); err == nil {
			for _, h := range m.Top(50) {
				m.Holds(h.Ref)
				m.Explain(h.Ref)
			}
			m.Release()
		}
		x.DocumentChunks("kb", "a")
		x.TermWeights([]string{"kb"}, []string{"fox"})
		_ = x.Replace(ctx, "kb", "a", sequence())
		for i := range 5 {
			id := fmt.Sprint("new", i)
			_ = x.Replace(ctx, "kb", id, sequence(chunk(id, 0, "Red stars", "a red fox")))
		}
		_ = x.Save(ctx, "kb", new(bytes.Buffer))
	}
}

func FuzzRestore(f *testing.F) {
	f.Add(sample(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if x := restored(t, data); x != nil {
			useQuietly(x)
		}
	})
}

// A collection that is saved and restored between any changes goes on as if it
// had not been.
func TestSavedBetweenChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		kept := drawIndex(t)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			document := fmt.Sprintf("doc%d", rapid.IntRange(0, 7).Draw(t, "document"))
			chunks := drawChunks(t, document)
			for _, name := range []string{"kb", "fresh"} {
				if err := kept.Replace(ctx, name, document, sequence(chunks...)); err != nil {
					t.Fatal(err)
				}
			}
			if rapid.Bool().Draw(t, "saved") {
				var b bytes.Buffer
				if err := kept.Save(ctx, "kb", &b); err != nil {
					t.Fatal(err)
				}
				if err := kept.Restore(ctx, "kb", b.Bytes()); err != nil {
					t.Fatal(err)
				}
			}
		}
		compare(t, kept, drawText(t, "query")+" catz")
		if diff := cmp.Diff(documents(kept, "fresh"), documents(kept, "kb")); diff != "" {
			t.Fatal(diff)
		}
	})
}
