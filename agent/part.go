package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"ragagent/agent/tool"
)

// body is what a tool says itself, beside its passages: its text and its parts,
// and its data where there is nothing else. JSON that is worth more than most
// tokens is laid out in lines, so that it can be cut between its elements; 0 is
// for any length.
func body(result tool.Result, most int) string {
	var lines []string
	if result.Text != "" {
		lines = append(lines, result.Text)
	}
	for _, p := range result.Parts {
		lines = append(lines, inLine(p, most))
	}
	if len(lines) == 0 && len(result.Passages) == 0 && result.Note == "" && len(result.Data) > 0 {
		lines = append(lines, compact(result.Data, most))
	}
	return strings.Join(lines, "\n")
}

// inLine shows a part to the model.
func inLine(p tool.Part, most int) string {
	name := oneLine(p.Name)
	if name == "" {
		name = "without a name"
	}
	switch p.Kind {
	case tool.JSONPart:
		return compact(p.JSON, most)
	case tool.LinkPart:
		return fmt.Sprintf("Link: %s (%s). The user is given it.", name, oneLine(p.URL))
	case tool.ImagePart:
		return fmt.Sprintf("Image: %s (%s). The user sees it: there is no need to draw or describe it.", name, about(p))
	case tool.FilePart:
		return fmt.Sprintf("File: %s (%s). The user is given it.", name, about(p))
	}
	return p.Text
}

// about says what is known of an image or a file.
func about(p tool.Part) string {
	var known []string
	if p.MIME != "" {
		known = append(known, oneLine(p.MIME))
	}
	if len(p.Bytes) > 0 {
		known = append(known, fmt.Sprintf("%d bytes", len(p.Bytes)))
	}
	if p.URL != "" {
		known = append(known, oneLine(p.URL))
	}
	if len(known) == 0 {
		return "of an unknown kind"
	}
	return strings.Join(known, ", ")
}

// compact writes JSON without blanks, or, where that is too long, with each
// element of a list and each member of an object on a line of its own.
func compact(raw json.RawMessage, most int) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	if most <= 0 || estimateTokens(out.String()) <= most {
		return out.String()
	}
	return inLines(out.Bytes())
}

// inLines breaks compact JSON behind the commas of its two outer levels.
func inLines(raw []byte) string {
	const deepest = 2
	var b strings.Builder
	depth, quoted, escaped := 0, false, false
	for _, c := range raw {
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth <= deepest:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// maxAttached bounds the bytes of all images and files of a run.
const maxAttached = 8 << 20

// attach keeps what a result has for the user.
func (r *run) attach(parts []tool.Part) {
	room := maxAttached
	for _, p := range r.attached {
		room -= len(p.Bytes)
	}
	for _, p := range parts {
		switch {
		case p.Kind != tool.LinkPart && p.Kind != tool.ImagePart && p.Kind != tool.FilePart:
		case len(p.Bytes) > room:
			r.degrade("files of tools were left out for want of room")
		default:
			room -= len(p.Bytes)
			r.attached = append(r.attached, p)
		}
	}
}
