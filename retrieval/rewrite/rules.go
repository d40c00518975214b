// Package rewrite turns questions into queries. Rules needs no model: it
// completes a follow-up question from the conversation and takes off what
// people say around a question; a question that stands alone it leaves as it is.
package rewrite

import (
	"context"
	"strings"
	"unicode"

	"ragagent/retrieval"
	"ragagent/retrieval/analysis"
)

// Config configures Rules.
type Config struct {
	Analyzer *analysis.Analyzer // nil means analysis.New()
}

// Rules implements retrieval.Rewriter without a model.
type Rules struct {
	analyzer *analysis.Analyzer
}

var _ retrieval.Rewriter = (*Rules)(nil)

// New returns the rule-based rewriter.
func New(cfg Config) *Rules {
	if cfg.Analyzer == nil {
		cfg.Analyzer = analysis.New()
	}
	return &Rules{analyzer: cfg.Analyzer}
}

// Rewrite implements retrieval.Rewriter; it never fails.
func (r *Rules) Rewrite(_ context.Context, text string, history []retrieval.Turn) (string, error) {
	question := stripCourtesy(text)
	if !r.dependent(question) {
		return question, nil
	}
	topic := r.topic(question, history)
	if topic == "" {
		return question, nil
	}
	return question + " " + topic, nil
}

// greetings are courtesies only if a sign follows: "Hello Dolly" is none.
var greetings = []string{"hi", "hello", "hey", "thanks", "thank you", "ok", "okay"}

// courtesies are said before a question and not part of it.
var courtesies = []string{
	"please",
	"can you tell me", "could you tell me", "would you tell me", "can you please tell me", "could you please tell me",
	"can you explain", "could you explain", "can you explain to me", "could you please explain", "can you please explain",
	"please tell me", "please explain", "tell me", "i would like to know", "i'd like to know", "i want to know",
	"do you know", "do you happen to know", "i was wondering", "i wonder", "may i ask", "can i ask",
}

// stripCourtesy takes courtesies off the beginning while a question of at
// least three words is left, and "please" or "thanks" off the end.
func stripCourtesy(text string) string {
	rest := strings.TrimSpace(text)
	for {
		next := cutCourtesy(rest)
		if next == rest || len(strings.Fields(next)) < 3 {
			break
		}
		rest = next
	}
	for _, word := range []string{"please", "thanks", "thank you"} {
		trimmed := strings.TrimRight(rest, " .,!?")
		if cut, ok := cutSuffixFold(trimmed, word); ok && len(strings.Fields(cut)) >= 3 {
			rest = strings.TrimRight(cut, " .,!")
		}
	}
	return rest
}

// cutCourtesy cuts the longest courtesy that text begins with.
func cutCourtesy(text string) string {
	best := 0
	for _, c := range courtesies {
		if len(c) > best && len(text) > len(c) && strings.EqualFold(text[:len(c)], c) && !isLetter(text[len(c):]) {
			best = len(c)
		}
	}
	for _, g := range greetings {
		if len(g) > best && len(text) > len(g) && strings.EqualFold(text[:len(g)], g) && strings.IndexByte(",.!", text[len(g)]) >= 0 {
			best = len(g)
		}
	}
	if best == 0 {
		return text
	}
	return strings.TrimLeft(text[best:], " ,.:!-")
}

func cutSuffixFold(s, suffix string) (string, bool) {
	at := len(s) - len(suffix)
	if at <= 0 || !strings.EqualFold(s[at:], suffix) || s[at-1] != ' ' && s[at-1] != ',' {
		return s, false
	}
	return s[:at], true
}

func isLetter(s string) bool {
	for _, r := range s {
		return unicode.IsLetter(r) || r == '\''
	}
	return false
}
