package openai

import (
	"encoding/json"
	"strings"

	"ragagent/agent/llm"
)

// request is the body of a call.
type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Tools               []toolSpec      `json:"tools,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Stop                []string        `json:"stop,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
}

type message struct {
	Role       llm.Role   `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	Index    *int         `json:"index,omitempty"` // of a piece
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string    `json:"name,omitempty"`
	Arguments arguments `json:"arguments"`
}

// arguments are JSON in a string; some servers send the object itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(a))
	}
	if string(raw) != "null" {
		*a = arguments(raw)
	}
	return nil
}

type toolSpec struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// request translates a request.
func (m *Model) request(req llm.Request) *request {
	body := &request{Model: m.cfg.Model, Temperature: req.Temperature, Stop: req.Stop, Stream: !m.cfg.NoStream}
	if body.Stream {
		body.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	most := m.cfg.MaxTokens
	if req.MaxTokens > 0 {
		most = req.MaxTokens
	}
	if m.own { // its newer models know only this name, other servers the older
		body.MaxCompletionTokens = most
	} else {
		body.MaxTokens = most
	}
	for _, msg := range req.Messages {
		body.Messages = append(body.Messages, messageOfLLM(msg))
	}
	for _, t := range req.Tools {
		body.Tools = append(body.Tools, toolSpec{"function", function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}})
	}
	if req.Format != nil {
		body.ResponseFormat = &responseFormat{"json_schema", jsonSchema{"output", req.Format}}
	}
	return body
}

func messageOfLLM(m llm.Message) message {
	out := message{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, toolCall{ID: c.ID, Type: "function", Function: functionCall{Name: c.Name, Arguments: sound(c.Arguments)}})
	}
	return out
}

// sound arguments of an earlier call are an object: some servers read them. What
// a model wrote wrongly stands under one key.
func sound(raw json.RawMessage) arguments {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		return arguments(raw)
	}
	wrapped, _ := json.Marshal(map[string]string{"arguments": string(raw)}) // strings always encode
	return arguments(wrapped)
}

// without leaves out what a server says it does not know; false if that is
// nothing that can be left out, or has been.
func (r *request) without(refusal *statusError) bool {
	if refusal.status != 400 && refusal.status != 422 || refusal.noToolCalls() {
		return false
	}
	said := strings.ToLower(refusal.message)
	switch {
	case r.StreamOptions != nil && strings.Contains(said, "stream_options"):
		r.StreamOptions = nil
	case r.ResponseFormat != nil && (strings.Contains(said, "response_format") || strings.Contains(said, "json_schema")):
		r.ResponseFormat = nil
	case r.Stream && strings.Contains(said, "stream"):
		r.Stream, r.StreamOptions = false, nil
	case r.MaxTokens > 0 && strings.Contains(said, "max_completion_tokens"):
		r.MaxTokens, r.MaxCompletionTokens = 0, r.MaxTokens
	case len(r.Stop) > 0 && strings.Contains(said, "stop"):
		r.Stop = nil
	case r.Temperature != nil && strings.Contains(said, "temperature"):
		r.Temperature = nil
	default:
		return false
	}
	return true
}
