package agent

import (
	"iter"
	"strings"

	"ragagent/agent/llm"
)

// reasoningTags enclose what a model thinks, where its server leaves that in
// the text.
var reasoningTags = []string{"<think>", "<thinking>", "</think>", "</thinking>"}

// apart passes a reply on with what stands between <think> and </think> moved
// from Text to Thinking. An opening tag counts at the beginning of the reply
// and behind white space: `<think>` in code is text. The tags may be cut
// anywhere.
func apart(reply iter.Seq2[llm.Delta, error]) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		s := reasoning{blank: true}
		for d, err := range reply {
			if err != nil {
				if text, thinking := s.flush(); text == "" && thinking == "" || yield(llm.Delta{Text: text, Thinking: thinking}, nil) {
					yield(d, err)
				}
				return
			}
			if d.Text != "" {
				text, thinking := s.split(d.Text)
				d.Text, d.Thinking = text, d.Thinking+thinking
			}
			if !yield(d, nil) {
				return
			}
		}
		if text, thinking := s.flush(); text != "" || thinking != "" {
			yield(llm.Delta{Text: text, Thinking: thinking}, nil)
		}
	}
}

// reasoning splits a text as it comes.
type reasoning struct {
	inside bool
	blank  bool   // white space or nothing is the last that was seen
	held   string // the beginning of what may be a tag

	text, thinking strings.Builder // of the current piece
}

// split takes the next piece and returns what is certain of both by now.
func (s *reasoning) split(piece string) (text, thinking string) {
	if !s.inside && s.held == "" && strings.IndexByte(piece, '<') < 0 {
		s.blank = strings.HasSuffix(piece, " ") || strings.HasSuffix(piece, "\n") || strings.HasSuffix(piece, "\t")
		return piece, "" // as nearly every piece
	}
	for i := range len(piece) {
		s.char(piece[i : i+1])
	}
	return s.take()
}

// flush ends the text.
func (s *reasoning) flush() (text, thinking string) {
	s.giveUp()
	return s.take()
}

func (s *reasoning) take() (text, thinking string) {
	text, thinking = s.text.String(), s.thinking.String()
	s.text.Reset()
	s.thinking.Reset()
	return text, thinking
}

func (s *reasoning) char(c string) {
	if s.held == "" && (c != "<" || !s.inside && !s.blank) {
		s.emit(c)
		return
	}
	s.held += c
	for _, tag := range reasoningTags {
		closes := tag[1] == '/'
		if closes != s.inside || !strings.HasPrefix(tag, strings.ToLower(s.held)) {
			continue
		}
		if len(tag) == len(s.held) {
			s.inside, s.held, s.blank = !s.inside, "", true
		}
		return
	}
	if held := s.held[:len(s.held)-1]; held != "" { // c may begin another
		s.held = held
		s.giveUp()
		s.char(c)
		return
	}
	s.giveUp()
}

// giveUp lets pass what turned out to be no tag.
func (s *reasoning) giveUp() {
	held := s.held
	s.held = ""
	s.emit(held)
}

func (s *reasoning) emit(text string) {
	if text == "" {
		return
	}
	s.blank = strings.ContainsAny(text[len(text)-1:], " \t\r\n")
	if s.inside {
		s.thinking.WriteString(text)
	} else {
		s.text.WriteString(text)
	}
}
