package main

import (
	"encoding/json"
	"errors"
	"fmt"
)

type verifyCmd struct {
	dataFlags
	JSON bool `name:"json" help:"Print the report as JSON."`
}

// Run loads the data folder and compares everything in it. It fails if
// something is wrong.
func (c *verifyCmd) Run(e *env) (err error) {
	app, err := openApp(e.ctx, appConfig{data: c.Data, mustExist: true, log: warnings(e.stderr)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	if err := app.load(e.ctx); err != nil {
		return err
	}
	report, err := app.service.Verify(e.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(report); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.stdout, "%d knowledge bases, %d documents, %d chunks, %d vectors, %d blobs: %d problems\n",
			report.KnowledgeBases, report.Documents, report.Chunks, report.Vectors, report.Blobs, len(report.Problems))
		for _, p := range report.Problems {
			fmt.Fprintf(e.stdout, "%s: %s\n", p.Where, p.Detail)
		}
	}
	if len(report.Problems) > 0 {
		return errSilent
	}
	return nil
}
