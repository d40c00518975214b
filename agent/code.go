package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ragagent/agent/codeact"
	"ragagent/agent/llm"
	"ragagent/agent/tool"
)

// executeCode is the name under which code is run, as a tool call like any
// other. The calls the code makes are calls of the run too: checked, counted
// and told, with this one as their parent.
const executeCode = "execute_code"

// executeTimeout bounds one program with its calls; the interpreter's own limit
// is tighter.
const executeTimeout = 5 * time.Minute

type codeArgs struct {
	Code string `json:"code"`
}

// codeTool is the tool execute_code of one run.
type codeTool struct {
	interpreter codeact.Interpreter
	functions   []codeact.Function
	calls       chan<- codeCall // to the run's goroutine
	call        *call           // that it is made for
}

// codeCall is a call that code makes.
type codeCall struct {
	by       *call // the code's own call
	ctx      context.Context
	function string
	args     json.RawMessage
	reply    chan<- codeReply // has room for one
}

type codeReply struct {
	value json.RawMessage
	err   error
}

// offerCode makes the tools of the run functions for code. The model is told of
// them by the strategy.
func (r *run) offerCode(s CodeAct) error {
	if s.Interpreter == nil {
		return errors.New("CodeAct needs an interpreter")
	}
	calls := make(chan codeCall)
	t := codeTool{interpreter: s.Interpreter, calls: calls}
	for e := range r.tools.All() {
		t.functions = append(t.functions, codeact.Function{Name: identifier(e.Spec.Name), Parameters: e.Schema.Parameters()})
	}
	tools, err := r.tools.With(t)
	if err != nil {
		return err
	}
	r.tools, r.codeCalls = tools, calls
	return nil
}

// Spec implements tool.Tool.
func (codeTool) Spec() tool.Spec {
	return tool.Spec{
		Name: executeCode, Description: "Runs JavaScript.", Timeout: executeTimeout,
		Parameters: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","minLength":1}},"required":["code"]}`),
	}
}

// Call implements tool.Tool.
func (t codeTool) Call(ctx context.Context, raw json.RawMessage) (tool.Result, error) {
	var args codeArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return tool.Result{}, fmt.Errorf("decode the arguments of %s: %w", executeCode, err)
	}
	out, err := t.interpreter.Run(ctx, codeact.Program{Code: args.Code, Functions: t.functions, Call: t.ask})
	if err != nil {
		return tool.Result{}, err
	}
	printed := strings.TrimRight(out.Printed, "\n")
	switch {
	case out.Error != "" && printed != "":
		return tool.Result{}, fmt.Errorf("%s\nIt had printed:\n%s", out.Error, printed)
	case out.Error != "":
		return tool.Result{}, errors.New(out.Error)
	case out.Value != "" && printed != "":
		printed += "\nValue: "
	case out.Value == "" && printed == "":
		return tool.Text("(the code ran and printed nothing)"), nil
	}
	return tool.Text(printed + out.Value), nil
}

// ask hands a call to the run's goroutine and waits for what comes of it.
func (t codeTool) ask(ctx context.Context, function string, args json.RawMessage) (json.RawMessage, error) {
	reply := make(chan codeReply, 1)
	select {
	case t.calls <- codeCall{by: t.call, ctx: ctx, function: function, args: args, reply: reply}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case got := <-reply:
		return got.value, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// serve makes a call that code asks for.
func (r *run) serve(ctx context.Context, s *stepRecord, asked codeCall) {
	parent := asked.by
	parent.made++
	c := &call{id: fmt.Sprintf("%s_%d", parent.id, parent.made), done: make(chan outcome, 1), shown: validJSON(asked.args)}
	c.asked = llm.ToolCall{ID: c.id, Name: asked.function, Arguments: asked.args}
	switch {
	case parent.made > r.limits.CodeCalls:
		c.refusal = fmt.Errorf("not done: code can make at most %d calls at once", r.limits.CodeCalls)
	case asked.function == executeCode:
		c.refusal = errors.New("code cannot run code")
	default:
		r.check(ctx, c)
	}
	r.emit(Event{Kind: ToolStart, ID: c.id, Parent: parent.id, Label: c.asked.Name, Status: StatusStart, Data: c.shown})
	switch {
	case c.refusal != nil:
		c.outcome.err = c.refusal
	case c.earlier != nil && c.earlier.over:
		c.outcome = c.earlier.outcome
	default: // an earlier one that still runs may be waiting for its turn behind this code
		c.outcome = r.perform(asked.ctx, c)
	}
	c.over = true
	o := r.show(ctx, c, r.limits.ObservationTokens)
	r.note(s, parent.id, c, o)
	if c.outcome.err != nil {
		asked.reply <- codeReply{err: errors.New(c.outcome.failure())}
		return
	}
	asked.reply <- codeReply{value: codeValue(c.outcome.result, o)}
}

// maxCodeText bounds a text that code is given, in bytes.
const maxCodeText = 1 << 20

// codeValue is a result as code sees it: JSON as it is, sources with their ids,
// anything else as a text.
func codeValue(result tool.Result, o Observation) json.RawMessage {
	switch {
	case result.Passages != nil:
		var data observationData
		_ = json.Unmarshal(o.Data, &data) // our own; without it there is the text
		value, _ := json.Marshal(struct {
			Text string `json:"text"`
			observationData
		}{o.Text, data})
		return value
	case result.Text == "" && len(result.Parts) == 1 && result.Parts[0].Kind == tool.JSONPart && json.Valid(result.Parts[0].JSON):
		return result.Parts[0].JSON
	case result.Text == "" && len(result.Parts) == 0 && json.Valid(result.Data):
		return result.Data
	}
	text := body(result, 0)
	if len(text) > maxCodeText {
		text = strings.ToValidUTF8(text[:maxCodeText], "")
	}
	value, _ := json.Marshal(text) // a string always encodes
	return value
}
