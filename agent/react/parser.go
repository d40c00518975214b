// Package react reads replies in which a model writes down what it wants done:
//
//	Thought: I have to look that up.
//	Action: dataset_retriever
//	Action Input: {"query": "tides"}
//
// or "Final Answer: ...", and the dialects of it that models are trained on.
// After Yao et al., ReAct: Synergizing Reasoning and Acting in Language Models
// (2022).
package react

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Reply is a reply that was read to its end. One of Answer, Action and Problem
// is set, none for a reply without a word.
type Reply struct {
	// Thought is what the model wrote before it came to its point.
	Thought string
	// Answer is the final answer, or the whole of a reply without any label.
	Answer string
	// Action is the name of a tool, as written.
	Action string
	// Input are its arguments as written: JSON or plain text; may be empty.
	Input string
	// Problem says why the reply is neither, in words for the model.
	Problem string
	// Said is the reply up to the end of its action, for the transcript: what a
	// model imagines after that never happened.
	Said string
}

// Parser reads one reply, piece by piece. What it makes of the reply, and the
// concatenation of what it hands on, do not depend on how the reply is cut into
// pieces. The first action counts, what follows it is ignored. The zero value
// is ready to use, for one reply and one goroutine.
type Parser struct {
	// OnThought and OnAnswer are handed pieces of the thought and the answer as
	// soon as they are known to be that; either may be nil. Labels, fences and
	// the JSON of an action are never among them.
	OnThought, OnAnswer func(string)

	mode     mode
	all      []byte // the reply
	end      int    // of Said in all, once mode is done
	line     []byte // what is not decided yet
	skip     int    // asterisks that still belong to the label before
	labelled bool   // a Thought was announced
	fenced   bool   // all of the reply stands in a code fence

	prelude []byte // text before any label
	thought []byte
	answer  []byte
	name    string
	input   string
	problem string
	acted   bool // name and input are an action
	idle    bool // an Action said that there is nothing to do
	capture capture
	fresh   bool // the answer is at the beginning of a line

	thoughts, answers outlet
}

type mode int

const (
	inPrelude   mode = iota // before any label
	inThought               // behind Thought:
	inName                  // behind Action:
	beforeInput             // behind the name of an action
	inInput                 // behind Action Input:
	inJSON                  // in an object that is being captured
	atAnswer                // behind Final Answer:, where JSON may still follow
	inAnswer                // in the answer
	inNothing               // behind the first action: nothing counts any more
)

// outlet hands on text in whole characters.
type outlet struct{ held []byte }

func (o *outlet) flush(to func(string), all bool) {
	n := len(o.held)
	for i := 1; !all && i < utf8.UTFMax && i <= n; i++ {
		if b := o.held[n-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(o.held[n-i:]) {
				n -= i
			}
			break
		}
	}
	if n > 0 && to != nil {
		to(string(o.held[:n]))
	}
	o.held = append(o.held[:0], o.held[n:]...)
}

// Write takes the next piece of the reply.
func (p *Parser) Write(text string) {
	for i := range len(text) {
		p.feed(text[i])
	}
	p.thoughts.flush(p.OnThought, false)
	p.answers.flush(p.OnAnswer, false)
}

func (p *Parser) feed(c byte) {
	p.all = append(p.all, c)
	if c == '>' && len(p.answer) == 0 && bytes.HasSuffix(p.all, endOfThinking) {
		p.restart()
		return
	}
	p.take(c)
}

var endOfThinking = []byte("</think>")

// restart takes what was said so far for the reasoning of a model whose prompt
// held the opening tag.
func (p *Parser) restart() {
	fresh := Parser{OnThought: p.OnThought, OnAnswer: p.OnAnswer, thought: p.thought, thoughts: p.thoughts}
	switch {
	case len(bytes.TrimSpace(p.thought)) == 0:
		fresh.think(p.all[:len(p.all)-len(endOfThinking)])
	case p.mode == inPrelude || p.mode == inThought: // the rest has been handed on
		fresh.think(p.prelude)
		fresh.think(bytes.TrimSuffix(p.line, endOfThinking[:len(endOfThinking)-1]))
	}
	fresh.think([]byte("\n"))
	*p = fresh
}

func (p *Parser) take(c byte) {
	if p.skip > 0 {
		if p.skip--; c == '*' || c == '_' {
			return
		}
		p.skip = 0
	}
	switch p.mode {
	case inPrelude, inThought:
		p.textByte(c)
	case inName:
		p.nameByte(c)
	case beforeInput:
		p.gapByte(c)
	case inInput:
		p.inputByte(c)
	case inJSON:
		p.jsonByte(c)
	case atAnswer:
		p.probeByte(c)
	case inAnswer:
		p.answerByte(c)
	case inNothing:
	}
}

// opener is a line that may begin an action in JSON: a fence, a bracket or both.
var opener = regexp.MustCompile("^\\s*(?:```[ \\t]*\\w*\\s*)?(?:\\[\\s*)?(?:\\{\\s*)?$")

// fenceOnly is a line that opens or closes a code block.
var fenceOnly = regexp.MustCompile("^\\s*```[ \\t]*\\w*\\s*$")

// maxOpener bounds what is held back at the beginning of a line, in bytes.
const maxOpener = 200

func (p *Parser) textByte(c byte) {
	p.line = append(p.line, c)
	switch {
	case c == '\n':
		if len(p.line) > maxOpener || !opener.Match(p.line) {
			p.text(p.line)
			p.line = p.line[:0]
		}
	case endsInColon(p.line):
		if l, ok := p.label(p.line); ok {
			p.enter(l)
		} else if at := bareAction(p.line); at >= 0 {
			p.startCapture(bare, at)
		}
	}
}

// text adds to the prelude or the thought.
func (p *Parser) text(b []byte) {
	if p.mode == inPrelude {
		p.prelude = append(p.prelude, b...)
	} else {
		p.think(b)
	}
}

func (p *Parser) think(b []byte) {
	p.thought = append(p.thought, b...)
	p.thoughts.held = append(p.thoughts.held, b...)
}

// enter goes on behind a label that stands at the end of the line.
func (p *Parser) enter(l label) {
	before := p.line[:l.start]
	if p.mode == inPrelude {
		p.prelude = append(p.prelude, before...)
		p.endPrelude()
	} else if !blank(before) {
		p.think(before)
	}
	p.follow(l)
}

// endPrelude makes a thought of the prelude: there is more than an answer.
func (p *Parser) endPrelude() {
	if fenceOnly.Match(p.prelude) {
		p.fenced = true
	} else if !blank(p.prelude) && string(bytes.TrimSpace(p.prelude)) != "<tool_call>" {
		p.think(p.prelude)
	}
	p.prelude = nil
}

// follow takes up what the label announces.
func (p *Parser) follow(l label) {
	p.line, p.skip = p.line[:0], l.stars
	switch l.kind {
	case thoughtLabel:
		if len(p.thought) > 0 {
			p.think([]byte("\n"))
		}
		p.mode, p.labelled = inThought, true
	case actionLabel:
		p.mode = inName
	case inputLabel:
		if p.mode = inInput; p.idle { // of no action
			p.mode = inThought
		}
	case answerLabel:
		p.mode = atAnswer
	case observationLabel:
		p.stop(l.width)
		p.problem = "Observations are written by the server, after an Action. " + howToGoOn
	}
}

// stop ends what counts; back is how many of the bytes already read do not.
func (p *Parser) stop(back int) {
	p.mode, p.end = inNothing, len(p.all)-back
	p.line = p.line[:0]
}

const howToGoOn = `Go on with "Action:" and "Action Input:" to use a tool, or with "Final Answer:" to answer.`

// Close ends the reply.
func (p *Parser) Close() Reply {
	switch p.mode {
	case inPrelude:
		p.closePrelude()
	case inThought:
		p.think(p.line)
		p.problem = "Your reply has a Thought, but neither an Action nor a Final Answer. " + howToGoOn
	case inName:
		p.setName(p.line)
		p.closeAction()
	case beforeInput:
		p.closeAction()
	case inInput:
		p.setInput(string(p.line))
		p.closeAction()
	case inJSON:
		p.closeCapture()
	case atAnswer:
		p.say(p.line)
	case inAnswer:
		p.closeAnswer()
	}
	if p.mode != inNothing {
		p.end = len(p.all)
	}
	p.thoughts.flush(p.OnThought, true)
	p.answers.flush(p.OnAnswer, true)
	return p.reply()
}

func (p *Parser) reply() Reply {
	r := Reply{
		Thought: strings.TrimSpace(string(p.thought)), Answer: strings.TrimSpace(string(p.answer)),
		Said: strings.TrimSpace(string(p.all[:min(p.end, len(p.all))])),
	}
	switch {
	case r.Answer != "":
	case p.acted:
		r.Action, r.Input = p.name, strings.TrimSpace(p.input)
	case p.problem != "":
		r.Problem = p.problem
	case r.Said != "":
		r.Problem = "Your Final Answer was empty. " + howToGoOn
	}
	return r
}

// scaffolding is what no answer holds and no action could be read from.
var scaffolding = regexp.MustCompile(`[Aa]ction[ _][Ii]nput["']?\s*[:：]`)

// closePrelude takes a reply without any label for the answer.
func (p *Parser) closePrelude() {
	p.prelude = append(p.prelude, p.line...)
	if scaffolding.Match(p.prelude) {
		p.problem = "Your reply could not be understood. " + howToGoOn
		return
	}
	p.say(p.prelude)
}

// blank says that there is nothing in it but white space and fences.
func blank(b []byte) bool {
	return len(bytes.TrimSpace(b)) == 0 || fenceOnly.Match(b)
}
