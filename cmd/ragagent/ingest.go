package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// uploadsAtOnce bounds the open files and requests of one ingest command.
const uploadsAtOnce = 4

type ingestCmd struct {
	reachFlags
	modelFlags
	KB    string   `name:"kb" help:"Knowledge base; made if it is not there." required:"" placeholder:"NAME"`
	JSON  bool     `name:"json" help:"Print the result as JSON."`
	Paths []string `arg:"" help:"Files and folders. In folders, hidden files and links are left out." type:"path"`
}

// ingestSummary is what the command prints.
type ingestSummary struct {
	Files     int             `json:"files"`
	Ready     int             `json:"ready"`
	Duplicate int             `json:"duplicate"`
	Failed    []ingestFailure `json:"failed"`
}

type ingestFailure struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// Run uploads every file and waits until each has ended.
func (c *ingestCmd) Run(e *env) error {
	files, err := filesOf(c.Paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no files found in the given paths")
	}
	return withClient(e, c.reachFlags, c.modelFlags, true, func(api *client) error {
		if err := api.ensureKnowledgeBase(e.ctx, c.KB); err != nil {
			return err
		}
		bar := newProgress(e.stderr, len(files))
		sum := (&ingestRun{api: api, kb: c.KB, bar: bar}).all(e.ctx, files)
		bar.finish()
		if err := e.ctx.Err(); err != nil {
			return fmt.Errorf("interrupted; files that were accepted are taken up when the server runs again: %w", err)
		}
		return c.print(e, sum)
	})
}

func (c *ingestCmd) print(e *env, sum ingestSummary) error {
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(sum); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.stdout, "%d of %d files ready", sum.Ready, sum.Files)
		if sum.Duplicate > 0 {
			fmt.Fprintf(e.stdout, ", %d of them were there already", sum.Duplicate)
		}
		fmt.Fprintln(e.stdout)
		for _, f := range sum.Failed {
			fmt.Fprintf(e.stderr, "failed: %s: %s\n", plain(f.File), plain(f.Error))
		}
	}
	if len(sum.Failed) > 0 {
		return errSilent
	}
	return nil
}

// ingestRun is one run of the command.
type ingestRun struct {
	api *client
	kb  string
	bar *progress

	mu  sync.Mutex
	sum ingestSummary
}

// all uploads the files, a few at a time, and follows their jobs meanwhile.
func (r *ingestRun) all(ctx context.Context, files []string) ingestSummary {
	r.sum = ingestSummary{Files: len(files), Failed: []ingestFailure{}}
	accepted := make(chan acceptedFile, len(files))
	var follow sync.WaitGroup
	follow.Go(func() {
		for a := range accepted {
			r.follow(ctx, a)
		}
	})
	var uploads errgroup.Group
	uploads.SetLimit(uploadsAtOnce)
	var sent atomic.Int64
	for _, file := range files {
		if ctx.Err() != nil {
			break
		}
		uploads.Go(func() error {
			doc, err := r.send(ctx, file)
			if err != nil {
				r.failed(file, err)
				return nil
			}
			r.bar.sent(int(sent.Add(1)))
			accepted <- acceptedFile{file: file, doc: doc}
			return nil
		})
	}
	_ = uploads.Wait() // errors are in the summary
	close(accepted)
	follow.Wait()
	return r.sum
}

type acceptedFile struct {
	file string
	doc  submitted
}

func (r *ingestRun) send(ctx context.Context, file string) (submitted, error) {
	f, err := os.Open(file)
	if err != nil {
		return submitted{}, err
	}
	defer f.Close()
	return r.api.upload(ctx, r.kb, filepath.Base(file), f)
}

// follow waits for a job's end. Jobs end about in the order they were sent in,
// so following one after the other loses no time.
func (r *ingestRun) follow(ctx context.Context, a acceptedFile) {
	last, err := r.lastState(ctx, a)
	switch {
	case err != nil:
		r.failed(a.file, err)
	case last.Status != "ready":
		if last.Error == "" {
			last.Error = last.Status
		}
		r.failed(a.file, errors.New(last.Error))
	default:
		r.mu.Lock()
		r.sum.Ready++
		if a.doc.DuplicateOf != "" {
			r.sum.Duplicate++
		}
		r.mu.Unlock()
		r.bar.ended()
	}
}

// lastState follows the job's events; a stream that breaks off is opened again.
func (r *ingestRun) lastState(ctx context.Context, a acceptedFile) (jobState, error) {
	var state jobState
	for tries := 0; tries < 5 && ctx.Err() == nil; tries++ {
		resp, err := r.api.send(ctx, "GET", "/api/v1/jobs/"+url.PathEscape(a.doc.JobID)+"/events", nil, "", "text/event-stream")
		if err != nil {
			return state, err
		}
		err = events(resp.Body, func(e event) error {
			if err := json.Unmarshal(e.data, &state); err != nil {
				return err
			}
			r.bar.at(filepath.Base(a.file), state)
			return nil
		})
		resp.Body.Close()
		if state.ended() {
			return state, nil
		}
		if err != nil && ctx.Err() == nil && tries == 4 {
			return state, err
		}
	}
	if err := ctx.Err(); err != nil {
		return state, err
	}
	return state, errors.New("the server stopped telling how the job goes; ask it again later")
}

func (r *ingestRun) failed(file string, err error) {
	r.mu.Lock()
	r.sum.Failed = append(r.sum.Failed, ingestFailure{File: file, Error: err.Error()})
	r.mu.Unlock()
	r.bar.ended()
}

// filesOf lists the regular files below the paths, in order.
func filesOf(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != p && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.Type().IsRegular():
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
