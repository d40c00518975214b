package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ragagent/agent"
	"ragagent/agent/catalog"
	"ragagent/agent/llm/llmtest"
	"ragagent/store"
)

var tools = []string{"dataset_retriever", "read_document", "find_in_document", "list_documents", "calculator", "current_time"}

func open(t *testing.T, folder string, replies ...llmtest.Reply) (*catalog.Catalog, *llmtest.Model) {
	t.Helper()
	model := llmtest.New(replies...)
	c, err := catalog.New(catalog.Config{Folder: folder, Base: agent.Config{Model: model}, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return c, model
}

func names(t *testing.T, c *catalog.Catalog) string {
	t.Helper()
	all, err := c.Entries()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		if e.Problem != "" {
			e.Name += "!"
		}
		out = append(out, e.Name)
	}
	return strings.Join(out, " ")
}

// TestDefaults: those that come with the server can all be opened, and the team
// is one.
func TestDefaults(t *testing.T) {
	c, _ := open(t, "", llmtest.Call(agent.HandOff, `{"to_agent":"writer"}`), llmtest.Text("Written."))
	if got := names(t, c); got != "rag research researcher team writer" {
		t.Errorf("there are %s", got)
	}
	for _, name := range []string{"rag", "research", "researcher", "writer"} {
		if _, _, err := c.Open(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	team, _, err := c.Open("team")
	if err != nil {
		t.Fatal(err)
	}
	result, err := agent.Collect(team.Run(t.Context(), agent.Input{Question: "Why?"}))
	if err != nil || result.Answer != "Written." || result.TotalSteps != 2 {
		t.Errorf("%q in %d steps, %v", result.Answer, result.TotalSteps, err)
	}
	if _, _, err := c.Open("nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
}

// TestErrorsSayWhere: file, line, field and remedy.
func TestErrorsSayWhere(t *testing.T) {
	for source, want := range map[string]string{
		"name: a\ndescription: x\nstrategy: magic\n":                             `a.yaml:3: strategy: "magic" is not known: use react, or leave it out`,
		"name: a\ndescription: x\nlimits:\n  tokens: 1\n  max_iterations: 100\n": "a.yaml:5: limits.max_iterations: it has to be 1 to 99",
		"name: a\n":                   "a.yaml: description: it is missing: say in a sentence what the agent is for",
		"name: a b\ndescription: x\n": "a.yaml:1: name: it has to be 1 to 64 letters, digits, '_' or '-'",
		"name: a\ndescription: x\ntools: [calculator, rm]\n":       `a.yaml:3: tools: there is no tool "rm": the tools are ` + strings.Join(tools, ", "),
		"name: a\ndescription: x\nprompt: Hello {{ who }}\n":       "a.yaml:3: prompt: {{who}} has no value: add it under variables",
		"name: a\ndescription: x\ncolour: red\n":                   "a.yaml:3: field colour not found: no agent has such a field, see GET /api/v1/agents for examples",
		"name: a\ndescription: x\ntop_k: many\n":                   "a.yaml:3: cannot unmarshal !!str `many` into int",
		"name: a\ndescription: x\noutput_schema: {type: string}\n": `a.yaml:3: output_schema: the schema has to be of "type": "object"`,
		"":                                 "a.yaml: it is empty: write at least name and description",
		"name: a\ndescription: x\n---\n{}": "a.yaml: there is more than one document: write one agent in each file",
	} {
		_, err := catalog.Parse("a.yaml", []byte(source), tools, []string{"react"})
		if err == nil || err.Error() != want || !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q:\n got %v\nwant %s", source, err, want)
		}
	}
}

// TestFilesAreReadAgain: a file that changes is used at once; one that breaks
// leaves the agent as it was, and says so; one that goes takes its agent along.
func TestFilesAreReadAgain(t *testing.T) {
	folder := t.TempDir()
	c, model := open(t, folder, llmtest.Text("Hello."))
	file := filepath.Join(folder, "mine.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	prompted := func() string {
		t.Helper()
		a, _, err := c.Open("mine")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Collect(a.Run(t.Context(), agent.Input{Question: "Hi?"})); err != nil {
			t.Fatal(err)
		}
		all := model.Requests()
		return all[len(all)-1].Messages[0].Content
	}
	write("name: mine\ndescription: x\nprompt: Speak as {{who}}.\nvariables: {who: Ada}\n")
	if got := prompted(); got != "Speak as Ada." {
		t.Errorf("prompted with %q", got)
	}
	write("name: mine\ndescription: x\nprompt: Speak as {{who}}, please.\nvariables: {who: '{{who}}'}\n")
	if got := prompted(); got != "Speak as {{who}}, please." {
		t.Errorf("prompted with %q", got)
	}
	write("name: mine\nprompt: broken\n")
	if got := prompted(); got != "Speak as {{who}}, please." {
		t.Errorf("a broken file changed the prompt to %q", got)
	}
	if got := names(t, c); !strings.Contains(got, "mine!") {
		t.Errorf("the problem is not told: %s", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := names(t, c); strings.Contains(got, "mine") {
		t.Errorf("a file that is gone: %s", got)
	}
}

func TestPutAndDelete(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "agents")
	c, _ := open(t, folder, llmtest.Text("x"))
	put := func(name, source string) error { _, _, err := c.Put(name, []byte(source)); return err }
	if err := put("rag", "name: rag\ndescription: mine\n"); err != nil {
		t.Fatal(err)
	}
	again, _ := open(t, folder, llmtest.Text("x"))
	_, d, err := again.Open("rag")
	if err != nil || d.Description != "mine" {
		t.Errorf("after a restart: %+v, %v", d, err)
	}
	for source, name := range map[string]string{
		"name: other\ndescription: x\n":                         "rag",
		"name: b\ndescription: x\ncan_handoff_to: [stranger]\n": "b",
		"name: ../c\ndescription: x\n":                          "../c",
		"name: d\ndescription: x\nmodel: ollama/unknown\n":      "d",
		strings.Repeat("#", catalog.MaxSource) + "\nname: e\n":  "e",
	} {
		if err := put(name, source); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q as %s: %v", source[:10], name, err)
		}
	}
	if got := names(t, c); got != "rag research researcher team writer" {
		t.Errorf("after failures there are %s", got)
	}
	if err := c.Delete("rag"); err != nil {
		t.Fatal(err)
	}
	all, err := c.Entries()
	if err != nil || !slices.ContainsFunc(all, func(e catalog.Entry) bool { return e.Name == "rag" && e.Default }) {
		t.Errorf("the default is not back: %v", err)
	}
	if err := c.Delete("rag"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("delete a default: %v", err)
	}
	if err := c.Delete("nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("delete nobody: %v", err)
	}
}
