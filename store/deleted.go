package store

import "time"

// DeletedDocument is what is remembered of a document that was deleted: enough
// to look for anything that might have been left of it, and nothing it said.
type DeletedDocument struct {
	ID              string
	KnowledgeBaseID string
	Revision        int    // the latest that was begun
	SHA256          string // of an original; "" if this is about a text alone
	TextSHA256      string // of the normalised text; "" if it had none
	DeletedAt       time.Time
}
