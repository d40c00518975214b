package react

import (
	"bytes"
	"regexp"
	"strings"
)

// say adds to the answer.
func (p *Parser) say(b []byte) {
	p.answer = append(p.answer, b...)
	p.answers.held = append(p.answers.held, b...)
}

// probe accepts the beginnings of what may turn out to be an action in JSON.
var probe = regexp.MustCompile("^\\s*(?:`{0,2}|```[ \\t]*\\w*\\s*|(?:```[ \\t]*\\w*\\s*)?\\{\\s*[\"']?(?:a(?:c(?:t(?:i(?:o(?:n(?:_(?:i(?:n(?:p(?:u(?:t)?)?)?)?)?)?)?)?)?)?)?)?[\"']?\\s*)$")

// probeByte is behind Final Answer:, where some models go on in JSON.
func (p *Parser) probeByte(c byte) {
	p.line = append(p.line, c)
	switch {
	case len(p.line) <= maxOpener && probe.Match(p.line):
	case c == ':' && bareAction(p.line) >= 0:
		p.startCapture(answered, bareAction(p.line))
	default:
		held := append([]byte(nil), bytes.TrimLeft(p.line, " \t\r\n")...)
		fresh := bytes.ContainsRune(p.line[:len(p.line)-len(held)], '\n')
		p.line, p.mode, p.fresh = p.line[:0], inAnswer, fresh
		for _, c := range held {
			p.answerByte(c)
		}
	}
}

// answerByte passes the answer on. Only at the beginning of a line it waits for
// as long as a label of the scaffold may follow.
func (p *Parser) answerByte(c byte) {
	if !p.fresh {
		p.say([]byte{c})
		p.fresh = c == '\n'
		return
	}
	p.line = append(p.line, c)
	switch p.scaffold(p.line) {
	case perhaps:
	case never:
		p.release()
	case always:
		p.stop(len(p.line))
	case again:
		p.line, p.mode = p.line[:0], atAnswer
	}
}

// release passes on the first line that was held, and looks at the rest again.
func (p *Parser) release() {
	held := append([]byte(nil), p.line...)
	p.line = p.line[:0]
	first, rest := held, []byte(nil)
	if i := bytes.IndexByte(held, '\n'); i >= 0 {
		first, rest = held[:i+1], held[i+1:]
	}
	p.say(first)
	p.fresh = bytes.HasSuffix(first, []byte("\n"))
	for _, c := range rest {
		p.answerByte(c)
	}
}

type verdict int

const (
	never   verdict = iota // part of the answer
	perhaps                // more has to be seen
	always                 // the answer has ended before it
	again                  // "Final Answer:" once more
)

// behindWords is what may stand between a label's words and its colon.
var behindWords = regexp.MustCompile(`^(?: \d{0,3})?[ *_]*`)

// scaffold says whether a line of the answer is one of the scaffold. An answer
// may well speak of actions: "Action:" counts only with a tool behind it.
func (p *Parser) scaffold(line []byte) verdict {
	s := strings.TrimLeft(string(line), " \t>#*_`")
	if strings.HasSuffix(string(line), "\n") && strings.TrimSpace(s) == "" && !p.closes(line) {
		return never
	}
	if p.closes(line) {
		return perhaps
	}
	if v := blobFollows(line); v != never {
		return v
	}
	if s == "" {
		if len(line) > 16 {
			return never
		}
		return perhaps
	}
	for _, l := range labels {
		if l.words == "Answer" {
			continue
		}
		if strings.HasPrefix(l.words, s) {
			return perhaps
		}
		rest, ok := strings.CutPrefix(s, l.words)
		if !ok {
			continue
		}
		rest = rest[len(behindWords.FindString(rest)):]
		if rest == "" || rest != wideColon && strings.HasPrefix(wideColon, rest) {
			return perhaps
		}
		after, colon := strings.CutPrefix(rest, ":")
		if !colon {
			if after, colon = strings.CutPrefix(rest, wideColon); !colon {
				continue
			}
		}
		switch l.kind {
		case answerLabel:
			return again
		case actionLabel:
			return actionFollows(after)
		}
		return always
	}
	return never
}

// blobKey is an object whose first key is "action", and inputKey its other.
var (
	blobKey  = regexp.MustCompile("^\\s*(?:```[ \\t]*\\w*\\s*)?\\{\\s*[\"']?action(?:_input)?[\"']?\\s*:")
	inputKey = regexp.MustCompile("[\"']action_input[\"']\\s*:")
)

// blobFollows says whether a line of the answer begins an action in JSON.
func blobFollows(line []byte) verdict {
	const most = 2 * maxOpener
	switch {
	case len(line) > most:
		return never
	case blobKey.Match(line):
		if inputKey.Match(line) {
			return always
		}
		return perhaps
	case bytes.ContainsAny(line, "`{") && probe.Match(line):
		return perhaps
	}
	return never
}

// closes says whether a line may be the end of the fence around the reply.
func (p *Parser) closes(line []byte) bool {
	t := bytes.TrimSpace(line)
	return p.fenced && len(t) > 0 && len(t) <= 3 && len(bytes.Trim(t, "`")) == 0
}

// actionFollows says whether what stands behind "Action:" in an answer is one.
func actionFollows(after string) verdict {
	name, behind, whole := strings.Cut(after, "\n")
	name, behind = strings.TrimSpace(name), strings.TrimLeft(behind, " \t\r\n>#*_")
	switch {
	case strings.HasPrefix(name, "{"), strings.HasPrefix(name, "```"), name == "" && (strings.HasPrefix(behind, "{") || strings.HasPrefix(behind, "```")):
		return always
	case !whole && len(name) <= maxName, whole && strings.Trim(behind, "`") == "" && len(after) <= 2*maxName:
		return perhaps
	}
	for _, l := range labels {
		if l.kind != inputLabel {
			continue
		}
		if strings.HasPrefix(behind, l.words) {
			return always
		}
		if whole && strings.HasPrefix(l.words, behind) {
			return perhaps
		}
	}
	return never
}

// closeAnswer lets go what is held, unless it is the fence around the reply or
// a label without its colon.
func (p *Parser) closeAnswer() {
	held := strings.Trim(string(p.line), " \t\r\n>#*_")
	if p.closes(p.line) {
		return
	}
	for _, l := range labels {
		if held == l.words {
			return
		}
	}
	p.say(p.line)
}
