package agent

import (
	"context"
	"errors"

	"ragagent/agent/tool"
	"ragagent/store"
)

// ledger numbers the passages a run has shown to the model. One numbering
// covers all searches: ids count from 1 without gaps and a passage that is
// found again keeps its id. The ids are the server's: a model can only name
// them.
type ledger struct {
	texts    Texts
	passages []tool.Passage // id-1 is the index
	byChunk  map[string]int
}

// source is a passage under its citation id.
type source struct {
	ID int
	tool.Passage
	known bool // it was shown before
}

// admit gives a passage its id.
func (l *ledger) admit(p tool.Passage) source {
	key := p.ChunkID
	if key == "" {
		key = p.DocumentID + "\x00" + p.Text
	}
	id, there := l.byChunk[key]
	if !there {
		l.passages = append(l.passages, p)
		id = len(l.passages)
		if l.byChunk == nil {
			l.byChunk = map[string]int{}
		}
		l.byChunk[key] = id
	}
	return source{ID: id, Passage: p, known: there}
}

// known says whether an id was given out in this run.
func (l *ledger) known(id int) bool { return id >= 1 && id <= len(l.passages) }

// current says whether the truth still holds the passage where its span says.
// A passage of a deleted or replaced document is not; one whose text cannot be
// read just now is given the benefit of the doubt, its citation will not be
// verified.
func (l *ledger) current(ctx context.Context, p tool.Passage) bool {
	if l.texts == nil {
		return true
	}
	text, err := l.texts.ReadText(ctx, p.DocumentID, p.Span)
	if err != nil {
		return !errors.Is(err, store.ErrNotFound)
	}
	return text == p.Text
}
