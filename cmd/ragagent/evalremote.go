package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"ragagent/retrieval/eval"
)

// evalPoll is how often an evaluation's progress is asked for.
const evalPoll = 200 * time.Millisecond

// evaluation is one as the API shows it.
type evaluation struct {
	ID       string          `json:"id"`
	Status   string          `json:"status"`
	Done     int             `json:"done"`
	Total    int             `json:"total"`
	Error    string          `json:"error"`
	Figures  json.RawMessage `json:"figures"`
	Warnings []string        `json:"warnings"`
}

// onServer measures knowledge bases that are loaded, as a job of the server
// that has them.
func (c *evalRunCmd) onServer(e *env, set *eval.Dataset, measures evalNamed, depth int) error {
	return withClient(e, c.reachFlags, c.modelFlags, false, func(api *client) error {
		var ev evaluation
		err := api.post(e.ctx, "/api/v1/evaluations", map[string]any{
			"name": set.Name, "knowledge_bases": c.KB, "queries": set.Queries, "qrels": set.Qrels,
			"metrics": measures.names, "top_k": depth, "mode": c.Mode,
		}, &ev)
		if err != nil {
			return err
		}
		if err := ev.follow(e, api); err != nil {
			return err
		}
		for _, w := range ev.Warnings {
			fmt.Fprintln(e.stderr, plain(w))
		}
		if err := c.fetch(e.ctx, api, ev.ID); err != nil {
			return err
		}
		if err := printFigures(e.stdout, ev.Figures, c.JSON); err != nil {
			return err
		}
		figures, err := numbers(ev.Figures)
		if err != nil {
			return err
		}
		return measures.reached(e, figures)
	})
}

// follow waits for the end. Interrupted, it cancels the evaluation.
func (ev *evaluation) follow(e *env, api *client) error {
	path := "/api/v1/evaluations/" + ev.ID
	bar := newProgress(e.stderr, ev.Total)
	defer bar.finish()
	for shown := 0; ; {
		for ; shown < ev.Done; shown++ {
			bar.ended()
		}
		switch ev.Status {
		case "ready":
			return nil
		case "failed", "cancelled":
			return fmt.Errorf("the evaluation has %s: %s", map[string]string{"failed": "failed", "cancelled": "been cancelled"}[ev.Status], plain(ev.Error))
		}
		select {
		case <-time.After(evalPoll):
		case <-e.ctx.Done():
		}
		if err := e.ctx.Err(); err != nil {
			return errors.Join(err, cancelEvaluation(api, path))
		}
		if err := api.get(e.ctx, path, ev); err != nil {
			return err
		}
	}
}

func cancelEvaluation(api *client, path string) error {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	return api.do(ctx, http.MethodPost, path+"/cancel", nil, "", nil)
}

// fetch leaves the files that were asked for.
func (c *evalRunCmd) fetch(ctx context.Context, api *client, id string) error {
	files := map[string]string{}
	if c.PerQuery != "" {
		files[c.PerQuery] = "queries"
	}
	if c.Report != "" {
		if err := os.MkdirAll(c.Report, 0o755); err != nil {
			return err
		}
		files[filepath.Join(c.Report, "report.html")] = "report"
		files[filepath.Join(c.Report, "queries.jsonl")] = "queries"
	}
	for file, part := range files {
		resp, err := api.send(ctx, http.MethodGet, "/api/v1/evaluations/"+id+"/"+part, nil, "", "*/*")
		if err != nil {
			return err
		}
		err = writeFile(file, func(w io.Writer) error { _, err := io.Copy(w, resp.Body); return err })
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
	}
	return nil
}

// numbers are the figures of a JSON object, without what is nested.
func numbers(raw json.RawMessage) (eval.Figures, error) {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("read the figures: %w", err)
	}
	var figures eval.Figures
	for name, value := range fields {
		if v, ok := value.(float64); ok {
			figures = append(figures, eval.Figure{Name: name, Value: v})
		}
	}
	return figures, nil
}
