package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/ingest"
	"ragagent/store"
)

// keeper is an indexer with side files of some knowledge bases, by name.
type keeper struct {
	*index
	kept map[string]error // nil: there is one that fits

	mu       sync.Mutex
	built    []string
	building int
	together bool // two were built at once
}

func (k *keeper) Restore(_ context.Context, kb store.KnowledgeBase, _ store.Visible) (bool, error) {
	err, ok := k.kept[kb.Name]
	return ok && err == nil, err
}

func (k *keeper) Load(ctx context.Context, kb store.KnowledgeBase, chunks iter.Seq2[store.Chunk, error]) error {
	k.mu.Lock()
	k.built = append(k.built, kb.Name)
	k.building++
	k.together = k.together || k.building > 1
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.building--
		k.mu.Unlock()
	}()
	return k.index.Load(ctx, kb, chunks)
}

// TestLoadRestores: what has a side file that fits is not built, all else is,
// one at a time, and progress counts each once.
func TestLoadRestores(t *testing.T) {
	dir := t.TempDir()
	h := build(t, dir, nil)
	for i := range 8 {
		if _, err := h.CreateKnowledgeBase(t.Context(), store.KnowledgeBase{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	h.close(t)
	k := &keeper{index: newIndex(), kept: map[string]error{"2": nil, "5": nil, "6": store.ErrDamaged}}
	h = build(t, dir, func(c *ingest.Config) { c.Indexer = k })
	type step struct{ Done, Total int }
	var steps []step
	restored := map[string]bool{}
	if err := h.Load(t.Context(), func(p ingest.Progress) {
		steps = append(steps, step{p.Done, p.Total})
		restored[p.KnowledgeBase.Name] = p.Restored
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"0": false, "1": false, "2": true, "3": false, "4": false, "5": true, "6": false, "7": false}
	if diff := cmp.Diff(want, restored); diff != "" || len(k.built) != 6 || k.together {
		t.Errorf("restored %v, built %v, two at once: %t\n%s", restored, k.built, k.together, diff)
	}
	for i, s := range steps {
		if s != (step{i + 1, 8}) {
			t.Errorf("step %d: %+v", i, s)
		}
	}
}

// TestLoadEnds when it is told to, and says why.
func TestLoadEnds(t *testing.T) {
	dir := t.TempDir()
	twoHouses(t, dir)
	h := build(t, dir, nil)
	ctx, cancel := context.WithCancel(t.Context())
	err := h.Load(ctx, func(ingest.Progress) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("load: %v", err)
	}
}
