package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"ragagent/store"
)

// SideFiles keeps on the disk what an index was; sidefile.Folder implements it.
type SideFiles interface {
	// Write puts what write writes in the place of an older file, or leaves that
	// as it is and returns an error.
	Write(ctx context.Context, kind, key, stamp string, write func(io.Writer) error) error
	// Read returns exactly what was written under this stamp, or an error;
	// store.ErrNotFound if there is no file.
	Read(ctx context.Context, kind, key, stamp string) ([]byte, error)
	// Remove removes a file; none is no error.
	Remove(kind, key string) error
}

// The side file of a knowledge base holds its lexical index, whose building
// takes nearly all the time of a start. Vectors are read from the truth: that
// is as fast as reading them from a second copy and checking it.
const (
	// WordsKind is the kind of the side files of words.
	WordsKind = "words"
	// WordsStamp is their stamp. The versions of format and analysis stand in
	// the body, where LexicalIndex checks them.
	WordsStamp = "1"
)

// rebuildShare is the share, one in so many, of chunks that may differ from the
// truth. Putting single documents right is slower by the chunk than building
// anew, on all cores, what a side file would have to be so old for.
const rebuildShare = 4

// ErrTooOld says that a side file differs from the truth in so much that building
// anew is faster.
var ErrTooOld = errors.New("it differs in too much from the records")

// Restore loads a knowledge base from its side file, and makes it equal to the
// truth before it returns: documents that are not in the truth, or in another
// revision, go or are replaced. So a side file may be older than the truth, and
// nothing that was deleted comes back with it. false says that it has to be
// built with Load, err why if there is more to it than that there is no side
// file; searches may find anything until then.
//
// What is relied on: the file is what was written, by its checksums; it was
// written of an index that held the chunks of the revisions it names; and a
// revision never changes. Texts are not read, so they are not compared with
// their chunks' ids as Load's caller does: a damaged text is found when the
// records are checked, and a hit is always shown as the truth has it.
func (x *Index) Restore(ctx context.Context, kb store.KnowledgeBase, truth store.Visible) (ok bool, err error) {
	if x.files == nil {
		return false, nil
	}
	b, unlock := x.lock(kb.ID)
	defer unlock()
	data, err := x.files.Read(ctx, WordsKind, kb.ID, WordsStamp)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	vectors := make(chan error, 1)
	go func() {
		if x.vectors == nil {
			vectors <- nil
			return
		}
		vectors <- x.loadVectors(ctx, kb, truth.VisibleVectors(ctx, kb.ID))
	}()
	metadata := x.tables.load(ctx, kb.ID)
	chunks, changed, err := x.restoreWords(ctx, kb.ID, data, truth)
	if err == nil {
		err = metadata()
	} else {
		cancel()
		_ = metadata()
	}
	if err != nil {
		cancel()
		<-vectors
		return false, fmt.Errorf("restore the words of %s: %w", kb.ID, err)
	}
	if err := <-vectors; err != nil {
		return false, fmt.Errorf("load the vectors of %s: %w", kb.ID, err)
	}
	x.reset(b, chunks, changed)
	return true, x.settle(ctx, b, collection(kb))
}

// restoreWords restores the lexical index and makes it equal to the truth. It
// returns how many chunks there are, and how many came or went for it.
func (x *Index) restoreWords(ctx context.Context, kb string, data []byte, truth store.Visible) (chunks, changed int, err error) {
	if err := x.lexical.Restore(ctx, kb, data); err != nil {
		return 0, 0, err
	}
	d, err := differences(x.lexical.Documents(kb), truth.VisibleDocuments(ctx, kb))
	if err != nil {
		return 0, 0, err
	}
	if d.changed*rebuildShare > max(d.chunks, rebuildShare) {
		return 0, 0, ErrTooOld
	}
	for _, id := range d.gone {
		if err := x.lexical.Replace(ctx, kb, id, each(nil)); err != nil {
			return 0, 0, err
		}
	}
	for _, id := range d.fresh {
		if err := x.lexical.Replace(ctx, kb, id, truth.VisibleChunks(ctx, kb, id)); err != nil {
			return 0, 0, err
		}
	}
	return d.chunks, d.changed, nil
}

// difference is what an index lacks to be the truth.
type difference struct {
	gone    []string // documents
	fresh   []string // documents, also those in another revision
	changed int      // chunks of them, on both sides
	chunks  int      // in the truth
}

// differences walks both, which come by id, side by side.
func differences(have iter.Seq[store.IndexedDocument], want iter.Seq2[store.IndexedDocument, error]) (d difference, err error) {
	next, stop := iter.Pull(have)
	defer stop()
	held, more := next()
	leave := func() {
		d.gone = append(d.gone, held.ID)
		d.changed += held.Chunks
		held, more = next()
	}
	for doc, err := range want {
		if err != nil {
			return d, err
		}
		d.chunks += doc.Chunks
		for more && held.ID < doc.ID {
			leave()
		}
		switch {
		case !more || held.ID != doc.ID:
			d.fresh = append(d.fresh, doc.ID)
			d.changed += doc.Chunks
			continue
		case held.Revision != doc.Revision || held.Chunks != doc.Chunks:
			d.fresh = append(d.fresh, doc.ID)
			d.changed += doc.Chunks + held.Chunks
		}
		held, more = next()
	}
	for more {
		leave()
	}
	return d, nil
}

// reset notes that a knowledge base was loaded: of so many chunks, of which so
// many are not as in its side file.
func (x *Index) reset(b *base, chunks, changed int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b.there, b.chunks, b.changed, b.latest = true, chunks, changed, x.now()
	b.went = changed // it is not known how many of them
	b.saved = time.Time{}
	if chunks == 0 { // there is nothing to write yet
		b.saved = b.latest
	}
}

// forget notes that a knowledge base is gone, and removes its side file. One
// that cannot be removed is found to be nobody's at the next start.
func (x *Index) forget(b *base, kb string) {
	x.mu.Lock()
	b.there = false
	x.mu.Unlock()
	if x.files != nil {
		_ = x.files.Remove(WordsKind, kb)
	}
}

// Save writes the side file of a knowledge base. Searches and writers go on
// meanwhile. store.ErrNotFound if it is not loaded; store.ErrFull leaves the
// older file, which is as good as it was, unless chunks went since: then it is
// removed, because their words are in it.
func (x *Index) Save(ctx context.Context, kb string) error { return x.saveAt(ctx, kb, 0) }

// saveAt writes at most rate bytes a second, 0: as many as it can.
func (x *Index) saveAt(ctx context.Context, kb string, rate int64) error {
	if x.files == nil {
		return nil
	}
	x.mu.Lock()
	b := x.bases[kb]
	if b == nil || !b.there {
		x.mu.Unlock()
		return fmt.Errorf("index of %s: %w", kb, store.ErrNotFound)
	}
	// What is counted already is in the index already, so in the file too.
	changed, went := b.changed, b.went
	b.saved = x.now()
	x.mu.Unlock()
	err := x.files.Write(ctx, WordsKind, kb, WordsStamp, func(w io.Writer) error {
		if rate > 0 {
			w = &paced{ctx: ctx, to: w, rate: rate, began: time.Now()}
		}
		return x.lexical.Save(ctx, kb, w)
	})
	x.mu.Lock()
	gone := x.bases[kb] != b || !b.there
	if err == nil {
		b.changed -= min(changed, b.changed)
		b.went -= min(went, b.went)
	} else if went > 0 { // the older file has words of what was deleted
		gone = true
	}
	x.mu.Unlock()
	if gone { // or meanwhile: Drop may have removed the file before it was in place
		return errors.Join(err, x.files.Remove(WordsKind, kb))
	}
	return err
}

// state is what a saver decides by.
type state struct {
	kb              string
	chunks, changed int
	went            int
	latest, saved   time.Time
}

// states lists the knowledge bases that are loaded.
func (x *Index) states() []state {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := make([]state, 0, len(x.bases))
	for kb, b := range x.bases {
		if b.there {
			all = append(all, state{kb, b.chunks, b.changed, b.went, b.latest, b.saved})
		}
	}
	return all
}

// removeOutdated removes the side files that have words of deleted chunks.
func (x *Index) removeOutdated() (err error) {
	for _, b := range x.states() {
		if b.went > 0 && x.files != nil {
			err = errors.Join(err, x.files.Remove(WordsKind, b.kb))
		}
	}
	return err
}
