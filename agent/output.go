package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ragagent/agent/cite"
	"ragagent/agent/llm"
	"ragagent/agent/tool"
	"ragagent/store"
)

// finalOutput is the tool through which a model that calls tools hands over
// output of a given form.
const finalOutput = "final_output"

// output is the form that the answer of a run has to have, and the answer.
type output struct {
	schema  *tool.Schema
	value   json.RawMessage // nil until there is one
	strings string          // the texts in it, a line each
	repairs int             // that were asked for
}

// maxRepairs is how often a model is told that its output does not fit.
const maxRepairs = 2

// wantOutput sets the form of the answer. Where the model can call tools and
// has some, the form is one more of them; else the answer itself has it.
func (r *run) wantOutput(raw json.RawMessage) error {
	schema, err := tool.CompileSchema(raw)
	if err != nil {
		return store.Invalid("output_schema", "%v", err)
	}
	can := llm.CapabilitiesOf(r.agent.cfg.Model)
	if !can.Prompts && !can.Format {
		return store.Invalid("output_schema", "this model answers in words only")
	}
	r.output = &output{schema: schema}
	r.state.Output, r.state.Format = compacted(raw), can.Format
	_, calling := r.strategy.(FunctionCalling)
	if !calling || len(r.state.Tools) == 0 && can.Format {
		return nil
	}
	t := outputTool{raw}
	if r.tools, err = r.tools.With(t); err != nil {
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	spec := t.Spec()
	r.state.Tools = append(r.state.Tools, llm.ToolSpec{Name: spec.Name, Description: spec.Description, Parameters: spec.Parameters})
	return nil
}

func compacted(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}

// outputTool is the tool final_output of one run: the call is the answer, its
// arguments are checked like those of any other.
type outputTool struct{ schema json.RawMessage }

// Spec implements tool.Tool.
func (t outputTool) Spec() tool.Spec {
	return tool.Spec{
		Name: finalOutput, Parameters: t.schema, Direct: true,
		Description: "Gives the final answer. Call it once, at the end, when you know what to answer: nothing else you write reaches the user.",
	}
}

// Call implements tool.Tool.
func (outputTool) Call(_ context.Context, args json.RawMessage) (tool.Result, error) {
	return tool.Result{Text: "(this is the answer)", Data: args}, nil
}

// outputForm is what a model is told of the form of its answer.
func (s *State) outputForm() string {
	if s.Output == nil {
		return ""
	}
	return "\n\nThe answer itself has to be one JSON object that follows this JSON Schema, without any other text: " + string(s.Output)
}

// takeOutput takes a reply in text for the output; a problem, in words for the
// model, if it is not.
func (r *run) takeOutput(text string) (problem string) {
	value, err := r.output.schema.Cast(json.RawMessage(objectIn(text)))
	if err != nil {
		return fmt.Sprintf("Your answer does not have the form that is asked for: %v. Answer again, with one JSON object that follows the schema, and no other text.", err)
	}
	r.give(value)
	return ""
}

// objectIn finds the JSON object in a text that has words around it; the text
// itself if there is none.
func objectIn(text string) string {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return text
	}
	if _, err := tool.DecodeLenient(text); err == nil {
		return text
	}
	return text[from : to+1]
}

// give makes a value that fits the schema the answer. Citations in its texts
// are treated as those in any answer.
func (r *run) give(value json.RawMessage) {
	var texts []string
	var v any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if decoder.Decode(&v) == nil {
		if filtered, err := json.Marshal(r.filtered(v, &texts)); err == nil {
			value = filtered
		}
	}
	r.output.value, r.output.strings = value, strings.Join(texts, "\n")
	r.answer.discard()
	r.answer.raw(string(value))
	r.emit(Event{Kind: OutputEvent, Parent: r.answer.parent, Data: value})
}

// filtered strips unknown citations from all texts in a value.
func (r *run) filtered(v any, texts *[]string) any {
	switch v := v.(type) {
	case string:
		if !strings.ContainsAny(v, "[【") {
			return v
		}
		f := cite.Filter{Known: r.ledger.known}
		text := f.Write(v) + f.Flush()
		*texts = append(*texts, text)
		return text
	case []any:
		for i := range v {
			v[i] = r.filtered(v[i], texts)
		}
	case map[string]any:
		for k := range v {
			v[k] = r.filtered(v[k], texts)
		}
	}
	return v
}

// repair sends an answer of another form back, or gives up.
func (r *run) repair(s *stepRecord, turn Turn, problem string) *ending {
	r.answer.discard()
	s.Thought = thoughtOf(turn)
	if r.output.repairs++; r.output.repairs > maxRepairs {
		return r.formless()
	}
	r.strategy.Observe(r.state, turn, []Observation{{Text: problem, Failed: true}})
	return nil
}

// handedOver takes a call of final_output; nil where its arguments did not fit,
// which the model has been told.
func (r *run) handedOver(c *call) *ending {
	if c.outcome.err == nil {
		r.give(c.args)
		return &ending{reason: Complete}
	}
	if r.output.repairs++; r.output.repairs > maxRepairs {
		return r.formless()
	}
	return nil
}

// formless ends a run whose answer never got its form.
func (r *run) formless() *ending {
	return &ending{reason: Failed, hopeless: true, note: "the model did not give its answer in the form that was asked for"}
}
