package builtin

import (
	"context"
	"fmt"
	"strings"

	"ragagent/agent/tool"
)

// maxListed is how many documents one call of list_documents shows.
const maxListed = 50

type listArgs struct {
	Name string `json:"name,omitempty" jsonschema:"only documents whose name or title has this in it"`
	Skip int    `json:"skip,omitempty" jsonschema:"how many to pass over, to see the next ones"`
}

func newList(s shelf) (tool.Tool, error) {
	spec := tool.Spec{
		Name:        "list_documents",
		Description: fmt.Sprintf("Lists documents that can be read, at most %d at a time, with their ids.", maxListed),
	}
	return tool.NewFunc(spec, func(ctx context.Context, a listArgs) (tool.Result, error) { return s.list(ctx, a) })
}

func (s shelf) list(ctx context.Context, a listArgs) (tool.Result, error) {
	part, skip, shown, more := strings.ToLower(a.Name), max(a.Skip, 0), 0, false
	var b strings.Builder
	err := s.each(ctx, func(h holding) bool {
		if part != "" && !strings.Contains(strings.ToLower(h.Name+"\n"+h.Title), part) {
			return true
		}
		if skip > 0 {
			skip--
			return true
		}
		if more = shown == maxListed; more {
			return false
		}
		shown++
		b.WriteString(h.line())
		return true
	})
	switch {
	case err != nil:
		return tool.Result{}, err
	case shown == 0:
		return tool.Text("No document fits."), nil
	case more:
		fmt.Fprintf(&b, "There are more: call again with skip %d.\n", max(a.Skip, 0)+shown)
	}
	return tool.Text(b.String()), nil
}

// line describes a document on one line.
func (h holding) line() string {
	line := fmt.Sprintf("- %s %s (%s, %d bytes of text", h.ID, inLine(h.Name), inLine(h.kb), h.TextBytes)
	if h.Pages > 0 {
		line += fmt.Sprintf(", %d pages", h.Pages)
	}
	if h.Title != "" && h.Title != h.Name {
		line += ", " + inLine(h.Title)
	}
	return line + ")\n"
}

// inLine keeps a name that a document gives itself on its line.
func inLine(name string) string {
	const most = 200
	name = strings.Join(strings.Fields(name), " ")
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}
