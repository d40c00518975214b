package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"ragagent/store"
)

// insertedColumns are what insertChunks gives for a chunk, in this order.
const insertedColumns = `id, document, revision, ordinal, title, headings, page_start, page_end, span_start, span_end, text, context,
	parent_start, parent_end, parent_page_start, parent_page_end, vector`

// The vector comes last and is read by VisibleChunks alone.
const chunkColumns = `c.id, d.kb_id, d.id, c.revision, c.ordinal, c.title, c.headings, c.page_start, c.page_end,
	c.span_start, c.span_end, c.text, c.context, c.parent_start, c.parent_end, c.parent_page_start, c.parent_page_end`

// visibleChunks joins the chunks that may be found.
const visibleChunks = ` documents d JOIN chunks c ON c.document = d.key AND c.revision = d.revision `

// The CROSS JOINs make SQLite walk the ids in their order: an ORDER BY would copy
// all texts into a sorter and out again.
const selectChunksByID = `SELECT ` + chunkColumns + ` FROM json_each(?) wanted
	CROSS JOIN chunks c ON c.id = wanted.value
	CROSS JOIN documents d ON d.key = c.document AND c.revision IN (d.revision, d.retiring)`

var (
	errNotRunning = fmt.Errorf("%w: the job is not running", store.ErrConflict)
	errPublished  = fmt.Errorf("%w: the revision is visible", store.ErrConflict)
	errOtherCut   = fmt.Errorf("%w: an earlier attempt cut the text in another way: clear its journal", store.ErrConflict)
)

func chunkFields(c *store.Chunk) []any {
	return []any{&c.ID, &c.KnowledgeBaseID, &c.DocumentID, integer{&c.Revision}, integer{&c.Ordinal}, &c.Title, stringList{&c.Headings},
		integer{&c.PageStart}, integer{&c.PageEnd}, integer{&c.Span.Start}, integer{&c.Span.End}, &c.Text, &c.Context,
		integer{&c.Parent.Start}, integer{&c.Parent.End}, integer{&c.Parent.PageStart}, integer{&c.Parent.PageEnd}}
}

func scanChunk(row scanner) (c store.Chunk, err error) {
	err = row.Scan(chunkFields(&c)...)
	return c, err
}

// PutChunks implements store.Chunks.
func (db *DB) PutChunks(ctx context.Context, jobID string, chunks []store.Chunk, progress store.Progress) error {
	return db.write(ctx, fmt.Sprintf("store %d chunks of job %s", len(chunks), jobID), func(ctx context.Context, tx *sql.Tx) error {
		t, err := db.runningTarget(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if t.published() {
			return errPublished
		}
		if err := db.putChunks(ctx, tx, t, chunks); err != nil {
			return err
		}
		now := db.now()
		_, err = tx.ExecContext(ctx, `UPDATE jobs SET stage = ?, done = ?, total = ?, attempts = 0, updated_at = ? WHERE id = ?`,
			progress.Stage, progress.Done, progress.Total, timestamp{&now}, jobID)
		return err
	})
}

func (db *DB) runningTarget(ctx context.Context, tx *sql.Tx, jobID string) (target, error) {
	t, err := db.targetOf(ctx, tx, jobID)
	if err == nil && t.status != store.StatusRunning {
		err = errNotRunning
	}
	return t, err
}

func (db *DB) putChunks(ctx context.Context, tx *sql.Tx, t target, chunks []store.Chunk) error {
	if len(chunks) == 0 {
		return nil
	}
	s, err := spaceOf(ctx, tx, t.kb)
	if err != nil {
		return err
	}
	for i := range chunks {
		if err := errors.Join(checkChunk(t, chunks[0].Ordinal+i, &chunks[i]), s.takes(&chunks[i])); err != nil {
			return fmt.Errorf("chunk %d: %w", chunks[i].Ordinal, err)
		}
	}
	stored, _, err := journal(ctx, tx, t.document, t.revision)
	if err != nil {
		return err
	}
	if first := chunks[0].Ordinal; first > stored {
		return store.Invalid("ordinal", "chunk %d comes next, not %d", stored, first)
	}
	known, err := knownChunks(ctx, tx, t, chunks, stored)
	if err != nil {
		return err
	}
	return db.insertChunks(ctx, tx, t, s, chunks[known:])
}

func checkChunk(t target, ordinal int, c *store.Chunk) error {
	switch {
	case c.ID == "":
		return store.Invalid("id", "it is empty")
	case c.DocumentID != t.document:
		return store.Invalid("document_id", "%s is not the job's %s", c.DocumentID, t.document)
	case c.KnowledgeBaseID != t.kb:
		return store.Invalid("knowledge_base_id", "%s is not the document's %s", c.KnowledgeBaseID, t.kb)
	case c.Revision != t.revision:
		return store.Invalid("revision", "%d is not the job's %d", c.Revision, t.revision)
	case c.Ordinal != ordinal:
		return store.Invalid("ordinal", "%d comes next", ordinal)
	case c.Span.Start < 0 || c.Span.Len() != len(c.Text):
		return store.Invalid("span", "%d..%d does not hold a text of %d bytes", c.Span.Start, c.Span.End, len(c.Text))
	case c.Parent != (store.Section{}) && !c.Parent.Holds(c.Span):
		return store.Invalid("parent", "%d..%d does not hold %d..%d", c.Parent.Start, c.Parent.End, c.Span.Start, c.Span.End)
	}
	return checkVector(c.Vector)
}

// knownChunks says how many of the chunks, from the first on, are stored
// already. A revision never mixes two cuts of the text.
func knownChunks(ctx context.Context, tx *sql.Tx, t target, chunks []store.Chunk, stored int) (known int, err error) {
	first := chunks[0].Ordinal
	if first == stored { // nearly always
		return 0, nil
	}
	rows, err := tx.QueryContext(ctx, `SELECT id FROM chunks WHERE document = ? AND revision = ? AND ordinal >= ?
		ORDER BY ordinal LIMIT ?`, t.key, t.revision, first, len(chunks))
	ids, err := collect(rows, err, func(row scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	})
	if err != nil {
		return 0, err
	}
	for i, id := range ids {
		if id != chunks[i].ID {
			return 0, errOtherCut
		}
	}
	return len(ids), nil
}

func (db *DB) insertChunks(ctx context.Context, tx *sql.Tx, t target, s space, chunks []store.Chunk) error {
	insert := tx.StmtContext(ctx, db.stmts.insertChunk)
	defer insert.Close()
	var vector []byte
	for i := range chunks {
		c := &chunks[i]
		vector = encodeVector(vector[:0], c.Vector)
		var blob any // NULL without a vector
		if len(vector) > 0 && s.number == 0 {
			blob = vector
		}
		row, err := insert.ExecContext(ctx, c.ID, t.key, c.Revision, c.Ordinal, c.Title, stringList{&c.Headings},
			c.PageStart, c.PageEnd, c.Span.Start, c.Span.End, c.Text, c.Context,
			c.Parent.Start, c.Parent.End, c.Parent.PageStart, c.Parent.PageEnd, blob)
		if err != nil {
			return fmt.Errorf("chunk %d: %w", c.Ordinal, err)
		}
		if s.number != 0 {
			if err := s.put(ctx, tx, row, vector); err != nil {
				return fmt.Errorf("vector of chunk %d: %w", c.Ordinal, err)
			}
		}
	}
	return nil
}

// journal tells how many chunks of a revision are stored. Ordinals have no
// gaps, so the last one says it.
func journal(ctx context.Context, tx *sql.Tx, document string, revision int) (n int, lastID string, err error) {
	var last int
	switch err := tx.QueryRowContext(ctx, `SELECT c.ordinal, c.id FROM documents d JOIN chunks c ON c.document = d.key
		WHERE d.id = ? AND c.revision = ? ORDER BY c.ordinal DESC LIMIT 1`, document, revision).Scan(&last, &lastID); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, "", nil
	case err != nil:
		return 0, "", err
	}
	return last + 1, lastID, nil
}

// ChunkJournal implements store.Chunks.
func (db *DB) ChunkJournal(ctx context.Context, documentID string, revision int) (n int, lastID string, err error) {
	err = db.read(ctx, "journal of "+documentID, func(tx *sql.Tx) error {
		n, lastID, err = journal(ctx, tx, documentID, revision)
		return err
	})
	return n, lastID, err
}

// ClearJournal implements store.Chunks.
func (db *DB) ClearJournal(ctx context.Context, documentID string, revision int) error {
	return db.write(ctx, "clear journal of "+documentID, func(ctx context.Context, tx *sql.Tx) error {
		var key int64
		var visible, retiring int
		err := tx.QueryRowContext(ctx, `SELECT key, revision, retiring FROM documents WHERE id = ?`, documentID).Scan(&key, &visible, &retiring)
		if err != nil {
			return err
		}
		if visible == revision || retiring == revision {
			return errPublished
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM chunks WHERE document = ? AND revision = ?`, key, revision)
		return err
	})
}

// DocumentChunks implements store.Chunks.
func (db *DB) DocumentChunks(ctx context.Context, documentID string, from, limit int) (all []store.Chunk, err error) {
	if limit <= 0 {
		return nil, nil
	}
	err = db.read(ctx, "chunks of "+documentID, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+chunkColumns+` FROM`+visibleChunks+
			`WHERE d.id = ? AND c.ordinal >= ? ORDER BY c.ordinal LIMIT ?`, documentID, from, limit)
		all, err = collect(rows, err, scanChunk)
		return err
	})
	return all, err
}

// ChunksByID implements store.Chunks.
func (db *DB) ChunksByID(ctx context.Context, ids []string) (all []store.Chunk, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	wanted, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := db.stmts.chunksByID.QueryContext(ctx, string(wanted))
	all, err = collect(rows, err, scanChunk)
	return all, failure(fmt.Sprintf("read %d chunks", len(ids)), err)
}
