package retrieval

import (
	"context"
	"fmt"

	"ragagent/store"
)

// Texts reads the normalised texts of documents; ingest.Service implements it.
type Texts interface {
	// ReadText returns the bytes of span as they are stored now.
	// store.ErrNotFound if the document or that part of it is gone.
	ReadText(ctx context.Context, documentID string, span store.Span) (string, error)
}

// Sibling is a found chunk that is shown within the section of a better one.
type Sibling struct {
	ID    string
	Span  store.Span
	Score float64
}

// maxSectionBytes bounds the text of all sections of a result.
const maxSectionBytes = 8 << 20

// sectionDepth is how many times more chunks are ranked where several of them
// may be shown as one section.
const sectionDepth = 4

// sections says whether chunks of a knowledge base may share a section.
func (p *plan) sections() bool {
	for _, kb := range p.bases {
		if kb.Chunking.Parent.Size > 0 {
			return true
		}
	}
	return false
}

// sectionKey names a section.
type sectionKey struct {
	document string
	span     store.Span
}

// merged keeps the best hit of each section, with the others as its siblings.
// hits come best first and stay so.
func merged(hits []Hit) []Hit {
	out := make([]Hit, 0, len(hits))
	first := make(map[sectionKey]int)
	for _, hit := range hits {
		if hit.Parent == (store.Section{}) {
			out = append(out, hit)
			continue
		}
		key := sectionKey{hit.DocumentID, hit.Parent.Span}
		if i, known := first[key]; known {
			out[i].Siblings = append(out[i].Siblings, Sibling{hit.ID, hit.Span, hit.Score})
			continue
		}
		first[key] = len(out)
		out = append(out, hit)
	}
	return out
}

// readSections fills in the texts of the hits' sections. One that cannot be
// read, or no longer holds its chunk, is left out, and the result says so.
func (p *Pipeline) readSections(ctx context.Context, hits []Hit, result *Result) {
	if p.texts == nil {
		return
	}
	left, failed := maxSectionBytes, 0
	var why error
	for i := range hits {
		hit := &hits[i]
		if hit.Parent == (store.Section{}) {
			continue
		}
		text, err := p.readSection(ctx, hit, left)
		if err != nil {
			failed++
			why = err
			continue
		}
		hit.ParentText = text
		left -= len(text)
	}
	if failed > 0 {
		result.Degraded = append(result.Degraded, fmt.Sprintf("sections: %d are not shown: %v", failed, why))
	}
}

func (p *Pipeline) readSection(ctx context.Context, hit *Hit, most int) (string, error) {
	if hit.Parent.Len() > most {
		return "", fmt.Errorf("%w: they have more than %d bytes together", store.ErrTooLarge, maxSectionBytes)
	}
	text, err := p.texts.ReadText(ctx, hit.DocumentID, hit.Parent.Span)
	if err != nil {
		return "", err
	}
	at := hit.Span.Start - hit.Parent.Start
	if len(text) != hit.Parent.Len() || text[at:at+hit.Span.Len()] != hit.Text {
		return "", fmt.Errorf("%w: document %s has changed", store.ErrConflict, hit.DocumentID)
	}
	return text, nil
}
