// Package builtin holds the tools that come with ragagent.
package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ragagent/agent/tool"
	"ragagent/retrieval"
	"ragagent/store"
)

// RetrieverName is the name of the tool that searches knowledge bases.
const RetrieverName = "dataset_retriever"

// RetrieverConfig of a DatasetRetriever.
type RetrieverConfig struct {
	// Retriever searches; required.
	Retriever retrieval.Retriever
	// KnowledgeBases the tool may search, at least one. Nothing a model says
	// reaches beyond them.
	KnowledgeBases []store.KnowledgeBase
	// TopK passages where the model does not say; 0 means the knowledge base's own.
	TopK int
	// MaxTopK bounds what the model may ask for; 0 means 20.
	MaxTopK int
	// ScoreThreshold drops weaker passages; 0..1, 0 means the knowledge base's own.
	ScoreThreshold float64
	// Filter chooses the documents the tool may find; nil for all. A filter that
	// the model gives narrows it, and can never widen it.
	Filter    *store.Filter
	Mode      retrieval.Mode
	NoRewrite bool
	NoRerank  bool
}

// DatasetRetriever is the tool dataset_retriever: it rewrites the query,
// searches one or all of its knowledge bases and returns passages.
type DatasetRetriever struct {
	cfg     RetrieverConfig
	byName  map[string]string // knowledge base name -> id
	all     []string          // ids
	spec    tool.Spec
	history []retrieval.Turn
}

// NewDatasetRetriever makes the tool. A missing retriever, no knowledge base,
// or two of one name are errors.
func NewDatasetRetriever(cfg RetrieverConfig) (*DatasetRetriever, error) {
	if cfg.Retriever == nil {
		return nil, errors.New("dataset_retriever needs a retriever")
	}
	if len(cfg.KnowledgeBases) == 0 {
		return nil, store.Invalid("knowledge_bases", "name at least one")
	}
	if cfg.MaxTopK == 0 {
		cfg.MaxTopK = 20
	}
	cfg.MaxTopK = max(cfg.MaxTopK, cfg.TopK)
	d := &DatasetRetriever{cfg: cfg, byName: map[string]string{}}
	names := make([]string, 0, len(cfg.KnowledgeBases))
	for _, kb := range cfg.KnowledgeBases {
		if _, dup := d.byName[kb.Name]; dup {
			return nil, store.Invalid("knowledge_bases", "%q is there twice", kb.Name)
		}
		d.byName[kb.Name] = kb.ID
		d.all = append(d.all, kb.ID)
		names = append(names, kb.Name)
	}
	parameters, err := parametersFor(names, cfg.MaxTopK)
	if err != nil {
		return nil, err
	}
	d.spec = tool.Spec{
		Name: RetrieverName, Description: describe(cfg.KnowledgeBases), Parameters: parameters, Idempotent: true,
	}
	return d, nil
}

// retrieverArgs are the tool's arguments.
type retrieverArgs struct {
	Query         string          `json:"query"`
	KnowledgeBase string          `json:"knowledge_base"`
	TopK          int             `json:"top_k"`
	Filter        json.RawMessage `json:"filter"`
}

// aboutFilter tells the model how a filter is written.
const aboutFilter = `search only documents whose metadata fit, such as {"year": {"ge": 2020}, "author": ["Ada", "Bob"]}; ` +
	`operators: eq, ne, lt, le, gt, ge, in, contains, exists, and, or, not; times are RFC 3339 strings; ` +
	`every document has name, title, folder, mime, pages, created_at; leave it out unless the question names such a limit`

func parametersFor(names []string, maxTopK int) (json.RawMessage, error) {
	type property struct {
		Type        string   `json:"type"`
		Description string   `json:"description"`
		Enum        []string `json:"enum,omitempty"`
		MinLength   int      `json:"minLength,omitempty"`
		Minimum     int      `json:"minimum,omitempty"`
		Maximum     int      `json:"maximum,omitempty"`
	}
	raw, err := json.Marshal(map[string]any{
		"type":     "object",
		"required": []string{"query"},
		"properties": map[string]property{
			"query":          {Type: "string", Description: "what to look for, in words the documents may use", MinLength: 1},
			"knowledge_base": {Type: "string", Description: "search only this one; leave it out to search all", Enum: names},
			"filter":         {Type: "object", Description: aboutFilter},
			"top_k":          {Type: "integer", Description: "how many passages to return", Minimum: 1, Maximum: maxTopK},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode the parameters of %s: %w", RetrieverName, err)
	}
	return raw, nil
}

// describe tells the model what there is to search, within a bound.
func describe(kbs []store.KnowledgeBase) string {
	const most, mostEach = 20, 300
	var b strings.Builder
	b.WriteString("Searches the user's knowledge bases and returns passages to answer from and to cite. Knowledge bases:")
	for i, kb := range kbs {
		if i == most {
			fmt.Fprintf(&b, "\nand %d more", len(kbs)-most)
			break
		}
		text := strings.Join(strings.Fields(kb.Description), " ")
		if len(text) > mostEach {
			text = strings.ToValidUTF8(text[:mostEach], "") + "..."
		}
		fmt.Fprintf(&b, "\n- %s", kb.Name)
		if text != "" {
			fmt.Fprintf(&b, ": %s", text)
		}
	}
	return b.String()
}

// Spec implements tool.Tool.
func (d *DatasetRetriever) Spec() tool.Spec { return d.spec }

// WithConversation implements tool.Conversational: the rewriter completes
// follow-up questions from the earlier lines.
func (d *DatasetRetriever) WithConversation(lines []tool.Line) tool.Tool {
	c := *d
	c.history = make([]retrieval.Turn, len(lines))
	for i, l := range lines {
		c.history[i] = retrieval.Turn{Role: l.Role, Text: l.Text}
	}
	return &c
}

// Call implements tool.Tool.
func (d *DatasetRetriever) Call(ctx context.Context, raw json.RawMessage) (tool.Result, error) {
	var args retrieverArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return tool.Result{}, fmt.Errorf("decode the arguments of %s: %w", RetrieverName, err)
	}
	q := retrieval.Query{
		Text: args.Query, History: d.history, KnowledgeBases: d.all, TopK: d.cfg.TopK, ScoreThreshold: d.cfg.ScoreThreshold,
		Mode: d.cfg.Mode, NoRewrite: d.cfg.NoRewrite, NoRerank: d.cfg.NoRerank,
	}
	if args.TopK > 0 {
		q.TopK = min(args.TopK, d.cfg.MaxTopK)
	}
	filter, err := store.ParseFilter(args.Filter)
	if err != nil {
		return tool.Result{}, err
	}
	q.Filter = store.Both(d.cfg.Filter, filter)
	if args.KnowledgeBase != "" {
		id, ok := d.byName[args.KnowledgeBase]
		if !ok {
			return tool.Result{}, errors.New("there is no such knowledge base")
		}
		q.KnowledgeBases = []string{id}
	}
	found, err := d.cfg.Retriever.Retrieve(ctx, q)
	if err != nil {
		return tool.Result{}, fmt.Errorf("search: %w", err)
	}
	return asResult(found)
}

// retrieverData is Result.Data of the tool.
type retrieverData struct {
	Query     string                 `json:"query"`
	Rewritten string                 `json:"rewritten_query,omitempty"`
	Terms     []retrieval.TermWeight `json:"terms"`
}

// passageOf shows a hit, or the section around it where there is one.
func passageOf(h retrieval.Hit) tool.Passage {
	p := tool.Passage{
		ChunkID: h.ID, DocumentID: h.DocumentID, DocumentName: h.DocumentName, KnowledgeBase: h.KnowledgeBaseName,
		Title: h.Title, Headings: h.Headings, PageStart: h.PageStart, PageEnd: h.PageEnd,
		Span: h.Span, Text: h.Text, Context: h.Context, Score: h.Score,
	}
	if h.ParentText == "" {
		return p
	}
	p.Found = store.Section{Span: h.Span, PageStart: h.PageStart, PageEnd: h.PageEnd}
	p.Span, p.PageStart, p.PageEnd, p.Text = h.Parent.Span, h.Parent.PageStart, h.Parent.PageEnd, h.ParentText
	if holds(h.ParentText[:h.Span.Start-h.Parent.Start], h.Context) {
		p.Context = ""
	}
	return p
}

// holds says that a text holds every line of context, white space aside.
func holds(text, context string) bool {
	text = strings.Join(strings.Fields(text), " ")
	for line := range strings.SplitSeq(context, "\n") {
		if !strings.Contains(text, strings.Join(strings.Fields(line), " ")) {
			return false
		}
	}
	return true
}

// asResult turns hits into passages.
func asResult(found retrieval.Result) (tool.Result, error) {
	r := tool.Result{Degraded: found.Degraded, Passages: make([]tool.Passage, len(found.Hits))}
	if found.Rewritten != "" {
		r.Text = "[Query rewritten to: " + strings.Join(strings.Fields(found.Rewritten), " ") + "]"
	}
	for i, h := range found.Hits {
		r.Passages[i] = passageOf(h)
	}
	if len(found.Hits) == 0 {
		r.Note = "No passage matches. Try other words, or say that the documents do not tell."
	}
	data, err := json.Marshal(retrieverData{Query: found.Query, Rewritten: found.Rewritten, Terms: found.Terms})
	if err != nil {
		return tool.Result{}, fmt.Errorf("encode the result of %s: %w", RetrieverName, err)
	}
	r.Data = data
	return r, nil
}
