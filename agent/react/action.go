package react

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

func (p *Parser) nameByte(c byte) {
	p.line = append(p.line, c)
	switch {
	case c == '{':
		before := p.line[:len(p.line)-1]
		if opener.Match(before) {
			p.startCapture(labelled, len(before))
		} else if m := callOpener.FindSubmatch(before); m != nil {
			p.name = string(m[1])
			p.startCapture(arguments, len(before))
		}
	case c == '\n':
		if blank(p.line) {
			p.line = p.line[:0]
		} else {
			p.setName(p.line)
			p.line = p.line[:0]
			p.named()
		}
	case endsInColon(p.line):
		if l, ok := p.label(p.line); ok {
			p.setName(p.line[:l.start])
			p.next(l)
		}
	}
}

// named goes on behind the line with the name.
func (p *Parser) named() {
	switch {
	case noAction(p.name):
		p.name, p.mode, p.idle = "", inThought, true
	case p.input != "" && finalAnswer(p.name):
		p.say([]byte(p.input))
		p.stop(0)
	default: // what stood in brackets may still be followed by an Action Input
		p.mode = beforeInput
	}
}

// next takes up a label behind the name of an action.
func (p *Parser) next(l label) {
	if noAction(p.name) {
		p.name, p.idle = "", true
	}
	switch {
	case l.kind == inputLabel && finalAnswer(p.name):
		l.kind = answerLabel
	case l.kind == inputLabel, finalAnswer(p.name), p.name == "":
	default: // the action takes no input
		p.closeAction()
		p.stop(l.width)
		return
	}
	p.follow(l)
}

// gapByte is between the name and its input, where only the input is expected.
func (p *Parser) gapByte(c byte) {
	p.line = append(p.line, c)
	switch {
	case c == '{' && opener.Match(p.line[:len(p.line)-1]):
		p.startCapture(arguments, len(p.line)-1)
	case c == '\n':
		if !fenceOnly.Match(p.line) {
			p.line = p.line[:0]
		}
	case endsInColon(p.line):
		if l, ok := p.label(p.line); ok {
			p.next(l)
		}
	}
}

func (p *Parser) inputByte(c byte) {
	p.line = append(p.line, c)
	switch {
	case c == '{' && blank(p.line[:len(p.line)-1]):
		p.startCapture(arguments, len(p.line)-1)
	case endsInColon(p.line):
		if l, ok := p.label(p.line); ok {
			p.setInput(string(p.line[:l.start]))
			p.closeAction()
			p.stop(l.width)
		}
	}
}

var (
	// callOpener is a name with the beginning of its arguments: search({
	callOpener = regexp.MustCompile("^[\\s*`\"']*([\\w.-]+)[\\s*`\"':]*\\(?\\s*$")
	// inlineCall has its arguments in brackets: Search[tides], search("tides").
	inlineCall = regexp.MustCompile(`(?s)^([\w.-]+)\s*[\[(](.*)[\])]$`)
	// keywords begins arguments as code writes them: query="tides", top_k=3
	keywords = regexp.MustCompile(`^\s*[A-Za-z_]\w*\s*=`)
	assign   = regexp.MustCompile(`("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|=`)
)

// setName reads the rest of a line behind Action: as the name of a tool.
func (p *Parser) setName(raw []byte) {
	name := strings.Trim(string(bytes.TrimSpace(raw)), "*`\"' \t\n.,;")
	name = strings.TrimPrefix(name, "json\n")
	if inner := strings.Trim(name, "[]<>"); len(inner) == len(name)-2 {
		name = inner
	}
	if m := inlineCall.FindStringSubmatch(name); m != nil {
		name, p.input = m[1], strings.TrimSpace(m[2])
		if keywords.MatchString(p.input) {
			p.input = "{" + assign.ReplaceAllStringFunc(p.input, colons) + "}"
		}
	}
	p.name = strings.TrimSpace(name)
}

// colons turns an equals sign outside of strings into a colon.
func colons(s string) string {
	if s == "=" {
		return ":"
	}
	return s
}

// setInput takes plain text as the input, out of its fence.
func (p *Parser) setInput(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if strings.HasPrefix(text, "```") {
		if _, body, ok := strings.Cut(text, "\n"); ok {
			text = strings.TrimSuffix(strings.TrimSpace(body), "```")
		}
	}
	p.input = text
}

// closeAction makes an action of the name and the input.
func (p *Parser) closeAction() {
	switch {
	case p.name == "" && p.input != "":
		p.problem = `Your reply has an Action Input, but no Action. Write "Action:" with the name of a tool before it.`
	case p.name == "", noAction(p.name):
		p.problem = "Your Action names no tool. " + howToGoOn
	case finalAnswer(p.name) && p.input != "":
		p.say([]byte(p.input))
	case finalAnswer(p.name):
		p.problem = `Your reply announces a final answer without giving it. Write it behind "Final Answer:".`
	case len(p.name) > maxName || strings.Contains(p.name, "\n"):
		p.problem = fmt.Sprintf("Your Action has to be the name of one tool, not %.60q. ", p.name) + howToGoOn
	default:
		p.acted = true
	}
}

// maxName is more than any tool's name has, in bytes.
const maxName = 200

// finalAnswer says whether a name stands for having finished.
func finalAnswer(name string) bool {
	switch strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name)) {
	case "finalanswer", "finish":
		return true
	}
	return false
}

// noAction says whether a name says that there is nothing to do.
func noAction(name string) bool {
	switch strings.ToLower(name) {
	case "none", "n/a", "no action", "null", "no tool", "nothing", "none needed", "no action needed":
		return true
	}
	return false
}
