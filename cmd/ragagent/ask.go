package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

type askCmd struct {
	reachFlags
	modelFlags
	KB []string `name:"kb" help:"Knowledge bases to answer from." required:"" placeholder:"NAME"`
	filterFlag
	JSON     bool     `name:"json" help:"Print the whole result as JSON."`
	Question []string `arg:"" help:"The question."`
}

// answered is the part of an answer of /ask that is printed.
type answered struct {
	Answer         string   `json:"answer"`
	FinishedReason string   `json:"finished_reason"`
	Error          string   `json:"error"`
	Degraded       []string `json:"degraded"`
	Citations      []struct {
		ID           int    `json:"id"`
		DocumentName string `json:"document_name"`
		PageStart    int    `json:"page_start"`
		Quote        string `json:"quote"`
		Verified     bool   `json:"verified"`
	} `json:"citations"`
}

// Run asks and prints the answer with its sources.
func (c *askCmd) Run(e *env) error {
	return withClient(e, c.reachFlags, c.modelFlags, false, func(api *client) error {
		var raw json.RawMessage
		err := api.post(e.ctx, "/api/v1/ask", map[string]any{
			"question":        strings.Join(c.Question, " "),
			"knowledge_bases": c.KB,
			"filter":          c.filter(),
		}, &raw)
		if err != nil {
			return err
		}
		var a answered
		if err := json.Unmarshal(raw, &a); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if c.JSON {
			_, err = fmt.Fprintln(e.stdout, strings.TrimSpace(string(raw)))
		} else {
			a.print(e)
		}
		if err == nil && a.FinishedReason == "error" {
			fmt.Fprintln(e.stderr, "ragagent: the run failed:", plain(a.Error))
			return errSilent
		}
		return err
	})
}

func (a answered) print(e *env) {
	fmt.Fprintln(e.stdout, plain(a.Answer))
	if len(a.Citations) > 0 {
		fmt.Fprintln(e.stdout)
	}
	for _, c := range a.Citations {
		mark := "not verified"
		if c.Verified {
			mark = "verified"
		}
		fmt.Fprintf(e.stdout, "[%d] %s (%s)\n    %s\n", c.ID, place(c.DocumentName, c.PageStart, nil), mark, shorten(c.Quote, 300))
	}
	for _, d := range a.Degraded {
		fmt.Fprintln(e.stderr, "degraded:", plain(d))
	}
}
