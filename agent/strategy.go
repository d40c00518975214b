package agent

import (
	"encoding/json"
	"iter"

	"ragagent/agent/llm"
)

// Strategy translates between the loop and a way of prompting. It keeps no
// state of its own: State is all there is, so one strategy serves any number
// of runs at once.
type Strategy interface {
	// Request is what the model is asked next.
	Request(*State) llm.Request
	// Decode reads a reply to its end. It emits TextDelta events for what the
	// user may see as the answer and ThinkingDelta events for reasoning, and
	// returns the whole. An error is the model's, as it came.
	Decode(reply iter.Seq2[llm.Delta, error], emit func(Event)) (Turn, error)
	// Observe adds a turn and what came of it to State.Transcript, one
	// observation per call of the turn, in their order. For a turn that could
	// not be understood there is one observation with an empty Call.
	Observe(*State, Turn, []Observation)
}

// State is what a strategy prompts from.
type State struct {
	System   string
	History  []llm.Message // earlier turns of the conversation, within the limits
	Question string
	Tools    []llm.ToolSpec // on offer; none in the last call
	// Output is the JSON Schema that the answer has to follow; nil for words.
	Output json.RawMessage
	// Format says that the model keeps to Request.Format.
	Format bool
	// Transcript is what was said since the question, in the strategy's words.
	Transcript []llm.Message
	// Turn counts calls of the model, from 1.
	Turn int
	// Final says that this is the last call: it has to answer, without tools.
	Final bool
}

// Turn is a decoded reply.
type Turn struct {
	Text     string // for the user, or what stood before the calls
	Thinking string
	Calls    []llm.ToolCall
	// Invalid says why the reply could not be understood, in words for the
	// model; "" if it could.
	Invalid string
	// Said is the reply as a strategy in words repeats it to the model.
	Said  string
	Usage *llm.Usage // nil where the model does not count
	// Confidence as the model reported it, see llm.Delta; nil if it did not.
	Confidence *float64
	Finish     llm.FinishReason
}

// Observation is what the model is told about one call.
type Observation struct {
	Call llm.ToolCall
	Text string
	// Data is the machine-readable form, see observationData.
	Data json.RawMessage
	// Failed says that the call did not do its work; Text says why.
	Failed bool

	rest string // of the result, that Text has no room for
}

// FunctionCalling uses the model's own tool calls.
type FunctionCalling struct{}

// finalInstruction stands at the end of the system prompt of the last call.
const finalInstruction = "\n\nYou can make no more tool calls. Answer now from what the tools have returned so far, with citations, and say what is missing."

// Request implements Strategy.
func (FunctionCalling) Request(s *State) llm.Request {
	system := s.System
	if s.Final {
		system += finalInstruction
	}
	req := llm.Request{Tools: s.Tools}
	if len(s.Tools) == 0 {
		system += s.outputForm()
		if s.Format {
			req.Format = s.Output
		}
	}
	messages := make([]llm.Message, 0, 2+len(s.History)+len(s.Transcript))
	messages = append(messages, llm.Message{Role: llm.System, Content: system})
	messages = append(messages, s.History...)
	messages = append(messages, llm.Message{Role: llm.User, Content: s.Question})
	messages = append(messages, s.Transcript...)
	req.Messages = messages
	return req
}

// Decode implements Strategy.
func (FunctionCalling) Decode(reply iter.Seq2[llm.Delta, error], emit func(Event)) (Turn, error) {
	var text, thinking []byte
	t, err := readReply(apart(reply),
		func(piece string) {
			text = append(text, piece...)
			emit(Event{Kind: TextDelta, Text: piece})
		},
		func(piece string) {
			thinking = append(thinking, piece...)
			emit(Event{Kind: ThinkingDelta, Text: piece})
		})
	t.Text, t.Thinking = string(text), string(thinking)
	return t, err
}

// readReply reads a reply to its end: it hands on text and thinking, and
// gathers the rest.
func readReply(reply iter.Seq2[llm.Delta, error], text, thinking func(string)) (Turn, error) {
	var t Turn
	for d, err := range reply {
		if err != nil {
			return t, err
		}
		if d.Thinking != "" {
			thinking(d.Thinking)
		}
		if d.Text != "" {
			text(d.Text)
		}
		t.Calls = append(t.Calls, d.ToolCalls...)
		if d.Usage != nil {
			t.Usage = d.Usage
		}
		if d.Finish != "" {
			t.Finish = d.Finish
		}
		if d.Confidence != nil {
			t.Confidence = d.Confidence
		}
	}
	return t, nil
}

// Observe implements Strategy.
func (FunctionCalling) Observe(s *State, t Turn, observations []Observation) {
	if t.Text != "" || t.Thinking != "" || len(t.Calls) > 0 { // of a reply without a word there is nothing to repeat
		s.Transcript = append(s.Transcript, llm.Message{
			Role: llm.Assistant, Content: t.Text, Thinking: t.Thinking, ToolCalls: t.Calls,
		})
	}
	for _, o := range observations {
		if o.Call.Name == "" {
			s.Transcript = append(s.Transcript, llm.Message{Role: llm.User, Content: o.Text})
			continue
		}
		s.Transcript = append(s.Transcript, llm.Message{
			Role: llm.ToolRole, Content: o.Text, Data: o.Data, ToolCallID: o.Call.ID, ToolName: o.Call.Name,
		})
	}
}
