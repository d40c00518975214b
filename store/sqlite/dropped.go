package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"ragagent/store"
)

// Bounds of what is remembered of deleted documents; their number is bounded by
// the schema, at 100,000 whose blobs are gone.
const (
	// maxRevisions is how many of a document's revisions are looked for.
	maxRevisions = 100
	// maxRemembered is for how long a deletion is remembered.
	maxRemembered = 90 * 24 * time.Hour
)

// They read the rows of a few deletions by their keys.
const (
	selectDropped = `WITH some AS (
			SELECT sha256, text_sha256 FROM deleted_documents WHERE key > (SELECT up_to FROM swept) AND key <= ?1)
		SELECT sha256 FROM some WHERE sha256 <> ''
		UNION SELECT text_sha256 FROM some WHERE text_sha256 <> '' ORDER BY 1`
	selectLastDropped = `SELECT max(key) FROM (SELECT key FROM deleted_documents
		WHERE key > (SELECT up_to FROM swept) ORDER BY key LIMIT ?1)`
)

// DroppedBlobs lists the hashes, ascending, that documents have ceased to refer
// to by the oldest deletions that ForgetDropped was not told of, of which it
// takes limit at most. upTo stands for the last of them, 0 for none. Others may
// still refer to the blobs.
func (db *DB) DroppedBlobs(ctx context.Context, limit int) (hashes []string, upTo int64, err error) {
	err = db.read(ctx, "dropped blobs", func(tx *sql.Tx) error {
		var last sql.NullInt64
		if err := tx.QueryRowContext(ctx, selectLastDropped, limit).Scan(&last); err != nil {
			return err
		}
		upTo = last.Int64
		rows, err := tx.QueryContext(ctx, selectDropped, upTo)
		hashes, err = collect(rows, err, func(row scanner) (hash string, err error) {
			err = row.Scan(&hash)
			return hash, err
		})
		return err
	})
	return hashes, upTo, err
}

// ForgetDropped says that the blobs of deletions are gone, up to the last one of
// a DroppedBlobs, and forgets those that are older than 90 days.
func (db *DB) ForgetDropped(ctx context.Context, upTo int64) error {
	old := db.now().Add(-maxRemembered)
	return db.write(ctx, "forget dropped blobs", func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE swept SET up_to = ?1 WHERE up_to < ?1`, upTo); err != nil {
			return err
		}
		// The last one stays, whatever its age: keys must not be given again.
		_, err := tx.ExecContext(ctx, `DELETE FROM deleted_documents WHERE key <= ? AND deleted_at < ?
			AND key < (SELECT max(key) FROM deleted_documents)`, upTo, timestamp{&old})
		return err
	})
}

// DeletedDocuments yields what is remembered of deleted documents, in the order
// they were deleted in: the latest 100,000 of 90 days, and those whose blobs
// are not known to be gone.
func (db *DB) DeletedDocuments(ctx context.Context) iter.Seq2[store.DeletedDocument, error] {
	const query = `SELECT id, kb_id, revision, sha256, text_sha256, deleted_at FROM deleted_documents WHERE id <> '' ORDER BY key`
	return func(yield func(store.DeletedDocument, error) bool) {
		err := db.stream(ctx, "deleted documents", query, nil, func(rows *sql.Rows) error {
			var d store.DeletedDocument
			if err := rows.Scan(&d.ID, &d.KnowledgeBaseID, &d.Revision, &d.SHA256, &d.TextSHA256, timestamp{&d.DeletedAt}); err != nil {
				return err
			}
			if !yield(d, nil) {
				return errStop
			}
			return nil
		})
		if err != nil {
			yield(store.DeletedDocument{}, err)
		}
	}
}

// Remains lists, one sentence for each, what the records still hold of a
// deleted document; none if nothing. Chunks are looked for by their ids, which
// are made from the document's and the revision.
func (db *DB) Remains(ctx context.Context, d store.DeletedDocument) (found []string, err error) {
	err = db.read(ctx, "look for what is left of "+d.ID, func(tx *sql.Tx) error {
		found = nil
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM documents WHERE id = ?`, d.ID).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			found = append(found, "its record is there")
		}
		// From the latest back, of which one more than was known may have been
		// under way. Chunks of others went when the next one became visible.
		for revision := d.Revision + 1; revision > max(0, d.Revision-maxRevisions); revision-- {
			prefix := store.ChunkIDPrefix(d.ID, revision)
			if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM chunks WHERE id >= ? AND id < ?`, prefix, prefix+"g").Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				found = append(found, fmt.Sprintf("%d chunks of revision %d are there", n, revision))
			}
		}
		return nil
	})
	return found, err
}

// Quoting counts the messages whose citations name a deleted document.
func (db *DB) Quoting(ctx context.Context) (n int, err error) {
	err = db.read(ctx, "count quotes of deleted documents", func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM messages m WHERE m.citations <> '[]' AND EXISTS (
			SELECT 1 FROM json_each(m.citations) c WHERE json_extract(c.value, '$.document_id') IN (
				SELECT id FROM deleted_documents))`).Scan(&n)
	})
	return n, err
}
