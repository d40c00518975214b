package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"ragagent/store"
)

// They walk documents by id and, within one, chunks by ordinal along indexes:
// nothing is sorted, so the first row comes at once and no row is kept.
const (
	selectVisible = `SELECT ` + chunkColumns + `, c.vector FROM` + visibleChunks +
		`WHERE d.kb_id = ?1 ORDER BY d.id, c.ordinal`
	selectVisibleDocument = `SELECT ` + chunkColumns + `, c.vector FROM` + visibleChunks +
		`WHERE d.kb_id = ?1 AND d.id = ?2 ORDER BY c.ordinal`
	selectVisibleVectors = `SELECT c.id, c.vector FROM` + visibleChunks +
		`WHERE d.kb_id = ?1 AND length(c.vector) > 0 ORDER BY d.id, c.ordinal`
	selectVisibleDocuments = `SELECT d.id, d.revision, d.chunk_count FROM documents d
		WHERE d.kb_id = ? AND d.revision > 0 ORDER BY d.id`
)

// VisibleChunks implements store.Visible. While it runs, one reader is taken
// and the write-ahead log cannot be emptied: do not linger in the loop.
func (db *DB) VisibleChunks(ctx context.Context, kb, documentID string) iter.Seq2[store.Chunk, error] {
	query, args := selectVisible, []any{kb}
	if documentID != "" {
		query, args = selectVisibleDocument, []any{kb, documentID}
	}
	choose := func(ctx context.Context, tx *sql.Tx) (string, []any, error) {
		s, err := spaceOf(ctx, tx, kb)
		return s.reads(query), args, orNothing(err)
	}
	return func(yield func(store.Chunk, error) bool) {
		var c store.Chunk
		var vector sql.RawBytes // decoded before the next row comes
		fields := append(chunkFields(&c), &vector)
		err := db.streamChosen(ctx, "visible chunks of "+kb, choose, func(rows *sql.Rows) error {
			c = store.Chunk{} // nothing of it is shared with the one before
			err := rows.Scan(fields...)
			if err == nil {
				c.Vector, err = decodeVector(vector)
			}
			if err != nil {
				return fmt.Errorf("chunk %s of document %s: %w: %w", c.ID, c.DocumentID, store.ErrDamaged, err)
			}
			if !yield(c, nil) {
				return errStop
			}
			return nil
		})
		if err != nil {
			yield(store.Chunk{}, err)
		}
	}
}

// VisibleDocuments implements store.Visible.
func (db *DB) VisibleDocuments(ctx context.Context, kb string) iter.Seq2[store.IndexedDocument, error] {
	return func(yield func(store.IndexedDocument, error) bool) {
		var d store.IndexedDocument
		err := db.stream(ctx, "visible documents of "+kb, selectVisibleDocuments, []any{kb}, func(rows *sql.Rows) error {
			if err := rows.Scan(&d.ID, &d.Revision, &d.Chunks); err != nil {
				return err
			}
			if !yield(d, nil) {
				return errStop
			}
			return nil
		})
		if err != nil {
			yield(store.IndexedDocument{}, err)
		}
	}
}

// VisibleVectors implements store.Visible; of a start this is the larger part.
// Texts stand in the same rows, but before the vector: they are stepped over.
func (db *DB) VisibleVectors(ctx context.Context, kb string) iter.Seq2[store.VectorEntry, error] {
	return db.vectorsOf(ctx, "visible vectors of "+kb, func(ctx context.Context, tx *sql.Tx) (string, []any, error) {
		s, err := spaceOf(ctx, tx, kb)
		return s.reads(selectVisibleVectors), []any{kb}, orNothing(err)
	})
}

// vectorsOf yields the ids and vectors of a query that is chosen when it runs.
func (db *DB) vectorsOf(ctx context.Context, what string, choose chosenQuery) iter.Seq2[store.VectorEntry, error] {
	return func(yield func(store.VectorEntry, error) bool) {
		var e store.VectorEntry
		var vector sql.RawBytes
		err := db.streamChosen(ctx, what, choose, func(rows *sql.Rows) error {
			err := rows.Scan(&e.ID, &vector)
			if err == nil {
				e.Vector, err = decodeVectorTo(e.Vector, vector)
			}
			if err != nil {
				return fmt.Errorf("chunk %s: %w: %w", e.ID, store.ErrDamaged, err)
			}
			if !yield(e, nil) {
				return errStop
			}
			return nil
		})
		if err != nil {
			yield(store.VectorEntry{}, err)
		}
	}
}

// ReferencedBlobs yields the hash of every blob that a document refers to,
// original or text, each once and in ascending order.
func (db *DB) ReferencedBlobs(ctx context.Context) iter.Seq2[string, error] {
	const query = `SELECT sha256 FROM documents UNION SELECT text_sha256 FROM documents WHERE text_sha256 <> ''
		UNION SELECT shown_sha256 FROM documents WHERE shown_sha256 <> ''
		UNION SELECT text_sha256 FROM pending WHERE text_sha256 <> '' ORDER BY 1`
	return func(yield func(string, error) bool) {
		err := db.stream(ctx, "referenced blobs", query, nil, func(rows *sql.Rows) error {
			var sha256 string
			if err := rows.Scan(&sha256); err != nil {
				return err
			}
			if !yield(sha256, nil) {
				return errStop
			}
			return nil
		})
		if err != nil {
			yield("", err)
		}
	}
}

// errStop ends a stream whose consumer has had enough.
var errStop = errors.New("stop")

// stream runs row for every row of one snapshot.
func (db *DB) stream(ctx context.Context, what, query string, args []any, row func(*sql.Rows) error) error {
	return db.streamChosen(ctx, what, func(context.Context, *sql.Tx) (string, []any, error) { return query, args, nil }, row)
}

// chosenQuery looks at a snapshot to say what to ask it.
type chosenQuery func(context.Context, *sql.Tx) (query string, args []any, err error)

func (db *DB) streamChosen(ctx context.Context, what string, choose chosenQuery, row func(*sql.Rows) error) error {
	err := db.read(ctx, what, func(tx *sql.Tx) error {
		query, args, err := choose(ctx, tx)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := row(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}
