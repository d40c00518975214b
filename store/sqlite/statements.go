package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// statements are prepared once because they run for every chunk or question.
type statements struct {
	// Of the writer.
	insertChunk, keyedDocument, deleteChunks, deleteJobs, deleteDocument *sql.Stmt

	keeper, byContent, insertDocument, insertJob, assign, currentJob, target *sql.Stmt
	// Of the readers.
	knowledgeBase, document, documentsByID, chunksByID, blobInUse *sql.Stmt
}

func (s *statements) prepare(ctx context.Context, writer, readers *sql.DB) (err error) {
	prepare := func(pool *sql.DB, query string) *sql.Stmt {
		stmt, failed := pool.PrepareContext(ctx, query)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("prepare statement: %w", failed))
		}
		return stmt
	}
	insertChunk, failed := sealedInsert(ctx, writer, "chunks", insertedColumns)
	if failed != nil {
		return failed
	}
	s.insertChunk = prepare(writer, insertChunk)
	s.keyedDocument = prepare(writer, selectKeyedDocument)
	s.deleteChunks = prepare(writer, `DELETE FROM chunks WHERE document = ?`)
	s.deleteJobs = prepare(writer, `DELETE FROM jobs WHERE document = ?`)
	s.deleteDocument = prepare(writer, `DELETE FROM documents WHERE key = ?`)
	s.keeper = prepare(writer, selectKeeper)
	s.byContent = prepare(writer, `SELECT id, key FROM documents WHERE kb_id = ? AND sha256 = ?`)
	s.insertDocument = prepare(writer, insertDocument)
	s.insertJob = prepare(writer, insertJob)
	s.assign = prepare(writer, assignSource)
	s.currentJob = prepare(writer, selectCurrentJob)
	s.target = prepare(writer, selectTarget)
	s.knowledgeBase = prepare(readers, selectKnowledgeBase)
	s.document = prepare(readers, selectDocument)
	s.documentsByID = prepare(readers, selectDocumentsByID)
	s.chunksByID = prepare(readers, selectChunksByID)
	s.blobInUse = prepare(readers, selectBlobInUse)
	return err
}
