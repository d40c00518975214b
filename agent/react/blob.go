package react

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"ragagent/agent/tool"
)

// capture is a JSON object on its way in.
type capture struct {
	as     purpose
	before []byte // what stands in its line before it
	text   []byte
	depth  int
	quote  byte // of the string we are in; 0 outside
	escape bool
}

type purpose int

const (
	bare      purpose = iota // stands in a text by itself: an action if it looks like one
	labelled                 // behind Action:
	arguments                // the input of an action
	answered                 // behind Final Answer:
)

// bareKey is the first key of an object that may be an action, up to its colon.
var bareKey = regexp.MustCompile("^\\s*(?:```[ \\t]*\\w*\\s*)?(?:\\[\\s*)?(\\{)\\s*[\"']?(?:thought|reasoning|action|action_name|action_input|tool|tool_name|tool_input|name|function)[\"']?\\s*[:：]+$")

// bareAction returns where an object begins whose first key, up to the colon at
// the end of the line, is one of an action; -1 if none does.
func bareAction(line []byte) int {
	if len(line) > maxOpener {
		return -1
	}
	if m := bareKey.FindSubmatchIndex(line); m != nil {
		return m[2]
	}
	return -1
}

// startCapture captures the object that begins at line[at].
func (p *Parser) startCapture(as purpose, at int) {
	p.capture = capture{as: as, before: append([]byte(nil), p.line[:at]...)}
	rest := append([]byte(nil), p.line[at:]...)
	p.line, p.mode = p.line[:0], inJSON
	for _, c := range rest {
		p.jsonByte(c)
	}
}

func (p *Parser) jsonByte(c byte) {
	j := &p.capture
	j.text = append(j.text, c)
	switch {
	case j.quote != 0:
		switch {
		case j.escape:
			j.escape = false
		case c == '\\':
			j.escape = true
		case c == j.quote:
			j.quote = 0
		}
	case c == '"' || c == '\'':
		j.quote = c
	case c == '{' || c == '[':
		j.depth++
	case c == '}' || c == ']':
		if j.depth--; j.depth == 0 {
			p.captured()
		}
	case c == ':' && len(j.text) > 1:
		if l, ok := p.label(j.text); ok { // it was never closed
			p.closeCapture()
			p.stop(l.width)
		}
	}
}

// captured makes of a whole object what it is.
func (p *Parser) captured() {
	j := p.capture
	if j.as == arguments {
		p.input = string(j.text)
		p.closeAction()
		p.stop(0)
		return
	}
	name, input, err := readAction(string(j.text))
	switch {
	case err == nil && name != "" && (input != nil || j.as == labelled):
		p.endPrelude()
		p.perform(name, input)
		p.stop(0)
	case j.as == labelled:
		p.problem = `Your Action is not JSON of the form {"action": the name of a tool, "action_input": its arguments}. Write it again.`
		p.stop(0)
	case j.as == answered:
		p.mode, p.fresh = inAnswer, false
		p.say(append(j.before, j.text...))
	default: // a text that holds JSON
		p.mode = inPrelude
		if p.labelled {
			p.mode = inThought
		}
		p.line = append(append(p.line[:0], j.before...), j.text...)
	}
}

// perform takes the action of a blob.
func (p *Parser) perform(name string, input any) {
	p.name = name
	text, isText := input.(string)
	switch {
	case finalAnswer(name) && isText:
		p.say([]byte(text))
	case finalAnswer(name) && input != nil:
		p.say(encode(input))
	case input == nil:
		p.closeAction()
	default:
		p.input = string(encode(input))
		p.closeAction()
	}
}

// encode writes a value that was read from JSON.
func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil { // strings, json.Number, lists and maps always encode
		return nil
	}
	return out
}

var (
	nameKeys  = []string{"action", "action_name", "tool", "tool_name", "name", "function"}
	inputKeys = []string{"action_input", "tool_input", "input", "arguments", "args", "parameters"}
)

// readAction reads {"action": name, "action_input": input}, or a list of such,
// of which the first counts. input is nil where there is none.
func readAction(text string) (name string, input any, err error) {
	v, err := tool.DecodeLenient(text)
	if err != nil {
		return "", nil, err
	}
	object, _ := v.(map[string]any)
	for _, k := range nameKeys {
		if s, ok := object[k].(string); ok && name == "" {
			name = strings.TrimSpace(s)
		}
	}
	if i := slices.IndexFunc(inputKeys, func(k string) bool { _, ok := object[k]; return ok }); i >= 0 {
		if input = object[inputKeys[i]]; input == nil {
			input = map[string]any{}
		}
	}
	return name, input, nil
}

// closeCapture ends a reply within an object.
func (p *Parser) closeCapture() {
	j := p.capture
	switch {
	case j.as == arguments: // the tool says what is wrong with it
		p.input = string(j.text)
		p.closeAction()
	case j.as == labelled || strings.Contains(string(j.text), "action"):
		p.problem = "Your action's JSON is cut off. Write it again, whole and shorter."
	case j.as == answered:
		p.say(append(j.before, j.text...))
	default:
		p.line = append(append([]byte(nil), j.before...), j.text...)
		p.closePrelude()
	}
}
