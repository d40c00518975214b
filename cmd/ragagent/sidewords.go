package main

import (
	"context"
	"errors"
	"fmt"
	"path"

	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/bm25"
	"ragagent/retrieval/calibrate"
	"ragagent/store"
	"ragagent/store/sidefile"
)

// wordsOfDeleted looks for words of deleted documents in what is kept of the
// indexes. A server that ends as it should leaves none; one that was killed may,
// until the next start.
func (a *app) wordsOfDeleted(ctx context.Context) (problems []ingest.Problem, err error) {
	report := func(name sidefile.Name, format string, args ...any) {
		problems = append(problems, ingest.Problem{
			Where: "file " + path.Join(indexesFolder, name.File()), Detail: fmt.Sprintf(format, args...),
			Action: "start the server and end it, or run 'ragagent rebuild': either writes the file anew",
		})
	}
	names, _, err := a.sideFiles.List()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		gone, err := a.deletedIn(ctx, name)
		switch {
		case ctx.Err() != nil:
			return problems, ctx.Err()
		case err != nil:
			report(name, "it cannot be read, so nobody can say whose words it holds: %v", err)
		case len(gone) > 0:
			report(name, "it holds words of %d deleted documents, %s among them", len(gone), gone[0])
		}
	}
	return problems, nil
}

// deletedIn lists the documents in a side file that the records do not have.
func (a *app) deletedIn(ctx context.Context, name sidefile.Name) (gone []string, err error) {
	switch name.Kind {
	case retrieval.WordsKind:
	case calibrate.FileKind:
		// It has figures of a knowledge base as a whole, and no words.
		return nil, a.sideFiles.Check(ctx, name)
	default:
		return nil, errors.New("no index of this version has such files")
	}
	there := map[string]bool{}
	for d, err := range a.records.VisibleDocuments(ctx, name.Key) {
		if err != nil {
			return nil, err
		}
		there[d.ID] = true
	}
	data, err := a.sideFiles.Read(ctx, name.Kind, name.Key, retrieval.WordsStamp)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	words, err := bm25.New(bm25.Config{Analyzer: analysis.New()})
	if err == nil {
		err = words.Restore(ctx, name.Key, data)
	}
	if err != nil {
		return nil, err
	}
	for d := range words.Documents(name.Key) {
		if !there[d.ID] {
			gone = append(gone, d.ID)
		}
	}
	return gone, nil
}
