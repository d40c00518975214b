package api

import "ragagent/retrieval"

// maxIDBytes bounds an id that a request names.
const maxIDBytes = 256

// placeAnswer is where else the text of a hit stands.
type placeAnswer struct {
	ChunkID       string  `json:"chunk_id"`
	DocumentID    string  `json:"document_id"`
	DocumentName  string  `json:"document_name"`
	KnowledgeBase string  `json:"knowledge_base"`
	Score         float64 `json:"score"`
	PageStart     int     `json:"page_start,omitempty"`
	PageEnd       int     `json:"page_end,omitempty"`
	CharStart     int     `json:"char_start"`
	CharEnd       int     `json:"char_end"`
}

func placesOf(h retrieval.Hit) []placeAnswer {
	var out []placeAnswer
	for _, p := range h.AlsoIn {
		out = append(out, placeAnswer{
			ChunkID: p.ChunkID, DocumentID: p.DocumentID, DocumentName: p.DocumentName, KnowledgeBase: p.KnowledgeBaseName,
			Score: p.Score, PageStart: p.PageStart, PageEnd: p.PageEnd, CharStart: p.Span.Start, CharEnd: p.Span.End,
		})
	}
	return out
}

// standingAnswer tells what became of the chunk of explain_chunk.
type standingAnswer struct {
	ChunkID    string                 `json:"chunk_id"`
	DocumentID string                 `json:"document_id,omitempty"`
	Outcome    retrieval.Outcome      `json:"outcome"`
	Reason     string                 `json:"reason"`
	Hit        *int                   `json:"hit,omitempty"` // from 0
	Steps      []stepAnswer           `json:"steps"`
	Missing    []retrieval.TermWeight `json:"missing_terms"`
	Explain    *retrieval.Explanation `json:"explain,omitempty"`
}

// stepAnswer is its place in one ranking. A rank that is absent is behind all
// that were ranked.
type stepAnswer struct {
	Step   string  `json:"step"`
	Rank   int     `json:"rank,omitempty"`
	Of     int     `json:"of"`
	Value  float64 `json:"value"`
	Needed float64 `json:"needed"`
	Lacks  float64 `json:"lacks"` // what of Needed it does not have
}

func standingOf(s *retrieval.Standing) *standingAnswer {
	if s == nil {
		return nil
	}
	out := &standingAnswer{
		ChunkID: s.ChunkID, DocumentID: s.DocumentID, Outcome: s.Outcome, Reason: s.Outcome.String(),
		Steps: make([]stepAnswer, len(s.Steps)), Missing: array(s.Missing), Explain: s.Explain,
	}
	if s.Hit >= 0 {
		out.Hit = &s.Hit
	}
	for i, step := range s.Steps {
		out.Steps[i] = stepAnswer{
			Step: step.Name, Rank: step.Rank, Of: step.Of,
			Value: step.Value, Needed: step.Needed, Lacks: max(step.Needed-step.Value, 0),
		}
	}
	return out
}
