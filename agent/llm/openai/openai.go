// Package openai asks language models behind the chat completions API of
// OpenAI, which many other servers speak.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ragagent/agent/llm"
)

// DefaultBaseURL is that of OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

// Bounds of what a server says, in bytes.
const (
	maxAnswer = 8 << 20 // a reply that is not streamed
	maxSaid   = 500     // of an error
)

// Config of a model behind a chat completions API.
type Config struct {
	// BaseURL is what comes before "/chat/completions"; "" means
	// DefaultBaseURL. A path of none means "/v1".
	BaseURL string
	Model   string // required
	// Key is sent as a bearer token; "" sends none. It is in no error and no log.
	Key string
	// MaxTokens bounds a reply, unless the request says otherwise; 0 leaves it
	// to the server.
	MaxTokens int
	// NoStream asks for whole replies. A server that answers with one although
	// it was asked to stream is read all the same.
	NoStream bool
	// IdleTimeout is how long to wait for the next piece of a reply; 0 means 5
	// minutes.
	IdleTimeout time.Duration
	// HTTPClient makes the connections; nil means one of its own. It must not
	// have a timeout of its own. Redirects are never followed: the texts and
	// the key are for this server.
	HTTPClient *http.Client
}

// Model is a model behind a chat completions API. It may be used concurrently.
type Model struct {
	cfg      Config
	endpoint string
	client   *http.Client
	own      bool // OpenAI's own service
}

// New makes a model; the server is not asked anything yet. A missing model
// name, a malformed address or a negative bound are errors.
func New(cfg Config) (*Model, error) {
	if cfg.Model == "" {
		return nil, errors.New("openai: a model needs a name")
	}
	if cfg.MaxTokens < 0 || cfg.IdleTimeout < 0 {
		return nil, errors.New("openai: bounds may not be negative")
	}
	if cfg.IdleTimeout == 0 {
		cfg.IdleTimeout = 5 * time.Minute
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if !strings.Contains(cfg.BaseURL, "://") {
		cfg.BaseURL = "http://" + cfg.BaseURL
	}
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fmt.Errorf("openai: the base URL is not the address of a server, for example %s", DefaultBaseURL)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	client := http.Client{}
	if cfg.HTTPClient != nil {
		client = *cfg.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Model{cfg: cfg, endpoint: u.JoinPath("chat", "completions").String(), client: &client, own: u.Hostname() == "api.openai.com"}, nil
}

// Capabilities implements llm.Capable. Whether a model can call tools, its
// server says when it is offered some.
func (m *Model) Capabilities() llm.Capabilities {
	return llm.Capabilities{ToolCalls: true, Prompts: true, Format: true}
}

var (
	errIdle = errors.New("the server has sent nothing for too long")
	// errBrokenOff is what a stream without its end means.
	errBrokenOff = errors.New("the reply broke off before its end")
	errFiltered  = errors.New("the server's content filter stopped the reply")
)

// Stream implements llm.Model. What a server does not know of a request, such
// as a format, is left out when it says so.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		idle := time.AfterFunc(m.cfg.IdleTimeout, func() { cancel(errIdle) })
		defer idle.Stop()
		answer, err := m.ask(ctx, req)
		if err == nil {
			defer answer.Body.Close()
			err = m.read(answer, yield, func() { idle.Reset(m.cfg.IdleTimeout) })
		}
		switch {
		case err == nil || errors.Is(err, errStopped):
		case ctx.Err() != nil && errors.Is(context.Cause(ctx), errIdle):
			yield(llm.Delta{}, &llm.Error{Provider: "openai", Retryable: true, Err: errIdle})
		case ctx.Err() != nil:
			yield(llm.Delta{}, ctx.Err())
		default:
			yield(llm.Delta{}, classify(err))
		}
	}
}

// ask sends a request, again without what the server refuses to know.
func (m *Model) ask(ctx context.Context, req llm.Request) (*http.Response, error) {
	body := m.request(req)
	for {
		answer, err := m.send(ctx, body)
		var refusal *statusError
		if !errors.As(err, &refusal) || !body.without(refusal) {
			return answer, err
		}
	}
}

// send makes one request. An answer other than 200 is a *statusError.
func (m *Model) send(ctx context.Context, body *request) (*http.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.endpoint, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream, application/json")
	if m.cfg.Key != "" {
		r.Header.Set("Authorization", "Bearer "+m.cfg.Key)
	}
	answer, err := m.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // what there is of it
	return nil, &statusError{status: answer.StatusCode, message: messageOf(said), tools: len(body.Tools) > 0}
}

// read reads an answer, streamed or whole.
func (m *Model) read(answer *http.Response, yield func(llm.Delta, error) bool, alive func()) error {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind == "application/json" {
		raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
		if err != nil {
			return err
		}
		if len(raw) > maxAnswer {
			return fmt.Errorf("the reply is longer than %d bytes", maxAnswer)
		}
		r := reply{yield: yield}
		if err := r.chunk(raw); err != nil {
			return err
		}
		return r.end(true)
	}
	return readStream(answer.Body, &reply{yield: yield}, alive)
}
