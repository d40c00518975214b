package agent

import (
	"strings"

	"ragagent/agent/cite"
)

// answerWriter turns a model's text into the answer: citations filtered, what
// may still be the preface of a tool call held back. The deltas it emits,
// concatenated, are the answer.
type answerWriter struct {
	known func(id int) bool
	emit  func(Event)

	answer   strings.Builder
	filter   cite.Filter
	parent   string
	hold     int // bytes held back in this turn
	held     strings.Builder
	cited    bool
	released bool // text of this turn has reached the user
}

// begin starts a turn of the model. What an earlier turn has left unreleased
// is forgotten.
func (w *answerWriter) begin(parent string, hold int) {
	w.parent, w.hold = parent, hold
	w.discard()
}

// raw makes a text that is checked already the answer.
func (w *answerWriter) raw(text string) {
	w.held.WriteString(text)
	w.release()
}

// discard forgets what was held back.
func (w *answerWriter) discard() {
	w.held.Reset()
	w.cited, w.released = false, false
	w.filter = cite.Filter{Known: w.known, Cited: func(int, int) { w.cited = true }}
}

// write takes the next piece of the model's text.
func (w *answerWriter) write(text string) {
	w.held.WriteString(w.filter.Write(text))
	if w.released || w.cited || w.held.Len() > w.hold {
		w.release()
	}
}

// close ends the turn's text as part of the answer.
func (w *answerWriter) close() {
	w.held.WriteString(w.filter.Flush())
	w.release()
	w.filter = cite.Filter{Known: w.known}
}

// release lets go what is held.
func (w *answerWriter) release() {
	text := w.held.String()
	w.held.Reset()
	if text == "" {
		return
	}
	if !w.released && w.answer.Len() > 0 {
		text = "\n\n" + text // an earlier turn has said something already
	}
	w.released = true
	w.answer.WriteString(text)
	w.emit(Event{Kind: TextDelta, Parent: w.parent, Text: text})
}

func (w *answerWriter) len() int { return w.answer.Len() + w.held.Len() }

func (w *answerWriter) String() string { return w.answer.String() }
