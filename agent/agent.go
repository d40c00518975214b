// Package agent runs language models with tools: one loop owns limits, usage,
// retries and ends; strategies only translate between the loop and a way of
// prompting. A run is one stream of events, which traces, SSE, stored runs and
// results are views of.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"ragagent/agent/cite"
	"ragagent/agent/llm"
	"ragagent/agent/tool"
	"ragagent/store"
)

// Config of an agent.
type Config struct {
	// Model is asked; required.
	Model llm.Model
	// Name of the agent in events and records; "" means "assistant".
	Name string
	// SystemPrompt says who the agent is; "" means DefaultSystemPrompt.
	SystemPrompt string
	// Strategy translates; nil means by what the model can do: FunctionCalling,
	// or ReAct where it cannot call tools.
	Strategy Strategy
	// Tools are offered in every run, before those of Input.
	Tools []tool.Tool
	// Offer are the names of those tools of Input that this agent is offered;
	// nil means all of them.
	Offer []string
	// Degraded is told in Result.Degraded of every run.
	Degraded []string
	// Texts is the truth that citations are checked against; nil leaves every
	// citation unverified.
	Texts Texts
	// Conversations remembers; nil means that nothing is stored.
	Conversations store.Conversations
	// Checkpoints keeps runs on their way, so that they can be resumed; nil
	// means that a run that does not end is lost.
	Checkpoints store.Checkpoints
	// Approve decides about a call of a tool with side effects before it is
	// made; an error refuses it, in words for the model. nil refuses all. It is
	// called in the goroutine that reads the run, and waits as long as it likes
	// within ctx.
	Approve func(ctx context.Context, a Approval) error
	Limits  Limits
	// Log gets what nobody else is told, such as the stack of a tool that
	// panicked; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID makes identifiers with a prefix; nil means store.NewID.
	NewID func(prefix string) string
	// Wait sleeps between retries and returns ctx's error if it ends first;
	// nil means a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Approval is what is asked for: one call with exactly these arguments.
type Approval struct {
	RunID     string          `json:"run_id"`
	CallID    string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// Texts reads the normalised text of documents. It may be called concurrently.
type Texts interface {
	// ReadText returns the bytes of span in the document's text as it is now.
	// store.ErrNotFound if the document is gone or shorter.
	ReadText(ctx context.Context, documentID string, span store.Span) (string, error)
}

// Input is one question to an agent.
type Input struct {
	// Question is 1..MaxQuestionBytes bytes.
	Question string
	// ConversationID continues a stored conversation; "" starts one.
	ConversationID string
	// History stands before the question where the caller brings its own
	// messages; it is used instead of the stored conversation's.
	History []llm.Message
	// Tools of this run, bound by the caller to what this user may reach.
	// Nothing a model or a document says can widen them.
	Tools []tool.Tool
	// MaxIterations is 1..99; 0 means the agent's own.
	MaxIterations int
	// Strategy of this run; nil means the agent's own.
	Strategy Strategy
	// Interactive says that a person can be asked: the tool ask_user is offered,
	// and where there is no Config.Approve, a call with side effects interrupts
	// the run until it is resumed with a decision. It needs Config.Checkpoints.
	Interactive bool
	// Scope is JSON that the caller wants back when the run is resumed, to make
	// its tools again; nil means nothing.
	Scope json.RawMessage
	// OutputSchema is a JSON Schema of an object: the answer is one that follows
	// it, and Result.Output. nil means an answer in words.
	OutputSchema json.RawMessage
}

// Agent answers questions with a model and tools. It may be used concurrently;
// a run keeps its state to itself.
type Agent struct {
	cfg    Config
	tools  *tool.Registry // of Config.Tools
	quoter *cite.Quoter
	mute   atomic.Bool // the model has refused to be offered tools
}

// DefaultSystemPrompt asks for answers from the sources, with citations.
const DefaultSystemPrompt = `You answer questions from the user's documents. Search them with the tools you are given before you answer, and search again in other words when the first sources do not tell. Use only what the sources say. After every statement cite its source as [n], n being the number on the source's "Citation" line. If the sources do not hold the answer, say exactly: "` + RefusalText + `"`

// RefusalText is how an answer begins when the documents do not hold it.
const RefusalText = "The documents do not tell."

// New makes an agent. A missing model, an unsound tool or limits out of range
// are errors.
func New(cfg Config) (*Agent, error) {
	if cfg.Model == nil {
		return nil, errors.New("an agent needs a model")
	}
	if cfg.Name == "" {
		cfg.Name = "assistant"
	}
	if cfg.SystemPrompt == "" {
		cfg.SystemPrompt = DefaultSystemPrompt
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = store.NewID
	}
	if cfg.Wait == nil {
		cfg.Wait = wait
	}
	cfg.Limits = cfg.Limits.withDefaults()
	if err := cfg.Limits.check(); err != nil {
		return nil, fmt.Errorf("agent %q: %w", cfg.Name, err)
	}
	tools, err := tool.NewRegistry(cfg.Tools...)
	if err != nil {
		return nil, fmt.Errorf("agent %q: %w", cfg.Name, err)
	}
	return &Agent{cfg: cfg, tools: tools, quoter: cite.NewQuoter()}, nil
}

// wait is Config.Wait by a timer.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
