package agent

import (
	"encoding/json"
	"time"

	"ragagent/agent/llm"
)

// TraceNode is one node of a run's log tree, as stored in store.Run.Trace: a
// JSON list in the order in which nodes started, the run itself first.
type TraceNode struct {
	ID        string          `json:"id"`
	Parent    string          `json:"parent,omitempty"`
	Kind      string          `json:"kind"` // "run", "step", "tool", "handoff" or "retry"
	Label     string          `json:"label"`
	Status    EventStatus     `json:"status"`
	Data      json.RawMessage `json:"data,omitempty"`
	Text      string          `json:"text,omitempty"`
	Usage     *llm.Usage      `json:"usage,omitempty"`
	Error     string          `json:"error,omitempty"`
	StartedAt time.Time       `json:"started_at"`
	EndedAt   time.Time       `json:"ended_at,omitzero"`
}

var nodeKinds = map[Kind]string{
	RunStart: "run", RunEnd: "run", StepStart: "step", StepEnd: "step", ToolStart: "tool", ToolEnd: "tool", RetryEvent: "retry",
	HandoffStart: "handoff", HandoffEnd: "handoff",
}

// trace builds the tree from the events as they pass. Deltas are not nodes.
type trace struct {
	nodes []TraceNode
	index map[string]int
}

func (t *trace) add(e Event) {
	kind, ok := nodeKinds[e.Kind]
	if !ok {
		return
	}
	if i, open := t.index[e.ID]; open {
		if e.Status == StatusStart { // a resumed run goes on where it stood
			return
		}
		t.end(i, e)
		return
	}
	if t.index == nil {
		t.index = map[string]int{}
	}
	t.index[e.ID] = len(t.nodes)
	n := TraceNode{ID: e.ID, Parent: e.Parent, Kind: kind, Label: e.Label, Status: e.Status, Data: e.Data, Error: e.Err, StartedAt: e.Time}
	if e.Kind == RetryEvent {
		n.EndedAt = e.Time
	}
	t.nodes = append(t.nodes, n)
}

func (t *trace) end(i int, e Event) {
	n := &t.nodes[i]
	n.Status, n.Text, n.Usage, n.Error, n.EndedAt = e.Status, e.Text, e.Usage, e.Err, e.Time
}

// json returns the tree with the run's node ended as the result says: the run
// is stored before its RunEnd, which tells whether that worked.
func (t *trace) json(now time.Time, status EventStatus, result Result) (json.RawMessage, error) {
	nodes := append([]TraceNode(nil), t.nodes...)
	if len(nodes) > 0 {
		nodes[0].Status, nodes[0].EndedAt, nodes[0].Usage, nodes[0].Error = status, now, &result.Usage, result.Error
	}
	return json.Marshal(nodes)
}
