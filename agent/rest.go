package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"ragagent/agent/llm"
	"ragagent/agent/tool"
)

// readMore is the name of the tool that returns the rest of a result which was
// too long to be shown at once. It is offered from the first such result on.
const readMore = "read_more"

// maxRest bounds what is kept of results for read_more, in bytes over a run.
const maxRest = 4 << 20

// rests are the ends of results that were cut, by the ids of their calls. What
// is kept shares its memory with the results.
type rests struct {
	mu    sync.Mutex // tools read while the run observes others
	texts map[string]string
	bytes int
}

func (s *rests) keep(callID, rest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	if room := maxRest - s.bytes; len(rest) > room {
		rest = strings.ToValidUTF8(rest[:room], "")
	}
	s.texts[callID] = rest
	s.bytes += len(rest)
}

func (s *rests) of(callID string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest, ok := s.texts[callID]
	return rest, ok
}

// keepRest remembers what was not shown of a call, and offers to show it.
func (r *run) keepRest(callID, rest string) {
	if rest == "" {
		return
	}
	if r.rests == nil {
		r.rests = &rests{}
		r.offerRest()
	}
	r.rests.keep(callID, rest)
}

// offerRest adds the tool, unless the caller has one of that name.
func (r *run) offerRest() {
	t := restReader{r.rests}
	tools, err := r.tools.With(t)
	if err != nil {
		return
	}
	r.tools = tools
	spec := t.Spec()
	r.state.Tools = append(r.state.Tools, llm.ToolSpec{Name: spec.Name, Description: spec.Description, Parameters: spec.Parameters})
}

// restReader is the tool read_more of one run.
type restReader struct{ rests *rests }

// Spec implements tool.Tool.
func (restReader) Spec() tool.Spec {
	return tool.Spec{
		Name:        readMore,
		Description: "Returns the next part of an earlier result that was cut.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"call":{"type":"string","description":"as the end of the cut result says"}},"required":["call"]}`),
		Idempotent:  true,
	}
}

// Call implements tool.Tool.
func (t restReader) Call(_ context.Context, args json.RawMessage) (tool.Result, error) {
	var in struct {
		Call string `json:"call"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Result{}, fmt.Errorf("decode the arguments of %s: %w", readMore, err)
	}
	rest, ok := t.rests.of(in.Call)
	if !ok {
		return tool.Result{}, fmt.Errorf("no result of a call %q was cut", in.Call)
	}
	return tool.Text(rest), nil
}
