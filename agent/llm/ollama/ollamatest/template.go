package ollamatest

import (
	"fmt"
	"strings"
)

// head renders the messages as ChatML and counts the tool results since the
// last user message, a dot each. %s stands for an assistant's thoughts. The
// server looks for {{ if .ToolCalls }} to learn how the model writes its calls.
const head = `{{- $user := "" }}{{ $results := "" }}
{{- if .System }}<|im_start|>system
{{ .System }}{{ range .Tools }}
{{ . }}{{ end }}<|im_end|>
{{ end }}
{{- range .Messages }}
{{- if eq .Role "user" }}{{ $user = .Content }}{{ $results = "" }}<|im_start|>user
{{ .Content }}<|im_end|>
{{ else if eq .Role "assistant" }}<|im_start|>assistant
%s{{ .Content }}{{ if .ToolCalls }}{{ range .ToolCalls }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}{{ end }}<|im_end|>
{{ else if eq .Role "tool" }}{{ $results = printf "%%s." $results }}<|im_start|>tool
{{ .Content }}<|im_end|>
{{ end }}{{ end }}<|im_start|>assistant
`

const thoughts = `{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}`

// chatTemplate ends the prompt with the token of the first rule that fits.
func chatTemplate(thinking bool, rules []Rule) string {
	shown := ""
	if thinking {
		shown = thoughts
	}
	var b strings.Builder
	fmt.Fprintf(&b, head, shown)
	for i, rule := range rules {
		keyword := "else if"
		if i == 0 {
			keyword = "if"
		}
		fmt.Fprintf(&b, "{{ %s %s }}<|rule%03d|>", keyword, condition(rule), i)
	}
	if len(rules) > 0 {
		b.WriteString("{{ end }}")
	}
	return b.String()
}

func condition(r Rule) string {
	terms := []string{"true"}
	if r.User != "" {
		terms = append(terms, fmt.Sprintf("(eq $user %q)", r.User))
	}
	if r.Results != Any {
		terms = append(terms, fmt.Sprintf("(eq $results %q)", strings.Repeat(".", r.Results)))
	}
	terms = append(terms, optional("$.Tools", r.Tools), optional("$.Think", r.Think))
	return "(and " + strings.Join(terms, " ") + ")"
}

func optional(field string, o Option) string {
	switch o {
	case Yes:
		return "(and " + field + " true)"
	case No:
		return "(not " + field + ")"
	}
	return "true"
}
