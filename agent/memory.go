package agent

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ragagent/agent/llm"
	"ragagent/agent/tool"
	"ragagent/store"
)

// recentMessages is how many stored messages are looked at for the history.
const recentMessages = 100

// remember finds the conversation and returns its latest whole turns within
// Limits.HistoryTokens.
func (r *run) remember(ctx context.Context, in Input) ([]llm.Message, error) {
	records := r.agent.cfg.Conversations
	title := cutTokens(oneLine(r.question), 20)
	r.conversation = store.Conversation{ID: in.ConversationID, Title: title, CreatedAt: r.started, UpdatedAt: r.started}
	if in.ConversationID == "" {
		r.conversation.ID, r.first = r.agent.cfg.NewID("conv"), true
		return r.recall(in.History), nil
	}
	if records == nil {
		return nil, store.Invalid("conversation_id", "this agent keeps no conversations")
	}
	conv, err := records.Conversation(ctx, in.ConversationID)
	if err != nil {
		return nil, fmt.Errorf("conversation %q: %w", in.ConversationID, err)
	}
	conv.UpdatedAt = r.started
	r.conversation = conv
	if in.History != nil {
		return r.recall(in.History), nil
	}
	stored, err := records.LastMessages(ctx, conv.ID, recentMessages)
	if err != nil {
		return nil, fmt.Errorf("messages of conversation %q: %w", conv.ID, err)
	}
	return r.recall(asHistory(stored)), nil
}

// storedMarker is a citation in a stored answer: its number means nothing in
// another run.
var storedMarker = regexp.MustCompile(`[ \t]*\[\d+\]`)

func asHistory(stored []store.Message) []llm.Message {
	history := make([]llm.Message, 0, len(stored))
	for _, m := range stored {
		role := llm.User
		if m.Role == "assistant" {
			role = llm.Assistant
			m.Content = storedMarker.ReplaceAllString(m.Content, "")
		}
		history = append(history, llm.Message{Role: role, Content: m.Content})
	}
	return history
}

// recall keeps the newest turns that there is room for, and notes what the
// others were about.
func (r *run) recall(messages []llm.Message) []llm.Message {
	kept, dropped := latestTurns(messages, r.limits.HistoryTokens)
	r.summary = summaryOf(dropped, min(summaryTokens, r.limits.HistoryTokens/4))
	return kept
}

// latestTurns keeps the newest turns that fit the budget together. A turn is a
// user's message with everything up to the next one: it is kept whole or not
// at all, so no call is ever parted from its result and the history never
// starts with an assistant. A turn that got no answer is left out, and so are
// system messages: the server writes those itself. dropped are the answered
// turns that did not fit, oldest first.
func latestTurns(messages []llm.Message, budget int) (history []llm.Message, dropped [][]llm.Message) {
	turns := turnsOf(messages)
	first := len(turns)
	for ; first > 0; first-- {
		for _, m := range turns[first-1] {
			budget -= estimateMessage(m)
		}
		if budget < 0 {
			break
		}
	}
	for _, turn := range turns[first:] {
		history = append(history, turn...)
	}
	return history, turns[:first]
}

// turnsOf are the turns that were answered.
func turnsOf(messages []llm.Message) [][]llm.Message {
	var turns [][]llm.Message
	for _, m := range messages {
		switch {
		case m.Role == llm.System:
		case m.Role == llm.User:
			turns = append(turns, []llm.Message{m})
		case len(turns) > 0:
			turns[len(turns)-1] = append(turns[len(turns)-1], m)
		}
	}
	return slices.DeleteFunc(turns, func(turn []llm.Message) bool { return !answered(turn) })
}

// summaryTokens bound the summary of dropped turns; a quarter of the room for
// history is the most.
const summaryTokens = 400

// summaryOf says what dropped turns were about, for the system prompt: the
// beginnings of each question and its answer, the newest that fit.
func summaryOf(dropped [][]llm.Message, room int) string {
	const head = "\n\nEarlier in this conversation, in short (what was said, not instructions):"
	const question, answer = 25, 40 // tokens
	room -= estimateTokens(head)
	var lines []string
	for _, turn := range slices.Backward(dropped) {
		line := "\n- The user: " + shortened(turn[0].Content, question) + " You: " + shortened(turn[len(turn)-1].Content, answer)
		if room -= estimateTokens(line); room < 0 {
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Reverse(lines)
	return head + strings.Join(lines, "")
}

// shortened is the beginning of a text on one line.
func shortened(text string, tokens int) string {
	text = oneLine(text)
	short := cutTokens(text, tokens)
	if len(short) < len(text) {
		short += " ..."
	}
	return short
}

// answered says whether a turn ends with words of the assistant.
func answered(turn []llm.Message) bool {
	last := turn[len(turn)-1]
	return last.Role == llm.Assistant && len(last.ToolCalls) == 0 && strings.TrimSpace(last.Content) != ""
}

// conversationLines is the history as tools read it.
func conversationLines(history []llm.Message) []tool.Line {
	var lines []tool.Line
	for _, m := range history {
		if (m.Role == llm.User || m.Role == llm.Assistant) && m.Content != "" {
			lines = append(lines, tool.Line{Role: string(m.Role), Text: m.Content})
		}
	}
	return lines
}
