package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/retrieval/calibrate"
	"ragagent/store"
	"ragagent/store/sidefile"
)

// comparedQuestions is how many questions a side file has to answer as the index
// does that was built from the texts.
const comparedQuestions = 20

// sideFileProblems looks at what is kept of the indexes, which have been built
// from the texts: each file has to be what was written, restorable, and, once
// it has been put right as a start does, the same chunks with the same answers.
// One that is old or was written by another version is no problem, nor is one
// of a knowledge base that is gone: the next start does not use it.
func (a *app) sideFileProblems(ctx context.Context) (problems []ingest.Problem, err error) {
	report := func(file, detail, action string) {
		problems = append(problems, ingest.Problem{Where: "file " + path.Join(indexesFolder, file), Detail: detail, Action: action})
	}
	const (
		rebuild = "nothing is lost, the next start builds the index anew; 'ragagent rebuild' does it now"
		remove  = "nothing needs it: look at it and remove it"
	)
	names, strays, err := a.sideFiles.List()
	if err != nil {
		report("", err.Error(), rebuild)
		return problems, ctx.Err()
	}
	for _, name := range strays {
		report(name, "it is no side file", remove)
	}
	for _, name := range names {
		if !sideFileKind(name.Kind) {
			report(name.File(), "no index of this version has such files", remove)
			continue
		}
		if err := a.checkSideFile(ctx, name); err != nil {
			if ctx.Err() != nil {
				return problems, ctx.Err()
			}
			report(name.File(), err.Error(), rebuild)
		}
	}
	return problems, nil
}

// sideFileKind says whether something of this version has side files of a kind.
func sideFileKind(kind string) bool {
	return kind == retrieval.WordsKind || kind == calibrate.FileKind
}

// checkSideFile restores an index beside the one that serves.
func (a *app) checkSideFile(ctx context.Context, name sidefile.Name) error {
	if name.Kind != retrieval.WordsKind {
		return a.sideFiles.Check(ctx, name)
	}
	kb, err := a.records.KnowledgeBase(ctx, name.Key)
	if errors.Is(err, store.ErrNotFound) {
		return a.sideFiles.Check(ctx, name)
	}
	if err != nil {
		return err
	}
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	if err != nil {
		return err
	}
	kept, err := retrieval.NewIndex(retrieval.IndexConfig{Lexical: words, Files: a.sideFiles})
	if err != nil {
		return err
	}
	restored, err := kept.Restore(ctx, kb, a.records)
	switch {
	case errors.Is(err, sidefile.ErrStale), errors.Is(err, retrieval.ErrOtherFormat), errors.Is(err, retrieval.ErrTooOld):
		return nil
	case err != nil:
		return err
	case !restored || a.service.Quarantined(kb.ID) != nil:
		return nil // there is nothing to compare it with
	}
	return a.sameContents(ctx, kb.ID, kept)
}

// sameContents compares a restored index with the one that serves.
func (a *app) sameContents(ctx context.Context, kb string, kept *retrieval.Index) error {
	want, _, err := a.index.Contents(ctx, kb)
	if err != nil {
		return err
	}
	have, _, err := kept.Contents(ctx, kb)
	if err != nil {
		return err
	}
	if len(have) != len(want) {
		return fmt.Errorf("it holds %d chunks, the records show %d: %w", len(have), len(want), store.ErrDamaged)
	}
	for i := range want {
		if have[i] != want[i] {
			return fmt.Errorf("it holds %s where the records show %s: %w", have[i], want[i], store.ErrDamaged)
		}
	}
	questions, err := a.questions(ctx, want)
	if err != nil {
		return err
	}
	differs, err := a.index.Compare(ctx, kept, kb, questions)
	if err == nil && differs != "" {
		err = fmt.Errorf("it answers %q in another way than the texts: %w", differs, store.ErrDamaged)
	}
	return err
}

// questions are the first words of chunks from all over a knowledge base.
func (a *app) questions(ctx context.Context, ids []string) ([]string, error) {
	var some []string
	for i := range min(comparedQuestions, len(ids)) {
		some = append(some, ids[i*len(ids)/min(comparedQuestions, len(ids))])
	}
	chunks, err := a.records.ChunksByID(ctx, some)
	if err != nil {
		return nil, err
	}
	questions := make([]string, len(chunks))
	for i, c := range chunks {
		words := strings.Fields(c.Text)
		questions[i] = strings.Join(words[:min(12, len(words))], " ")
	}
	return questions, nil
}
