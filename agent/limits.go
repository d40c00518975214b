package agent

import (
	"time"

	"ragagent/store"
)

// Bounds of a run.
const (
	DefaultMaxIterations = 5
	MaxMaxIterations     = 99
	// MaxQuestionBytes is as much as a search may ask for: a model may search
	// for the question as it stands, and the built-in one does.
	MaxQuestionBytes = 16 << 10
)

// Limits bound a run. A zero field takes its default; all are finite.
type Limits struct {
	// MaxIterations counts turns of the model, 1..99; 0 means 5. A final
	// answer on the last turn is a success; after a last turn that called
	// tools one more call without tools answers from what is known.
	MaxIterations int
	// Tokens is the budget of prompts and replies together; 0 means 500,000.
	// It is looked at before every call of the model.
	Tokens int
	// WallTime bounds the whole run; 0 means 10 minutes.
	WallTime time.Duration
	// ToolFailures in a row end the run; 0 means 3.
	ToolFailures int
	// IdenticalCalls is how often a tool is run with the same arguments; 0
	// means 2. The next such call is answered with a warning, the one after
	// that ends the run.
	IdenticalCalls int
	// InvalidReplies in a row, empty or not to be understood, end the run;
	// 0 means 2: the third ends it.
	InvalidReplies int
	// CallsPerTurn bounds the calls one reply may ask for; 0 means 16.
	CallsPerTurn int
	// CodeCalls bounds the calls one program may make; 0 means 50.
	CodeCalls int
	// ParallelCalls run at once; 0 means 4.
	ParallelCalls int
	// ToolTimeout is for tools that name none; 0 means 30 s.
	ToolTimeout time.Duration
	// ToolRetries of a call whose failure is marked tool.Retryable; 0 means 2,
	// negative none. They wait as those of the model do.
	ToolRetries int
	// ObservationTokens bound what the model is shown of one call; 0 means 3,000.
	ObservationTokens int
	// ToolOutputTokens bound what the model is shown of all calls of a run
	// together; 0 means 8,000. Once they are used up, calls are still made but
	// answered with a line that says so.
	ToolOutputTokens int
	// HistoryTokens bound the earlier turns of the conversation; 0 means 2,000.
	HistoryTokens int
	// ModelRetries of a call that failed in a way that may pass; 0 means 2,
	// negative none.
	ModelRetries int
	// RetryDelay before the first retry, doubled for each further one up to 16
	// times; 0 means 500 ms.
	RetryDelay time.Duration
	// ReplyBytes bound one reply of the model; 0 means 1 MiB.
	ReplyBytes int
	// PrefaceBytes of a reply that may still turn into a tool call are held
	// back, so that "Let me search for that." is a thought and no part of the
	// answer; 0 means 400, negative none. A citation or the reply's end
	// releases them at once.
	PrefaceBytes int
}

// withDefaults fills zero fields.
func (l Limits) withDefaults() Limits {
	set := func(p *int, def int) {
		if *p == 0 {
			*p = def
		}
	}
	set(&l.MaxIterations, DefaultMaxIterations)
	set(&l.Tokens, 500_000)
	set(&l.ToolFailures, 3)
	set(&l.IdenticalCalls, 2)
	set(&l.InvalidReplies, 2)
	set(&l.CallsPerTurn, 16)
	set(&l.CodeCalls, 50)
	set(&l.ParallelCalls, 4)
	set(&l.ObservationTokens, 3_000)
	set(&l.ToolOutputTokens, 8_000)
	set(&l.HistoryTokens, 2_000)
	set(&l.ToolRetries, 2)
	set(&l.ModelRetries, 2)
	set(&l.ReplyBytes, 1<<20)
	set(&l.PrefaceBytes, 400)
	l.ToolRetries = max(l.ToolRetries, 0)
	l.ModelRetries = max(l.ModelRetries, 0)
	l.PrefaceBytes = max(l.PrefaceBytes, 0)
	if l.WallTime == 0 {
		l.WallTime = 10 * time.Minute
	}
	if l.ToolTimeout == 0 {
		l.ToolTimeout = 30 * time.Second
	}
	if l.RetryDelay == 0 {
		l.RetryDelay = 500 * time.Millisecond
	}
	return l
}

// check refuses negative limits and iterations out of range.
func (l Limits) check() error {
	if l.MaxIterations < 1 || l.MaxIterations > MaxMaxIterations {
		return store.Invalid("max_iterations", "has to be 1 to %d, not %d", MaxMaxIterations, l.MaxIterations)
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"tokens", int64(l.Tokens)}, {"wall_time", int64(l.WallTime)}, {"tool_failures", int64(l.ToolFailures)},
		{"identical_calls", int64(l.IdenticalCalls)}, {"invalid_replies", int64(l.InvalidReplies)},
		{"calls_per_turn", int64(l.CallsPerTurn)}, {"code_calls", int64(l.CodeCalls)}, {"parallel_calls", int64(l.ParallelCalls)},
		{"tool_timeout", int64(l.ToolTimeout)}, {"observation_tokens", int64(l.ObservationTokens)},
		{"tool_output_tokens", int64(l.ToolOutputTokens)},
		{"history_tokens", int64(l.HistoryTokens)}, {"retry_delay", int64(l.RetryDelay)}, {"reply_bytes", int64(l.ReplyBytes)},
	} {
		if f.value < 0 {
			return store.Invalid(f.name, "may not be negative")
		}
	}
	return nil
}
