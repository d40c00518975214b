// Package openai embeds with a model behind the embeddings API of OpenAI, which
// many other servers speak.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"ragagent/retrieval/embed"
)

// DefaultBaseURL is that of OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

// Bounds of an answer, in bytes.
const (
	maxAnswer = 16 << 20 // 64 vectors of 16,384 numbers, 12 bytes each
	maxSaid   = 500      // of an error
)

// Config of a model behind an embeddings API.
type Config struct {
	// BaseURL is what comes before "/embeddings"; "" means DefaultBaseURL. A
	// path of none means "/v1".
	BaseURL string
	Model   string // required
	// Key is sent as a bearer token; "" sends none. It is in no error and no log.
	Key string
	// Dimensions asks for shorter vectors, of models that allow it; 0 does not.
	Dimensions int
	// HTTPClient makes the connections; nil means one of its own. Redirects are
	// never followed: the texts and the key are for this server.
	HTTPClient *http.Client
}

// Service is a model behind an embeddings API.
type Service struct {
	cfg      Config
	endpoint string
	client   *http.Client
}

var _ embed.Service = (*Service)(nil)

// New makes a Service; the server is not asked anything yet. A missing model
// name, a malformed address or a negative number are errors.
func New(cfg Config) (*Service, error) {
	if cfg.Model == "" {
		return nil, errors.New("openai: an embedder needs the name of a model")
	}
	if cfg.Dimensions < 0 {
		return nil, errors.New("openai: dimensions may not be negative")
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
	return &Service{cfg: cfg, endpoint: u.JoinPath("embeddings").String(), client: &client}, nil
}

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Format     string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// Vectors implements embed.Service. Servers may answer in any order: the
// index of each vector counts.
func (s *Service) Vectors(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(request{Model: s.cfg.Model, Input: texts, Format: "float", Dimensions: s.cfg.Dimensions})
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.cfg.Key)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err // of the connection: later it may work
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(raw) > maxAnswer:
		return nil, &embed.ServiceError{Err: fmt.Errorf("the answer has more than %d bytes", maxAnswer)}
	case resp.StatusCode != http.StatusOK:
		return nil, s.refused(resp, raw)
	}
	var got answer
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, &embed.ServiceError{Err: fmt.Errorf("the answer is not what an embeddings API gives: %w", err)}
	}
	return inOrder(got, len(texts))
}

func inOrder(got answer, n int) ([][]float32, error) {
	if len(got.Data) != n {
		return nil, &embed.ServiceError{Err: fmt.Errorf("the server answered with %d vectors to %d texts", len(got.Data), n)}
	}
	vectors := make([][]float32, n)
	for _, d := range got.Data {
		if d.Index < 0 || d.Index >= n || vectors[d.Index] != nil {
			return nil, &embed.ServiceError{Err: fmt.Errorf("the server answered with a vector number %d of %d, or with it twice", d.Index, n)}
		}
		vectors[d.Index] = d.Embedding
		if d.Embedding == nil {
			vectors[d.Index] = []float32{} // its length is found to be wrong
		}
	}
	return vectors, nil
}

// refused says what an answer without vectors means.
func (s *Service) refused(resp *http.Response, raw []byte) error {
	var said struct {
		Error struct {
			Message string `json:"message"`
			Code    any    `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(raw, &said) // not all servers say it in this way
	message := said.Error.Message
	if message == "" {
		message = strings.TrimSpace(string(raw))
	}
	if len(message) > maxSaid {
		message = strings.ToValidUTF8(message[:maxSaid], "") + "..."
	}
	if s.cfg.Key != "" { // some servers repeat what they were given
		message = strings.ReplaceAll(message, s.cfg.Key, "***")
	}
	e := embed.AnsweredWith(resp.StatusCode, resp.Header.Get("Retry-After"), fmt.Errorf("the server answered %d: %s", resp.StatusCode, message))
	if said.Error.Code == "insufficient_quota" {
		e.Unavailable = false // no waiting helps
	}
	if resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnprocessableEntity {
		e.TooLong = tooLong(said.Error.Code, strings.ToLower(message))
	}
	return e
}

// tooLong recognises how servers say that the input is more than they take.
func tooLong(code any, message string) bool {
	switch code {
	case "context_length_exceeded", "max_tokens_per_request":
		return true
	}
	for _, words := range []string{"context length", "maximum context", "too long", "too many tokens", "max_tokens_per_request", "less than 512 tokens", "batch size"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// Digest implements embed.Service: the API does not tell.
func (s *Service) Digest(context.Context) (string, error) { return "", nil }
