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

// loadSample fills an empty data folder with the Markdown files of a folder, so
// that the first question has something to ask, and waits until they can be
// found. It adds nothing if there is any knowledge base, and returns whether
// the sample's is there.
func loadSample(ctx context.Context, app *app, folder string) (there bool, err error) {
	kbs, err := app.records.KnowledgeBases(ctx, store.Page{Limit: 1})
	if err != nil {
		return false, err
	}
	if len(kbs) > 0 {
		_, err := app.records.KnowledgeBase(ctx, sampleKB)
		return err == nil, nil
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return false, err
	}
	if len(files) == 0 {
		return false, usagef("--sample: no Markdown files in %s", folder)
	}
	_, err = app.service.CreateKnowledgeBase(ctx, store.KnowledgeBase{
		Name:        sampleKB,
		Description: "How ragagent works: its own documentation.",
	})
	if err != nil {
		return false, err
	}
	jobs := make([]string, len(files))
	for i, path := range files {
		if jobs[i], err = submitFile(ctx, app.service, path); err != nil {
			return false, fmt.Errorf("sample: %w", err)
		}
	}
	for _, id := range jobs {
		for _, err := range app.service.Watch(ctx, id) { // to its end
			if err != nil {
				return false, fmt.Errorf("sample: %w", err)
			}
		}
	}
	return true, nil
}

// submitFile adds a file to the sample and returns its job.
func submitFile(ctx context.Context, service *ingest.Service, path string) (job string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	s, err := service.Submit(ctx, sampleKB, ingest.Upload{Name: filepath.Base(path), Body: f})
	return s.Job.ID, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
