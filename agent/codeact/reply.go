package codeact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Reply is a reply that was read to its end.
type Reply struct {
	Text string // before the code, or all there is
	Code string // the first block of code; "" for none
	Said string // the reply up to the end of the code
	Open bool   // the code has no end
}

// Parser reads one reply, piece by piece, for the first block of code: between
// <execute> tags, or in a fence that names a language of programs or none. The
// result does not depend on how the reply is cut into pieces. The zero value is
// ready to use, for one reply and one goroutine.
type Parser struct {
	// OnText is handed pieces of the text, and nothing of the code; may be nil.
	OnText func(string)

	mode   mode
	all    []byte
	text   []byte
	out    []byte // of text, not handed on yet
	held   []byte // may begin a block
	code   []byte
	lang   string
	fresh  bool // at the beginning of a line; negated, so that zero is true
	end    int  // of Said
	opened []byte
}

type mode int

const (
	inText  mode = iota
	inTags       // between <execute> and </execute>
	inFence      // in a fence of code
	inOther      // in a fence of something else
	inRest       // behind the code
)

const (
	openTag  = "<execute>"
	closeTag = "</execute>"
	fence    = "```"
)

// languages in which models are used to write code to be run.
var languages = []string{"js", "javascript", "ts", "typescript", "node", "py", "python", "code", "execute", "tool_code"}

// codeLike recognises code in a fence that names no language.
var codeLike = regexp.MustCompile(`[\w.]+\(.*\)|\b(?:const|let|var)\s+\w+\s*=`)

// Write takes the next piece of the reply.
func (p *Parser) Write(text string) {
	for i := range len(text) {
		p.all = append(p.all, text[i])
		p.take(text[i])
	}
	if len(p.out) > 0 && p.OnText != nil {
		p.OnText(string(p.out))
	}
	p.out = p.out[:0]
}

func (p *Parser) take(c byte) {
	switch p.mode {
	case inText, inOther:
		p.textByte(c)
	case inTags:
		p.code = append(p.code, c)
		if c == '>' && bytes.HasSuffix(p.code, []byte(closeTag)) {
			p.finish(len(p.code) - len(closeTag))
		}
	case inFence:
		p.code = append(p.code, c)
		if c == '`' && closes(p.code) {
			p.endFence()
		}
	case inRest:
	}
}

// closes says whether a block ends in a fence on a line of its own.
func closes(code []byte) bool {
	const most = 40 // of blanks around it
	tail := code[max(0, len(code)-most):]
	i := bytes.LastIndexByte(tail, '\n')
	return (i >= 0 || len(code) <= most) && string(bytes.TrimSpace(tail[i+1:])) == fence
}

func (p *Parser) textByte(c byte) {
	p.held = append(p.held, c)
	held := string(p.held)
	line := strings.TrimLeft(held, " \t")
	switch {
	case p.mode == inText && held == openTag:
		p.open(inTags, "")
	case p.mode == inText && strings.HasPrefix(openTag, held):
	case p.fresh: // within a line
		p.pass()
	case len(held) < 8 && strings.HasPrefix(fence, line):
	case strings.HasPrefix(line, fence) && c != '\n' && len(held) < 40:
	case strings.HasPrefix(line, fence) && c == '\n':
		p.startFence(strings.ToLower(strings.TrimSpace(strings.Trim(line, "` \t\r\n"))))
	default:
		p.pass()
	}
}

// pass lets go what was held, but for a last character that may begin a tag.
func (p *Parser) pass() {
	n := len(p.held)
	last := p.held[n-1]
	if n > 1 && last == '<' {
		p.say(p.held[:n-1])
		p.fresh = p.held[n-2] != '\n'
		p.held = append(p.held[:0], last)
		return
	}
	p.say(p.held)
	p.fresh = last != '\n'
	p.held = p.held[:0]
}

func (p *Parser) say(b []byte) {
	p.text = append(p.text, b...)
	p.out = append(p.out, b...)
}

func (p *Parser) open(m mode, lang string) {
	p.mode, p.lang = m, lang
	p.opened = append(p.opened[:0], p.held...)
	p.held = p.held[:0]
}

func (p *Parser) startFence(lang string) {
	switch {
	case p.mode == inOther: // its end
		p.mode = inText
		p.pass()
	case lang == "" || slices.Contains(languages, lang):
		p.open(inFence, lang)
	default:
		p.mode = inOther
		p.pass()
	}
}

// endFence takes the block for code, or, where it does not look like that, for
// a part of the text.
func (p *Parser) endFence() {
	body := p.code[:bytes.LastIndexByte(p.code, '\n')+1]
	if p.lang != "" || codeLike.Match(body) {
		p.finish(len(body))
		return
	}
	p.say(p.opened)
	p.say(p.code)
	p.code, p.mode, p.fresh = nil, inText, true
}

// finish ends the code, the first n bytes of what was read of it.
func (p *Parser) finish(n int) {
	p.code, p.mode, p.end = p.code[:n], inRest, len(p.all)
}

// Close ends the reply.
func (p *Parser) Close() Reply {
	r := Reply{Open: p.mode == inTags || p.mode == inFence}
	if p.mode == inFence && p.lang == "" && !codeLike.Match(p.code) {
		p.say(p.opened)
		p.say(p.code)
		p.code, p.mode, r.Open = nil, inText, false
	}
	if len(p.held) > 0 {
		p.say(p.held)
	}
	if p.mode != inRest {
		p.end = len(p.all)
	}
	if len(p.out) > 0 && p.OnText != nil {
		p.OnText(string(p.out))
	}
	r.Text = strings.TrimSpace(string(p.text))
	r.Code = unfence(strings.TrimSuffix(strings.TrimSpace(string(p.code)), "</"))
	r.Said = strings.TrimSpace(string(p.all[:p.end]))
	return r
}

// unfence takes code out of a fence within its tags.
func unfence(code string) string {
	if !strings.HasPrefix(code, fence) {
		return code
	}
	_, body, ok := strings.Cut(code, "\n")
	if !ok {
		return code
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), fence))
}
