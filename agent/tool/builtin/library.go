package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ragagent/agent/tool"
	"ragagent/store"
)

// Library is where documents and their texts are read. It may be called
// concurrently; its methods keep the promises of package store.
type Library interface {
	Document(ctx context.Context, kb, id string) (store.Document, error)
	Documents(ctx context.Context, kb string, page store.Page) ([]store.Document, error)
	// ReadText returns the bytes of span in a document's normalised text.
	ReadText(ctx context.Context, documentID string, span store.Span) (string, error)
}

// ReaderConfig of the tools that read documents.
type ReaderConfig struct {
	// Library is read from; required.
	Library Library
	// KnowledgeBases the tools may read, at least one. Nothing a model says
	// reaches beyond them.
	KnowledgeBases []store.KnowledgeBase
	// Filter chooses the documents that may be read; nil for all.
	Filter *store.Filter
}

// maxScan bounds the documents that one call looks through for a name.
const maxScan = 10_000

// shelf is what the tools of one run may read.
type shelf struct{ ReaderConfig }

// NewDocumentTools makes list_documents, read_document and find_in_document. A
// missing library and no knowledge base are errors.
func NewDocumentTools(cfg ReaderConfig) ([]tool.Tool, error) {
	if cfg.Library == nil {
		return nil, errors.New("the tools that read documents need a library")
	}
	if len(cfg.KnowledgeBases) == 0 {
		return nil, store.Invalid("knowledge_bases", "name at least one")
	}
	s := shelf{cfg}
	list, err := newList(s)
	if err != nil {
		return nil, err
	}
	read, err := newRead(s)
	if err != nil {
		return nil, err
	}
	find, err := newFind(s)
	if err != nil {
		return nil, err
	}
	return []tool.Tool{list, read, find}, nil
}

// holding is a document with the knowledge base it lies in.
type holding struct {
	store.Document
	kb string // its name
}

// readable says whether a document may be read and has a text.
func (s shelf) readable(d *store.Document) bool {
	return d.Revision > 0 && d.TextSHA256 != "" && s.Filter.Match(d.Field)
}

// errUnknown is the same for what is not there and what may not be seen.
var errUnknown = errors.New("there is no such document: list_documents tells which there are")

// find returns the document of an id, or else the only one of a name.
func (s shelf) find(ctx context.Context, idOrName string) (holding, error) {
	for _, kb := range s.KnowledgeBases {
		d, err := s.Library.Document(ctx, kb.ID, idOrName)
		switch {
		case err == nil && s.readable(&d):
			return holding{d, kb.Name}, nil
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return holding{}, fmt.Errorf("look up the document: %w", err)
		}
	}
	var found []holding
	err := s.each(ctx, func(h holding) bool {
		if strings.EqualFold(h.Name, idOrName) {
			found = append(found, h)
		}
		return len(found) < 2
	})
	switch {
	case err != nil:
		return holding{}, err
	case len(found) == 0:
		return holding{}, errUnknown
	case len(found) > 1:
		return holding{}, fmt.Errorf("several documents have this name: use an id, such as %s or %s", found[0].ID, found[1].ID)
	}
	return found[0], nil
}

// each visits the readable documents in the order of knowledge bases and ids,
// until visit says no or maxScan were looked at.
func (s shelf) each(ctx context.Context, visit func(holding) bool) error {
	left := maxScan
	for _, kb := range s.KnowledgeBases {
		page := store.Page{Limit: 200}
		for left > 0 {
			docs, err := s.Library.Documents(ctx, kb.ID, page)
			if err != nil {
				return fmt.Errorf("list the documents: %w", err)
			}
			for _, d := range docs {
				if s.readable(&d) && !visit(holding{d, kb.Name}) {
					return nil
				}
			}
			if left -= len(docs); len(docs) < page.Limit {
				break
			}
			page.After = docs[len(docs)-1].ID
		}
	}
	return nil
}

// passage is a stretch of a document as a source.
func (h holding) passage(span store.Span, text string) tool.Passage {
	return tool.Passage{
		DocumentID: h.ID, DocumentName: h.Name, KnowledgeBase: h.kb, Title: h.Title, Span: span, Text: text, Score: 1,
	}
}
