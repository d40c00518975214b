package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"ragagent/store"
)

// Both walk documents by id and, within one, chunks by ordinal along indexes:
// nothing is sorted, so the first row comes at once and no row is kept.
const (
	selectVisible = `SELECT ` + chunkColumns + `, c.vector FROM` + visibleChunks +
		`WHERE d.kb_id = ? ORDER BY d.id, c.ordinal`
	selectVisibleDocument = `SELECT ` + chunkColumns + `, c.vector FROM` + visibleChunks +
		`WHERE d.kb_id = ? AND d.id = ? ORDER BY c.ordinal`
)

// VisibleChunks implements store.Chunks. While it runs, one reader is taken
// and the write-ahead log cannot be emptied: do not linger in the loop.
func (db *DB) VisibleChunks(ctx context.Context, kb, documentID string) iter.Seq2[store.Chunk, error] {
	query, args := selectVisible, []any{kb}
	if documentID != "" {
		query, args = selectVisibleDocument, []any{kb, documentID}
	}
	return func(yield func(store.Chunk, error) bool) {
		err := db.stream(ctx, "visible chunks of "+kb, query, args, func(rows *sql.Rows) error {
			var c store.Chunk
			var vector sql.RawBytes // decoded before the next row comes
			err := rows.Scan(append(chunkFields(&c), &vector)...)
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

// ReferencedBlobs yields the hash of every blob that a document refers to,
// original or text, each once and in ascending order.
func (db *DB) ReferencedBlobs(ctx context.Context) iter.Seq2[string, error] {
	const query = `SELECT sha256 FROM documents UNION SELECT text_sha256 FROM documents WHERE text_sha256 <> '' ORDER BY 1`
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
	err := db.read(ctx, what, func(tx *sql.Tx) error {
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
