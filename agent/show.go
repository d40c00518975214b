package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"ragagent/agent/tool"
)

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
		r.await(ctx, s, c)
	}
	c.over = true
	o := r.show(ctx, c, min(r.limits.ObservationTokens, r.limits.ToolOutputTokens-r.shown))
	r.shown += estimateTokens(o.Text)
	if c.outcome.err == nil {
		r.keepRest(c.id, o.rest)
	}
	r.note(s, s.id, c, o)
	return o
}

// await waits for a call, and makes those that its code asks for.
func (r *run) await(ctx context.Context, s *stepRecord, c *call) {
	for {
		select {
		case c.outcome = <-c.done:
			return
		case asked := <-r.codeCalls:
			r.serve(ctx, s, asked)
		}
	}
}

// note records and tells what came of a call.
func (r *run) note(s *stepRecord, parent string, c *call, o Observation) {
	for i, err := range c.outcome.retried {
		r.emit(Event{
			Kind: RetryEvent, ID: fmt.Sprintf("%s_retry_%d", c.id, i+1), Parent: c.id, Status: StatusError,
			Label: fmt.Sprintf("%s, attempt %d of %d", c.asked.Name, i+2, r.limits.ToolRetries+1), Err: outcome{err: err}.failure(),
		})
	}
	info := CallInfo{Name: c.asked.Name, Arguments: c.shown, Result: o.Text, ElapsedMS: c.outcome.elapsed.Milliseconds()}
	e := Event{Kind: ToolEnd, ID: c.id, Parent: parent, Label: c.asked.Name, Status: StatusSuccess, Text: o.Text}
	if c.outcome.err != nil {
		info.Error, e.Err, e.Status = c.outcome.failure(), c.outcome.failure(), StatusError
	}
	if _, passing := c.entry.Tool.(handoffTool); passing && c.outcome.err == nil && r.handoff == nil {
		r.handoff = c
	}
	s.ToolCalls = append(s.ToolCalls, info)
	r.emit(e)
}

// noRoom answers calls once the run's room for results is used up.
const noRoom = "(not shown: there is no room for more results; answer from what you have)"

// show writes an outcome for the model within room tokens.
func (r *run) show(ctx context.Context, c *call, room int) Observation {
	o := Observation{Call: c.asked}
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
	r.attach(result.Parts)
	o.Text, o.Data, o.rest = render(&r.ledger, result, room, c.id)
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
