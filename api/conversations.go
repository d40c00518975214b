package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/agent"
	"ragagent/store"
)

type conversationAnswer struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func conversationAnswerOf(c store.Conversation) conversationAnswer {
	return conversationAnswer{ID: c.ID, Title: c.Title, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC()}
}

type messageAnswer struct {
	ID        string           `json:"id"`
	RunID     string           `json:"run_id,omitempty"`
	Role      string           `json:"role"`
	Content   string           `json:"content"`
	Citations []store.Citation `json:"citations"`
	CreatedAt time.Time        `json:"created_at"`
}

func messageOf(m store.Message) messageAnswer {
	return messageAnswer{
		ID:        m.ID,
		RunID:     m.RunID,
		Role:      m.Role,
		Content:   m.Content,
		Citations: array(m.Citations),
		CreatedAt: m.CreatedAt.UTC(),
	}
}

// messagesAnswer is a conversation with one page of its messages, oldest first.
type messagesAnswer struct {
	conversationAnswer
	Messages   []messageAnswer `json:"messages"`
	NextCursor *string         `json:"next_cursor"`
}

func (s *Server) listConversations(c echo.Context) error {
	page, err := pageOf(c.QueryParams(), "conv")
	if err != nil {
		return err
	}
	rows, err := s.cfg.Records.Conversations(c.Request().Context(), probe(page))
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, listOf(rows, page, func(c store.Conversation) string { return c.ID }, conversationAnswerOf))
}

func (s *Server) getConversation(c echo.Context) error {
	page, err := pageOf(c.QueryParams(), "msg")
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), param(c, "id")
	conversation, err := s.cfg.Records.Conversation(ctx, id)
	if err != nil {
		return missing(err, "conversation", id)
	}
	rows, err := s.cfg.Records.Messages(ctx, conversation.ID, probe(page))
	if err != nil {
		return missing(err, "conversation", id)
	}
	messages := listOf(rows, page, func(m store.Message) string { return m.ID }, messageOf)
	return reply(c, http.StatusOK, messagesAnswer{conversationAnswerOf(conversation), messages.Data, messages.NextCursor})
}

func (s *Server) deleteConversation(c echo.Context) error {
	id := param(c, "id")
	if err := s.cfg.Records.DeleteConversation(c.Request().Context(), id); err != nil {
		return missing(err, "conversation", id)
	}
	return c.NoContent(http.StatusNoContent)
}

type runAnswer struct {
	ID             string `json:"id"`
	ConversationID string `json:"conversation_id"`
	Agent          string `json:"agent"`
	Question       string `json:"question"`
	Answer         string `json:"answer"`
	FinishedReason string `json:"finished_reason"`
	// Status is "ended", or where a run stands that has not.
	Status     string            `json:"status"`
	Interrupts []agent.Interrupt `json:"interrupts,omitempty"`
	Error      string            `json:"error,omitempty"`
	// Trace is the tree of the run as it was stored; null without one.
	Trace     json.RawMessage `json:"trace"`
	Steps     []thoughtAnswer `json:"steps"`
	StartedAt time.Time       `json:"started_at"`
	EndedAt   time.Time       `json:"ended_at"`
}

type thoughtAnswer struct {
	Position    int    `json:"position"`
	Thought     string `json:"thought"`
	Tool        string `json:"tool,omitempty"`
	ToolInput   string `json:"tool_input,omitempty"`
	Observation string `json:"observation,omitempty"`
	Error       string `json:"error,omitempty"`
	ElapsedMS   int64  `json:"elapsed_ms"`
}

func runOf(r store.Run) runAnswer {
	out := runAnswer{
		ID:             r.ID,
		ConversationID: r.ConversationID,
		Agent:          r.Agent,
		Question:       r.Question,
		Answer:         r.Answer,
		FinishedReason: r.FinishedReason,
		Status:         "ended",
		Error:          r.Error,
		Trace:          r.Trace,
		Steps:          make([]thoughtAnswer, len(r.Steps)),
		StartedAt:      r.StartedAt.UTC(),
		EndedAt:        r.EndedAt.UTC(),
	}
	for i, t := range r.Steps {
		out.Steps[i] = thoughtAnswer(t)
	}
	return out
}
