package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"ragagent/agent/llm"
	"ragagent/agent/tool"
	"ragagent/store"
)

// DefaultTeamIterations bound a run of a team, all agents together.
const DefaultTeamIterations = 20

// TeamConfig of a Team.
type TeamConfig struct {
	// Members have distinct names; the first is the root, which is asked.
	// Conversations, checkpoints, texts, clock and ids are the root's.
	Members []Member
	// MaxIterations over the whole run, 1..99; 0 means 20.
	MaxIterations int
}

// Member is an agent of a team.
type Member struct {
	*Agent
	// Description tells the others what it is for.
	Description string
	// CanHandOffTo are names of members. nil means all others, empty none.
	CanHandOffTo []string
}

// Team is several agents that hand one run over to each other. They share what
// was said, the sources and their numbers, and the limits. It may be used
// concurrently.
type Team struct {
	root       Member
	members    map[string]Member
	order      []string
	iterations int
}

// HandOff is the name of the tool that hands a run over.
const HandOff = "handoff"

// NewTeam makes a team. No members, a name that is there twice and handing off
// to nobody that is there are errors.
func NewTeam(cfg TeamConfig) (*Team, error) {
	if cfg.MaxIterations == 0 {
		cfg.MaxIterations = DefaultTeamIterations
	}
	if cfg.MaxIterations < 1 || cfg.MaxIterations > MaxMaxIterations {
		return nil, store.Invalid("max_iterations", "has to be 1 to %d, not %d", MaxMaxIterations, cfg.MaxIterations)
	}
	t := &Team{members: map[string]Member{}, iterations: cfg.MaxIterations}
	for _, m := range cfg.Members {
		if m.Agent == nil {
			return nil, store.Invalid("members", "there is one without an agent")
		}
		if _, twice := t.members[m.cfg.Name]; twice {
			return nil, store.Invalid("members", "%q is there twice", m.cfg.Name)
		}
		t.members[m.cfg.Name] = m
		t.order = append(t.order, m.cfg.Name)
	}
	if len(t.order) == 0 {
		return nil, store.Invalid("members", "a team needs at least one")
	}
	first := t.members[t.order[0]].cfg
	for name, m := range t.members {
		m.Agent = m.within(first)
		t.members[name] = m
	}
	t.root = t.members[t.order[0]]
	for _, name := range t.order {
		for _, to := range t.members[name].CanHandOffTo {
			if _, ok := t.members[to]; !ok || to == name {
				return nil, store.Invalid("can_handoff_to", "%q cannot hand off to %q: the members are %s", name, to, strings.Join(t.order, ", "))
			}
		}
	}
	return t, nil
}

// within is the agent with what a team shares.
func (a *Agent) within(root Config) *Agent {
	cfg := a.cfg
	cfg.Texts, cfg.Conversations, cfg.Checkpoints, cfg.Approve = root.Texts, root.Conversations, root.Checkpoints, root.Approve
	cfg.Log, cfg.Now, cfg.NewID, cfg.Wait = root.Log, root.Now, root.NewID, root.Wait
	return &Agent{cfg: cfg, tools: a.tools, quoter: a.quoter}
}

// Run answers one question on the terms of Agent.Run, beginning with the root.
func (t *Team) Run(ctx context.Context, in Input) iter.Seq2[Event, error] {
	if in.MaxIterations == 0 {
		in.MaxIterations = t.iterations
	}
	return t.root.stream(ctx, func(ctx context.Context) (*run, error) { return t.root.prepare(ctx, in, t) })
}

// Resume goes on with a run of the team on the terms of Agent.Resume.
func (t *Team) Resume(ctx context.Context, in Resume) iter.Seq2[Event, error] {
	return t.root.stream(ctx, func(ctx context.Context) (*run, error) { return t.root.takeUp(ctx, in, t) })
}

// successors are whom an agent may hand off to, in the order of the members.
func (t *Team) successors(name string) []string {
	m := t.members[name]
	return slices.DeleteFunc(slices.Clone(t.order), func(to string) bool {
		return to == name || m.CanHandOffTo != nil && !slices.Contains(m.CanHandOffTo, to)
	})
}

// handoffTool hands the run over from one agent. Whether it may is decided when
// it is called, by the team and not by what the model was shown.
type handoffTool struct {
	team *Team
	from string
}

type handoffArgs struct {
	Agent  string `json:"to_agent"`
	Reason string `json:"reason"`
}

// Spec implements tool.Tool.
func (h handoffTool) Spec() tool.Spec {
	var b strings.Builder
	b.WriteString("Hands the question over to another agent, who sees all that was said and answers in your place. The agents:")
	to := h.team.successors(h.from)
	for _, name := range to {
		fmt.Fprintf(&b, "\n- %s: %s", name, oneLine(h.team.members[name].Description))
	}
	parameters, _ := json.Marshal(map[string]any{ // strings always encode
		"type": "object", "required": []string{"to_agent"},
		"properties": map[string]any{
			"to_agent": map[string]any{"type": "string", "description": "one of " + strings.Join(to, ", ")},
			"reason":   map[string]any{"type": "string", "description": "what the other agent should do"},
		},
	})
	return tool.Spec{Name: HandOff, Description: b.String(), Parameters: parameters}
}

// Call implements tool.Tool. The run itself changes hands when the call is done.
func (h handoffTool) Call(_ context.Context, raw json.RawMessage) (tool.Result, error) {
	var in handoffArgs
	if err := json.Unmarshal(raw, &in); err != nil {
		return tool.Result{}, fmt.Errorf("decode the arguments of %s: %w", HandOff, err)
	}
	to := h.team.successors(h.from)
	if _, there := h.team.members[in.Agent]; !there {
		return tool.Result{}, fmt.Errorf("there is no agent %q: you can hand off to %s", oneLine(in.Agent), strings.Join(to, ", "))
	}
	if !slices.Contains(to, in.Agent) {
		return tool.Result{}, fmt.Errorf("%s may not hand off to %s, only to: %s", h.from, in.Agent, strings.Join(to, ", "))
	}
	text := "Handed over to " + in.Agent + "."
	if in.Reason != "" {
		text += " Reason: " + in.Reason
	}
	return tool.Text(text), nil
}

// handOver gives the run to the agent that the first handoff of a turn named;
// further ones of the same turn are passed over.
func (r *run) handOver(s *stepRecord) *ending {
	c := r.handoff
	r.handoff = nil
	if c == nil {
		return nil
	}
	var in handoffArgs
	if err := json.Unmarshal(c.args, &in); err != nil { // it was done, so they are whole
		return nil
	}
	return r.changeHands(s, r.team.members[in.Agent].Agent, c)
}

// changeHands makes next the agent of the run.
func (r *run) changeHands(s *stepRecord, next *Agent, c *call) *ending {
	id := c.id + "_handoff"
	r.emit(Event{Kind: HandoffStart, ID: id, Parent: s.id, Label: next.cfg.Name, Status: StatusStart, Data: c.shown})
	before := strategyName(r.strategy)
	r.agent = next
	r.strategy = nil
	r.choose(nil)
	if strategyName(r.strategy) != before {
		r.state.Transcript = retold(r.state.Transcript)
	}
	err := r.equip(r.state.History)
	if err == nil && r.state.Output != nil {
		repairs := 0
		if r.output != nil {
			repairs = r.output.repairs
		}
		if err = r.wantOutput(r.state.Output); err == nil {
			r.output.repairs = repairs
		}
	}
	if err == nil {
		err = r.equipCode()
	}
	e := Event{Kind: HandoffEnd, ID: id, Parent: s.id, Label: next.cfg.Name, Status: StatusSuccess}
	if err != nil {
		e.Status, e.Err = StatusError, err.Error()
	}
	r.emit(e)
	if err != nil {
		return &ending{reason: Failed, hopeless: true, note: fmt.Sprintf("hand over to %s: %v", next.cfg.Name, err)}
	}
	return nil
}

// retold turns what was said in the words of one strategy into words that every
// strategy understands.
func retold(transcript []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(transcript))
	for _, m := range transcript {
		switch {
		case m.Role == llm.ToolRole:
			out = append(out, llm.Message{Role: llm.User, Content: "Result of " + m.ToolName + ":\n" + m.Content})
		case len(m.ToolCalls) > 0:
			for _, c := range m.ToolCalls {
				m.Content = strings.TrimSpace(m.Content + "\nI call " + c.Name + " with " + string(c.Arguments) + ".")
			}
			m.ToolCalls = nil
			out = append(out, m)
		default:
			out = append(out, m)
		}
	}
	return out
}
