// Package catalog holds agents that are declared in YAML: it checks them, keeps
// them in a folder, reads them again when they change, and makes agents and
// teams of them.
package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"ragagent/agent"
	"ragagent/agent/tool"
	"ragagent/store"
)

// Declaration is an agent as its YAML has it.
type Declaration struct {
	Name string `yaml:"name" json:"name"` // [a-zA-Z0-9_-], 1..64
	// Label for people, by language code.
	Label       map[string]string `yaml:"label" json:"label,omitempty"`
	Description string            `yaml:"description" json:"description"`
	Author      string            `yaml:"author" json:"author,omitempty"`
	Icon        string            `yaml:"icon" json:"icon,omitempty"`
	// Strategy is function_call, react or codeact; "" goes by the model.
	Strategy string `yaml:"strategy" json:"strategy,omitempty"`
	// Model is PROVIDER/NAME; "" is the server's.
	Model string `yaml:"model" json:"model,omitempty"`
	// Prompt may have {{variables}}; "" is the default one.
	Prompt    string            `yaml:"prompt" json:"prompt,omitempty"`
	Variables map[string]string `yaml:"variables" json:"variables,omitempty"`
	// Tools by name; nil offers all there are, an empty list none.
	Tools []string `yaml:"tools" json:"tools"`
	// KnowledgeBases are searched where the question names none.
	KnowledgeBases []string `yaml:"knowledge_bases" json:"knowledge_bases,omitempty"`
	TopK           int      `yaml:"top_k" json:"top_k,omitempty"`
	ScoreThreshold float64  `yaml:"score_threshold" json:"score_threshold,omitempty"`
	// Rerank false leaves the second stage of ranking out; nil is true.
	Rerank *bool  `yaml:"rerank" json:"rerank,omitempty"`
	Limits Limits `yaml:"limits" json:"limits"`
	// CanHandOffTo are agents of the catalog: with them it is a team.
	CanHandOffTo []string `yaml:"can_handoff_to" json:"can_handoff_to,omitempty"`
	// OutputSchema is a JSON Schema of the answer.
	OutputSchema map[string]any `yaml:"output_schema" json:"output_schema,omitempty"`
}

// Limits of a declared agent; 0 is the default of agent.Limits.
type Limits struct {
	MaxIterations    int `yaml:"max_iterations" json:"max_iterations,omitempty"`
	Tokens           int `yaml:"tokens" json:"tokens,omitempty"`
	HistoryTokens    int `yaml:"history_tokens" json:"history_tokens,omitempty"`
	ToolOutputTokens int `yaml:"tool_output_tokens" json:"tool_output_tokens,omitempty"`
}

// MaxSource bounds a declaration, in bytes.
const MaxSource = 64 << 10

// Error says what is wrong with a declaration, where, and what to do. It is
// store.ErrInvalid.
type Error struct {
	File   string
	Line   int // from 1; 0 where it is not known
	Field  string
	Reason string // with the remedy
}

func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
	}
	if e.Field != "" {
		where += ": " + e.Field
	}
	return where + ": " + e.Reason
}

// Unwrap makes it store.ErrInvalid.
func (e *Error) Unwrap() error { return store.ErrInvalid }

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Parse reads one declaration and checks all that can be checked without the
// others. tools and strategies are the names there are. Errors are *Error.
func Parse(file string, source []byte, tools, strategies []string) (Declaration, error) {
	var d Declaration
	if len(source) > MaxSource {
		return d, &Error{File: file, Reason: fmt.Sprintf("it has %d bytes, at most %d are allowed", len(source), MaxSource)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); err != nil {
		return d, syntax(file, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return d, &Error{File: file, Reason: "there is more than one document: write one agent in each file"}
	}
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return d, syntax(file, err)
	}
	if field, reason := d.check(tools, strategies); reason != "" {
		return d, &Error{File: file, Line: lineOf(&root, field), Field: field, Reason: reason}
	}
	return d, nil
}

var lineInError = regexp.MustCompile(`line (\d+): (.*)`)

// syntax tells a YAML error with its line.
func syntax(file string, err error) error {
	if errors.Is(err, io.EOF) {
		return &Error{File: file, Reason: "it is empty: write at least name and description"}
	}
	e := &Error{File: file, Reason: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := lineInError.FindStringSubmatch(err.Error()); m != nil {
		e.Line, _ = strconv.Atoi(m[1]) // digits
		e.Reason = strings.ReplaceAll(m[2], " in type catalog.Declaration", "")
	}
	if strings.Contains(e.Reason, "not found") {
		e.Reason += ": no agent has such a field, see GET /api/v1/agents for examples"
	}
	return e
}

// lineOf is the line of a field at the top, or of one within it ("a.b").
func lineOf(root *yaml.Node, field string) int {
	node, line := root, 0
	if len(root.Content) > 0 {
		node = root.Content[0]
	}
	for name := range strings.SplitSeq(field, ".") {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				line, node = node.Content[i].Line, node.Content[i+1]
				break
			}
		}
	}
	return line
}

// check returns the first field that is wrong, and why; "" if none is.
func (d *Declaration) check(tools, strategies []string) (field, reason string) {
	limits := d.Limits
	switch {
	case !namePattern.MatchString(d.Name):
		return "name", "it has to be 1 to 64 letters, digits, '_' or '-'"
	case strings.TrimSpace(d.Description) == "":
		return "description", "it is missing: say in a sentence what the agent is for"
	case d.Strategy != "" && !slices.Contains(strategies, d.Strategy):
		return "strategy", fmt.Sprintf("%q is not known: use %s, or leave it out", d.Strategy, strings.Join(strategies, ", "))
	case d.TopK < 0 || d.TopK > store.MaxTopK:
		return "top_k", fmt.Sprintf("it has to be 1 to %d", store.MaxTopK)
	case d.ScoreThreshold < 0 || d.ScoreThreshold > 1:
		return "score_threshold", "it has to be 0 to 1"
	case limits.MaxIterations < 0 || limits.MaxIterations > agent.MaxMaxIterations:
		return "limits.max_iterations", fmt.Sprintf("it has to be 1 to %d", agent.MaxMaxIterations)
	case limits.Tokens < 0:
		return "limits.tokens", "it may not be negative"
	case limits.HistoryTokens < 0:
		return "limits.history_tokens", "it may not be negative"
	case limits.ToolOutputTokens < 0:
		return "limits.tool_output_tokens", "it may not be negative"
	}
	for _, name := range d.Tools {
		if !slices.Contains(tools, name) {
			return "tools", fmt.Sprintf("there is no tool %q: the tools are %s", name, strings.Join(tools, ", "))
		}
	}
	if _, err := d.prompt(); err != nil {
		return "prompt", err.Error()
	}
	if _, err := d.Schema(); err != nil {
		return "output_schema", err.Error()
	}
	return "", ""
}

var variablePattern = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// prompt is the prompt with its variables. Their values are not read again.
func (d *Declaration) prompt() (string, error) {
	var missing error
	text := variablePattern.ReplaceAllStringFunc(d.Prompt, func(written string) string {
		name := variablePattern.FindStringSubmatch(written)[1]
		value, ok := d.Variables[name]
		if !ok && missing == nil {
			missing = fmt.Errorf("{{%s}} has no value: add it under variables", name)
		}
		return value
	})
	return text, missing
}

// Schema is OutputSchema as JSON; nil without one.
func (d *Declaration) Schema() (json.RawMessage, error) {
	if d.OutputSchema == nil {
		return nil, nil
	}
	raw, err := json.Marshal(d.OutputSchema)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON Schema: %w", err)
	}
	if _, err := tool.CompileSchema(raw); err != nil {
		return nil, err
	}
	return raw, nil
}
