package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ragagent/agent/llm"
	"ragagent/agent/tool"
)

// act makes the calls a turn asks for and tells the model what came of them.
func (r *run) act(ctx context.Context, s *stepRecord, turn Turn) *ending {
	s.Thought = thoughtOf(turn)
	if r.answer.released {
		r.answer.close()
		s.Thought = strings.TrimSpace(turn.Thinking)
	} else {
		r.answer.discard()
	}
	r.invalid = 0
	if end := r.pause(s, turn); end != nil {
		return end
	}
	turn.Calls = append([]llm.ToolCall(nil), turn.Calls...)
	calls := r.plan(ctx, s, turn.Calls)
	r.decisions, r.waited = nil, nil // single use
	for _, c := range calls {
		r.emit(Event{Kind: ToolStart, ID: c.id, Parent: s.id, Label: c.asked.Name, Status: StatusStart, Data: c.shown})
	}
	r.start(ctx, calls)
	observations := make([]Observation, len(calls))
	for i, c := range calls {
		observations[i] = r.observe(ctx, s, c)
	}
	r.strategy.Observe(r.state, turn, observations)
	if ctx.Err() != nil {
		return r.broken(ctx, ctx.Err())
	}
	if end := r.verdict(calls); end != nil {
		return end
	}
	return r.handOver(s)
}

// call is one tool call on its way.
type call struct {
	id       string // of the events
	asked    llm.ToolCall
	shown    json.RawMessage // the arguments as valid JSON
	entry    tool.Entry
	args     json.RawMessage // cast to the schema
	refusal  error           // why it is not made
	repeats  bool            // asked for once too often
	circular bool            // and again after having been told
	earlier  *call           // the same call, whose outcome is taken
	done     chan outcome
	outcome  outcome
	made     int // calls that its code has asked for
	over     bool
}

// outcome is what a tool gave.
type outcome struct {
	result  tool.Result
	err     error
	retried []error // what went wrong before
	elapsed time.Duration
}

// whole says that nothing speaks for another try; so does an outcome that is
// still to come, which a call of the same turn waits for.
func (o outcome) whole() bool { return o.err == nil && len(o.result.Degraded) == 0 }

// failure is the error in words, of a length that fits wherever it is shown:
// some quote what a tool was given.
func (o outcome) failure() string {
	const most = 250 // tokens
	return cutTokens(o.err.Error(), most)
}

// plan checks the calls of a turn and gives each an id of its own.
func (r *run) plan(ctx context.Context, s *stepRecord, asked []llm.ToolCall) []*call {
	calls := make([]*call, len(asked))
	seen := map[string]bool{}
	for i := range asked {
		c := &call{id: callID(s, i), done: make(chan outcome, 1)}
		if asked[i].ID == "" || seen[asked[i].ID] {
			asked[i].ID = c.id
		}
		seen[asked[i].ID] = true
		c.asked, c.shown = asked[i], validJSON(asked[i].Arguments)
		if i >= r.limits.CallsPerTurn {
			c.refusal = fmt.Errorf("not done: at most %d calls can be made in one turn", r.limits.CallsPerTurn)
		} else {
			r.check(ctx, c)
		}
		asked[i], calls[i] = c.asked, c
	}
	return calls
}

// callID names the call at place i of a step.
func callID(s *stepRecord, i int) string { return fmt.Sprintf("call_%d_%d", s.Step.Step, i+1) }

// callKey is the same for the same call.
func callKey(name string, args json.RawMessage) string { return name + "\x00" + string(args) }

// validJSON returns what a model wrote as JSON: as it is, or as a string.
func validJSON(written json.RawMessage) json.RawMessage {
	if json.Valid(written) {
		return written
	}
	quoted, _ := json.Marshal(string(written)) // a string always encodes
	return quoted
}

// check looks up the tool, casts the arguments, counts the call and has it
// approved.
func (r *run) check(ctx context.Context, c *call) {
	entry, ok := r.tools.Resolve(c.asked.Name)
	switch {
	case !ok && r.tools.Len() == 0:
		c.refusal = fmt.Errorf("there is no tool %q, and no other: answer without", oneLine(c.asked.Name))
		return
	case !ok:
		c.refusal = fmt.Errorf("there is no tool %q; the tools are: %s", oneLine(c.asked.Name), strings.Join(r.tools.Names(), ", "))
		return
	}
	c.asked.Name = entry.Spec.Name
	args, err := entry.Schema.Cast(c.asked.Arguments)
	if err != nil {
		c.refusal = fmt.Errorf("%s was not called: %w", c.asked.Name, err)
		return
	}
	c.entry, c.args, c.shown = entry, args, args
	if code, ok := entry.Tool.(codeTool); ok {
		code.call = c
		c.entry.Tool = code
	}
	if _, question := entry.Tool.(userTool); question && r.decisions != nil {
		d, err := r.decided(c)
		if err != nil {
			c.refusal = err
			return
		}
		c.entry.Tool = userTool{d.Answer}
	}
	if r.count(c); c.refusal == nil && c.earlier == nil && entry.Spec.SideEffect {
		c.refusal = r.approve(ctx, c)
	}
}

// count sees how often the call was asked for, and whether it has been made.
func (r *run) count(c *call) {
	if _, passing := c.entry.Tool.(handoffTool); passing {
		return // to and fro is bounded by the iterations
	}
	key := callKey(c.asked.Name, c.args)
	r.calls[key]++
	if n := r.calls[key]; n > r.limits.IdenticalCalls {
		c.repeats, c.circular = true, n > r.limits.IdenticalCalls+1
		c.refusal = fmt.Errorf("you have called %s with these arguments %d times already, the result is above: answer from it, or ask for something else", c.asked.Name, r.limits.IdenticalCalls)
		return
	}
	if !c.entry.Spec.Idempotent {
		return
	}
	if earlier := r.idempotent[key]; earlier != nil && earlier.outcome.whole() {
		c.earlier = earlier
		return
	}
	r.idempotent[key] = c
}

// approve asks whether a call with side effects may be made.
func (r *run) approve(ctx context.Context, c *call) error {
	if r.decisions != nil && r.agent.cfg.Approve == nil {
		d, err := r.decided(c)
		if err == nil && !d.Approve {
			err = fmt.Errorf("%s was not called: a person refused it%s", c.asked.Name, because(d.Reason))
		}
		return err
	}
	if r.agent.cfg.Approve == nil {
		return fmt.Errorf("%s changes things outside and needs a person's approval, which cannot be given here", c.asked.Name)
	}
	err := r.agent.cfg.Approve(ctx, Approval{RunID: r.id, CallID: c.id, Tool: c.asked.Name, Arguments: c.args})
	if err != nil {
		return fmt.Errorf("%s was not called: it was not approved: %w", c.asked.Name, err)
	}
	return nil
}

// circular is what Result.Degraded says of a run that went round in circles.
const circular = "stopped because the model kept making the same call"

// verdict says whether the calls leave a reason to go on.
func (r *run) verdict(calls []*call) *ending {
	failed, counted := 0, 0
	for i, c := range calls {
		if c.circular {
			r.degrade(circular)
			return &ending{reason: MaxSteps}
		}
		if c.repeats || i >= r.limits.CallsPerTurn {
			continue
		}
		counted++
		if c.asked.Name == finalOutput && r.output != nil {
			if end := r.handedOver(c); end != nil {
				return end
			}
		}
		if c.outcome.err != nil {
			failed++
		} else if c.entry.Spec.Direct && len(calls) == 1 {
			return r.direct(c)
		}
	}
	switch {
	case counted == 0:
	case failed < counted:
		r.failures = 0
	default:
		r.failures++
	}
	if r.failures >= r.limits.ToolFailures {
		return &ending{reason: Failed, note: fmt.Sprintf("tools failed %d times in a row, last: %s", r.failures, calls[len(calls)-1].outcome.failure())}
	}
	return nil
}

// direct makes a tool's result the answer.
func (r *run) direct(c *call) *ending {
	r.answer.write(body(c.outcome.result, 0))
	r.answer.close()
	return &ending{reason: Complete}
}
