package agent

import (
	"encoding/json"
	"iter"
	"strings"

	"ragagent/agent/codeact"
	"ragagent/agent/llm"
)

// CodeAct has the model write JavaScript that calls the tools as functions: one
// turn can search, compare and count. See package codeact.
type CodeAct struct {
	// Interpreter runs the code; required.
	Interpreter codeact.Interpreter
}

const codeTools = `

You act by writing JavaScript between <execute> and </execute>, for example:

<execute>
const found = some_function({query: "tides"});
print(found);
</execute>

End your reply there: what the code prints comes back to you, and the value of its last expression. Each block runs by itself: variables are not kept. Beside the language there are print and these functions, and neither files nor network:
`

const codeForm = `
They return text as a string and anything else as an object, and throw an Error when they fail. A search returns {text, passages: [{id, document, title, page_start, score, text}]}; print what you need to read. Cite a source by its id. When you know the answer, write it, without any code.`

const codeLast = "\n\nYou can run no more code. Answer now from what your code has printed so far, with citations, and say what is missing."

// stopCode is where code ends.
var stopCode = []string{"</execute>"}

// Request implements Strategy.
func (CodeAct) Request(s *State) llm.Request {
	system := s.System
	switch {
	case s.Final:
		system += codeLast
	case len(s.Tools) > 0:
		var b strings.Builder
		b.WriteString(system + codeTools)
		for _, t := range s.Tools {
			b.WriteString("\n" + identifier(t.Name) + "(arguments): " + t.Description + "\n")
			if len(t.Parameters) > 0 {
				b.WriteString("Arguments, as a JSON Schema: " + string(t.Parameters) + "\n")
			}
		}
		b.WriteString(codeForm)
		system = b.String()
	}
	return llm.Request{Messages: inWords(s, system+s.outputForm()), Stop: stopCode}
}

// identifier makes a name for code of a tool's name.
func identifier(name string) string {
	name = strings.ReplaceAll(name, "-", "_")
	if name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// Decode implements Strategy.
func (CodeAct) Decode(reply iter.Seq2[llm.Delta, error], emit func(Event)) (Turn, error) {
	var thinking strings.Builder
	parser := codeact.Parser{OnText: func(text string) { emit(Event{Kind: TextDelta, Text: text}) }}
	t, err := readReply(apart(reply), parser.Write, func(text string) {
		thinking.WriteString(text)
		emit(Event{Kind: ThinkingDelta, Text: text})
	})
	said := parser.Close()
	t.Text, t.Thinking, t.Said = said.Text, thinking.String(), said.Said
	switch {
	case said.Code == "":
		if len(t.Calls) > 0 { // by its own means all the same
			t.Said = strings.TrimSpace(said.Said + "\n" + callsInWords(t.Calls))
		}
	case said.Open && t.Finish == llm.FinishLength:
		t.Invalid = "Your code was cut off before its end and was not run. Write less at once."
	default:
		code, _ := json.Marshal(codeArgs{said.Code}) // a string always encodes
		t.Calls = []llm.ToolCall{{Name: executeCode, Arguments: code}}
	}
	return t, err
}

// Observe implements Strategy.
func (CodeAct) Observe(s *State, t Turn, observations []Observation) {
	ReAct{}.Observe(s, t, observations)
}
