package react

import (
	"bytes"
	"regexp"
	"strings"
)

// label announces what follows it.
type label struct {
	kind  labelKind
	start int // in the line it ends
	width int // bytes from start to the end of the line
	stars int // asterisks right behind it that close its emphasis
}

type labelKind int

const (
	thoughtLabel labelKind = iota
	actionLabel
	inputLabel
	answerLabel
	observationLabel
)

// labels by their words, the longer ones first.
var labels = []struct {
	words string
	kind  labelKind
}{
	{"Final Answer", answerLabel}, {"FinalAnswer", answerLabel}, {"Final_Answer", answerLabel},
	{"Action Input", inputLabel}, {"ActionInput", inputLabel}, {"Action_Input", inputLabel},
	{"Thought", thoughtLabel}, {"Action", actionLabel}, {"Observation", observationLabel},
	{"Answer", answerLabel},
}

var (
	// numbered is what may stand between the words and the colon: "Thought 1**:".
	numbered = regexp.MustCompile(`(?:[ \t]+\d{1,3})?[ \t*_]*$`)
	// leading is what may stand before a label at the beginning of a line.
	leading = regexp.MustCompile("^[\\s>#]*[*_`]{0,3}$")
)

const wideColon = "：" // as Chinese and Japanese write it

func endsInColon(line []byte) bool {
	return line[len(line)-1] == ':' || bytes.HasSuffix(line, []byte(wideColon))
}

// label finds the label that ends in the colon at the end of text. At the
// beginning of a line it may be written in any case; in the middle only as in
// the instructions, and only where a sentence has ended.
func (p *Parser) label(text []byte) (label, bool) {
	from := bytes.LastIndexByte(text, '\n') + 1
	line := string(text[from:])
	line = strings.TrimSuffix(strings.TrimSuffix(line, ":"), wideColon)
	body := line[:numbered.FindStringIndex(line)[0]]
	for _, l := range labels {
		start := len(body) - len(l.words)
		if start < 0 || !strings.EqualFold(body[start:], l.words) {
			continue
		}
		before := body[:start]
		found := label{kind: l.kind, start: from + start, width: len(text) - from - start}
		if leading.MatchString(before) {
			if l.words == "Answer" && !p.labelled && from+len(p.all)-len(text) > 0 {
				return label{}, false
			}
			if !strings.ContainsAny(line[len(body):], "*_") {
				found.stars = len(strings.Trim(before, "\t\r >#"))
			}
			found.start, found.width = from, len(text)-from
			return found, true
		}
		return found, body[start:] == l.words && l.words != "Answer" && p.inLine(l.kind, before)
	}
	return label{}, false
}

// sentenceEnds are the signs behind which a label may stand within a line.
const sentenceEnds = ".!?…;。！？；)]\"'`”）"

// inLine says whether a label may stand behind these words.
func (p *Parser) inLine(kind labelKind, before string) bool {
	words := strings.TrimRight(before, " \t*")
	switch p.mode {
	case inPrelude, inThought:
		ended := strings.ContainsRune(sentenceEnds, lastRune(words))
		apart := words != before || strings.ContainsRune("。！？；）", lastRune(words))
		return ended && apart && (kind == answerLabel || kind == actionLabel)
	case inName, beforeInput:
		return kind != thoughtLabel
	case inInput:
		return kind == observationLabel && words != before
	}
	return false
}

func lastRune(s string) (last rune) {
	for _, r := range s[max(0, len(s)-4):] {
		last = r
	}
	return last
}
