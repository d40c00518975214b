package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
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
	turn.Calls = append([]llm.ToolCall(nil), turn.Calls...)
	calls := r.plan(s, turn.Calls)
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
	return r.verdict(calls)
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
}

// outcome is what a tool gave.
type outcome struct {
	result  tool.Result
	err     error
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
func (r *run) plan(s *stepRecord, asked []llm.ToolCall) []*call {
	calls := make([]*call, len(asked))
	seen := map[string]bool{}
	for i := range asked {
		c := &call{id: fmt.Sprintf("call_%d_%d", s.Step.Step, i+1), done: make(chan outcome, 1)}
		if asked[i].ID == "" || seen[asked[i].ID] {
			asked[i].ID = c.id
		}
		seen[asked[i].ID] = true
		if !json.Valid(asked[i].Arguments) {
			c.shown, _ = json.Marshal(string(asked[i].Arguments)) // a string always encodes
		} else {
			c.shown = asked[i].Arguments
		}
		c.asked = asked[i]
		if i >= r.limits.CallsPerTurn {
			c.refusal = fmt.Errorf("not done: at most %d calls can be made in one turn", r.limits.CallsPerTurn)
		} else {
			r.check(c)
		}
		asked[i], calls[i] = c.asked, c
	}
	return calls
}

// check looks up the tool, casts the arguments and counts the call.
func (r *run) check(c *call) {
	entry, ok := r.tools.Resolve(c.asked.Name)
	if ok {
		c.asked.Name = entry.Spec.Name
	}
	switch {
	case !ok && r.tools.Len() == 0:
		c.refusal = fmt.Errorf("there is no tool %q, and no other: answer without", oneLine(c.asked.Name))
		return
	case !ok:
		c.refusal = fmt.Errorf("there is no tool %q; the tools are: %s", oneLine(c.asked.Name), strings.Join(r.tools.Names(), ", "))
		return
	case entry.Spec.SideEffect:
		c.refusal = fmt.Errorf("%s changes things outside and needs a person's approval, which cannot be given here", c.asked.Name)
		return
	}
	args, err := entry.Schema.Cast(c.asked.Arguments)
	if err != nil {
		c.refusal = fmt.Errorf("%s was not called: %w", c.asked.Name, err)
		return
	}
	c.entry, c.args, c.shown = entry, args, args
	key := c.asked.Name + "\x00" + string(args)
	r.calls[key]++
	if n := r.calls[key]; n > r.limits.IdenticalCalls {
		c.repeats, c.circular = true, n > r.limits.IdenticalCalls+1
		c.refusal = fmt.Errorf("you have called %s with these arguments %d times already, the result is above: answer from it, or ask for something else", c.asked.Name, r.limits.IdenticalCalls)
		return
	}
	if !entry.Spec.Idempotent {
		return
	}
	if earlier := r.idempotent[key]; earlier != nil && earlier.outcome.whole() {
		c.earlier = earlier
		return
	}
	r.idempotent[key] = c
}

// start sets the calls going, a bounded number at a time.
func (r *run) start(ctx context.Context, calls []*call) {
	slots := make(chan struct{}, r.limits.ParallelCalls)
	for _, c := range calls {
		if c.refusal != nil {
			c.done <- outcome{err: c.refusal}
			continue
		}
		if c.earlier != nil {
			continue
		}
		go func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				c.done <- r.perform(ctx, c)
			case <-ctx.Done():
				c.done <- outcome{err: context.Cause(ctx)}
			}
		}()
	}
}

// perform makes one call within its time. A tool that does not listen to its
// context is left behind: its result comes too late for anyone.
func (r *run) perform(ctx context.Context, c *call) outcome {
	timeout := c.entry.Spec.Timeout
	if timeout <= 0 {
		timeout = r.limits.ToolTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s did not finish within %s", c.asked.Name, timeout))
	defer cancel()
	began := r.agent.cfg.Now()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				r.agent.cfg.Log.Error("panic in a tool", "run", r.id, "tool", c.asked.Name, "panic", p, "stack", string(debug.Stack()))
				o.err = fmt.Errorf("%s failed unexpectedly; the server's log says why", c.asked.Name)
			}
			done <- o
		}()
		o.result, o.err = c.entry.Tool.Call(ctx, c.args)
	}()
	var o outcome
	select {
	case o = <-done:
		if o.err != nil && ctx.Err() != nil {
			o.err = context.Cause(ctx)
		}
	case <-ctx.Done():
		o.err = context.Cause(ctx)
	}
	o.elapsed = r.agent.cfg.Now().Sub(began)
	return o
}

// observe waits for a call and turns its outcome into what the model sees.
// Calls are observed in their order, so citation ids do not depend on which
// tool was faster.
func (r *run) observe(ctx context.Context, s *stepRecord, c *call) Observation {
	if c.earlier != nil {
		// It stands before c, so it has been observed. Its passages are compared
		// with the truth once more below.
		c.outcome = c.earlier.outcome
		c.outcome.elapsed = 0
	} else {
		c.outcome = <-c.done
	}
	o := r.show(ctx, c)
	r.shown += estimateTokens(o.Text)
	info := CallInfo{Name: c.asked.Name, Arguments: c.shown, Result: o.Text, ElapsedMS: c.outcome.elapsed.Milliseconds()}
	e := Event{Kind: ToolEnd, ID: c.id, Parent: s.id, Label: c.asked.Name, Status: StatusSuccess, Text: o.Text}
	if c.outcome.err != nil {
		info.Error, e.Err, e.Status = c.outcome.failure(), c.outcome.failure(), StatusError
	}
	s.ToolCalls = append(s.ToolCalls, info)
	r.emit(e)
	return o
}

// noRoom answers calls once the run's room for results is used up.
const noRoom = "(not shown: there is no room for more results; answer from what you have)"

// show writes an outcome for the model, within what room is left.
func (r *run) show(ctx context.Context, c *call) Observation {
	o := Observation{Call: c.asked}
	room := min(r.limits.ObservationTokens, r.limits.ToolOutputTokens-r.shown)
	if c.outcome.err != nil {
		o.Failed = true
		o.Text = "Error: " + disarm(cutTokens(c.outcome.failure(), max(room, leastRoom)))
		o.Data, _ = json.Marshal(observationData{Error: c.outcome.failure()}) // a string always encodes
		return o
	}
	r.worked = true
	result := r.admissible(ctx, c.outcome.result)
	if room < leastRoom {
		r.degrade("results of tools were left out for want of room")
		o.Text = noRoom
		return o
	}
	o.Text, o.Data = render(&r.ledger, result, room)
	return o
}

// admissible leaves out passages that the truth no longer holds.
func (r *run) admissible(ctx context.Context, result tool.Result) tool.Result {
	for _, d := range result.Degraded {
		r.degrade(d)
	}
	if result.Passages == nil {
		return result
	}
	r.searched = true
	kept := make([]tool.Passage, 0, len(result.Passages))
	for _, p := range result.Passages {
		if r.ledger.current(ctx, p) {
			kept = append(kept, p)
		} else {
			r.degrade("a source was left out because its document has changed")
		}
	}
	result.Passages = kept
	return result
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
	r.answer.write(c.outcome.result.Text)
	r.answer.close()
	return &ending{reason: Complete}
}
