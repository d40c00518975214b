package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"ragagent/agent/tool"
	"ragagent/store"
)

// Resume says how to go on with a run that waits for a person, or whose process
// ended on the way.
type Resume struct {
	RunID string
	// Decisions, one for each interrupt of a run that waits.
	Decisions []Decision
	// Tools of the run, bound anew by the caller to what this user may reach.
	Tools []tool.Tool
	// Strategy of the run where it needs what a checkpoint does not hold, as
	// CodeAct its interpreter; nil otherwise.
	Strategy Strategy
}

// Resume goes on with a run behind its latest round, on the terms of Run: the
// calls of earlier rounds are not made again. Of several callers one gets the
// run. Before the first event: store.ErrNotFound if there is no such run that
// has not ended, store.ErrConflict if it is going on, has expired or was saved
// by another version, store.ErrInvalid for decisions that do not fit.
func (a *Agent) Resume(ctx context.Context, in Resume) iter.Seq2[Event, error] {
	return a.stream(ctx, func(ctx context.Context) (*run, error) { return a.takeUp(ctx, in, nil) })
}

// takeUp makes the run of a checkpoint, and takes it from all others.
func (a *Agent) takeUp(ctx context.Context, in Resume, team *Team) (*run, error) {
	records := a.cfg.Checkpoints
	if records == nil {
		return nil, store.Invalid("run_id", "this agent keeps no runs that have not ended")
	}
	c, err := records.Checkpoint(ctx, in.RunID)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", in.RunID, err)
	}
	s, err := readSnapshot(c.State)
	if err != nil {
		return nil, err
	}
	r, err := a.revive(c, s, in, team)
	if err != nil {
		return nil, err
	}
	if r.agent.cfg.Conversations != nil && !r.first {
		if r.conversation, err = r.agent.cfg.Conversations.Conversation(ctx, c.ConversationID); err != nil {
			return nil, fmt.Errorf("conversation %q: %w", c.ConversationID, err)
		}
		r.conversation.UpdatedAt = a.cfg.Now()
	}
	taken, err := records.TakeCheckpoint(ctx, in.RunID, a.cfg.Now())
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", in.RunID, err)
	}
	if !bytes.Equal(taken.State, c.State) { // somebody went on with it and it waits again
		return nil, errors.Join(fmt.Errorf("run %q: %w: it has gone on meanwhile", in.RunID, store.ErrConflict), records.SaveCheckpoint(ctx, taken))
	}
	return r, nil
}

// revive builds the run that a checkpoint describes.
func (a *Agent) revive(c store.Checkpoint, s snapshot, in Resume, team *Team) (*run, error) {
	var waits []Interrupt
	if s.Pending != nil {
		waits = s.Pending.Waits
	}
	decisions, err := checkDecisions(waits, in.Decisions)
	if err != nil {
		return nil, err
	}
	if team != nil {
		member, ok := team.members[c.Agent]
		if !ok {
			return nil, fmt.Errorf("%w: the team has no agent %q any more", store.ErrConflict, c.Agent)
		}
		a = member.Agent
	}
	r := a.newRun(s.Limits, c.Question)
	r.team, r.own, r.id, r.started, r.scope, r.interactive = team, in.Tools, c.RunID, c.StartedAt, c.Scope, s.Interactive
	r.conversation = store.Conversation{ID: c.ConversationID, UpdatedAt: a.cfg.Now()}
	if err := r.chooseAgain(s.Strategy, in.Strategy); err != nil {
		return nil, err
	}
	if err := r.equip(each(s.History, savedMessage.message)); err != nil {
		return nil, err
	}
	if s.Output != nil {
		if err := r.wantOutput(s.Output); err != nil {
			return nil, err
		}
	}
	if err := r.equipCode(); err != nil {
		return nil, err
	}
	r.restore(s)
	if s.Pending != nil {
		r.waited, r.decisions = waits, decisions
	}
	return r, nil
}

// chooseAgain takes the strategy that the run was using.
func (r *run) chooseAgain(name string, given Strategy) error {
	switch name {
	case nameFunctionCalling:
		r.strategy = FunctionCalling{}
		return nil
	case nameReAct:
		r.strategy = ReAct{}
		return nil
	}
	for _, s := range []Strategy{given, r.agent.cfg.Strategy} {
		if s != nil && strategyName(s) == name {
			r.strategy = s
			return nil
		}
	}
	return fmt.Errorf("%w: the run used the strategy %q, which is not offered here", store.ErrConflict, name)
}

// turn is the one that waited.
func (p *pendingTurn) turn() Turn {
	m := p.Reply.message()
	return Turn{Text: m.Content, Thinking: m.Thinking, Calls: m.ToolCalls, Said: p.Said}
}
