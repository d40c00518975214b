package retrieval

import (
	"context"
	"fmt"

	"ragagent/store"
)

// finish cuts the hits by score and number, and tells their documents. whole
// says that none was left out because it is not there any more.
func (p *Pipeline) finish(ctx context.Context, hits []Hit, plan *plan) (out []Hit, whole bool, err error) {
	out, whole = make([]Hit, 0, min(plan.TopK, len(hits))), true
	owners := owners{records: p.records, known: make(map[string]*store.Document)}
	var same duplicates
	for i := range hits {
		hit := hits[i]
		if len(out) == plan.TopK {
			break
		}
		if hit.Score < plan.ScoreThreshold {
			continue
		}
		doc, err := owners.of(ctx, hits[i:], plan.TopK-len(out), plan.ScoreThreshold)
		if err != nil {
			return nil, false, err
		}
		there, err := p.confirm(ctx, &hit, doc)
		if err != nil {
			return nil, false, err
		}
		whole = whole && there
		if !there || doc == nil || !plan.Filter.Match(doc.Field) {
			continue // deleted or changed just now
		}
		hit.DocumentName, hit.Metadata = doc.Name, doc.Metadata
		if !plan.NoFold {
			if i := same.of(&hit); i >= 0 {
				out[i].AlsoIn = append(out[i].AlsoIn, placeOf(&hit))
				continue
			}
		}
		out = append(out, hit)
	}
	return out, whole, nil
}

// confirm says whether a hit is still there: that of a document's visible
// revision is. Of any other revision the records say whether they still have it,
// as they do until the index has followed.
func (p *Pipeline) confirm(ctx context.Context, hit *Hit, doc *store.Document) (bool, error) {
	if doc != nil && doc.Revision == hit.Revision {
		return true, nil
	}
	read, err := p.records.ChunksByID(ctx, []string{hit.ID})
	if err != nil {
		return false, fmt.Errorf("fetch chunk %s: %w", hit.ID, err)
	}
	if len(read) == 0 {
		p.index.chunks.forget([]string{hit.ID})
	}
	return len(read) > 0, nil
}

// owners are the documents of hits, read together.
type owners struct {
	records Records
	known   map[string]*store.Document // nil: it is gone
}

// of returns the document of the first of the hits, nil if it is gone. If it is
// not known, those of the next hits that reach a score are read with it, as many
// as are wanted.
func (o *owners) of(ctx context.Context, hits []Hit, wanted int, score float64) (*store.Document, error) {
	first := &hits[0]
	doc, known := o.known[first.DocumentID]
	if !known {
		if err := o.read(ctx, hits[:min(wanted, len(hits))], score); err != nil {
			return nil, err
		}
		doc = o.known[first.DocumentID]
	}
	if doc != nil && doc.KnowledgeBaseID != first.KnowledgeBaseID {
		return nil, nil
	}
	return doc, nil
}

func (o *owners) read(ctx context.Context, hits []Hit, score float64) error {
	var ids []string
	for i := range hits {
		id := hits[i].DocumentID
		if _, known := o.known[id]; !known && hits[i].Score >= score {
			o.known[id] = nil
			ids = append(ids, id)
		}
	}
	read, err := o.records.DocumentsByID(ctx, ids)
	if err != nil {
		return fmt.Errorf("fetch %d documents: %w", len(ids), err)
	}
	for i := range read {
		o.known[read[i].ID] = &read[i]
	}
	return nil
}
