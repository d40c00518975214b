// Package llmtest holds models for tests: one that says what a script tells it
// and remembers what it was asked.
package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"

	"ragagent/agent/llm"
)

// Reply is one scripted reply.
type Reply struct {
	Deltas []llm.Delta
	// Err ends the reply after the deltas; nil with a last delta that has a
	// Finish is a good end.
	Err error
	// Block waits after the deltas until the context ends, and returns its error.
	Block bool
}

// Model says its replies in order; when they are used up it repeats the last.
// It may be used concurrently.
type Model struct {
	mu       sync.Mutex
	replies  []Reply
	next     int
	requests []llm.Request
}

// New returns a model with a script of at least one reply.
func New(replies ...Reply) *Model { return &Model{replies: replies} }

// Stream implements llm.Model.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		r, err := m.take(req)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		for _, d := range r.Deltas {
			if ctx.Err() != nil {
				yield(llm.Delta{}, ctx.Err())
				return
			}
			if !yield(d, nil) {
				return
			}
		}
		if r.Block {
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
			return
		}
		if r.Err != nil {
			yield(llm.Delta{}, r.Err)
		}
	}
}

func (m *Model) take(req llm.Request) (Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.replies) == 0 {
		return Reply{}, errors.New("llmtest: the script is empty")
	}
	req.Messages = append([]llm.Message(nil), req.Messages...)
	m.requests = append(m.requests, req)
	r := m.replies[min(m.next, len(m.replies)-1)]
	m.next++
	return r, nil
}

// Requests returns what the model was asked so far.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request(nil), m.requests...)
}

// usage of every scripted reply.
var usage = llm.Usage{PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15}

// Text is a reply in words, streamed in the given pieces.
func Text(pieces ...string) Reply {
	var r Reply
	for _, p := range pieces {
		r.Deltas = append(r.Deltas, llm.Delta{Text: p})
	}
	u := usage
	r.Deltas = append(r.Deltas, llm.Delta{Finish: llm.FinishStop, Usage: &u})
	return r
}

// Call is a reply that calls one tool; args is taken as it is.
func Call(name, args string) Reply { return Calls("", [2]string{name, args}) }

// Calls is a reply that says something and calls tools, each {name, arguments}.
func Calls(preface string, calls ...[2]string) Reply {
	var d llm.Delta
	for _, c := range calls {
		d.ToolCalls = append(d.ToolCalls, llm.ToolCall{Name: c[0], Arguments: json.RawMessage(c[1])})
	}
	u := usage
	r := Reply{}
	if preface != "" {
		r.Deltas = append(r.Deltas, llm.Delta{Text: preface})
	}
	r.Deltas = append(r.Deltas, d, llm.Delta{Finish: llm.FinishStop, Usage: &u})
	return r
}

// Failure is a reply that breaks off with an error after some text.
func Failure(err error, text ...string) Reply {
	r := Reply{Err: err}
	for _, t := range text {
		r.Deltas = append(r.Deltas, llm.Delta{Text: t})
	}
	return r
}
