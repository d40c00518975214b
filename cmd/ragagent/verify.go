package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ragagent/ingest"
)

type verifyCmd struct {
	dataFlags
	modelFlags
	JSON bool `name:"json" help:"Print the report as JSON."`
}

// Run loads the data folder and compares everything in it. It fails if
// something is wrong.
func (c *verifyCmd) Run(e *env) (err error) {
	app, err := openApp(e.ctx, appConfig{data: c.Data, mustExist: true, models: c.modelFlags, maxMemory: c.MaxMemory, log: warnings(e.stderr), fromTexts: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	if err := app.load(e.ctx); err != nil {
		return err
	}
	report, err := app.service.Verify(e.ctx, ingest.Verification{})
	if err != nil {
		return err
	}
	names, err := strays(c.Data)
	if err != nil {
		return err
	}
	for _, name := range names {
		report.Problems = append(report.Problems, ingest.Problem{
			Where: "file " + name, Detail: "it does not belong into the data folder", Action: "look at it and move it elsewhere",
		})
	}
	kept, err := app.sideFileProblems(e.ctx)
	if err != nil {
		return err
	}
	report.Problems = append(report.Problems, kept...)
	if err := printReport(e.stdout, report, c.JSON); err != nil {
		return err
	}
	if !report.Sound() {
		return errSilent
	}
	return nil
}

// printReport writes what verify found: one line for each problem, with what
// to do about it below.
func printReport(w io.Writer, r ingest.Report, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
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
