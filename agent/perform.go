package agent

import (
	"context"
	"fmt"
	"runtime/debug"

	"ragagent/agent/tool"
)

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

// perform makes a call, again where its failure may pass.
func (r *run) perform(ctx context.Context, c *call) outcome {
	began, delay := r.agent.cfg.Now(), r.limits.RetryDelay
	var retried []error
	for {
		o := r.attempt(ctx, c)
		if o.err == nil || !tool.IsRetryable(o.err) || len(retried) >= r.limits.ToolRetries || r.agent.cfg.Wait(ctx, delay) != nil {
			o.retried, o.elapsed = retried, r.agent.cfg.Now().Sub(began)
			return o
		}
		retried = append(retried, o.err)
		delay = min(2*delay, 16*r.limits.RetryDelay)
	}
}

// attempt makes one call within its time. A tool that does not listen to its
// context is left behind: its result comes too late for anyone.
func (r *run) attempt(ctx context.Context, c *call) outcome {
	timeout := c.entry.Spec.Timeout
	if timeout <= 0 {
		timeout = r.limits.ToolTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s did not finish within %s", c.asked.Name, timeout))
	defer cancel()
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
	return o
}
