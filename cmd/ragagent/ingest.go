package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	syncFlags
	fetchFlags
	crawlFlags
	KB    string   `name:"kb" help:"Knowledge base; made if it is not there." required:"" placeholder:"NAME"`
	JSON  bool     `name:"json" help:"Print the result as JSON."`
	Paths []string `arg:"" optional:"" help:"Files, archives, folders and URLs. In folders, hidden files and links are left out."`
}

// ingestSummary is what the command prints.
type ingestSummary struct {
	Files     int             `json:"files"` // those of archives counted each
	Ready     int             `json:"ready"`
	Duplicate int             `json:"duplicate"`
	Failed    []ingestFailure `json:"failed"`
	// Sync is set with --sync.
	Sync *syncSummary `json:"sync,omitempty"`
}

type ingestFailure struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// Run uploads every file and waits until each has ended.
func (c *ingestCmd) Run(e *env) error {
	if c.Sync != "" || c.syncFlags != (syncFlags{}) {
		return c.runSync(e)
	}
	if len(c.Paths) == 0 {
		return usagef("no paths given")
	}
	files, unread, err := filesOf(c.Paths)
	if err != nil {
		return err
	}
	if len(files)+len(unread) == 0 {
		return errors.New("no files found in the given paths")
	}
	for i, f := range files {
		if isURL(f.file) {
			files[i].order = c.order(f.file)
		}
	}
	c.fetch = c.fetchFlags
	return withClient(e, c.reachFlags, c.modelFlags, true, func(api *client) error {
		if err := api.ensureKnowledgeBase(e.ctx, c.KB); err != nil {
			return err
		}
		sum, err := ingestAll(e, api, c.KB, files, unread, nil)
		if err != nil {
			return err
		}
		return c.print(e, sum)
	})
}

// ingestAll uploads files and follows them to their ends; listen, if not nil,
// hears what becomes of each. Those that could not be read are told with the
// failures.
func ingestAll(e *env, api *client, kb string, files []upload, unread []unreadFile, listen listener) (ingestSummary, error) {
	bar := newProgress(e.stderr, len(files))
	run := &ingestRun{api: api, kb: kb, bar: bar, listen: listen}
	sum := run.all(e.ctx, files)
	bar.finish()
	for _, f := range unread {
		sum.Files++
		sum.Failed = append(sum.Failed, ingestFailure{File: f.file, Error: f.err.Error()})
	}
	if err := e.ctx.Err(); err != nil {
		return sum, fmt.Errorf("interrupted; files that were accepted are taken up when the server runs again: %w", err)
	}
	return sum, nil
}

func (c *ingestCmd) print(e *env, sum ingestSummary) error {
	switch {
	case c.JSON:
		if err := json.NewEncoder(e.stdout).Encode(sum); err != nil {
			return err
		}
	default:
		if sum.Sync != nil {
			fmt.Fprintln(e.stdout, sum.Sync)
			if told := sum.Sync.told(); told != "" {
				fmt.Fprintln(e.stderr, plain(told))
			}
			for _, path := range sum.Sync.emptied() {
				fmt.Fprintf(e.stderr, "removed, as the file is empty now: %s\n", plain(path))
			}
		}
		if sum.Sync == nil || sum.Files > 0 {
			fmt.Fprintf(e.stdout, "%d of %d files ready", sum.Ready, sum.Files)
			if sum.Duplicate > 0 {
				fmt.Fprintf(e.stdout, ", %d of them were there already", sum.Duplicate)
			}
			fmt.Fprintln(e.stdout)
		}
		for _, f := range sum.Failed {
			fmt.Fprintf(e.stderr, "failed: %s: %s\n", plain(f.File), plain(f.Error))
		}
	}
	if len(sum.Failed) > 0 {
		return errSilent
	}
	return nil
}

// listener hears what becomes of files, of several at once.
type listener interface {
	// answered tells what the server made of a file.
	answered(upload, []submitted)
	// failed tells the path of a file that was not taken: of one in an archive, with
	// that of the archive before it.
	failed(path string)
}

// ingestRun is one run of the command.
type ingestRun struct {
	api    *client
	kb     string
	bar    *progress
	listen listener // may be nil

	mu  sync.Mutex
	sum ingestSummary
}

// all uploads the files, a few at a time, and follows their jobs meanwhile.
func (r *ingestRun) all(ctx context.Context, files []upload) ingestSummary {
	r.sum = ingestSummary{Failed: []ingestFailure{}}
	accepted := make(chan acceptedFile, len(files))
	var follow sync.WaitGroup
	follow.Go(func() {
		for a := range accepted {
			for _, doc := range a.docs {
				r.follow(ctx, a.name(doc), doc)
			}
			r.bar.ended()
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
			docs, err := r.send(ctx, file)
			if err != nil {
				r.failed(file.path, file.file, err)
				r.bar.ended()
				return nil
			}
			if r.listen != nil {
				r.listen.answered(file, docs)
			}
			r.bar.sent(int(sent.Add(1)))
			accepted <- acceptedFile{upload: file, docs: docs}
			return nil
		})
	}
	_ = uploads.Wait() // errors are in the summary
	close(accepted)
	follow.Wait()
	return r.sum
}

// acceptedFile is a file and the documents in it: several of an archive.
type acceptedFile struct {
	upload
	docs []submitted
}

// name is what a document of the file is called in messages.
func (a acceptedFile) name(doc submitted) string {
	if inner, ok := strings.CutPrefix(doc.Path, a.path+"/"); ok {
		return a.file + "/" + inner
	}
	return a.file
}

func (r *ingestRun) send(ctx context.Context, file upload) ([]submitted, error) {
	if file.order != nil {
		return r.api.addURL(ctx, r.kb, *file.order)
	}
	f, err := os.Open(file.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return r.api.uploadAs(ctx, r.kb, filepath.Base(file.file), file, f)
}

// follow waits for a job's end. Jobs end about in the order they were sent in,
// so following one after the other loses no time.
func (r *ingestRun) follow(ctx context.Context, name string, doc submitted) {
	if doc.JobID == "" {
		r.failed(doc.Path, name, errors.New(doc.Error))
		return
	}
	last, err := r.lastState(ctx, name, doc)
	switch {
	case err != nil:
		r.failed(doc.Path, name, err)
	case last.Status != "ready":
		if last.Error == "" {
			last.Error = last.Status
		}
		r.failed(doc.Path, name, errors.New(last.Error))
	default:
		r.mu.Lock()
		r.sum.Files++
		r.sum.Ready++
		if doc.DuplicateOf != "" {
			r.sum.Duplicate++
		}
		r.mu.Unlock()
	}
}

// lastState follows the job's events; a stream that breaks off is opened again.
func (r *ingestRun) lastState(ctx context.Context, name string, doc submitted) (jobState, error) {
	var state jobState
	for tries := 0; tries < 5 && ctx.Err() == nil; tries++ {
		resp, err := r.api.send(ctx, "GET", "/api/v1/jobs/"+url.PathEscape(doc.JobID)+"/events", nil, "", "text/event-stream")
		if err != nil {
			return state, err
		}
		err = events(resp.Body, func(e event) error {
			state = jobState{}
			if err := json.Unmarshal(e.data, &state); err != nil {
				return err
			}
			r.bar.at(filepath.Base(name), state)
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

// failed notes what went wrong with a file: its path is the server's, its name
// is shown.
func (r *ingestRun) failed(path, name string, err error) {
	if r.listen != nil {
		r.listen.failed(path)
	}
	r.mu.Lock()
	r.sum.Files++
	r.sum.Failed = append(r.sum.Failed, ingestFailure{File: name, Error: err.Error()})
	r.mu.Unlock()
}
