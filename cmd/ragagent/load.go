package main

import (
	"context"
	"fmt"
	"path/filepath"

	"ragagent/api"
	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/store"
	"ragagent/store/sidefile"
)

// openSideFiles looks at what is kept of the indexes. Records that were changed
// while nobody had them open make it worthless: the texts are read and checked.
func (a *app) openSideFiles(cfg appConfig) (err error) {
	if a.sideFiles, err = sidefile.New(sidefile.Config{Dir: filepath.Join(cfg.data, indexesFolder)}); err != nil {
		return err
	}
	if cfg.fromTexts || len(a.records.Damage()) == 0 {
		return nil
	}
	return a.sideFiles.Clear(nil)
}

// wireIndex puts the indexes of words and vectors together, with what keeps
// their side files.
func (a *app) wireIndex(cfg appConfig, words retrieval.LexicalIndex, vectors store.VectorIndex) (*retrieval.Index, error) {
	config := retrieval.IndexConfig{Lexical: words, Vectors: vectors, Topics: a.topics, Documents: a.records}
	if cfg.fromTexts {
		return retrieval.NewIndex(config)
	}
	config.Files = a.sideFiles
	config.CacheBytes = min(retrieval.DefaultCacheBytes, indexMemory(cfg.maxMemory)/16)
	index, err := retrieval.NewIndex(config)
	if err != nil {
		return nil, err
	}
	a.saver, err = retrieval.NewSaver(retrieval.SaverConfig{Index: index, Every: cfg.saveEvery, Log: cfg.log})
	if err != nil {
		return nil, err
	}
	a.onClose(a.saver.Close) // after the workers, before the records
	return index, nil
}

// load fills the indexes, and removes the side files of knowledge bases that
// are gone.
func (a *app) load(ctx context.Context) error {
	known := map[string]bool{}
	err := a.service.Load(ctx, func(p ingest.Progress) {
		known[p.KnowledgeBase.ID] = true
		if err := a.weights.Load(ctx, p.KnowledgeBase.ID); err != nil {
			a.log.Warn("the weight of an embedder is found out anew", "knowledge_base", p.KnowledgeBase.Name, "cause", err)
		}
		a.total.Store(int64(p.Total))
		a.loaded.Store(int64(p.Done))
	})
	if err != nil { // of the records themselves: a damaged knowledge base is put aside
		return explained(err, a.recordsPath())
	}
	a.ready.Store(true)
	if a.saver == nil {
		return nil
	}
	err = a.sideFiles.Clear(func(n sidefile.Name) bool { return sideFileKind(n.Kind) && known[n.Key] })
	if err != nil { // they take room, no more
		a.log.Warn("side files of knowledge bases that are gone are still there", "error", err)
	}
	return nil
}

// start loads the indexes and lets the workers take up what is waiting.
func (a *app) start(ctx context.Context) error {
	if err := a.load(ctx); err != nil {
		return err
	}
	if a.saver != nil {
		a.saver.Start()
	}
	a.warm()
	a.topics.Start()
	a.weights.Start()
	return explained(a.service.Start(ctx), a.recordsPath())
}

func (a *app) recordsPath() string { return filepath.Join(a.data, recordsFile) }

func (a *app) readiness() api.Readiness {
	r := api.Readiness{Ready: a.ready.Load(), Done: int(a.loaded.Load()), Total: int(a.total.Load())}
	if !r.Ready {
		r.Detail = "the search indexes are being loaded"
	}
	return r
}

// keepIndexes writes the side files of every knowledge base that is loaded.
func (a *app) keepIndexes(ctx context.Context, kbs []store.KnowledgeBase) error {
	for _, kb := range kbs {
		if err := a.index.Save(ctx, kb.ID); err != nil {
			return fmt.Errorf("keep the index of %q: %w", kb.Name, err)
		}
	}
	return nil
}
