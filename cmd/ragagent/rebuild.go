package main

import (
	"errors"
	"fmt"
	"time"

	"ragagent/ingest"
	"ragagent/retrieval/calibrate"
	"ragagent/store"
	"ragagent/store/sidefile"
	"ragagent/store/sqlite"
)

type rebuildCmd struct {
	dataFlags
	modelFlags
}

// Run makes every index anew from the truth: those of the database file, and
// those of words and vectors with their side files. Nothing else is changed: what
// was measured of an embedder is no index, and stays, so that answers do. It fails
// if a knowledge base is damaged.
func (c *rebuildCmd) Run(e *env) (err error) {
	app, err := openApp(e.ctx, appConfig{data: c.Data, mustExist: true, models: c.modelFlags, maxMemory: c.MaxMemory, log: warnings(e.stderr)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	start := time.Now()
	if err := app.records.Reindex(e.ctx); err != nil {
		return err
	}
	if err := accept(e, app.records); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "records: %s\n", time.Since(start).Round(time.Millisecond))
	if err := app.sideFiles.Clear(func(n sidefile.Name) bool {
		return n.Kind == calibrate.FileKind && app.sideFiles.Check(e.ctx, n) == nil
	}); err != nil {
		return err
	}
	damaged := false
	var sound []store.KnowledgeBase
	start = time.Now()
	err = app.service.Load(e.ctx, func(p ingest.Progress) {
		kb := p.KnowledgeBase
		if err := app.service.Quarantined(kb.ID); err != nil {
			damaged = true
			fmt.Fprintln(e.stderr, "ragagent:", plain(err.Error()))
			return
		}
		words, vectors, err := app.index.Contents(e.ctx, kb.ID)
		if err != nil {
			damaged = true
			fmt.Fprintln(e.stderr, "ragagent:", plain(err.Error()))
			return
		}
		sound = append(sound, kb)
		fmt.Fprintf(e.stdout, "%s: %d chunks, %d vectors, after %s\n", plain(kb.Name), len(words), len(vectors), time.Since(start).Round(time.Millisecond))
	})
	if err != nil {
		return explained(err, app.recordsPath())
	}
	if err := app.keepIndexes(e.ctx, sound); err != nil {
		return err
	}
	if damaged {
		return errSilent
	}
	return nil
}

// accept lets a database file count as sound again that was changed while nobody
// had it open, if nothing in it contradicts itself.
func accept(e *env, records *sqlite.DB) error {
	damage := records.Damage()
	if len(damage) == 0 {
		return nil
	}
	problems, err := records.Check(e.ctx)
	if err != nil || len(problems) > len(damage) {
		return err // verify says what is wrong, and goes on doing so
	}
	for _, d := range damage {
		fmt.Fprintln(e.stderr, "accepted:", d)
	}
	return records.Accept()
}
