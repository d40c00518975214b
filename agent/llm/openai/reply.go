package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ragagent/agent/llm"
)

// maxEvent bounds one event of a stream, in bytes, and maxCalls the calls.
const (
	maxEvent = 4 << 20
	maxCalls = 128
)

var errStopped = errors.New("the reader has stopped")

// chunk is one event of a stream, or a whole reply.
type chunk struct {
	Choices []struct {
		Delta        *part  `json:"delta"`
		Message      *part  `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// part is what a chunk adds. Reasoning has no name that servers agree on.
type part struct {
	Content          string     `json:"content"`
	Refusal          string     `json:"refusal"`
	ReasoningContent string     `json:"reasoning_content"`
	Reasoning        string     `json:"reasoning"`
	ToolCalls        []toolCall `json:"tool_calls"`
}

// reply puts a reply together.
type reply struct {
	yield  func(llm.Delta, error) bool
	calls  []llm.ToolCall
	index  []int // of each call, as the server counts
	finish string
	usage  *llm.Usage
}

// readStream reads server-sent events up to [DONE] or the end.
func readStream(from io.Reader, r *reply, alive func()) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	for lines.Scan() {
		alive()
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue // comments, other fields, blank lines
		}
		if data = bytes.TrimSpace(data); string(data) == "[DONE]" {
			return r.end(true)
		}
		if err := r.chunk(data); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return r.end(false)
}

// chunk takes the next piece of the reply.
func (r *reply) chunk(raw []byte) error {
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("the server's answer is not understood: %w", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return &statusError{status: 500, message: messageOf(raw)}
	}
	if c.Usage != nil {
		r.usage = &llm.Usage{PromptTokens: c.Usage.Prompt, CompletionTokens: c.Usage.Completion, TotalTokens: c.Usage.Total}
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	if choice.FinishReason != "" {
		r.finish = choice.FinishReason
	}
	p := choice.Delta
	if p == nil {
		p = choice.Message
	}
	if p == nil {
		return nil
	}
	for _, t := range p.ToolCalls {
		if err := r.call(t); err != nil {
			return err
		}
	}
	d := llm.Delta{Text: p.Content + p.Refusal, Thinking: p.ReasoningContent}
	if d.Thinking == "" {
		d.Thinking = p.Reasoning
	}
	if (d.Text != "" || d.Thinking != "") && !r.yield(d, nil) {
		return errStopped
	}
	return nil
}

// call adds to a call or begins one. Pieces belong together by their index;
// where a server gives none, or the same to all, an id begins a new call.
func (r *reply) call(t toolCall) error {
	at := -1
	for i := range r.calls {
		if t.Index == nil || r.index[i] == *t.Index {
			at = i // the latest
		}
	}
	if at < 0 || t.ID != "" && r.calls[at].ID != "" && r.calls[at].ID != t.ID {
		if len(r.calls) == maxCalls {
			return fmt.Errorf("the reply has more than %d tool calls", maxCalls)
		}
		index := len(r.calls)
		if t.Index != nil {
			index = *t.Index
		}
		r.calls, r.index = append(r.calls, llm.ToolCall{}), append(r.index, index)
		at = len(r.calls) - 1
	}
	c := &r.calls[at]
	if t.ID != "" {
		c.ID = t.ID
	}
	c.Name += t.Function.Name
	c.Arguments = append(c.Arguments, t.Function.Arguments...)
	return nil
}

// end gives the calls, the usage and why the reply ended. whole says that the
// server said it has.
func (r *reply) end(whole bool) error {
	d := llm.Delta{ToolCalls: r.calls, Usage: r.usage}
	switch {
	case r.finish == "content_filter":
		return errFiltered
	case r.finish == "" && !whole:
		return errBrokenOff
	case r.finish == "length":
		d.Finish = llm.FinishLength
	case len(r.calls) > 0:
		d.Finish = llm.FinishToolCalls
	default:
		d.Finish = llm.FinishStop
	}
	if !r.yield(d, nil) {
		return errStopped
	}
	return nil
}
