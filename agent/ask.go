package agent

import (
	"context"
	"fmt"
	"iter"
	"math"

	"ragagent/agent/llm"
)

// ask gets one reply, trying again where a failure may pass and nothing of the
// failed reply has reached the user.
func (r *run) ask(ctx context.Context, s *stepRecord) (Turn, error) {
	delay := r.limits.RetryDelay
	for attempt := 1; ; attempt++ {
		turn, err := r.askOnce(ctx, s)
		if r.resort(s, err) {
			turn, err = r.askOnce(ctx, s)
		}
		if err == nil || attempt > r.limits.ModelRetries || !llm.IsRetryable(err) || ctx.Err() != nil || r.answer.released {
			return turn, err
		}
		r.answer.discard()
		r.emit(Event{
			Kind: RetryEvent, ID: fmt.Sprintf("%s_retry_%d", s.id, attempt), Parent: s.id, Status: StatusError,
			Label: fmt.Sprintf("attempt %d of %d in %s", attempt+1, r.limits.ModelRetries+1, delay), Err: err.Error(),
		})
		if r.agent.cfg.Wait(ctx, delay) != nil {
			return turn, err
		}
		delay = min(2*delay, 16*r.limits.RetryDelay)
	}
}

// askOnce makes one call of the model.
func (r *run) askOnce(ctx context.Context, s *stepRecord) (Turn, error) {
	req := r.strategy.Request(r.state)
	hold := 0
	if _, writes := r.strategy.(CodeAct); len(req.Tools) > 0 || writes && len(r.state.Tools) > 0 {
		hold = r.limits.PrefaceBytes
	}
	if r.output != nil { // nothing is streamed before it is whole
		hold = math.MaxInt
	}
	r.answer.begin(s.id, hold)
	reply := bounded(r.agent.cfg.Model.Stream(ctx, req), r.limits.ReplyBytes)
	turn, err := r.strategy.Decode(reply, func(e Event) {
		if e.Kind == TextDelta {
			r.answer.write(e.Text)
			return
		}
		e.Parent = s.id
		r.emit(e)
	})
	if turn.Usage == nil {
		turn.Usage = &llm.Usage{}
		if err == nil || turn.Text != "" || turn.Thinking != "" { // a call that was refused has cost nothing
			*turn.Usage = estimateUsage(req, turn)
		}
	}
	r.usage.Add(*turn.Usage)
	r.confidence = turn.Confidence
	s.usage.Add(*turn.Usage)
	return turn, err
}

// errUnfinished says that a stream ended without telling why.
var errUnfinished = fmt.Errorf("the reply broke off before its end")

// bounded passes a reply on and sees that it has an end: one that grows beyond
// most bytes is cut there, as by a length limit, and one that stops without a
// Finish has failed.
func bounded(reply iter.Seq2[llm.Delta, error], most int) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		size, finished := 0, false
		for d, err := range reply {
			if err != nil {
				yield(llm.Delta{}, err)
				return
			}
			size += len(d.Text) + len(d.Thinking)
			for _, c := range d.ToolCalls {
				size += len(c.Name) + len(c.Arguments)
			}
			if size > most {
				yield(llm.Delta{Finish: llm.FinishLength, Usage: d.Usage}, nil)
				return
			}
			finished = finished || d.Finish != ""
			if !yield(d, nil) {
				return
			}
		}
		if !finished {
			yield(llm.Delta{}, &llm.Error{Provider: "model", Retryable: true, Err: errUnfinished})
		}
	}
}
