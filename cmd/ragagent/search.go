package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

type searchCmd struct {
	reachFlags
	modelFlags
	KB   []string `name:"kb" help:"Knowledge bases to search." required:"" placeholder:"NAME"`
	TopK int      `name:"top-k" help:"Number of passages." default:"5"`
	Mode string   `help:"hybrid, lexical or dense." default:"hybrid" enum:"hybrid,lexical,dense"`
	filterFlag
	JSON  bool     `name:"json" help:"Print the server's answer as JSON."`
	Query []string `arg:"" help:"What to look for."`
}

// filterFlag says which documents are searched.
type filterFlag struct {
	Filter string `help:"Search only documents with this metadata, as JSON." placeholder:"'{\"year\": {\"ge\": 2020}}'"`
}

// filter returns the field of a request. What is no JSON goes as a string: the
// server says what is wrong with it.
func (f filterFlag) filter() any {
	switch {
	case f.Filter == "":
		return nil
	case json.Valid([]byte(f.Filter)):
		return json.RawMessage(f.Filter)
	}
	return f.Filter
}

// retrieved is the part of an answer of /retrieve that is printed.
type retrieved struct {
	Rewritten string   `json:"rewritten_query"`
	Degraded  []string `json:"degraded"`
	Hits      []struct {
		DocumentName  string   `json:"document_name"`
		KnowledgeBase string   `json:"knowledge_base"`
		Score         float64  `json:"score"`
		Text          string   `json:"text"`
		Headings      []string `json:"headings"`
		PageStart     int      `json:"page_start"`
	} `json:"hits"`
}

// Run searches and prints the passages.
func (c *searchCmd) Run(e *env) error {
	return withClient(e, c.reachFlags, c.modelFlags, false, func(api *client) error {
		var raw json.RawMessage
		err := api.post(e.ctx, "/api/v1/retrieve", map[string]any{
			"query":           strings.Join(c.Query, " "),
			"knowledge_bases": c.KB,
			"top_k":           c.TopK,
			"mode":            c.Mode,
			"filter":          c.filter(),
			"rewrite":         c.Rewrite,
			"rerank":          c.Rerank,
		}, &raw)
		if err != nil {
			return err
		}
		if c.JSON {
			_, err = fmt.Fprintln(e.stdout, strings.TrimSpace(string(raw)))
			return err
		}
		var r retrieved
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if len(r.Hits) == 0 {
			fmt.Fprintln(e.stderr, "nothing found")
		}
		for i, h := range r.Hits {
			fmt.Fprintf(e.stdout, "%d. %s  score %.3f\n", i+1, place(h.DocumentName, h.PageStart, h.Headings), h.Score)
			fmt.Fprintf(e.stdout, "   %s\n\n", shorten(h.Text, 400))
		}
		for _, d := range r.Degraded {
			fmt.Fprintln(e.stderr, "degraded:", plain(d))
		}
		return nil
	})
}

// place names where a passage stands.
func place(document string, page int, headings []string) string {
	s := plain(document)
	if page > 0 {
		s += fmt.Sprintf(", page %d", page)
	}
	if len(headings) > 0 {
		s += " (" + plain(strings.Join(headings, " > ")) + ")"
	}
	return s
}

// shorten gives a text one line and at most n characters.
func shorten(text string, n int) string {
	text = plain(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + " ..."
	}
	return text
}

// plain drops control characters: text from documents must not drive the
// terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, s)
}
