package agent

import (
	"strings"
	"unicode/utf8"

	"ragagent/agent/llm"
	"ragagent/store"
)

// estimateTokens says about how many tokens a model makes of a text, on the
// high side: one for four ASCII characters, one for every other character.
func estimateTokens(text string) int {
	var quarters int
	for _, r := range text {
		quarters += quartersOf(r)
	}
	return (quarters + 3) / 4
}

func quartersOf(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	return 4
}

// messageOverhead are the tokens a chat template spends on one message.
const messageOverhead = 4

func estimateMessage(m llm.Message) int {
	n := messageOverhead + estimateTokens(m.Content) + estimateTokens(m.Thinking)
	for _, c := range m.ToolCalls {
		n += messageOverhead + estimateTokens(c.Name) + estimateTokens(string(c.Arguments))
	}
	return n
}

// estimateUsage stands in where a model does not count.
func estimateUsage(req llm.Request, t Turn) llm.Usage {
	var u llm.Usage
	for _, m := range req.Messages {
		u.PromptTokens += estimateMessage(m)
	}
	for _, s := range req.Tools {
		u.PromptTokens += estimateTokens(s.Name) + estimateTokens(s.Description) + estimateTokens(string(s.Parameters))
	}
	u.CompletionTokens = estimateMessage(llm.Message{Content: t.Text, Thinking: t.Thinking, ToolCalls: t.Calls})
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

// cutTokens returns the beginning of text that is worth at most most tokens,
// ended at a line, sentence or word where there is one in its last third.
func cutTokens(text string, most int) string {
	if most <= 0 {
		return ""
	}
	if estimateTokens(text) <= most {
		return text
	}
	quarters, end := 0, 0
	for i, r := range text {
		if quarters += quartersOf(r); quarters > 4*most {
			end = i
			break
		}
	}
	head := text[:end]
	for _, mark := range []string{"\n", ". ", "。", " "} {
		if i := strings.LastIndex(head, mark); i >= 0 && i+len(mark) > end*2/3 {
			return strings.TrimRight(head[:i+len(mark)], " \n")
		}
	}
	return head
}

// around returns the part of text around found that is worth at most most
// tokens: all of found if that fits, then as much before as behind it.
func around(text string, found store.Span, most int) store.Span {
	room := most - estimateTokens(text[found.Start:found.End])
	if room < 0 {
		return store.Span{Start: found.Start, End: found.Start + len(cutTokens(text[found.Start:found.End], most))}
	}
	before, behind := text[:found.Start], text[found.End:]
	head := lastTokens(before, max(room/2, room-estimateTokens(behind)))
	tail := cutTokens(behind, room-estimateTokens(head))
	return store.Span{Start: found.Start - len(head), End: found.End + len(tail)}
}

// lastTokens returns the end of text that is worth at most most tokens, begun
// at a line, sentence or word where there is one in its first third.
func lastTokens(text string, most int) string {
	quarters, start := 0, len(text)
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:start])
		if quarters += quartersOf(r); quarters > 4*most {
			break
		}
		start -= n
	}
	if start == 0 {
		return text
	}
	tail := text[start:]
	for _, mark := range []string{"\n", ". ", "。", " "} {
		if i := strings.Index(tail, mark); i >= 0 && i+len(mark) < len(tail)/3 {
			return tail[i+len(mark):]
		}
	}
	return tail
}
