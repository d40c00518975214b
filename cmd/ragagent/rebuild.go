package main

import (
	"errors"
	"fmt"
	"time"

	"ragagent/store"
	"ragagent/store/sqlite"
)

type rebuildCmd struct {
	dataFlags
	modelFlags
}

// Run makes every index anew from the truth: those of the database file, and
// those of words and vectors, which live in memory and are built at every
// start, so that building them here shows that it can be done. Nothing else is
// changed. It fails if a knowledge base is damaged.
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
	damaged := false
	start = time.Now()
	err = app.service.Load(e.ctx, func(kb store.KnowledgeBase) {
		elapsed := time.Since(start).Round(time.Millisecond)
		start = time.Now()
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
		fmt.Fprintf(e.stdout, "%s: %d chunks, %d vectors, %s\n", plain(kb.Name), len(words), len(vectors), elapsed)
	})
	if err == nil && damaged {
		return errSilent
	}
	return err
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
