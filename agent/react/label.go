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

// leading is what may stand before a label at the beginning of a line.
var leading = regexp.MustCompile("^[\\s>#]*[*_`]{0,3}$")

// withoutNumber cuts off what may stand between the words of a label and its
// colon: "Thought 1**:".
func withoutNumber(line string) string {
	body := strings.TrimRight(line, " \t*_")
	words := strings.TrimRight(body, "0123456789")
	if digits := len(body) - len(words); digits == 0 || digits > 3 || !strings.HasSuffix(words, " ") && !strings.HasSuffix(words, "\t") {
		return body
	}
	return strings.TrimRight(words, " \t")
}

const wideColon = "：" // as Chinese and Japanese write it

// longest is more than a label has with all that may stand around it, in bytes:
// what is looked at for every colon of a reply that may be long.
const longest = 200

func endsInColon(line []byte) bool {
	return line[len(line)-1] == ':' || bytes.HasSuffix(line, []byte(wideColon))
}

// label finds the label that ends in the colon at the end of text. At the
// beginning of a line it may be written in any case; in the middle only as in
// the instructions, and only where a sentence has ended.
func (p *Parser) label(text []byte) (label, bool) {
	from := max(0, len(text)-longest) // of the line, as far as it matters
	whole := from == 0
	if i := bytes.LastIndexByte(text[from:], '\n'); i >= 0 {
		from, whole = from+i+1, true
	}
	line := string(text[from:])
	line = strings.TrimSuffix(strings.TrimSuffix(line, ":"), wideColon)
	body := withoutNumber(line)
	for _, l := range labels {
		start := len(body) - len(l.words)
		if start < 0 || !strings.EqualFold(body[start:], l.words) {
			continue
		}
		before := body[:start]
		found := label{kind: l.kind, start: from + start, width: len(text) - from - start}
		if whole && leading.MatchString(before) {
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
