package retrieval

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"ragagent/store"
)

// A collection is the vectors of a knowledge base in one space: its name holds
// both, so that a question in one space never meets the vectors of another.
func collection(kb store.KnowledgeBase) string {
	if kb.Fingerprint == "" {
		return kb.ID
	}
	return kb.ID + "@" + kb.Fingerprint
}

// spaces are the collections of one knowledge base. Guarded by Index.mu.
type spaces struct {
	current string         // that is searched; "" while nothing is loaded
	shadow  string         // that is there to be compared or switched to; "" for none
	pins    map[string]int // questions that are at a collection
	retired map[string]bool
}

// pin keeps the vectors of a knowledge base, in the space that its record names,
// until release. ok false says that it has another embedder by now.
func (x *Index) pin(kb store.KnowledgeBase) (name string, release func(), ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	name = collection(kb)
	b := x.bases[kb.ID]
	if b == nil || b.current == "" {
		return name, func() {}, true // nothing is loaded: nothing is found
	}
	if name != b.current && name != b.shadow {
		return "", nil, false
	}
	if b.pins == nil {
		b.pins = make(map[string]int)
	}
	b.pins[name]++
	return name, func() { x.unpin(b, kb.ID, name) }, true
}

func (x *Index) unpin(b *base, kbID, name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if b.pins[name]--; b.pins[name] > 0 {
		return
	}
	delete(b.pins, name)
	x.forgetUnused(b, kbID)
	if !b.retired[name] {
		return
	}
	delete(b.retired, name)
	// Under the lock: who loads the collection again has taken it out of retired
	// before, or does so after this.
	_ = x.vectors.DeleteCollection(context.Background(), name) // nobody asks it any more: it takes memory, no more
}

// keep says that a collection is about to be loaded: the last question to the
// vectors it had must not take it away.
func (x *Index) keep(kbID, name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if b := x.bases[kbID]; b != nil {
		delete(b.retired, name)
	}
}

// retire removes a collection as soon as no question is at it.
func (x *Index) retire(ctx context.Context, b *base, name string) error {
	if name == "" {
		return nil
	}
	x.mu.Lock()
	busy := b.pins[name] > 0
	if busy {
		if b.retired == nil {
			b.retired = make(map[string]bool)
		}
		b.retired[name] = true
	}
	x.mu.Unlock()
	if busy {
		return nil
	}
	return x.vectors.DeleteCollection(ctx, name)
}

// settle notes which collection a knowledge base was loaded into, and removes
// the one it had.
func (x *Index) settle(ctx context.Context, b *base, name string) error {
	x.mu.Lock()
	old := b.current
	b.current = name
	x.mu.Unlock()
	if old == name || x.vectors == nil {
		return nil
	}
	return x.retire(context.WithoutCancel(ctx), b, old)
}

// vectorsOf is the collection that holds the vectors of a loaded knowledge base.
func (x *Index) vectorsOf(kbID string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if b := x.bases[kbID]; b != nil && b.current != "" {
		return b.current
	}
	return kbID
}

// LoadShadow puts a second set of vectors beside that of a knowledge base, in
// the place of one that may be there. kb is the knowledge base as it would be
// with them. Only who names their space finds them, see Pipeline.As. What
// changes in the knowledge base after this is not in the set.
func (x *Index) LoadShadow(ctx context.Context, kb store.KnowledgeBase, vectors iter.Seq2[store.VectorEntry, error]) error {
	if x.vectors == nil {
		return nil
	}
	b, unlock := x.lock(kb.ID)
	defer unlock()
	name := collection(kb)
	x.mu.Lock()
	current, old := b.current, b.shadow
	x.mu.Unlock()
	if name == current {
		return fmt.Errorf("shadow of %s: %w: its vectors are of %s already", kb.ID, store.ErrConflict, kb.Fingerprint)
	}
	if err := x.loadVectors(ctx, kb, vectors); err != nil {
		err = fmt.Errorf("load the shadow of %s: %w", kb.ID, err)
		if name != old { // of an earlier switch, and kept for nothing
			err = errors.Join(err, x.retire(context.WithoutCancel(ctx), b, name))
		}
		return err
	}
	x.mu.Lock()
	b.shadow = name
	x.mu.Unlock()
	if old == "" || old == name {
		return nil
	}
	return x.retire(ctx, b, old)
}

// DropShadow removes the second set of a knowledge base; none is no error.
func (x *Index) DropShadow(ctx context.Context, kbID string) error {
	b, unlock := x.lock(kbID)
	defer unlock()
	x.mu.Lock()
	name := b.shadow
	b.shadow = ""
	x.mu.Unlock()
	if name == "" {
		return nil
	}
	return x.retire(ctx, b, name)
}

// Switch makes the second set the vectors of a knowledge base, which kb has as
// it is now. A question that is under way ends with the set that it began with.
// store.ErrNotFound if no such set is loaded; nothing has changed then.
func (x *Index) Switch(ctx context.Context, kb store.KnowledgeBase) error {
	if x.vectors == nil {
		return nil
	}
	b, unlock := x.lock(kb.ID)
	defer unlock()
	name := collection(kb)
	x.mu.Lock()
	if b.shadow != name {
		x.mu.Unlock()
		return fmt.Errorf("switch %s to the vectors of %s: %w", kb.ID, kb.Fingerprint, store.ErrNotFound)
	}
	b.shadow = ""
	x.mu.Unlock()
	return x.settle(ctx, b, name)
}

// As returns a Retriever that takes a knowledge base for what kb says: with the
// vectors of a shadow, before anybody else is answered with them.
func (p *Pipeline) As(kb store.KnowledgeBase) Retriever {
	return &Pipeline{
		index: p.index, records: otherwise{p.records, kb}, embedders: p.embedders, openEmbedder: p.openEmbedder,
		denseWeight: p.denseWeight, rewriter: p.rewriter, router: p.router, rerankers: p.rerankers, texts: p.texts, now: p.now,
		expander: p.expander, finalRerankers: p.finalRerankers, diversify: p.diversify,
		defaultRewrite: p.defaultRewrite, defaultRerank: p.defaultRerank,
		rewriteTimeout: p.rewriteTimeout, denseTimeout: p.denseTimeout, rerankTimeout: p.rerankTimeout,
	}
}

// otherwise are records that say something else of one knowledge base.
type otherwise struct {
	Records
	kb store.KnowledgeBase
}

func (o otherwise) KnowledgeBase(ctx context.Context, idOrName string) (store.KnowledgeBase, error) {
	kb, err := o.Records.KnowledgeBase(ctx, idOrName)
	if err == nil && kb.ID == o.kb.ID {
		kb.Embedder, kb.Fingerprint, kb.Dimension = o.kb.Embedder, o.kb.Fingerprint, o.kb.Dimension
	}
	return kb, err
}
