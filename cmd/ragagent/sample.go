package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"ragagent/ingest"
	"ragagent/store"
)

// sampleKB is the knowledge base that serve --sample makes.
const sampleKB = "ragagent-docs"

// loadSample fills an empty data folder with the documents of a folder, so that
// the first question has something to ask. It does nothing if there is any
// knowledge base.
func loadSample(ctx context.Context, app *app, folder string) error {
	kbs, err := app.records.KnowledgeBases(ctx, store.Page{Limit: 1})
	if err != nil || len(kbs) > 0 {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no Markdown files in %s", folder)
	}
	_, err = app.service.CreateKnowledgeBase(ctx, store.KnowledgeBase{
		Name:        sampleKB,
		Description: "How ragagent works: its own documentation.",
	})
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := submitFile(ctx, app.service, path); err != nil {
			return fmt.Errorf("sample: %w", err)
		}
	}
	return nil
}

func submitFile(ctx context.Context, service *ingest.Service, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = service.Submit(ctx, sampleKB, ingest.Upload{Name: filepath.Base(path), Body: f})
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
