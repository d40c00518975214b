package agent

import (
	"errors"
	"fmt"

	"ragagent/agent/llm"
)

// What Result.Degraded says of a strategy that the model has no use for.
const (
	cannotCall   = "the model cannot call tools: it was asked to write its actions down (ReAct)"
	cannotFollow = "the model follows no prompts: it was offered its tools as function calls"
)

// choose settles the strategy: what was asked for, as far as the model is up to it.
func (r *run) choose(wanted Strategy) {
	if wanted == nil {
		wanted = r.agent.cfg.Strategy
	}
	can := llm.CapabilitiesOf(r.agent.cfg.Model)
	can.ToolCalls = can.ToolCalls && !r.agent.mute.Load()
	_, calling := wanted.(FunctionCalling)
	switch {
	case wanted == nil && (can.ToolCalls || !can.Prompts):
		r.strategy = FunctionCalling{}
	case wanted == nil:
		r.strategy = ReAct{}
	case calling && !can.ToolCalls && can.Prompts:
		r.strategy = ReAct{}
		r.degrade(cannotCall)
	case !calling && !can.Prompts:
		r.strategy = FunctionCalling{}
		r.degrade(cannotFollow)
	default:
		r.strategy = wanted
	}
}

// resort goes over to ReAct when the model turns out to be unable to call
// tools, and says so; true means that it has to be asked again.
func (r *run) resort(s *stepRecord, err error) bool {
	_, calling := r.strategy.(FunctionCalling)
	if !calling || !errors.Is(err, llm.ErrNoToolCalls) || len(r.state.Transcript) > 0 {
		return false
	}
	r.agent.mute.Store(true)
	r.strategy = ReAct{}
	r.degrade(cannotCall)
	r.emit(Event{
		Kind: RetryEvent, ID: fmt.Sprintf("%s_react", s.id), Parent: s.id, Status: StatusError,
		Label: "asked again in words (ReAct)", Err: err.Error(),
	})
	return true
}
