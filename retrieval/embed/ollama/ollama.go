// Package ollama embeds with a model on an Ollama server.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	"ragagent/retrieval/embed"
)

// DefaultBaseURL is where an Ollama server listens by default.
const DefaultBaseURL = "http://127.0.0.1:11434"

// maxAnswer bounds an answer: 64 vectors of 16,384 numbers, 12 bytes each.
const maxAnswer = 16 << 20

// Config of a model on an Ollama server.
type Config struct {
	// BaseURL of the server; "" means DefaultBaseURL. "HOST:PORT" is taken too.
	BaseURL string
	// Model is the name as in `ollama list`; required.
	Model string
	// Threads the server may use (num_thread); 0 leaves it to the server.
	Threads int
	// Dimensions cuts the vectors of models that allow it; 0 leaves them whole.
	Dimensions int
	// HTTPClient makes the connections; nil means one of its own.
	HTTPClient *http.Client
}

// Service is a model on an Ollama server.
type Service struct {
	cfg    Config
	client *api.Client
}

var _ embed.Service = (*Service)(nil)

// New makes a Service; the server is not asked anything yet. A missing model
// name, a malformed address or a negative number are errors.
func New(cfg Config) (*Service, error) {
	if cfg.Model == "" {
		return nil, errors.New("ollama: an embedder needs the name of a model")
	}
	if cfg.Threads < 0 || cfg.Dimensions < 0 {
		return nil, errors.New("ollama: bounds may not be negative")
	}
	base, err := baseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	client := http.Client{}
	if cfg.HTTPClient != nil {
		client = *cfg.HTTPClient
	}
	client.Transport = bounded{client.Transport}
	return &Service{cfg: cfg, client: api.NewClient(base, &client)}, nil
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

// Vectors implements embed.Service. The server is told not to cut texts: by
// default it would do so without a word.
func (s *Service) Vectors(ctx context.Context, texts []string) ([][]float32, error) {
	whole := false
	req := &api.EmbedRequest{Model: s.cfg.Model, Input: texts, Truncate: &whole, Dimensions: s.cfg.Dimensions}
	if s.cfg.Threads > 0 {
		req.Options = map[string]any{"num_thread": s.cfg.Threads}
	}
	answer, err := s.client.Embed(ctx, req)
	if err != nil {
		return nil, classify(err)
	}
	return answer.Embeddings, nil
}

// Digest implements embed.Service. It is that of the model's manifest, which
// changes with the weights and with anything else of the model.
func (s *Service) Digest(ctx context.Context) (string, error) {
	list, err := s.client.List(ctx)
	if err != nil {
		return "", classify(err)
	}
	want := s.cfg.Model
	if !strings.Contains(want[strings.LastIndexByte(want, '/')+1:], ":") {
		want += ":latest"
	}
	at := slices.IndexFunc(list.Models, func(m api.ListModelResponse) bool { return strings.EqualFold(m.Name, want) })
	if at < 0 {
		return "", &embed.ServiceError{Err: fmt.Errorf("model %q not found: run 'ollama pull %s'", s.cfg.Model, s.cfg.Model)}
	}
	return list.Models[at].Digest, nil
}

// classify says what a failure means. An error without a status is that of the
// connection.
func classify(err error) error {
	var auth api.AuthorizationError
	var status api.StatusError
	switch {
	case errors.As(err, &auth):
		return &embed.ServiceError{Err: err}
	case errors.As(err, &status):
		said := errors.New(strings.TrimSpace(status.ErrorMessage))
		if status.ErrorMessage == "" {
			said = fmt.Errorf("the server answered %d", status.StatusCode)
		}
		e := embed.AnsweredWith(status.StatusCode, "", said)
		e.TooLong = e.TooLong || strings.Contains(status.ErrorMessage, "exceeds the context length") ||
			strings.Contains(status.ErrorMessage, "exceeds maximum context length")
		return e
	}
	return err
}

// bounded ends answers that are longer than any that is right.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	next := b.RoundTripper
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(req)
	if err == nil {
		resp.Body = &cutBody{Reader: io.LimitReader(resp.Body, maxAnswer), Closer: resp.Body}
	}
	return resp, err
}

type cutBody struct {
	io.Reader
	io.Closer
}
