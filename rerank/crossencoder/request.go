package crossencoder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
)

// style is a way to write a request.
type style int

const (
	documents style = iota // Cohere, Jina and their likes
	texts                  // Text Embeddings Inference
	styles
)

// Bounds of what a server may answer.
const (
	maxAnswer  = 4 << 20 // bytes
	maxMessage = 200     // bytes of it that stand in an error
)

// smallBatch is what a server is sent that refused more at a time: what Text
// Embeddings Inference takes by default.
const smallBatch = 32

// ask has all texts judged, in batches if the server does not take them
// together.
func (r *Reranker) ask(ctx context.Context, query string, all []string) ([]scored, error) {
	r.mu.Lock()
	size := r.batch
	r.mu.Unlock()
	var out []scored
	for from := 0; from < len(all); {
		to := min(from+size, len(all))
		part, err := r.askBatch(ctx, query, all[from:to])
		var answered *answerError
		if errors.As(err, &answered) && answered.tooMany() && size > smallBatch && to-from > smallBatch {
			size = smallBatch
			r.mu.Lock()
			r.batch = size
			r.mu.Unlock()
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, s := range part {
			out = append(out, scored{s.index + from, s.score})
		}
		from = to
	}
	return out, nil
}

// askBatch writes as the server understood last, and in the other way if it
// does not understand that.
func (r *Reranker) askBatch(ctx context.Context, query string, all []string) ([]scored, error) {
	r.mu.Lock()
	known := r.style
	r.mu.Unlock()
	var first error
	for i := range styles {
		s := (known + i) % styles
		out, err := r.post(ctx, s.request(r.cfg.Model, query, all), len(all))
		if err == nil {
			r.mu.Lock()
			r.style = s
			r.mu.Unlock()
			return out, nil
		}
		if first == nil {
			first = err
		}
		var answered *answerError
		if !errors.As(err, &answered) || !answered.misunderstood() || answered.tooMany() {
			return nil, err
		}
	}
	return nil, first
}

func (s style) request(model, query string, all []string) any {
	if s == texts {
		return struct {
			Query    string   `json:"query"`
			Texts    []string `json:"texts"`
			Truncate bool     `json:"truncate"`
		}{query, all, true}
	}
	return struct {
		Model     string   `json:"model,omitempty"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}{model, query, all, len(all)}
}

// answerError is an answer that is an error.
type answerError struct {
	status int
	said   string
}

func (e *answerError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("the server answered %d", e.status)
	}
	return fmt.Sprintf("the server answered %d: %s", e.status, e.said)
}

// misunderstood says that another way to write the request may help.
func (e *answerError) misunderstood() bool {
	return e.status == http.StatusBadRequest || e.status == http.StatusUnprocessableEntity
}

// tooMany says that fewer texts at a time may help.
func (e *answerError) tooMany() bool {
	return e.status == http.StatusRequestEntityTooLarge || e.misunderstood() && strings.Contains(strings.ToLower(e.said), "batch")
}

// post sends one request about n texts.
func (r *Reranker) post(ctx context.Context, body any, n int) ([]scored, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.cfg.URL, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if r.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+r.cfg.Key)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case resp.StatusCode != http.StatusOK:
		return nil, &answerError{resp.StatusCode, r.quoted(answer)}
	case len(answer) > maxAnswer:
		return nil, &answerError{resp.StatusCode, fmt.Sprintf("more than %d bytes", maxAnswer)}
	}
	out, err := parse(answer, n)
	if err != nil {
		return nil, &answerError{resp.StatusCode, err.Error()}
	}
	return out, nil
}

// quoted is the beginning of what a server said, on one line, without the key.
func (r *Reranker) quoted(answer []byte) string {
	said := string(answer[:min(len(answer), 4*maxMessage)])
	if r.cfg.Key != "" {
		said = strings.ReplaceAll(said, r.cfg.Key, "(key)")
	}
	said = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == unicode.ReplacementChar {
			return ' '
		}
		return c
	}, said)
	return cut(strings.Join(strings.Fields(said), " "), maxMessage)
}
