package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// statements are prepared once because they run for every chunk or question.
type statements struct {
	insertChunk                         *sql.Stmt // of the writer
	knowledgeBase, document, chunksByID *sql.Stmt // of the readers
}

func (s *statements) prepare(ctx context.Context, writer, readers *sql.DB) (err error) {
	prepare := func(pool *sql.DB, query string) *sql.Stmt {
		stmt, failed := pool.PrepareContext(ctx, query)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("prepare statement: %w", failed))
		}
		return stmt
	}
	s.insertChunk = prepare(writer, insertChunk)
	s.knowledgeBase = prepare(readers, selectKnowledgeBase)
	s.document = prepare(readers, selectDocument)
	s.chunksByID = prepare(readers, selectChunksByID)
	return err
}
