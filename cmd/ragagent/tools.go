package main

import (
	"context"

	"ragagent/agent/tool"
	"ragagent/agent/tool/builtin"
	"ragagent/api"
	"ragagent/ingest"
	"ragagent/store"
	"ragagent/store/sqlite"
)

// toolNames are those that agents in YAML may ask for.
var toolNames = []string{
	builtin.RetrieverName, "list_documents", "read_document", "find_in_document", "calculator", "current_time",
}

// tools are what the agent may call for one question. Without a knowledge base
// there is nothing to search.
func (a *app) tools(scope api.Scope) ([]tool.Tool, error) {
	calculator, err := builtin.NewCalculator()
	if err != nil {
		return nil, err
	}
	clock, err := builtin.NewClock(builtin.ClockConfig{})
	if err != nil {
		return nil, err
	}
	if len(scope.KnowledgeBases) == 0 {
		return []tool.Tool{calculator, clock}, nil
	}
	search, err := builtin.NewDatasetRetriever(builtin.RetrieverConfig{
		Retriever:      a.retriever,
		KnowledgeBases: scope.KnowledgeBases,
		TopK:           scope.TopK,
		Filter:         scope.Filter,
		ScoreThreshold: scope.ScoreThreshold,
		NoRerank:       scope.NoRerank,
	})
	if err != nil {
		return nil, err
	}
	documents, err := builtin.NewDocumentTools(builtin.ReaderConfig{
		Library:        library{a.records, a.service},
		KnowledgeBases: scope.KnowledgeBases,
		Filter:         scope.Filter,
	})
	if err != nil {
		return nil, err
	}
	return append(append([]tool.Tool{search}, documents...), calculator, clock), nil
}

// library reads documents where they are kept.
type library struct {
	*sqlite.DB
	service *ingest.Service
}

// ReadText implements builtin.Library.
func (l library) ReadText(ctx context.Context, documentID string, span store.Span) (string, error) {
	return l.service.ReadText(ctx, documentID, span)
}
