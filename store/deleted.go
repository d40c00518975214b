package store

import "time"

// DeletedDocument is what is remembered of a document that was deleted: enough
// to look for anything that might have been left of it, and nothing it said.
type DeletedDocument struct {
	ID              string
	KnowledgeBaseID string
	Revision        int    // that was visible; 0 for none
	SHA256          string // of the original
	TextSHA256      string // of the normalised text; "" if it had none
	DeletedAt       time.Time
}
