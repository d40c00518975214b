package catalog

import (
	"fmt"
	"strings"

	"ragagent/agent"
	"ragagent/agent/llm"
)

// build makes the agent of an entry, or a team of all that can be reached from
// it by handing off.
func (c *Catalog) build(e *entry) (Runner, error) {
	root, err := c.agent(e)
	if err != nil {
		return nil, err
	}
	if len(e.CanHandOffTo) == 0 || !c.followsPrompts(e) {
		return root, nil
	}
	members, joined := []agent.Member{}, map[string]bool{}
	for queue := []*entry{e}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if joined[at.Name] {
			continue
		}
		joined[at.Name] = true
		a := root
		if at != e {
			if a, err = c.agent(at); err != nil {
				return nil, err
			}
		}
		to := append([]string{}, at.CanHandOffTo...)
		members = append(members, agent.Member{Agent: a, Description: at.Description, CanHandOffTo: to})
		for _, name := range to {
			next, ok := c.entries[name]
			if !ok || name == at.Name {
				return nil, &Error{
					File: at.Name + ".yaml", Field: "can_handoff_to",
					Reason: fmt.Sprintf("there is no other agent %q: declare it, or take it out", name),
				}
			}
			queue = append(queue, next)
		}
	}
	return agent.NewTeam(agent.TeamConfig{Members: members, MaxIterations: e.Limits.MaxIterations})
}

// agent makes one agent of its declaration.
func (c *Catalog) agent(e *entry) (*agent.Agent, error) {
	if e.Description == "" { // a file that never was an agent
		return nil, &Error{File: e.Name + ".yaml", Reason: strings.TrimPrefix(e.Problem, e.Name+".yaml: ")}
	}
	d, cfg := e.Declaration, c.cfg.Base
	cfg.Name, cfg.Strategy = d.Name, c.cfg.Strategies[d.Strategy]
	prompt, err := d.prompt()
	if err != nil {
		return nil, err
	}
	if prompt != "" {
		cfg.SystemPrompt = prompt
	}
	cfg.Limits.MaxIterations, cfg.Limits.Tokens = d.Limits.MaxIterations, d.Limits.Tokens
	cfg.Limits.HistoryTokens, cfg.Limits.ToolOutputTokens = d.Limits.HistoryTokens, d.Limits.ToolOutputTokens
	if d.Tools != nil {
		cfg.Offer = append([]string{}, d.Tools...)
	}
	if d.Model != "" {
		if c.cfg.OpenModel == nil {
			return nil, &Error{File: d.Name + ".yaml", Field: "model", Reason: "models cannot be named here: leave it out"}
		}
		if cfg.Model, err = c.cfg.OpenModel(d.Model); err != nil {
			return nil, &Error{File: d.Name + ".yaml", Field: "model", Reason: err.Error()}
		}
	}
	if len(d.CanHandOffTo) > 0 && !llm.CapabilitiesOf(cfg.Model).Prompts {
		cfg.Offer, cfg.Degraded = nil, []string{alone}
	}
	return agent.New(cfg)
}

// alone is what results say of a team whose model cannot work in one.
const alone = "the model follows no prompts: the agent answered alone, with all tools"

// followsPrompts says whether the model of an agent can decide to hand off.
func (c *Catalog) followsPrompts(e *entry) bool {
	return e.Model != "" || llm.CapabilitiesOf(c.cfg.Base.Model).Prompts
}
