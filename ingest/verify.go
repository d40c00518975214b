package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"ragagent/store"
)

// Report is what Verify looked at and found.
type Report struct {
	KnowledgeBases int `json:"knowledge_bases"`
	Documents      int `json:"documents"`
	Chunks         int `json:"chunks"`
	Vectors        int `json:"vectors"`
	Blobs          int `json:"blobs"`
	// Deleted is set where deleted documents were looked for.
	Deleted  *DeletedReport `json:"deleted,omitempty"`
	Problems []Problem      `json:"problems"`
	// More is how many problems were found beyond those listed.
	More int `json:"more,omitempty"`
}

// Sound says that nothing is wrong.
func (r Report) Sound() bool { return len(r.Problems) == 0 }

// Problem is one thing that is not as it should be.
type Problem struct {
	Where  string `json:"where"`  // what it concerns, for example "document doc_..."
	Detail string `json:"detail"` // what is wrong with it
	Action string `json:"action"` // what to do about it
}

// maxProblems ends a report that would only repeat itself.
const maxProblems = 1000

// What to do about problems.
const (
	actRestore  = "restore the latest backup into a new folder; if there is none, keep a copy of this folder before anything else"
	actUpload   = "delete the document and upload its file again, or restore a backup"
	actOriginal = "delete the document and upload it again; its original is sound and can be fetched from /content"
	actRebuild  = "run 'ragagent rebuild'"
	actRemove   = "nothing needs it: look at it and remove it"
)

// Checker is implemented by record stores that can check themselves.
type Checker interface {
	Check(ctx context.Context) (problems []string, err error)
}

// Inspector is implemented by indexers that can say what they hold.
type Inspector interface {
	// Contents returns the ids of the chunks that can be found by words and by
	// vector, each ascending. store.ErrNotFound if the knowledge base is not loaded.
	Contents(ctx context.Context, kbID string) (words, vectors []string, err error)
	// Cosine compares a chunk's vector with the one in the index: 1 within
	// rounding if they are the same, 0 if the index has none.
	Cosine(ctx context.Context, kbID string, chunk store.Chunk) (float64, error)
}

// Straying is implemented by blob stores that can name what does not belong
// among the blobs.
type Straying interface {
	Strays(ctx context.Context) iter.Seq2[string, error]
}

// Verification says how to verify.
type Verification struct {
	// Gentle leaves the machine to others for half of the time.
	Gentle bool
	// Progress, if not nil, is told how many documents, of how many when it
	// began, have been compared; it is called for every one of them.
	Progress func(done, total int)
}

// Verify compares everything with everything: the records with themselves,
// chunks with the texts they were cut from, vectors with their space and with
// the index, the search indexes with the records, blobs with their names and
// with who refers to them. Damage in one place does not keep it from looking at
// the others. It changes nothing. Jobs may run and documents come and go
// meanwhile: a document is compared while it stands still, and what looks wrong
// elsewhere is looked at again before it is reported. Load has been called
// before. The error is about the verifying itself.
func (s *Service) Verify(ctx context.Context, how Verification) (Report, error) {
	v := &verifier{Service: s, how: how, began: s.cfg.Now(), used: map[string]string{}, dims: map[string]int{}, report: Report{Problems: []Problem{}}}
	v.records(ctx)
	if err := v.count(ctx); err != nil {
		v.unread("records", err)
	}
	if err := s.eachKnowledgeBase(ctx, func(kb store.KnowledgeBase) error { return v.standing(ctx, kb) }); err != nil {
		v.unread("records", err)
	}
	v.blobs(ctx)
	v.strays(ctx)
	return v.report, ctx.Err()
}

type verifier struct {
	*Service
	how    Verification
	began  time.Time // what comes later is left to the next verification
	total  int       // documents, when it began
	report Report
	used   map[string]string // blob -> who refers to it
	dims   map[string]int    // knowledge base -> dimension of its vectors
	// partial says that some document could not be read: who refers to a blob
	// is then not known for all of them.
	partial bool
}

func (v *verifier) problem(where, action, format string, args ...any) {
	if len(v.report.Problems) == maxProblems {
		v.report.More++
		return
	}
	v.report.Problems = append(v.report.Problems, Problem{Where: where, Action: action, Detail: fmt.Sprintf(format, args...)})
}

// unread reports a part of the records that cannot be read.
func (v *verifier) unread(where string, err error) {
	v.partial = true
	v.problem(where, actRestore, "cannot be read: %v", err)
}

// records lets the record store check itself.
func (v *verifier) records(ctx context.Context) {
	c, ok := v.cfg.Records.(Checker)
	if !ok {
		return
	}
	problems, err := c.Check(ctx)
	for _, p := range problems {
		v.problem("records", actRestore, "%s", p)
	}
	if err != nil {
		v.unread("records", err)
	}
}

// count adds up the documents there are.
func (v *verifier) count(ctx context.Context) error {
	return v.eachKnowledgeBase(ctx, func(kb store.KnowledgeBase) error {
		v.total += kb.DocumentCount
		return nil
	})
}

// standing checks a knowledge base, and forgets what it found if the knowledge
// base was deleted meanwhile.
func (v *verifier) standing(ctx context.Context, kb store.KnowledgeBase) error {
	if kb.CreatedAt.After(v.began) {
		return nil
	}
	found, more := len(v.report.Problems), v.report.More
	err := v.knowledgeBase(ctx, kb)
	if len(v.report.Problems) == found && v.report.More == more {
		return err
	}
	if _, gone := v.cfg.Records.KnowledgeBase(ctx, kb.ID); errors.Is(gone, store.ErrNotFound) {
		v.report.Problems, v.report.More = v.report.Problems[:found], more
	}
	return err
}

// knowledgeBase checks one; its error is that of ctx only.
func (v *verifier) knowledgeBase(ctx context.Context, kb store.KnowledgeBase) error {
	v.report.KnowledgeBases++
	where := "knowledge base " + kb.Name
	var ids contents
	page := store.Page{Limit: store.MaxPage}
	for {
		docs, err := v.cfg.Records.Documents(ctx, kb.ID, page)
		if err != nil {
			v.unread(where, fmt.Errorf("list its documents: %w", err))
			return ctx.Err()
		}
		for _, d := range docs {
			if d.CreatedAt.After(v.began) {
				continue
			}
			begin := time.Now()
			if err := v.still(ctx, kb, d.ID, &ids); err != nil {
				return err
			}
			if v.how.Progress != nil {
				v.how.Progress(v.report.Documents, v.total)
			}
			if v.how.Gentle {
				pause(ctx, time.Since(begin))
			}
		}
		if len(docs) < page.Size() || docs[len(docs)-1].CreatedAt.After(v.began) {
			break
		}
		page.After = docs[len(docs)-1].ID
	}
	if err := v.Quarantined(kb.ID); err != nil {
		v.problem(where, "mend the documents named in this report, then start again", "is quarantined and not searched: %v", err)
		return ctx.Err()
	}
	v.index(ctx, kb, ids)
	return ctx.Err()
}

// pause waits, but not longer than ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// attempts is how often a document that changes while it is looked at is looked
// at again. One that goes on changing is left to the next verification.
const attempts = 5

// still checks a document while nobody publishes or deletes it; what was found
// counts only if its record is the same before and after. ids get its chunks.
func (v *verifier) still(ctx context.Context, kb store.KnowledgeBase, id string, ids *contents) error {
	for range attempts {
		before, words, vectors := v.report, len(ids.words), len(ids.vectors)
		same, err := v.once(ctx, kb, id, ids)
		if err != nil || same {
			return err
		}
		v.report = before
		ids.words, ids.vectors = ids.words[:words], ids.vectors[:vectors]
	}
	return nil
}

// once checks a document and says whether it stood still.
func (v *verifier) once(ctx context.Context, kb store.KnowledgeBase, id string, ids *contents) (same bool, err error) {
	defer v.order.lock(id)()
	doc, err := v.cfg.Records.Document(ctx, kb.ID, id)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil // it was deleted
	}
	if err != nil {
		v.unread("document "+id, err)
		return true, ctx.Err()
	}
	if err := v.document(ctx, kb, doc, ids); err != nil {
		return true, err
	}
	after, err := v.cfg.Records.Document(ctx, kb.ID, id)
	if errors.Is(err, store.ErrNotFound) { // with its knowledge base
		return false, nil
	}
	return err != nil || after.UpdatedAt.Equal(doc.UpdatedAt) && after.Revision == doc.Revision && after.Status == doc.Status, ctx.Err()
}
