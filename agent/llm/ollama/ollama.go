// Package ollama talks to an Ollama server as an llm.Model.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"ragagent/agent/llm"
)

// Config of a model on an Ollama server.
type Config struct {
	// BaseURL of the server; "" means DefaultBaseURL. "HOST:PORT" is taken too.
	BaseURL string
	// Model is the name as in `ollama list`; required.
	Model string
	// ContextTokens is the window the server gives the model (num_ctx); 0 means
	// 16,384, which holds what an agent's default limits let in. A prompt that
	// does not fit is an error: the server is told not to cut it silently.
	ContextTokens int
	// MaxTokens bounds a reply (num_predict) where the request does not; 0
	// means 2048.
	MaxTokens int
	// Threads the server may use (num_thread); 0 leaves it to the server.
	Threads int
	// Think turns reasoning "on" or "off", or asks for "low", "medium" or
	// "high" effort; "" leaves it to the model, which means on for a model
	// that can. A model that cannot refuses any other setting than "off".
	Think string
	// KeepAlive is how long the model stays loaded; 0 leaves it to the server.
	KeepAlive time.Duration
	// IdleTimeout is how long to wait for the next piece of a reply, the
	// loading of the model included; 0 means 5 minutes.
	IdleTimeout time.Duration
	// HTTPClient makes the connections; nil means one of its own. It must not
	// have a timeout of its own: replies stream for as long as they take.
	HTTPClient *http.Client
}

// DefaultBaseURL is where an Ollama server listens by default.
const DefaultBaseURL = "http://127.0.0.1:11434"

// Model is a model on an Ollama server. It may be used concurrently.
type Model struct {
	cfg    Config
	client *api.Client
}

// New makes a model; the server is not asked anything yet. A missing model
// name, a malformed address, an unknown Think or a negative bound are errors.
func New(cfg Config) (*Model, error) {
	if cfg.Model == "" {
		return nil, errors.New("ollama: a model needs a name")
	}
	base, err := baseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.ContextTokens < 0 || cfg.MaxTokens < 0 || cfg.Threads < 0 || cfg.KeepAlive < 0 || cfg.IdleTimeout < 0 {
		return nil, errors.New("ollama: bounds may not be negative")
	}
	switch cfg.Think {
	case "", "on", "off", "low", "medium", "high":
	default:
		return nil, fmt.Errorf("ollama: think is on, off, low, medium or high, not %q", cfg.Think)
	}
	if cfg.ContextTokens == 0 {
		cfg.ContextTokens = 16384
	}
	if cfg.MaxTokens == 0 {
		cfg.MaxTokens = 2048
	}
	if cfg.IdleTimeout == 0 {
		cfg.IdleTimeout = 5 * time.Minute
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{}
	}
	return &Model{cfg: cfg, client: api.NewClient(base, cfg.HTTPClient)}, nil
}

// baseURL reads an address as people write it, also OLLAMA_HOST's "HOST:PORT".
func baseURL(address string) (*url.URL, error) {
	if address == "" {
		address = DefaultBaseURL
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("ollama: %q is not the address of a server, for example %s", address, DefaultBaseURL)
	}
	return u, nil
}

// Capabilities implements llm.Capable. Whether a model can call tools, its
// server says when it is offered some.
func (m *Model) Capabilities() llm.Capabilities {
	return llm.Capabilities{ToolCalls: true, Prompts: true, Format: true}
}

var (
	errStopped = errors.New("the reader has stopped")
	errIdle    = errors.New("the server has sent nothing for too long")
	// errBrokenOff is what a stream without its last object means: the server
	// was killed, or gave up on a model that repeats itself.
	errBrokenOff = errors.New("the reply broke off before its end")
)

// Stream implements llm.Model. The tools' JSON Schemas are passed as far as
// Ollama reads them (types, enums, descriptions, nesting). Format is left out
// while tools are offered: the server would enforce the format and never call.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		chat, err := m.chatRequest(req)
		if err != nil {
			yield(llm.Delta{}, &llm.Error{Provider: "ollama", Err: err})
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		idle := time.AfterFunc(m.cfg.IdleTimeout, func() { cancel(errIdle) })
		defer idle.Stop()
		reply := replyReader{yield: yield}
		err = m.client.Chat(ctx, chat, func(r api.ChatResponse) error {
			idle.Reset(m.cfg.IdleTimeout)
			return reply.read(r)
		})
		switch {
		case errors.Is(err, errStopped), err == nil && reply.done:
		case ctx.Err() != nil:
			yield(llm.Delta{}, contextError(ctx))
		case err == nil: // the client reports neither a lost connection nor a cut reply
			yield(llm.Delta{}, &llm.Error{Provider: "ollama", Retryable: true, Err: errBrokenOff})
		default:
			yield(llm.Delta{}, classify(err))
		}
	}
}

// contextError tells our own impatience from the caller's.
func contextError(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errIdle) {
		return &llm.Error{Provider: "ollama", Retryable: true, Err: errIdle}
	}
	return ctx.Err()
}

// replyReader turns the server's objects into deltas.
type replyReader struct {
	yield  func(llm.Delta, error) bool
	called bool // a tool call was in the reply
	done   bool
}

func (r *replyReader) read(c api.ChatResponse) error {
	d := llm.Delta{Text: c.Message.Content, Thinking: c.Message.Thinking}
	for _, t := range c.Message.ToolCalls {
		r.called = true
		d.ToolCalls = append(d.ToolCalls, llm.ToolCall{ID: t.ID, Name: t.Function.Name, Arguments: []byte(t.Function.Arguments.String())})
	}
	if c.Done {
		finish, err := finishReason(c.DoneReason, r.called)
		if err != nil {
			return err
		}
		r.done = true
		d.Finish = finish
		d.Usage = &llm.Usage{
			PromptTokens: c.PromptEvalCount, CompletionTokens: c.EvalCount, TotalTokens: c.PromptEvalCount + c.EvalCount,
		}
	}
	if d.Text == "" && d.Thinking == "" && d.ToolCalls == nil && !c.Done {
		return nil
	}
	if !r.yield(d, nil) {
		return errStopped
	}
	return nil
}

// finishReason reads done_reason. "load" and "unload" answer requests without
// messages, which we never send.
func finishReason(reason string, called bool) (llm.FinishReason, error) {
	switch {
	case reason == "length":
		return llm.FinishLength, nil
	case reason == "stop" && called:
		return llm.FinishToolCalls, nil
	case reason == "stop":
		return llm.FinishStop, nil
	}
	return "", fmt.Errorf("the reply ended for an unknown reason %q", reason)
}

// classify says which failures may pass. A missing model, a request the model
// cannot serve and a bad schema (which the server answers with 500) do not.
func classify(err error) error {
	out := &llm.Error{Provider: "ollama", Retryable: true, Err: err}
	var status api.StatusError
	var auth api.AuthorizationError
	switch {
	case errors.As(err, &auth):
		out.Retryable = false
	case errors.As(err, &status):
		out.Err = errors.New(strings.TrimSpace(status.ErrorMessage))
		if status.ErrorMessage == "" {
			out.Err = fmt.Errorf("the server answered %d", status.StatusCode)
		}
		out.Retryable = status.StatusCode == http.StatusTooManyRequests || status.StatusCode >= http.StatusInternalServerError
		switch {
		case strings.Contains(status.ErrorMessage, "invalid JSON schema"):
			out.Retryable = false
		case strings.HasSuffix(out.Err.Error(), "does not support tools"):
			out.Err = noToolCallsError{out.Err}
		}
	}
	return out
}

// noToolCallsError is the server's refusal to offer tools to a model.
type noToolCallsError struct{ error }

// Unwrap makes it an llm.ErrNoToolCalls.
func (noToolCallsError) Unwrap() error { return llm.ErrNoToolCalls }
