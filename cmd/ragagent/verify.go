package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"ragagent/ingest"
	"ragagent/store"
)

type verifyCmd struct {
	dataFlags
	modelFlags
	Deleted bool `help:"Look only for what is left of deleted documents."`
	JSON    bool `name:"json" help:"Print the report as JSON."`
}

// Run compares everything in a data folder: in the server that has it open, or
// here if nobody has. It fails if something is wrong.
func (c *verifyCmd) Run(e *env) error {
	report, err := c.report(e)
	if err != nil {
		return err
	}
	if err := printReport(e.stdout, report, c.JSON); err != nil {
		return err
	}
	if !report.Sound() {
		return errSilent
	}
	return nil
}

// report asks once more if the server that has the folder ends meanwhile.
func (c *verifyCmd) report(e *env) (r ingest.Report, err error) {
	if r, err = c.reportOnce(e); err != nil && e.ctx.Err() == nil && errors.Is(err, errEnded) {
		r, err = c.reportOnce(e)
	}
	return r, err
}

// errEnded says that a server did not answer because it was ending.
var errEnded = errors.New("the server has ended")

func (c *verifyCmd) reportOnce(e *env) (r ingest.Report, err error) {
	app, err := openApp(e.ctx, appConfig{data: c.Data, mustExist: true, models: c.modelFlags, maxMemory: c.MaxMemory, log: warnings(e.stderr), fromTexts: true})
	if errors.Is(err, store.ErrInUse) {
		info := holderOf(c.Data)
		if info.Addr == "" {
			return r, err
		}
		fmt.Fprintf(e.stderr, "asking the server on http://%s, which has %s open\n", info.Addr, c.Data)
		api := &client{http: http.DefaultClient, base: "http://" + info.Addr}
		err := api.post(e.ctx, "/api/v1/verify", map[string]bool{"deleted": c.Deleted}, &r)
		if err != nil && holderOf(c.Data).Addr != info.Addr {
			err = fmt.Errorf("%w: %w", errEnded, err)
		}
		return r, err
	}
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	if err := app.load(e.ctx); err != nil {
		return r, err
	}
	if r, err = app.compare(e.ctx, ingest.Verification{}, c.Deleted); err != nil {
		return r, err
	}
	if c.Deleted {
		kept, err := app.wordsOfDeleted(e.ctx)
		r.Problems = append(r.Problems, kept...)
		r.Deleted.SideFiles = true
		return r, err
	}
	// Here alone the indexes were built from the texts: a server may have its
	// own from the side files, and writes them as it goes.
	kept, err := app.sideFileProblems(e.ctx)
	r.Problems = append(r.Problems, kept...)
	return r, err
}

// verify is the verification of a server that is at work: one at a time, and
// half of the time at most.
func (a *app) verify(ctx context.Context, deleted bool) (ingest.Report, error) {
	if !a.verifying.TryLock() {
		return ingest.Report{}, fmt.Errorf("another verification is going on: %w", store.ErrInUse)
	}
	defer a.verifying.Unlock()
	return a.compare(ctx, ingest.Verification{Gentle: true}, deleted)
}

// compare verifies the data folder and what lies beside the data.
func (a *app) compare(ctx context.Context, how ingest.Verification, deleted bool) (ingest.Report, error) {
	if err := a.service.Sweep(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("blobs of deleted documents may be left", "error", err) // and are reported
	}
	if deleted {
		return a.service.VerifyDeleted(ctx)
	}
	report, err := a.service.Verify(ctx, how)
	if err != nil {
		return report, err
	}
	names, err := strays(a.data)
	for _, name := range names {
		if strings.HasPrefix(name, snapshotFile) && !a.backups.TryLock() {
			continue // a backup is being written
		} else if strings.HasPrefix(name, snapshotFile) {
			a.backups.Unlock()
		}
		report.Problems = append(report.Problems, ingest.Problem{
			Where: "file " + name, Detail: "it does not belong into the data folder", Action: "look at it and move it elsewhere",
		})
	}
	return report, err
}

// printReport writes what verify found: one line for each problem, with what
// to do about it below.
func printReport(w io.Writer, r ingest.Report, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	if r.Deleted != nil && r.Sound() {
		fmt.Fprintln(w, r.Deleted)
		return nil
	}
	fmt.Fprintf(w, "%d knowledge bases, %d documents, %d chunks, %d vectors, %d blobs: %d problems\n",
		r.KnowledgeBases, r.Documents, r.Chunks, r.Vectors, r.Blobs, len(r.Problems)+r.More)
	for _, p := range r.Problems {
		fmt.Fprintf(w, "%s: %s\n    %s\n", plain(p.Where), plain(p.Detail), p.Action)
	}
	if r.More > 0 {
		fmt.Fprintf(w, "and %d more\n", r.More)
	}
	return nil
}
