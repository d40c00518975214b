package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/retrieval/eval"
	"ragagent/store"
)

// evalLoad brings a collection into a knowledge base.
type evalLoad struct {
	records store.KnowledgeBases
	service *ingest.Service
	stderr  io.Writer
	// ids are those of the texts of each document, by its own id: several where
	// the same bytes came more than once. They are one document, which stands for
	// all of them.
	ids    map[string][]string
	kb     store.KnowledgeBase
	jobs   []evalJob
	empty  int
	failed []ingestFailure
}

type evalJob struct{ name, id string }

// collection loads the set; what is there already is not ingested again.
func (l *evalLoad) collection(ctx context.Context, set *eval.Dataset) (err error) {
	if l.kb, err = l.records.KnowledgeBase(ctx, evalKB); errors.Is(err, store.ErrNotFound) {
		l.kb, err = l.service.CreateKnowledgeBase(ctx, store.KnowledgeBase{Name: evalKB, Description: set.Name})
	}
	if err != nil {
		return err
	}
	if set.ByPage {
		err = l.pdfs(ctx, set)
	} else {
		err = l.corpus(ctx, set)
	}
	if err != nil {
		return err
	}
	return l.wait(ctx)
}

func (l *evalLoad) corpus(ctx context.Context, set *eval.Dataset) error {
	corpus := set.Corpus()
	for doc, err := range corpus.Documents(ctx) {
		if err != nil {
			return err
		}
		body := doc.Text
		if strings.TrimSpace(body) == "" {
			if body = doc.Title; strings.TrimSpace(body) == "" {
				l.empty++
				continue
			}
		}
		err := l.submit(ctx, doc.ID, ingest.Upload{
			Name:     "document.txt",
			Path:     "corpus/" + url.PathEscape(doc.ID),
			Title:    doc.Title,
			MIME:     "text/plain",
			Body:     strings.NewReader(body),
			Metadata: store.Metadata{eval.MetadataID: doc.ID},
		})
		if err != nil {
			return err
		}
	}
	l.missing(corpus.Missing())
	return nil
}

// missing warns of judged documents that the collection does not bring: no
// system could find them.
func (l *evalLoad) missing(ids []string) {
	if len(ids) > 0 {
		fmt.Fprintf(l.stderr, "%d judged documents are not in the collection, for example %s\n", len(ids), ids[0])
	}
}

func (l *evalLoad) pdfs(ctx context.Context, set *eval.Dataset) error {
	files, err := set.Files()
	if err != nil {
		return err
	}
	l.missing(set.MissingFiles(files))
	for _, path := range files {
		if err := l.pdf(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (l *evalLoad) pdf(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return l.submit(ctx, filepath.Base(path), ingest.Upload{Name: filepath.Base(path), Body: f})
}

func (l *evalLoad) submit(ctx context.Context, id string, up ingest.Upload) error {
	s, err := l.service.Submit(ctx, evalKB, up)
	if err != nil {
		return fmt.Errorf("document %q: %w", id, err)
	}
	if up.Metadata != nil {
		l.ids[s.Document.ID] = append(l.ids[s.Document.ID], id)
	}
	l.jobs = append(l.jobs, evalJob{name: id, id: s.Job.ID})
	return nil
}

// wait follows every job to its end.
func (l *evalLoad) wait(ctx context.Context) error {
	bar := newProgress(l.stderr, len(l.jobs))
	defer bar.finish()
	for _, j := range l.jobs {
		var last store.Job
		for job, err := range l.service.Watch(ctx, j.id) {
			if err != nil {
				return fmt.Errorf("document %q: %w", j.name, err)
			}
			last = job
		}
		if last.Status != store.StatusReady {
			l.failed = append(l.failed, ingestFailure{File: j.name, Error: last.Error})
		}
		bar.ended()
	}
	return nil
}

// chunks counts those the collection became.
func (l *evalLoad) chunks(ctx context.Context) (int, error) {
	kb, err := l.records.KnowledgeBase(ctx, l.kb.ID)
	return kb.ChunkCount, err
}

// locate lets a document stand for every text that it is, and goes by the
// collection's own rule for all others.
func (l *evalLoad) locate(set *eval.Dataset) eval.Locate {
	own := set.Locate()
	return func(h retrieval.Hit) []string {
		if ids := l.ids[h.DocumentID]; len(ids) > 1 {
			return ids
		}
		return own(h)
	}
}
