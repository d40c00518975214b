package eval

import (
	"ragagent/retrieval"
)

// Locate names the judged units, documents or pages, that a hit stands for,
// in the order they take ranks; none for a hit from outside the collection.
// It may be called concurrently.
type Locate func(h retrieval.Hit) []string

// MetadataID is the key that a document's id in the collection is kept under.
const MetadataID = "_id"

// maxHitPages bounds the pages one hit is counted for.
const maxHitPages = 64

// ByMetadata locates a hit by the string its document has under key.
func ByMetadata(key string) Locate {
	return func(h retrieval.Hit) []string {
		if id, ok := h.Metadata[key].(string); ok && id != "" {
			return []string{id}
		}
		return nil
	}
}

// ByPage locates a hit by the pages it spans, first page first, each of which
// takes a rank.
func ByPage() Locate {
	return func(h retrieval.Hit) []string {
		if h.PageStart < 1 || h.DocumentName == "" {
			return nil
		}
		last := min(max(h.PageStart, h.PageEnd), h.PageStart+maxHitPages-1)
		ids := make([]string, 0, last-h.PageStart+1)
		for page := h.PageStart; page <= last; page++ {
			ids = append(ids, PageID(h.DocumentName, page))
		}
		return ids
	}
}

// Locate returns the Locate that fits the judgements of d.
func (d *Dataset) Locate() Locate {
	if d.ByPage {
		return ByPage()
	}
	return ByMetadata(MetadataID)
}
