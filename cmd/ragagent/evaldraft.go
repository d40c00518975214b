package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"ragagent/agent/llm"
	"ragagent/retrieval/analysis"
	"ragagent/retrieval/eval"
	"ragagent/retrieval/eval/draft"
)

type evalDraftCmd struct {
	reachFlags
	modelFlags
	KB     string `name:"kb" help:"Knowledge base to draft questions from." required:"" placeholder:"NAME"`
	Out    string `help:"New folder, in BEIR layout, to write them into." required:"" type:"path" placeholder:"DIR"`
	Limit  int    `help:"Number of questions." default:"50"`
	Seed   uint64 `help:"Of which passages are taken." default:"1"`
	Corpus bool   `help:"Write the documents' texts too, so that the folder can be evaluated by itself." default:"true" negatable:""`
}

// Bounds of what is read of a knowledge base.
const (
	draftDocuments = 100_000
	draftPassages  = 100_000               // of all documents together
	draftChunks    = 1000                  // of one document
	draftText      = eval.MaxLineBytes / 2 // JSON writes some characters as several
)

// Run drafts questions for a person to accept or strike out.
func (c *evalDraftCmd) Run(e *env) error {
	if err := writable(c.Out + ".new"); err != nil {
		return err
	}
	cfg := draft.Config{Analyzer: analysis.New(), Limit: c.Limit, Seed: c.Seed}
	if c.LLM != "" && c.LLM != "extractive" {
		model, err := newModel(c.modelFlags)
		if err != nil {
			return err
		}
		cfg.Complete = func(ctx context.Context, system, user string) (string, error) { return said(ctx, model, system, user) }
	}
	drafter, err := draft.New(cfg)
	if err != nil {
		return usageError{err}
	}
	return withClient(e, c.reachFlags, c.modelFlags, false, func(api *client) error {
		kb := &draftSource{client: api, base: "/api/v1/knowledge-bases/" + url.PathEscape(c.KB)}
		if err := kb.load(e.ctx); err != nil {
			return err
		}
		questions, failed, err := drafter.Draft(e.ctx, kb.passages)
		if err != nil {
			return err
		}
		if failed != nil {
			fmt.Fprintln(e.stderr, "the model was not heard for some passages, which were asked about without it:", plain(failed.Error()))
		}
		if len(questions) == 0 {
			return fmt.Errorf("no question could be drafted: %q has %d passages to draft from", c.KB, len(kb.passages))
		}
		folder := draft.Folder{Questions: questions}
		if c.Corpus {
			folder.Corpus = kb.texts(e.ctx)
		}
		if err := folder.Write(c.Out); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "Look through %s/queries.jsonl: set \"accepted\" to true, or to false for a question to be struck out.\n", c.Out)
		_, err = fmt.Fprintf(e.stdout, "%d questions from %d documents\n", len(questions), len(kb.documents))
		return err
	})
}

// said is the text a model replies with.
func said(ctx context.Context, model llm.Model, system, user string) (string, error) {
	var text strings.Builder
	for delta, err := range model.Stream(ctx, llm.Request{
		Messages:  []llm.Message{{Role: llm.System, Content: system}, {Role: llm.User, Content: user}},
		MaxTokens: 400,
	}) {
		if err != nil {
			return "", err
		}
		text.WriteString(delta.Text)
	}
	return text.String(), nil
}

// draftSource is a knowledge base as questions are drafted from it.
type draftSource struct {
	*client
	base      string
	documents []draftDocument
	passages  []draft.Passage
}

type draftDocument struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// load reads the documents and the chunks of as many as the bounds allow.
func (s *draftSource) load(ctx context.Context) error {
	for doc, err := range listed[draftDocument](ctx, s.client, s.base+"/documents") {
		if err != nil {
			return err
		}
		if doc.Status == "ready" {
			s.documents = append(s.documents, doc)
		}
		if len(s.documents) == draftDocuments {
			break
		}
	}
	share := max(1, min(draftChunks, draftPassages/max(len(s.documents), 1)))
	for _, doc := range s.documents {
		if err := s.chunks(ctx, doc, share); err != nil {
			return err
		}
	}
	return nil
}

func (s *draftSource) chunks(ctx context.Context, doc draftDocument, limit int) error {
	type chunk struct {
		Title     string   `json:"title"`
		Headings  []string `json:"headings"`
		PageStart int      `json:"page_start"`
		Text      string   `json:"text"`
	}
	n := 0
	for c, err := range listed[chunk](ctx, s.client, s.base+"/documents/"+doc.ID+"/chunks") {
		if isStatus(err, http.StatusNotFound) { // deleted just now
			return nil
		}
		if err != nil {
			return err
		}
		s.passages = append(s.passages, draft.Passage{
			DocumentID: doc.ID, DocumentName: doc.Name, Title: c.Title, Headings: c.Headings, Page: c.PageStart, Text: c.Text,
		})
		if n++; n == limit {
			break
		}
	}
	return nil
}

// texts are the documents with their whole texts.
func (s *draftSource) texts(ctx context.Context) iter.Seq2[eval.Document, error] {
	return func(yield func(eval.Document, error) bool) {
		for _, doc := range s.documents {
			text, err := s.text(ctx, doc.ID)
			if isStatus(err, http.StatusNotFound) {
				continue
			}
			if !yield(eval.Document{ID: doc.ID, Title: doc.Name, Text: text}, err) || err != nil {
				return
			}
		}
	}
}

func (s *draftSource) text(ctx context.Context, id string) (string, error) {
	resp, err := s.send(ctx, http.MethodGet, s.base+"/documents/"+id+"/text", nil, "", "text/plain")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, draftText+1))
	if err == nil && len(raw) > draftText {
		err = errors.New("document " + id + " has too large a text for a line of corpus.jsonl: use --no-corpus")
	}
	return string(raw), err
}

// listed reads a listing of the API page by page.
func listed[T any](ctx context.Context, c *client, path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for cursor := ""; ; {
			var page struct {
				Data       []T     `json:"data"`
				NextCursor *string `json:"next_cursor"`
			}
			query := url.Values{"limit": {"1000"}}
			if cursor != "" {
				query.Set("cursor", cursor)
			}
			if err := c.get(ctx, path+"?"+query.Encode(), &page); err != nil {
				yield(none, err)
				return
			}
			for _, row := range page.Data {
				if !yield(row, nil) {
					return
				}
			}
			if page.NextCursor == nil {
				return
			}
			cursor = *page.NextCursor
		}
	}
}
