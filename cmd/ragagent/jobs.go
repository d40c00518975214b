package main

import (
	"encoding/json"
	"fmt"
	"net/url"
)

type jobsCmd struct {
	reachFlags
	modelFlags
	KB     string `name:"kb" help:"Only those of this knowledge base." placeholder:"NAME"`
	Failed bool   `help:"Only those that failed."`
	Retry  bool   `help:"Queue every job that failed again."`
	JSON   bool   `name:"json" help:"Print one JSON object a line, as the server answers it."`
}

// listedJob is what is printed of a job.
type listedJob struct {
	jobState
	DocumentID string `json:"document_id"`
}

// Run lists jobs, newest last, or lets those that failed be tried again.
func (c *jobsCmd) Run(e *env) error {
	return withClient(e, c.reachFlags, c.modelFlags, false, func(api *client) error {
		if c.Retry {
			return c.retry(e, api)
		}
		query := url.Values{"limit": {"500"}}
		if c.KB != "" {
			query.Set("knowledge_base", c.KB)
		}
		if c.Failed {
			query.Set("status", "failed")
		}
		for {
			var page struct {
				Data       []json.RawMessage `json:"data"`
				NextCursor *string           `json:"next_cursor"`
			}
			if err := api.get(e.ctx, "/api/v1/jobs?"+query.Encode(), &page); err != nil {
				return err
			}
			for _, raw := range page.Data {
				if err := c.print(e, raw); err != nil {
					return err
				}
			}
			if page.NextCursor == nil {
				return nil
			}
			query.Set("cursor", *page.NextCursor)
		}
	})
}

func (c *jobsCmd) retry(e *env, api *client) error {
	request := map[string]string{}
	if c.KB != "" {
		request["knowledge_base"] = c.KB
	}
	var answer struct {
		Retried int `json:"retried"`
	}
	if err := api.post(e.ctx, "/api/v1/jobs/retry", request, &answer); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(answer)
	}
	fmt.Fprintf(e.stdout, "%d jobs queued again\n", answer.Retried)
	return nil
}

func (c *jobsCmd) print(e *env, raw json.RawMessage) error {
	if c.JSON {
		fmt.Fprintf(e.stdout, "%s\n", raw)
		return nil
	}
	var j listedJob
	if err := json.Unmarshal(raw, &j); err != nil {
		return fmt.Errorf("read a job: %w", err)
	}
	fmt.Fprintf(e.stdout, "%s  %-9s  %s  %s\n", plain(j.ID), plain(j.Status), plain(j.DocumentID), plain(j.state()))
	return nil
}
