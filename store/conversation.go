package store

import (
	"context"
	"time"
)

// Conversation is a sequence of messages.
type Conversation struct {
	ID        string // "conv_..."
	Title     string // the first question, cut
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Message is one line of a conversation as its user saw it.
type Message struct {
	ID             string // "msg_..."
	ConversationID string
	RunID          string // the run that made it; "" for a user's message
	Role           string // "user" or "assistant"
	Content        string
	Citations      []Citation
	CreatedAt      time.Time
}

// Citation ties [ID] in an answer to the place that supports it.
type Citation struct {
	ID            int    `json:"id"` // as it stands in the answer, from 1
	DocumentID    string `json:"document_id"`
	DocumentName  string `json:"document_name"`
	KnowledgeBase string `json:"knowledge_base"`
	ChunkID       string `json:"chunk_id"`
	PageStart     int    `json:"page_start,omitempty"`
	PageEnd       int    `json:"page_end,omitempty"`
	// CharStart and CharEnd are the quote's bytes in the document's text.
	CharStart int    `json:"char_start"`
	CharEnd   int    `json:"char_end"`
	Quote     string `json:"quote"`
	// Verified says that the stored text holds Quote at these bytes.
	Verified bool `json:"verified"`
}

// Conversations keeps conversations. All methods may be called concurrently.
type Conversations interface {
	// StartConversation makes a conversation of its first exchange: a finished
	// run with its steps, the user's message and the answer, all in one
	// transaction; a checkpoint of the run goes away with it. A failed call
	// leaves nothing behind. ErrConflict if the
	// conversation or the run is there already.
	StartConversation(ctx context.Context, conv Conversation, run Run, messages []Message) error
	// AddExchange stores a further exchange in the same way and moves conv's
	// UpdatedAt on; its title and its first date stay. ErrNotFound if the
	// conversation is not, or no longer, there: one that was deleted while a
	// question in it was answered does not come back. ErrConflict if the run is
	// there already.
	AddExchange(ctx context.Context, conv Conversation, run Run, messages []Message) error
	// Conversation returns one. ErrNotFound.
	Conversation(ctx context.Context, id string) (Conversation, error)
	// Conversations lists them.
	Conversations(ctx context.Context, page Page) ([]Conversation, error)
	// Messages lists those of a conversation, oldest first: in the order they
	// were stored, whatever their ids. With a Page.After of "" and Limit n,
	// these are the first n.
	Messages(ctx context.Context, conversationID string, page Page) ([]Message, error)
	// LastMessages returns the latest n messages, oldest first.
	LastMessages(ctx context.Context, conversationID string, n int) ([]Message, error)
	// DeleteConversation removes it with its messages, its runs and their
	// checkpoints. ErrNotFound.
	DeleteConversation(ctx context.Context, id string) error
}
