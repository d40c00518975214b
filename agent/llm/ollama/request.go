package ollama

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ollama/ollama/api"

	"ragagent/agent/llm"
)

// chatRequest translates a request.
func (m *Model) chatRequest(req llm.Request) (*api.ChatRequest, error) {
	if len(req.Messages) == 0 { // the server would load the model and say nothing
		return nil, errors.New("there is nothing to answer")
	}
	stream, keepWhole := true, false
	chat := &api.ChatRequest{
		Model:    m.cfg.Model,
		Messages: make([]api.Message, len(req.Messages)),
		Stream:   &stream,
		Options:  m.options(req),
		Truncate: &keepWhole,
		Shift:    &keepWhole,
		Think:    thinkValue(m.cfg.Think),
	}
	for i, msg := range req.Messages {
		chat.Messages[i] = message(msg)
	}
	for _, t := range req.Tools {
		converted, err := convertTool(t)
		if err != nil {
			return nil, err
		}
		chat.Tools = append(chat.Tools, converted)
	}
	if len(req.Tools) == 0 {
		chat.Format = req.Format
	}
	if m.cfg.KeepAlive > 0 {
		chat.KeepAlive = &api.Duration{Duration: m.cfg.KeepAlive}
	}
	return chat, nil
}

func (m *Model) options(req llm.Request) map[string]any {
	options := map[string]any{"num_ctx": m.cfg.ContextTokens, "num_predict": m.cfg.MaxTokens}
	if req.MaxTokens > 0 {
		options["num_predict"] = req.MaxTokens
	}
	if m.cfg.Threads > 0 {
		options["num_thread"] = m.cfg.Threads
	}
	if req.Temperature != nil {
		options["temperature"] = *req.Temperature
	}
	if len(req.Stop) > 0 {
		options["stop"] = req.Stop
	}
	return options
}

func thinkValue(setting string) *api.ThinkValue {
	switch setting {
	case "":
		return nil
	case "on", "off":
		return &api.ThinkValue{Value: setting == "on"}
	}
	return &api.ThinkValue{Value: setting}
}

func message(m llm.Message) api.Message {
	out := api.Message{
		Role: string(m.Role), Content: m.Content, Thinking: m.Thinking, ToolCallID: m.ToolCallID, ToolName: m.ToolName,
	}
	for i, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, api.ToolCall{
			ID: c.ID, Function: api.ToolCallFunction{Index: i, Name: c.Name, Arguments: arguments(c.Arguments)},
		})
	}
	return out
}

// arguments of an earlier call: the server takes objects only, so what a model
// wrote wrongly stands under one key.
func arguments(raw json.RawMessage) api.ToolCallFunctionArguments {
	var args api.ToolCallFunctionArguments
	if json.Unmarshal(raw, &args) != nil {
		args = api.NewToolCallFunctionArguments()
		args.Set("arguments", string(raw))
	}
	return args
}

func convertTool(t llm.ToolSpec) (api.Tool, error) {
	f := api.ToolFunction{Name: t.Name, Description: t.Description}
	if len(t.Parameters) > 0 {
		if err := json.Unmarshal(t.Parameters, &f.Parameters); err != nil {
			return api.Tool{}, fmt.Errorf("parameters of tool %q: %w", t.Name, err)
		}
	}
	if f.Parameters.Type == "" {
		f.Parameters.Type = "object"
	}
	if f.Parameters.Properties == nil {
		f.Parameters.Properties = api.NewToolPropertiesMap()
	}
	return api.Tool{Type: "function", Function: f}, nil
}
