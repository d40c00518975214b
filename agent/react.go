package agent

import (
	"encoding/json"
	"iter"
	"strings"

	"ragagent/agent/llm"
	"ragagent/agent/react"
)

// ReAct has the model write down its thoughts and the tool it wants, for models
// without tool calls of their own. See package react for what it reads.
type ReAct struct{}

const reactTools = `

You can use these tools:
`

const reactForm = `
Reply in one of two forms, with these labels and without any other text. To use a tool:

Thought: what you need to find out
Action: the name of one tool
Action Input: its arguments as one JSON object

End your reply there: what the tool returns comes back to you as an Observation. When you know the answer:

Thought: how you know it
Final Answer: the answer`

const reactLast = `

You can use no more tools. Answer now from the Observations so far, with citations, and say what is missing. Reply in this form, without any other text:

Final Answer: the answer`

// stopReAct is where a model would go on with observations of its own making.
var stopReAct = []string{"\nObservation:"}

// Request implements Strategy.
func (ReAct) Request(s *State) llm.Request {
	return llm.Request{Messages: inWords(s, reactSystem(s)+s.outputForm()), Stop: stopReAct}
}

func reactSystem(s *State) string {
	switch {
	case s.Final:
		return s.System + reactLast
	case len(s.Tools) == 0:
		return s.System
	}
	var b strings.Builder
	b.WriteString(s.System)
	b.WriteString(reactTools)
	for _, t := range s.Tools {
		b.WriteString("\n" + t.Name + ": " + t.Description + "\n")
		if len(t.Parameters) > 0 {
			b.WriteString("Arguments, as a JSON Schema: " + string(t.Parameters) + "\n")
		}
	}
	b.WriteString(reactForm)
	return b.String()
}

// inWords are the messages of a request in which calls and their results are
// words: for models that know no others.
func inWords(s *State, system string) []llm.Message {
	messages := make([]llm.Message, 0, 2+len(s.History)+len(s.Transcript))
	messages = append(messages, llm.Message{Role: llm.System, Content: system})
	for _, m := range s.History {
		messages = append(messages, wordsOf(m))
	}
	messages = append(messages, llm.Message{Role: llm.User, Content: s.Question})
	return append(messages, s.Transcript...)
}

// wordsOf writes the calls and results in a message of the history as text.
func wordsOf(m llm.Message) llm.Message {
	switch {
	case m.Role == llm.ToolRole:
		return llm.Message{Role: llm.User, Content: observed + m.Content}
	case len(m.ToolCalls) > 0:
		return llm.Message{Role: m.Role, Content: strings.TrimSpace(m.Content + "\n" + callsInWords(m.ToolCalls))}
	}
	return llm.Message{Role: m.Role, Content: m.Content}
}

const observed = "Observation: "

func callsInWords(calls []llm.ToolCall) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString("Action: " + c.Name + "\nAction Input: " + string(c.Arguments) + "\n")
	}
	return b.String()
}

// Decode implements Strategy.
func (ReAct) Decode(reply iter.Seq2[llm.Delta, error], emit func(Event)) (Turn, error) {
	var thinking strings.Builder
	think := func(text string) {
		thinking.WriteString(text)
		emit(Event{Kind: ThinkingDelta, Text: text})
	}
	parser := react.Parser{OnThought: think, OnAnswer: func(text string) { emit(Event{Kind: TextDelta, Text: text}) }}
	t, err := readReply(apart(reply), parser.Write, think)
	if err != nil { // what is not certain to be the answer stays out of it
		parser.OnAnswer = nil
	}
	said := parser.Close()
	t.Thinking, t.Said = strings.TrimSpace(thinking.String()), said.Said
	switch {
	case said.Action != "":
		t.Calls = []llm.ToolCall{{Name: said.Action, Arguments: json.RawMessage(said.Input)}}
	case len(t.Calls) > 0: // by its own means all the same
		t.Said = strings.TrimSpace(said.Said + "\n" + callsInWords(t.Calls))
	default:
		t.Text, t.Invalid = said.Answer, said.Problem
	}
	return t, err
}

// Observe implements Strategy.
func (ReAct) Observe(s *State, t Turn, observations []Observation) {
	if t.Said != "" { // of a reply without a word there is nothing to repeat
		s.Transcript = append(s.Transcript, llm.Message{Role: llm.Assistant, Content: t.Said})
	}
	texts := make([]string, len(observations))
	for i, o := range observations {
		texts[i] = observed + o.Text
	}
	s.Transcript = append(s.Transcript, llm.Message{Role: llm.User, Content: strings.Join(texts, "\n\n")})
}
