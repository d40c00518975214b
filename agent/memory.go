package agent

import (
	"context"
	"fmt"
	"regexp"
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
		return latestTurns(in.History, r.limits.HistoryTokens), nil
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
		return latestTurns(in.History, r.limits.HistoryTokens), nil
	}
	stored, err := records.LastMessages(ctx, conv.ID, recentMessages)
	if err != nil {
		return nil, fmt.Errorf("messages of conversation %q: %w", conv.ID, err)
	}
	return latestTurns(asHistory(stored), r.limits.HistoryTokens), nil
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

// latestTurns keeps the newest turns that fit the budget together. A turn is a
// user's message with everything up to the next one: it is kept whole or not
// at all, so no call is ever parted from its result and the history never
// starts with an assistant. A turn that got no answer is left out, and so are
// system messages: the server writes those itself.
func latestTurns(messages []llm.Message, budget int) []llm.Message {
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
	var kept [][]llm.Message
	for i := len(turns) - 1; i >= 0; i-- {
		if !answered(turns[i]) {
			continue
		}
		for _, m := range turns[i] {
			budget -= estimateMessage(m)
		}
		if budget < 0 {
			break
		}
		kept = append(kept, turns[i])
	}
	var history []llm.Message
	for i := len(kept) - 1; i >= 0; i-- {
		history = append(history, kept[i]...)
	}
	return history
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
