// Package extractive answers from documents without a language model: it has
// them searched and repeats the sentences that fit the question best, word for
// word and each with its citation, or says that the documents do not tell. It
// is an llm.Model, so it goes through the same loop as any other.
package extractive

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"ragagent/agent/llm"
	"ragagent/retrieval/analysis"
)

// Config of the answerer.
type Config struct {
	// Tool is the search tool it calls; "" means "dataset_retriever". It has
	// to take {"query": string} and return passages.
	Tool string
	// Sentences is the most it answers with; 0 means 3.
	Sentences int
	// Passages is how many of the best passages it reads; 0 means 5.
	Passages int
	// Embedder compares what sentences mean with the query; nil goes by words
	// alone. It embeds up to 300 sentences a question, so it should be a cheap
	// one, such as the built-in. Its errors are passed over: words are enough
	// to answer.
	Embedder Embedder
	// RefuseAt is the confidence z at or below which it refuses; 0 is the
	// measured optimum, a higher value refuses more, -20 nothing. docs/quality.md
	// has what is kept and refused at each value.
	RefuseAt float64
}

// Embedder turns texts into vectors of L2 norm 1; nil for a text it has nothing
// to say about. It may be used concurrently.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error) // in their order
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Model is the answerer. It may be used concurrently.
type Model struct {
	cfg      Config
	analyzer *analysis.Analyzer
}

// Refusal is what it says when the documents do not hold an answer.
const Refusal = "The documents do not tell."

// New makes an answerer; negative counts are errors.
func New(cfg Config) (*Model, error) {
	if cfg.Sentences < 0 || cfg.Passages < 0 {
		return nil, errors.New("extractive: counts may not be negative")
	}
	if cfg.Tool == "" {
		cfg.Tool = "dataset_retriever"
	}
	if cfg.Sentences == 0 {
		cfg.Sentences = 3
	}
	if cfg.Passages == 0 {
		cfg.Passages = 5
	}
	return &Model{cfg: cfg, analyzer: analysis.New()}, nil
}

// Capabilities implements llm.Capable: it calls its tool and follows no prompt.
func (m *Model) Capabilities() llm.Capabilities { return llm.Capabilities{ToolCalls: true} }

// Stream implements llm.Model. It counts no tokens: none are spent. The
// Confidence of a reply from passages is z, the log-odds that they hold the
// answer; see Config.RefuseAt.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		question, results := lastExchange(req.Messages)
		if len(results) == 0 {
			m.begin(question, req.Tools, yield)
			return
		}
		text, confidence := m.reply(ctx, question, results)
		for _, piece := range text {
			if !yield(llm.Delta{Text: piece}, nil) {
				return
			}
		}
		yield(llm.Delta{Confidence: confidence, Usage: &llm.Usage{}, Finish: llm.FinishStop}, nil)
	}
}

// begin asks for a search.
func (m *Model) begin(question string, tools []llm.ToolSpec, yield func(llm.Delta, error) bool) {
	for _, t := range tools {
		if t.Name != m.cfg.Tool {
			continue
		}
		args, err := json.Marshal(map[string]string{"query": question})
		if err != nil {
			yield(llm.Delta{}, &llm.Error{Provider: "extractive", Err: err})
			return
		}
		yield(llm.Delta{
			ToolCalls: []llm.ToolCall{{Name: t.Name, Arguments: args}},
			Usage:     &llm.Usage{}, Finish: llm.FinishToolCalls,
		}, nil)
		return
	}
	const text = "I answer from documents only, and this question came without any to search."
	yield(llm.Delta{Text: text, Usage: &llm.Usage{}, Finish: llm.FinishStop}, nil)
}

// lastExchange returns the last question and the tool results since.
func lastExchange(messages []llm.Message) (string, []llm.Message) {
	question, results := "", []llm.Message(nil)
	for _, msg := range messages {
		switch msg.Role {
		case llm.User:
			question, results = msg.Content, nil
		case llm.ToolRole:
			results = append(results, msg)
		}
	}
	return question, results
}

// Observation is what the answerer reads in llm.Message.Data of a tool message.
type Observation struct {
	Result struct {
		Query     string `json:"query"`
		Rewritten string `json:"rewritten_query"`
		Terms     []Term `json:"terms"`
	} `json:"result"`
	Passages []Passage `json:"passages"`
	Error    string    `json:"error"`
}

// Term is an analysed word of the query. IDF is ln(1 + (N - df + .5)/(df + .5));
// a DF of 0 means that the documents do not know the word.
type Term struct {
	Term string  `json:"term"`
	IDF  float64 `json:"idf"`
	DF   int     `json:"df"`
}

// Passage is a source under the id it is cited by, best first.
type Passage struct {
	ID       int      `json:"id"`
	Document string   `json:"document"`
	Title    string   `json:"title"`
	Headings []string `json:"headings"`
	Score    float64  `json:"score"`
	// Context are lines to read before Text, such as the header row of a table
	// that Text goes on with. They are no part of it.
	Context string `json:"context"`
	Text    string `json:"text"`
}

// reply makes the answer, in pieces as they may be streamed, and says how sure
// it is; nil where there was nothing to read.
func (m *Model) reply(ctx context.Context, question string, results []llm.Message) ([]string, *float64) {
	seen, failure := Observation{}, ""
	for _, r := range results {
		var o Observation
		if json.Unmarshal(r.Data, &o) != nil {
			continue // a tool that returns no passages has nothing to quote
		}
		if o.Error != "" {
			failure = o.Error
		}
		if len(o.Result.Terms) > 0 {
			seen.Result = o.Result
		}
		seen.Passages = append(seen.Passages, o.Passages...)
	}
	if len(seen.Passages) == 0 {
		if failure != "" {
			return []string{"The search failed: " + failure}, nil
		}
		return []string{Refusal}, nil
	}
	query := question
	if seen.Result.Rewritten != "" {
		query = seen.Result.Rewritten
	}
	a := m.read(ctx, query, seen)
	z := a.signals.z()
	unheard := a.signals.unheard()
	switch {
	case !a.confident(m.cfg.RefuseAt) && unheard != "":
		return []string{Refusal, " " + unheard}, &z
	case !a.confident(m.cfg.RefuseAt):
		return []string{Refusal}, &z
	case unheard != "": // answered because RefuseAt is low
		return append([]string{strings.Replace(unheard, "of them", "of the documents", 1) + "\n\n"}, pieces(a.best(m.cfg.Sentences))...), &z
	}
	return pieces(a.best(m.cfg.Sentences)), &z
}

// pieces writes sentences with their citations, one piece each. Rows and other
// units without a full stop stand in a paragraph of their own; what is read
// before a row stands in the same passage and is cited like it.
func pieces(sentences []sentence) []string {
	out := make([]string, len(sentences))
	for i, s := range sentences {
		text := plain(s.text)
		sameTable := i > 0 && s.lead != "" && sentences[i-1].lead == s.lead
		if s.lead != "" && !sameTable {
			mark := " " + citation(s.passage.ID)
			text = strings.ReplaceAll(s.lead, "\n", mark+"\n") + mark + "\n" + text
		}
		switch {
		case i == 0:
		case sameTable:
			text = "\n" + text
		case ended(sentences[i-1].text) && ended(text):
			text = " " + text
		default:
			text = "\n\n" + text
		}
		out[i] = text + " " + citation(s.passage.ID)
	}
	return out
}

// ended says whether a text closes like a sentence.
func ended(text string) bool {
	text = strings.TrimRight(text, `"')]”’»」』）】 `)
	for _, mark := range []string{".", "!", "?", "…", "。", "！", "？"} {
		if strings.HasSuffix(text, mark) {
			return true
		}
	}
	return false
}
