package main

import (
	"encoding/json"
	"fmt"
	"net/url"
)

type reindexCmd struct {
	reachFlags
	modelFlags
	KB   string `name:"kb" help:"Knowledge base." required:"" placeholder:"NAME"`
	JSON bool   `name:"json" help:"Print the result as JSON."`
}

// reindexSummary is what the command prints.
type reindexSummary struct {
	Documents int             `json:"documents"`
	Ready     int             `json:"ready"`
	Skipped   int             `json:"skipped"`
	Failed    []ingestFailure `json:"failed"`
}

// Run has every document read, cut and embedded again, and waits until each has
// ended.
func (c *reindexCmd) Run(e *env) error {
	return withClient(e, c.reachFlags, c.modelFlags, false, func(api *client) error {
		var begun struct {
			Documents []submitted `json:"documents"`
			Skipped   int         `json:"skipped"`
		}
		if err := api.post(e.ctx, "/api/v1/knowledge-bases/"+url.PathEscape(c.KB)+"/reindex", nil, &begun); err != nil {
			return err
		}
		bar := newProgress(e.stderr, len(begun.Documents))
		run := &ingestRun{api: api, kb: c.KB, bar: bar, sum: ingestSummary{Failed: []ingestFailure{}}}
		for _, doc := range begun.Documents {
			run.follow(e.ctx, doc.Name, doc)
			bar.ended()
		}
		bar.finish()
		if err := e.ctx.Err(); err != nil {
			return fmt.Errorf("interrupted; the jobs are taken up when the server runs again: %w", err)
		}
		return c.print(e, reindexSummary{len(begun.Documents), run.sum.Ready, begun.Skipped, run.sum.Failed})
	})
}

func (c *reindexCmd) print(e *env, sum reindexSummary) error {
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(sum); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.stdout, "%d of %d documents made anew, %d skipped\n", sum.Ready, sum.Documents, sum.Skipped)
		for _, f := range sum.Failed {
			fmt.Fprintf(e.stderr, "failed: %s: %s\n", plain(f.File), plain(f.Error))
		}
	}
	if len(sum.Failed) > 0 {
		return errSilent
	}
	return nil
}
