package route

import (
	"strings"
	"sync"

	"ragagent/retrieval/analysis"
	"ragagent/store"
)

// descriptions remembers the words of names and descriptions.
type descriptions struct {
	analyzer *analysis.Analyzer

	mu     sync.Mutex
	byBase map[string]description
}

type description struct {
	text  string
	terms map[string]bool
}

// Bounds of what is remembered and read.
const (
	maxDescriptions     = 4096
	maxDescriptionBytes = 4 << 10
)

var separators = strings.NewReplacer("-", " ", "_", " ", ".", " ", "/", " ")

// of returns the terms of a knowledge base's name and description.
func (d *descriptions) of(kb store.KnowledgeBase) map[string]bool {
	text := separators.Replace(kb.Name) + "\n" + kb.Description
	text = text[:min(len(text), maxDescriptionBytes)]
	d.mu.Lock()
	known, ok := d.byBase[kb.ID]
	d.mu.Unlock()
	if ok && known.text == text {
		return known.terms
	}
	terms := make(map[string]bool)
	for _, t := range d.analyzer.Terms(text) {
		terms[strings.Clone(t)] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byBase == nil || len(d.byBase) >= maxDescriptions {
		d.byBase = make(map[string]description)
	}
	d.byBase[kb.ID] = description{text, terms}
	return terms
}
