package api

import (
	"context"
	"fmt"

	"ragagent/store"
)

// maxScope bounds the knowledge bases of one question.
const maxScope = 256

// scopeOf resolves the knowledge bases a question names, each once, in the
// order they are named.
func (s *Server) scopeOf(ctx context.Context, names []string) ([]store.KnowledgeBase, error) {
	switch {
	case len(names) == 0:
		return nil, invalidField("knowledge_bases", "is missing: name at least one knowledge base to search")
	case len(names) > maxScope:
		return nil, invalidField("knowledge_bases", "names %d, at most %d are searched at once", len(names), maxScope)
	}
	found := make([]store.KnowledgeBase, 0, len(names))
	seen := map[string]bool{}
	for i, name := range names {
		kb, err := s.findKnowledgeBase(ctx, fmt.Sprintf("knowledge_bases[%d]", i), name)
		if err != nil {
			return nil, err
		}
		if err := s.cfg.Quarantined(kb.ID); err != nil {
			return nil, err
		}
		if !seen[kb.ID] {
			seen[kb.ID] = true
			found = append(found, kb)
		}
	}
	return found, nil
}

// topKOf checks top_k; nil means 0, the default.
func topKOf(given *int) (int, error) {
	return boundedInt("top_k", given, 1, store.MaxTopK)
}

// boundedInt checks a number that may be left out, which is 0.
func boundedInt(field string, given *int, low, high int) (int, error) {
	if given == nil {
		return 0, nil
	}
	if *given < low || *given > high {
		return 0, invalidField(field, "is %d, allowed are %d to %d", *given, low, high)
	}
	return *given, nil
}

// questionProblem checks a text that is asked or searched.
func questionProblem(field, text string, limit int) error {
	switch {
	case text == "":
		return invalidField(field, "is missing or empty")
	case len(text) > limit:
		return invalidField(field, "has %d bytes, at most %d are allowed", len(text), limit)
	}
	return nil
}
