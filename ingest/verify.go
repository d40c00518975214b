package ingest

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"ragagent/store"
)

// Report is what Verify looked at and found.
type Report struct {
	KnowledgeBases int       `json:"knowledge_bases"`
	Documents      int       `json:"documents"`
	Chunks         int       `json:"chunks"`
	Vectors        int       `json:"vectors"`
	Blobs          int       `json:"blobs"`
	Problems       []Problem `json:"problems"`
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

// Verify compares everything with everything: the records with themselves,
// chunks with the texts they were cut from, vectors with their space and with
// the index, the search indexes with the records, blobs with their names and
// with who refers to them. Damage in one place does not keep it from looking at
// the others. It changes nothing, and what it compares must not change
// meanwhile: no job runs. Load has been called before. The error is about the
// verifying itself.
func (s *Service) Verify(ctx context.Context) (Report, error) {
	v := &verifier{Service: s, used: map[string]string{}, report: Report{Problems: []Problem{}}}
	v.records(ctx)
	if err := s.eachKnowledgeBase(ctx, func(kb store.KnowledgeBase) error { return v.knowledgeBase(ctx, kb) }); err != nil {
		v.unread("records", err)
	}
	v.blobs(ctx)
	v.strays(ctx)
	return v.report, ctx.Err()
}

type verifier struct {
	*Service
	report Report
	used   map[string]string // blob -> who refers to it
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
			if err := v.document(ctx, kb, d, &ids); err != nil {
				return err
			}
		}
		if len(docs) < page.Size() {
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

// contents are the chunks of a knowledge base that should be found.
type contents struct{ words, vectors []string }

// index compares what can be found with what should be.
func (v *verifier) index(ctx context.Context, kb store.KnowledgeBase, want contents) {
	inspector, ok := v.cfg.Indexer.(Inspector)
	if !ok {
		return
	}
	words, vectors, err := inspector.Contents(ctx, kb.ID)
	if err != nil {
		v.problem("knowledge base "+kb.Name, actRebuild, "its indexes cannot be read: %v", err)
		return
	}
	v.compare(kb, "lexical index", want.words, words)
	v.compare(kb, "vector index", want.vectors, vectors)
}

func (v *verifier) compare(kb store.KnowledgeBase, index string, want, have []string) {
	where := "knowledge base " + kb.Name
	slices.Sort(want)
	slices.Sort(have)
	for len(want) > 0 || len(have) > 0 {
		switch {
		case len(have) == 0 || len(want) > 0 && want[0] < have[0]:
			v.problem(where, actRebuild, "the %s lacks chunk %s", index, want[0])
			want = want[1:]
		case len(want) == 0 || have[0] < want[0]:
			v.problem(where, actRebuild, "the %s holds chunk %s, which is gone", index, have[0])
			have = have[1:]
		default:
			want, have = want[1:], have[1:]
		}
	}
}
