package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ragagent/ingest/chunk"
	"ragagent/ingest/parse"
	"ragagent/store"
)

// task is one attempt at a job.
type task struct {
	*Service
	job store.Job
	// embedder is the knowledge base's, as it was when the attempt began.
	embedder Embedder
	text     *mapping // where the text is
	// properties are what the file says of itself.
	properties store.Metadata

	mu       sync.Mutex
	progress store.Progress
	course   course

	visible store.Document        // as it was when the attempt began
	known   map[textKey][]float32 // vectors of its revision
	reused  int                   // chunks that took one of them
}

// run brings the document from its original to visible chunks. Every step
// leaves the truth such that the next attempt goes on behind it: the text and
// the chunks are a function of the original, and stored batches stay.
func (t *task) run(ctx context.Context) error {
	kb, err := t.cfg.Records.KnowledgeBase(ctx, t.job.KnowledgeBaseID)
	if err != nil {
		return err
	}
	doc, err := t.cfg.Records.Document(ctx, kb.ID, t.job.DocumentID)
	if err != nil {
		return err
	}
	if doc.Revision < t.job.Revision {
		t.visible = doc
		doc = doc.Upcoming()
		if t.embedder, err = t.embedderOf(ctx, kb); err != nil {
			return err
		}
		if t.known, err = t.reusable(ctx, kb, t.visible); err != nil {
			return err
		}
		text, err := t.parse(ctx, &doc)
		if err != nil {
			return err
		}
		if t.text, err = t.outsource(&text); err != nil {
			return err
		}
		defer t.text.close()
		t.report(store.Progress{Stage: store.StageChunk, Total: len(text.Body)})
		chunks, err := t.cut(kb, doc, text)
		if err != nil {
			return err
		}
		t.course.chunks = len(chunks)
		t.text.rewind()
		if err := t.fits(chunks, t.embedder.Dim()); err != nil {
			return err
		}
		if err := t.embedAndPublish(ctx, kb, doc, text.Body, chunks); err != nil {
			return err
		}
	} else if err := t.index(ctx, kb, doc.ID, t.cfg.Records.VisibleChunks(ctx, kb.ID, doc.ID)); err != nil {
		return err
	}
	// It is all done: the time that is up now ends nothing any more.
	if err := t.cfg.Records.Finish(context.WithoutCancel(ctx), t.job.ID); err != nil {
		return err
	}
	t.paces.learn(t.course, t.cfg.Now())
	return nil
}

// parse reads the original and records in doc what it found.
func (t *task) parse(ctx context.Context, doc *store.Document) (parse.Text, error) {
	t.course.format, t.course.embedder, t.course.bytes = formatOf(doc.Name), t.embedder.Name(), int(doc.Bytes)
	t.report(store.Progress{Stage: store.StageParse})
	original, err := t.cfg.Blobs.Open(ctx, doc.SHA256)
	if err != nil {
		return parse.Text{}, fmt.Errorf("open the original: %w", err)
	}
	defer original.Close()
	text, err := t.parseFile(ctx, doc.Name, original)
	if err != nil {
		return text, err
	}
	if strings.TrimSpace(text.Body) == "" {
		return text, parse.ErrNoText
	}
	doc.MIME = text.MIME
	doc.Pages = text.Pages
	doc.Warnings = text.Warnings
	if doc.Title = doc.GivenTitle; doc.Title == "" {
		doc.Title = titleOf(text.Title, doc.Name)
	}
	t.properties = text.Properties
	doc.Metadata = merged(t.properties, doc.GivenMetadata)
	return text, nil
}

// parseFile reports how far the parser is, if it tells.
func (t *task) parseFile(ctx context.Context, name string, original store.Blob) (parse.Text, error) {
	telling, ok := t.cfg.Parser.(TellingParser)
	if !ok {
		return t.cfg.Parser.Parse(ctx, name, original)
	}
	return telling.ParseTold(ctx, name, original, func(done, total int) {
		t.report(store.Progress{Stage: store.StageParse, Done: done, Total: total})
	})
}

// merged lets what the uploader said win over what the file says of itself.
// Properties that do not fit the bounds of metadata are left out.
func merged(properties, given store.Metadata) store.Metadata {
	out := store.Metadata{}
	for k, v := range properties {
		out[k] = v
	}
	for k, v := range given {
		out[k] = v
	}
	if validMetadata(out) != nil {
		return given
	}
	return out
}

const (
	fewBytes  = 1024    // of a chunk: room for so many chunks is made at once
	toldBytes = 4 << 20 // between two reports of how far cutting is
)

// cut makes the chunks of a text, without vectors. They hold no copy of it: a
// chunk takes about 320 bytes beside its vector.
func (t *task) cut(kb store.KnowledgeBase, doc store.Document, text parse.Text) ([]store.Chunk, error) {
	revision := t.job.Revision
	chunks := make([]store.Chunk, 0, 1+len(text.Body)/fewBytes)
	told := 0
	err := chunk.Each(text, kb.Chunking, func(p chunk.Piece) {
		body := text.Body[p.Span.Start:p.Span.End]
		chunks = append(chunks, store.Chunk{
			ID:              store.ChunkID(doc.ID, revision, len(chunks), body),
			KnowledgeBaseID: kb.ID,
			DocumentID:      doc.ID,
			Revision:        revision,
			Ordinal:         len(chunks),
			Title:           doc.Title,
			Headings:        p.Headings,
			PageStart:       p.PageStart,
			PageEnd:         p.PageEnd,
			Span:            p.Span,
			Text:            body,
			Context:         p.Context,
			Parent:          p.Parent,
		})
		t.text.passed(p.Span.End)
		if p.Span.End-told >= toldBytes {
			told = p.Span.End
			t.report(store.Progress{Stage: store.StageChunk, Done: told, Total: len(text.Body)})
		}
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("cut the text: %w", err)
	case len(chunks) == 0:
		return nil, parse.ErrNoText
	}
	return chunks, nil
}

// embedAndPublish embeds the chunks that are not in the journal yet, batch by
// batch, and makes the revision visible with the last batch. The text is stored
// before the first chunk of it; a document of one batch has all of it in one
// transaction.
func (t *task) embedAndPublish(ctx context.Context, kb store.KnowledgeBase, doc store.Document, text string, chunks []store.Chunk) error {
	done, err := t.resume(ctx, doc, chunks)
	if err != nil {
		return err
	}
	resumed := done > 0
	total := len(chunks)
	t.report(store.Progress{Stage: store.StageEmbed, Done: done, Total: total})
	kept := total-done > t.cfg.Batch
	if kept {
		if err := t.withText(ctx, &doc, t.text.reader(text), func() error { return t.cfg.Records.SetParsed(ctx, t.job.ID, doc) }); err != nil {
			return fmt.Errorf("record the text: %w", err)
		}
	}
	// Of a long document, vectors are not kept: the index reads them from the store.
	long := total > longDocument
	t.text.rewind()
	for total-done > t.cfg.Batch {
		batch := chunks[done : done+t.cfg.Batch]
		if err := t.embed(ctx, batch); err != nil {
			return err
		}
		done += len(batch)
		p := store.Progress{Stage: store.StageEmbed, Done: done, Total: total}
		if err := t.cfg.Records.PutChunks(ctx, t.job.ID, batch, p); err != nil {
			return fmt.Errorf("store %d chunks: %w", len(batch), err)
		}
		t.report(p)
		if long {
			forgetVectors(batch)
			t.text.passed(batch[len(batch)-1].Span.End)
		}
	}
	last := chunks[done:]
	if err := t.embed(ctx, last); err != nil {
		return err
	}
	t.report(store.Progress{Stage: store.StageIndex, Total: total})

	defer t.order.lock(doc.ID)()
	// What was said of the document since the attempt began holds.
	now, err := t.cfg.Records.Document(ctx, kb.ID, doc.ID)
	if err != nil {
		return err
	}
	doc.Metadata = merged(t.properties, now.Upcoming().GivenMetadata)
	doc.Revision = t.job.Revision
	doc.ChunkCount = total
	publish := func() error { return t.cfg.Records.Publish(ctx, t.job.ID, doc, last) }
	if kept {
		err = publish()
	} else {
		err = t.withText(ctx, &doc, t.text.reader(text), publish)
	}
	if err != nil {
		return fmt.Errorf("publish %d chunks: %w", total, err)
	}
	// The revision is visible: the index follows even during a shutdown.
	ctx = context.WithoutCancel(ctx)
	defer t.dropReplaced(ctx)
	if resumed || long {
		// Vectors of the earlier attempt, or all, are in the store only.
		return t.replace(ctx, kb, doc.ID, t.told(total, t.cfg.Records.VisibleChunks(ctx, kb.ID, doc.ID)))
	}
	return t.replace(ctx, kb, doc.ID, each(chunks))
}

// told reports how many of a document's chunks have gone into the indexes, which
// take those of a long one a part at a time.
func (t *task) told(total int, chunks chunkSeq) chunkSeq {
	return func(yield func(store.Chunk, error) bool) {
		done := 0
		for c, err := range chunks {
			if done > 0 && done%longDocument == 0 {
				t.report(store.Progress{Stage: store.StageIndex, Done: done, Total: total})
			}
			if !yield(c, err) {
				return
			}
			done++
		}
	}
}

// longDocument is from how many chunks on a document is long: with their
// vectors, they would take more than some ten megabytes.
const longDocument = 4096

func forgetVectors(chunks []store.Chunk) {
	for i := range chunks {
		chunks[i].Vector = nil
	}
}

// resume returns how many chunks an earlier attempt has stored. If they are not
// what this attempt would store (another version of the parser, other
// settings), they are of no use and everything is done again.
func (t *task) resume(ctx context.Context, doc store.Document, chunks []store.Chunk) (int, error) {
	n, last, err := t.cfg.Records.ChunkJournal(ctx, doc.ID, t.job.Revision)
	if err != nil {
		return 0, fmt.Errorf("read the journal: %w", err)
	}
	if n == 0 {
		return 0, nil
	}
	if n <= len(chunks) && chunks[n-1].ID == last {
		t.cfg.Log.Info("job goes on", "job", t.job.ID, "done", n, "total", len(chunks))
		// The last chunk is always handed to Publish, so keep at least one.
		return min(n, len(chunks)-1), nil
	}
	if err := t.cfg.Records.ClearJournal(ctx, doc.ID, t.job.Revision); err != nil {
		return 0, fmt.Errorf("clear the journal: %w", err)
	}
	return 0, nil
}

// dropReplaced drops what only the revision had that was visible before. The
// caller holds the document's lock.
func (t *task) dropReplaced(ctx context.Context) {
	if t.visible.Revision == 0 {
		return
	}
	t.cfg.Log.Info("revision replaced", "document", t.visible.ID, "revision", t.job.Revision, "vectors_kept", t.reused)
	for _, hash := range t.visible.Blobs() {
		t.dropBlob(ctx, hash)
	}
}

// embed fills in the vectors of a batch. Title, headings and context are part of
// what is embedded, though not of what is quoted.
func (t *task) embed(ctx context.Context, chunks []store.Chunk) error {
	missing := t.reuse(chunks)
	if len(missing) == 0 {
		return nil
	}
	texts := make([]string, len(missing))
	for i, at := range missing {
		texts[i] = indexed(chunks[at])
	}
	vectors, err := t.embedder.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embed %d chunks: %w", len(texts), err)
	}
	t.answered(t.job.KnowledgeBaseID)
	if len(vectors) != len(texts) {
		return fmt.Errorf("embed %d chunks: the embedder returned %d vectors", len(texts), len(vectors))
	}
	for i, at := range missing {
		chunks[at].Vector, chunks[at].Fingerprint = vectors[i], t.embedder.Fingerprint()
	}
	return nil
}

func indexed(c store.Chunk) string {
	var b strings.Builder
	if c.Title != "" {
		b.WriteString(c.Title)
		b.WriteByte(' ')
	}
	for _, h := range c.Headings {
		if h != c.Title {
			b.WriteString(h)
			b.WriteByte(' ')
		}
	}
	if c.Context != "" {
		b.WriteString(c.Context)
		b.WriteByte(' ')
	}
	b.WriteString(c.Text)
	return b.String()
}

// index replaces a document in the search indexes, in the order of the truth.
func (t *task) index(ctx context.Context, kb store.KnowledgeBase, doc string, chunks chunkSeq) error {
	t.report(store.Progress{Stage: store.StageIndex})
	defer t.order.lock(doc)()
	return t.replace(ctx, kb, doc, chunks)
}

// replace puts a document's chunks into the indexes. Of a knowledge base in
// quarantine nothing is indexed: what ends the quarantine loads it as a whole.
// The caller holds the document's lock.
func (s *Service) replace(ctx context.Context, kb store.KnowledgeBase, doc string, chunks chunkSeq) error {
	defer s.order.lock(kb.ID)()
	defer s.nudgeChanges(kb.ID, doc)
	if s.Quarantined(kb.ID) != nil {
		return nil
	}
	now, err := s.cfg.Records.KnowledgeBase(ctx, kb.ID)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if now.Fingerprint != kb.Fingerprint { // switched since the caller looked: so are the vectors of these chunks
		kb, chunks = now, s.cfg.Records.VisibleChunks(ctx, kb.ID, doc)
	}
	if err := s.cfg.Indexer.Replace(ctx, kb, doc, chunks); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

type chunkSeq = func(yield func(store.Chunk, error) bool)

func each(chunks []store.Chunk) chunkSeq {
	return func(yield func(store.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// report tells watchers of progress; the heartbeat writes it down.
func (t *task) report(p store.Progress) {
	now := t.cfg.Now()
	t.mu.Lock()
	if p.Stage != t.course.stage {
		t.paces.learn(t.course, now)
		t.course.stage, t.course.began, t.course.from = p.Stage, now, p.Done
	}
	t.course.done, t.course.total = p.Done, p.Total
	if p.Stage == store.StageFetch { // what comes of it is another job's
		p.Since, p.From = t.course.began, t.course.from
	} else {
		p.Ends = t.paces.ends(t.course, now)
	}
	t.progress = p
	t.mu.Unlock()
	job := t.job
	job.Progress = p
	job.UpdatedAt = now
	t.watch.publish(job)
}

// beat keeps the lease while the task runs, and ends the task when the job was
// taken away from it.
func (t *task) beat(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(t.cfg.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		t.mu.Lock()
		p := t.progress
		t.mu.Unlock()
		err := t.cfg.Records.Heartbeat(ctx, t.job.ID, t.cfg.Now().Add(t.cfg.Lease), p)
		switch {
		case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
			cancel(errLost)
			return
		case err != nil && ctx.Err() == nil:
			t.cfg.Log.Error("heartbeat failed", "job", t.job.ID, "error", err)
		}
	}
}
